"""Proof by example that a query is not recoverable: two models that look the same.

Models of a graph with fewer edges, or with some variables constant, are models of the graph
too; so small submodels are tried. In each, `lacunet.missingness.refute.tangent` decides exactly
whether the query can move unseen; if it can, a pair of models is made by one step along an
unseen direction and Newton's method (with a fixed slope) back onto the manifest law, and
checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lacunet.missingness.refute.tangent import (
    AnyNode,
    Grid,
    Submodel,
    gradients,
    grid_of,
    kept_variables,
    moves_unseen,
    submodels,
    thinned,
    work,
)
from lacunet.missingness.separation.mixed import MixedGraph, OutOfWork
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import added_up

SAME = 1e-12  # the manifest laws agree to this
DIFFERENT = 1e-6  # and the query differs by more than this
FAR = 0.005  # far enough to stop
STEPS = 12
MOST_WORK = 1.5e8  # for one query
FIXED_WORK = 1e5
MOST_SUBMODELS = 2e6  # steps spent on laying out submodels


@dataclass(frozen=True)
class Witness:
    """Two sets of CPTs with one manifest law, within rounding, and different queries.

    The tables have one axis for each parent and the node's own last; hidden causes are nodes.
    The models differ in P(target | given), which the query that was asked would determine:
    its target holds ``target``, and the variables left out of the submodel do not matter.
    """

    submodel: Submodel
    target: Scope
    given: Scope
    one: Mapping[AnyNode, FloatArray]
    two: Mapping[AnyNode, FloatArray]
    manifest_difference: float
    query_difference: float


def find_witness(
    graph: MixedGraph, target: Sequence[str], given: Sequence[str], effort: float = 1.0
) -> Witness | None:
    """Two models that agree on everything observable and not on P(target | given), or None."""
    graph.meter.allow(MOST_SUBMODELS * effort)
    try:
        return _search(graph, target, given, effort)
    except OutOfWork:
        return None


def _search(
    graph: MixedGraph, target: Sequence[str], given: Sequence[str], effort: float
) -> Witness | None:
    spent = 0.0
    for family in (submodels, thinned):
        for kept in kept_variables(graph, target, given):
            for submodel in family(graph, kept):
                spent += work(submodel) + FIXED_WORK
                if spent > MOST_WORK * effort:
                    return None
                witness = _in_submodel(submodel, target, given)
                if witness is not None:
                    return witness
    return None


def _in_submodel(submodel: Submodel, target: Sequence[str], given: Sequence[str]) -> Witness | None:
    for left, right in reduced_queries(submodel.graph, target, given):
        if moves_unseen(submodel, left, right):
            witness = _pair(submodel, left, right)
            if witness is not None:
                return witness
    return None


def reduced_queries(
    graph: MixedGraph, target: Sequence[str], given: Sequence[str]
) -> Iterator[tuple[Scope, Scope]]:
    """The queries P(a | C) within a part of the graph that P(target | given) determines.

    a is of the target and C holds all that is left of ``given``; more of the target may move
    to the right of the bar. What is left out of the graph is independent of all the rest.
    """
    inside = [name for name in target if name in graph.parents]
    right = tuple(name for name in given if name in graph.parents)
    for name in inside:
        others = [other for other in inside if other != name]
        for size in range(len(others) + 1):
            for moved in combinations(others, size):
                yield (name,), (*right, *moved)


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
        return added_up(self.grid.manifest, self.joint(), int(self.grid.manifest.max()) + 1)

    def query(self, target: Sequence[str], given: Sequence[str]) -> FloatArray:
        both, cells = self.grid.groups((*given, *target))
        table = added_up(both, self.joint(), cells).reshape(self.grid.groups(given)[1], -1)
        return np.asarray(table / table.sum(axis=1, keepdims=True)).ravel()

    def jacobian(self) -> FloatArray:
        """The derivative of the manifest law by the free parameters."""
        joint, grid = self.joint(), self.grid

        def weights_of(node: AnyNode) -> FloatArray:
            return joint / self.tables[node][grid.rows[node], grid.value_of[node]]

        return gradients(grid, grid.manifest, int(grid.manifest.max()) + 1, weights_of)

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
    """Walk along models that look the same until the query has moved far enough."""
    grid = grid_of(submodel)
    best: Witness | None = None
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tables = {node: _random_rows(rng, grid.sizes[node]) for node in submodel.nodes}
        one = two = _Model(grid, tables)
        start = one.query(target, given)
        for _ in range(STEPS):
            following = _step(one, two, target, given)
            if following is None:
                break
            two = following
            if np.abs(two.query(target, given) - start).max() > FAR:
                break
        found = _checked(one, two, target, given)
        if found is not None and (best is None or found.query_difference > best.query_difference):
            best = found
        if best is not None and best.query_difference > FAR:
            break
    return best


def _step(one: _Model, two: _Model, target: Sequence[str], given: Sequence[str]) -> _Model | None:
    """A model further along, away from the first in the query, with its manifest law."""
    direction, back = _unseen_direction(two, target, given)
    start = one.query(target, given)
    before = np.abs(two.query(target, given) - start).max()
    for length in (0.2, 0.05, 0.01):
        for sign in (1, -1):
            model = _restored(one, two.moved(np.multiply(sign * length, direction)), back)
            if model is not None and np.abs(model.query(target, given) - start).max() > before:
                return model
    return None


def _random_rows(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    """Rows far from uniform, so that what is not seen makes a difference; none near zero."""
    table = rng.uniform(0.0, 1.0, size) ** 2 + 0.06
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _unseen_direction(
    model: _Model, target: Sequence[str], given: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """The unseen direction that changes the query most, and the way back to a manifest law.

    The first is in the null space of the manifest law's Jacobian, the second its
    pseudo-inverse.
    """
    left, sizes, basis = np.linalg.svd(model.jacobian(), full_matrices=True)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    null = basis[rank:]
    step = 1e-6
    base = model.query(target, given)
    slopes = np.array([model.moved(step * row).query(target, given) - base for row in null])
    _, _, best = np.linalg.svd(slopes.T / step)
    direction = best[0] @ null
    back = (basis[:rank].T / sizes[:rank]) @ left[:, :rank].T
    return np.asarray(direction / np.abs(direction).max()), np.asarray(back)


def _restored(one: _Model, moved: _Model, back: FloatArray) -> _Model | None:
    """Chords back from a moved model to the manifest law of the first, or None."""
    goal = one.manifest()
    for _ in range(60):
        if not moved.is_positive():
            return None
        gap = goal - moved.manifest()
        if np.abs(gap).max() < SAME / 1000:
            return moved
        moved = moved.moved(back @ gap)
    return moved


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
    left, right = tuple(target), tuple(given)
    return Witness(one.grid.submodel, left, right, shaped[0], shaped[1], same, apart)
