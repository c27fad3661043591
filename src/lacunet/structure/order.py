r"""Search over orders: the best DAG is easy once the order of the variables is known.

Given an order, each variable takes its best parents among those before it, which
`lacunet.structure.parents` has ready. So the search is over orders alone, a far smaller and
smoother space than that of DAGs (M. Teyssier and D. Koller, "Ordering-based search", 2005).
The move is an insertion: take one variable out and put it where it is best. All places are
judged in one walk: moving variable v past u changes nothing but what u and v may have as parents.
Where no insertion helps, a few random ones are made (a kick) and the search goes on from there;
what is worse in the end is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from lacunet.deadline import NEVER, Deadline
from lacunet.structure.parents import ParentSets

IMPROVEMENT = 1e-6  # what scores differ by at least, rounding aside


@dataclass(frozen=True)
class Ordered:
    """An order of the variables, the DAG it gives and the score of that."""

    order: tuple[int, ...]
    parents: tuple[frozenset[int], ...]
    score: float


class Scores:
    """The scored parent sets of all variables, laid out for look-ups one at a time.

    ``best[u][mask]`` is the best score of u, ``bit[u][v]`` the bit of candidate v in the masks
    of u, zero if it is none; ``requiring[v]`` must have v as a parent. A search asks for single
    entries, a few dozen at a time: lists give them ten times as fast as arrays.
    """

    def __init__(self, sets: Sequence[ParentSets], required: Sequence[frozenset[int]]) -> None:
        self.sets = sets
        self.best: list[list[float]] = [one.best.tolist() for one in sets]
        self.bit = [[0] * len(sets) for _ in sets]
        for own, one in zip(self.bit, sets, strict=True):
            for at, node in enumerate(one.candidates):
                own[node] = 1 << at
        self.requiring: list[set[int]] = [set() for _ in sets]
        for node, parents in enumerate(required):
            for parent in parents:
                self.requiring[parent].add(node)
        self.tied = {node for node, own in enumerate(required) if own or self.requiring[node]}

    def masks(self, order: Sequence[int]) -> list[int]:
        """For each variable the mask of its candidates that are before it."""
        masks = [0] * len(order)
        for at, node in enumerate(order):
            own = self.bit[node]
            masks[node] = sum(own[other] for other in order[:at])
        return masks

    def of(self, masks: Sequence[int]) -> float:
        """The score of the best DAG given the masks."""
        return sum(own[mask] for own, mask in zip(self.best, masks, strict=True))

    def read(self, order: Sequence[int]) -> Ordered:
        """The best DAG of an order."""
        masks = self.masks(order)
        parents = [frozenset(one.parents(mask)) for one, mask in zip(self.sets, masks, strict=True)]
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
        How often to start again from the best order, a few variables moved at random; less
        often if time is up.
    """
    best, best_score = _climb(scores, list(start), rng, deadline)
    for _ in range(kicks):
        if deadline.left < 0:
            break
        kicked = _kick(scores, best, rng)
        order, score = _climb(scores, kicked, rng, NEVER)
        if score > best_score - IMPROVEMENT:
            best, best_score = order, max(score, best_score)
    return scores.read(best)


def _climb(
    scores: Scores, order: list[int], rng: np.random.Generator, deadline: Deadline
) -> tuple[list[int], float]:
    """Insert variables where they are best until none can be moved to advantage."""
    masks = scores.masks(order)
    unmoved = 0
    while unmoved < len(order):
        deadline.check()
        for node in rng.permutation(len(order)).tolist():
            unmoved = 0 if _insert(scores, order, masks, node) else unmoved + 1
            if unmoved >= len(order):
                break
    return order, scores.of(masks)


def _insert(scores: Scores, order: list[int], masks: list[int], node: int) -> bool:
    """Put a variable where it is best, in ``order`` and ``masks``; whether that is elsewhere.

    The places are tried from the last to the first. On the way, each variable that is passed
    may take ``node`` as a parent, and ``node`` may no longer take it.
    """
    at = order.index(node)
    others = order[:at] + order[at + 1 :]
    best, bit, own = scores.best, scores.bit[node], scores.best[node]
    before, gain = sum(bit), 0.0
    to, top, here = at, -inf, 0.0
    requiring = scores.requiring[node]
    left = len(requiring)  # a place behind one of them is not open
    for place in range(len(others), -1, -1):
        if place < len(others):
            other = others[place]
            if other in requiring:
                left -= 1
            elif flag := scores.bit[other][node]:
                with_node = masks[other] | flag
                gain += best[other][with_node] - best[other][with_node ^ flag]
            before -= bit[other]
        total = own[before] + gain if not left else -inf
        if place == at:
            here = total
        if total > top:
            to, top = place, total
    if not top > here + IMPROVEMENT:
        return False
    order[:] = [*others[:to], node, *others[to:]]
    for place, other in enumerate(others):
        if flag := scores.bit[other][node]:
            masks[other] = masks[other] | flag if place >= to else masks[other] & ~flag
    masks[node] = sum(bit[other] for other in others[:to])
    return True


def _kick(scores: Scores, order: list[int], rng: np.random.Generator) -> list[int]:
    """Some variables moved at random, those that required arcs tie down aside."""
    free = [node for node in range(len(order)) if node not in scores.tied]
    order = list(order)
    for node in rng.permutation(free).tolist()[: max(2, len(order) // 8)]:
        order.remove(node)
        order.insert(int(rng.integers(len(order) + 1)), node)
    return order
