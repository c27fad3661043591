r"""The variance of direct deletion in one pass over the counts that it is made from.

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

Groups without a row that shows the family take the pooled frequencies given their observed
part: the rows that show the family with that part then stand for these groups as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.counts import Counts, added_up
from lacunet.statistics.distinct import Keys, distinct
from lacunet.statistics.groups import GroupedCounts
from lacunet.uncertainty.spread import Spread


def direct_mcar_spread(counts: Counts, table: FloatArray) -> Spread:
    r"""The spread of a CPT by direct deletion for MCAR data, or listwise deletion.

    .. math::
        \mathrm{Var}(\theta) = \sum w^2 D^2 / n(u)^2

    Parameters
    ----------
    counts
        Counts of the family, child last, missing as a state.
    table
        The CPT, as learned.

    Examples
    --------
    >>> from lacunet.statistics.counts import Counts, Tally
    >>> weights = np.array([30.0, 10.0, 60.0])
    >>> counts = Counts(("Ill",), (2,), np.array([0, 1, 2]), Tally(weights, weights, weights))
    >>> direct_mcar_spread(counts, np.array([0.75, 0.25])).sizes.round(6).tolist()
    [40.0, 40.0]
    """
    shown = counts.showing(counts.scope)
    squares = np.zeros(prod(counts.cardinalities))
    squares[_place(shown)] = shown.tally.squares
    squares = squares.reshape(counts.cardinalities)
    row = squares.sum(axis=-1, keepdims=True)
    weight = counts.dense()
    total = weight.sum(axis=-1, keepdims=True)
    rates = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    spread = squares * (1 - rates) ** 2 + (row - squares) * rates**2
    return Spread.of_variance(table, rates, _divided(spread, total**2))


def direct_mar_spread(
    shown: GroupedCounts, counts: Counts, table: FloatArray, squares: FloatArray | None = None
) -> Spread:
    """The spread of a CPT by direct deletion within groups: direct-mar, informed-direct.

    Parameters
    ----------
    shown
        Counts of the family's partially observed part within each group, among the rows that
        show all of it.
    counts
        Counts over the whole family, child last, missing as a state.
    table
        The CPT, as learned.
    squares
        The sum of the squared weights of each group's rows; None if every row weighs one.
    """
    pairs = _Pairs.of(shown, counts)
    mass = shown.groups.weights
    number = mass if squares is None else np.divide(mass**2, squares)  # n_g
    enter = added_up(shown.group, shown.tally.weights, len(mass))
    square = added_up(shown.group, shown.tally.squares, len(mass))
    size = np.divide(enter**2, square, out=np.zeros_like(mass), where=square > 0)  # m_g
    observed = _observed_place(shown, counts)
    fallen = added_up(observed, np.where(enter > 0, 0.0, mass), pairs.observed_cells)
    behind = added_up(observed, size, pairs.observed_cells)
    per_row = np.divide(fallen, behind, out=np.zeros_like(fallen), where=behind > 0)[observed]
    pooled = _Pooled.of(pairs, observed, fallen, size)

    group = pairs.group
    weight = np.zeros((pairs.rows, counts.cardinalities[-1]))
    np.add.at(weight, pairs.row, mass[group][:, None] * pairs.share)
    weight += pooled.weight
    total = weight.sum(axis=1, keepdims=True)  # T_u
    rates = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    rows, number = size[group], number[group]
    scale = number + per_row[group] * rows  # as if the group had so many rows
    variance = np.empty_like(rates)
    for state in range(rates.shape[1]):
        share, rate = pairs.share[:, state], rates[pairs.row, state]
        mean = share - rate * pairs.parents  # d_g
        square = share * (1 - rate) ** 2 + (pairs.parents - share) * rate**2
        unbiased = np.divide(rows, rows - 1, out=np.ones_like(rows), where=rows > 1)
        scatter = np.where(rows > 1, (square - mean**2) * unbiased, square)  # v_g
        part = number * mean**2 + scatter * (scale**2 - number) / rows
        variance[:, state] = added_up(pairs.row, part * (mass[group] / number) ** 2, pairs.rows)
        variance[:, state] += pooled.variance(state, rates[:, state])
    shape = table.shape
    variance = _divided(variance, total**2)
    return Spread.of_variance(table, rates.reshape(shape), variance.reshape(shape))


@dataclass(frozen=True)
class _Pairs:
    """The groups and rows of the CPT that occur together, with the shares of each state.

    ``group`` and ``row`` go together; ``parents`` is :math:`P_g(u)`, ``share`` has
    :math:`P_g(x, u)` for every state of the child.
    """

    group: Keys
    row: Keys
    parents: FloatArray
    share: FloatArray
    rows: int
    observed_cells: int

    @classmethod
    def of(cls, shown: GroupedCounts, counts: Counts) -> _Pairs:
        states = counts.cardinalities[-1]
        rows = prod(counts.cardinalities[:-1])
        row, state = np.divmod(family_place(shown, counts), states)
        found, pair = distinct(shown.group.astype(np.int64) * rows + row, _bound(shown, rows))
        weight = np.zeros((len(found), states))
        np.add.at(weight, (pair, state), shown.tally.weights)
        group, row = np.divmod(found, rows)
        entered = added_up(shown.group, shown.tally.weights, len(shown.groups.weights))
        share = weight / entered[group][:, None]
        observed = prod(
            size
            for name, size in zip(counts.scope, counts.cardinalities, strict=True)
            if name not in shown.scope
        )
        return cls(group, row, share.sum(axis=1), share, rows, observed)


@dataclass(frozen=True)
class _Pooled:
    """What the groups without a row of their own add: pooled shares for each observed part.

    ``parents`` and ``share`` are the pooled shares of rows of the CPT and of its cells, one
    entry for each pair of an observed part and a row that occurs.
    """

    row: Keys
    fallen: FloatArray
    parents: FloatArray
    share: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, pairs: _Pairs, observed: Keys, fallen: FloatArray, size: FloatArray) -> _Pooled:
        part = observed[pairs.group]
        found, place = distinct(part * pairs.rows + pairs.row, len(fallen) * pairs.rows)
        behind = added_up(observed, size, len(fallen))
        weight = np.zeros((len(found), pairs.share.shape[1]))
        np.add.at(weight, place, pairs.share * size[pairs.group][:, None])
        part, row = np.divmod(found, pairs.rows)
        share = weight / behind[part][:, None]
        weight = np.zeros((pairs.rows, share.shape[1]))
        np.add.at(weight, row, fallen[part][:, None] * share)
        return cls(row, fallen[part], share.sum(axis=1), share, weight)

    def variance(self, state: int, theta: FloatArray) -> FloatArray:
        """What the number of rows in the groups that fell back adds."""
        mean = self.share[:, state] - theta[self.row] * self.parents
        return added_up(self.row, self.fallen * mean**2, len(theta))


def family_place(cells: GroupedCounts, counts: Counts) -> Keys:
    """Where each (group, cell) lies in the family's table; the cells show all of it."""
    columns = dict(zip(cells.scope, cells.columns(), strict=True))
    place = np.zeros(len(cells.cells), dtype=np.int64)
    for name, size in zip(counts.scope, counts.cardinalities, strict=True):
        place *= size
        if name in columns:
            place += columns[name]
        else:
            place += cells.groups.configs[cells.groups.scope.index(name)][cells.group]
    return place


def _observed_place(cells: GroupedCounts, counts: Counts) -> Keys:
    return cells.groups.place([name for name in counts.scope if name not in cells.scope])


def _place(shown: Counts) -> Keys:
    from lacunet.statistics.distinct import pack, unpack

    return pack(unpack(shown.keys, shown.radices), shown.cardinalities, len(shown.keys))


def _bound(shown: GroupedCounts, rows: int) -> int:
    return len(shown.groups.weights) * rows


def _divided(part: FloatArray, whole: FloatArray) -> FloatArray:
    whole = np.broadcast_to(whole, part.shape)
    divided = np.divide(part, whole, out=np.full(part.shape, np.inf), where=whole > 0)
    return np.asarray(divided, np.float64)
