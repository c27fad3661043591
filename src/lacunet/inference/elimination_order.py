"""In which order to sum variables out.

Summing a variable out of a product of factors joins all its neighbours into one table: in
the graph they become a clique, and the edges that were lacking are *filled in*. Every order
gives the same answer; the cost is in the cliques on the way, and the best order is NP-hard
to find. Greedy choices do well: take next the variable with the fewest lacking edges, or the
one whose clique has the fewest cells. Both are kept up to date edge by edge here, never
counted anew, so that graphs of a thousand variables take a fraction of a second.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
EdgeCost = Callable[[float, float], int]


@dataclass(frozen=True)
class Graph:
    """An undirected graph on the numbers 0, 1, ...; a weight (log cardinality) for each."""

    neighbours: tuple[frozenset[int], ...]
    weights: tuple[float, ...]


def numbered(
    neighbours: Mapping[Node, AbstractSet[Node]], weight_of: Mapping[Node, float]
) -> Graph:
    """The same graph on the numbers 0, 1, ..., in the order of the nodes."""
    number_of = {node: at for at, node in enumerate(neighbours)}
    return Graph(
        tuple(
            frozenset(number_of[other] for other in own if other != node)
            for node, own in neighbours.items()
        ),
        tuple(weight_of[node] for node in neighbours),
    )


def one_per_edge(_one: float, _two: float) -> int:
    """Min-fill: every lacking edge costs the same."""
    return 1


def weight_per_edge(one: float, two: float) -> int:
    """Weighted min-fill: an edge costs the product of its ends' weights, as a whole number.

    Whole, so that costs kept up by adding and subtracting come back to zero exactly.
    """
    return 1 + round(1000 * one * two)


def nothing_per_edge(_one: float, _two: float) -> int:
    """Min-weight: only the size of the clique decides."""
    return 0


def greedy_order(graph: Graph, edge_cost: EdgeCost, ranks: Sequence[int]) -> list[int]:
    """Take out the node of least fill cost, then least clique weight, then least rank, in turn."""
    state = _Elimination(graph, edge_cost)
    heap = [(*state.key(node), ranks[node], node) for node in range(len(ranks))]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        fill, weight, _, node = heapq.heappop(heap)
        if node in state.gone or (fill, weight) != state.key(node):
            continue  # an older price of a node that is gone or was pushed again
        order.append(node)
        for other in state.eliminate(node):
            heapq.heappush(heap, (*state.key(other), ranks[other], other))
    return order


class _Elimination:
    """The graph as it shrinks: the one mutable thing here, private to one run of one order."""

    def __init__(self, graph: Graph, edge_cost: EdgeCost) -> None:
        self.neighbours = [set(own) for own in graph.neighbours]
        self.weights = graph.weights
        self.cost = edge_cost
        self.gone: set[int] = set()
        self.fill = [self._lacking(node) for node in range(len(self.neighbours))]
        self.clique = [
            weight + sum(graph.weights[other] for other in own)
            for weight, own in zip(graph.weights, graph.neighbours, strict=True)
        ]

    def key(self, node: int) -> tuple[int, float]:
        # Rounded: equal cliques whose weights were added in another order must tie.
        return self.fill[node], round(self.clique[node], 9)

    def _lacking(self, node: int) -> int:
        own = self.neighbours[node]
        return sum(self._cost_to(one, own - self.neighbours[one] - {one}) for one in own) // 2

    def _cost_to(self, one: int, others: AbstractSet[int]) -> int:
        weight = self.weights[one]
        return sum(self.cost(weight, self.weights[other]) for other in others)

    def eliminate(self, node: int) -> set[int]:
        """Join the neighbours of a node and take it out; give the nodes whose price changed."""
        own = self.neighbours[node]
        changed = set(own)
        for one in own:
            for other in own - self.neighbours[one] - {one}:
                changed |= self._join(one, other)
        for one in own:
            beside = self.neighbours[one] - own - {node}
            self.fill[one] -= self._cost_to(node, beside)
            self.clique[one] -= self.weights[node]
            self.neighbours[one].discard(node)
        self.gone.add(node)
        changed.discard(node)
        return changed

    def _join(self, one: int, other: int) -> set[int]:
        """Fill in one edge; give the nodes that lacked it."""
        mine, theirs = self.neighbours[one], self.neighbours[other]
        both = mine & theirs
        price = self.cost(self.weights[one], self.weights[other])
        for between in both:
            self.fill[between] -= price
        self.fill[one] += self._cost_to(other, mine - both)
        self.fill[other] += self._cost_to(one, theirs - both)
        self.clique[one] += self.weights[other]
        self.clique[other] += self.weights[one]
        mine.add(other)
        theirs.add(one)
        return both
