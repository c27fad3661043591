"""What a network says about every row: posteriors, and completions of what rows do not show.

Read `rows` (the problems that each row has), `complete` (completions as codes), `posterior`
(posteriors as arrays), then `frames`, which does both for dataframes: `predict` and `impute`.
"""
