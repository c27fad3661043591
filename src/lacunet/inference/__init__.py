"""What a network says: expectations over compiled problems, queries, likelihoods.

`expectation/` is the exact E-step, `loopy` the approximate one, `engine` the face of both;
`elimination/` has orders and the junction tree, which `query` asks; `likelihood` scores rows.
"""
