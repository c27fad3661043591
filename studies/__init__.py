"""Studies with known truth: the paper's tables and figures, and some beside them.

`problems/` has what is run (networks, settings, methods, cells), `paper/` the studies and the
numbers that the paper printed, `runner/` runs cells, `report/` writes about them, and `command` is
``python -m studies``, to be called in the root of the repository. Not part of the package.
"""
