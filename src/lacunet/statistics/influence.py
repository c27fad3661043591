r"""What rows move the estimate of direct deletion by: sums over groups that add up like counts.

Direct deletion gives :math:`\theta = T_{xu} / T_u` with :math:`T_y = \sum_g n_g P_g(y)` over
the groups :math:`g` of rows that agree on what is conditioned on; :math:`n_g` is the weight of
the group, :math:`m_g` that of its rows that show the family, :math:`P_g` their frequencies.
To first order the error of :math:`\theta` is the mean of :math:`D = 1[x, u] - \theta 1[u]`,
and its variance has two parts: how many rows fell into each group, and which of them show

.. math::
    \mathrm{Var}(\theta) \approx \frac{1}{T_u^2} \sum_g
    \Bigl( n_g d_g^2 + \frac{n_g^2 - n_g}{m_g} v_g \Bigr),

with the mean :math:`d_g` and the unbiased variance :math:`v_g` of :math:`D` among the rows of
:math:`g` that show the family (:math:`n_g d_g^2` alone overstates by :math:`n_g v_g / m_g`,
whence the difference in the numerator). Where all rows show the family this is
:math:`\sum D^2 / T_u^2`, the usual variance of a frequency. A group with one such row has no
variance of its own; :math:`D^2` stands in for it, which overstates.

With :math:`p = P_g(x, u)` and :math:`q = P_g(u)`: :math:`d = p - \theta q` and :math:`E D^2 =
p (1 - 2 \theta) + q \theta^2`. So everything is a polynomial in :math:`\theta` whose coefficients
are sums over groups.

*Moves.* The rows of fold :math:`f` move :math:`T_y` by

.. math::
    D_f(y) = \sum_g n_{gf} P_g(y) + \frac{n_g}{m_g} k_g \bigl( m_{gf}(y) - m_{gf} P_g(y) \bigr),

in all :math:`T_y`; :math:`k_g` makes the variance within groups unbiased, as above. Samples of
folds are then samples of moves, without a new estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import added_fields, added_up, quotient
from lacunet.statistics.distinct import Index, distinct
from lacunet.statistics.groups import FoldedGroups
from lacunet.statistics.problems.ragged import ranges, runs

PAIRS_AT_A_TIME = 2**22  # of a fold and a cell of the same group
LONE = 1 + 1e-9  # rows that show a family in a group, at most: they stand for all of it


@dataclass(frozen=True)
class Influence:
    r"""Sums over groups that the variance of every entry of a CPT is made of; they add up.

    ``weight`` is :math:`\sum n p`. With :math:`\alpha` and :math:`\beta` the coefficients of
    :math:`d^2` and of :math:`E D^2`: ``cells``, ``cross`` and ``rows`` are :math:`\sum \alpha p^2`,
    :math:`\sum \alpha p q` and :math:`\sum \alpha q^2`; ``inside`` and ``inside_rows`` are
    :math:`\sum \beta p` and :math:`\sum \beta q`. Those of rows have an axis of length one for
    the child. ``moves`` has the folds as its first axis.
    """

    weight: FloatArray
    cells: FloatArray
    cross: FloatArray
    rows: FloatArray
    inside: FloatArray
    inside_rows: FloatArray
    moves: FloatArray

    def __add__(self, other: Influence) -> Influence:
        return added_fields(self, other)

    def numerator(self, rates: FloatArray) -> FloatArray:
        r"""The variance times :math:`T_u^2`."""
        means = self.cells - 2 * rates * self.cross + rates**2 * self.rows
        squares = self.inside * (1 - 2 * rates) + rates**2 * self.inside_rows
        return np.asarray(np.maximum(means + squares, 0.0))


@dataclass(frozen=True)
class Moving:
    r"""What the groups of rows say about how sure any CPT is; the family is not looked at yet.

    ``share`` is :math:`P_g(y)` of each (group, cell) of ``shown``; ``alpha`` and ``beta`` are the
    coefficients of each group; ``direct`` is what each entry of the cells moves itself, ``moved``
    what each fold of a group moves the mean of the group by.
    """

    folded: FoldedGroups
    share: FloatArray
    alpha: FloatArray
    beta: FloatArray
    direct: FloatArray
    moved: FloatArray

    @classmethod
    def of(cls, folded: FoldedGroups) -> Moving:
        """That of groups of rows: those that show the partially observed part of a family."""
        shown = folded.whole[0]
        mass, group = shown.groups.weights, shown.group
        entered = added_up(group, shown.tally.weights, len(mass))
        squares = added_up(folded.mass.group, folded.mass.tally.squares, len(mass))
        number = quotient(mass**2, squares)  # n_g
        size = quotient(entered**2, added_up(group, shown.tally.squares, len(mass)))  # m_g
        rest = quotient(number**2 - number, size)
        beta = rest * quotient(size, size - 1, otherwise=1.0)
        alpha = np.where(size > 1, number - beta, number)
        unit = quotient(mass, number) ** 2
        factor = np.sqrt(quotient((number - 1).clip(0) * size, number * (size - 1)))
        times = quotient(mass, entered) * np.where(size <= LONE, 1.0, factor)  # n_g k_g / m_g
        moved = folded.mass.tally.weights - times[folded.mass.group] * _entered(folded)
        moved[(size <= LONE)[folded.mass.group]] = 0.0
        return cls(
            folded,
            share=shown.tally.weights / entered[group],  # p
            alpha=alpha * unit,
            beta=beta * unit,
            direct=times[folded.cells.group] * folded.cells.tally.weights,
            moved=moved,
        )

    def means(self, index: Index, cells: int) -> FloatArray:
        r"""What the means move: :math:`(n_{gf} - n_g k_g m_{gf} / m_g) P_g(y)`, by fold."""
        mass, shown = self.folded.mass, self.folded.whole[0]
        folds = self.folded.cells.cardinalities[-1]
        first, length = (numbers[mass.group] for numbers in shown.entries)
        moves = np.zeros(folds * cells)
        for begin, end in runs(np.cumsum(length) // PAIRS_AT_A_TIME):
            entry = np.repeat(np.arange(begin, end), length[begin:end])
            cell = ranges(first[begin:end], length[begin:end])
            moves += added_up(
                mass.cells[entry] * cells + index[cell],
                self.moved[entry] * self.share[cell],
                folds * cells,
            )
        return moves


def _entered(folded: FoldedGroups) -> FloatArray:
    """The weight of the rows of each group and fold that show the family: :math:`m_{gf}`."""
    mass, folds = folded.mass, folded.cells.cardinalities[-1] + 1
    keys = mass.group * folds + mass.cells  # ascending: groups, then folds
    entries = np.searchsorted(keys, folded.cells.group * folds + folded.fold)
    return added_up(entries, folded.cells.tally.weights, len(keys))


def influence(moving: Moving, family: Scope, sizes: Sequence[int]) -> Influence:
    """What the groups of rows say about how sure the CPT of a family is.

    Parameters
    ----------
    moving
        What they say whatever the family; they show all of its partially observed part.
    family, sizes
        The variables of the family, child last, and their numbers of states.
    """
    folded, share, alpha, beta = moving.folded, moving.share, moving.alpha, moving.beta
    shown, at_whole = folded.whole
    states, folds, configurations = sizes[-1], folded.cells.cardinalities[-1], prod(sizes[:-1])
    mass, group = shown.groups.weights, shown.group
    index = shown.in_family(family, sizes)
    pairs, pair = distinct(group * configurations + index // states, len(mass) * configurations)
    in_row = added_up(pair, share, len(pairs))  # q
    in_group, of_pair = np.divmod(pairs, configurations)

    def cells(values: FloatArray) -> FloatArray:
        return added_up(index, values, prod(sizes)).reshape(tuple(sizes))

    def rows(values: FloatArray) -> FloatArray:
        return added_up(of_pair, values, configurations).reshape((*sizes[:-1], 1))

    direct = added_up(
        folded.fold * prod(sizes) + index[at_whole], moving.direct, folds * prod(sizes)
    )
    moves = direct + moving.means(index, prod(sizes))
    return Influence(
        cells(mass[group] * share),
        cells(alpha[group] * share**2),
        cells(alpha[group] * share * in_row[pair]),
        rows(alpha[in_group] * in_row**2),
        cells(beta[group] * share),
        rows(beta[in_group] * in_row),
        moves.reshape(folds, *sizes),
    )
