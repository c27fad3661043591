"""Proof by example that a query is not recoverable: two models that look the same.

Models of a graph with fewer edges, or with some variables constant, are models of the graph
too; so small submodels are tried. In each, `lacunet.missingness.tangent` decides exactly
whether the query can move unseen; if it can, a pair of models is made by one step along an
unseen direction and Newton's method back onto the manifest law, and checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from lacunet.missingness.mixed import MixedGraph
from lacunet.missingness.nodes import Mechanism, Node
from lacunet.missingness.propensity import closure
from lacunet.missingness.tangent import AnyNode, Grid, Submodel, grid_of, moves_unseen
from lacunet.model.network import FloatArray

SAME = 1e-12  # the manifest laws agree to this
DIFFERENT = 1e-4  # and the query differs by more than this
LARGEST_WORK = 1e7  # for one submodel, in rough operations
MOST_WORK = 6e7  # for one query
FIXED_WORK = 1e5


@dataclass(frozen=True)
class Witness:
    """Two sets of CPTs with one manifest law, within rounding, and different queries.

    The tables have one axis for each parent and the node's own last; hidden causes are nodes.
    """

    submodel: Submodel
    one: Mapping[AnyNode, FloatArray]
    two: Mapping[AnyNode, FloatArray]
    manifest_difference: float
    query_difference: float


def find_witness(
    graph: MixedGraph, target: Sequence[str], given: Sequence[str]
) -> Witness | None:
    """Two models that agree on everything observable and not on P(target | given), or None."""
    spent = 0.0
    for submodel in submodels(graph, (*target, *given)):
        spent += _work(submodel) + FIXED_WORK
        if spent > MOST_WORK:
            return None
        if moves_unseen(submodel, target, given):
            witness = _pair(submodel, target, given)
            if witness is not None:
                return witness
    return None


def submodels(graph: MixedGraph, query: Sequence[str]) -> Iterator[Submodel]:
    """Small models of the graph, or of the graph with nodes or edges left out; smaller first."""
    for part in _parts(graph, query):
        for cardinality_of in _cardinalities(part):
            submodel = Submodel(part, cardinality_of)
            if _work(submodel) < LARGEST_WORK:
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
    second = {name for q in (*query, *mechanisms) for name in _variables_around(graph, q)}
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


def _work(submodel: Submodel) -> float:
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


@dataclass(frozen=True)
class _Model:
    """CPTs of a submodel as rows, and what follows from them."""

    grid: Grid
    tables: Mapping[AnyNode, FloatArray]

    def joint(self) -> FloatArray:
        joint = np.ones(self.grid.length)
        for node, table in self.tables.items():
            joint = joint * table[self.grid.rows[node], self.grid.value_of[node]]
        return joint

    def manifest(self) -> FloatArray:
        return np.bincount(self.grid.manifest, self.joint())

    def query(self, target: Sequence[str], given: Sequence[str]) -> FloatArray:
        both, cells = self.grid.groups((*given, *target))
        table = np.bincount(both, self.joint(), cells)
        groups = cells // self.grid.groups(given)[1]
        table = table.reshape(-1, groups)
        return (table / table.sum(axis=1, keepdims=True)).ravel()

    def jacobian(self, groups: FloatArray) -> FloatArray:
        """The derivative of the sum of the joint over each group by the free parameters."""
        joint, blocks = self.joint(), []
        count = int(groups.max()) + 1
        for node, table in self.tables.items():
            rows, states = table.shape
            at = self.grid.rows[node] * states + self.grid.value_of[node]
            entries = table.ravel()[at]
            block = np.zeros((count, rows * states))
            np.add.at(block, (groups, at), joint / entries)
            block = block.reshape(count, rows, states)
            blocks.append((block[..., :-1] - block[..., -1:]).reshape(count, -1))
        return np.concatenate(blocks, axis=1)

    def moved(self, step: FloatArray) -> _Model:
        tables, start = {}, 0
        for node, table in self.tables.items():
            rows, states = table.shape
            size = rows * (states - 1)
            change = step[start : start + size].reshape(rows, states - 1)
            start += size
            tables[node] = table + np.hstack([change, -change.sum(axis=1, keepdims=True)])
        return _Model(self.grid, tables)

    def is_positive(self) -> bool:
        return all((table > 0.005).all() for table in self.tables.values())


def _pair(submodel: Submodel, target: Sequence[str], given: Sequence[str]) -> Witness | None:
    grid = grid_of(submodel)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tables = {
            node: _random_rows(rng, grid.sizes[node]) for node in submodel.nodes
        }
        one = _Model(grid, tables)
        direction = _unseen_direction(one, target, given)
        for length in (0.4, 0.2, 0.1, 0.05, 0.02):
            two = _restored(one, one.moved(length * direction))
            witness = None if two is None else _checked(one, two, target, given)
            if witness is not None:
                return witness
    return None


def _random_rows(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    table = rng.uniform(0.5, 1.0, size)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _unseen_direction(
    model: _Model, target: Sequence[str], given: Sequence[str]
) -> FloatArray:
    """The direction in the null space of the manifest law that changes the query most."""
    _, sizes, basis = np.linalg.svd(model.jacobian(model.grid.manifest))
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    null = basis[rank:]
    step = 1e-6
    base = model.query(target, given)
    slopes = np.array([model.moved(step * row).query(target, given) - base for row in null])
    _, _, best = np.linalg.svd(slopes.T / step)
    direction = best[0] @ null
    return np.asarray(direction / np.abs(direction).max())


def _restored(one: _Model, moved: _Model) -> _Model | None:
    """Newton's method from a moved model back to the manifest law of the first."""
    goal = one.manifest()
    for _ in range(30):
        if not moved.is_positive():
            return None
        gap = moved.manifest() - goal
        if np.abs(gap).max() < SAME / 100:
            break
        step, *_ = np.linalg.lstsq(moved.jacobian(moved.grid.manifest), -gap, rcond=1e-9)
        moved = moved.moved(step)
    return moved if moved.is_positive() else None


def _checked(
    one: _Model, two: _Model, target: Sequence[str], given: Sequence[str]
) -> Witness | None:
    same = float(np.abs(one.manifest() - two.manifest()).max())
    apart = float(np.abs(one.query(target, given) - two.query(target, given)).max())
    if same > SAME or apart < DIFFERENT:
        return None
    shaped = [
        {
            node: table.reshape(
                *(one.grid.submodel.states(p) for p in one.grid.submodel.parents(node)), -1
            )
            for node, table in model.tables.items()
        }
        for model in (one, two)
    ]
    return Witness(one.grid.submodel, shaped[0], shaped[1], same, apart)
