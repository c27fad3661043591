"""The network itself from data, complete or not.

Read `cpdag` (what data can tell of a DAG), `indexed_rows`, `gains` and `ges` (the closed-form
seed), `scored_parents` and `order_search` (scored parent sets, and the search over orders of the
variables), `search` (the two together, for complete rows), `judge_by_em` and `penalty` (the exact
score of the observed cells), `final_moves`, and `learn_structure`, which puts them together;
`columns`, `knowledge` and `mechanisms_of_rows` prepare what the user gives, `strengths` says how
sure each arc is. `tree` is the other structure, Chow and Liu's, which the scikit-learn classes use.
"""
