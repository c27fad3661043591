r"""What each row moves the answer of a query by, where CPTs come from direct deletion.

An answer depends on several CPTs, about which the same rows say something. So what a row moves
it by is added up over the families first, and squared then:

.. math::
    \mathrm{Var}(p) \approx \sum_i w_i^2 \Bigl( \sum_Y \psi_Y(i) \Bigr)^2

(or :math:`w_i` alone, where weights say how many rows there are).
With :math:`c` the move by one more row in each cell of a family (`centred`), :math:`\bar c_g` its
mean among the :math:`m_g` of the :math:`n_g` rows of a group that show the family,

.. math::
    \psi(i) = \bar c_g + [i \text{ shows}] \frac{n_g}{m_g} k_g (c_i - \bar c_g).

:math:`k_g` makes the variance within groups unbiased, as in `lacunet.uncertainty.influence`,
where also the groups with one such row are the same: that row stands for all. Rows of groups
that never show the family are stood for by the shares among all rows that do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import added_up
from lacunet.statistics.distinct import Index, Keys, pack
from lacunet.statistics.groups import group_rows
from lacunet.uncertainty.delta import Asked, centred, pseudo_variances, without_prior
from lacunet.uncertainty.spread import are_rows


@dataclass(frozen=True)
class RowInfluence:
    """The covariance of all CPTs that direct deletion gave, as the rows they came from.

    ``given_of`` says what rows were grouped by for a variable's family; a family that is not
    there, or of which nothing is hidden, was counted on the rows that show it.
    """

    table: EncodedTable
    given_of: Mapping[str, Scope]
    prior: float

    def variances(self, asked: Asked) -> FloatArray:
        """The variance of each cell of an answer."""
        weights = np.ones(self.table.rows) if self.table.weights is None else self.table.weights
        moved = np.zeros((len(asked.gradients), self.table.rows))
        rows_of, group_of = {}, {}
        for name in dict.fromkeys(name for one in asked.gradients for name in one):
            family = asked.network.family(name)
            hidden = [one for one in family if self.table.missing_of[one]]
            group = None
            if hidden and name in self.given_of:
                given = self.given_of[name]
                if given not in group_of:
                    group_of[given] = group_rows(self.table, given)[1]
                group = group_of[given]
            own = _FamilyRows.of(self.table, family, weights, group)
            cpt = asked.network.cpt(name).table
            rows_of[name] = own.counted.reshape(cpt.shape).sum(axis=-1, keepdims=True)
            rows = rows_of[name] + (self.prior - 1) * cpt.shape[-1]
            for at, gradient_of in enumerate(asked.gradients):
                if name in gradient_of:
                    moved[at] += own.moved_by(np.ravel(centred(gradient_of[name], cpt, rows)))
        found = (_squares(weights) * np.square(moved)).sum(axis=-1)
        found = found + pseudo_variances(asked, rows_of, self.prior)
        return without_prior(asked, found, rows_of, self.prior)


@dataclass(frozen=True)
class _FamilyRows:
    """The rows of one family: which of them show it, in which cell, and the group of each.

    ``group`` is None where there are no groups. ``part`` is the place of each row's shown
    values of the family's observed variables; ``cells`` and ``parts`` are how many there are.
    """

    weights: FloatArray
    shown: NDArray[np.bool_]
    cell: Keys
    cells: int
    group: Index | None
    part: Keys
    parts: int

    @classmethod
    def of(
        cls, table: EncodedTable, family: Scope, weights: FloatArray, group: Index | None
    ) -> _FamilyRows:
        sizes = [table.cardinality_of[name] for name in family]
        shown = table.is_shown(family)
        cell = pack([table.columns[v][shown] for v in family], sizes, int(shown.sum()))
        always = [name for name in family if not table.missing_of[name]]
        widths = [table.cardinality_of[name] for name in always]
        part = pack([table.columns[name] for name in always], widths, table.rows)
        return cls(weights, shown, cell, prod(sizes), group, part, prod(widths))

    @cached_property
    def shares(self) -> tuple[FloatArray, ...]:
        """By group: the weight of all rows and of those that show; the rows both are worth."""
        assert self.group is not None
        number = int(self.group.max(initial=-1)) + 1
        seen = self.shown * self.weights
        mass, entered = (added_up(self.group, one, number) for one in (self.weights, seen))
        squares = added_up(self.group, _squares(self.weights), number)
        entered_squares = added_up(self.group, _squares(self.weights) * self.shown, number)
        return (
            mass,
            entered,
            mass**2 / squares,
            _divided(entered**2, entered_squares),
        )

    @cached_property
    def fallen(self) -> tuple[FloatArray, FloatArray]:
        """By observed part: the weight of all rows, and of those whose group shows nothing."""
        assert self.group is not None
        is_fallen = (self.shares[1] == 0)[self.group]
        observed = added_up(self.part, self.weights, self.parts)
        return observed, added_up(self.part, self.weights * is_fallen, self.parts)

    @property
    def stand_in(self) -> FloatArray:
        """By observed part: how often a row that shows the family stands for fallen ones."""
        observed, fallen = self.fallen
        ratio = self.weights.sum() / max(self.weights[self.shown].sum(), 1e-300)
        return _divided(ratio * fallen, observed)

    @cached_property
    def counted(self) -> FloatArray:
        """The weight of each cell of the family, as direct deletion has it."""
        times = np.ones(len(self.cell))
        if self.group is not None:
            mass, entered, *_ = self.shares
            times = _divided(mass, entered)[self.group[self.shown]]
            times = times + self.stand_in[self.part[self.shown]]
        return np.asarray(added_up(self.cell, times * self.weights[self.shown], self.cells))

    def moved_by(self, moves: FloatArray) -> FloatArray:
        """What each row moves an answer by, given the move by a row more in each cell."""
        moved = np.zeros(len(self.weights))
        own = moves[self.cell]
        if self.group is None:
            moved[self.shown] = own
            return moved
        mass, entered, number, size = self.shares
        group = self.group[self.shown]
        mean = _divided(added_up(group, self.weights[self.shown] * own, len(mass)), entered)
        is_lone = size <= 1 + 1e-9
        mean[is_lone] = 0.0
        factor = np.sqrt(_divided((number - 1) * size, number * (size - 1)))
        factor = _divided(mass, entered) * np.where(is_lone, 1.0, factor)
        moved += mean[self.group]
        moved[self.shown] += factor[group] * (own - mean[group])
        return moved + self._standing_in(own)

    def _standing_in(self, own: FloatArray) -> FloatArray:
        """What rows move an answer by as members of fallen groups, or in their stead."""
        assert self.group is not None
        observed, fallen = self.fallen
        total, known = self.weights.sum(), self.weights[self.shown].sum()
        if not fallen.any() or not known:
            return np.zeros(len(self.weights))
        pooled = added_up(self.part[self.shown], self.weights[self.shown] * own, self.parts)
        pooled = pooled * (self.stand_in > 0)
        whole = float((self.stand_in * pooled).sum())
        by_part = whole / total - self.stand_in * _divided(pooled, observed)
        is_fallen = (self.shares[1] == 0)[self.group]
        moved = by_part[self.part]
        moved += is_fallen * (total / known * _divided(pooled, observed))[self.part]
        moved[self.shown] += self.stand_in[self.part[self.shown]] * own - whole / known
        return np.asarray(moved)


def _squares(weights: FloatArray) -> FloatArray:
    """The squared weight of each row, added up over the rows that it stands for."""
    return weights if are_rows(weights) else weights**2


def _divided(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))
