"""What a change of one family touches: missing values that depend on each other through it.

Two missing values of a row depend on each other, given what the row shows, if they are in one
family whose child is shown or has a shown descendant, or if a chain of such values joins them
(`lacunet.counts.em_problems.compile`). The region of a family grows along these chains, in all
patterns of missing values at once, and ends where the values are shown: however large the
network, it is small where little is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.compile import patterns_of
from lacunet.data.table import EncodedTable
from lacunet.structure.cpdag import Children

NodeMask = NDArray[np.bool_]
Families = tuple[tuple[int, ...], ...]  # the parents of each node, ascending


class MissingPatterns:
    """The distinct sets of missing values: ``missing[node]`` says which patterns miss a node.

    ``of_row`` is the pattern of each row.
    """

    def __init__(self, table: EncodedTable) -> None:
        patterns = patterns_of(table)
        self.missing = tuple(np.ascontiguousarray(patterns.missing.T))
        self.of_row = np.empty(table.rows, np.int64)
        self.of_row[patterns.rows.items] = patterns.rows.owners


@dataclass(frozen=True, eq=False)
class Region:
    """The nodes around some missing values that depend on each other.

    ``active`` are the nodes whose families have a part in it; the other ``nodes`` are only looked
    at. ``rows`` are those with such values. ``apart[node]`` says in which of them a missing value
    of a node is no part of the region: there it may stand for any state.
    """

    nodes: tuple[int, ...]
    active: frozenset[int]
    rows: NDArray[np.int64]
    apart: Mapping[int, NodeMask]

    def table(self, table: EncodedTable, names: Sequence[str]) -> EncodedTable:
        """The rows of the region, under the names of its nodes."""
        columns = {}
        for node, name in zip(self.nodes, names, strict=True):
            column = table.columns[name][self.rows]
            if node in self.apart:
                column = np.where(self.apart[node], column.dtype.type(0), column)
            columns[name] = column
        weights = None if table.weights is None else table.weights[self.rows]
        return EncodedTable({name: table.cardinality_of[name] for name in names}, columns, weights)


def region_of(
    family: Iterable[int], families: Families, children: Children, patterns: MissingPatterns
) -> Region:
    """The region of one family of a network."""
    seeds = sorted(family)
    # The patterns that miss something of the family; masks are over these.
    some = np.flatnonzero(np.logical_or.reduce([patterns.missing[node] for node in seeds]))
    growth = _Growth(families, children, patterns, some)
    inside = growth.inside(seeds)
    active = frozenset(child for node in inside for child in (node, *children[node]))
    nodes = tuple(sorted({node for child in active for node in (child, *families[child])}))

    # The rows whose pattern has a part in it; -1, the last of the mask, is for all other patterns.
    index_of = np.full(len(patterns.missing[0]), -1)
    index_of[some] = np.arange(len(some))
    of_row = index_of[patterns.of_row]
    is_touched = np.zeros(len(some) + 1, dtype=bool)
    for is_inside in inside.values():
        is_touched[:-1] |= is_inside
    rows = np.flatnonzero(is_touched[of_row])

    apart = {}
    for node in nodes:
        free = growth.missing(node) & ~growth.barren(node)
        if node in inside:
            free &= ~inside[node]
        if (free & is_touched[:-1]).any():
            apart[node] = free[of_row[rows]]
    return Region(nodes, active, rows, apart)


def is_barren_somewhere(
    node: int, families: Families, children: Children, patterns: MissingPatterns
) -> bool:
    """Whether some pattern misses a node and all that follows from it: no count expects it."""
    some = np.flatnonzero(patterns.missing[node])
    return bool(_Growth(families, children, patterns, some).barren(node).any())


class _Growth:
    """The growth of a region among the patterns that miss something of a family."""

    def __init__(
        self,
        families: Families,
        children: Children,
        patterns: MissingPatterns,
        some: NDArray[np.int64],
    ) -> None:
        self.families = families
        self.children = children
        self.patterns = patterns
        self.some = some
        self.missing_of: dict[int, NodeMask] = {}
        self.barren_of: dict[int, NodeMask] = {}

    def missing(self, node: int) -> NodeMask:
        """Which patterns miss a node."""
        if node not in self.missing_of:
            self.missing_of[node] = self.patterns.missing[node][self.some]
        return self.missing_of[node]

    def barren(self, node: int) -> NodeMask:
        """Which patterns miss a node and all that follows from it."""
        known = self.barren_of
        waiting = [node]  # a stack: children are known before their parents
        while waiting:
            is_barren = self.missing(waiting[-1])
            below = self.children[waiting[-1]] if is_barren.any() else ()
            if unknown := [child for child in below if child not in known]:
                waiting += unknown
                continue
            for child in below:
                is_barren = is_barren & known[child]
            known[waiting.pop()] = is_barren
        return known[node]

    def inside(self, seeds: Sequence[int]) -> dict[int, NodeMask]:
        """The patterns in which each node is a part of the region."""
        inside: dict[int, NodeMask] = {}
        for node in seeds:
            is_inside = self.missing(node) & ~self.barren(node)
            if is_inside.any():
                inside[node] = is_inside
        waiting = dict.fromkeys(inside)
        while waiting:
            node = next(iter(waiting))
            del waiting[node]
            # A node joins all that its patterns miss in the families that it is in.
            for child in (node, *self.children[node]):
                joint = inside[node] & ~self.barren(child)
                if not joint.any():
                    continue
                for other in (child, *self.families[child]):
                    fresh = joint & self.missing(other)
                    if other in inside:
                        fresh &= ~inside[other]
                    if fresh.any():
                        inside[other] = inside.get(other, False) | fresh
                        waiting[other] = None
        return inside
