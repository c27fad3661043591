r"""The factorisation lattice of families with many variables: all subsets of one size at a time.

Over :math:`k` variables there are :math:`2^k` subsets with :math:`k 2^{k-1}` edges between them:
at twelve the calls that `lattice` makes one after the other cost far more than what they do. Here a
*node* is a subset of the variables with a state of each, within a group of rows: a configuration in
which the others may be anything. Nodes with as many variables are estimated together, from those
with one variable less.

Only nodes that are parts of a cell that is asked for are estimated, each once, however many cells
it is a part of. What is computed for a node is what `lattice` computes for these cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import Counts, added_up
from lacunet.counts.distinct import Index, Keys, begins_of
from lacunet.counts.groups import GroupedCounts
from lacunet.learning.closed_forms.lattice import (
    MeanAndVariance,
    candidate,
    merge_candidates,
    share_and_variance,
)
from lacunet.learning.plan import Aggregation
from lacunet.network.network import FloatArray

MAX_CELLS = 2**20  # of the groups that are estimated together, unless one group has more
MAX_EDGES = 2**15  # that are looked at together: they stay in the processor's cache


def pays(variables: int, nodes: float, parts: float) -> bool:
    """Whether batches take less time than a call for each edge of the lattice.

    They do not where groups are so many, and hold so few rows, that hardly a node is a part of
    several of their configurations.

    Parameters
    ----------
    nodes
        A bound of their number.
    parts
        The number of subsets of each configuration that rows show, added up.
    """
    # By measurement, in units of what one call does for a part: for a node, and for calling.
    return variables > 2 and 3 * min(nodes, parts) <= parts + 3000 * 2**variables


def pays_in_a_table(variables: int, cells: int) -> bool:
    """Whether batches take less time for a whole table, of which a call does much at once."""
    # By measurement: a call takes 30 us, and there is one for each edge; batches take .3 us more
    # for each cell.
    return variables > 2 and cells <= 60 * variables * 2**variables


def pays_in_groups(cells: GroupedCounts) -> bool:
    """Whether batches take less time for what the rows of groups show."""
    shown = np.zeros(len(cells.cells), np.uint8)
    for column, size in zip(cells.columns(), cells.cardinalities, strict=True):
        shown += column < size
    configurations = prod(size + 1 for size in cells.cardinalities)
    groups = int(begins_of(cells.group).sum())
    return pays(len(cells.scope), groups * configurations, _subsets(shown))


def _subsets(shown: NDArray[np.uint8]) -> float:
    """The number of subsets of so many variables each, added up."""
    of_length = np.bincount(shown)
    return float(of_length @ np.exp2(np.arange(len(of_length))))


def lattice_table(counts: Counts, aggregation: Aggregation) -> FloatArray:
    """What `lattice` gives for all cells of the table of a family."""
    sizes = counts.cardinalities
    configurations = LatticeConfigurations.of(sizes)
    whole = np.flatnonzero(configurations.number == len(sizes))
    nodes = Nodes.of(configurations, 1, counts.keys, counts.tally.weights, whole)
    return nodes.estimates(whole, aggregation).reshape(sizes)


def in_groups(cells: GroupedCounts, aggregation: Aggregation) -> FloatArray:
    """What `lattice` gives for the cells that some rows of a group show, in their order."""
    configurations = LatticeConfigurations.of(cells.cardinalities)
    is_whole = configurations.number[cells.cells] == len(cells.scope)
    joint = np.empty(int(is_whole.sum()))
    size = configurations.size
    done = 0
    each = max(MAX_CELLS // size, 1)  # groups at a time
    group = np.cumsum(begins_of(cells.group)) - 1  # without those of which no row is looked at
    number_of_groups = int(group[-1]) + 1 if len(group) else 0
    begins = np.searchsorted(group, np.arange(0, number_of_groups + each, each))
    for begin, end in pairwise(begins):
        if begin == end:
            continue
        number = group[begin:end] - group[begin]
        keys = number * size + cells.cells[begin:end]
        whole = keys[is_whole[begin:end]]
        weights = cells.tally.weights[begin:end]
        nodes = Nodes.of(configurations, int(number[-1]) + 1, keys, weights, whole)
        joint[done : done + len(whole)] = nodes.estimates(whole, aggregation)
        done += len(whole)
    return joint


@dataclass(frozen=True, eq=False)
class LatticeConfigurations:
    """The configurations of some variables, packed with one more value: any."""

    sizes: tuple[int, ...]
    strides: NDArray[np.int64]
    columns: NDArray[np.unsignedinteger]  # the value of each variable in each configuration
    subset: NDArray[np.int32]  # a bit for each variable that is not "any"
    number: NDArray[np.uint8]  # how many these are

    @classmethod
    def of(cls, sizes: Sequence[int]) -> LatticeConfigurations:
        """Those of variables with so many states."""
        size = stride = prod(states + 1 for states in sizes)
        columns = np.empty((len(sizes), size), np.min_scalar_type(max(sizes)))
        subset = np.zeros(size, np.int32)
        number = np.zeros(size, np.uint8)
        strides = []
        for axis, states in enumerate(sizes):
            stride //= states + 1
            strides.append(stride)
            columns[axis].reshape(-1, states + 1, stride)[:] = np.arange(states + 1)[:, None]
            is_shown = columns[axis] < states
            subset += is_shown * np.int32(1 << axis)
            number += is_shown
        return cls(tuple(sizes), np.array(strides), columns, subset, number)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.subset)

    def without(self, axis: int | Index, cell: Keys) -> Keys:
        """What is to be added to a configuration that shows a variable to leave it open."""
        open_value = np.array(self.sizes)[axis]
        return np.asarray((open_value - self.columns[axis, cell]) * self.strides[axis])

    def axes(self, number: int) -> NDArray[np.intp]:
        """For each subset of so many variables these, one after the other, by its bits."""
        every = range(len(self.sizes))
        axes = np.zeros((number, 1 << len(self.sizes)), np.intp)
        for subset in combinations(every, number):
            axes[:, sum(1 << axis for axis in subset)] = subset
        return axes


@dataclass(frozen=True, eq=False)
class Nodes:
    r"""The nodes of some groups, ascending by group and configuration."""

    configurations: LatticeConfigurations
    keys: Keys  # the group times the number of configurations, plus the configuration
    place_of: NDArray[np.int32]  # where each key is among them
    weights: FloatArray  # n(s): of the rows that show the node's variables and agree with it
    is_asked: NDArray[np.bool_]  # whether it is a part of a cell that is asked for

    @classmethod
    def of(
        cls,
        configurations: LatticeConfigurations,
        groups: int,
        entries: Keys,
        weights: FloatArray,
        asked: Keys,
    ) -> Nodes:
        """The nodes below what rows show, which have weights, and below cells asked for.

        What is shown with a state of a variable is also shown with any, one variable after the
        other: so each row is added to each node once.
        """
        size = configurations.size
        occurs = np.zeros(groups * size, bool)
        occurs[entries] = True
        occurs[asked] = True
        keys = np.flatnonzero(occurs)
        place_of = np.empty(len(occurs), np.int32)
        place_of[keys] = np.arange(len(keys), dtype=np.int32)
        of_node = added_up(place_of[entries], weights, len(keys))
        is_asked = np.zeros(len(keys), bool)
        is_asked[place_of[asked]] = True
        for axis, states in enumerate(configurations.sizes):
            cell = keys if groups == 1 else keys % size
            shown = np.flatnonzero(configurations.columns[axis, cell] < states)
            below = keys[shown] + configurations.without(axis, cell[shown])
            occurs[below] = True
            before = keys
            keys = np.flatnonzero(occurs)
            place_of[keys] = np.arange(len(keys), dtype=np.int32)
            places = np.concatenate([place_of[before], place_of[below]])
            parts = np.concatenate([of_node, of_node[shown]])
            of_node = added_up(places, parts, len(keys))
            asked_before = is_asked
            is_asked = np.zeros(len(keys), bool)
            is_asked[places[: len(before)][asked_before]] = True
            is_asked[places[len(before) :][asked_before[shown]]] = True
        return cls(configurations, keys, place_of, of_node, is_asked)

    def estimates(self, asked: Keys, aggregation: Aggregation) -> FloatArray:
        """The joint of all variables in the cells asked for."""
        configurations = self.configurations
        cell = self.keys % configurations.size
        number = configurations.number[cell]
        mean = np.ones(len(cell))  # of the node of no variables, which is certain
        variance = np.zeros(len(cell))
        place_before = np.zeros(len(cell), np.int32)  # among the nodes with one variable less
        variables = len(configurations.sizes)
        for length in range(1, variables + 1):
            nodes = np.flatnonzero(number == length)
            axes = configurations.axes(length)
            before = np.flatnonzero(number == length - 1)
            place_before[before] = np.arange(len(before), dtype=np.int32)

            # n(s_{-i}) among the rows that show all of S, for each node below and each variable.
            wholes = np.zeros(len(before) * variables)
            for some in _blocks(nodes, length):
                axis, rest = self._edges(axes, some, cell[some])
                index = place_before[rest] * np.int64(variables) + axis
                of_edges = np.broadcast_to(self.weights[some], index.shape)
                np.add.at(wholes, index.ravel(), of_edges.ravel())

            for some in _blocks(nodes[self.is_asked[nodes]], length):
                axis, rest = self._edges(axes, some, cell[some])
                whole = wholes[place_before[rest] * np.int64(variables) + axis]
                part = np.broadcast_to(self.weights[some], whole.shape)
                states = np.array(configurations.sizes)[axis]
                factor = share_and_variance(part, whole, states)
                candidates = candidate(factor, MeanAndVariance(mean[rest], variance[rest]))
                pairs = zip(candidates.mean, candidates.variance, strict=True)
                estimate = merge_candidates((MeanAndVariance(*pair) for pair in pairs), aggregation)
                mean[some] = estimate.mean
                variance[some] = estimate.variance
        return mean[self.place_of[asked]]

    def _edges(self, axes: NDArray[np.intp], nodes: Index, cell: Keys) -> tuple[Index, Index]:
        """For each node its variables, one after the other, and the nodes without them."""
        axis = axes[:, self.configurations.subset[cell]]
        below = self.keys[nodes] + self.configurations.without(axis, cell)
        return axis, self.place_of[below]


def _blocks(nodes: Index, edges: int) -> list[Index]:
    """Nodes with so many edges each, in pieces."""
    each = max(MAX_EDGES // edges, 1)
    return [nodes[begin : begin + each] for begin in range(0, len(nodes), each)]
