"""Which state a value of the data stands for.

The network owns the states; a value is matched to one, found to be missing, or unknown.
A text is matched as written first. A text that says "missing" is missing. A number is
then matched to the one state that is the same number (``1``, ``1.0``), a truth value to the
one state that is the same word in any case (``true``, ``TRUE``). Two such states make the
value ambiguous, and that is never decided silently. A text that has blanks around it is
tried without them last.

A numeral with leading zeros (``007``) is a label, not a number: it matches as written only.
A float of a data frame carries no spelling (pandas turns the integers of a column with holes
into floats), so it is matched as a number only, never as the text ``1.0``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from math import isfinite, isnan

MISSING_TOKENS = ("", "?", "*", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")

NUMERAL = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
LONGEST_NUMERAL = 400  # float64 needs 309 digits; a longer text is a label


class Found(Enum):
    """How a value was matched."""

    STATE = "a state"
    MISSING = "missing"
    STRIPPED = "a state or missing, without the blanks around it"
    UNKNOWN = "no state"
    AMBIGUOUS = "more than one state"


@dataclass(frozen=True)
class Match:
    """The code a value gets, and how it came to it."""

    code: int
    found: Found

    @property
    def is_refused(self) -> bool:
        """Whether the value stands for no state, and not for "missing" either."""
        return self.found in (Found.UNKNOWN, Found.AMBIGUOUS)


class Matcher:
    """The states of one variable, ready to be matched.

    Parameters
    ----------
    states
        The states, in order.
    missing
        Further texts that mean "not observed", beside `MISSING_TOKENS`. A state wins.
    cuts
        Where the states begin, if they are intervals of numbers, and where the last one ends.

    Examples
    --------
    >>> matcher = Matcher(["0", "1", "NA"], missing=["99"])
    >>> [matcher.match(value).code for value in ("1", 1.0, "1.00", True, "NA", "?", 99, None)]
    [1, 1, 1, 3, 2, 3, 3, 3]
    >>> matcher.match("2").found.value
    'no state'
    """

    def __init__(
        self, states: Sequence[str], missing: Sequence[str] = (), cuts: Sequence[float] = ()
    ) -> None:
        self.states = tuple(states)
        self._cuts = tuple(cuts)
        self.tokens = tuple(
            token for token in (*MISSING_TOKENS, *missing) if token not in self.states
        )
        self._missing = Match(len(self.states), Found.MISSING)
        self._exact = {state: Match(at, Found.STATE) for at, state in enumerate(self.states)}
        self._exact |= dict.fromkeys(self.tokens, self._missing)
        self._numbers = [number_of(state) for state in self.states]
        self._missing_numbers = {number_of(token) for token in missing} - {None}
        self._words = [state.lower() for state in self.states]

    def match(self, value: object) -> Match:
        """The code of a value as it comes out of a file or a data frame."""
        if value is None or (isinstance(value, float) and isnan(value)):
            return self._missing
        if isinstance(value, bool):
            return self._word(str(value).lower())
        if isinstance(value, float | Decimal) and isfinite(value):
            return self._number(Decimal(str(value)))
        if isinstance(value, bytes):
            return self._text(value.decode("utf-8", "backslashreplace"))
        return self._text(str(value))

    def _text(self, text: str) -> Match:
        found = self._as_written(text)
        bare = text.strip()
        if found.found is not Found.UNKNOWN or bare == text:
            return found
        found = self._as_written(bare)
        return found if found.is_refused else Match(found.code, Found.STRIPPED)

    def _as_written(self, text: str) -> Match:
        if text in self._exact:
            return self._exact[text]
        number = number_of(text)
        return self._word(text.lower()) if number is None else self._number(number)

    def _number(self, number: Decimal) -> Match:
        same = [at for at, own in enumerate(self._numbers) if own is not None and own == number]
        if not same and number in self._missing_numbers:
            return self._missing
        if not same and (interval := interval_of(float(number), self._cuts)) is not None:
            return Match(interval, Found.STATE)
        return self._only(same)

    def _word(self, word: str) -> Match:
        if word not in ("true", "false"):
            return self._only([])
        return self._only([at for at, own in enumerate(self._words) if own == word])

    def _only(self, same: Sequence[int]) -> Match:
        if len(same) == 1:
            return Match(same[0], Found.STATE)
        return Match(len(self.states), Found.AMBIGUOUS if same else Found.UNKNOWN)


def number_of(text: str) -> Decimal | None:
    """The number a text writes down, None if it writes none.

    >>> number_of("1.50"), number_of("01"), number_of("1e1"), number_of("x")
    (Decimal('1.50'), None, Decimal('1E+1'), None)
    """
    is_numeral = len(text) <= LONGEST_NUMERAL and NUMERAL.fullmatch(text)
    return Decimal(text) if is_numeral else None


def interval_of(number: float, cuts: Sequence[float]) -> int | None:
    """Which of the intervals ``[cut, next cut)`` holds a number; the last one holds its end.

    >>> [interval_of(number, (0, 10, 20)) for number in (-1, 0, 9.5, 10, 20, 21)]
    [None, 0, 0, 1, 1, None]
    """
    if not cuts or not cuts[0] <= number <= cuts[-1]:
        return None
    return min(bisect_right(cuts, number), len(cuts) - 1) - 1
