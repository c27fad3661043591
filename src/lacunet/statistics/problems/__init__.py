"""Incomplete rows compiled for EM.

`compile` reads rows into problems, `connected` finds what belongs together in them, `layout` says
where every CPT's cells are, `ragged` holds lists of unequal length end to end.
"""
