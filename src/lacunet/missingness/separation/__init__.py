"""What a missingness graph separates.

`mixed` graphs, the `drawing` over a network, the `category`, `separator` sets.
"""
