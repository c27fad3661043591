r"""Scored parent sets: for each variable, the best parents among any of its candidates.

A decomposable score of a DAG is a sum over variables of what each scores with its parents. For
BIC,

.. math::
    s(y, S) = \sum_{u, x} n(u, x) \log \frac{n(u, x)}{n(u)} - \frac{\log N}{2} (r_y - 1) q_S

with :math:`q_S` the number of parent configurations, seen or not. The rows enter once for each
variable: as the distinct configurations of the variable and its candidates. Every parent set is
a marginal of these.

A set is not counted if it cannot win: its likelihood is at most that of all candidates together,
and at most that of a subset plus :math:`N` times the entropy of what was added; so a set whose
bound is below the score of one of its subsets is left out, and so are its supersets.

Afterwards ``best[mask]`` holds the best score among the subsets of the candidates in ``mask``:
what the search over orders asks for thousands of times is one look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import lgamma, log

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.distinct import LARGEST_KEY, distinct
from lacunet.structure.gains import xlogx
from lacunet.structure.rows import Integers, Rows

MOST_CELLS = 2**20  # a family with more cells is not considered


@dataclass(frozen=True)
class Score:
    """What a family scores: BIC, or BDeu with an equivalent sample size.

    ``total`` is the weight of all rows, :math:`N`.
    """

    total: float
    equivalent_size: float | None = None  # None for BIC

    def penalty(self, states: int, configurations: int) -> float:
        """What BIC takes off."""
        return log(max(self.total, 2.0)) / 2 * (states - 1) * configurations

    def of(self, table: FloatArray, likelihood: float) -> float:
        """The score of a family whose counts are ``table`` (parents' configurations, child)."""
        configurations, states = table.shape
        if self.equivalent_size is None:
            return likelihood - self.penalty(states, configurations)
        return _bdeu(table, self.equivalent_size)


def _bdeu(table: FloatArray, size: float) -> float:
    from scipy.special import gammaln

    configurations, states = table.shape
    seen = table[table.sum(axis=1) > 0]
    row, cell = size / configurations, size / (configurations * states)
    rows = lgamma(row) * len(seen) - gammaln(seen.sum(axis=1) + row).sum()
    cells = gammaln(seen + cell).sum() - lgamma(cell) * seen.size
    return float(rows + cells)


@dataclass(frozen=True)
class ParentSets:
    """The best parents of one variable among the subsets of its candidates.

    ``best[mask]`` is the best score of a set within the candidates whose bits ``mask`` has, and
    ``chosen[mask]`` that set; minus infinity where a required parent is not among them.
    """

    candidates: tuple[int, ...]
    best: FloatArray
    chosen: Integers
    scored: int

    def parents(self, mask: int) -> set[int]:
        """The best parents within a mask."""
        chosen = int(self.chosen[mask])
        return {node for bit, node in enumerate(self.candidates) if chosen >> bit & 1}


def likelihood(table: FloatArray) -> float:
    """The log-likelihood of the second axis given the first."""
    return xlogx(table.ravel()) - xlogx(table.sum(axis=1))


def parent_sets(
    child: int,
    candidates: Sequence[int],
    required: frozenset[int],
    rows: Rows,
    score: Score,
    max_parents: int,
) -> ParentSets:
    """Score the sets of at most ``max_parents`` candidates, as far as they can win.

    Parameters
    ----------
    required
        Candidates that every set must hold.
    rows
        Complete rows.
    """
    columns, weights = rows.configurations([child, *candidates])
    own, others = columns[0], columns[1:]
    states = rows.sizes[child]
    radix = [rows.sizes[node] for node in candidates]
    scale = score.total / weights.sum()
    weights = weights * scale

    def counted(members: Sequence[int]) -> FloatArray:
        keys, cells = np.zeros(len(own), np.int64), 1
        for bit in members:
            keys = keys * radix[bit] + others[bit]
            cells *= radix[bit]
        counts: FloatArray = np.bincount(keys * states + own, weights, cells * states)  # type: ignore[assignment]
        return counts.reshape(cells, states)

    size = 1 << len(candidates)
    scores, bound = np.full(size, -np.inf), np.full(size, np.inf)
    within = np.full(size, -np.inf)  # the best score among the subsets counted so far
    must = sum(1 << candidates.index(node) for node in required)
    entropy = [_entropy(np.bincount(column, weights).astype(np.float64)) for column in others]
    ceiling = _ceiling(others, radix, weights)
    scored = 0
    for length in range(max_parents + 1):
        for members in combinations(range(len(candidates)), length):
            mask = sum(1 << bit for bit in members)
            cells = states
            for bit in members:
                cells *= radix[bit]
                smaller = mask ^ (1 << bit)
                bound[mask] = min(bound[mask], bound[smaller] + entropy[bit])
                within[mask] = max(within[mask], within[smaller])
            bound[mask] = min(bound[mask], ceiling)
            cannot_win = (
                score.equivalent_size is None
                and bound[mask] - score.penalty(states, cells // states) <= within[mask]
            )
            if cannot_win or cells > MOST_CELLS:
                if cells > MOST_CELLS:
                    bound[mask] = -np.inf
                continue
            table = counted(members)
            bound[mask] = likelihood(table)
            scored += 1
            if mask & must == must:
                scores[mask] = score.of(table, bound[mask])
                within[mask] = max(within[mask], scores[mask])
    best, chosen = _best_subsets(scores)
    return ParentSets(tuple(candidates), best, chosen, scored)


def _entropy(counts: FloatArray) -> float:
    return xlogx(np.array([counts.sum()])) - xlogx(counts)


def _ceiling(
    others: Sequence[Integers],
    radix: Sequence[int],
    weights: FloatArray,
) -> float:
    """The log-likelihood of the child given all candidates: no set of them has more."""
    if not others:
        return 0.0
    keys, bound = np.zeros(len(weights), np.int64), 1
    for column, size in zip(others, radix, strict=True):
        if bound * size > LARGEST_KEY:
            found, keys = distinct(keys, bound)
            bound = len(found)
        keys, bound = keys * size + column, bound * size
    found, place = distinct(keys, bound)
    return xlogx(weights) - xlogx(np.bincount(place, weights).astype(np.float64))


def _best_subsets(scores: FloatArray) -> tuple[FloatArray, Integers]:
    """For each mask, the best score among its subsets, and the subset that has it."""
    best, chosen = scores.copy(), np.arange(len(scores))
    for bit in range(len(scores).bit_length() - 1):
        one, two = best.reshape(-1, 2, 1 << bit), chosen.reshape(-1, 2, 1 << bit)
        is_better = one[:, 0] >= one[:, 1]
        one[:, 1] = np.where(is_better, one[:, 0], one[:, 1])
        two[:, 1] = np.where(is_better, two[:, 0], two[:, 1])
    return best, chosen
