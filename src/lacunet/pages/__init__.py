"""Pages: one self-contained HTML file for each kind of result.

Read in this order: ``kit`` (the frame every page shares: policy, escaping, tables, tiles,
writing), ``charts`` (SVG made when the page is built), ``mathml`` (formulas), ``provenance``
(where a page comes from), then one file for each page: ``learned`` with ``numbers`` (what
the page carries, packed and, where asked, withheld) and ``sections`` (what is missing, how EM
went, the complete rows against the result). What runs in the browser is in ``assets``.

A page makes no request, opens from disk, and shows every name as text.
"""
