r"""Whether what is observed pins a query down, decided at a generic model of the graph.

A model of the graph is a point :math:`\theta` of all its CPTs, and what can be observed is
the manifest law :math:`m(\theta)`. At a generic point the rank of the Jacobian
:math:`\partial m` is constant nearby, so the models with the same manifest law form a
surface whose directions are the null space of :math:`\partial m`. If the gradient of the
query is not in the row space of :math:`\partial m`, some of these directions change the
query: the manifest law does not determine it.

The ranks are computed exactly, in the integers modulo a prime, at random points. The rank
there never exceeds the generic one, and falls short of it with a probability below
(degree / prime) for each point; the largest rank over several points is taken.

Small models of a graph: some variables and edges left out, few states each.

A model in which a variable is constant, or an edge does nothing, is a model of the graph
too; what does not determine a query there does not determine it in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lacunet.missingness.separation.mixed import MixedGraph, reached
from lacunet.model.nodes import Mechanism, Node
from lacunet.statistics.distinct import pack

Integers = NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.float64)
PRIME = 2**31 - 1
POINTS = 3


@dataclass(frozen=True)
class Hidden:
    """The hidden cause behind one bidirected edge."""

    at: int


AnyNode = Node | Hidden


@dataclass(frozen=True, eq=False)
class Submodel:
    """A graph with so many states for each variable; hidden causes have ``hidden_states``."""

    graph: MixedGraph
    cardinality_of: Mapping[str, int]
    hidden_states: int = 2

    @property
    def nodes(self) -> tuple[AnyNode, ...]:
        """Hidden causes first, then the nodes of the graph."""
        return (*(Hidden(at) for at in range(len(self.graph.hidden))), *self.graph.order)

    def states(self, node: AnyNode) -> int:
        """The number of states of a node."""
        if isinstance(node, str):
            return self.cardinality_of[node]
        return self.hidden_states if isinstance(node, Hidden) else 2

    def parents(self, node: AnyNode) -> tuple[AnyNode, ...]:
        """The parents of a node, its hidden causes last."""
        if isinstance(node, Hidden):
            return ()
        causes = (Hidden(at) for at, pair in enumerate(self.graph.hidden) if node in pair)
        return (*self.graph.sorted(self.graph.parents[node]), *causes)


@dataclass(frozen=True)
class Grid:
    """Every configuration of a submodel's nodes, one a column, and what each node does there.

    ``rows[v]`` and ``states[v]`` give the row and the column of the CPT of v that a
    configuration takes; ``manifest`` numbers what can be observed of it.
    """

    submodel: Submodel
    value_of: Mapping[AnyNode, Integers]
    rows: Mapping[AnyNode, Integers]
    sizes: Mapping[AnyNode, tuple[int, int]]
    manifest: Integers

    def groups(self, names: Sequence[str]) -> tuple[Integers, int]:
        """The cell of a table over ``names`` for each configuration, and the number of cells."""
        return packed([(self.value_of[n], self.submodel.states(n)) for n in names], self.length)

    @property
    def length(self) -> int:
        """The number of configurations."""
        return len(self.manifest)


def packed(columns: Sequence[tuple[Integers, int]], length: int) -> tuple[Integers, int]:
    """Number the combinations of some columns, each with its number of values; how many."""
    sizes = [size for _, size in columns]
    return pack([values for values, _ in columns], sizes, length), prod(sizes)


def grid_of(submodel: Submodel) -> Grid:
    """Lay out the configurations of a submodel."""
    nodes = submodel.nodes
    shape = [submodel.states(node) for node in nodes]
    flat = np.indices(shape).reshape(len(nodes), -1)
    values: dict[AnyNode, Integers] = dict(zip(nodes, flat, strict=True))
    length = flat.shape[1]
    rows, sizes = {}, {}
    for node in nodes:
        above = [(values[p], submodel.states(p)) for p in submodel.parents(node)]
        rows[node], count = packed(above, length)
        sizes[node] = (count, submodel.states(node))
    return Grid(submodel, values, rows, sizes, _manifest(submodel, values, length))


def _manifest(submodel: Submodel, values: Mapping[AnyNode, Integers], length: int) -> Integers:
    graph = submodel.graph
    columns = []
    for name in graph.variables:
        states, own = submodel.states(name), Mechanism(name)
        seen = values[name]
        if own in graph.parents:
            seen = np.where(values[own] == 1, seen, states)
        columns.append((seen, states + 1))
    columns += [(values[m], 2) for m in graph.mechanisms if m.variable not in graph.parents]
    index, _ = packed(columns, length)
    return np.unique(index, return_inverse=True)[1].astype(np.int64)


def moves_unseen(submodel: Submodel, target: Sequence[str], given: Sequence[str]) -> bool:
    """Whether P(target | given) changes along models that look the same, at a generic model."""
    observed = with_query = 0
    for seed in range(POINTS):
        grid, point, basis = _generic(submodel, seed)
        query = _query_gradients(grid, point, target, given)
        observed = max(observed, len(basis))
        with_query = max(with_query, len(_echelon(np.concatenate([basis, query]))))
        if with_query <= observed:
            return False  # at most a witness is overlooked
    return True


@lru_cache(maxsize=256)
def _generic(submodel: Submodel, seed: int) -> tuple[Grid, _Point, Integers]:
    """A random point, and a basis of the row space of the manifest law's Jacobian there."""
    grid = grid_of(submodel)
    point = _random_point(grid, np.random.default_rng(seed))
    manifest = _gradients(grid, point, grid.manifest, int(grid.manifest.max()) + 1)
    return grid, point, _echelon(manifest)


@dataclass(frozen=True)
class _Point:
    joint: Integers
    inverse_at: Mapping[AnyNode, Integers]


def _random_point(grid: Grid, rng: np.random.Generator) -> _Point:
    joint = np.ones(grid.length, dtype=np.int64)
    inverse_at = {}
    for node in grid.submodel.nodes:
        table = rng.integers(1, PRIME, grid.sizes[node])
        table[:, -1] = (1 - table[:, :-1].sum(axis=1)) % PRIME
        entries = table[grid.rows[node], grid.value_of[node]]
        joint = joint * entries % PRIME
        inverse_at[node] = _inverse(table)[grid.rows[node], grid.value_of[node]]
    return _Point(joint, inverse_at)


def _inverse(values: Integers) -> Integers:
    """The inverses modulo the prime: the power PRIME - 2, by repeated squaring."""
    result, power, left = np.ones_like(values), values % PRIME, PRIME - 2
    while left:
        if left & 1:
            result = result * power % PRIME
        power = power * power % PRIME
        left >>= 1
    return result


def _gradients(grid: Grid, point: _Point, groups: Integers, count: int) -> Integers:
    def weights_of(node: AnyNode) -> Integers:
        return point.joint * point.inverse_at[node] % PRIME

    return gradients(grid, groups, count, weights_of) % PRIME


def gradients(
    grid: Grid, groups: Integers, count: int, weights_of: Callable[[AnyNode], NDArray[Number]]
) -> NDArray[Number]:
    """The derivative of the sum of the joint over each group, by every free parameter.

    ``weights_of`` gives for each configuration the joint without the entry of a node's CPT.
    """
    blocks = []
    for node in grid.submodel.nodes:
        (rows, states), weights = grid.sizes[node], weights_of(node)
        cell = grid.rows[node] * states + grid.value_of[node]
        flat = np.zeros((count, rows * states), dtype=weights.dtype)
        np.add.at(flat, (groups, cell), weights)
        block = flat.reshape(count, rows, states)
        blocks.append((block[..., :-1] - block[..., -1:]).reshape(count, rows * (states - 1)))
    return np.concatenate(blocks, axis=1)


def _query_gradients(
    grid: Grid, point: _Point, target: Sequence[str], given: Sequence[str]
) -> Integers:
    """The gradients of P(a | b), times P(b) squared, which no row is zero for."""
    both, cells = grid.groups((*given, *target))
    below, configs = grid.groups(given)
    joint, mass = np.zeros(cells, np.int64), np.zeros(configs, np.int64)
    np.add.at(joint, both, point.joint)
    np.add.at(mass, below, point.joint)
    of = np.arange(cells) // (cells // configs)
    upper = _gradients(grid, point, both, cells) * (mass[of] % PRIME)[:, None] % PRIME
    lower = _gradients(grid, point, below, configs)[of] * (joint % PRIME)[:, None] % PRIME
    return (upper - lower) % PRIME


def _echelon(matrix: Integers) -> Integers:
    """A basis of the row space modulo the prime."""
    left = matrix % PRIME
    done = 0
    for column in range(left.shape[1]):
        pivots = np.flatnonzero(left[done:, column])
        if not len(pivots):
            continue
        pivot = done + int(pivots[0])
        left[[done, pivot]] = left[[pivot, done]]
        left[done] = left[done] * pow(int(left[done, column]), PRIME - 2, PRIME) % PRIME
        below = done + 1 + np.flatnonzero(left[done + 1 :, column])
        left[below] = (left[below] - left[below, column][:, None] * left[done]) % PRIME
        done += 1
        if done == len(left):
            break
    return left[:done]


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

    def joined(node: Node) -> Iterator[Node]:
        yield from graph.parents[node] | graph.children[node] | graph.siblings[node]
        own = Mechanism(node) if isinstance(node, str) else node.variable
        if own in graph.parents:
            yield own

    start: list[Node] = [graph.variables[0]]
    return len(reached(start, joined)) == len(graph.order)


def _near(graph: MixedGraph, query: Sequence[str]) -> list[str]:
    """The variables that may matter to the query, those that decide its mechanisms first."""
    mechanisms = graph.closure(graph.mechanisms_of(query))
    first = {name for m in mechanisms for name in (m.variable, *graph.variable_parents(m))}
    order = [*graph.named(first), *graph.named(graph.near([*query, *mechanisms]) - first)]
    return [name for name in order if name not in query][:6]


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
