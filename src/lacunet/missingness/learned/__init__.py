"""Missingness graphs learned from rows.

`from_rows` finds what decides whether a value is shown, from a table; `learn_missingness` from any
data and within a time limit. `mutual` are values that decide on each other, `not_asked` which rows
tell why cells are empty where questions were not asked of all.
"""
