"""The closed forms: one estimator per file, one function with the shape of its equation.

`direct_mcar` and `factored_mcar` estimate the joint of a family from its counts, `direct_mar`
and `factored_mar` within groups of rows, `by_groups` puts the groups together; the `lattice` is
what factored deletion walks. `forms` is the table of all of them: a new one is a file and a row.
`settled` estimates again what intervals are made around.
"""
