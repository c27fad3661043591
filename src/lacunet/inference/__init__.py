"""Exact elimination and loopy propagation, batched."""
