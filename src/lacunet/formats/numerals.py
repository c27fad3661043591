"""Numbers in text, both ways, without the loss of a bit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lacunet.formats.errors import FormatError
from lacunet.model.network import FloatArray

NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_SEPARATOR = r"(?:\s*+,\s*+|\s++)"
_NUMBERS = re.compile(rf"\s*+{NUMBER}(?:{_SEPARATOR}{NUMBER})*+\s*+")
_ONE = re.compile(NUMBER)


def read_numbers(text: str, place: str, child: str) -> list[float]:
    """The numbers of a CPT, separated by blanks or single commas; at least one."""
    if not _NUMBERS.fullmatch(text):
        raise FormatError.not_a_number(place, child, _first_wrong(text))
    return [float(word) for word in text.replace(",", " ").split()]


def _first_wrong(text: str) -> str:
    words = re.split(r"\s*,\s*|\s+", text.strip())
    return next((word for word in words if not _ONE.fullmatch(word)), text.strip())


def numerals(row: Iterable[float] | FloatArray, separator: str = " ") -> str:
    """The shortest texts that give back each number to the bit, at most 17 digits."""
    return separator.join(map(repr, map(float, row)))
