"""Network files, one module per format.

`files` chooses by the file's name, `source` is a text with line numbers, `draft` the checks that
all formats share; `endings` is the table of formats.
"""
