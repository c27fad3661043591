"""Sampling networks and hiding values.

Read `sampling` (rows from a network), `at_random` and `by_graph` (mechanisms), `hiding` (values
hidden as mechanisms say), then `simulate`, which is these together and the way in.
`generators` makes up networks.
"""
