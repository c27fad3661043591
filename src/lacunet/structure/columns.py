"""The columns of data without a network: their states, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from lacunet.building.network import columns_held
from lacunet.building.states import (
    IdentifierError,
    NestedError,
    NumbersError,
    Seen,
    SpellingsError,
    StatesError,
    WeightsError,
    in_five,
    states_of,
    taken_as_missing,
)
from lacunet.data.given import Data, data_given
from lacunet.data.read import ReadReport, note_on_sets
from lacunet.data.reading import check_columns, source_from
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.model.network import Network
from lacunet.progress import Progress, silent
from lacunet.statistics.observations import observations, rows_within
from lacunet.structure.rows import CodedRows
from lacunet.wording import first_of, in_shell, listed

MOST_NAMED = 10
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
    """A variable for every column but weights: its states as given, as cut, or those seen.

    Columns without any value or with the name and the values of sampling weights are left out,
    unless their states are given.
    """
    given_data = data_given(data)
    source = source_from(given_data)
    left_out = {*given_data.without, *given_data.beside}
    columns = [name for name in source.columns if name not in left_out]
    if not columns:
        raise LacunetError(f"no column of {source.label} is left to learn from.")
    check_columns(source, columns, given_data)
    held = columns_held(source, given_data, columns)
    occurring = _occurring(held.uncut, held.extra)
    empty = [v for v, values in occurring.items() if not values and v not in held.extra]
    weights = [v for v in held.uncut if v not in occurring]
    kept = [name for name in columns if name not in empty and name not in weights]
    notes = [*_left_out(empty, weights)]
    if not kept:
        why = notes[0] if weights else "every cell is missing."
        raise LacunetError(f"no column of {source.label} is left to learn from: {why}")
    network = held.network(kept, occurring)
    notes += taken_as_missing({v: held.seen[v] for v in held.seen if v in kept}, occurring)
    dropped = tuple(name for name in source.columns if name not in kept)
    return Columns(network, (*notes, *held.proposals(network)), dropped)


def _left_out(empty: Sequence[str], weights: Sequence[str]) -> Iterator[str]:
    """Which columns are left out."""
    for name in weights:
        yield (
            f"left out {name!r}, which looks like sampling weights: weight={name!r}, --weight "
            f"{in_shell(name)}; give its states or bins if it is a variable."
        )
    if empty:
        keep = "it" if len(empty) == 1 else "them"
        yield f"left out {listed(empty)}: every cell is missing; give states to keep {keep}."


def read_columns(
    data: Data, budget: float = inf, progress: Progress = silent
) -> tuple[Columns, EncodedTable]:
    """The variables, and the rows; the data's states may be the network that `find_columns` gave.

    Of more rows than the budget holds, equal ones are one; of still more, there are some.
    """
    if isinstance(data.states, Network):
        columns = Columns(data.states)
    elif isinstance(data.source, EncodedTable):
        labels_of = data.states or {
            name: range(size) for name, size in data.source.cardinality_of.items()
        }
        columns = Columns(
            Network({name: list(map(str, labels_of[name])) for name in data.source.variables})
        )
    else:
        columns = find_columns(data)
    # From here on the network says which states there are.
    data = replace(data, states=None, bins=None, aside=(*data.aside, *columns.left_out))
    with observations(data, columns.network, budget, progress=progress) as rows:
        report = ReadReport()
        table, row_count = rows_within(rows, columns.network, budget, report)
        notes = [*rows.notes(report), *_on_rows(table, row_count)]
    notes += [ON_DESIGN] if data.has_design else []
    return replace(columns, notes=(*notes, *columns.notes)), replace(table.without_sets(), notes=())


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


def _occurring(
    seen: Mapping[str, Seen], extra: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """The states that occur in each column, none or one among them; not of weights."""
    occurring: dict[str, tuple[str, ...]] = {}
    refused: dict[str, StatesError] = {}
    for name, column in seen.items():
        try:
            more = extra.get(name, ())
            values = len(column.cells) + len(column.labels) + len(more)
            is_few = values < 2 and not column.order and not column.is_nested
            is_few = is_few and not column.texts_of_numbers and not column.is_free_text
            occurring[name] = tuple(column.cells) if is_few else states_of(name, column, more)
        except WeightsError:
            continue
        except StatesError as error:
            refused[name] = error
    if refused:
        raise LacunetError(
            "\n".join(error.message for error in refused.values()),
            _way_out(refused),
        )
    return occurring


def _way_out(refused: Mapping[str, StatesError]) -> str:
    """What to do about columns without states."""
    hopeless = [
        name for name, error in refused.items() if isinstance(error, IdentifierError | NestedError)
    ]
    alike = {name: error for name, error in refused.items() if isinstance(error, SpellingsError)}
    others = [name for name in refused if name not in hopeless and name not in alike]
    ways = []
    if hopeless:
        ways.append(
            f"leave {listed(hopeless)} out: without={hopeless!r} "
            f"(--without {in_shell(','.join(hopeless))})"
        )
    if others:
        ways.append(f"leave {listed(others)} out (without=[...], --without), or give the states")
    if cut := [name for name, error in refused.items() if isinstance(error, NumbersError)]:
        ways.append(f"or cut numbers into intervals: {in_five(cut)}")
    if alike:
        ways.append(SpellingsError.joined([*alike.values()]).way_out)
    return "; ".join(ways) + "."


def remarks(rows: CodedRows) -> Iterator[str]:
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
            f"determine each other in every row that shows both: {first_of(both, MOST_NAMED)}; "
            "which of the two other variables depend on cannot be told."
        )
    if one_way:
        yield f"determined in every row that shows both: {first_of(one_way, MOST_NAMED)}."
