"""Pages: one self-contained HTML file for each kind of result.

Read in this order: ``kit`` (the frame every page shares: policy, escaping, tables, tiles,
writing), ``numbers`` (what a page carries, packed) and ``disclosure`` (what it may tell), ``live``
(the network of a page, and how the browser asks it), ``provenance`` (where a page comes from).
Then one file for each page: ``learned`` with ``sections`` (what is missing, how EM went, the
complete rows against the result), ``shown`` (a network, or two side by side), ``diagnosed``,
``recovered``. What runs in the browser is in ``assets``.

A page makes no request, opens from disk, and shows every name as text.
"""
