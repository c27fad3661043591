"""Answers to questions, by a network and by rows.

`effect` (of setting a variable), `worst_case` (if nothing is assumed about why values are missing),
`evaluate` (how good a network is); `predict/` and `impute/` for every row, `diagnose/` before
anything is learned, `sensitivity/` for what if values are not missing at random. The query itself
is in `lacunet.inference`.
"""
