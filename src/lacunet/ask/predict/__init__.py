"""What a network says about every row.

Read `posteriors` (of rows, with what they owe to CPT rows without data) and `unsupported_bounds`
(how far these could move them), then `predictor` (a network made ready to predict, one row or many)
and `predict`, which reads dataframes and files for it; `rows_with_mechanisms` makes what a row
misses evidence.
"""
