"""A network from what people have: edges in any language, and the states that the data show.

Read `edges` (pairs, text, DOT, dagitty, bnlearn, networkx), `states` (what a column says of its
states), `bins` (numbers cut into intervals), then `network`, which joins them and gives
`Network.from_data`.
"""
