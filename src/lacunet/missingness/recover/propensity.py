r"""Which propensities :math:`\pi_i = \Pr(R_i = 1 \mid pa_i)` are known, and how.

Two rules give a propensity, each from a sample of rows that may itself be weighted by propensities
known already. So both are applied again and again until nothing new is known.

**By a share of rows.** Let :math:`H = F \cup S` be mechanisms without i, F weighted and S selected
on. If the rows with :math:`R_H = 1` show the parents of i, and :math:`R_i \perp R_S \mid pa_i` once
:math:`R_F` is fixed at 1, then

.. math:: \pi_i(pa_i) = \Pr_w(R_i = 1 \mid pa_i, R_H = 1),

the share of the weighted rows. Why: weighting by F leaves the law of the graph without :math:`R_F`,
in which selecting on :math:`R_S` tells nothing of :math:`R_i` beyond its parents.

**By odds**, where the rows that miss i are needed themselves: `_by_odds`.

A key ``(i, free)`` asks for the propensity of mechanism i as a function of its mechanism parents in
``free``, of both their values; its other mechanism parents are at 1. What is known for more free
parents is known for fewer.

Which sample. Whether a mechanism may be weighted depends on H alone, and every mechanism that
moves from S to F only removes paths; so for each H it is enough to try the largest F. Fewer
mechanisms in H are more rows; which of several smallest H leaves most, only the data tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from lacunet.missingness.formulas.samples import Odds, Propensity, Sample, Share
from lacunet.missingness.limits import (
    MAX_FREE_PARENTS,
    MAX_MECHANISMS_FOR_ALL_CHOICES,
    MAX_MECHANISMS_FOR_ALL_SETS,
)
from lacunet.missingness.separation.mixed import MixedGraph, subsets
from lacunet.network.nodes import Mechanism

MechanismSet = frozenset[Mechanism]
NO_MECHANISMS: MechanismSet = frozenset()
Propensities = Mapping[tuple[Mechanism, MechanismSet], Propensity]  # under the keys (i, free)
Holds = Callable[[MechanismSet, MechanismSet], bool]  # of the mechanisms shown, and those weighted


def find_sample(
    graph: MixedGraph,
    known: Propensities,
    need: MechanismSet,
    allowed: MechanismSet,
    holds: Holds,
    most: int = 1,
) -> list[Sample]:
    """A sample, if any does, of the rows that show ``need`` and as few as do of ``allowed``.

    With ``most`` above 1 up to so many, the others as those that serve as well.
    """

    def works(shown: MechanismSet) -> bool:
        return holds(shown, frozenset(weightable(graph, known, shown)))

    extra = [mechanism for mechanism in graph.mechanisms if mechanism in allowed - need]
    if most == 1:
        is_greedy = len(extra) > MAX_MECHANISMS_FOR_ALL_SETS
        orders = [extra]
    else:  # what is dropped first decides on which smallest set is left, so each takes its turn
        is_greedy = len(extra) > MAX_MECHANISMS_FOR_ALL_CHOICES
        orders = [extra[start:] + extra[:start] for start in range(len(extra))]

    sets: list[MechanismSet] = []
    for shown in _candidates(graph, need, allowed, extra, is_greedy):
        if any(smaller <= shown for smaller in sets) or not works(shown):
            continue
        if is_greedy:
            smallest = [_narrowed(shown, order, works) for order in orders]
        else:  # all smaller sets came before this one, and did not work
            smallest = [shown]
        for candidate in smallest:
            if len(sets) < most and candidate not in sets:
                sets.append(candidate)
        if len(sets) >= most:
            break

    if not sets:
        return []
    first, *others = (_sample(graph, known, shown, holds) for shown in sets)
    return [Sample(first.selected, first.weights, others=tuple(others))]


def _candidates(
    graph: MixedGraph,
    need: MechanismSet,
    allowed: MechanismSet,
    extra: list[Mechanism],
    is_greedy: bool,
) -> Iterator[MechanismSet]:
    """The sets between ``need`` and ``allowed``, small ones first; greedily if there are many."""
    if not is_greedy:
        for more in subsets(extra, range(len(extra) + 1)):
            yield need | more
        return
    yield need
    for mechanism in extra:
        yield need | {mechanism}
    # Weighting takes the parents of what is weighted, so grow along these, a generation at a time.
    grown = need
    while True:
        parents = NO_MECHANISMS.union(*(graph.above[mechanism] for mechanism in grown))
        fresh = (parents & allowed) - grown
        if not fresh:
            break
        grown |= fresh
        yield grown
    yield allowed


def _narrowed(
    shown: MechanismSet, order: Iterable[Mechanism], works: Callable[[MechanismSet], bool]
) -> MechanismSet:
    """Drop mechanisms in turn as long as the set works."""
    for mechanism in order:
        if mechanism in shown and works(shown - {mechanism}):
            shown -= {mechanism}
    return shown


def _sample(graph: MixedGraph, known: Propensities, shown: MechanismSet, holds: Holds) -> Sample:
    """The rows that show ``shown``, weighted as little as will do."""
    usable = weightable(graph, known, shown)
    if holds(shown, NO_MECHANISMS):
        fixed = NO_MECHANISMS
    else:
        # Each weight costs precision, most of all one from a large table: drop these first.
        large_first = sorted(usable, key=lambda j: (-len(graph.parents[j]), graph.rank[j]))
        fixed = _narrowed(frozenset(usable), large_first, partial(holds, shown))
    order = [mechanism for mechanism in graph.mechanisms if mechanism in shown]
    weights = tuple(usable[mechanism] for mechanism in order if mechanism in fixed)
    return Sample((*order, *graph.selection), weights)


def lookup(known: Propensities, i: Mechanism, free: MechanismSet) -> Propensity | None:
    """The propensity of i with at least ``free`` free, the fewest free first."""
    if (i, free) in known:
        return known[i, free]
    wider = [key for key in known if key[0] == i and key[1] >= free]
    if not wider:
        return None
    return known[min(wider, key=lambda key: len(key[1]))]


def weightable(
    graph: MixedGraph, known: Propensities, shown: MechanismSet
) -> dict[Mechanism, Propensity]:
    """The mechanisms of ``shown`` whose propensity is known in every row with R_shown = 1."""
    usable = {}
    graph.meter.charge(2 * len(shown))
    for mechanism in shown:
        if not graph.parents_shown_by[mechanism] <= shown:
            continue  # a row does not tell all that its propensity is a function of
        outside = graph.mechanism_parents[mechanism] - shown  # may be 0 in these rows
        propensity = lookup(known, mechanism, outside)
        if propensity is not None:
            usable[mechanism] = propensity
    return usable


@lru_cache(maxsize=256)
def known_propensities(graph: MixedGraph, most: int = 1) -> Propensities:
    """Every propensity of the graph's mechanisms that some rule gives, to a fixpoint."""
    known: dict[tuple[Mechanism, MechanismSet], Propensity] = {}
    keys = [key for i in graph.mechanisms for key in _keys(graph, i)]
    grew = True
    while grew:
        grew = False
        for i, free in keys:
            if lookup(known, i, free) is not None:
                continue
            propensities = _by_share(graph, known, i, free, most)
            if not propensities and not free:
                propensities = _by_odds(graph, known, i)
            for propensity in propensities:
                known[i, free] = propensity
                grew = True
    return known


def _keys(graph: MixedGraph, i: Mechanism) -> Iterator[tuple[Mechanism, MechanismSet]]:
    """The keys of a mechanism that are not impossible at once, the most demanding first.

    A mechanism that depends on its own variable has no propensity that rows could tell, and one
    with a hidden cause is not a factor of its parents alone. A parent mechanism cannot be free
    where its variable is a parent too: that would have to be shown by rows that miss it.
    """
    if i.variable in graph.parents[i] or graph.siblings[i]:
        return
    can_be_free = [
        parent
        for parent in graph.mechanisms
        if parent in graph.mechanism_parents[i] and parent.variable not in graph.parents[i]
    ]
    largest = min(len(can_be_free), MAX_FREE_PARENTS)
    for free in subsets(can_be_free, range(largest, -1, -1)):
        yield i, free


def _by_share(
    graph: MixedGraph, known: Propensities, i: Mechanism, free: MechanismSet, most: int
) -> Sequence[Propensity]:
    """The first rule of the module: the share of a weighted sample that shows i."""
    shown_parents = graph.parents_shown_by[i]
    parents_at_one = graph.mechanism_parents[i] - free
    need = shown_parents | parents_at_one
    allowed = frozenset(graph.mechanisms) - free - {i}
    if not need <= allowed:
        return []

    def separates(shown: MechanismSet, fixed: MechanismSet) -> bool:
        selected = (shown - fixed - graph.parents[i]) | graph.selection
        return not selected or graph.separated([i], selected, graph.parents[i] - fixed, fixed)

    return [
        Share(
            mechanism=i,
            parents=graph.variable_parents([i]),
            free=tuple(mechanism for mechanism in graph.mechanisms if mechanism in free),
            sample=sample,
        )
        for sample in find_sample(
            graph=graph, known=known, need=need, allowed=allowed, holds=separates, most=most
        )
    ]


def _by_odds(graph: MixedGraph, known: Propensities, i: Mechanism) -> Sequence[Propensity]:
    r"""The propensity of i from its odds, in rows that miss i but have all of K = ``others`` at 1.

    K are the mechanisms that i depends on and those that show its parents; D are the parents, among
    the variables, of i and of K. The rule needs that

    1. every row counts: no selection by R[*];
    2. the propensity of each k in K is known where i is missing, and depends on no other
       mechanism than i and K;
    3. some sample shows D with :math:`R_i = 1` and is weighted by F, all its mechanisms but i.

    Then, with :math:`A(x_D) = \Pr(x_D, R_i = 1 \mid do(R_F = 1))` from that sample,

    .. math::
        \frac{1 - \pi_i}{\pi_i} = \frac{\Pr(pa_i, R_K = 1, R_i = 0)}
        {\sum_{D \setminus pa_i} A(x_D) \prod_{k \in K} \pi_k(R_i = 0, \cdot)}.

    Why: by (3) :math:`A(x_D) = \pi_i(pa_i) P(x_D)`, and by (2) the numerator is
    :math:`(1 - \pi_i(pa_i)) \sum_{D \setminus pa_i} P(x_D) \prod_k \pi_k(R_i = 0, \cdot)`. The sum
    is the same above and below, for :math:`\pi_i` depends on :math:`pa_i` alone.
    """
    others = graph.above[i]  # K
    every = frozenset(graph.mechanisms)
    if graph.selection or not others <= every:
        return []
    propensities = []  # of K, as functions of R_i
    for k in graph.mechanisms:
        if k not in others:
            continue
        above = graph.mechanism_parents[k]
        propensity = lookup(known, k, above & {i})
        if propensity is None or not above <= others | {i}:
            return []
        propensities.append(propensity)
    inside = graph.variable_parents([i, *others])  # D
    need = graph.mechanisms_of(inside) | graph.mechanism_parents[i] | {i}
    if not need <= every:
        return []

    def all_others_weighted(shown: MechanismSet, fixed: MechanismSet) -> bool:
        return shown - {i} <= fixed

    return [
        Odds(
            mechanism=i,
            parents=graph.variable_parents([i]),
            free=(),
            sample=sample,
            scope=inside,
            others=tuple(propensities),
        )
        for sample in find_sample(graph, known, need, every, all_others_weighted)
    ]
