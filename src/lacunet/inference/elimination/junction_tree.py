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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from lacunet.inference.elimination.order import bits_of
from lacunet.model.dictionary import aligned
from lacunet.model.network import FloatArray

Numbers = tuple[int, ...]

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

    scope: Numbers
    table: FloatArray


class LetteredTable(NamedTuple):
    """A table with a letter for each axis."""

    letters: str
    table: FloatArray


ONE = LetteredTable("", np.ones(()))


class Message(NamedTuple):
    """What a clique tells its parent, and the logarithm of the scale that was taken out."""

    table: FloatArray
    log_scale: float


NO_MESSAGES: Mapping[int, Message] = MappingProxyType({})


@dataclass(frozen=True)
class Calibration:
    """The logarithm of the sum of the product, and the marginals asked for.

    Where the product is zero everywhere there are no marginals. ``messages`` are those of cliques
    that were told nothing in return: another calibration may begin with them.
    """

    log_total: float
    marginals: tuple[FloatArray, ...]
    messages: Mapping[int, Message]


IMPOSSIBLE = Calibration(-math.inf, (), NO_MESSAGES)


def calibrate(
    plan: CalibrationPlan,
    tables: Sequence[FloatArray],
    *,
    marginals: bool = True,
    known: Mapping[int, Message] = NO_MESSAGES,
) -> Calibration:
    """The sum of a product of factors, and its marginals over the scopes wanted.

    Parameters
    ----------
    plan
        The scopes of the factors and of the marginals, laid out on a junction tree.
    tables
        The factors, non-negative.
    marginals
        Whether the marginals are wanted too; each keeps its order of axes and sums to one.
    known
        The messages of some cliques, from a calibration with the same tables below them.

    Examples
    --------
    >>> plan = calibration_plan(junction_tree([0b1], [2]), [(0,)], [(0,)])
    >>> calibrate(plan, [np.array([1.0, 3.0])]).marginals
    (array([0.25, 0.75]),)
    """
    held = [[tables[factor] for factor in factors] for factors in plan.factors]
    messages = dict(known)
    log_total = _inward(plan, held, messages)
    if log_total == -math.inf:
        return IMPOSSIBLE
    return _outward(plan, held, messages, log_total, marginals=marginals)


def _inward(
    plan: CalibrationPlan, held: list[list[FloatArray]], messages: dict[int, Message]
) -> float:
    """Add the message of each clique to its parent, which then holds it; the scales taken out."""
    parents = plan.tree.parents
    log_scale = 0.0
    for clique in range(len(parents) - 1, -1, -1):
        if parents[clique] < 0:
            continue
        if clique not in messages:
            table, peak, scale = _summed(plan, clique, held[clique])
            if not peak:
                return -math.inf
            if peak < FAR_BELOW_ONE:
                table /= peak
                scale += math.log(peak)
            messages[clique] = Message(table, scale)
        message = messages[clique]
        log_scale += message.log_scale
        held[parents[clique]].append(message.table)
    return log_scale


def _outward(
    plan: CalibrationPlan,
    held: list[list[FloatArray]],
    messages: dict[int, Message],
    log_total: float,
    *,
    marginals: bool,
) -> Calibration:
    """The marginals wanted, from the roots as far as somebody waits for one."""
    tree, wanted = plan.tree, plan.wanted
    answers: dict[int, FloatArray] = {}
    for clique, whole in enumerate(tree.cliques):
        is_root = tree.parents[clique] < 0
        reads, hears = (plan.readings[clique], plan.listeners[clique]) if marginals else ((), ())
        if not (is_root or reads or hears):
            continue
        if is_root and len(reads) < 2 and not hears:  # nobody else wants the whole product
            scope = plan.kept[clique]
            belief, _, scale = _summed(plan, clique, held[clique])
        else:
            scope = whole
            belief, scale = _product(plan, clique, held[clique])
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
            held[child].append(_without(marginal, messages.pop(child).table))
        for index in reads:  # the smaller the table that it is read off, the better
            holds = [source for source in sources if set(wanted[index]) <= set(source.scope)]
            marginal = _marginal(*min(holds, key=_size), wanted[index])
            answers[index] = np.asarray(marginal / marginal.sum())
    return Calibration(
        log_total, tuple([answers[index] for index in range(len(answers))]), messages
    )


def _without(marginal: FloatArray, message: FloatArray) -> FloatArray:
    """A marginal without the message that a child sent; zero where that was (nearly) zero."""
    news = np.zeros_like(marginal)
    np.divide(marginal, message, out=news, where=message >= SMALLEST)
    return news


def _summed(
    plan: CalibrationPlan, clique: int, tables: list[FloatArray]
) -> tuple[FloatArray, float, float]:
    """The product over a clique, all but the variables kept summed out; its peak, what it lacks.

    A small clique takes one call. In a large one, variables are summed out one after the other,
    each from the product of the tables that have it.
    """
    if formula := plan.formulas[clique]:
        message = np.asarray(np.einsum(formula, *tables, *plan.ones[clique]))
    else:
        message = _summed_in_turn(plan, clique, tables)
    peak = float(np.maximum.reduce(message, axis=None))
    if peak >= SMALL:
        return message, peak, 0.0
    belief, log_scale = _product(plan, clique, tables)
    message = _marginal(plan.tree.cliques[clique], belief, plan.kept[clique])
    return message, float(message.max()), log_scale


def _summed_in_turn(plan: CalibrationPlan, clique: int, tables: list[FloatArray]) -> FloatArray:
    """The product over a clique, all but the variables kept summed out one after the other."""
    formula, ones = _formula(plan.tree, clique, plan.scopes[clique], plan.kept[clique])
    inputs, left = formula.split("->")
    letters = inputs.split(",")
    factors = list(map(LetteredTable, letters, (*tables, *ones)))
    for letter in sorted(set("".join(letters)) - set(left), key=ascii_letters.index):
        with_it = [factor for factor in factors if letter in factor.letters]
        factors = [factor for factor in factors if letter not in factor.letters]
        factors.append(_multiplied(with_it, letter))
    return _einsum([_multiplied(factors)], left)


def _einsum(factors: Sequence[LetteredTable], left: str) -> FloatArray:
    """The product of some tables, all axes but those left summed out."""
    formula = ",".join([factor.letters for factor in factors]) + "->" + left
    return np.asarray(np.einsum(formula, *[factor.table for factor in factors]))


def _multiplied(factors: list[LetteredTable], out: str = "") -> LetteredTable:
    """The product of some tables, small ones first; one axis summed out with the last of them."""
    product, *rest = sorted(factors, key=_size)
    for factor in rest[:-1]:
        product = _joined(product, factor, "")
    return _joined(product, rest[-1] if rest else ONE, out)


def _joined(first: LetteredTable, second: LetteredTable, out: str) -> LetteredTable:
    """The product of two tables, an axis summed out; the axes are in any order.

    Many cells are multiplied at a fraction of the speed if there are ten axes of a few states
    each. So they are merged into those of both tables and those of either, the longest last.
    """
    size_of = dict(zip(first.letters, first.table.shape, strict=True))
    size_of.update(zip(second.letters, second.table.shape, strict=True))
    left = "".join([axis for axis in size_of if axis != out])
    if math.prod(size_of.values()) <= MANY_CELLS:
        return LetteredTable(left, _einsum([first, second], left))
    mine, theirs = set(first.letters), set(second.letters)
    parts = (mine & theirs, mine - theirs, theirs - mine)
    blocks = ["".join([axis for axis in left if axis in part]) for part in parts]
    blocks.sort(key=lambda block: math.prod([size_of[axis] for axis in block]))
    blocks.append(out)
    merged = []
    for letters, table in (first, second):
        held = [slot for slot, block in enumerate(blocks) if block and block[0] in letters]
        held = sorted(held, key=lambda slot: (slot < 3, slot))  # what is summed out comes first
        places = [letters.index(axis) for slot in held for axis in blocks[slot]]
        lengths = [math.prod([size_of[axis] for axis in blocks[slot]]) for slot in held]
        names = "".join([ascii_letters[slot] for slot in held])
        merged.append(LetteredTable(names, table.transpose(places).reshape(lengths)))
    left = "".join(blocks[:3])
    product = _einsum(merged, "".join([ascii_letters[slot] for slot in range(3) if blocks[slot]]))
    return LetteredTable(left, product.reshape([size_of[axis] for axis in left]))


def _product(
    plan: CalibrationPlan, clique: int, tables: list[FloatArray]
) -> tuple[FloatArray, float]:
    """The product of tables over a clique, small ones first; the logarithm of what it lacks."""
    tree = plan.tree
    scope = tree.cliques[clique]
    scopes = (*plan.scopes[clique], tree.separators[clique])  # the parent's message is last
    factors = sorted(map(TreeFactor, scopes, tables), key=_size)
    in_order = [aligned(factor.table, factor.scope, scope) for factor in factors]
    product, log_scale = _in_turn(in_order), 0.0
    if float(product.max()) < SMALL:
        product, log_scale = _in_turn_scaled(in_order)
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


def _size(factor: TreeFactor | LetteredTable) -> int:
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


@dataclass(frozen=True)
class CalibrationPlan:
    """A junction tree, laid out for factors of some scopes and the marginals over others.

    Each clique multiplies its ``factors``, then the messages of its children, the last first;
    ``scopes`` are theirs. ``kept`` is what the rest is summed out of: the separator, in a root the
    first marginal that is read off there. For a small clique the formula says so with a letter for
    each variable; ``ones`` stands for variables that no table has. ``readings`` are the marginals
    to read off, ``listeners`` the children that wait for a message then.
    """

    tree: JunctionTree
    wanted: Sequence[Numbers]
    factors: Sequence[Sequence[int]]
    scopes: Sequence[Sequence[Numbers]]
    kept: Sequence[Numbers]
    formulas: Sequence[str]
    ones: Sequence[Sequence[FloatArray]]
    readings: Sequence[Sequence[int]]
    listeners: Sequence[Sequence[int]]


def calibration_plan(
    tree: JunctionTree, scopes: Sequence[Numbers], wanted: Sequence[Numbers]
) -> CalibrationPlan:
    """Lay out a junction tree that has a clique for every factor's scope and every marginal's.

    Examples
    --------
    >>> tree = junction_tree([0b011, 0b110], [20, 30, 20])
    >>> calibration_plan(tree, [(0, 1), (2, 1)], [(2,)]).formulas
    ['ba,a->b', 'ab->b']
    """
    parents, kept = tree.parents, list(tree.separators)
    factors: list[list[int]] = [[] for _ in parents]
    readings: list[list[int]] = [[] for _ in parents]
    listeners: list[list[int]] = [[] for _ in parents]
    for factor, scope in enumerate(scopes):
        factors[tree.home(scope)].append(factor)
    for index, scope in enumerate(wanted):
        readings[tree.home(scope)].append(index)
    inputs = [[scopes[factor] for factor in held] for held in factors]
    for clique in range(len(parents) - 1, -1, -1):
        if (parent := parents[clique]) >= 0:
            inputs[parent].append(tree.separators[clique])
            if readings[clique] or listeners[clique]:
                listeners[parent].append(clique)
        elif readings[clique]:
            kept[clique] = wanted[readings[clique][0]]
    formulas: list[str] = []
    ones: list[Sequence[FloatArray]] = []
    for clique, held in enumerate(inputs):
        is_small = tree.cells[clique] <= FEW_CELLS and len(held) < FEW_FACTORS
        formula, absent = _formula(tree, clique, held, kept[clique]) if is_small else ("", ())
        formulas.append(formula)
        ones.append(absent)
    return CalibrationPlan(
        tree,
        wanted,
        factors=factors,
        scopes=inputs,
        kept=kept,
        formulas=formulas,
        ones=ones,
        readings=readings,
        listeners=listeners,
    )


def _formula(
    tree: JunctionTree, clique: int, inputs: Sequence[Numbers], kept: Numbers
) -> tuple[str, tuple[FloatArray, ...]]:
    """The product of some tables over a clique in letters, and ones for variables none has."""
    scope = tree.cliques[clique]
    letter_of = dict(zip(scope, ascii_letters, strict=False)).__getitem__
    letters = ["".join(map(letter_of, axes)) for axes in inputs]
    absent = set(scope).difference(*inputs)
    ones: tuple[FloatArray, ...] = ()
    if absent or not inputs:
        letters.append("".join(map(letter_of, absent)))
        ones = (np.ones([tree.sizes[variable] for variable in absent]),)
    return f"{','.join(letters)}->{''.join(map(letter_of, kept))}", ones


def junction_tree(
    scopes: Iterable[int], sizes: Sequence[int], wanted: Sequence[int] = ()
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

    Examples
    --------
    >>> tree = junction_tree([0b011, 0b110], [20, 30, 20])
    >>> tree.cliques, tree.separators
    (((1, 2), (0, 1)), ((), (1,)))
    """
    cliques, separators, up, home = _large_cliques([*scopes, *wanted], sizes)
    if wanted and wanted[0]:
        _turned(up, separators, home[wanted[0] & -wanted[0]])
    order = _outwards(up)
    number_of = {clique: number for number, clique in enumerate(order)}
    members = tuple([tuple(bits_of(cliques[clique])) for clique in order]) or ((),)
    beside = tuple([tuple(bits_of(separators[clique])) for clique in order]) or ((),)
    cells = tuple([math.prod([sizes[variable] for variable in clique]) for clique in members])
    sent = sum([math.prod([sizes[variable] for variable in scope]) for scope in beside])
    return JunctionTree(
        sizes,
        members,
        tuple([number_of.get(up[clique], -1) for clique in order]) or (-1,),
        beside,
        {bit.bit_length() - 1: number_of[clique] for bit, clique in home.items()},
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


def _outwards(up: Sequence[int]) -> list[int]:
    """The cliques, parents before children."""
    children: list[list[int]] = [[] for _ in up]
    order: list[int] = []
    for clique, parent in enumerate(up):
        (children[parent] if parent >= 0 else order).append(clique)
    for clique in order:
        order += children[clique]
    return order
