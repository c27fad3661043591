"""The values of each component's boundary, with the weight of the rows that have them.

Components that many rows have are counted one by one, like any table of counts. Those that
few rows have may be thousands: all of them are handled at once, their values end to end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray
from lacunet.statistics.distinct import LARGEST_KEY, distinct, pack, unpack
from lacunet.statistics.problem_components import Components, Patterns
from lacunet.statistics.problem_ragged import Integers, Ragged, distinct_rows, joined

MANY_ROWS = 128


@dataclass(frozen=True)
class Values:
    """Values of the boundaries: whose each is, its states, its weight."""

    component: Integers
    states: Ragged
    weights: FloatArray


def boundary_values(
    table: EncodedTable, patterns: Patterns, components: Components, boundaries: Ragged
) -> Values:
    """The distinct values of every component's boundary, with their weights."""
    rows_of_pattern = patterns.rows.lengths
    rows_of_component = np.bincount(
        components.component,
        rows_of_pattern[components.pattern],
        minlength=len(components.members),
    )
    has_many = rows_of_component >= MANY_ROWS
    parts = []
    if not has_many.all():
        parts.append(_of_rare(table, patterns, components, boundaries, ~has_many))
    occurrences = np.argsort(components.component, kind="stable")
    of_component = Ragged.of_lengths(
        np.bincount(components.component, minlength=len(has_many)),
        components.pattern[occurrences],
    )
    for component in np.flatnonzero(has_many):
        rows = patterns.rows.take(of_component.take(np.array([component])).items).items
        boundary = boundaries.take(np.array([component])).items
        parts.append(_of_common(table, int(component), rows, boundary))
    return _joined(parts)


def _joined(parts: list[Values]) -> Values:
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return Values(none, Ragged(np.zeros(1, dtype=np.int64), none), np.zeros(0))
    return Values(
        np.concatenate([part.component for part in parts]),
        joined([part.states for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _of_common(table: EncodedTable, component: int, rows: Integers, boundary: Integers) -> Values:
    """Count the values of one boundary among the rows that have the component."""
    names = [table.variables[place] for place in boundary]
    sizes = [table.cardinality_of[name] for name in names]
    columns = [table.columns[name][rows] for name in names]
    if prod(sizes) < LARGEST_KEY:
        found, group = distinct(pack(columns, sizes, len(rows)), prod(sizes))
        states = np.stack([np.zeros(len(found), np.int64), *unpack(found, sizes)], axis=1)[:, 1:]
    else:
        flat = np.stack(columns, axis=1).astype(np.int64)
        first, group = distinct_rows(_rectangle(flat))
        states = flat[first]
    weights = np.bincount(group, None if table.weights is None else table.weights[rows])
    return Values(np.full(len(states), component), _rectangle(states), weights.astype(np.float64))


def _rectangle(states: NDArray[np.int64]) -> Ragged:
    return Ragged.of_lengths(np.full(len(states), states.shape[1]), states.ravel())


def _of_rare(
    table: EncodedTable,
    patterns: Patterns,
    components: Components,
    boundaries: Ragged,
    is_rare: NDArray[np.bool_],
) -> Values:
    """Every row's value of the boundaries of its rare components, made distinct."""
    chosen = np.flatnonzero(is_rare[components.component])
    rows = patterns.rows.take(components.pattern[chosen])
    component = components.component[chosen][rows.owners]
    variables = boundaries.take(component)
    codes = np.stack([table.columns[name] for name in table.variables], axis=1)
    found = codes[rows.items[variables.owners], variables.items]
    states = Ragged(variables.starts, found.astype(np.int64))
    first, group = distinct_rows(states, component)
    weights = np.bincount(group, None if table.weights is None else table.weights[rows.items])
    return Values(component[first], states.take(first), weights.astype(np.float64))
