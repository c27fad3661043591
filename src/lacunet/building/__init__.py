"""A network from what people have: edges in any language, and the states that the data show.

Read `edges` (pairs, text, DOT, dagitty, bnlearn, networkx), `states` (what a column says of its
states), then `network`, which joins the two and gives `Network.from_data`.
"""
