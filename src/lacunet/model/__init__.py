"""What is learned: `network` (variables, a DAG, CPTs), `labelled` tables, named `table` algebra.

`nodes` are those of missingness graphs; `arrows` reads texts with arrows; `aligned` brings two networks into one order.
"""
