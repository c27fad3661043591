"""What a network says about every row: posteriors, and completions of what rows do not show.

Read `rows` (the problems that each row has, completions as codes) and `posteriors` (as arrays, with
what they owe to CPT rows without data), then `predict` and `impute`, which do the same for
dataframes; `mechanisms` makes what a row misses evidence.
"""
