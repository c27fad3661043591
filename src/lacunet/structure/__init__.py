"""The network itself from data, complete or not.

Read `cpdag` (what data can tell of a DAG), `gains` and `ges` (the closed-form seed), `parents`
(scored parent sets), `order` (the search over orders), `judge` (the exact observed-data score)
and `learn`, which puts them together.
"""
