r"""Search over orders: the best DAG is easy once the order of the variables is known.

Given an order, each variable takes its best parents among those before it, which
`lacunet.structure.parents` has ready. So the search is over orders alone, a far smaller and
smoother space than that of DAGs (M. Teyssier and D. Koller, "Ordering-based search", 2005).
The move is an insertion: take one variable out and put it where it is best. All places are
judged at once: moving variable v past u changes nothing but what u and v may have as parents.
Where no insertion helps, a few random ones are made (a kick) and the search goes on from there;
what is worse in the end is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.deadline import NEVER, Deadline
from lacunet.model.network import FloatArray
from lacunet.structure.parents import ParentSets
from lacunet.structure.rows import Integers

IMPROVEMENT = 1e-6  # what scores differ by at least, rounding aside


@dataclass(frozen=True)
class Ordered:
    """An order of the variables, the DAG it gives and the score of that."""

    order: tuple[int, ...]
    parents: tuple[frozenset[int], ...]
    score: float


class Scores:
    """The scored parent sets of all variables, laid out for look-ups.

    ``bit[u, v]`` is the bit of candidate v in the masks of u, zero if it is none;
    ``requires[u, v]`` says that u must have the parent v.
    """

    def __init__(self, sets: Sequence[ParentSets], required: Sequence[frozenset[int]]) -> None:
        self.sets = sets
        nodes = len(sets)
        self.bit: Integers = np.zeros((nodes, nodes), np.int64)
        self.requires: NDArray[np.bool_] = np.zeros((nodes, nodes), bool)
        self.best: FloatArray = np.full((nodes, max(len(one.best) for one in sets)), -np.inf)
        for node, one in enumerate(sets):
            self.bit[node, list(one.candidates)] = 1 << np.arange(len(one.candidates))
            self.requires[node, list(required[node])] = True
            self.best[node, : len(one.best)] = one.best

    def masks(self, order: Integers) -> Integers:
        """For each variable the mask of its candidates that are before it."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        before = place[None, :] < place[:, None]
        masks: Integers = np.where(before, self.bit, 0).sum(axis=1)
        return masks

    def of(self, masks: Integers) -> float:
        """The score of the best DAG given the masks."""
        return float(self.best[np.arange(len(masks)), masks].sum())

    def read(self, order: Integers) -> Ordered:
        """The best DAG of an order."""
        masks = self.masks(order)
        parents = [
            frozenset(one.parents(int(mask))) for one, mask in zip(self.sets, masks, strict=True)
        ]
        return Ordered(tuple(map(int, order)), tuple(parents), self.of(masks))


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
        How often to start again from the best order, a few variables moved at random.
    """
    best, best_score = _climb(scores, np.array(start, np.int64), rng, deadline)
    for _ in range(kicks):
        kicked = _kick(scores, best, rng)
        order, score = _climb(scores, kicked, rng, deadline)
        if score > best_score - IMPROVEMENT:
            best, best_score = order, max(score, best_score)
    return scores.read(best)


def _climb(
    scores: Scores, order: Integers, rng: np.random.Generator, deadline: Deadline
) -> tuple[Integers, float]:
    """Insert variables where they are best until none can be moved to advantage."""
    masks = scores.masks(order)
    unmoved = 0
    while unmoved < len(order):
        deadline.check()
        for node in rng.permutation(len(order)):
            moved, masks, is_better = _inserted(scores, order, masks, int(node))
            order = moved
            unmoved = 0 if is_better else unmoved + 1
            if unmoved >= len(order):
                break
    return order, scores.of(masks)


def _inserted(
    scores: Scores, order: Integers, masks: Integers, node: int
) -> tuple[Integers, Integers, bool]:
    """The order with a variable where it is best, its masks, and whether that is better."""
    at = int(np.flatnonzero(order == node)[0])
    others = np.concatenate([order[:at], order[at + 1 :]])
    before = np.concatenate([[0], np.cumsum(scores.bit[node, others])])
    bits = scores.bit[others, node]
    without = masks[others] & ~bits
    touched = np.flatnonzero(bits)
    gain = np.zeros(len(others) + 1)
    own = others[touched]
    requires = scores.requires[own, node]
    with np.errstate(invalid="ignore"):
        gains = scores.best[own, masks[own] | bits[touched]] - scores.best[own, without[touched]]
    gain[touched] = np.where(requires, 0.0, gains)
    total = scores.best[node, before] + np.cumsum(gain[::-1])[::-1]
    first = np.flatnonzero(scores.requires[node, others])
    last = touched[requires]
    total[: first[-1] + 1 if len(first) else 0] = -np.inf
    total[last[0] + 1 if len(last) else len(total) :] = -np.inf
    to = int(np.argmax(total))
    if not total[to] > total[at] + IMPROVEMENT:
        return order, masks, False
    after = masks.copy()
    after[others] = without | np.where(np.arange(len(others)) >= to, bits, 0)
    after[node] = before[to]
    return np.insert(others, to, node), after, True


def _kick(scores: Scores, order: Integers, rng: np.random.Generator) -> Integers:
    """Some variables moved at random, those that required arcs tie down aside."""
    tied = scores.requires.any(axis=0) | scores.requires.any(axis=1)
    free = np.flatnonzero(~tied)
    for node in rng.permutation(free)[: max(2, len(order) // 8)]:
        others = order[order != node]
        order = np.insert(others, int(rng.integers(len(order))), node)
    return order
