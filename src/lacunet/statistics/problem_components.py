"""The patterns of what rows show, and the connected components of what they do not.

One graph holds all patterns at once: a node for each (pattern, missing variable), an edge
where two missing variables of one pattern are neighbours in the moral graph. Its connected
components are the components of all patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.statistics.distinct import distinct
from lacunet.statistics.problem_layout import Layout
from lacunet.statistics.problem_ragged import Integers, Ragged, distinct_rows

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
