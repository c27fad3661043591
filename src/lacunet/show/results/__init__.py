"""A result of learning: in words and as data, as a page, as tables and sentences for a paper.

`result_text` is what the command line prints, `result_page` the page with its `page_sections` (what
is missing, how EM went, the complete rows against the result), `cpt_tables` and `methods_text` are
for papers, `show_result` makes pages from Python.
"""
