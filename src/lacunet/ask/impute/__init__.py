"""Multiple imputation: parameters are drawn, then completions, then estimates are pooled.

Read `pool` (Rubin's rules), `draws` (networks drawn from what is known about the parameters), then
`impute` (rows in memory) and `pieces` (files, some rows at a time).
"""
