"""What is learned: `network` (variables, a DAG, CPTs), `labelled` tables, named `table` algebra.

`nodes` are those of missingness graphs, `arrows` how texts with edges are read; `aligned` brings
two networks into one order.
"""
