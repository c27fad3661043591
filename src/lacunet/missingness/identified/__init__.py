"""What the numbers of states at hand identify, and how far.

"Not recoverable" is said of all numbers of states. `generic` decides for those of a network whether
a query is identified all the same, near almost every model. Where it is not, `identified_sets`
follows the models that look the same to the lowest and the highest answer. `assumptions` does both
for the graph with each edge that it does not have.
"""
