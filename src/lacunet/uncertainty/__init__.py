"""How sure a number is: bounds, standard errors, intervals, and what if MAR fails.

Read `spread` first: the one value that everything here ends in. Then where a variance comes
from: `direct` (direct deletion, from counts and from what rows move), `rate_matrix` (EM, without
rows), `jackknife` (everything else). `delta` carries variances over to the answers of queries.
`posterior` is what rows and experts leave open (credible intervals).
`bounds` assume nothing about why values are missing; `tilt` lets hidden values
differ from shown ones by a stated amount.
"""
