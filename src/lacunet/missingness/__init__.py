"""Missingness graphs: categories, separators, recoverability, tests."""
