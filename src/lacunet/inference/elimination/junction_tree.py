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

A *variant* of the product has other tables in place of some factors, nowhere larger ones. Only its
total is wanted. Variants differ below a clique in some *versions*, each of which has messages of
its own, on the last axis of one array; all go inwards together, and the scale of the product
itself is right for all of them.

*The tree* says which tables inference will make, and how large, before it makes any. An elimination
order gives a clique for each variable: itself and the neighbours it still has.
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
from functools import cached_property, lru_cache
from itertools import repeat, zip_longest
from string import ascii_letters
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.elimination.elimination_order import bits_of
from lacunet.network.dictionary import align_axes
from lacunet.network.network import FloatArray

Places = tuple[int, ...]
Integers = NDArray[np.int64]
VERSION_AXIS = -1  # the axis of versions, among variables

# Products are rescaled before they underflow.
SMALL_PEAK = 1e-100  # of a product: one more factor scaled likewise cannot push it to zero
SMALL_MESSAGE_PEAK = 1e-20  # a parent multiplies many messages
SMALLEST_DIVISOR = 1e-290  # told by a message: dividing by it cannot overflow

# How a clique is multiplied.
MAX_CELLS_OF_ONE_CALL = 2**16  # in all tables of a clique: one call does it
MAX_FACTORS_OF_ONE_CALL = 60  # it can multiply 63
MAX_FACTORS_ORDERED = 16  # the search for an order of more takes longer than what it saves
MAX_CELLS_JOINED = 2**7  # smaller cliques are joined, as a call costs more than they do

# Memory.
BYTES_OF_CELL = 8
LIVE_CLIQUES = 3  # the product, the next product and a marginal of it


class Message(NamedTuple):
    """What a clique tells its parent."""

    table: FloatArray
    log_scale: float  # the logarithm of what the table was divided by


NO_MESSAGES: Mapping[int, Message] = MappingProxyType({})


@dataclass(frozen=True)
class Calibration:
    """The sum of the product, and the marginals asked for."""

    log_total: float  # the logarithm of the sum
    marginals: tuple[FloatArray, ...]  # none where the product is zero everywhere
    # Those of cliques that were told nothing in return: another calibration may begin with them.
    messages: Mapping[int, Message]
    ratios: Sequence[float]  # the totals of the variants, relative to that of the product itself


IMPOSSIBLE_EVIDENCE = Calibration(-math.inf, (), NO_MESSAGES, ())


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
        The factors, non-negative; of those that variants replace both tables, on a last axis.
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
    # The tables that each clique multiplies: its factors, and the messages it has received so far.
    held = [[tables[factor] for factor in clique.factors] for clique in plan.cliques]
    messages = dict(known)
    log_total = _inward(plan, held, messages)
    if log_total == -math.inf:
        return IMPOSSIBLE_EVIDENCE

    # Roots have heard from everybody. Trees that do not hang together multiply.
    ratios = [1.0] * plan.variants
    beliefs: dict[int, FloatArray] = {}
    for root, version_of in plan.roots.items():
        work = plan.cliques[root]
        belief, _, log_scale = _summed(plan, root, held[root])
        totals = belief.reshape(-1, work.versions).sum(axis=0).tolist()
        total = totals[0]
        if not total:
            return IMPOSSIBLE_EVIDENCE
        for variant, version in enumerate(version_of):
            ratios[variant] = ratios[variant] * totals[version] / total
        log_total += log_scale + math.log(total)
        if marginals and work.is_whole:
            belief, _ = _product(plan, root, held[root])
        elif work.picks:
            belief = belief[..., 0]  # the product itself
        beliefs[root] = belief

    answers: tuple[FloatArray, ...] = ()
    if marginals:
        answers = _outward(plan, held, messages, beliefs)
    return Calibration(log_total, answers, messages, ratios)


def _inward(
    plan: CalibrationPlan, held: list[list[FloatArray]], messages: dict[int, Message]
) -> float:
    """Add the message of each clique to its parent, which then holds it; the scales taken out."""
    parents = plan.tree.parents
    log_scale = 0.0
    for clique in range(len(parents) - 1, -1, -1):  # children before parents
        if parents[clique] < 0:
            continue
        if clique not in messages:
            table, peak, scale = _summed(plan, clique, held[clique])
            if not peak:
                return -math.inf
            if peak < SMALL_MESSAGE_PEAK:
                table = table / peak
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
    beliefs: dict[int, FloatArray],
) -> tuple[FloatArray, ...]:
    """The marginals wanted, from the roots as far as somebody waits for one."""
    answers: dict[int, FloatArray] = {}
    for number, clique in enumerate(plan.cliques):  # parents before children
        if not (clique.readings or clique.listeners):
            continue
        if number not in beliefs:
            beliefs[number], _ = _product(plan, number, held[number])
        held[number].clear()  # the memory of a clique is free as soon as its belief is read off
        sources = [beliefs.pop(number)]
        for child, read in clique.listeners:
            separator = np.asarray(np.einsum(read, sources[0]))
            sources.append(separator)
            message = messages.pop(child).table
            if plan.cliques[child].picks:
                message = message[..., 0]
            held[child].append(_without(separator, message))
        total = sources[0].sum() if clique.readings else 1.0
        for index, source, read in clique.readings:
            answers[index] = np.asarray(np.einsum(read, sources[source]) / total)
    return tuple([answers[index] for index in range(len(answers))])


def _without(marginal: FloatArray, message: FloatArray) -> FloatArray:
    """A marginal without the message that a child sent; zero where that was (nearly) zero."""
    news = np.zeros_like(marginal)
    np.divide(marginal, message, out=news, where=message >= SMALLEST_DIVISOR)
    return news


def _summed(
    plan: CalibrationPlan, clique: int, tables: list[FloatArray]
) -> tuple[FloatArray, float, float]:
    """The product over a clique, all but the variables kept summed out; its peak, what it lacks.

    A small clique takes one call. In a large one, a few tables at a time are multiplied, and what
    no other has is summed out. Many tables, and those that underflow, are multiplied in turn.
    """
    work = plan.cliques[clique]
    members = plan.tree.cliques[clique]
    picks = work.picks
    if picks:
        tables = _in_versions(tables, picks)

    message = np.zeros(())
    if work.is_small:
        message = np.asarray(np.einsum(work.formula, *tables, *work.ones))
    elif len(tables) <= MAX_FACTORS_ORDERED:
        each = []
        for number in range(work.versions):
            factors = [*_version(tables, picks, number), *work.ones]
            path = _path(work.formula, tuple([factor.shape for factor in factors]))
            each.append(np.asarray(np.einsum(work.formula, *factors, optimize=path)))
        message = np.stack(each, axis=-1) if picks else each[0]
    peak = float(np.maximum.reduce(message, axis=None))
    if peak >= SMALL_PEAK:
        return message, peak, 0.0

    # Not multiplied yet, or on the way to underflow: in turn, scaled whenever it is small.
    version_axis = (VERSION_AXIS,) if picks else ()
    scopes = _versioned(work.scopes, picks)
    whole = (*members, *version_axis)
    product, log_scale = _in_turn_scaled(list(map(align_axes, tables, scopes, repeat(whole))))
    shape = [plan.tree.sizes[variable] for variable in members]
    product = np.broadcast_to(product, (*shape, *product.shape[len(members) :]))
    formula = _formula(members, [whole], (*work.kept, *version_axis))
    message = np.asarray(np.einsum(formula, product))
    return message, float(message.max()), log_scale


def _in_versions(
    tables: Sequence[FloatArray], picks: Sequence[Integers | None]
) -> list[FloatArray]:
    """The tables of a clique, each with the row of its last axis that goes with each version."""
    taken = []
    for table, pick in zip(tables, picks, strict=True):
        if pick is None or len(pick) == table.shape[-1]:  # shared by all, or one for each in order
            taken.append(table)
        else:
            taken.append(table.take(pick, axis=-1))
    return taken


@lru_cache(maxsize=256)
def _path(formula: str, shapes: tuple[Places, ...]) -> list[Any]:
    """In which order to multiply tables of some shapes."""
    tables = [np.broadcast_to(0.0, shape) for shape in shapes]
    path: list[Any] = np.einsum_path(formula, *tables, optimize="greedy")[0]
    return path


def _version(
    tables: Sequence[FloatArray], picks: Sequence[Integers | None], number: int
) -> list[FloatArray]:
    """The tables of a clique in one of its versions; of a parent's message there is only one."""
    return [
        table if pick is None else table[..., number] for table, pick in zip_longest(tables, picks)
    ]


def _product(
    plan: CalibrationPlan, clique: int, tables: list[FloatArray]
) -> tuple[FloatArray, float]:
    """The product of tables over a clique, without variants; the logarithm of what it lacks."""
    tree = plan.tree
    scope = tree.cliques[clique]
    work = plan.cliques[clique]
    if work.picks:
        tables = _version(tables, work.picks, 0)
    if work.is_small:
        product = np.asarray(np.einsum(work.product, *tables, *work.ones))
        if float(np.maximum.reduce(product, axis=None)) >= SMALL_PEAK:
            return product, 0.0

    # The smallest first: products stay small as long as they can.
    scopes = (*work.scopes, tree.separators[clique])  # the parent's message is last
    in_order = sorted(map(align_axes, tables, scopes, repeat(scope)), key=np.size)
    shape = tuple([tree.sizes[variable] for variable in scope])
    product = np.ones(())
    log_scale = 0.0
    for table in in_order:
        has_all = product.shape == shape  # then it is its own room for what follows
        product = np.multiply(product, table, out=product if has_all else None)
    if float(product.max()) < SMALL_PEAK:
        product, log_scale = _in_turn_scaled(in_order)
    return np.broadcast_to(product, shape), log_scale


def _in_turn_scaled(tables: Sequence[FloatArray]) -> tuple[FloatArray, float]:
    """The product of tables, scaled whenever it becomes small; the logarithm of the scales."""
    product = np.ones(())
    log_scale = 0.0
    for table in sorted(tables, key=np.size):
        product = product * table
        peak = float(product.max())
        if 0 < peak < SMALL_PEAK:
            product /= peak
            log_scale += math.log(peak)
    return product, log_scale


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, each parent before its children, with the separator towards the parent.

    Cliques and separators list their variables in elimination order.
    """

    sizes: Sequence[int]  # the states of each variable
    cliques: tuple[Places, ...]
    parents: Places  # of each clique; -1 for a root
    separators: tuple[Places, ...]  # towards the parent; empty for a root
    clique_of: dict[int, int]  # that of `v` holds `v` and all that comes after it in a scope
    cells: Places  # the size of each clique
    memory: int  # bytes that inference takes at most: all messages, and the cliques alive at once

    def home(self, scope: Sequence[int]) -> int:
        """The clique that holds all of a scope; any root for the empty scope."""
        return self.clique_of[min(scope)] if scope else 0


class CliquePlan(NamedTuple):
    """What a clique multiplies, sums out and tells."""

    factors: Sequence[int]  # that it multiplies, and then the messages of its children
    scopes: Sequence[Places]  # of its factors and of these messages
    # What the rest is summed out of: the separator, in a root the first marginal read off there.
    kept: Places
    is_small: bool  # whether one call multiplies all tables, for all versions together
    formula: str  # says so with a letter for each variable
    product: str  # the same with nothing summed out
    absent: Sequence[Places]  # variables that no table has ...
    ones: Sequence[FloatArray]  # ... and a table for them
    listeners: Sequence[tuple[int, str]]  # children that wait for a message on the way out
    # The marginals to read off: the number of each, and the table that has it, which is the belief
    # (0) or what a listener is told (1, 2, ...).
    readings: Sequence[tuple[int, int, str]]
    is_whole: bool  # whether the belief has all variables then, and not those kept alone
    versions: int  # in which the variants differ below the clique
    # The row of each table that goes with each version, None for a table that all share; empty
    # where there is but one version.
    picks: Sequence[Integers | None]


@dataclass(frozen=True)
class CalibrationPlan:
    """A junction tree, laid out for factors of some scopes and the marginals over others."""

    tree: JunctionTree
    cliques: Sequence[CliquePlan]
    variants: int  # how many there are
    roots: Mapping[int, list[int]]  # of each root, the version below it that each variant has

    @cached_property
    def memory(self) -> int:
        """The bytes that a calibration takes at most, with all versions of its messages."""
        tree = self.tree
        more = 0
        for clique, separator in zip(self.cliques, tree.separators, strict=True):
            more += (clique.versions - 1) * math.prod([tree.sizes[v] for v in separator])
        return tree.memory + BYTES_OF_CELL * more


def calibration_plan(
    tree: JunctionTree,
    scopes: Sequence[Places],
    wanted: Sequence[Places],
    variants: Sequence[int] = (),
) -> CalibrationPlan:
    """Lay out a junction tree that has a clique for every factor's scope and every marginal's.

    Parameters
    ----------
    variants
        For each further product whose total is wanted, the factors that it replaces, as bits.

    Examples
    --------
    >>> tree = junction_tree([0b011, 0b110], [20, 30, 20])
    >>> [clique.formula for clique in calibration_plan(tree, [(0, 1), (2, 1)], [(2,)]).cliques]
    ['ba,a->b', 'ab->b']
    >>> plan = calibration_plan(tree, [(0, 1), (2, 1)], [(2,)], variants=[0b01])
    >>> [clique.formula for clique in plan.cliques]
    ['ba,aZ->bZ', 'abZ->bZ']
    """
    numbers = range(len(tree.parents))
    placed = _placed(tree, scopes, wanted)

    # Variants that replace the same factors below a clique have one version of its message.
    versions = []
    for below in placed.below:
        versions.append([*dict.fromkeys([0, *(variant & below for variant in variants)])])

    plans = [_clique_plan(tree, clique, scopes, wanted, placed, versions) for clique in numbers]
    roots = {}
    for root in numbers:
        if tree.parents[root] < 0:
            below = placed.below[root]
            roots[root] = [versions[root].index(variant & below) for variant in variants]
    return CalibrationPlan(tree, plans, len(variants), roots)


def _clique_plan(
    tree: JunctionTree,
    clique: int,
    scopes: Sequence[Places],
    wanted: Sequence[Places],
    placed: _Placed,
    versions: Sequence[Sequence[int]],
) -> CliquePlan:
    """What one clique multiplies, sums out and tells.

    Parameters
    ----------
    versions
        Of each clique: the factors below it that are replaced, as bits, in each version.
    """
    members = tree.cliques[clique]
    separator = tree.separators[clique]
    factors = placed.factors[clique]
    read = placed.read[clique]
    children = placed.children[clique]
    listeners = [child for child in children if placed.waits[child]]
    is_root = tree.parents[clique] < 0
    is_whole = not is_root or len(read) > 1 or bool(listeners)
    kept = wanted[read[0]] if is_root and read else separator

    # The formulas. A product without any table still needs one.
    inputs = [scopes[factor] for factor in factors]
    inputs += [tree.separators[child] for child in children]
    picks = _picks(clique, placed, versions)
    rest = tuple(set(members).difference(*inputs))
    absent = [rest] if rest or not inputs else []
    cells = tree.cells[clique] * len(versions[clique]) * len(inputs)
    is_small = cells <= MAX_CELLS_OF_ONE_CALL and len(inputs) < MAX_FACTORS_OF_ONE_CALL
    together = picks if is_small else ()  # a large clique takes one version after the other
    last = (VERSION_AXIS,) if together else ()
    formula = _formula(members, [*_versioned(inputs, together), *absent], (*kept, *last))
    product = ""
    if is_whole and placed.waits[clique]:
        from_parent = [] if is_root else [separator]
        product = _formula(members, [*inputs, *from_parent, *absent], members)

    # What is read off on the way out: of the belief, and of what listeners are told.
    belief = members if is_whole else kept
    tables = [belief, *(tree.separators[child] for child in listeners)]
    return CliquePlan(
        factors=factors,
        scopes=inputs,
        kept=kept,
        is_small=is_small,
        formula=formula,
        product=product,
        absent=absent,
        ones=[np.ones([tree.sizes[variable] for variable in scope]) for scope in absent],
        listeners=[(child, _read_off([belief], tree.separators[child])[1]) for child in listeners],
        readings=[(index, *_read_off(tables, wanted[index])) for index in read],
        is_whole=is_whole,
        versions=len(versions[clique]),
        picks=picks,
    )


def _picks(
    clique: int, placed: _Placed, versions: Sequence[Sequence[int]]
) -> list[Integers | None]:
    """The row of each table of a clique in each of its versions; empty where there is only one."""
    if len(versions[clique]) == 1:
        return []
    picks = []
    for factor in placed.factors[clique]:
        picks.append(_pick([replaced >> factor & 1 for replaced in versions[clique]]))
    for child in placed.children[clique]:
        below = placed.below[child]
        of_child = [versions[child].index(replaced & below) for replaced in versions[clique]]
        picks.append(_pick(of_child))
    return picks


class _Placed(NamedTuple):
    """What belongs to each clique of a tree."""

    factors: list[list[int]]  # that it multiplies
    read: list[list[int]]  # the marginals that are read off there
    children: list[list[int]]  # the last first
    below: list[int]  # its factors and those of all that hangs on it, as bits
    waits: list[bool]  # whether a marginal is read there, or below


def _placed(tree: JunctionTree, scopes: Sequence[Places], wanted: Sequence[Places]) -> _Placed:
    """Each factor and each marginal in a clique that holds it."""
    numbers = range(len(tree.parents))
    factors: list[list[int]] = [[] for _ in numbers]
    read: list[list[int]] = [[] for _ in numbers]
    children: list[list[int]] = [[] for _ in numbers]
    below = [0] * len(numbers)
    for factor, scope in enumerate(scopes):
        home = tree.home(scope)
        factors[home].append(factor)
        below[home] |= 1 << factor
    for index, scope in enumerate(wanted):
        read[tree.home(scope)].append(index)
    waits = [bool(indices) for indices in read]
    for clique in reversed(numbers):
        parent = tree.parents[clique]
        if parent >= 0:
            children[parent].append(clique)
            below[parent] |= below[clique]
            waits[parent] |= waits[clique]
    return _Placed(factors=factors, read=read, children=children, below=below, waits=waits)


def _pick(rows: list[int]) -> Integers | None:
    """The row of a table in each version; None for a table that all versions share."""
    return np.array(rows) if any(rows) else None


def _read_off(scopes: Sequence[Places], kept: Places) -> tuple[int, str]:
    """The table with the fewest axes that has all variables kept, and how they are read off it."""
    has_all = [number for number, scope in enumerate(scopes) if set(kept) <= set(scope)]
    number = min(has_all, key=lambda number: len(scopes[number]))
    return number, _formula(scopes[number], [scopes[number]], kept)


def _versioned(scopes: Sequence[Places], picks: Sequence[Integers | None]) -> list[Places]:
    """The scopes of tables, with an axis for the version behind those that have several."""
    return [
        scope if pick is None else (*scope, VERSION_AXIS)
        for scope, pick in zip_longest(scopes, picks)
    ]


def _formula(members: Places, inputs: Sequence[Places], kept: Places) -> str:
    """The product of some tables over a clique in letters, all but the variables kept summed out.

    >>> _formula((3, 7), [(7, 3), (7,)], (3,))
    'ba,b->a'
    """
    letter_of = {VERSION_AXIS: "Z", **dict(zip(members, ascii_letters, strict=False))}
    letters = ["".join([letter_of[axis] for axis in axes]) for axes in (*inputs, kept)]
    return f"{','.join(letters[:-1])}->{letters[-1]}"


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
        lowest = wanted[0] & -wanted[0]  # its home holds all that comes after it
        _turn(up, separators, home[lowest])
    order = _outwards(up)
    number_of = {clique: number for number, clique in enumerate(order)}
    members = tuple([tuple(bits_of(cliques[clique])) for clique in order]) or ((),)
    beside = tuple([tuple(bits_of(separators[clique])) for clique in order]) or ((),)
    cells = tuple([math.prod([sizes[variable] for variable in clique]) for clique in members])
    sent = sum([math.prod([sizes[variable] for variable in scope]) for scope in beside])
    return JunctionTree(
        sizes=sizes,
        cliques=members,
        parents=tuple([number_of.get(up[clique], -1) for clique in order]) or (-1,),
        separators=beside,
        clique_of={bit.bit_length() - 1: number_of[clique] for bit, clique in home.items()},
        cells=cells,
        memory=BYTES_OF_CELL * (sent + LIVE_CLIQUES * max(cells)),
    )


def _large_cliques(
    scopes: Sequence[int], sizes: Sequence[int]
) -> tuple[list[int], list[int], list[int], dict[int, int]]:
    """The cliques, the separator of each towards another one, that one, and variables' homes.

    A variable's clique is what its scopes and the cliques before leave to it. From the last
    variable to the first, it grows the clique of its neighbours if that lies within its own, or
    if both together are small; otherwise it has a new one.
    """
    # Each variable, as its bit, with what is joined to it when it goes.
    joined: dict[int, int] = {}
    rest = 0
    for bits in scopes:
        low = bits & -bits
        joined[low] = joined.get(low, 0) | bits
        rest |= bits
    turns = []  # each variable, and the separator that it leaves behind
    while rest:
        low = rest & -rest
        rest ^= low
        separator = joined.get(low, low) & ~low
        turns.append((low, separator))
        if separator:  # its variables are joined when the first of them goes
            after = separator & -separator
            joined[after] = joined.get(after, 0) | separator
    cliques: list[int] = []
    separators: list[int] = []
    up: list[int] = []  # the clique that each separator leads to
    cells: list[int] = []
    home: dict[int, int] = {}  # the clique of each variable
    for low, separator in reversed(turns):
        size = sizes[low.bit_length() - 1]
        parent = home[separator & -separator] if separator else -1
        if separator and (cliques[parent] == separator or cells[parent] * size <= MAX_CELLS_JOINED):
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


def _turn(up: list[int], separators: list[int], root: int) -> None:
    """Turn the edges on the way from a clique to its root, so that it becomes the root."""
    parent = -1
    separator = 0
    clique = root
    while clique >= 0:
        # The separator towards the next clique becomes that of the next towards this one.
        next_clique = up[clique]
        next_separator = separators[clique]
        up[clique] = parent
        separators[clique] = separator
        parent = clique
        separator = next_separator
        clique = next_clique


def _outwards(up: Sequence[int]) -> list[int]:
    """The cliques, parents before children."""
    children: list[list[int]] = [[] for _ in up]
    order: list[int] = []
    for clique, parent in enumerate(up):
        if parent < 0:
            order.append(clique)
        else:
            children[parent].append(clique)
    for clique in order:  # which grows meanwhile
        order += children[clique]
    return order
