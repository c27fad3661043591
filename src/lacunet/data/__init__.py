"""The door, both ways: any dataframe or file becomes columns of codes, and rows go out again.

`data` is the noun: rows, and how they are read. In: `source_parts` (parts and pieces),
`data_files`, `delimited_text`, `frames` and `databases` (where they come from), `column_rules`
(which column gives which variable, by which rules), `matching` and `encode` (values to codes),
`batches`, and `read`, the way in; `table` is the result. `stream` reads rows that memory does not
hold, `scratch_rows` keeps them as codes in a scratch folder. Without a network: `states`, `bins`
and `proposals` say what columns show, `raw_columns` how to read those that are no variables as they
are, `network_from_data` makes a network of it, and `network_or_edges` tells which is meant. Out:
`write`, and `original_tables` for frames that are given back as they came, in their own `spellings`
and with missing cells as `fill` writes them. `examples` are the bundled tables. Questions come in
by `query_text` and `evidence` (the values in them).
"""
