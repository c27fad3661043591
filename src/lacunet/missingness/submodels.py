"""Small models of a graph: some variables and edges left out, few states each.

A model in which a variable is constant, or an edge does nothing, is a model of the graph
too; what does not determine a query there does not determine it in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from lacunet.missingness.mixed import MixedGraph
from lacunet.missingness.nodes import Mechanism, Node
from lacunet.missingness.propensity import closure
from lacunet.missingness.tangent import Submodel

LARGEST_WORK = 1e7  # for one submodel, in rough operations


def submodels(graph: MixedGraph, query: Sequence[str]) -> Iterator[Submodel]:
    """Small models of the graph, or of the graph with nodes or edges left out; smaller first."""
    for part in _parts(graph, query):
        for cardinality_of in _cardinalities(part):
            submodel = Submodel(part, cardinality_of)
            if work(submodel) < LARGEST_WORK:
                yield submodel


def _parts(graph: MixedGraph, query: Sequence[str]) -> Iterator[MixedGraph]:
    near = _near(graph, query)
    full: list[MixedGraph] = []
    for size in range(min(len(near), 3) + 1):
        for more in combinations(near, size):
            kept = {*query, *more}
            part = graph.without(
                node
                for node in graph.order
                if (node.variable if isinstance(node, Mechanism) else node) not in kept
            )
            full.append(part)
            yield part
    for part in full:
        for count in (1, 2):
            yield from _thinned(part, count)


def _near(graph: MixedGraph, query: Sequence[str]) -> list[str]:
    """The variables that may matter to the query, those that decide its mechanisms first."""
    mechanisms = closure(graph, graph.mechanisms_of(query))
    first = {name for m in mechanisms for name in (m.variable, *graph.variable_parents(m))}
    nodes: list[Node] = [*query, *mechanisms]
    second = {name for node in nodes for name in _variables_around(graph, node)}
    order = [*(n for n in graph.variables if n in first)]
    order += [n for n in graph.variables if n in second - first]
    return [name for name in order if name not in query][:6]


def _variables_around(graph: MixedGraph, node: Node) -> set[str]:
    around = graph.parents[node] | graph.children[node] | graph.siblings[node]
    return {other for other in around if isinstance(other, str)}


def _thinned(graph: MixedGraph, count: int) -> Iterator[MixedGraph]:
    edges = [(p, n) for n in graph.order for p in graph.sorted(graph.parents[n])]
    for gone in combinations(edges, count):
        drop = set(gone)
        parents = {
            node: [p for p in graph.parents[node] if (p, node) not in drop] for node in graph.order
        }
        yield MixedGraph.of(graph.order, parents, graph.hidden)


def _cardinalities(graph: MixedGraph) -> Iterator[dict[str, int]]:
    """Two states each; then more for what is missing, so that nothing else can stand for it."""
    names = graph.variables
    partial = [name for name in names if Mechanism(name) in graph.parents]
    yield dict.fromkeys(names, 2)
    for states in (4, 10):
        for large in partial:
            yield {name: states if name == large else 2 for name in names}
    for one, two in permutations(partial, 2):
        yield {name: {one: 10, two: 4}.get(name, 2) for name in names}


def work(submodel: Submodel) -> float:
    """About the number of operations that deciding the submodel takes."""
    graph, states = submodel.graph, submodel.states
    configurations = np.prod([states(node) for node in submodel.nodes], dtype=float)
    cells = np.prod(
        [states(n) + (Mechanism(n) in graph.parents) for n in graph.variables], dtype=float
    )
    free = sum(
        np.prod([states(p) for p in submodel.parents(node)], dtype=float) * (states(node) - 1)
        for node in submodel.nodes
    )
    return float(configurations * len(submodel.nodes) + cells * free * min(cells, free))
