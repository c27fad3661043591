"""What a network says: expectations over compiled problems, queries, likelihoods, samples.

`expectation/` is the exact E-step, `loopy` the approximate one, `engine` the face of both;
`elimination/` has orders and the junction tree, which `joint` and `query` ask; an `answer` is what
comes back, `unsupported` how far CPT rows without data could move it. `likelihood` scores rows,
`row_posteriors` says of each what it does not show, `completions` completes it, `sampling` draws
rows.
"""
