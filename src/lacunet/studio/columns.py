"""What a table holds, column by column, and what could be made of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lacunet.building.bins import BinsError, asked_bins, cuts_found
from lacunet.building.proposals import suspicious
from lacunet.building.states import Said, Seen, StatesError, states_of
from lacunet.data.given import Data
from lacunet.data.reading import source_from
from lacunet.model.intervals import labels_of
from lacunet.model.nodes import quoted
from lacunet.model.spelling import number_of

SHOWN_VALUES = 12


@dataclass(frozen=True)
class ReadColumns:
    """The columns of a table, read once; ``rows`` is how many rows it has."""

    rows: int
    seen: dict[str, Seen]

    def states(self, name: str) -> tuple[str, ...]:
        """The states of a column as it is, none where it does not say them."""
        try:
            return states_of(name, self.seen[name])
        except StatesError:
            return ()


def read_columns(data: Data) -> ReadColumns:
    """Look at every column of a table, in bounded memory."""
    source = source_from(data)
    seen = {name: Seen(Said.of(name, data)) for name in source.columns}
    rows = 0
    for part in source.parts:
        for piece in part.read(source.columns):
            rows += piece.rows
            for name in source.columns:
                seen[name].add(piece.columns[name])
    return ReadColumns(rows, {name: own.completed() for name, own in seen.items()})


def columns_as_data(table: ReadColumns) -> dict[str, Any]:
    """What the page shows of each column: values, missing ones, codes, and what is proposed."""
    return {"rows": table.rows, "columns": [_column(table, name) for name in table.seen]}


def _column(table: ReadColumns, name: str) -> dict[str, Any]:
    seen = table.seen[name]
    proposal, why = _proposal(name, seen)
    return {
        "name": name,
        "key": quoted(name),
        "missing": seen.empty + seen.tokens.total() + seen.asked.total(),
        "different": len(seen.cells),
        "values": seen.cells.most_common(SHOWN_VALUES),
        "states": list(table.states(name)),
        "tokens": [[token, number] for token, number in seen.tokens.items() if token],
        "codes": suspicious(table.states(name)),
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
