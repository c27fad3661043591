"""Networks in and out, one file per format.

`files` chooses by the file's name, `source` is a text with line numbers, `draft` the checks that
all formats share; `endings` is the table of formats; `catalogue` has the bundled networks; `edges`
tells edges in place of a network.
"""
