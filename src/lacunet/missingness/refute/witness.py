"""Proof by example that a query is not recoverable: two models that look the same.

Models of a graph with fewer edges, or with some variables constant, are models of the graph
too; so small submodels are tried. In each a model is drawn. If the query can move unseen from
it, that is, along a direction in which the manifest law stands still, the other model is reached by
a step along it, followed by Gauss and Newton's steps back onto the manifest law, and the pair is
checked. What is proved does not rest on the search: the two sets of CPTs can be multiplied out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lacunet.limits import NEVER, Deadline
from lacunet.missingness.limits import MAX_REFUTING_WORK, MIN_SUBMODEL_WORK
from lacunet.missingness.refute.models import Models, models_of, random_weights
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.network.network import FloatArray

SAME_MANIFEST_LAW = 1e-12  # the manifest laws agree to this
DIFFERENT = 1e-6  # and the query differs by more than this
MOVES = 1e-7  # a gradient of the query along an unseen direction that is not zero
LEAST_PROBABILITY = 0.02  # that an entry of a CPT may fall to: the models stay clear of their edges
MODELS_PER_SUBMODEL = 3  # models drawn in each submodel
MAX_STEP = 0.5  # along a direction whose largest component is one
USED_ROOM = 0.6  # of the way to the nearest edge: the rest is for corrections
RANK_TOLERANCE = 1e-9  # of singular values, as a share of the largest: below, they are zero
# Of a step from which there is no way back onto the manifest law, to a quarter each.
SHORTENINGS = 4
CORRECTIONS = 12  # steps back; they square the gap, so that few are enough


@dataclass(frozen=True)
class Witness:
    """Two sets of CPTs with one manifest law, within rounding, and different queries.

    The tables have one axis for each parent and the node's own last; hidden causes are nodes.
    """

    submodel: Submodel  # the variables left out of it do not matter
    asked: Asked  # what the models differ in: the query put to the graph would determine it
    one: Mapping[AnyNode, FloatArray]
    two: Mapping[AnyNode, FloatArray]
    answers: tuple[FloatArray, FloatArray]  # of the two models, axes as those of ``asked``
    manifest_difference: float

    @property
    def query_difference(self) -> float:
        """By how much the answers differ."""
        return float(np.abs(self.answers[0] - self.answers[1]).max())

    @property
    def different(self) -> tuple[AnyNode, ...]:
        """The nodes whose CPTs differ."""
        return tuple(n for n, table in self.one.items() if not np.array_equal(table, self.two[n]))


def first_witness(
    submodels: Iterator[Submodel], asked: Asked, effort: float, deadline: Deadline = NEVER
) -> Witness | None:
    """The first pair that is found in some submodels with so much effort, or None.

    The submodels are taken from the iterator: a next search with it goes on where this one ends.
    """
    allowed = MAX_REFUTING_WORK * effort
    while allowed > 0:
        deadline.check()
        submodel = next(submodels, None)
        if submodel is None:
            break
        allowed -= submodel.work + MIN_SUBMODEL_WORK
        for witness in in_submodel(submodel, asked):
            return witness
    return None


def in_submodel(submodel: Submodel, asked: Asked) -> Iterator[Witness]:
    """Pairs of such models with the graph and the states of a submodel."""
    queries = list(reduced_queries(submodel.graph, asked))
    models = models_of(submodel)
    for seed in range(MODELS_PER_SUBMODEL):
        base = random_weights(models, seed)
        unseen = _null_space(models.manifest_slopes(base))
        moving = []
        for query in queries:
            changes = models.query_slopes(base, query) @ unseen.T
            if np.abs(changes).max(initial=0.0) > MOVES:
                moving.append((query, changes))
        if not moving:
            return  # the same almost everywhere; at most a pair is overlooked
        for query, changes in moving:
            # The unseen direction that moves the query most, as a combination of all of them.
            steepest = np.linalg.svd(changes, full_matrices=False)[2][0]
            yield from _pair(models, base, steepest @ unseen, query)


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
    step = direction / np.abs(direction).max()
    if step @ np.arange(len(step)) > 0:  # the decomposition leaves the sign to chance
        step = -step
    other = _look_alike(models, base, step, asked)
    if other is None:
        return
    start = models.query(base, asked)
    answer = models.query(other, asked)
    gap = _size(models.manifest(base) - models.manifest(other))
    if gap <= SAME_MANIFEST_LAW and _size(answer - start) >= DIFFERENT:
        shape = models.grid.shape(asked.names)
        yield Witness(
            submodel=models.grid.submodel,
            asked=asked,
            one=_tables(models, base),
            two=_tables(models, other),
            answers=(start.reshape(shape), answer.reshape(shape)),
            manifest_difference=gap,
        )


def _look_alike(
    models: Models, base: FloatArray, step: FloatArray, asked: Asked
) -> FloatArray | None:
    """A model with the same manifest law and another answer, along a step; shorter if need be."""
    start = models.query(base, asked)
    goal = models.manifest(base)
    length = min(USED_ROOM * _room(models, base, step), MAX_STEP)
    for _ in range(SHORTENINGS):
        other = _restored(models, goal, models.moved(base, length * step))
        if other is not None and _size(models.query(other, asked) - start) > 0:
            return other
        length /= 4
    return None


def _room(models: Models, weights: FloatArray, step: FloatArray) -> float:
    """How far a step can be taken before an entry falls to `LEAST_PROBABILITY`."""
    down = weights - models.moved(weights, step)
    falling = down > 0
    return float(((weights - LEAST_PROBABILITY)[falling] / down[falling]).min(initial=np.inf))


def _size(difference: FloatArray) -> float:
    return float(np.abs(difference).max())


def _null_space(jacobian: FloatArray) -> FloatArray:
    """The directions in which the manifest law does not move, one a row."""
    rows, columns = jacobian.shape
    square = jacobian
    if rows > columns:  # R of the decomposition has the same null space, and is smaller
        square = np.asarray(np.linalg.qr(jacobian, mode="r"))
    _, sizes, basis = np.linalg.svd(square, full_matrices=True)
    return np.asarray(basis[int((sizes > RANK_TOLERANCE * sizes[0]).sum()) :])


def _restored(models: Models, goal: FloatArray, moved: FloatArray) -> FloatArray | None:
    """Gauss and Newton's steps from a moved model to a manifest law, or None."""
    before = np.inf
    for _ in range(CORRECTIONS):
        if (moved[~models.zeros] <= LEAST_PROBABILITY / 2).any():
            return None
        gap = goal - models.manifest(moved)
        if _size(gap) < SAME_MANIFEST_LAW / 1000:
            return moved
        if _size(gap) > before:  # as near as rounding allows, or going astray
            return moved if before < SAME_MANIFEST_LAW / 10 else None
        before = _size(gap)
        slopes = models.manifest_slopes(moved)
        step, *_ = np.linalg.lstsq(slopes, gap, rcond=RANK_TOLERANCE)
        moved = models.moved(moved, step.astype(np.float64))
    return None


def _tables(models: Models, weights: FloatArray) -> dict[AnyNode, FloatArray]:
    """The CPT of every node, one axis for each parent and its own last."""
    submodel = models.grid.submodel
    return {
        node: table.reshape(*map(submodel.states, submodel.parents(node)), -1)
        for node, table in zip(submodel.nodes, models.parts(weights), strict=True)
    }
