"""The columns of data without a network: their states, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from lacunet.building.states import Seen, StatesError, seen_in, states_of
from lacunet.data.read import read_table
from lacunet.data.reading import source_from
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.model.network import FloatArray, Network
from lacunet.progress import Progress, silent
from lacunet.wording import counted

MOST_NAMED = 10


def read_columns(
    data: Any,
    states: Mapping[str, Sequence[object]] | None,
    weight: Any = None,
    missing: Sequence[str] = (),
    progress: Progress = silent,
) -> tuple[Network, EncodedTable, tuple[str, ...]]:
    """The variables with their states, as a network without arcs; the rows; and notes.

    Columns without any value are left out, unless their states are given.
    """
    if isinstance(data, EncodedTable):
        own = states or {
            name: [str(state) for state in range(size)]
            for name, size in data.cardinality_of.items()
        }
        network = Network({name: list(map(str, own[name])) for name in data.variables})
        return network, read_table(data, network), ()
    found = states_in(data, states or {}, weight, missing)
    empty = [name for name, own in found.items() if not own]
    network = Network({name: own for name, own in found.items() if own})
    table = read_table(data, network, weight=weight, missing=missing, progress=progress)
    notes = [note for note in table.notes if not note.startswith("ignored the columns")]
    if empty:
        notes.append(
            f"left out {', '.join(map(repr, empty))}: every cell is missing; give states to keep "
            + ("it." if len(empty) == 1 else "them.")
        )
    return network, replace(table, notes=()), tuple(notes)


def states_in(
    data: Any,
    given: Mapping[str, Sequence[object]],
    weight: Any = None,
    missing: Sequence[str] = (),
) -> dict[str, tuple[str, ...]]:
    """The states of every column but the weights: those given, else those that occur."""
    source = source_from(data)
    if strangers := [name for name in given if name not in source.columns]:
        raise LacunetError(
            f"states are given for {_listed(strangers)}, but {source.label} has no such column.",
            f"its columns are {', '.join(source.columns)}.",
        )
    columns = [name for name in source.columns if not (isinstance(weight, str) and name == weight)]
    seen = seen_in(source, [name for name in columns if name not in given], missing)
    return {
        name: tuple(map(str, given[name])) if name in given else _found(name, seen[name])
        for name in columns
    }


def _found(name: str, seen: Seen) -> tuple[str, ...]:
    """The states that occur, none or one among them."""
    if len(seen.cells) < 2 and not seen.order:
        return tuple(seen.cells)
    try:
        return states_of(name, seen)
    except StatesError as error:
        raise LacunetError(
            error.message,
            "leave the column out of the data, cut numbers into intervals with "
            "lacunet.discretise, or give its states.",
        ) from None


def remarks(table: EncodedTable, pairs: FloatArray) -> Iterator[str]:
    """What is odd about the columns: constant ones, and those that others determine.

    Parameters
    ----------
    pairs
        The counts of all pairs of variables, side by side (`lacunet.structure.gains`).
    """
    names = table.variables
    sizes = [table.cardinality_of[name] for name in names]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    seen = [np.count_nonzero(np.diagonal(pairs)[start:stop]) for start, stop in pairwise(starts)]
    if constant := [name for name, number in zip(names, seen, strict=True) if number <= 1]:
        yield (
            f"{_listed(constant)}: no row shows more than one state, so there is nothing to learn; "
            "left without arcs."
        )
    held = pairs > 0
    determined: dict[tuple[int, int], bool] = {}
    for x in range(len(names)):
        for y in range(len(names)):
            if x != y and seen[x] > 1 and seen[y] > 1:
                block = held[starts[x] : starts[x + 1], starts[y] : starts[y + 1]]
                determined[x, y] = bool(block.any() and (block.sum(axis=1) <= 1).all())
    both = [
        f"{names[x]!r} and {names[y]!r}"
        for (x, y), is_so in determined.items()
        if is_so and x < y and determined[y, x]
    ]
    one = [
        f"{names[y]!r} by {names[x]!r}"
        for (x, y), is_so in determined.items()
        if is_so and not determined[y, x]
    ]
    if both:
        yield (
            f"determine each other in every row that shows both: {_some(both)}; "
            "which of the two other variables depend on cannot be told."
        )
    if one:
        yield f"determined in every row that shows both: {_some(one)}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - MOST_NAMED
    words = ", ".join(texts[:MOST_NAMED])
    return words + (f" and {counted(more, 'more pair')}" if more > 0 else "")
