"""Small models of a graph: some variables and edges left out, few states each.

A model in which a variable is constant, or an edge does nothing, is a model of the graph
too; what does not determine a query there does not determine it in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from math import prod
from typing import NamedTuple

from lacunet.missingness.limits import (
    MAX_NEAR_VARIABLES,
    MAX_SUBMODEL_VARIABLES,
    MAX_SUBMODEL_WORK,
)
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.separation.mixed import HiddenCause, MixedGraph, reachable, subsets
from lacunet.network.network import Scope
from lacunet.network.nodes import Mechanism, Node

Names = frozenset[str]


class Kind(NamedTuple):
    """Submodels of one kind.

    Many states keep the other variables from standing in for what is missing.
    """

    fewest: int  # variables
    most: int
    states: tuple[int, ...] = ()  # of one and of another partial variable; every other has two
    hidden_states: int = 2  # of each hidden cause
    left_out: int = 0  # edges


SUBMODEL_KINDS = (  # cheap ones first
    Kind(1, 3),
    Kind(1, 3, states=(4,)),
    Kind(1, 3, states=(10,)),
    Kind(1, 3, hidden_states=5),
    Kind(4, MAX_SUBMODEL_VARIABLES),
    Kind(1, 3, states=(10, 4)),
    Kind(1, 3, states=(4,), hidden_states=5),
    Kind(1, 3, left_out=1),
    Kind(1, 3, states=(4,), left_out=1),
    Kind(1, 3, states=(10,), left_out=1),
    Kind(1, 3, left_out=2),
    Kind(1, 3, states=(10,), left_out=2),
    Kind(1, 3, states=(10, 4), hidden_states=5),
    Kind(4, MAX_SUBMODEL_VARIABLES, states=(10,)),
    Kind(1, 3, states=(10, 4), left_out=1),
)


AnyNode = Node | HiddenCause


@dataclass(frozen=True)
class Submodel:
    """A graph with a number of states for each of its variables."""

    graph: MixedGraph
    cardinality_of: Mapping[str, int] = field(hash=False)
    hidden_states: int = 2  # of each hidden cause
    known: tuple[Scope, ...] = ()  # sets of variables whose law is known from elsewhere

    @property
    def nodes(self) -> tuple[AnyNode, ...]:
        """Hidden causes first, then the nodes of the graph."""
        return (*self.graph.hidden, *self.graph.order)

    def states(self, node: AnyNode) -> int:
        """The number of states of a node."""
        if isinstance(node, str):
            return self.cardinality_of[node]
        return self.hidden_states if isinstance(node, HiddenCause) else 2

    @property
    def configurations(self) -> int:
        """The number of configurations of all nodes."""
        return prod(map(self.states, self.nodes))

    @cached_property
    def work(self) -> float:
        """About the number of operations that deciding the submodel takes."""
        graph = self.graph
        states = self.states
        cells = prod(states(name) + (name in graph.partial) for name in graph.variables)
        free = sum(
            prod(map(states, self.parents(node))) * (states(node) - 1) for node in self.nodes
        )
        return float(self.configurations * len(self.nodes) + cells * free * min(cells, free))

    def parents(self, node: AnyNode) -> tuple[AnyNode, ...]:
        """The parents of a node, its hidden causes last."""
        if isinstance(node, HiddenCause):
            return ()
        causes = (cause for cause in self.graph.hidden if node in cause)
        return (*self.graph.sorted(self.graph.parents[node]), *causes)


def candidates(
    graph: MixedGraph, asked: Asked, known: tuple[Names, ...] = ()
) -> Iterator[Submodel]:
    """The submodels to try, kind by kind."""
    for kind in SUBMODEL_KINDS:
        for kept in kept_variables(graph, asked, kind):
            for part in parts(graph, kept, kind.left_out):
                yield from _of_kind(part, kind, known)


def _of_kind(part: MixedGraph, kind: Kind, known: tuple[Names, ...]) -> Iterator[Submodel]:
    """The submodels of one kind with one graph, but for those that are too much work."""
    if not part.hidden and kind.hidden_states != 2:
        return  # the same as with two
    laws = tuple(filter(None, map(part.named, known)))
    for cardinality_of in _cardinalities(part, kind.states):
        submodel = Submodel(part, cardinality_of, kind.hidden_states, laws)
        if submodel.work < MAX_SUBMODEL_WORK:
            yield submodel


def kept_variables(graph: MixedGraph, asked: Asked, kind: Kind) -> Iterator[Names]:
    """The sets of variables to keep, small ones first, each with one of the target's."""
    universe = [*asked.target, *asked.do, *asked.given, *_near(graph, asked.names)]
    for kept in subsets(universe, range(kind.fewest, kind.most + 1)):
        # Where all is observed and nothing done, complete data of these give their law.
        is_plain = graph.partial.isdisjoint(kept) and kept.isdisjoint(asked.do)
        if kept.isdisjoint(asked.target) or (is_plain and not graph.selection):
            graph.meter.charge(1)
        elif _is_connected(_part(graph, kept)):
            yield kept


@lru_cache(maxsize=4096)
def parts(graph: MixedGraph, kept: Names, left_out: int) -> tuple[MixedGraph, ...]:
    """The graph of some variables, without so many of its edges; first without hidden causes."""
    whole = _part(graph, kept)
    if left_out:
        return tuple(filter(_is_connected, _thinned(whole, left_out)))
    plain = whole.with_edges(whole.parents, ())
    if whole.hidden and _is_connected(plain):
        return (plain, whole)
    return (whole,)


@lru_cache(maxsize=2048)
def _part(graph: MixedGraph, kept: Names) -> MixedGraph:
    """The graph of some variables and their mechanisms, and of R[*] if they matter to it."""
    inside: set[Node] = {*kept, *map(Mechanism, kept)}
    for node in graph.selection:
        if not inside.isdisjoint(graph.parents[node] | graph.siblings[node]):
            inside.add(node)
    return graph.among(inside)


def _is_connected(graph: MixedGraph) -> bool:
    """Whether every variable and its mechanism hang together; parts apart are smaller models."""

    def joined(node: Node) -> Iterator[Node]:
        yield from graph.parents[node] | graph.children[node] | graph.siblings[node]
        partner = Mechanism(node) if isinstance(node, str) else node.variable
        if partner in graph.parents:
            yield partner

    start: list[Node] = [graph.variables[0]]
    return len(reachable(start, joined)) == len(graph.order)


def _near(graph: MixedGraph, query: Sequence[str]) -> list[str]:
    """The variables that may matter to the query, those that decide its mechanisms first."""
    mechanisms = graph.closure(graph.mechanisms_of(query))
    first = {m.variable for m in mechanisms}
    first.update(graph.variable_parents([*mechanisms, *graph.selection]))
    order = [*graph.named(first), *graph.named(graph.near([*query, *mechanisms]) - first)]
    return [name for name in order if name not in query][:MAX_NEAR_VARIABLES]


def _thinned(graph: MixedGraph, count: int) -> Iterator[MixedGraph]:
    """The graphs without so many of the edges; those of an order R[B] <= R[A] must stay."""
    edges = [
        ("->", parent, node)
        for node in graph.order
        for parent in graph.sorted(graph.parents[node])
        if (node, parent) not in graph.monotone
    ]
    edges += [("<->", left, right) for left, right in graph.hidden]
    for gone in combinations(edges, count):
        drop = set(gone)
        parents = {
            node: [p for p in graph.parents[node] if ("->", p, node) not in drop]
            for node in graph.order
        }
        hidden = [pair for pair in graph.hidden if ("<->", *pair) not in drop]
        yield graph.with_edges(parents, hidden)


def _cardinalities(graph: MixedGraph, states: tuple[int, ...]) -> Iterator[dict[str, int]]:
    """Two states each, but for so many of the partially observed ones."""
    partial = [name for name in graph.variables if name in graph.partial]
    for large in permutations(partial, len(states)):
        states_of = dict(zip(large, states, strict=True))
        yield {name: states_of.get(name, 2) for name in graph.variables}
