r"""Incomplete data, compiled once for EM: fixed counts and the problems that are left.

Fix the pattern of one row: :math:`O` observed, :math:`M` missing. Given the observed values
the posterior over :math:`M` factorises over the connected components of the moral graph
restricted to :math:`M`. A component :math:`c` enters only the families that touch it, and
these mention, besides :math:`c`, only its neighbours in the moral graph, the observed
*boundary* :math:`b(c)`. So the posterior over :math:`c` depends on nothing but the value of
its boundary, and a row adds to EM

- a count for each family that it shows completely, once and for all, and
- its weight for each of its components, at the boundary value that it has.

Equal components with equal boundary values are one problem, whatever rows they come from.
From then on EM never sees a row.

The patterns of what rows show, and the connected components of what they do not.

One graph holds all patterns at once: a node for each (pattern, missing variable), an edge
where two missing variables of one pattern are neighbours in the moral graph. Its connected
components are the components of all patterns.

The values of each component's boundary, with the weight of the rows that have them.

Components that many rows have are counted one by one, like any table of counts. Those that
few rows have may be thousands: all of them are handled at once, their values end to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.distinct import LARGEST_KEY, distinct, pack, unpack
from lacunet.statistics.problems.layout import Layout, layout_of
from lacunet.statistics.problems.ragged import Integers, Ragged, distinct_rows, joined

CELLS_AT_A_TIME = 2**24  # rows x partially observed variables compiled in one go


@dataclass(frozen=True, eq=False)
class Problems:
    """What EM needs of the data; the problems of batches, files and machines add up.

    ``fixed`` counts the families that rows show completely, laid out as ``layout`` says.
    ``members`` and ``boundaries`` are the distinct components; problem ``i`` has the component
    ``component[i]``, the boundary in ``states[i]`` and the weight ``weights[i]``. ``total`` is
    the weight of all rows. The order of components and problems depends on the data's
    content, not on the order of the rows.
    """

    layout: Layout
    fixed: FloatArray
    members: Ragged
    boundaries: Ragged
    component: Integers
    states: Ragged
    weights: FloatArray
    rows: int
    total: float

    def __add__(self, other: Problems) -> Problems:
        return merged([self, other])

    def __len__(self) -> int:
        return len(self.weights)


def compile_problems(network: Network, table: EncodedTable) -> Problems:
    """Read the data once.

    Parameters
    ----------
    network
        The structure; CPTs are not looked at.
    table
        Its columns may be in any order; those that are no variables are not looked at.

    Examples
    --------
    Of three rows, one misses A and one misses B: two problems, and one complete row.

    >>> chain = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    >>> columns = {"A": np.array([0, 2, 1], np.uint8), "B": np.array([0, 1, 2], np.uint8)}
    >>> problems = compile_problems(chain, EncodedTable.of({"A": 2, "B": 2}, columns))
    >>> len(problems), problems.layout.tables(problems.fixed)["B"].tolist()
    (2, [[1.0, 0.0], [0.0, 0.0]])
    >>> problems.layout.tables(problems.fixed)["A"].tolist()
    [1.0, 1.0]
    """
    layout = layout_of(network.with_tables(None))
    table = replace(table, columns={name: table.columns[name] for name in network.variables})
    size = max(1, CELLS_AT_A_TIME // (1 + len(table.partially_observed)))
    if table.rows <= size:
        return _compiled(layout, table)
    starts = range(0, table.rows, size)
    return merged([_compiled(layout, table.take(slice(at, at + size))) for at in starts])


def _compiled(layout: Layout, table: EncodedTable) -> Problems:
    patterns = patterns_of(table)
    components = components_of(patterns, layout)
    boundaries = boundaries_of(components.members, layout)
    values = boundary_values(table, patterns, components, boundaries)
    return Problems(
        layout,
        _complete_counts(layout, table),
        components.members,
        boundaries,
        values.component,
        values.states,
        values.weights,
        table.rows,
        table.total,
    )


def merged(parts: Sequence[Problems]) -> Problems:
    """The problems of all parts, equal ones made one."""
    members = joined([part.members for part in parts])
    starts = np.concatenate([[0], np.cumsum([len(part.members) for part in parts])])
    first, group = distinct_rows(members)
    component = group[
        np.concatenate([part.component + at for part, at in zip(parts, starts, strict=False)])
    ]
    states = joined([part.states for part in parts])
    first_value, value = distinct_rows(states, component)
    weights = np.concatenate([part.weights for part in parts])
    return Problems(
        parts[0].layout,
        np.sum([part.fixed for part in parts], axis=0),
        members.take(first),
        joined([part.boundaries for part in parts]).take(first),
        component[first_value],
        states.take(first_value),
        np.bincount(value, weights, minlength=len(first_value)).astype(np.float64),
        sum(part.rows for part in parts),
        float(np.sum([part.total for part in parts])),
    )


def _complete_counts(layout: Layout, table: EncodedTable) -> FloatArray:
    """The counts of each family among the rows that show all of it, end to end."""
    names = layout.network.variables
    return np.concatenate([_family_counts(table, layout.network.family(name)) for name in names])


def _family_counts(table: EncodedTable, family: Sequence[str]) -> FloatArray:
    sizes = [table.cardinality_of[name] for name in family]
    columns = [table.columns[name] for name in family]
    weights = table.weights
    if any(table.missing_of[name] for name in family):
        shown = np.flatnonzero(table.is_shown(family))
        columns = [column[shown] for column in columns]
        weights = None if weights is None else weights[shown]
    keys = pack(columns, sizes, len(columns[0]))
    return np.bincount(keys, weights, minlength=prod(sizes)).astype(np.float64)


LONGEST_DIRECT_KEY = 62  # variables whose pattern fits one non-negative integer


@dataclass(frozen=True)
class Patterns:
    """The distinct patterns: which variables each misses, and the rows that have it."""

    missing: NDArray[np.bool_]
    rows: Ragged


@dataclass(frozen=True)
class Components:
    """The distinct components, and every occurrence of one in a pattern."""

    members: Ragged
    component: Integers
    pattern: Integers


def patterns_of(table: EncodedTable) -> Patterns:
    """The distinct patterns of missing variables among the rows."""
    place_of = {name: place for place, name in enumerate(table.variables)}
    partial = table.partially_observed
    if len(partial) <= LONGEST_DIRECT_KEY:
        found, group = distinct(_bit_keys(table), 2 ** len(partial))
        bits = (found[:, None] >> np.arange(len(partial))) & 1 == 1
    else:
        bits, group = _hashed_patterns(table)
    missing = np.zeros((len(bits), len(place_of)), dtype=bool)
    missing[:, [place_of[name] for name in partial]] = bits
    small = group.astype(np.uint16) if len(bits) < 2**16 else group
    order = np.argsort(small, kind="stable")
    return Patterns(missing, Ragged.of_lengths(np.bincount(group, minlength=len(bits)), order))


def _bit_keys(table: EncodedTable) -> Integers:
    """The pattern of each row as an integer, one bit for each partially observed variable."""
    keys = np.zeros(table.rows, dtype=np.int64)
    for bit, name in enumerate(table.partially_observed):
        keys |= (table.columns[name] == table.cardinality_of[name]).astype(np.int64) << bit
    return keys


def _hashed_patterns(table: EncodedTable) -> tuple[NDArray[np.bool_], Integers]:
    missing = np.stack(
        [table.columns[name] == table.cardinality_of[name] for name in table.partially_observed],
        axis=1,
    )
    packed = np.packbits(missing, axis=1)
    width = packed.shape[1]
    rows = Ragged.of_lengths(
        np.full(table.rows, width), np.ascontiguousarray(packed).ravel().astype(np.int64)
    )
    first, group = distinct_rows(rows)
    return missing[first], group


def components_of(patterns: Patterns, layout: Layout) -> Components:
    """The connected components of the moral graph restricted to each pattern's variables."""
    pattern, variable = np.nonzero(patterns.missing)
    label, labels = _labels(patterns.missing, layout)
    order = np.argsort(label, kind="stable")  # by component; its variables ascending
    members = Ragged.of_lengths(np.bincount(label, minlength=labels), variable[order])
    first, group = distinct_rows(members)
    return Components(members.take(first), group, pattern[order[members.starts[:-1]]])


def _labels(missing: NDArray[np.bool_], layout: Layout) -> tuple[Integers, int]:
    """The component of each (pattern, missing variable), and how many there are."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sometimes = np.flatnonzero(missing.any(axis=0))
    missing = missing[:, sometimes]
    one, two = np.nonzero(np.triu(layout.neighbours[np.ix_(sometimes, sometimes)]))
    pattern, edge = np.nonzero(missing[:, one] & missing[:, two])
    nodes = int(np.count_nonzero(missing))
    node = np.zeros(missing.shape, dtype=np.int32 if nodes < 2**31 else np.int64)
    node[missing] = np.arange(nodes)
    ends = (node[pattern, one[edge]], node[pattern, two[edge]])
    graph = coo_array((np.ones(len(edge), dtype=np.int8), ends), shape=(nodes, nodes))
    labels, label = connected_components(graph, directed=False)
    return label.astype(np.int64), int(labels)


def boundaries_of(members: Ragged, layout: Layout) -> Ragged:
    """The neighbours of each component in the moral graph, ascending."""
    touching = Ragged.of_matrix(layout.neighbours)
    near = touching.take(members.items)
    holds = np.zeros((len(members), len(layout.cardinalities)), dtype=bool)
    holds[np.repeat(members.owners, near.lengths), near.items] = True
    holds[members.owners, members.items] = False
    return Ragged.of_matrix(holds)


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
