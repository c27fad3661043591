"""What a table holds, column by column, and what could be made of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lacunet.data.bins import cuts_found, parse_bins
from lacunet.data.column_rules import source_from
from lacunet.data.data import Data
from lacunet.data.proposals import suspicious
from lacunet.data.states import Seen, StatesError, states_of
from lacunet.network.interval_names import labels_of
from lacunet.network.nodes import quoted
from lacunet.network.spelling import number_of

SHOWN_VALUES, SHOWN_ROWS = 12, 6
SHOWN_CHARACTERS = 200  # of a cell of the first rows
MANY_NUMBERS = 12  # more different ones are better cut


@dataclass(frozen=True)
class ReadColumns:
    """The columns of a table, read once; ``rows`` is how many rows it has."""

    rows: int
    seen: dict[str, Seen]
    first: tuple[tuple[str, ...], ...] = ()  # cells of the first rows, as they are written
    decimal: str = "."

    def numbers(self, name: str) -> dict[str, Decimal | None]:
        """The number that each value of a column is, None where it is not one."""
        return {cell: number_of(cell.replace(self.decimal, ".")) for cell in self.seen[name].cells}

    def states(self, name: str) -> tuple[str, ...]:
        """The states of a column as it is, none where it does not say them."""
        try:
            return states_of(name, self.seen[name])
        except StatesError:
            return ()


def columns_to_propose_for(data: Data) -> ReadColumns:
    """Look at every column of a table, in bounded memory."""
    source = source_from(data)
    seen = {name: Seen.of(name, data) for name in source.columns}
    rows = 0
    first = list[tuple[str, ...]]()
    for part in source.parts:
        for piece in part.read(source.columns):
            if not rows:
                cells = [piece.columns[name][:SHOWN_ROWS].to_pylist() for name in source.columns]
                first = [
                    tuple("" if cell is None else str(cell)[:SHOWN_CHARACTERS] for cell in row)
                    for row in zip(*cells, strict=True)
                ]
            rows += piece.rows
            for name in source.columns:
                seen[name].add(piece.columns[name])
    columns = {name: column.completed() for name, column in seen.items()}
    return ReadColumns(rows, columns, tuple(first), data.decimal)


def columns_as_data(table: ReadColumns) -> dict[str, Any]:
    """What the page shows of each column: values, missing ones, codes, and what is proposed."""
    columns = [_column(table, name) for name in table.seen]
    return {"rows": table.rows, "columns": columns, "first": table.first}


def _column(table: ReadColumns, name: str) -> dict[str, Any]:
    seen = table.seen[name]
    proposal, why = _proposal(table, name)
    return {
        "name": name,
        "key": quoted(name),
        "missing": seen.empty + seen.tokens.total() + seen.asked.total(),
        "different": len(seen.cells),
        "values": seen.cells.most_common(SHOWN_VALUES),
        "states": list(table.states(name)),
        "tokens": [[token, number] for token, number in seen.tokens.items() if token],
        "codes": _codes(table, name),
        "proposal": proposal,
        "why": why,
    }


def _codes(table: ReadColumns, name: str) -> list[str]:
    """Values that may mean "not observed": of measured numbers those far from all others."""
    states = table.states(name)
    if 0 < len(states) <= MANY_NUMBERS:
        return _odd(table, states)
    number_of_cell = table.numbers(name)
    odd = _odd(table, [*number_of_cell])
    usual = [number for cell, number in number_of_cell.items() if number and cell not in odd]
    most = 2 * max(usual, default=Decimal(0))  # beside words every number is far off
    return [
        cell for cell in odd if (number := number_of_cell[cell]) is None or not 0 <= number <= most
    ]


def _odd(table: ReadColumns, cells: Sequence[str]) -> list[str]:
    """Those of the values that look like codes, among numbers with the table's decimals."""
    cell_of = {cell.replace(table.decimal, "."): cell for cell in cells}
    return [cell_of[text] for text in suspicious([*cell_of])]


def _proposal(table: ReadColumns, name: str) -> tuple[str, str]:
    """What to make of a column: "states" as they are, "bins", or "leave" it; and why."""
    seen = table.seen[name]
    numbers = [*table.numbers(name).values()]
    try:
        number = len(states_of(name, seen))
        if number <= MANY_NUMBERS or None in numbers:
            return "states", ""
        return "bins", f"{number} different numbers"
    except StatesError as error:
        is_cut = len(numbers) > 1 and None not in numbers
        if len(numbers) == seen.rows:  # each once: measured, or an identifier
            is_cut = is_cut and any(number is not None and number % 1 for number in numbers)
        return "bins" if is_cut else "leave", error.message


def cut_labels(data: Data, name: str, typed: str) -> tuple[str, ...]:
    """The intervals that bins, as typed, cut a column into."""
    bins = {name: parse_bins(name, typed)}
    return labels_of(cuts_found(source_from(data), bins, data)[name])
