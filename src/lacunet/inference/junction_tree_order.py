"""The best of several elimination orders, by the cells of all their cliques.

No greedy rule is best everywhere: min-fill is hard to beat on sparse, irregular networks, but
on a 20 x 20 grid it makes cliques of 30 variables and more where sweeping from one corner to
the other needs 21. So several are tried: greedy orders, sweeps, and greedy orders for weights
shaken at random, which on Munin1 halve the cells. The seed is fixed: the same graph gives the
same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import islice

import numpy as np

from lacunet.inference.elimination_order import (
    Graph,
    Node,
    greedy_order,
    nothing_per_edge,
    numbered,
    one_per_edge,
    weight_per_edge,
)

SEED = 20_240_229
SWEEPS = 6
SHAKEN_ROUNDS = 16
SHAKE = 0.2  # spread of the factors on the weights; 0.1 to 0.3 do about equally well
CELLS_PER_NODE = 20_000  # trying one order takes as long as this many cells a node would


def best_order(
    neighbours: Mapping[Node, AbstractSet[Node]], weight_of: Mapping[Node, float]
) -> list[Node]:
    """The order with the fewest cells in its cliques, among greedy orders and sweeps.

    Parameters
    ----------
    neighbours
        The neighbours of every node, both ways.
    weight_of
        The logarithm of the number of states of each node.

    Examples
    --------
    >>> best_order({"A": {"B"}, "B": {"A", "C"}, "C": {"B"}}, {"A": 1.0, "B": 1.0, "C": 1.0})
    ['A', 'B', 'C']
    """
    nodes = list(neighbours)
    graph = numbered(neighbours, weight_of)
    best, fewest = list(range(len(nodes))), float("inf")
    for tried, order in enumerate(_candidates(graph)):
        if fewest <= CELLS_PER_NODE * len(nodes) * tried:
            break  # more searching would cost more than it can save
        cells = cells_of(graph, order)
        if cells < fewest:
            best, fewest = order, cells
    return [nodes[at] for at in best]


def cliques_of(graph: Graph, order: Sequence[int]) -> list[set[int]]:
    """The neighbours that each node of an order still has when its turn comes."""
    neighbours = [set(own) for own in graph.neighbours]
    for node in order:
        own = neighbours[node]
        for other in own:
            neighbours[other] |= own
            neighbours[other] -= {node, other}
    return [neighbours[node] for node in order]


def cells_of(graph: Graph, order: Sequence[int]) -> float:
    """The cells of the cliques of an order, in all."""
    weights = np.array(graph.weights)
    logs = [
        weights[node] + weights[list(others)].sum()
        for node, others in zip(order, cliques_of(graph, order), strict=True)
    ]
    with np.errstate(over="ignore"):  # beyond 1e308 cells, infinitely many will do
        return float(np.exp(logs).sum())


def _candidates(graph: Graph) -> Iterator[list[int]]:
    rng = np.random.default_rng(SEED)
    size = len(graph.weights)
    costs = (one_per_edge, weight_per_edge, nothing_per_edge)
    yield from (greedy_order(graph, cost, range(size)) for cost in costs)
    for source in islice(_far_ends(graph, rng), SWEEPS):
        yield sweep(graph, source)
    for _ in range(SHAKEN_ROUNDS):
        shaken = (np.array(graph.weights) * rng.lognormal(0, SHAKE, size)).tolist()
        other = Graph(graph.neighbours, tuple(shaken))
        yield from (greedy_order(other, cost, range(size)) for cost in costs[1:])


def sweep(graph: Graph, source: int) -> list[int]:
    """All nodes by their distance from a source, those with few neighbours first.

    Parts of the graph that the source does not reach follow, each from its first node.
    """
    degree = partial(_degree, graph)
    order, seen = [source], {source}
    rest = iter(range(len(graph.weights)))
    at = 0
    while True:
        for node in islice(order, at, None):
            fresh = sorted(graph.neighbours[node] - seen, key=degree)
            seen.update(fresh)
            order.extend(fresh)
        at = len(order)
        unreached = next((node for node in rest if node not in seen), None)
        if unreached is None:
            return order
        seen.add(unreached)
        order.append(unreached)


def _degree(graph: Graph, node: int) -> tuple[int, int]:
    return len(graph.neighbours[node]), node


def _far_ends(graph: Graph, rng: np.random.Generator) -> Iterator[int]:
    """Nodes at the rim: the last reached from a random node, then the last reached from that."""
    seen: set[int] = set()
    for _ in range(SWEEPS):
        node = int(rng.integers(len(graph.weights)))
        for _ in range(2):
            node = _last_reached(graph, node)
            if node not in seen:
                seen.add(node)
                yield node


def _last_reached(graph: Graph, source: int) -> int:
    order, seen = [source], {source}
    for node in order:
        fresh = sorted(graph.neighbours[node] - seen)
        seen.update(fresh)
        order.extend(fresh)
    return order[-1]
