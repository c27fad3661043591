"""The states that a column shows.

Every distinct value is a state, spelled so that the door (`lacunet.data.matching`) matches it
again: a number as the shortest numeral, a text without the spaces around it. Ordered categories
keep their order, all of them, whether they occur or not; numbers, also those written as texts,
are put in their order, everything else is sorted as text. What means "missing" is not a state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isnan

from lacunet.data.encode import distinct_cells
from lacunet.data.given import Data
from lacunet.data.matching import MISSING_TOKENS, number_of, spelled
from lacunet.data.source import Column, Source
from lacunet.errors import LacunetError
from lacunet.wording import counted, listed

MOST_STATES = 50  # a column with more is not a discrete variable that CPTs could be learned for
FEWEST_ROWS_OF_IDENTIFIER = 20
KEPT_VALUES = 4096


class StatesError(LacunetError):
    """A column does not say which states its variable has."""


@dataclass
class Seen:
    """What a column was found to hold: the one object here that grows, piece by piece.

    ``cells`` counts each value by its spelling, ``order`` lists all categories of an ordered
    column, ``tokens`` counts the texts that were taken as missing.
    """

    cells: Counter[str] = field(default_factory=Counter)
    order: dict[str, None] = field(default_factory=dict)
    tokens: Counter[str] = field(default_factory=Counter)
    has_fractions: bool = False
    rows: int = 0

    def add(self, column: Column, missing: frozenset[str]) -> None:
        """Count the next cells."""
        counts, values = distinct_cells(column)
        if getattr(getattr(column, "type", None), "ordered", False):
            self.order |= dict.fromkeys(spelled(value) for value in values)
        for value, count in zip(values, counts, strict=True):
            if value is None or (isinstance(value, float) and isnan(value)) or not count:
                continue
            text = spelled(value)
            if text in missing:
                self.tokens[text] += count
            elif text in self.cells or len(self.cells) <= KEPT_VALUES:
                self.cells[text] += count
                self.has_fractions |= isinstance(value, float | Decimal) and value % 1 != 0
            self.rows += count


def seen_in(source: Source, columns: Sequence[str], data: Data) -> dict[str, Seen]:
    """What each of the columns holds; the data are read once, in bounded memory."""
    tokens = {name: tokens_in(name, data) for name in columns}
    seen = {name: Seen() for name in columns}
    for part in source.parts:
        for piece in part.read(columns):
            for name in columns:
                seen[name].add(piece.columns[name], tokens[name])
    return seen


def tokens_in(name: str, data: Data) -> frozenset[str]:
    """What means "not observed" in a column, spelled as states are."""
    more = map(spelled, (*data.missing_anywhere, *data.missing_in(name)))
    return frozenset((*MISSING_TOKENS, *more))


def states_of(name: str, seen: Seen) -> tuple[str, ...]:
    """The states of a column in their order.

    Raises
    ------
    StatesError
        It holds no value, one value, an identifier or too many values.

    Examples
    --------
    >>> column = Seen(Counter({"10": 3, "9": 1, "9.0": 1}), rows=5)
    >>> states_of("Age", column)
    ('9', '10')
    """
    if seen.order:
        return tuple(seen.order)
    found = _merged(seen.cells)
    _check(name, seen, found)
    numbers = [number_of(state) for state in found]
    if None in numbers:
        return tuple(sorted(found))
    return tuple(sorted(found, key=lambda state: number_of(state) or 0))


def _merged(cells: Mapping[str, int]) -> list[str]:
    """One spelling, the shortest, for each number and truth value; other texts as they are."""
    spelling: dict[object, str] = {}
    for text in sorted(cells, key=lambda text: (len(text), text)):
        number = number_of(text)
        word = text.lower() if text.lower() in ("true", "false") else text
        spelling.setdefault(word if number is None else number, text)
    return list(spelling.values())


def _check(name: str, seen: Seen, found: Sequence[str]) -> None:
    give = f"states={{{name!r}: [...]}}"
    if not found:
        raise StatesError(
            f"column {name!r} holds no value: every cell is missing.",
            f"leave {name!r} out of the edges, or give its states by hand, {give}.",
        )
    if len(found) == 1:
        raise StatesError(
            f"column {name!r} is constant: it holds nothing but {found[0]!r}.",
            f"leave {name!r} out of the edges, or give all its states by hand, {give}.",
        )
    if len(found) <= MOST_STATES:
        return
    many = "more than 4,096" if len(seen.cells) > KEPT_VALUES else f"{len(found):,}"
    is_identifier = len(seen.cells) == seen.rows >= FEWEST_ROWS_OF_IDENTIFIER
    if is_identifier and not seen.has_fractions:
        raise StatesError(
            f"column {name!r} looks like an identifier: each of its {seen.rows:,} values "
            "occurs once.",
            f"leave {name!r} out of the edges.",
        )
    raise StatesError(
        f"column {name!r} has {many} different values (for example {', '.join(found[:3])}); "
        f"a discrete variable may have at most {MOST_STATES}.",
        f"cut numbers into intervals with bins={{{name!r}: 5}} (lacunet.discretise does the same "
        f"to a dataframe), merge rare values, or give the states by hand, {give}.",
    )


def remarks(name: str, seen: Seen, states: Sequence[str]) -> Iterator[str]:
    """What may surprise the user about the states of one column."""
    if seen.tokens:
        tokens = listed(filter(None, seen.tokens))
        if tokens:
            count = sum(number for token, number in seen.tokens.items() if token)
            yield (
                f"column {name!r}: {counted(count, 'cell')} with {tokens} taken as missing; "
                "give the states by hand if it is one of them."
            )
    if absent := [state for state in states if state not in seen.cells and seen.order]:
        yield f"column {name!r}: no row has the categories {absent}; they are states all the same."
    if len(merged := set(seen.cells) - set(states)):
        yield f"column {name!r}: {sorted(merged)} mean the same as other states and are not listed."
