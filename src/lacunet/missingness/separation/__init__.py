"""What a missingness graph separates.

`mixed` graphs, the `drawing` over a network with its category, `separator` sets.
"""
