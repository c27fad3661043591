"""Numbers and nouns in messages.

Plain-text tables.

Numbers that JSON can hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3952, "row"), counted(2, "family", "families")
    ('1 row', '3,952 rows', '2 families')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Columns aligned: the first ``left`` to the left, the others to the right.

    Examples
    --------
    >>> print(text_table(["name", "rows"], [["A", "10"], ["Age", "7"]]))
    name  rows
    A       10
    Age      7
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in [header, *rows]:
        cells = [
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def finite(value: Any) -> Any:
    """The same lists and dictionaries with None for NaN and a text for infinity.

    Examples
    --------
    >>> finite({"a": [1.0, float("nan")], "b": float("-inf")})
    {'a': [1.0, None], 'b': '-inf'}
    """
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
