"""In which order variables are summed out, and the junction tree for queries.

`elimination_order` finds orders for one graph, `batched` for thousands of components at once;
`junction_tree` plans and passes messages.
"""
