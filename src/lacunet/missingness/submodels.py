"""Small models of a graph: some variables and edges left out, few states each.

A model in which a variable is constant, or an edge does nothing, is a model of the graph
too; what does not determine a query there does not determine it in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np

from lacunet.missingness.mixed import MixedGraph
from lacunet.missingness.nodes import Mechanism, Node
from lacunet.missingness.propensity import closure
from lacunet.missingness.tangent import Submodel

LARGEST_WORK = 1e7  # for one submodel, in rough operations
MOST_VARIABLES = 4
MOST_WHEN_THINNED = 3
Names = frozenset[str]


def kept_variables(
    graph: MixedGraph, target: Sequence[str], given: Sequence[str]
) -> Iterator[Names]:
    """The sets of variables to keep, small ones first, each with one of the target's."""
    universe = [*target, *given, *_near(graph, (*target, *given))]
    for size in range(1, MOST_VARIABLES + 1):
        for kept in combinations(universe, size):
            if set(target).isdisjoint(kept) or graph.partial.isdisjoint(kept):
                graph.meter.charge(1)
            elif _is_connected(_part(graph, frozenset(kept))):
                yield frozenset(kept)


@lru_cache(maxsize=512)
def submodels(graph: MixedGraph, kept: Names) -> tuple[Submodel, ...]:
    """The submodels over some variables with all their edges; first without hidden causes."""
    part = _part(graph, kept)
    plain = MixedGraph.of(part.order, part.parents, (), part.partial, part.meter)
    found = list(_sized(plain)) if part.hidden and _is_connected(plain) else []
    return (*found, *_sized(part))


@lru_cache(maxsize=128)
def thinned(graph: MixedGraph, kept: Names) -> tuple[Submodel, ...]:
    """The submodels over some variables with one or two edges left out."""
    if len(kept) > MOST_WHEN_THINNED:
        return ()
    part = _part(graph, kept)
    found: list[Submodel] = []
    for count in (1, 2):
        for thin in _thinned(part, count):
            found += _sized(thin) if _is_connected(thin) else ()
    return tuple(found)


def _sized(part: MixedGraph) -> Iterator[Submodel]:
    for hidden_states in (2, 5) if part.hidden else (2,):
        for cardinality_of in _cardinalities(part):
            submodel = Submodel(part, cardinality_of, hidden_states)
            if work(submodel) < LARGEST_WORK:
                yield submodel


@lru_cache(maxsize=2048)
def _part(graph: MixedGraph, kept: Names) -> MixedGraph:
    return graph.without(
        node
        for node in graph.order
        if (node.variable if isinstance(node, Mechanism) else node) not in kept
    )


def _is_connected(graph: MixedGraph) -> bool:
    """Whether every variable and its mechanism hang together; parts apart are smaller models."""
    reached: set[Node] = set()
    waiting: list[Node] = [graph.variables[0]]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting.extend(graph.parents[node] | graph.children[node] | graph.siblings[node])
            own = Mechanism(node) if isinstance(node, str) else node.variable
            waiting.extend([own] if own in graph.parents else [])
    return len(reached) == len(graph.order)


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
    edges = [("->", p, n) for n in graph.order for p in graph.sorted(graph.parents[n])]
    edges += [("<->", one, two) for one, two in graph.hidden]
    for gone in combinations(edges, count):
        drop = set(gone)
        parents = {
            node: [p for p in graph.parents[node] if ("->", p, node) not in drop]
            for node in graph.order
        }
        hidden = [pair for pair in graph.hidden if ("<->", *pair) not in drop]
        yield MixedGraph.of(graph.order, parents, hidden, graph.partial, graph.meter)


def _cardinalities(graph: MixedGraph) -> Iterator[dict[str, int]]:
    """Two states each; then more for what is missing, so that nothing else can stand for it."""
    names = graph.variables
    partial = [name for name in names if name in graph.partial]
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
    cells = np.prod([states(n) + (n in graph.partial) for n in graph.variables], dtype=float)
    free = sum(
        np.prod([states(p) for p in submodel.parents(node)], dtype=float) * (states(node) - 1)
        for node in submodel.nodes
    )
    return float(configurations * len(submodel.nodes) + cells * free * min(cells, free))
