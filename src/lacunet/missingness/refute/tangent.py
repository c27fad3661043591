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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lacunet.counts.counts import added_up
from lacunet.missingness.refute.grid import Integers
from lacunet.missingness.refute.models import Models, models_of
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.network.network import Scope

PRIME = 2**31 - 1  # products of two numbers below it fit into 64 bits
RANDOM_MODELS = 2  # random models, of which the largest rank counts


def ranks(submodel: Submodel, asked: Asked) -> tuple[int, int]:
    """The rank of the manifest law's Jacobian at a generic model, and that with the query's."""
    observed = with_query = 0
    for seed in range(RANDOM_MODELS):
        point, basis = _generic(submodel, seed)
        query = _query_gradients(point, asked)
        observed = max(observed, len(basis))
        beside = _echelon(_reduced(_widened(query, basis), basis))
        with_query = max(with_query, len(basis) + len(beside))
    return observed, with_query


_models = lru_cache(maxsize=128)(models_of)


@lru_cache(maxsize=256)
def _generic(submodel: Submodel, seed: int) -> tuple[_Point, Integers]:
    """A random point, and a basis of the row space of the manifest law's Jacobian there."""
    models = _models(submodel)
    grid = models.grid
    weights = models.drawn_modulo(PRIME, np.random.default_rng(seed))
    joint = np.ones(grid.length, dtype=np.int64)
    for factor in models.factors(weights):
        joint = joint * factor % PRIME
    inverse = [pow(weight, -1, PRIME) if weight else 0 for weight in weights.tolist()]
    inverses = models.factors(np.array(inverse))
    point = _Point(models, joint, dict(zip(submodel.nodes, inverses, strict=True)))
    manifest = _gradients(point, grid.manifest, grid.cells + 1)[: grid.cells]
    if grid.is_selected:  # the law is known up to its scale: one parameter more
        law = grid.law(point.joint.astype(np.float64))
        scale = law[:, None].astype(np.int64) % PRIME
        manifest = np.concatenate([manifest, scale], axis=1)
    for names in submodel.known:
        known = _gradients(point, *grid.groups(names))
        manifest = np.concatenate([manifest, _widened(known, manifest)])
    return point, _echelon(manifest)


def _widened(rows: Integers, like: Integers) -> Integers:
    """The rows with zeros for the columns that they do not have."""
    missing = like.shape[1] - rows.shape[1]
    if missing == 0:
        return rows
    return np.pad(rows, ((0, 0), (0, missing)))


@dataclass(frozen=True)
class _Point:
    """A random model, modulo the prime."""

    models: Models
    joint: Integers  # at every configuration
    inverse_at: Mapping[AnyNode, Integers]  # one over the CPT entry of each node, likewise


def _gradients(point: _Point, groups: Integers, count: int, do: Scope = ()) -> Integers:
    """The derivative of the sum of the joint over each group, by every parameter."""
    joint = _without_choice(point, do)
    others = [(joint * inverse % PRIME).astype(np.float64) for inverse in point.inverse_at.values()]
    # Sums of integers below the prime are exact: there are fewer than 2^22 configurations.
    return point.models.under(do).slopes(others, groups, count).astype(np.int64) % PRIME


def _without_choice(point: _Point, do: Scope) -> Integers:
    """The joint without the CPTs of what is intervened on: the truncated factorisation."""
    joint = point.joint
    for name in do:
        joint = joint * point.inverse_at[name] % PRIME
    return joint


def _query_gradients(point: _Point, asked: Asked) -> Integers:
    """The gradients of P(a | b, do(c)), times P(b | do(c)) squared, which no row is zero for."""
    grid = point.models.grid
    both, cells = grid.groups(asked.names)
    weights = _without_choice(point, asked.do).astype(np.float64)
    sums = grid.by_conditions(added_up(both, weights, cells).astype(np.int64), asked)
    slopes = grid.by_conditions(_gradients(point, both, cells, asked.do), asked)
    mass = sums.sum(axis=1, keepdims=True) % PRIME
    mass_slopes = slopes.sum(axis=1, keepdims=True) % PRIME
    # (s / m)' m^2 = s' m - m' s
    apart = slopes * mass % PRIME - mass_slopes * (sums % PRIME) % PRIME
    return np.asarray(apart % PRIME).reshape(cells, -1)


def _reduced(rows: Integers, basis: Integers) -> Integers:
    """What is left of some rows when a basis as `_echelon` gives it is taken off them."""
    pivots = (basis != 0).argmax(axis=1)
    high, low = np.divmod(rows[:, pivots], 2**16)  # so that sums of products fit into 64 bits
    taken = (high @ basis % PRIME * 2**16 + low @ basis) % PRIME
    return np.asarray((rows - taken) % PRIME)


def _echelon(matrix: Integers) -> Integers:
    """A basis of the row space modulo the prime, each with a column in which it alone is not 0."""
    left = matrix % PRIME
    done = 0
    for column in np.flatnonzero(left.any(axis=0)):
        if done == len(left):
            break
        pivots = np.flatnonzero(left[done:, column])
        if not len(pivots):
            continue  # the rows above have taken it off
        pivot = done + int(pivots[0])
        left[[done, pivot]] = left[[pivot, done]]
        left[done] = left[done] * pow(int(left[done, column]), -1, PRIME) % PRIME
        others = np.flatnonzero(left[:, column])
        others = others[others != done]
        taken = left[others, column][:, None] * left[done, column:]
        left[others, column:] = (left[others, column:] - taken) % PRIME
        done += 1
    return left[:done]
