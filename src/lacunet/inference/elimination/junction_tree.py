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

The junction tree: which tables inference will make, and how large, before it makes any.

An elimination order gives a clique for each variable: itself and the neighbours it still has.
The largest of them, joined where they overlap, form a tree in which the cliques that hold any
one variable hang together (Lauritzen and Spiegelhalter, 1988). Whatever was connected in the
graph, every factor and every scope asked for, lies within one clique.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lacunet.inference.elimination.order import best_order, cliques_of, joined, numbered
from lacunet.model.network import FloatArray, Scope

# Rescale products whose largest cell is below this: one more factor scaled likewise cannot
# push it to zero.
SMALL = 1e-100
FEW_CELLS = 2**10
FEW_FACTORS = 16


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
    >>> from lacunet.inference.elimination.junction_tree import junction_tree
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
        message, peak, scale = _summed(tree, clique, held[clique], separator)
        if not peak:
            return messages, -math.inf
        messages[clique] = _to_peak_one(message, peak)
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
    np.divide(_to_peak_one(heard, float(heard.max())), told, out=heard, where=told > 0)
    return _to_peak_one(heard, float(heard.max()))


def _to_peak_one(message: FloatArray, peak: float) -> FloatArray:
    """Scale a message in place to a largest cell of one.

    What is then subnormal goes to zero, as it would in the next product: so dividing by a
    message cannot overflow.
    """
    message /= peak
    message[message < np.finfo(np.float64).tiny] = 0
    return message


def _summed(
    tree: JunctionTree, clique: int, factors: list[Factor], kept: Scope
) -> tuple[FloatArray, float, float]:
    """The product over a clique, all but the variables kept summed out; its peak, what it lacks.

    A small clique takes one call, not a few for each factor, unless it comes near underflow.
    """
    scope = tree.cliques[clique]
    if tree.cells(scope) <= FEW_CELLS and len(factors) <= FEW_FACTORS:
        axis_of = {name: axis for axis, name in enumerate(scope)}
        absent = tuple(set(scope).difference(*(factor.scope for factor in factors)))
        ones = [Factor(absent, np.ones(tree.shape(absent)))] if absent else []
        operands: list[Any] = []
        for factor in (*factors, *ones):
            operands += [factor.table, [axis_of[name] for name in factor.scope]]
        message: FloatArray = np.asarray(np.einsum(*operands, [axis_of[name] for name in kept]))
        peak = float(message.max())
        if peak >= SMALL:
            return message, peak, 0.0
    belief, log_scale = _product(tree, clique, factors)
    message = _marginal(belief, scope, kept)
    return message, float(message.max()), log_scale


def _product(tree: JunctionTree, clique: int, factors: list[Factor]) -> tuple[FloatArray, float]:
    """The product of factors over a clique, small ones first; the logarithm of what it lacks."""
    scope = tree.cliques[clique]
    log_scale = 0.0
    product, is_ours = np.ones((1,) * len(scope)), True
    for turn, factor in enumerate(sorted(factors, key=lambda factor: factor.table.size)):
        table = _aligned(factor, scope)
        if not turn:
            product, is_ours = table, False
        elif is_ours and all(map(_covers, product.shape, table.shape)):
            product *= table
        else:
            product, is_ours = np.asarray(product * table), True
        peak = float(product.max())
        if 0 < peak < SMALL:
            product, is_ours = np.asarray(product / peak), True
            log_scale += math.log(peak)
    shape = tree.shape(scope)
    return product if product.shape == shape else np.broadcast_to(product, shape), log_scale


def _covers(size: int, other: int) -> bool:
    return other in (1, size)


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


BYTES = 8  # of one cell
LIVE_CLIQUES = 3  # the product, the next product and a marginal of it


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, each parent before its children, with the separator towards the parent.

    The axes of every clique and separator are in elimination order. A root has no parent (-1)
    and an empty separator. ``clique_of[v]`` holds `v` and all that comes after it in a scope.
    """

    cardinality_of: Mapping[str, int]
    cliques: tuple[Scope, ...]
    parents: tuple[int, ...]
    separators: tuple[Scope, ...]
    position_of: Mapping[str, int]
    clique_of: Mapping[str, int]

    def home(self, scope: Sequence[str]) -> int:
        """The clique that holds all of a scope; any root for the empty scope."""
        if not scope:
            return 0
        return self.clique_of[min(scope, key=self.position_of.__getitem__)]

    def shape(self, scope: Scope) -> tuple[int, ...]:
        """The shape of a table over ``scope``."""
        return tuple(self.cardinality_of[name] for name in scope)

    def cells(self, scope: Scope) -> int:
        """The number of cells of a table over ``scope``."""
        return math.prod(self.shape(scope))

    @property
    def largest(self) -> Scope:
        """The clique with the most cells."""
        return max(self.cliques, key=self.cells)

    @property
    def memory(self) -> int:
        """The bytes inference takes at most: all messages, and the cliques alive at once."""
        messages = sum(map(self.cells, self.separators))
        return BYTES * (messages + LIVE_CLIQUES * self.cells(self.largest))


def junction_tree(
    scopes: Iterable[Scope], cardinality_of: Mapping[str, int], known: Sequence[str] = ()
) -> JunctionTree:
    """A junction tree in which every scope lies within one clique; its first root holds the first.

    Parameters
    ----------
    scopes
        Variables that must be together: those of each factor and of each marginal asked for.
    cardinality_of
        The number of states of every variable in the tree.
    known
        An elimination order to try first.

    Examples
    --------
    >>> tree = junction_tree([("A", "B"), ("B", "C")], {"A": 2, "B": 3, "C": 2})
    >>> tree.cliques, tree.separators
    ((('A', 'B'), ('B', 'C')), ((), ('B',)))
    """
    wanted = list(scopes)
    order, others = _eliminated(wanted, cardinality_of, known)
    position_of = {name: at for at, name in enumerate(order)}
    bare = _maximal_cliques(order, others, position_of)
    first = next((scope for scope in wanted if scope), tuple(order[:1]))
    start = bare.clique_of[min(first, key=position_of.__getitem__)] if first else 0
    return _rooted(bare, start, cardinality_of, position_of)


def _eliminated(
    scopes: Sequence[Scope], cardinality_of: Mapping[str, int], known: Sequence[str]
) -> tuple[list[str], list[set[str]]]:
    """An elimination order, and the neighbours each variable still has at its turn."""
    neighbours = joined(scopes)
    weight_of = {name: math.log(cardinality_of[name]) for name in neighbours}
    order = best_order(neighbours, weight_of, known)
    names = list(neighbours)
    number_of = {name: at for at, name in enumerate(names)}
    left = cliques_of(numbered(neighbours, weight_of), [number_of[name] for name in order])
    return order, [{names[other] for other in own} for own in left]


@dataclass(frozen=True)
class _Bare:
    """The maximal cliques and their edges, not yet rooted."""

    cliques: list[set[str]]
    edges: list[tuple[int, int, set[str]]]
    clique_of: dict[str, int]


def _maximal_cliques(
    order: Sequence[str], others: Sequence[set[str]], position_of: Mapping[str, int]
) -> _Bare:
    """From the last variable to the first: grow the clique of the parent, or hang on a new one."""
    cliques: list[set[str]] = []
    edges: list[tuple[int, int, set[str]]] = []
    clique_of: dict[str, int] = {}
    for name, separator in zip(reversed(order), reversed(others), strict=True):
        parent = clique_of[min(separator, key=position_of.__getitem__)] if separator else -1
        if separator and len(cliques[parent]) == len(separator):
            cliques[parent].add(name)
            clique_of[name] = parent
            continue
        if separator:
            edges.append((parent, len(cliques), separator))
        clique_of[name] = len(cliques)
        cliques.append({name, *separator})
    return _Bare(cliques or [set()], edges, clique_of)  # all seen: an empty clique holds scalars


def _rooted(
    bare: _Bare, start: int, cardinality_of: Mapping[str, int], position_of: Mapping[str, int]
) -> JunctionTree:
    """Number the cliques from the roots outwards, those around ``start`` first."""
    found = _outwards(bare, start)
    number_of = {clique: at for at, (clique, _, _) in enumerate(found)}

    def in_order(names: Iterable[str]) -> Scope:
        return tuple(sorted(names, key=position_of.__getitem__))

    return JunctionTree(
        cardinality_of=dict(cardinality_of),
        cliques=tuple(in_order(bare.cliques[clique]) for clique, _, _ in found),
        parents=tuple(number_of.get(parent, -1) for _, parent, _ in found),
        separators=tuple(in_order(separator) for _, _, separator in found),
        position_of=dict(position_of),
        clique_of={name: number_of[clique] for name, clique in bare.clique_of.items()},
    )


def _outwards(bare: _Bare, start: int) -> list[tuple[int, int, set[str]]]:
    """Every clique with its parent (-1 for a root) and separator, parents before children."""
    beside: list[list[tuple[int, set[str]]]] = [[] for _ in bare.cliques]
    for one, other, separator in bare.edges:
        beside[one].append((other, separator))
        beside[other].append((one, separator))
    found: list[tuple[int, int, set[str]]] = []
    seen: set[int] = set()
    for root in (start, *range(len(bare.cliques))):
        waiting = [] if root in seen else [(root, -1, set[str]())]
        while waiting:
            clique, parent, separator = waiting.pop()
            seen.add(clique)
            found.append((clique, parent, separator))
            waiting += [(other, clique, own) for other, own in beside[clique] if other != parent]
    return found
