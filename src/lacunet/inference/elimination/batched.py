"""Elimination orders of thousands of components at once, by minimum fill.

The neighbours of a vertex within its component are a set of bits, a word for each 64
vertices. In each round every component eliminates all its *simplicial* vertices (those whose
neighbours are joined pairwise already: eliminating them costs nothing in width), as far as
they are not neighbours of each other; a component without any eliminates the one vertex that
adds the fewest edges, and of those the one with the smallest clique.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import ascending, begins_of, stable_order
from lacunet.counts.em_problems.ragged import Integers, Ragged, ranges
from lacunet.inference.elimination.elimination_order import (
    best_order,
    clique_cells,
    cliques_of,
    number_nodes,
)
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray

Bits = NDArray[np.uint64]
WORD = 64
SEARCH_FROM_CELLS = 2**22  # in a component's cliques: a better order is worth searching for


@dataclass(frozen=True)
class Elimination:
    """The order in which the vertices of all components go, and what each leaves behind."""

    round: Integers  # when each vertex goes
    # The vertices joined to it at that moment, ascending: the scope of the message that its
    # elimination gives.
    scope: Ragged


def eliminate(
    component_sizes: Integers,
    joined: Ragged,
    log_sizes: FloatArray,
    deadline: Deadline = NEVER,
) -> Elimination:
    """Order the vertices of all components.

    Parameters
    ----------
    component_sizes
        How many vertices each component has; vertices are numbered component by component.
    joined
        Sets of vertices of one component that are joined pairwise, such as the two of an edge.
    log_sizes
        The logarithm of each vertex's number of states.

    Examples
    --------
    A path of three: both ends go first.

    >>> path = Ragged.of_lengths(np.array([2, 2]), np.array([0, 1, 1, 2]))
    >>> order = eliminate(np.array([3]), path, np.ones(3))
    >>> order.round.tolist(), order.scope.lengths.tolist()
    ([0, 1, 0], [1, 0, 1])
    """
    starts = np.concatenate([[0], np.cumsum(component_sizes)])
    words = (component_sizes + WORD - 1) // WORD
    rounds = np.zeros(len(log_sizes), dtype=np.int64)
    lengths = np.zeros(len(log_sizes), dtype=np.int64)
    pairs: list[tuple[Integers, Integers]] = []  # each vertex with each of its scope

    # Components that need equally many words for their sets go together.
    for width in ascending(words).tolist():
        chosen = np.flatnonzero(words == width)
        vertices = ranges(starts[chosen], component_sizes[chosen])
        graph = _Graph(component_sizes[chosen], vertices, joined, log_sizes, width)
        rounds[vertices] = graph.run(deadline)
        row, other = graph.pairs(graph.bits, graph.first)
        lengths[vertices] = np.bincount(row, minlength=len(vertices))
        pairs.append((vertices[row], vertices[other]))
    if len(pairs) == 1:  # in order already
        return Elimination(rounds, Ragged.of_lengths(lengths, pairs[0][1]))
    none = np.zeros(0, np.int64)
    row = np.concatenate([none, *(row for row, _ in pairs)])
    items = np.concatenate([none, *(other for _, other in pairs)])
    return Elimination(rounds, Ragged.of_lengths(lengths, items[stable_order(row, len(log_sizes))]))


def improve_order(
    component_sizes: Integers,
    joined: Ragged,
    log_sizes: FloatArray,
    deadline: Deadline = NEVER,
) -> Elimination:
    """The order of `eliminate`, and for components of many cells a better one if one is found.

    Searching among several orders (`lacunet.inference.elimination.elimination_order`) takes some
    seconds for hundreds of vertices: it pays where a component would take as long each time it is
    summed.
    """
    elimination = eliminate(component_sizes, joined, log_sizes, deadline)
    cliques = np.bincount(
        elimination.scope.owners, log_sizes[elimination.scope.items], minlength=len(log_sizes)
    )
    starts = np.concatenate([[0], np.cumsum(component_sizes)]).astype(np.int64)
    with np.errstate(over="ignore"):  # a hopeless component has infinitely many
        cells = np.add.reduceat(np.exp(cliques + log_sizes), starts[:-1])
    large = np.flatnonzero(cells > SEARCH_FROM_CELLS)
    if not len(large):
        return elimination
    rounds = elimination.round.copy()
    scope = [elimination.scope.row(vertex) for vertex in range(len(log_sizes))]
    sets = Ragged.of_pairs(len(log_sizes), joined.items, joined.owners)  # that each vertex is in
    for component in large:
        start, stop = starts[component : component + 2].tolist()
        near = {v: {*joined.take(sets.row(v)).items.tolist()} for v in range(start, stop)}
        graph = number_nodes(near, dict(zip(near, log_sizes[start:stop].tolist(), strict=True)))
        order = best_order(graph, deadline=deadline)
        if clique_cells(graph, order) >= cells[component]:
            continue
        cliques_left = cliques_of(graph, order)
        for turn, (vertex, left) in enumerate(zip(order, cliques_left, strict=True)):
            rounds[start + vertex] = turn
            scope[start + vertex] = start + np.array(sorted(left), dtype=np.int64)
    lengths = np.array([len(row) for row in scope], dtype=np.int64)
    return Elimination(rounds, Ragged.of_lengths(lengths, np.concatenate(scope)))


class _Graph:
    """The graph of components that need ``width`` words each, while vertices go.

    It is the one thing here that changes in place. ``bits`` of a vertex that is gone keep what its
    neighbours were when it went.
    """

    def __init__(
        self,
        sizes: Integers,
        vertices: Integers,
        joined: Ragged,
        log_sizes: FloatArray,
        width: int,
    ) -> None:
        self.log_sizes = log_sizes[vertices]
        self.component = np.repeat(np.arange(len(sizes)), sizes)  # of each vertex
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self.first = first[self.component]  # the first vertex of its component
        offset = np.arange(len(self.first)) - self.first
        self.word = offset // WORD  # where its bit is in sets of its component ...
        self.bit = np.uint64(1) << (offset % WORD).astype(np.uint64)  # ... and the bit
        self.used = 1 << (int(offset.max()) // 8).bit_length()  # bytes of each row that may be set
        self.fill = np.zeros(len(offset), dtype=np.int64)  # edges that eliminating it would add
        self.cost = np.zeros(len(offset))  # the logarithm of the cells of its clique

        # The vertices of each joined set as bits; the neighbours of a vertex are all the sets that
        # it is in, without itself.
        number = np.full(len(log_sizes), -1)
        number[vertices] = np.arange(len(vertices))
        end = number[joined.items]
        chosen = np.flatnonzero(end >= 0)
        end = end[chosen]
        owner = joined.owners[chosen]
        sets = np.zeros((len(joined), width), dtype=np.uint64)
        np.add.at(sets.reshape(-1), owner * width + self.word[end], self.bit[end])
        self.bits: Bits = np.zeros((len(vertices), width), np.uint64)
        for word in range(width):
            np.bitwise_or.at(self.bits[:, word], end, sets[:, word][owner])
        self.bits[np.arange(len(vertices)), self.word] &= ~self.bit

    def pairs(self, bits: Bits, first: Integers) -> tuple[Integers, Integers]:
        """The row and the vertex of each bit that is set; vertices ascend within a row."""
        used = self.used if bits.shape[1] == 1 else WORD // 8 * bits.shape[1]
        flat = np.unpackbits(bits.view(np.uint8)[:, :used], axis=1, bitorder="little")
        places = np.flatnonzero(flat.view(bool))
        row = places // (8 * used)
        return row, places - row * (8 * used) + first[row]

    def run(self, deadline: Deadline) -> Integers:
        """Eliminate everything; the round in which each vertex went."""
        rounds = np.full(len(self.first), -1)
        alive = np.arange(len(self.first))
        self._score(alive)
        now = 0
        while len(alive):
            deadline.check()
            going = self._choose(alive)
            rounds[going] = now
            changed = self._remove(going)
            alive = alive[rounds[alive] < 0]
            self._score(changed)
            now += 1
        return rounds

    def _score(self, vertices: Integers) -> None:
        """Count the edges that eliminating each vertex would add, and size its clique."""
        bits = self.bits.take(vertices, axis=0)
        row, other = self.pairs(bits, self.first[vertices])
        beyond = bits.take(row, axis=0)
        beyond &= ~self.bits.take(other, axis=0)
        lacking = np.bitwise_count(beyond).sum(axis=1, dtype=np.int64) - 1
        self.fill[vertices] = np.bincount(row, lacking, minlength=len(vertices)).astype(np.int64)
        clique = np.bincount(row, self.log_sizes[other], minlength=len(vertices))
        self.cost[vertices] = clique + self.log_sizes[vertices]

    def _choose(self, alive: Integers) -> Integers:
        """The vertices that go in this round."""
        simplicial = alive[self.fill[alive] == 0]
        sets = np.zeros((self.component[-1] + 1, self.bits.shape[1]), dtype=np.uint64)
        np.add.at(
            sets.reshape(-1),
            self.component[simplicial] * sets.shape[1] + self.word[simplicial],
            self.bit[simplicial],
        )
        # Of simplicial neighbours the last goes.
        later = sets[self.component[simplicial]] & self.bits[simplicial] & self._above(simplicial)
        free = simplicial[~later.any(axis=1)]
        has_none = np.count_nonzero(sets, axis=1) == 0
        stuck = alive[has_none[self.component[alive]]]
        return np.concatenate([free, self._cheapest(stuck)])

    def _above(self, vertices: Integers) -> Bits:
        """The bits of the vertices that come after each in its component."""
        words = np.arange(self.bits.shape[1])
        full = np.where(words > self.word[vertices][:, None], ~np.uint64(0), np.uint64(0))
        above = ~(self.bit[vertices] | (self.bit[vertices] - np.uint64(1)))
        full[np.arange(len(vertices)), self.word[vertices]] = above
        return full

    def _cheapest(self, vertices: Integers) -> Integers:
        """Of each component, the vertex that adds the fewest edges."""
        order = np.lexsort((self.cost[vertices], self.fill[vertices], self.component[vertices]))
        ordered = vertices[order]
        cheapest: Integers = ordered[begins_of(self.component[ordered])]
        return cheapest

    def _remove(self, going: Integers) -> Integers:
        """Join the neighbours of those that go, take these out; whose score has changed."""
        row, near = self.pairs(self.bits[going], self.first[going])
        # The score changes of the neighbours; and, where edges were added, of their neighbours.
        changed = np.zeros(len(self.first), dtype=bool)
        changed[near] = True
        joins = self.fill[going][row] > 0
        _, beyond = self.pairs(self.bits[near[joins]], self.first[near[joins]])
        changed[beyond] = True
        changed[going] = False
        width = self.bits.shape[1]
        gone = going[row]
        for word in range(width):
            np.bitwise_or.at(self.bits[:, word], near, self.bits[gone, word])
        # The bits of those that went are set, once for each: subtracting takes them out.
        flat = self.bits.reshape(-1)
        np.subtract.at(flat, near * width + self.word[gone], self.bit[gone])
        flat[near * width + self.word[near]] &= ~self.bit[near]
        return np.flatnonzero(changed)
