"""A result of learning: in words and as data, as a page, as tables and sentences for a paper.

``text`` is what the command line prints, ``page`` the page with its ``sections`` (what is missing,
how EM went, the complete rows against the result), ``tables`` and ``methods`` are for papers,
``show`` makes pages from Python.
"""
