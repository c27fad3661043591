r"""Which propensities :math:`\pi_i = \Pr(R_i = 1 \mid pa_i)` are known, and how.

A propensity is estimated in a sample that shows the mechanism's parents; the sample may be
re-weighted by propensities that are known already, so the whole is solved to a fixpoint. A
key ``(i, free)`` asks for the propensity of mechanism i as a function of its mechanism
parents in ``free``; the others are at 1. Known for more free parents is known for fewer.

In the sample with :math:`R_H = 1`, :math:`H = F \cup S`, weighted by F, the law is that of
the graph without :math:`R_F`, given :math:`R_S = 1`. Whether j may be weighted depends on H
alone, and every mechanism that moves from S to F only removes paths; so for each H it is
enough to try the largest F. Fewer mechanisms in H are more rows; which of several smallest H
leaves most, only the data tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from lacunet.estimands.samples import Odds, Propensity, Sample, Share
from lacunet.missingness.separation.mixed import MixedGraph, subsets
from lacunet.model.nodes import Mechanism

Set = frozenset[Mechanism]
Known = Mapping[tuple[Mechanism, Set], Propensity]
Holds = Callable[[Set, Set], bool]  # of the mechanisms shown, and those of them weighted
EXHAUSTIVE = 6  # mechanisms beside the needed ones; above this sets are grown greedily
WIDELY = 8  # the same where several samples are wanted


def find_sample(
    graph: MixedGraph, known: Known, need: Set, allowed: Set, holds: Holds, most: int = 1
) -> list[Sample]:
    """A sample, if any does, of the rows that show ``need`` and as few as do of ``allowed``.

    With ``most`` above 1 up to so many, the others as those that serve as well.
    """

    def works(shown: Set) -> bool:
        return holds(shown, frozenset(weightable(graph, known, shown)))

    extra = [m for m in graph.mechanisms if m in allowed - need]
    is_greedy = len(extra) > (EXHAUSTIVE if most == 1 else WIDELY)
    orders = [extra[k:] + extra[:k] for k in range(len(extra) if most > 1 else 1)]
    sets: list[Set] = []
    for shown in _candidates(graph, need, allowed, extra, is_greedy):
        if any(smaller <= shown for smaller in sets) or not works(shown):
            continue
        for order in orders if is_greedy else [[]]:
            narrow = _narrowed(shown, order, works)
            if len(sets) < most and narrow not in sets:
                sets.append(narrow)
        if len(sets) >= most:
            break
    samples = [_sample(graph, known, shown, holds) for shown in sets]
    return [replace(samples[0], others=tuple(samples[1:]))] if samples else []


def _candidates(
    graph: MixedGraph, need: Set, allowed: Set, extra: list[Mechanism], is_greedy: bool
) -> Iterator[Set]:
    """The sets between ``need`` and ``allowed``, small ones first; greedily if there are many."""
    if not is_greedy:
        yield from (need | more for more in subsets(extra, range(len(extra) + 1)))
        return
    yield need
    for mechanism in extra:
        yield need | {mechanism}
    grown = need
    while more_needed := Set().union(*(graph.above[m] for m in grown)) & allowed - grown:
        grown |= more_needed
        yield grown
    yield allowed


def _narrowed(shown: Set, order: Iterable[Mechanism], works: Callable[[Set], bool]) -> Set:
    """Drop mechanisms in turn as long as the set works."""
    for mechanism in order:
        if mechanism in shown and works(shown - {mechanism}):
            shown -= {mechanism}
    return shown


def _sample(graph: MixedGraph, known: Known, shown: Set, holds: Holds) -> Sample:
    """The rows that show ``shown``, weighted as little as will do, large tables avoided first."""
    usable = weightable(graph, known, shown)
    fixed = Set() if holds(shown, Set()) else Set(usable)
    large_first = sorted(fixed, key=lambda j: (-len(graph.parents[j]), graph.rank[j]))
    fixed = _narrowed(fixed, large_first, partial(holds, shown))
    order = [mechanism for mechanism in graph.mechanisms if mechanism in shown]
    weights = tuple(usable[j] for j in order if j in fixed)
    return Sample((*order, *graph.selection), weights)


def lookup(known: Known, i: Mechanism, free: Set) -> Propensity | None:
    """The propensity of i with at least ``free`` free, the fewest free first."""
    if (i, free) in known:
        return known[i, free]
    wider = [key for key in known if key[0] == i and key[1] >= free]
    return known[min(wider, key=lambda key: len(key[1]))] if wider else None


def weightable(graph: MixedGraph, known: Known, shown: Set) -> dict[Mechanism, Propensity]:
    """The mechanisms of ``shown`` whose propensity is known in every row with R_shown = 1."""
    usable = {}
    graph.meter.charge(2 * len(shown))
    for mechanism in shown:
        if graph.parents_shown_by[mechanism] <= shown:
            outside = graph.mechanism_parents[mechanism] - shown
            propensity = lookup(known, mechanism, outside)
            if propensity is not None:
                usable[mechanism] = propensity
    return usable


@lru_cache(maxsize=256)
def known_propensities(graph: MixedGraph, most: int = 1) -> Known:
    """Every propensity of the graph's mechanisms that some rule gives, to a fixpoint."""
    known: dict[tuple[Mechanism, Set], Propensity] = {}
    keys = [key for i in graph.mechanisms for key in _keys(graph, i)]
    grew = True
    while grew:
        grew = False
        for i, free in keys:
            if lookup(known, i, free) is None:
                shares = _by_share(graph, known, i, free, most)
                for propensity in shares if shares or free else _by_odds(graph, known, i):
                    known[i, free] = propensity
                    grew = True
    return known


def _keys(graph: MixedGraph, i: Mechanism) -> Iterator[tuple[Mechanism, Set]]:
    """The keys of a mechanism that are not impossible at once, the most demanding first."""
    if i.variable in graph.parents[i] or graph.siblings[i]:
        return
    above = (m for m in graph.mechanisms if m in graph.mechanism_parents[i])
    can_be_free = [m for m in above if m.variable not in graph.parents[i]]
    for free in subsets(can_be_free, range(min(len(can_be_free), 3), -1, -1)):
        yield i, free


def _by_share(
    graph: MixedGraph, known: Known, i: Mechanism, free: Set, most: int
) -> Sequence[Propensity]:
    need = graph.parents_shown_by[i] | (graph.mechanism_parents[i] - free)
    allowed = frozenset(graph.mechanisms) - free - {i}
    if not need <= allowed:
        return []

    def separates(shown: Set, fixed: Set) -> bool:
        selected = shown - fixed - graph.parents[i] | graph.selection
        return not selected or graph.separated([i], selected, graph.parents[i] - fixed, fixed)

    samples = find_sample(graph, known, need, allowed, separates, most)
    parents, free_parents = (
        graph.variable_parents([i]),
        tuple(m for m in graph.mechanisms if m in free),
    )
    return [
        Share(mechanism=i, parents=parents, free=free_parents, sample=sample) for sample in samples
    ]


def _by_odds(graph: MixedGraph, known: Known, i: Mechanism) -> Sequence[Propensity]:
    others = graph.above[i]  # K
    if graph.selection or not others <= frozenset(graph.mechanisms):
        return []  # the odds would be those among the rows recorded
    propensities = []  # where R_i may be 0 and the rest of K is 1
    for k in (k for k in graph.mechanisms if k in others):
        above = graph.mechanism_parents[k]
        propensity = lookup(known, k, above & {i})
        if propensity is None or not above <= others | {i}:
            return []
        propensities.append(propensity)
    inside = graph.variable_parents([i, *others])  # D
    need = graph.mechanisms_of(inside) | graph.mechanism_parents[i] | {i}
    every = frozenset(graph.mechanisms)
    if not need <= every:
        return []
    samples = find_sample(graph, known, need, every, lambda shown, fixed: shown - {i} <= fixed)
    return [
        Odds(
            mechanism=i,
            parents=graph.variable_parents([i]),
            free=(),
            sample=sample,
            scope=inside,
            others=tuple(propensities),
        )
        for sample in samples
    ]
