"""Is there a proof that there is none? A `witness` is a pair of models, found along a `tangent`.

`submodels` are small graphs, a `grid` has their configurations, and `models` are the laws on it;
`ordered_query` is the query, `witness_text` the pair for people to read.
"""
