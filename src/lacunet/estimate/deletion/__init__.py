"""The closed forms: one estimator a file, one function with the shape of its equation."""
