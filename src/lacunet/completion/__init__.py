"""What a network says about every row: posteriors, and completions of what rows do not show.

Read `rows` (the problems that each row has, completions as codes, posteriors as arrays), then
`frames`, which does the same for dataframes: `predict` and `impute`.
"""
