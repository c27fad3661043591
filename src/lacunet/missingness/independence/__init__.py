"""Tests of independence: within strata, and in a survey with a design."""
