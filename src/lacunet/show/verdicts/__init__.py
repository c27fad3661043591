"""Verdicts on a missingness graph: in words and as data, and as a page.

`verdict_on_data` is a verdict together with its estimate or identified set; `verdict_text` and
`verdict_page` show it.
"""
