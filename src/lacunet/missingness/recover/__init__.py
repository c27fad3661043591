"""Is there an estimand? `decide` asks; the others search, from the plainest formula on.

`chain` goes by the chain rule, `fix_and_select` and `propensity` are the search below it,
`by_mechanisms` searches once more, with mechanisms as variables.
"""
