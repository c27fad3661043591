"""What a table holds, column by column, and what could be made of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lacunet.building.bins import BinsError, asked_bins, cuts_found
from lacunet.building.states import Seen, StatesError, states_of, tokens_in
from lacunet.data.given import Data
from lacunet.data.matching import number_of
from lacunet.data.reading import source_from
from lacunet.model.intervals import labels_of
from lacunet.model.nodes import quoted

SHOWN_VALUES = 12
PROPOSED_BINS = "4"
CODES = frozenset(
    f"{sign}{digit * n}" for digit in "789" for n in (1, 2, 3, 4) for sign in ("", "-")
)
WORDS = frozenset(
    ("don't know", "dont know", "do not know", "refused", "unknown", "not known", "no answer")
)
LEAST_GAP = 2  # between a code and the largest number that is none


@dataclass(frozen=True)
class Table:
    """The columns of a table, read once; ``rows`` is how many rows it has."""

    rows: int
    seen: dict[str, Seen]

    def states(self, name: str) -> tuple[str, ...]:
        """The states of a column as it is, none where it does not say them."""
        try:
            return states_of(name, self.seen[name])
        except StatesError:
            return ()


def read_columns(data: Data) -> Table:
    """Look at every column of a table, in bounded memory."""
    source = source_from(data)
    seen = {name: Seen() for name in source.columns}
    tokens = {name: tokens_in(name, data) for name in source.columns}
    rows = 0
    for part in source.parts:
        for piece in part.read(source.columns):
            rows += piece.rows
            for name in source.columns:
                seen[name].add(piece.columns[name], tokens[name])
    return Table(rows, seen)


def columns_as_data(table: Table) -> dict[str, Any]:
    """What the page shows of each column: values, missing ones, codes, and what is proposed."""
    return {"rows": table.rows, "columns": [_column(table, name) for name in table.seen]}


def _column(table: Table, name: str) -> dict[str, Any]:
    seen = table.seen[name]
    shown = seen.rows - seen.tokens.total()
    proposal, why = _proposal(name, seen)
    return {
        "name": name,
        "key": quoted(name),
        "missing": table.rows - shown,
        "different": len(seen.cells),
        "values": seen.cells.most_common(SHOWN_VALUES),
        "states": list(table.states(name)),
        "tokens": [[token, number] for token, number in seen.tokens.items() if token],
        "codes": _codes(table.states(name)),
        "proposal": proposal,
        "why": why,
    }


def _proposal(name: str, seen: Seen) -> tuple[str, str]:
    """What to make of a column: "states" as they are, "bins", or "leave" it; and why."""
    try:
        states_of(name, seen)
        return "states", ""
    except StatesError as error:
        numbers = [number_of(cell) for cell in seen.cells]
        is_cut = len(numbers) > 1 and None not in numbers
        if len(numbers) == seen.rows:  # each once: measured, or an identifier
            is_cut = is_cut and any(number is not None and number % 1 for number in numbers)
        return "bins" if is_cut else "leave", error.message


def _codes(states: Sequence[str]) -> list[str]:
    """What may well mean "not observed": "refused" and the like, or 7, 9, 99 set apart."""
    words = [state for state in states if state.casefold().replace("’", "'") in WORDS]
    codes = [state for state in states if state in CODES]
    numbers = [number_of(state) for state in states if state not in CODES and state not in words]
    rest = [float(number) for number in numbers if number is not None]
    if len(rest) < len(numbers) or not rest:
        return words
    is_apart = [float(c) < 0 <= min(rest) or float(c) >= max(rest) + LEAST_GAP for c in codes]
    return words + [code for code, apart in zip(codes, is_apart, strict=True) if apart]


def cut_labels(data: Data, name: str, typed: str) -> tuple[str, ...]:
    """The intervals that bins, as typed, cut a column into."""
    try:
        bins = asked_bins(typed)
    except ValueError:
        raise BinsError(
            f"{typed!r} is neither a number of intervals nor cut points.",
            "write 5, width:5 or 18,40,65.",
        ) from None
    return labels_of(cuts_found(source_from(data), {name: bins}, data)[name])
