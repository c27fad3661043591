"""Proof by example that a query is not recoverable: two models that look the same.

Models of a graph with fewer edges, or with some variables constant, are models of the graph
too; so small submodels are tried. In each a model is drawn. If the query can move unseen from
it, the other model is reached by a step along an unseen direction, followed by Gauss and
Newton's steps back onto the manifest law, and the pair is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lacunet.missingness.refute.asked import Asked
from lacunet.missingness.refute.models import Models, models_of, random_weights
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.model.network import FloatArray

SAME = 1e-12  # the manifest laws agree to this
DIFFERENT = 1e-6  # and the query differs by more than this
MOVES = 1e-7  # a gradient of the query along an unseen direction that is not zero
LEAST = 0.02  # of a CPT's entries
SEEDS = 3
MOST_WORK = 1e8  # for one query
FIXED_WORK = 1e5


@dataclass(frozen=True)
class Witness:
    """Two sets of CPTs with one manifest law, within rounding, and different queries.

    The tables have one axis for each parent and the node's own last; hidden causes are nodes.
    The models differ in ``asked``, a query that the one put to the graph would determine: the
    variables left out of the submodel do not matter. ``answers`` are what the two models say to
    it, axes as those of the query.
    """

    submodel: Submodel
    asked: Asked
    one: Mapping[AnyNode, FloatArray]
    two: Mapping[AnyNode, FloatArray]
    answers: tuple[FloatArray, FloatArray]
    manifest_difference: float

    @property
    def query_difference(self) -> float:
        """By how much the answers differ."""
        return float(np.abs(self.answers[0] - self.answers[1]).max())

    @property
    def different(self) -> tuple[AnyNode, ...]:
        """The nodes whose CPTs differ."""
        return tuple(n for n, table in self.one.items() if not np.array_equal(table, self.two[n]))


def first_witness(submodels: Iterator[Submodel], asked: Asked, effort: float) -> Witness | None:
    """The first pair that is found in some submodels with so much effort, or None.

    The submodels are taken from the iterator: a next search with it goes on where this one ends.
    """
    allowed = MOST_WORK * effort
    while allowed > 0 and (submodel := next(submodels, None)) is not None:
        allowed -= submodel.work + FIXED_WORK
        for witness in in_submodel(submodel, asked):
            return witness
    return None


def in_submodel(submodel: Submodel, asked: Asked) -> Iterator[Witness]:
    """Pairs of such models with the graph and the states of a submodel."""
    queries, models = list(reduced_queries(submodel.graph, asked)), models_of(submodel)
    for seed in range(SEEDS):
        base = random_weights(models, seed)
        null = _null_space(models.manifest_slopes(base))
        slopes = [models.query_slopes(base, query) @ null.T for query in queries]
        pairs = zip(queries, slopes, strict=True)
        moving = [pair for pair in pairs if np.abs(pair[1]).max(initial=0.0) > MOVES]
        if not moving:
            return  # at most a pair is overlooked
        for reduced, changes in moving:
            direction = np.linalg.svd(changes, full_matrices=False)[2][0] @ null
            yield from _pair(models, base, direction, reduced)


def reduced_queries(graph: MixedGraph, asked: Asked) -> Iterator[Asked]:
    """The queries P(a | C, do(D)) within a part of the graph that the query determines.

    a is of the target, C holds all that is left of what is given, and D of what is done; more
    of the target may move to the right of the bar. What is left out of the graph is
    independent of all the rest.
    """
    inside = [name for name in asked.target if name in graph.parents]
    right = tuple(name for name in asked.given if name in graph.parents)
    do = tuple(name for name in asked.do if name in graph.parents)
    for name in inside:
        others = [other for other in inside if other != name]
        for size in range(len(others) + 1):
            for moved in combinations(others, size):
                yield Asked((name,), (*right, *moved), do)


def _pair(
    models: Models, base: FloatArray, direction: FloatArray, asked: Asked
) -> Iterator[Witness]:
    """A model and one that looks the same, a step along the direction that moves the query most."""
    direction = direction / np.abs(direction).max()
    if (
        direction @ np.arange(len(direction)) > 0
    ):  # the decomposition leaves the sign to the machine
        direction = -direction
    start, goal = models.query(base, asked), models.manifest(base)
    length = min(0.6 * _room(models, base, direction), 0.5)
    for _ in range(4):
        other = _restored(models, goal, models.moved(base, length * direction))
        answer = start if other is None else models.query(other, asked)
        if _size(answer - start) > 0:
            break
        length /= 4
    same = np.inf if other is None else _size(goal - models.manifest(other))
    if other is not None and same <= SAME and _size(answer - start) >= DIFFERENT:
        shape = models.grid.shape(asked.names)
        tables = _tables(models, base), _tables(models, other)
        answers = start.reshape(shape), answer.reshape(shape)
        yield Witness(models.grid.submodel, asked, *tables, answers, same)


def _room(models: Models, weights: FloatArray, step: FloatArray) -> float:
    """How far a step can be taken before an entry falls to `LEAST`."""
    down = weights - models.moved(weights, step)
    falling = down > 0
    return float(((weights - LEAST)[falling] / down[falling]).min(initial=np.inf))


def _size(difference: FloatArray) -> float:
    return float(np.abs(difference).max())


def _null_space(jacobian: FloatArray) -> FloatArray:
    """The directions in which the manifest law does not move, one a row."""
    rows, columns = jacobian.shape
    square = np.linalg.qr(jacobian, mode="r") if rows > columns else jacobian
    _, sizes, basis = np.linalg.svd(square, full_matrices=True)
    return np.asarray(basis[int((sizes > 1e-9 * sizes[0]).sum()) :])


def _restored(models: Models, goal: FloatArray, moved: FloatArray) -> FloatArray | None:
    """Gauss and Newton's steps from a moved model to a manifest law, or None."""
    before = np.inf
    for _ in range(12):
        if (moved[~models.zeros] <= LEAST / 2).any():
            return None
        gap = goal - models.manifest(moved)
        if _size(gap) < SAME / 1000:
            return moved
        if _size(gap) > before:
            return moved if before < SAME / 10 else None
        before = _size(gap)
        slopes = models.manifest_slopes(moved)
        step, *_ = np.linalg.lstsq(slopes, gap, rcond=1e-9)
        moved = models.moved(moved, step.astype(np.float64))
    return None


def _tables(models: Models, weights: FloatArray) -> dict[AnyNode, FloatArray]:
    """The CPT of every node, one axis for each parent and its own last."""
    submodel = models.grid.submodel
    return {
        node: table.reshape(*map(submodel.states, submodel.parents(node)), -1)
        for node, table in zip(submodel.nodes, models.parts(weights), strict=True)
    }
