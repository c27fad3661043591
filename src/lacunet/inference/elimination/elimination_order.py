"""In which order to sum variables out.

Summing a variable out of a product of factors joins all its neighbours into one table: in
the graph they become a clique, and the edges that were lacking are *filled in*. Every order
gives the same answer; the cost is in the cliques on the way, and the best order is NP-hard
to find. Greedy choices do well: take next the variable with the fewest lacking edges, or the
one whose clique has the fewest cells. Both are kept up to date edge by edge here, never
counted anew, so that graphs of a thousand variables take a fraction of a second.

No greedy rule is best everywhere: min-fill is hard to beat on sparse, irregular networks, but
on a 20 x 20 grid it makes cliques of 30 variables and more where sweeping from one corner to
the other needs 21. So several are tried: greedy orders, sweeps, and greedy orders for weights
shaken at random, which on Munin1 halve the cells. The seed is fixed: the same graph gives the
same order.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from lacunet.limits import NEVER, Deadline

GraphNode = TypeVar("GraphNode", bound=Hashable)

# The search for an order.
ORDER_SEED = 20_240_229
ORDER_SWEEPS = 6
SHAKEN_ROUNDS = 16
SPREAD_OF_WEIGHTS = 0.2  # spread of the factors on the weights; 0.1 to 0.3 do about equally well
LARGEST_LOG = 700.0  # beyond 1e304 cells, infinitely many will do
CELLS_PER_NODE = 60_000  # trying one order takes as long as this many cells a node would


@dataclass(frozen=True)
class Graph:
    """An undirected graph on the numbers 0, 1, ..."""

    neighbours: tuple[frozenset[int], ...]
    weights: tuple[float, ...]  # the logarithm of each node's number of states


def number_nodes(
    neighbours: Mapping[GraphNode, AbstractSet[GraphNode]], weight_of: Mapping[GraphNode, float]
) -> Graph:
    """The same graph on the numbers 0, 1, ..., in the order of the nodes."""
    number_of = {node: number for number, node in enumerate(neighbours)}
    near_numbers = []
    for node, near in neighbours.items():
        near_numbers.append(frozenset(number_of[other] for other in near if other != node))
    return Graph(tuple(near_numbers), tuple(weight_of[node] for node in neighbours))


def join_scopes(scopes: Iterable[Sequence[GraphNode]]) -> dict[GraphNode, set[GraphNode]]:
    """The neighbours of every node, where the nodes of each scope are joined pairwise.

    >>> join_scopes([("A", "B"), ("C",)]) == {"A": {"B"}, "B": {"A"}, "C": set()}
    True
    """
    neighbours: dict[GraphNode, set[GraphNode]] = {}
    for scope in scopes:
        for node in scope:
            neighbours.setdefault(node, set()).update(scope)
    for node, near in neighbours.items():
        near.discard(node)
    return neighbours


def greedy_order(graph: Graph, dues: Sequence[int], deadline: Deadline = NEVER) -> list[int]:
    """Take out the node of least fill cost, then least clique weight, then least number, in turn.

    An edge that is lacking costs the product of its ends' ``dues``. These are whole, so that costs
    kept up by adding and subtracting come back to zero exactly; if all are zero, the clique weight
    alone decides.
    """
    weights = graph.weights
    due = dues.__getitem__
    around = [set(near) for near in graph.neighbours]
    fill, clique = _first_prices(around, weights, dues)

    def fill_in(node: int, other: int) -> set[int]:
        """Join two nodes; give those between them, which lacked that edge."""
        mine = around[node]
        theirs = around[other]
        both = mine & theirs
        for between in both:
            fill[between] -= dues[node] * dues[other]
        fill[node] += dues[other] * sum(map(due, mine - both))
        fill[other] += dues[node] * sum(map(due, theirs - both))
        clique[node] += weights[other]
        clique[other] += weights[node]
        mine.add(other)
        theirs.add(node)
        return both

    def price(node: int) -> tuple[int, float, int]:
        # Rounded: equal cliques whose weights were added in another order must tie.
        return fill[node], round(clique[node], 9), node

    heap = [price(node) for node in range(len(around))]
    heapq.heapify(heap)
    order: list[int] = []
    left = set(range(len(around)))
    while heap:
        paid = heapq.heappop(heap)
        node = paid[-1]
        if node not in left or paid != price(node):
            continue  # an older price of a node that is gone or was pushed again
        deadline.check()
        order.append(node)
        left.remove(node)
        near = around[node]
        changed = set(near)
        for neighbour in near:
            for other in near - around[neighbour] - {neighbour}:
                changed |= fill_in(neighbour, other)
        for neighbour in near:  # the node goes, and with it the edges that only it lacked
            around[neighbour].remove(node)
            fill[neighbour] -= dues[node] * sum(map(due, around[neighbour] - near))
            clique[neighbour] -= weights[node]
        for other in changed - {node}:
            heapq.heappush(heap, price(other))
    return order


def _first_prices(
    around: Sequence[AbstractSet[int]], weights: Sequence[float], dues: Sequence[int]
) -> tuple[list[int], list[float]]:
    """The cost of the edges that each node would add, and the weight of its clique."""
    fill = []
    clique = []
    for node, near in enumerate(around):
        # What each neighbour lacks, without itself; every edge is found from both of its ends.
        twice = 0
        for other in near:
            lacking = sum([dues[third] for third in near - around[other]])
            twice += dues[other] * (lacking - dues[other])
        fill.append(twice // 2)
        clique.append(weights[node] + sum([weights[other] for other in near]))
    return fill, clique


def bits_of(bits: int) -> list[int]:
    """The numbers of the bits that are set, ascending.

    >>> bits_of(0b1010)
    [1, 3]
    """
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


def best_order(
    graph: Graph,
    known: Iterable[list[int]] = (),
    patience: float = CELLS_PER_NODE,
    deadline: Deadline = NEVER,
) -> list[int]:
    """The order with the fewest cells in its cliques, among greedy orders and sweeps.

    Parameters
    ----------
    known
        Orders to try first, such as that of a larger graph.
    patience
        How many cells per node are as dear as trying one order: fewer if they are summed often.

    Examples
    --------
    >>> path = {"A": {"B"}, "B": {"A", "C"}, "C": {"B"}}
    >>> best_order(number_nodes(path, {"A": 1.0, "B": 1.0, "C": 1.0}))
    [0, 1, 2]
    """
    nodes = len(graph.weights)
    best = list(range(nodes))
    fewest = math.inf
    for tried, order in enumerate(chain(known, _candidates(graph, deadline)), start=1):
        deadline.check()
        cells = clique_cells(graph, order)
        if cells < fewest:
            best = order
            fewest = cells
        if fewest <= patience * nodes * tried:
            break  # more searching would cost more than it can save
    return best


def cliques_of(graph: Graph, order: Sequence[int]) -> list[set[int]]:
    """The neighbours that each node of an order still has when its turn comes."""
    neighbours = [set(near) for near in graph.neighbours]
    for node in order:
        near = neighbours[node]
        for other in near:
            neighbours[other] |= near
            neighbours[other] -= {node, other}
    return [neighbours[node] for node in order]


def clique_cells(graph: Graph, order: Sequence[int]) -> float:
    """The cells of the cliques of an order, in all."""
    weights = graph.weights
    logs = [
        weights[node] + sum([weights[other] for other in others])
        for node, others in zip(order, cliques_of(graph, order), strict=True)
    ]
    if max(logs, default=0.0) > LARGEST_LOG:
        return math.inf
    return sum(map(math.exp, logs))


def _candidates(graph: Graph, deadline: Deadline) -> Iterator[list[int]]:
    """Orders to try, the quickest first."""
    rng = np.random.default_rng(ORDER_SEED)
    size = len(graph.weights)
    ones = [1] * size  # an edge costs one: minimum fill
    zeros = [0] * size  # the smallest clique
    for dues in (zeros, ones, _whole(graph.weights)):
        yield greedy_order(graph, dues, deadline)
    for source in islice(_far_ends(graph, rng), ORDER_SWEEPS):
        yield sweep(graph, source)
    for _ in range(SHAKEN_ROUNDS):
        shaken = (np.array(graph.weights) * rng.lognormal(0, SPREAD_OF_WEIGHTS, size)).tolist()
        other = Graph(graph.neighbours, tuple(shaken))
        for dues in (_whole(shaken), zeros):
            yield greedy_order(other, dues, deadline)


def _whole(weights: Sequence[float]) -> list[int]:
    """Weights as whole numbers: minimum fill, where an edge costs the product of its ends."""
    return [round(100 * weight) for weight in weights]


def sweep(graph: Graph, source: int) -> list[int]:
    """All nodes by their distance from a source, those with few neighbours first.

    Parts of the graph that the source does not reach follow, each from its first node.
    """
    order: list[int] = []
    seen: set[int] = set()
    for node in (source, *range(len(graph.weights))):
        if node not in seen:
            order += _reached(graph, node)
            seen.update(order)
    return order


def _reached(graph: Graph, source: int) -> list[int]:
    """The nodes that a source reaches, by their distance, those with few neighbours first."""
    order = [source]
    seen = {source}
    for node in order:  # which grows meanwhile
        near = graph.neighbours[node] - seen
        fresh = sorted(near, key=lambda other: (len(graph.neighbours[other]), other))
        seen.update(fresh)
        order += fresh
    return order


def _far_ends(graph: Graph, rng: np.random.Generator) -> Iterator[int]:
    """Nodes at the rim: the last reached from a random node, then the last reached from that."""
    seen: set[int] = set()
    for _ in range(ORDER_SWEEPS):
        node = int(rng.integers(len(graph.weights)))
        for _ in range(2):
            node = _reached(graph, node)[-1]
            if node not in seen:
                seen.add(node)
                yield node
