"""Multiple imputation: parameters are drawn, then completions, then estimates are pooled.

Read `pool` and `fits` (Rubin's rules), `draws` (networks drawn from what is known about the
parameters), `donor_rules` and `missing_numbers` (numbers in place of their intervals), then
`impute` (rows in memory) and `pieces` (files, some rows at a time).
"""
