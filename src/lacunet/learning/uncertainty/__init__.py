"""How sure a number is: standard errors, effective sizes and intervals.

Read `cpt_intervals` first: the one value that everything here ends in. Then where a variance comes
from: `frequencies` (direct deletion, by counts), `rate_matrix` (EM, without rows),
`score_information` (EM where CPTs are no full tables; `shape_parameters` are their links and odds
ratios), `jackknife` (everything else), `by_formula` (what a missingness graph recovers),
`after_search` (edges that were learned, too), `posterior` (what rows and experts leave open).
`delta` carries them over to the answers of queries.
"""
