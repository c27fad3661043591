"""One language for every formula: what is estimated, in words, in LaTeX, and computed.

Read in this order: `notation` (the symbols), `samples` (weighted rows and the propensities that
weigh them), `terms` (every term with its words, columns and computation), `pattern_odds` (the odds
of missingness patterns), `pattern_shares` (mechanisms as variables), `deletion` (the closed forms).
"""
