"""The closed forms: one function per estimator, with the shape of its equation.

`direct` and `factored` deletion estimate the joint of a family from its counts (MCAR) or within
groups of rows (MAR), `by_groups` puts the groups together; the `lattice` is what factored deletion
walks, in batches where variables are many (`batched_lattice`), and `influence` is how much each row
moves what they say. `forms` is the table of all of them: a new one is a file and a row.
"""
