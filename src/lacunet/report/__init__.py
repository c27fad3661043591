"""Each result, for people (text), for programs (data) and in a browser (a page).

One place per kind of result: ``learned``, ``network`` (a network as it is, or two side by side),
``diagnosed``, ``recovered``, ``compared``, ``structured``, ``explained``, ``simulated``.
``plain`` makes data of values.
"""
