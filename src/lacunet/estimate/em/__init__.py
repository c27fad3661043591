"""EM that reads the data once.

`method` is the way in; `start` says where it begins, `climb` iterates, `fit` makes several starts
and keeps the best. `on_graph` makes mechanisms observed nodes, `tilted` lets hidden values differ,
`uncertain` says how sure it is.
"""
