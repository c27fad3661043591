"""Sampling networks and hiding values."""
