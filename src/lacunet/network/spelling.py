"""How values are spelled as states: one spelling for each number.

A numeral with leading zeros (``007``) is a label, not a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal

NUMERAL = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
LONGEST_NUMERAL = 400  # float64 needs 309 digits; a longer text is a label
LONGEST_SPELLING = 16  # of a numeral without an exponent
TRUTH_WORDS = ("true", "false")  # in any case
ZONE = re.compile(r"(?<= 00:00:00)[+-]\d\d:\d\d$")  # behind a midnight
MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00", re.ASCII)


def number_of(text: str) -> Decimal | None:
    """The number a text writes down, None if it writes none.

    >>> number_of("1.50"), number_of("01"), number_of("1e1"), number_of("x")
    (Decimal('1.50'), None, Decimal('1E+1'), None)
    """
    is_numeral = len(text) <= LONGEST_NUMERAL and NUMERAL.fullmatch(text)
    return Decimal(text) if is_numeral else None


def spelled(value: object) -> str:
    """A value as the state that stands for it: numbers as the shortest numeral.

    >>> spelled(1.0), spelled("1.50"), spelled(" 07 "), spelled(True)
    ('1', '1.5', '07', 'True')
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, bool | datetime):
        return str(value)
    if isinstance(value, int) and value.bit_length() > LONGEST_NUMERAL:
        return hex(value)  # Python writes no integer of more than 4300 digits
    text = repr(value) if isinstance(value, float) else str(value).strip()
    number = number_of(text)
    if number is None:
        return text
    shortest = f"{number.normalize():f}"
    return shortest if len(shortest) <= LONGEST_SPELLING else text


def as_declared(text: str, codes: Collection[str]) -> str:
    """A spelling as it is among some codes.

    There a truth value may be written in another case, and a date as its midnight or the reverse.

    >>> as_declared("True", ["true", "false"]), as_declared("Yes", ["yes"])
    ('true', 'Yes')
    >>> as_declared("1900-01-01 00:00:00", ["1900-01-01"])
    '1900-01-01'
    """
    may_be_other = codes and (text[4:5] == "-" or text.lower() in TRUTH_WORDS)
    if not may_be_other or text in codes:
        return text
    value = plain_value(ZONE.sub("", text))  # a code is of a day, whatever the zone
    return next((code for code in codes if plain_value(code) == value), text)


def plain_value(text: str) -> str:
    """What spellings of one truth value or one day share; any other text is as it was.

    >>> plain_value("TRUE"), plain_value("2020-01-31 00:00:00"), plain_value("Yes")
    ('true', '2020-01-31', 'Yes')
    """
    word = text.lower()
    return word if word in TRUTH_WORDS else as_date(text)


def as_date(text: str) -> str:
    """The date of a midnight; any other text is as it was."""
    midnight = MIDNIGHT.fullmatch(text) if text[13:19] == ":00:00" else None
    return midnight[1] if midnight else text
