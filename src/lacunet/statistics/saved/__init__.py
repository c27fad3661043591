"""Statistics as files: what was counted here is added to what was counted elsewhere.

A file is Parquet, and says in its footer (`KEY`) what it is: the version of the format, the
network's variables, states and parents with a hash of them, the method, the rows, the parts. It is
of one of two kinds (docs/statistics-files.md):

- *families*: the cells of every family's table, missing as a state; for methods that need no more;
- *rows*: distinct rows over all variables; everything can be computed from them, and rows of
  several parts are simply all of them, whichever variables are fully observed in which part.

Numbers beside them: ``rows``, and where rows have weights ``weight`` and ``squares``, the sums of
the weights and of their squares. ``part`` says to which of the header's blocks of parts an entry
belongs.

`header` is what a file says of itself, `parts` which data it was counted from, so that nothing
counts twice; `write` and `read` are the two ways; `soundness` is what a file must be like to be
believed.
"""
