r"""Exact marginals of a product of factors, by passing messages on a junction tree.

Inwards, each clique multiplies its factors with the messages of its children and sends its
parent what is left when all but the separator is summed out. Outwards, a clique that has heard
from everybody holds its own marginal, and a child learns from its parent all that it has not
itself told:

.. math::
    b_C = \psi_C \, \mu_{P \to C} \prod_{K} \mu_{K \to C}, \qquad
    \mu_{P \to C} = \frac{\sum_{P \setminus S} b_P}{\mu_{C \to P}}, \quad 0/0 = 0.

Only the inward messages are kept; the products are made anew on the way out. That costs the
multiplications twice and saves the memory of all cliques. Messages are scaled to a largest
cell of one and products are rescaled before they underflow; the logarithms of the scales add
up to the probability of the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.inference.junction_tree_plan import JunctionTree
from lacunet.model.network import FloatArray, Scope

# Rescale products whose largest cell is below this: one more factor scaled likewise cannot
# push it to zero.
SMALL = 1e-100


@dataclass(frozen=True)
class Factor:
    """A table with one axis for each variable of its scope."""

    scope: Scope
    table: FloatArray


@dataclass(frozen=True)
class Calibration:
    """The logarithm of the sum of the product, and the marginals asked for.

    Where the product is zero everywhere there are no marginals.
    """

    log_total: float
    marginals: tuple[FloatArray, ...]


def calibrate(
    tree: JunctionTree, factors: Sequence[Factor], wanted: Sequence[Scope]
) -> Calibration:
    """The sum of a product of factors, and its marginals over the scopes wanted.

    Parameters
    ----------
    tree
        A junction tree with a clique for every factor and every scope.
    factors
        Non-negative tables.
    wanted
        The scopes of the marginals; each keeps its order of axes and sums to one.

    Examples
    --------
    >>> from lacunet.inference.junction_tree_plan import junction_tree
    >>> coin = Factor(("A",), np.array([1.0, 3.0]))
    >>> calibrate(junction_tree([("A",)], {"A": 2}), [coin], [("A",)]).marginals
    (array([0.25, 0.75]),)
    """
    held: list[list[Factor]] = [[] for _ in tree.cliques]
    for factor in factors:
        held[tree.home(factor.scope)].append(factor)
    messages, inward = _inward(tree, held)
    if inward == -math.inf:
        return Calibration(-math.inf, ())
    return _outward(tree, held, messages, inward, wanted)


def _inward(tree: JunctionTree, held: list[list[Factor]]) -> tuple[dict[int, FloatArray], float]:
    """The message of each clique to its parent, which then holds it; the scales taken out."""
    messages: dict[int, FloatArray] = {}
    log_scale = 0.0
    for clique in reversed(range(len(tree.cliques))):
        parent, separator = tree.parents[clique], tree.separators[clique]
        if parent < 0:
            continue
        belief, scale = _product(tree, clique, held[clique])
        message = _marginal(belief, tree.cliques[clique], separator)
        peak = float(message.max())
        if not peak:
            return messages, -math.inf
        messages[clique] = _to_peak_one(message)
        log_scale += scale + math.log(peak)
        held[parent].append(Factor(separator, messages[clique]))
    return messages, log_scale


def _outward(
    tree: JunctionTree,
    held: list[list[Factor]],
    messages: dict[int, FloatArray],
    log_total: float,
    wanted: Sequence[Scope],
) -> Calibration:
    """The marginals wanted, from the roots as far as somebody waits for one."""
    readings, listeners = _asked(tree, wanted)
    marginals: dict[int, FloatArray] = {}
    for clique, scope in enumerate(tree.cliques):
        is_root = tree.parents[clique] < 0
        if not (is_root or readings[clique] or listeners[clique]):
            continue
        belief, scale = _product(tree, clique, held[clique])
        held[clique].clear()
        if is_root:
            total = float(belief.sum())
            if not total:
                return Calibration(-math.inf, ())
            log_total += scale + math.log(total)
        for at in readings[clique]:
            marginal = _marginal(belief, scope, wanted[at])
            marginals[at] = np.asarray(marginal / marginal.sum())
        for child in listeners[clique]:
            heard = _marginal(belief, scope, tree.separators[child])
            news = _without(heard, messages.pop(child))
            held[child].append(Factor(tree.separators[child], news))
    return Calibration(log_total, tuple(marginals[at] for at in range(len(wanted))))


def _asked(tree: JunctionTree, wanted: Sequence[Scope]) -> tuple[list[list[int]], list[list[int]]]:
    """For each clique the marginals to read off, and the children that wait for its message."""
    readings: list[list[int]] = [[] for _ in tree.cliques]
    listeners: list[list[int]] = [[] for _ in tree.cliques]
    for at, scope in enumerate(wanted):
        readings[tree.home(scope)].append(at)
    for clique in reversed(range(len(tree.cliques))):
        if tree.parents[clique] >= 0 and (readings[clique] or listeners[clique]):
            listeners[tree.parents[clique]].append(clique)
    return readings, listeners


def _without(heard: FloatArray, told: FloatArray) -> FloatArray:
    """What a child has not told itself; where it told zero, nothing is heard either."""
    np.divide(_to_peak_one(heard), told, out=heard, where=told > 0)
    return _to_peak_one(heard)


def _to_peak_one(message: FloatArray) -> FloatArray:
    """Scale a message in place to a largest cell of one.

    What is then subnormal goes to zero, as it would in the next product: so dividing by a
    message cannot overflow.
    """
    message /= message.max()
    message[message < np.finfo(np.float64).tiny] = 0
    return message


def _product(tree: JunctionTree, clique: int, factors: list[Factor]) -> tuple[FloatArray, float]:
    """The product of factors over a clique, small ones first; the logarithm of what it lacks."""
    scope = tree.cliques[clique]
    log_scale = 0.0
    product = np.ones((1,) * len(scope))
    for factor in sorted(factors, key=lambda factor: factor.table.size):
        table = _aligned(factor, scope)
        fits = np.broadcast_shapes(product.shape, table.shape) == product.shape
        product = np.multiply(product, table, out=product if fits else None)
        peak = float(product.max())
        if 0 < peak < SMALL:
            product /= peak
            log_scale += math.log(peak)
    return np.broadcast_to(product, tree.shape(scope)), log_scale


def _aligned(factor: Factor, scope: Scope) -> FloatArray:
    """A view of a factor with one axis for each variable of ``scope``, of size one where absent."""
    places = [scope.index(name) for name in factor.scope]
    in_order = sorted(range(len(places)), key=places.__getitem__)
    shape = [1] * len(scope)
    for place, size in zip(places, factor.table.shape, strict=True):
        shape[place] = size
    return factor.table.transpose(in_order).reshape(shape)


def _marginal(belief: FloatArray, scope: Scope, kept: Scope) -> FloatArray:
    """Sum out all but the variables kept, and put those in their order."""
    out = tuple(axis for axis, name in enumerate(scope) if name not in kept)
    left = [name for name in scope if name in kept]
    summed: FloatArray = np.asarray(belief.sum(axis=out))
    return summed.transpose([left.index(name) for name in kept])
