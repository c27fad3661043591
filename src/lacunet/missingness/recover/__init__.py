"""Is there an estimand? `answers` asks, `chain`, `fix_and_select` and `propensity` search.

`by_mechanisms` searches once more, with mechanisms as variables.
"""
