"""The network itself from data, complete or not.

Read `cpdag` (what data can tell of a DAG), `rows`, `gains` and `ges` (the closed-form seed),
`parents` and `order` (scored parent sets, and the search over orders of the variables), `search`
(the two together, for complete rows), `judge` and `penalty` (the exact score of the observed
cells) and `learn`, which puts them together; `columns`, `knowledge` and `mechanisms` prepare what
the user gives, `strengths` says how sure each arc is.
"""
