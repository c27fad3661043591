"""How sure a number is: bounds, standard errors, intervals, and what if MAR fails.

Read `spread` first: the one value that everything here ends in. Then where a variance comes
from: `influence` (direct deletion, one pass over the grouped counts), `rate_matrix` (EM,
without rows), `jackknife` (everything else). `bounds` and `tilt` do without the assumption
that data are missing at random.
"""
