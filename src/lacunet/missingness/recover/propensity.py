r"""Which propensities :math:`\pi_i = \Pr(R_i = 1 \mid pa_i)` are known, and how.

A propensity is estimated in a sample that shows the mechanism's parents; the sample may be
re-weighted by propensities that are known already, so the whole is solved to a fixpoint. A
key ``(i, free)`` asks for the propensity of mechanism i as a function of its mechanism
parents in ``free``; the others are at 1. Known for more free parents is known for fewer.

In the sample with :math:`R_H = 1`, :math:`H = F \cup S`, weighted by F, the law is that of
the graph without :math:`R_F`, given :math:`R_S = 1`. Whether j may be weighted depends on H
alone, and every mechanism that moves from S to F only removes paths; so for each H it is
enough to try the largest F.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import combinations

from lacunet.estimands.terms import Odds, Propensity, Sample, Share
from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.model.nodes import Mechanism

Set = frozenset[Mechanism]
Known = dict[tuple[Mechanism, Set], Propensity]
EXHAUSTIVE = 6  # mechanisms beside the needed ones; above this sets are grown greedily


def closure(graph: MixedGraph, mechanisms: Iterable[Mechanism]) -> Set:
    """The mechanisms, those of their partially observed parents, their mechanism parents, on."""
    found: set[Mechanism] = set()
    waiting = list(mechanisms)
    while waiting:
        mechanism = waiting.pop()
        if mechanism not in found and mechanism in graph.parents:
            found.add(mechanism)
            waiting.extend(graph.parents_shown_by(mechanism))
            waiting.extend(graph.mechanism_parents(mechanism))
    return frozenset(found)


def candidates(graph: MixedGraph, need: Set, allowed: Set) -> Iterator[Set]:
    """The sets between ``need`` and ``allowed``, small ones first; greedily if there are many."""
    extra = [mechanism for mechanism in graph.mechanisms if mechanism in allowed - need]
    if len(extra) <= EXHAUSTIVE:
        for size in range(len(extra) + 1):
            for more in combinations(extra, size):
                yield need | set(more)
        return
    yield need
    for mechanism in extra:
        yield need | {mechanism}
    grown = need
    while more_needed := _wanted(graph, grown) & allowed - grown:
        grown |= more_needed
        yield grown
    yield allowed


def _wanted(graph: MixedGraph, chosen: Set) -> Set:
    wanted: set[Mechanism] = set()
    for mechanism in chosen:
        wanted |= graph.parents_shown_by(mechanism)
        wanted |= graph.mechanism_parents(mechanism)
    return frozenset(wanted)


def lookup(
    known: Mapping[tuple[Mechanism, Set], Propensity], i: Mechanism, free: Set
) -> Propensity | None:
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
        if graph.parents_shown_by(mechanism) <= shown:
            outside = graph.mechanism_parents(mechanism) - shown
            propensity = lookup(known, mechanism, outside)
            if propensity is not None:
                usable[mechanism] = propensity
    return usable


def sample(
    graph: MixedGraph,
    shown: Set,
    weights: Mapping[Mechanism, Propensity],
    fixed: Iterable[Mechanism],
) -> Sample:
    """The rows that show ``shown``, weighted by the propensities of ``fixed``."""
    chosen = set(fixed)
    order = [mechanism for mechanism in graph.mechanisms if mechanism in shown]
    return Sample(tuple(order), tuple(weights[j] for j in order if j in chosen))


def shrink(graph: MixedGraph, weights: Iterable[Mechanism], holds: Callable[[Set], bool]) -> Set:
    """Drop weights, those with the largest tables first, as long as the condition holds."""
    order = sorted(weights, key=lambda j: (-len(graph.parents[j]), graph.rank[j]))
    left = frozenset(order)
    if holds(frozenset()):
        return frozenset()
    for mechanism in order:
        if holds(left - {mechanism}):
            left -= {mechanism}
    return left


@lru_cache(maxsize=256)
def known_propensities(graph: MixedGraph) -> Known:
    """Every propensity of the graph's mechanisms that some rule gives, to a fixpoint."""
    known: Known = {}
    keys = [key for i in graph.mechanisms for key in _keys(graph, i)]
    grew = True
    while grew:
        grew = False
        for i, free in keys:
            if lookup(known, i, free) is None:
                found = _found(graph, known, i, free)
                if found is not None:
                    known[i, free] = found
                    grew = True
    return known


def _found(graph: MixedGraph, known: Known, i: Mechanism, free: Set) -> Propensity | None:
    share = _by_share(graph, known, i, free)
    if share is None and not free:
        return _by_odds(graph, known, i)
    return share


def _keys(graph: MixedGraph, i: Mechanism) -> Iterator[tuple[Mechanism, Set]]:
    """The keys of a mechanism that are not impossible at once, the most demanding first."""
    if i.variable in graph.parents[i] or graph.siblings[i]:
        return
    above = graph.mechanism_parents(i)
    can_be_free = [k for k in above if k.variable not in graph.parents[i]]
    for size in range(min(len(can_be_free), 3), -1, -1):
        for free in combinations(sorted(can_be_free, key=graph.rank.__getitem__), size):
            yield i, frozenset(free)


def _by_share(graph: MixedGraph, known: Known, i: Mechanism, free: Set) -> Share | None:
    need = graph.parents_shown_by(i) | (graph.mechanism_parents(i) - free)
    allowed = frozenset(graph.mechanisms) - free - {i}
    if not need <= allowed:
        return None
    for shown in candidates(graph, need, allowed):
        usable = weightable(graph, known, shown)
        if _separates(graph, i, shown, frozenset(usable)):
            fixed = shrink(graph, usable, partial(_separates, graph, i, shown))
            return Share(
                i,
                graph.variable_parents(i),
                tuple(m for m in graph.mechanisms if m in free),
                tuple(m for m in graph.mechanisms if m in graph.mechanism_parents(i) - free),
                sample(graph, shown, usable, fixed),
            )
    return None


def _separates(graph: MixedGraph, i: Mechanism, shown: Set, fixed: Set) -> bool:
    selected = shown - fixed - graph.parents[i]
    if not selected:
        return True
    return graph.separated([i], selected, graph.parents[i] - fixed, fixed)


def _by_odds(graph: MixedGraph, known: Known, i: Mechanism) -> Odds | None:
    others = graph.parents_shown_by(i) | graph.mechanism_parents(i)  # K
    propensities = _known_where_hidden(graph, known, i, others)
    if propensities is None:
        return None
    inside = set(graph.variable_parents(i)).union(*map(graph.variable_parents, others))  # D
    need = graph.mechanisms_of(inside) | graph.mechanism_parents(i) | {i}
    if not need <= frozenset(graph.mechanisms):
        return None
    for shown in candidates(graph, need, frozenset(graph.mechanisms)):
        usable = weightable(graph, known, shown)
        if shown - {i} <= usable.keys():
            order = tuple(k for k in graph.mechanisms if k in others)
            return Odds(
                i,
                graph.variable_parents(i),
                tuple(k for k in order if k in graph.mechanism_parents(i)),
                tuple(name for name in graph.variables if name in inside),
                tuple(propensities[k] for k in order),
                order,
                sample(graph, shown, usable, shown - {i}),
            )
    return None


def _known_where_hidden(
    graph: MixedGraph, known: Known, i: Mechanism, others: Set
) -> dict[Mechanism, Propensity] | None:
    """The propensities of K where R_i may be 0 and the rest of K is 1, if all are known."""
    propensities = {}
    for k in others & frozenset(graph.mechanisms):
        above = graph.mechanism_parents(k)
        propensity = lookup(known, k, above & {i})
        if propensity is None or not above <= others | {i}:
            return None
        propensities[k] = propensity
    return propensities if others <= propensities.keys() else None
