"""Sampling networks and hiding values.

Read `sampling` (rows from a network), `at_random` and `by_graph` (mechanisms), then
`simulate`, which hides values as mechanisms say and is the way in.
"""
