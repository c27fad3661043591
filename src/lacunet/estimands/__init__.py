"""One language for every formula: what is estimated, in words, in LaTeX, and computed.

`terms` are the estimands of missingness graphs as values, `deletion` those of the closed forms;
`words` prints them; `rows`, `weigh` and `compute` turn them into numbers.
"""
