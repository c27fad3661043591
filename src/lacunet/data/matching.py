"""Which state a value of the data stands for.

The network owns the states; a value is matched to one, found to be missing, or unknown.
A code that is declared for the column means what it was declared to mean, by its value: 9, 9.0,
"9" and "9.0" are one code, and so are True, "True" and "true", or a date and its midnight. Any
other text is matched as written first. A text that says "missing" is missing. A number is then
matched to the one state that is the same number (``1``, ``1.0``), a truth value to the one state
that is the same word in any case (``true``, ``TRUE``).
Two such states make the value ambiguous, and that is never decided silently. A text that has
spaces around it is tried without them last.

A numeral with leading zeros (``007``) is a label, not a number: it matches as written only.
A float of a data frame carries no spelling (pandas turns the integers of a column with missing
values into floats), so it is matched as a number only, never as the text ``1.0``.

Dates, times, periods and intervals are matched by their printed form: ``2020-01-31``,
``2020Q1``, ``(0, 5]``. A timestamp is printed as ``2020-01-31 13:45:00``; with a ``T`` in place of
the space, or as the date alone where it is midnight, it matches too; and a date matches the state
that is its midnight. A date or moment that is not a state itself matches the month, the quarter or
the year that is one: ``2024-07``, ``2024Q3``, ``2024``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from math import isfinite

import numpy as np

from lacunet.network.dates import periods_of
from lacunet.network.dictionary import Meaning, sets_among
from lacunet.network.spelling import (
    LONGEST_NUMERAL,
    TRUTH_WORDS,
    as_date,
    number_of,
    plain_value,
    spelled,
)

NULLS = ("NAType", "NaTType")  # the missing values of pandas, told without importing it
MISSING_TOKENS = (
    *("", "?", "*", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"),
    *(".", "#N/A", "<NA>"),  # as Stata, SAS and spreadsheets write them
)


class Outcome(Enum):
    """How a value was matched."""

    STATE = "a state"
    MISSING = "missing"
    STRIPPED = "a state or missing, without the spaces around it"
    UNKNOWN = "no state"
    AMBIGUOUS = "more than one state"


@dataclass(frozen=True)
class Match:
    """The code a value gets, and how it came to it."""

    code: int
    outcome: Outcome

    @property
    def is_refused(self) -> bool:
        """Whether the value stands for no state, and not for "missing" either."""
        return self.outcome in (Outcome.UNKNOWN, Outcome.AMBIGUOUS)


class Matcher:
    """The states of one variable, ready to be matched.

    Parameters
    ----------
    states
        The states, in order.
    missing
        Further values that mean "not observed", beside `MISSING_TOKENS`. A state wins.
    cuts
        Where the states begin, if they are intervals of numbers, and where the last one ends.
    codes
        What values of this column mean, whatever else they might be. The sets of several states
        among it have codes behind that for missing.

    Examples
    --------
    >>> matcher = Matcher(["0", "1", "NA"], missing=["99"])
    >>> [matcher.match(value).code for value in ("1", 1.0, "1.00", True, "NA", "?", 99, None)]
    [1, 1, 1, 3, 2, 3, 3, 3]
    >>> matcher.match("2").outcome.value
    'no state'
    >>> coded = Matcher(["1", "9"], codes={"9": None})
    >>> [coded.match(value).code for value in (9, "9.0", "1", "9 ")]
    [2, 2, 0, 2]
    """

    def __init__(
        self,
        states: Sequence[str],
        missing: Sequence[object] = (),
        decimal: str = ".",
        cuts: Sequence[float] = (),
        codes: Mapping[str, Meaning] | None = None,
    ) -> None:
        meanings = codes or {}
        self.states = tuple(states)
        self.sets = sets_among(self.states, meanings.values())
        self.code_of = {code: self._code(meaning) for code, meaning in meanings.items()}
        self._cuts = tuple(cuts)
        self._decimal = decimal
        size = len(self.states)
        self._missing = Match(size, Outcome.MISSING)
        self._unknown = Match(size, Outcome.UNKNOWN)
        match_of = {state: Match(index, Outcome.STATE) for index, state in enumerate(self.states)}
        self._match_of = match_of
        texts = [code if isinstance(code, str) else spelled(code) for code in missing]
        # What texts mean as they are written: a state, whatever else they might be.
        self.written = dict.fromkeys((*self.states, *MISSING_TOKENS, *texts), self._missing)
        self.written |= match_of
        # What numbers, truth values and days mean: two states of one value are ambiguous.
        self._by_value = dict.fromkeys(map(_value, texts), self._missing)
        for state, match in match_of.items():
            value = _value(state)
            is_first = self._by_value.get(value, self._missing) is self._missing
            self._by_value[value] = match if is_first else Match(size, Outcome.AMBIGUOUS)
        if meanings:
            self._take_codes(decimal)

    def _take_codes(self, decimal: str) -> None:
        """Let codes mean what they were declared to mean, however their values are written."""
        coded = {code: Match(number, Outcome.STATE) for code, number in self.code_of.items()}
        by_key: dict[Decimal | str | None, Match] = {_key(c): match for c, match in coded.items()}
        self._by_value |= by_key
        for text in {*self.written, *coded, *TRUTH_WORDS}:
            key = _key(text, decimal)
            if key in by_key:
                self.written[text] = coded.get(text, by_key[key])

    def _code(self, meaning: Meaning) -> int:
        if isinstance(meaning, tuple):
            places = tuple(self.states.index(state) for state in meaning)
            return len(self.states) + 1 + self.sets.index(places)
        return len(self.states) if meaning is None else self.states.index(meaning)

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the states begin, if every number is matched by its interval alone."""
        is_plain = not self.code_of and not any(isinstance(v, Decimal) for v in self._by_value)
        return self._cuts if is_plain else ()

    def match(self, value: object) -> Match:
        """The code of a value as it comes out of a file or a data frame."""
        if is_null(value):
            return self._missing
        if isinstance(value, bool):
            return self._by_value.get(str(value).lower(), self._unknown)
        if isinstance(value, float | Decimal) and isfinite(value):
            return self._number(Decimal(str(value)))
        if isinstance(value, datetime):
            return self._dated(value)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "backslashreplace")
        is_huge = isinstance(value, int) and value.bit_length() > LONGEST_NUMERAL * 4
        return self._unknown if is_huge else self._text(str(value))

    def _dated(self, value: datetime) -> Match:
        """As printed, or with a T, or by its date where it is midnight."""
        for form in (str(value), value.isoformat()):
            if form in self.written:
                return self.written[form]
        is_day = value.time() == time()
        if is_day:
            return self._as_written(value.date().isoformat())
        return self._period(str(value))

    def _text(self, text: str) -> Match:
        match = self._as_written(text)
        bare = text.strip()
        if match.outcome is not Outcome.UNKNOWN or bare == text:
            return match
        match = self._as_written(bare)
        return match if match.is_refused else Match(match.code, Outcome.STRIPPED)

    def _as_written(self, text: str) -> Match:
        if text in self.written:
            return self.written[text]
        number = number_of(with_points(text, self._decimal))
        if number is None:
            return self._by_value.get(as_date(text).lower()) or self._period(text)
        return self._number(number)

    def _period(self, text: str) -> Match:
        """The year, quarter or month of a date, where one of them is a state."""
        periods = (periods_of(text) or {}).values()
        matches = [self._match_of[period] for period in periods if period in self._match_of]
        if len(matches) > 1:
            return Match(len(self.states), Outcome.AMBIGUOUS)
        return matches[0] if matches else self._unknown

    def _number(self, number: Decimal) -> Match:
        interval = interval_of(float(number), self._cuts)
        otherwise = self._unknown if interval is None else Match(interval, Outcome.STATE)
        return self._by_value.get(number, otherwise)


@lru_cache(maxsize=1024)
def known_matcher(
    states: tuple[str, ...],
    *,
    missing: tuple[str, ...] = (),
    decimal: str = ".",
    cuts: tuple[float, ...] = (),
    codes: tuple[tuple[str, Meaning], ...] = (),
) -> Matcher:
    """A matcher; one that was made before is taken again, as rows that come one by one need it."""
    return Matcher(states, missing, decimal, cuts, dict(codes))


def is_null(value: object) -> bool:
    """Whether a value is the null of some library: None, NaN, NaT, pandas' NA."""
    if value is None or type(value).__name__ in NULLS:
        return True
    return isinstance(value, float | np.generic) and bool(value != value)  # noqa: PLR0124


def _key(text: str, decimal: str = ".") -> Decimal | str:
    """What texts of one meaning share: the number, the truth value, the day, or the text."""
    number = number_of(with_points(text, decimal))
    return plain_value(text) if number is None else number


def _value(text: str) -> Decimal | str | None:
    """The number, the truth value or the midnight that a text writes down, if any."""
    key = _key(text)
    return key if key != text or key in TRUTH_WORDS else None


def with_points(text: str, decimal: str) -> str:
    """A number as we write it: with commas as decimal marks, points and commas change places.

    >>> with_points("1,5", ","), with_points("1.500", ",")
    ('1.5', '1,500')
    """
    return text if decimal == "." else text.translate(_SWAPPED)


_SWAPPED = str.maketrans(",.", ".,")


def interval_of(number: float, cuts: Sequence[float]) -> int | None:
    """Which of the intervals ``[cut, next cut)`` holds a number; the last one holds its end.

    >>> [interval_of(number, (0, 10, 20)) for number in (-1, 0, 9.5, 10, 20, 21)]
    [None, 0, 0, 1, 1, None]
    """
    if not cuts or not cuts[0] <= number <= cuts[-1]:
        return None
    return min(bisect_right(cuts, number), len(cuts) - 1) - 1
