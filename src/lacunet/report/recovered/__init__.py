"""Verdicts on a missingness graph: in words and as data (``text``), and as a page (``page``)."""
