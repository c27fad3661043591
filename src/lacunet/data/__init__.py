"""The door, both ways: any dataframe or file becomes columns of codes, and rows go out again.

In: `source` (parts and pieces), `files`, `text`, `frames` and `databases` (where they come from),
`reading` (what is to be read, by which rules), `matching` and `encode` (values to codes),
`batches`, and `read`, the way in; `table` is the result. `stream` reads rows that memory
does not hold, `coded` keeps them as codes in a scratch folder. Out: `write`, and `whole` for
frames that are given back as they came, with states as they were `seen` and missing cells as
`fill` writes them. `examples` are the bundled tables. Questions come in by `typed` (their text) and
`evidence` (the values in them).
"""
