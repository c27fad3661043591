r"""Paired gains: what a parent adds, from one table for both sides.

For adding X to the parents S of Y,

.. math::
    D(Y; X \mid S) = n \hat I(Y; X \mid S) - \frac{\log n}{2} (r_Y - 1)(r_X - 1) q_S

with the information :math:`\hat I` taken from *one* estimate of :math:`P(Y, X, S)`. The
information and its gradient are zero where Y and X are independent given S; so any estimate
that is consistent at the usual rate makes the gain locally consistent with the ordinary penalty.
Scores that subtract averages over different rows are not. The estimate is that of the rows that
show all of the table, :math:`n` of them. They are not weighed by how probable it was that they
show it: what such weights mend of the bias is less than what they add to the variance.

The tables of all pairs come from one product: with a column of zeros and ones for each state
of each variable, and zeros where a row does not show it, the matrix times its transpose holds
every pair's counts. Products of row blocks add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, prod

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.structure.rows import CodedRows

BLOCK_ROWS = 2**14
SMALLEST = 1e-300  # only so that zero times its logarithm is zero
MOST_CELLS = 2**20
FEW_VARIABLES = 200  # with more, only pairs that are related are counted given others


def nlogn(counts: FloatArray) -> FloatArray:
    r""":math:`n \log n` of each count, zero at zero."""
    products: FloatArray = counts * np.log(np.maximum(counts, SMALLEST))
    return products


def xlogx(counts: FloatArray) -> float:
    r"""The sum of :math:`n \log n`, zero at zero."""
    flat = counts.ravel()
    return float(flat @ np.log(np.maximum(flat, SMALLEST)))


def information(table: FloatArray) -> float:
    """The sum of weights times the information between the first two axes, given the others.

    Examples
    --------
    Two variables that are always equal, each state twice, share log 2 in each of four rows.

    >>> round(information(np.array([[2.0, 0.0], [0.0, 2.0]])) / log(2), 12)
    4.0
    """
    one, two = table.sum(axis=1), table.sum(axis=0)
    return xlogx(table) - xlogx(one) - xlogx(two) + xlogx(one.sum(axis=0))


def gain_of(table: FloatArray, share: float = 1.0) -> float:
    """The paired gain of a table with axes Y, X, S...; ``share`` of the penalty is counted."""
    whole = float(table.sum())
    if whole < 2:
        return -np.inf
    free = (table.shape[0] - 1) * (table.shape[1] - 1) * prod(table.shape[2:])
    return float(information(table) - share * log(whole) / 2 * free)


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of some rows, each counted once.

    ``related`` are the variables that gain by each one alone, None for all.
    """

    rows: CodedRows
    share: float = 1.0  # of the penalty
    related: tuple[frozenset[int], ...] | None = None
    known: dict[tuple[int, int, frozenset[int]], float] = field(default_factory=dict)

    def is_related(self, one: int, two: int) -> bool:
        """Whether the gain of a pair is worth counting."""
        return self.related is None or two in self.related[one]

    def gain(self, one: int, two: int, given: frozenset[int]) -> float:
        """What either of two variables gains by the other, given some."""
        key = (min(one, two), max(one, two), given)
        if key not in self.known:
            self.known[key] = self._counted(key)
        return self.known[key]

    def _counted(self, key: tuple[int, int, frozenset[int]]) -> float:
        scope = [key[0], key[1], *sorted(key[2])]
        if prod(self.rows.sizes[node] + 1 for node in scope) > MOST_CELLS:
            return -np.inf
        return gain_of(self.rows.count(scope), self.share)


def pair_gains(rows: CodedRows) -> FloatArray:
    """The gains of all pairs given nothing; minus infinity for a variable with itself."""
    starts = np.cumsum((0, *rows.sizes[:-1]))
    tables = pair_tables(rows)
    margins = np.add.reduceat(tables, starts, axis=1)  # of each state among the rows with another
    totals = np.add.reduceat(margins, starts, axis=0)
    one = np.add.reduceat(nlogn(margins), starts, axis=0)
    both = np.add.reduceat(np.add.reduceat(nlogn(tables), starts, axis=0), starts, axis=1)
    free = np.array(rows.sizes) - 1
    gains = both - one - one.T + nlogn(totals)
    gains -= np.log(np.maximum(totals, 2)) / 2 * np.outer(free, free)
    gains[(totals < 2) | np.eye(len(rows), dtype=bool)] = -np.inf
    return gains


def related(gains: FloatArray) -> tuple[frozenset[int], ...] | None:
    """For each variable those that gain by it alone; None where there are few variables.

    In a large network most pairs are independent, and remain so given what is not related to
    either: only related ones are worth counting. In a small one all pairs are counted, so that
    no cause is missed which shows only together with another.
    """
    if len(gains) <= FEW_VARIABLES:
        return None
    return tuple(frozenset(np.flatnonzero(own > 0).tolist()) for own in gains)


def pair_tables(rows: CodedRows) -> FloatArray:
    """The tables of all pairs side by side."""
    starts = np.concatenate([[0], np.cumsum(rows.sizes)])
    total = np.zeros((starts[-1], starts[-1]))
    kind = np.float32 if rows.weights is None else np.float64  # a block's counts are exact
    for begin in range(0, rows.rows, BLOCK_ROWS):
        block = slice(begin, begin + BLOCK_ROWS)
        held = np.zeros((starts[-1], len(rows.columns[0][block])), kind)
        for node, column in enumerate(rows.columns):
            states = np.arange(rows.sizes[node])[:, None]
            held[starts[node] : starts[node + 1]] = column[block] == states
        weighted = held if rows.weights is None else held * rows.weights[block]
        total += weighted @ held.T
    return total
