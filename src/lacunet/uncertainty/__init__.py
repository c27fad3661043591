"""How sure a number is: bounds, standard errors, intervals, and what if MAR fails.

Read `spread` first: the one value that everything here ends in. Then where a variance comes
from: `influence` (direct deletion, one pass over the grouped counts; `steps` say what stands in
for groups that do not tell), `rate_matrix` (EM, without rows), `jackknife` (everything else).
`delta` carries variances over to the answers of queries, for direct deletion by way of
`row_influence`. `bounds` assume nothing about why values are missing; `tilt` lets hidden values
differ from shown ones by a stated amount.
"""
