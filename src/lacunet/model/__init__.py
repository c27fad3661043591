"""What is learned: `network` (variables, a DAG, CPTs), `labelled` tables, named `table` algebra.

`nodes` says how nodes and edges are written; `aligned` brings two networks into one order.
"""
