r"""Search over orders: the best DAG is easy once the order of the variables is known.

Given an order, each variable takes its best parents among those before it, which
`lacunet.structure.scored_parents` has ready. So the search is over orders alone, a far smaller and
smoother space than that of DAGs (M. Teyssier and D. Koller, "Ordering-based search", 2005).
The move is an insertion: take one variable out and put it where it is best. All places are
judged in one walk: moving variable v past u changes nothing but what u and v may have as parents.
So only the variables that may be parents of v, or v of them, are walked past, and after a move
only those are looked at again whose best place may have changed by it.
Where no insertion helps, a few random ones are made (a kick) and the search goes on from there;
what is worse in the end is dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from lacunet.limits import NEVER, Deadline
from lacunet.structure.scored_parents import ParentSets

IMPROVEMENT = 1e-6  # what scores differ by at least, rounding aside
GOLDEN_RATIO = (1 + 5**0.5) / 2
CLOSEST_PLACES = 1e-9  # places nearer than this are spread out again
# A kick moves one in so many variables, and so many at least.
KICKED_ONE_IN = 8
LEAST_KICKED = 2


@dataclass(frozen=True)
class Ordered:
    """An order of the variables, the DAG it gives and the score of that."""

    order: tuple[int, ...]
    parents: tuple[frozenset[int], ...]
    score: float


class Scores:
    """The scored parent sets of all variables, laid out for look-ups one at a time.

    ``best[u][mask]`` is the best score of u, ``bit[u][v]`` the bit of candidate v in the masks
    of u, zero if it is none, and ``flag[v][u]`` the same; ``near[v]`` are the candidates of v and
    those that have v as one; ``requiring[v]`` must have v as a parent. A search asks for single
    entries, a few dozen at a time: lists give them ten times as fast as arrays.
    """

    def __init__(self, sets: Sequence[ParentSets], required: Sequence[frozenset[int]]) -> None:
        self.sets = sets
        self.best: list[list[float]] = [family.best.tolist() for family in sets]
        self.bit = [[0] * len(sets) for _ in sets]
        self.near: list[set[int]] = [set(family.candidates) for family in sets]
        for u, family in enumerate(sets):
            for index, v in enumerate(family.candidates):
                self.bit[u][v] = 1 << index
                self.near[v].add(u)
        self.flag = [*zip(*self.bit, strict=True)]
        self.requiring: list[set[int]] = [set() for _ in sets]
        for node, parents in enumerate(required):
            for parent in parents:
                self.requiring[parent].add(node)
        # Where in a gap each variable is put: never where another one would be, since two of the
        # same place cannot be told apart by a third that belongs between them.
        self.share = [0.25 + 0.5 * (node * GOLDEN_RATIO % 1) for node in range(len(sets))]
        self.tied = {node for node, into in enumerate(required) if into or self.requiring[node]}

    def masks(self, places: Sequence[float]) -> list[int]:
        """For each variable the mask of its candidates that are before it."""
        return [
            sum([bits[other] for other in family.candidates if places[other] < here])
            for bits, family, here in zip(self.bit, self.sets, places, strict=True)
        ]

    def of(self, masks: Sequence[int]) -> float:
        """The score of the best DAG given the masks."""
        return sum(best[mask] for best, mask in zip(self.best, masks, strict=True))

    def read(self, order: Sequence[int]) -> Ordered:
        """The best DAG of an order."""
        masks = self.masks(_places(order))
        parents = [
            frozenset(family.parents(mask)) for family, mask in zip(self.sets, masks, strict=True)
        ]
        return Ordered(tuple(order), tuple(parents), self.of(masks))


def search(
    scores: Scores,
    start: Sequence[int],
    kicks: int,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
) -> Ordered:
    """The best DAG found from a starting order.

    Parameters
    ----------
    start
        All variables; required parents before their children.
    kicks
        After how many kicks that led to no better order to end; earlier if time is up.
    """
    best, best_score = _climb(scores, _places(start), rng)
    left = kicks
    while left > 0 and deadline.left > 0:
        order, score = _climb(scores, _kicked(scores, best, rng), rng)
        left = kicks if score > best_score + IMPROVEMENT else left - 1
        if score > best_score - IMPROVEMENT:
            best = order
            best_score = max(score, best_score)
    return scores.read(best)


def _places(order: Sequence[int]) -> list[float]:
    """Where each variable stands: any numbers that tell the order."""
    places = [0.0] * len(order)
    for index, node in enumerate(order):
        places[node] = float(index)
    return places


def _order(places: Sequence[float]) -> list[int]:
    return sorted(range(len(places)), key=places.__getitem__)


def _climb(
    scores: Scores, places: list[float], rng: np.random.Generator
) -> tuple[list[int], float]:
    """Insert variables where they are best until none can be moved to advantage."""
    masks = scores.masks(places)
    waiting = dict.fromkeys(rng.permutation(len(places)).tolist())  # the first waits longest
    while waiting:
        node = next(iter(waiting))
        del waiting[node]
        waiting |= dict.fromkeys(_insert(scores, places, masks, node))
    return _order(places), scores.of(masks)


def _insert(scores: Scores, places: list[float], masks: list[int], node: int) -> Collection[int]:
    """Put a variable where it is best; those whose best places may have changed by it.

    The places are tried from the last to the first: each variable that is passed may take ``node``
    as a parent, and ``node`` may no longer take it.
    """
    others = sorted(scores.near[node], key=places.__getitem__, reverse=True)
    worths = _worths(scores, masks, node, others)
    behind = sum([places[other] > places[node] for other in others])
    best = max(worths)
    if not best > worths[behind] + IMPROVEMENT:
        return ()

    # A number between the places of its new neighbours; all are numbered anew if there is no room.
    to = worths.index(best)
    high = places[others[to - 1]] if to else places[others[0]] + 2
    low = places[others[to]] if to < len(others) else places[others[-1]] - 2
    if high - low < CLOSEST_PLACES:
        places[:] = _places(_order(places))
        return (node,)
    places[node] = low + (high - low) * scores.share[node]

    # Of each variable that was passed, it is now on the other side.
    passed = others[behind:to] if to > behind else others[to:behind]
    changed = set(scores.near[node])
    for other in passed:
        masks[other] ^= scores.flag[node][other]
        masks[node] ^= scores.bit[node][other]
        changed.update(scores.sets[other].candidates)
    changed.discard(node)
    return sorted(changed)


def _worths(scores: Scores, masks: list[int], node: int, others: Sequence[int]) -> list[float]:
    """What each place of a variable is worth: its score there, and what others gain by it.

    Parameters
    ----------
    others
        Those near it, the last first. The first place is behind all of them, the next before the
        first of them, and so on.
    """
    best = scores.best
    bit = scores.bit[node]
    flags = scores.flag[node]
    requiring = scores.requiring[node]
    of_node = best[node]
    left = len(requiring)  # a place behind one of them is not open
    before = sum(bit)
    gain = 0.0
    worths = []
    for other in others:
        worths.append(-inf if left else of_node[before] + gain)
        if other in requiring:
            left -= 1
        elif flag := flags[other]:
            with_node = masks[other] | flag
            of_other = best[other]
            gain += of_other[with_node] - of_other[with_node ^ flag]
        before -= bit[other]
    worths.append(-inf if left else of_node[before] + gain)
    return worths


def _kicked(scores: Scores, order: list[int], rng: np.random.Generator) -> list[float]:
    """Some variables moved at random, those that required arcs tie down aside."""
    free = [node for node in range(len(order)) if node not in scores.tied]
    places = _places(order)
    number = max(LEAST_KICKED, len(order) // KICKED_ONE_IN)
    for node in rng.permutation(free).tolist()[:number]:
        places[node] = float(rng.uniform(-1.0, len(order)))
    return places
