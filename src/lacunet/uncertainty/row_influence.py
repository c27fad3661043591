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
that never show the family are settled by further steps (`lacunet.uncertainty.steps`), to which
the same formula applies: there :math:`n_g` are the rows still open, and :math:`\bar c_g` moves
these alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import added_up
from lacunet.statistics.distinct import Keys, pack
from lacunet.statistics.groups import group_rows
from lacunet.uncertainty.delta import Asked, centred, pseudo_variances, without_prior
from lacunet.uncertainty.spread import are_rows
from lacunet.uncertainty.steps import Step, steps


@dataclass(frozen=True)
class RowInfluence:
    """The covariance of all CPTs that direct deletion gave, as the rows they came from.

    ``scopes_of`` says what rows are grouped by for a variable's family, step by step; a family
    that is not there, or of which nothing is hidden, was counted on the rows that show it.
    """

    table: EncodedTable
    scopes_of: Mapping[str, tuple[Scope, ...]]
    prior: float

    def variances(self, asked: Asked) -> FloatArray:
        """The variance of each cell of an answer."""
        weights = np.ones(self.table.rows) if self.table.weights is None else self.table.weights
        moved = np.zeros((len(asked.gradients), self.table.rows))
        rows_of, grouped = {}, cache(partial(group_rows, self.table))
        for name in dict.fromkeys(name for one in asked.gradients for name in one):
            family = asked.network.family(name)
            hidden = tuple(one for one in family if self.table.missing_of[one])
            scopes = self.scopes_of.get(name, ()) if hidden else ()
            found_steps = steps(self.table, hidden, scopes, grouped)
            own = _FamilyRows.of(self.table, family, weights, found_steps)
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
    """The rows of one family: which of them show it, in which cell, and how they are settled.

    There are no ``steps`` where there are no groups; ``cells`` is the number of cells.
    """

    weights: FloatArray
    shown: NDArray[np.bool_]
    cell: Keys
    cells: int
    steps: Sequence[Step]

    @classmethod
    def of(
        cls, table: EncodedTable, family: Scope, weights: FloatArray, steps: Sequence[Step]
    ) -> _FamilyRows:
        sizes = [table.cardinality_of[name] for name in family]
        shown = table.is_shown(family)
        cell = pack([table.columns[v][shown] for v in family], sizes, int(shown.sum()))
        return cls(weights, shown, cell, prod(sizes), steps)

    @cached_property
    def shares(self) -> Sequence[tuple[FloatArray, ...]]:
        """Of each step, by group: the weight still open, that of the rows that show the family,
        and how many rows both are worth.
        """
        found = []
        for step in self.steps:
            mass = step.shown.groups.weights
            own = _squares(self.weights)
            entered, squares, entered_squares = (
                added_up(step.group, weights, len(mass))
                for weights in (self.weights * self.shown, own * (step.left > 0), own * self.shown)
            )
            sizes = _divided(mass**2, squares), _divided(entered**2, entered_squares)
            found.append((mass, entered, *sizes))
        return found

    @cached_property
    def counted(self) -> FloatArray:
        """The weight of each cell of the family, as direct deletion has it."""
        times = np.full(len(self.cell), 0.0 if self.steps else 1.0)
        for step, (mass, entered, *_) in zip(self.steps, self.shares, strict=True):
            times += _divided(mass, entered)[step.group[self.shown]]
        return np.asarray(added_up(self.cell, times * self.weights[self.shown], self.cells))

    def moved_by(self, moves: FloatArray) -> FloatArray:
        """What each row moves an answer by, given the move by a row more in each cell."""
        moved = np.zeros(len(self.weights))
        own = moves[self.cell]
        if not self.steps:
            moved[self.shown] = own
        for step, (mass, entered, number, size) in zip(self.steps, self.shares, strict=True):
            group = step.group[self.shown]
            mean = _divided(added_up(group, self.weights[self.shown] * own, len(mass)), entered)
            is_lone = size <= 1 + 1e-9
            mean[is_lone] = 0.0
            factor = np.sqrt(_divided((number - 1).clip(0) * size, number * (size - 1)))
            factor = _divided(mass, entered) * np.where(is_lone, 1.0, factor)
            moved += np.where(step.left > 0, mean[step.group], 0.0)
            moved[self.shown] += factor[group] * (own - mean[group])
        return moved


def _squares(weights: FloatArray) -> FloatArray:
    """The squared weight of each row, added up over the rows that it stands for."""
    return weights if are_rows(weights) else weights**2


def _divided(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))
