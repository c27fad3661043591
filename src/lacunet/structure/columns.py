"""The columns of data without a network: their states, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from lacunet.counts.observations import observations, rows_within
from lacunet.data.column_rules import source_from
from lacunet.data.data import Data
from lacunet.data.network_from_data import network_of_columns
from lacunet.data.read import ReadReport, note_on_sets
from lacunet.data.table import EncodedTable
from lacunet.network.network import Network
from lacunet.progress import Progress, silent
from lacunet.structure.indexed_rows import CodedRows
from lacunet.text import first_of, listed

MAX_COLUMNS_LISTED = 10
ON_DESIGN = (
    "edges are scored as if rows were independent, whatever strata, clusters or replicate weights "
    "say: with clusters whose rows are alike, too many edges are found, and their strengths are "
    "too high. lacunet.learn(structure, data, intervals=True) uses them for the CPTs."
)


@dataclass(frozen=True)
class Columns:
    """The variables with their states, and the columns that were left out.

    The network has no arcs, but for those that questions which were not asked require.
    """

    network: Network
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def find_columns(data: Any) -> Columns:
    """A variable for every column but weights: its states as given, as cut, or those seen."""
    built = network_of_columns(data)
    source = source_from(data)
    dropped = tuple(name for name in source.columns if name not in built.network.states_of)
    return Columns(built.network, built.remarks, dropped)


def read_columns(
    data: Data, budget: float = inf, progress: Progress = silent
) -> tuple[Columns, EncodedTable]:
    """The variables, and the rows; the data's states may be the network that `find_columns` gave.

    Of more rows than the budget holds, equal ones are one; of still more, there are some.
    """
    columns = _columns_of(data)
    # From here on the network says which states there are.
    remaining = replace(data, states=None, bins=None, aside=(*data.aside, *columns.left_out))
    with observations(remaining, columns.network, budget, progress=progress) as rows:
        report = ReadReport()
        table, row_count = rows_within(rows, columns.network, budget, report)
        notes = [*rows.warned_notes(report), *_on_rows(table, row_count)]
    if data.has_design:
        notes.append(ON_DESIGN)
    return replace(columns, notes=(*notes, *columns.notes)), replace(table.without_sets(), notes=())


def _columns_of(data: Data) -> Columns:
    """The variables, as a network gives them, as codes have them, or as found in the columns."""
    if isinstance(data.states, Network):
        return Columns(data.states)
    if isinstance(data.source, EncodedTable):
        labels_of = data.states or {
            name: range(size) for name, size in data.source.cardinality_of.items()
        }
        return Columns(
            Network({name: list(map(str, labels_of[name])) for name in data.source.variables})
        )
    return find_columns(data)


def _on_rows(table: EncodedTable, rows: int) -> Iterator[str]:
    """What of the data the search does not see."""
    if table.row_count == 1:
        yield "there is 1 row, which says nothing of how columns go together: no edge can be found."
    if cells := table.cells_of_sets:
        yield note_on_sets(cells)
    if table.row_count < rows:
        yield (
            f"the memory budget holds {table.row_count:,} of the {rows:,} rows: the structure is "
            "learned from these, spread over all of the data."
        )


def column_remarks(rows: CodedRows) -> Iterator[str]:
    """What is odd about the columns: constant ones, and those that others determine."""
    names, varies = rows.variables, rows.varies
    if constant := [name for name, is_varying in zip(names, varies, strict=True) if not is_varying]:
        yield (
            f"{listed(constant)}: no row shows more than one state, so there is nothing to learn; "
            "left without edges, unless they are required."
        )
    determined = rows.pairs.determines & varies & varies[:, None] & ~np.eye(len(names), dtype=bool)
    both = [
        f"{names[x]!r} and {names[y]!r}"
        for x, y in np.argwhere(np.triu(determined & determined.T)).tolist()
    ]
    one_way = [
        f"{names[y]!r} by {names[x]!r}" for x, y in np.argwhere(determined & ~determined.T).tolist()
    ]
    if both:
        yield (
            "determine each other in every row that shows both: "
            f"{first_of(both, MAX_COLUMNS_LISTED)}; which of the two other variables "
            "depend on cannot be told."
        )
    if one_way:
        yield f"determined in every row that shows both: {first_of(one_way, MAX_COLUMNS_LISTED)}."
