"""Incomplete rows compiled for EM.

`compile` reads rows into problems, `connected` finds what belongs together in them, `cell_layout`
says where every CPT's cells are, `ragged` holds lists of unequal length end to end,
`coarsened_cells` what is known of a cell that does not show its state.
"""
