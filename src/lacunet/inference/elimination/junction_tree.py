r"""Exact marginals of a product of factors, by passing messages on a junction tree.

Inwards, each clique multiplies its factors with the messages of its children and sends its
parent what is left when all but the separator is summed out. Outwards, a clique that has heard
from everybody holds its own marginal, and a child learns from its parent all that it has not
itself told:

.. math::
    b_C = \psi_C \, \mu_{P \to C} \prod_{K} \mu_{K \to C}, \qquad
    \mu_{P \to C} = \frac{\sum_{P \setminus S} b_P}{\mu_{C \to P}}, \quad 0/0 = 0.

Only the inward messages are kept; the products are made anew on the way out. That costs the
multiplications twice and saves the memory of all cliques. Messages and products are rescaled
before they underflow; the logarithms of the scales add up to the probability of the evidence.

The junction tree: which tables inference will make, and how large, before it makes any.

An elimination order gives a clique for each variable: itself and the neighbours it still has.
The largest of them, joined where they overlap, form a tree in which the cliques that hold any
one variable hang together (Lauritzen and Spiegelhalter, 1988). Whatever was connected in the
graph, every factor and every scope asked for, lies within one clique.

Variables are numbered in elimination order, and a set of them is an integer, a bit for each: the
lowest bit is the variable that goes first. So planning takes some machine words per clique.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np

from lacunet.inference.elimination.order import bits_of
from lacunet.model.dictionary import aligned
from lacunet.model.network import FloatArray

Numbers = tuple[int, ...]
ALL = -1  # as bits: every variable there may be

# Rescale what has a largest cell below this: one more factor scaled likewise cannot push it to
# zero.
SMALL = 1e-100
SMALLEST = 1e-290  # told by a message: dividing by it cannot overflow
FAR_BELOW_ONE = 1e-20  # the peak of a message that is scaled
FEW_CELLS = 2**10
MANY_CELLS = 2**15
SMALL_CLIQUE = 2**8  # cells: smaller ones are joined, as a call costs more than they do
FEW_FACTORS = 16


class TreeFactor(NamedTuple):
    """A table with one axis for each variable of its scope."""

    scope: Sequence[int]
    table: FloatArray


ONE = TreeFactor((), np.ones(()))


@dataclass(frozen=True)
class Calibration:
    """The logarithm of the sum of the product, and the marginals asked for.

    Where the product is zero everywhere there are no marginals.
    """

    log_total: float
    marginals: tuple[FloatArray, ...]


IMPOSSIBLE = Calibration(-math.inf, ())


def calibrate(
    tree: JunctionTree, factors: Iterable[TreeFactor], wanted: Sequence[Numbers]
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
    >>> coin = TreeFactor((0,), np.array([1.0, 3.0]))
    >>> calibrate(junction_tree([0b1], [2]), [coin], [(0,)]).marginals
    (array([0.25, 0.75]),)
    """
    held: list[list[TreeFactor]] = [[] for _ in tree.cliques]
    for factor in factors:
        held[tree.home(factor.scope)].append(factor)
    messages, log_total = _inward(tree, held)
    if log_total == -math.inf:
        return IMPOSSIBLE
    return _outward(tree, held, messages, log_total, wanted)


def _inward(
    tree: JunctionTree, held: list[list[TreeFactor]]
) -> tuple[dict[int, FloatArray], float]:
    """The message of each clique to its parent, which then holds it; the scales taken out."""
    messages: dict[int, FloatArray] = {}
    log_scale = 0.0
    for clique in range(len(tree.cliques) - 1, -1, -1):
        parent, separator = tree.parents[clique], tree.separators[clique]
        if parent < 0:
            continue
        message, peak, scale = _summed(tree, clique, held[clique], separator)
        if not peak:
            return messages, -math.inf
        if peak < FAR_BELOW_ONE:
            message /= peak
            scale += math.log(peak)
        messages[clique] = message
        log_scale += scale
        held[parent].append(TreeFactor(separator, message))
    return messages, log_scale


def _outward(
    tree: JunctionTree,
    held: list[list[TreeFactor]],
    messages: dict[int, FloatArray],
    log_total: float,
    wanted: Sequence[Numbers],
) -> Calibration:
    """The marginals wanted, from the roots as far as somebody waits for one."""
    readings, listeners = _asked(tree, wanted)
    marginals: dict[int, FloatArray] = {}
    for clique, whole in enumerate(tree.cliques):
        is_root = tree.parents[clique] < 0
        reads, hears = readings[clique], listeners[clique]
        if not (is_root or reads or hears):
            continue
        if is_root and len(reads) < 2 and not hears:  # nobody else wants the whole product
            scope = wanted[reads[0]] if reads else ()
            belief, _, scale = _summed(tree, clique, held[clique], scope)
        else:
            scope = whole
            belief, scale = _product(tree, clique, held[clique])
        held[clique].clear()
        if is_root:
            total = float(belief.sum())
            if not total:
                return IMPOSSIBLE
            log_total += scale + math.log(total)
        sources = [TreeFactor(scope, belief)]
        for child in hears:
            separator = tree.separators[child]
            marginal = _marginal(scope, belief, separator)
            sources.append(TreeFactor(separator, marginal))
            held[child].append(TreeFactor(separator, _without(marginal, messages.pop(child))))
        for at in reads:  # the smaller the table that it is read off, the better
            holds = [source for source in sources if set(wanted[at]) <= set(source.scope)]
            marginal = _marginal(*min(holds, key=_size), wanted[at])
            marginals[at] = np.asarray(marginal / marginal.sum())
    return Calibration(log_total, tuple([marginals[at] for at in range(len(wanted))]))


def _asked(
    tree: JunctionTree, wanted: Sequence[Numbers]
) -> tuple[list[list[int]], list[list[int]]]:
    """For each clique the marginals to read off, and the children that wait for its message."""
    readings: list[list[int]] = [[] for _ in tree.cliques]
    listeners: list[list[int]] = [[] for _ in tree.cliques]
    for at, scope in enumerate(wanted):
        readings[tree.home(scope)].append(at)
    for clique in range(len(tree.cliques) - 1, -1, -1):
        if tree.parents[clique] >= 0 and (readings[clique] or listeners[clique]):
            listeners[tree.parents[clique]].append(clique)
    return readings, listeners


def _without(marginal: FloatArray, message: FloatArray) -> FloatArray:
    """A marginal without the message that a child sent; zero where that was (nearly) zero."""
    news = np.zeros_like(marginal)
    np.divide(marginal, message, out=news, where=message >= SMALLEST)
    return news


def _summed(
    tree: JunctionTree, clique: int, factors: list[TreeFactor], kept: Numbers
) -> tuple[FloatArray, float, float]:
    """The product over a clique, all but the variables kept summed out; its peak, what it lacks.

    A small clique takes one call. In a large one, variables are summed out one after the other,
    each from the product of the tables that have it.
    """
    scope = tree.cliques[clique]
    axis_of = dict(zip(scope, range(len(scope)), strict=True))
    left = [axis_of[variable] for variable in kept]
    tables: list[tuple[Sequence[int], FloatArray]]
    tables = [([axis_of[v] for v in own], table) for own, table in factors]
    if absent := set(axis_of.values()).difference(*[axes for axes, _ in tables]):
        tables.append((list(absent), np.ones([tree.sizes[scope[axis]] for axis in absent])))
    if tree.cells[clique] > FEW_CELLS or len(tables) > FEW_FACTORS:
        tables = [_summed_in_turn(starmap(TreeFactor, tables), len(scope), left)]
    message = _einsum(tables or [ONE], left)
    peak = float(np.maximum.reduce(message, axis=None))
    if peak >= SMALL:
        return message, peak, 0.0
    belief, log_scale = _product(tree, clique, factors)
    message = _marginal(scope, belief, kept)
    return message, float(message.max()), log_scale


def _summed_in_turn(factors: Iterable[TreeFactor], axes: int, left: Sequence[int]) -> TreeFactor:
    """The product of some tables, all axes but those left summed out one after the other."""
    tables = list(factors)
    for axis in range(axes):
        if axis not in left:
            with_it = [table for table in tables if axis in table.scope]
            tables = [table for table in tables if axis not in table.scope]
            tables.append(_multiplied(with_it, axis))
    return _multiplied(tables)


def _einsum(tables: Iterable[tuple[Sequence[int], FloatArray]], left: Sequence[int]) -> FloatArray:
    """The product of some tables, all axes but those left summed out."""
    operands: list[Any] = []
    for axes, table in tables:
        operands += (table, axes)
    return np.asarray(np.einsum(*operands, left))


def _multiplied(tables: list[TreeFactor], out: int | None = None) -> TreeFactor:
    """The product of some tables, small ones first; one axis summed out with the last of them."""
    product, *rest = sorted(tables, key=_size)
    for table in rest[:-1]:
        product = _joined(product, table, None)
    return _joined(product, rest[-1] if rest else ONE, out)


def _joined(one: TreeFactor, two: TreeFactor, out: int | None) -> TreeFactor:
    """The product of two tables, an axis summed out; the axes are in any order.

    Many cells are multiplied at a fraction of the speed if there are ten axes of a few states
    each. So they are merged into those of both tables and those of either, the longest last.
    """
    size_of = dict(zip(one.scope, one.table.shape, strict=True))
    size_of.update(zip(two.scope, two.table.shape, strict=True))
    left = [axis for axis in size_of if axis != out]
    if math.prod(size_of.values()) <= MANY_CELLS:
        return TreeFactor(left, _einsum([one, two], left))
    mine, theirs = set(one.scope), set(two.scope)
    parts = (mine & theirs, mine - theirs, theirs - mine)
    blocks = [[axis for axis in left if axis in part] for part in parts]
    blocks.sort(key=lambda block: math.prod([size_of[axis] for axis in block]))
    blocks.append([] if out is None else [out])
    merged = []
    for scope, table in (one, two):
        held = [at for at, block in enumerate(blocks) if block and block[0] in scope]
        held = sorted(held, key=lambda at: (at < 3, at))  # what is summed out comes first
        places = [scope.index(axis) for at in held for axis in blocks[at]]
        lengths = [math.prod([size_of[axis] for axis in blocks[at]]) for at in held]
        merged.append(TreeFactor(held, table.transpose(places).reshape(lengths)))
    left = [axis for block in blocks[:3] for axis in block]
    product = _einsum(merged, [at for at in range(3) if blocks[at]])
    return TreeFactor(left, product.reshape([size_of[axis] for axis in left]))


def _product(
    tree: JunctionTree, clique: int, factors: list[TreeFactor]
) -> tuple[FloatArray, float]:
    """The product of factors over a clique, small ones first; the logarithm of what it lacks."""
    scope = tree.cliques[clique]
    tables = [aligned(own.table, own.scope, scope) for own in sorted(factors, key=_size)]
    product, log_scale = _in_turn(tables), 0.0
    if float(product.max()) < SMALL:
        product, log_scale = _in_turn_scaled(tables)
    shape = tuple([tree.sizes[variable] for variable in scope])
    return product if product.shape == shape else np.broadcast_to(product, shape), log_scale


def _in_turn(tables: Sequence[FloatArray]) -> FloatArray:
    product, is_ours = tables[0] if tables else np.ones(()), False
    for table in tables[1:]:
        if is_ours and all(map(_covers, product.shape, table.shape)):
            product *= table
        else:
            product, is_ours = np.asarray(product * table), True
    return product


def _in_turn_scaled(tables: Sequence[FloatArray]) -> tuple[FloatArray, float]:
    """The same, scaled whenever it becomes small; the logarithm of the scales."""
    product, log_scale = np.ones(()), 0.0
    for table in tables:
        product = product * table
        peak = float(product.max())
        if 0 < peak < SMALL:
            product /= peak
            log_scale += math.log(peak)
    return product, log_scale


def _size(factor: TreeFactor) -> int:
    return factor.table.size


def _covers(size: int, other: int) -> bool:
    return other in (1, size)


def _marginal(scope: Sequence[int], belief: FloatArray, kept: Numbers) -> FloatArray:
    """Sum out all but the variables kept, and put those in their order."""
    if scope == kept:
        return belief
    out = tuple([axis for axis, variable in enumerate(scope) if variable not in kept])
    summed: FloatArray = np.asarray(np.add.reduce(belief, axis=out))
    if len(kept) < 2:
        return summed
    left = [variable for variable in scope if variable in kept]
    return summed.transpose([left.index(variable) for variable in kept])


BYTES = 8  # of one cell
LIVE_CLIQUES = 3  # the product, the next product and a marginal of it


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, each parent before its children, with the separator towards the parent.

    Cliques and separators list their variables in elimination order; ``cells`` has the size of
    each clique, ``memory`` the bytes that inference takes at most: all messages, and the cliques
    alive at once. A root has no parent (-1) and an empty separator. ``clique_of[v]`` holds ``v``
    and all that comes after it in a scope.
    """

    sizes: Sequence[int]
    cliques: tuple[Numbers, ...]
    parents: Numbers
    separators: tuple[Numbers, ...]
    clique_of: dict[int, int]
    cells: Numbers
    memory: int

    def home(self, scope: Sequence[int]) -> int:
        """The clique that holds all of a scope; any root for the empty scope."""
        return self.clique_of[min(scope)] if scope else 0


def junction_tree(
    scopes: Iterable[int], sizes: Sequence[int], wanted: Sequence[int] = (), kept: int = ALL
) -> JunctionTree:
    """A junction tree in which every scope lies within one clique; a root holds the first wanted.

    Parameters
    ----------
    scopes
        Variables that must be together, as bits: those of each factor.
    sizes
        The number of states of every variable, in elimination order.
    wanted
        The scopes of the marginals asked for, as bits.
    kept
        Parts that hold none of these variables are left out.

    Examples
    --------
    >>> tree = junction_tree([0b011, 0b110], [20, 30, 20])
    >>> tree.cliques, tree.separators
    (((1, 2), (0, 1)), ((), (1,)))
    """
    cliques, separators, up, home = _large_cliques([*scopes, *wanted], sizes)
    if wanted and wanted[0]:
        _turned(up, separators, home[wanted[0] & -wanted[0]])
    order = _outwards(up, cliques, kept)
    number_of = {clique: at for at, clique in enumerate(order)}
    found = tuple([tuple(bits_of(cliques[clique])) for clique in order]) or ((),)
    beside = tuple([tuple(bits_of(separators[clique])) for clique in order]) or ((),)
    cells = tuple([math.prod([sizes[variable] for variable in clique]) for clique in found])
    sent = sum([math.prod([sizes[variable] for variable in scope]) for scope in beside])
    return JunctionTree(
        sizes,
        found,
        tuple([number_of.get(up[clique], -1) for clique in order]) or (-1,),
        beside,
        {bit.bit_length() - 1: number_of[own] for bit, own in home.items() if own in number_of},
        cells,
        BYTES * (sent + LIVE_CLIQUES * max(cells)),
    )


def _large_cliques(
    scopes: Sequence[int], sizes: Sequence[int]
) -> tuple[list[int], list[int], list[int], dict[int, int]]:
    """The cliques, the separator of each towards another one, that one, and variables' homes.

    A variable's clique is what its scopes and the cliques before leave to it. From the last
    variable to the first, it grows the clique of its neighbours if that lies within its own, or
    if both together are small; otherwise it has a new one.
    """
    joined: dict[int, int] = {}
    rest = 0
    for bits in scopes:
        low = bits & -bits
        joined[low] = joined.get(low, 0) | bits
        rest |= bits
    turns = []
    while rest:
        low = rest & -rest
        rest ^= low
        separator = joined.get(low, low) & ~low
        turns.append((low, separator))
        if separator:
            after = separator & -separator
            joined[after] = joined.get(after, 0) | separator
    cliques: list[int] = []
    separators: list[int] = []
    up: list[int] = []
    cells: list[int] = []
    home: dict[int, int] = {}
    for low, separator in reversed(turns):
        size = sizes[low.bit_length() - 1]
        parent = home[separator & -separator] if separator else -1
        if separator and (cliques[parent] == separator or cells[parent] * size <= SMALL_CLIQUE):
            cliques[parent] |= low
            cells[parent] *= size
            home[low] = parent
            continue
        home[low] = len(cliques)
        cells.append(size * math.prod([sizes[v] for v in bits_of(separator)]))
        cliques.append(low | separator)
        separators.append(separator)
        up.append(parent)
    return cliques, separators, up, home


def _turned(up: list[int], separators: list[int], root: int) -> None:
    """Turn the edges on the way from a clique to its root, so that it becomes the root."""
    parent, separator = -1, 0
    clique = root
    while clique >= 0:
        up[clique], parent, clique = parent, clique, up[clique]
        separators[parent], separator = separator, separators[parent]


def _outwards(up: Sequence[int], cliques: Sequence[int], kept: int) -> list[int]:
    """The cliques of the parts that hold something to keep, parents before children."""
    children: list[list[int]] = [[] for _ in cliques]
    roots: list[int] = []
    for clique, parent in enumerate(up):
        (children[parent] if parent >= 0 else roots).append(clique)
    found: list[int] = []
    for root in roots:
        part = [root]
        for clique in part:
            part += children[clique]
        if any(cliques[clique] & kept for clique in part):
            found += part
    return found
