"""The paper's experiments: `studies`, their `settings` and `sources`, what was `published`."""
