"""The columns of data without a network: their states, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from lacunet.data.encode import ColumnEncoder
from lacunet.data.matching import MISSING_TOKENS, Matcher, number_of
from lacunet.data.read import read_table
from lacunet.data.reading import _source
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.model.network import FloatArray, Network
from lacunet.progress import Progress, silent
from lacunet.wording import counted

MOST_STATES = 100  # a column with more is not taken for a discrete variable
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
    """The states of every column but the weights: those given, else those that occur.

    Numbers are put in their order, other texts are sorted.
    """
    source = _source(data)
    if strangers := [name for name in given if name not in source.columns]:
        raise LacunetError(
            f"states are given for {', '.join(map(repr, strangers))}, "
            f"but {source.label} has no such column.",
            f"its columns are {', '.join(source.columns)}.",
        )
    wanted = [name for name in source.columns if name not in given and name != weight]
    nothing = Matcher((), tuple(missing))
    encoders = {name: ColumnEncoder(nothing) for name in wanted}
    for part in source.parts:
        for piece in part.read(wanted):
            for name, encoder in encoders.items():
                encoder.encode(piece.columns[name])
    found = {name: _ordered(name, encoder.refused) for name, encoder in encoders.items()}
    return {
        name: tuple(map(str, given[name])) if name in given else found[name]
        for name in source.columns
        if name != weight
    }


def _ordered(name: str, values: Mapping[object, int]) -> tuple[str, ...]:
    texts = {_spelled(value) for value in values} - {*MISSING_TOKENS}
    if len(texts) > MOST_STATES:
        raise LacunetError(
            f"column {name!r} has more than {MOST_STATES} different values, as "
            f"{sorted(texts)[0]!r}: it is not a discrete variable.",
            "leave the column out, put numbers into classes, or give its states.",
        )
    numbers = {text: number_of(text) for text in texts}
    if all(number is not None for number in numbers.values()):
        distinct: dict[Any, str] = {}
        for text in sorted(texts, key=len):
            distinct.setdefault(numbers[text], text)
        return tuple(distinct[number] for number in sorted(distinct))
    return tuple(sorted(texts))


def _spelled(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


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
