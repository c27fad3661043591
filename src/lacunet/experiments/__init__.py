"""Studies with known truth: `paper/` has the paper's, `runner/` runs them, `report/` writes.

`demo` is the demonstration, `referee` compares methods on data like the user's (`compare`).
"""
