"""Hiding values, and simulated data.

Read `at_random` and `by_graph` (mechanisms), then `simulate`, which hides values as mechanisms say
and is the way in. Rows are drawn by `lacunet.inference.sampling`.
"""
