r"""Credible intervals: what rows and experts together leave open.

Experts whose CPT rows count as :math:`s` rows are a Dirichlet prior :math:`\mathrm{Dir}(A)`,
:math:`A = s \, \theta_{\mathrm{experts}}`. With complete rows the posterior of a CPT row is
:math:`\mathrm{Dir}(A + n)`: the estimate :math:`\theta = (A + n) / \sum (A + n)` is its mean, and
each entry has a Beta distribution.

With incomplete rows the same holds in approximation. In log-ratios :math:`\log \theta_x /
\theta_0` the density of the prior is :math:`\prod \theta^A`, so that EM with :math:`A` as
pseudo-counts ends at the mode there, and the observed information, with the prior's in it, gives
the covariance :math:`V` around it (Laplace). An entry or an answer :math:`p` of variance :math:`v`
by the delta method then has the distribution

.. math::
    \mathrm{Beta}(m p, m (1 - p)), \qquad m = p (1 - p) / v,

which is the exact one for the entries of CPTs where rows are complete: :math:`m = \sum (A + n)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.errors import as_level
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.delta import AnsweredQuery, moved_variances
from lacunet.learning.uncertainty.rate_matrix import SINGULAR, Direction, EmSpreads, Free
from lacunet.network.network import FloatArray, Tables


@dataclass(frozen=True)
class PosteriorSpread(Spread):
    """A table of posterior means, and how many rows each is as sure as from, experts' included.

    ``prior_rows`` are those of the experts, one number for each row of a CPT.
    """

    prior_rows: FloatArray | float = 0.0

    @property
    def row_sizes(self) -> FloatArray:
        """The effective size of each row of a CPT by the rows alone, without the experts'."""
        return np.maximum(super().row_sizes - self.prior_rows, 0.0)

    @property
    def standard_error(self) -> FloatArray:
        """The posterior standard deviation of each entry; infinite where nothing is known."""
        spread = self.table * (1 - self.table)
        known = np.sqrt(spread / (self.sizes + 1))
        return np.where((self.sizes == 0) & (spread > 0), np.inf, known)

    def at_table(self, table: FloatArray) -> Spread:
        """Another table, as well known."""
        return replace(self, table=table, rates=table)

    def interval(self, level: float = 0.95) -> FloatArray:
        """The equal-tailed credible interval of each entry: the table's axes, then low and high.

        A mean that lies outside, as that of an entry near 0 may, is where it ends then.

        Examples
        --------
        Experts count as 20 rows and say a half; 12 of 20 rows agree: Beta(22, 18).

        >>> table = np.array([0.55, 0.45])
        >>> PosteriorSpread(table, table, np.array([40.0, 40.0])).interval()[0].round(3).tolist()
        [0.396, 0.699]
        """
        from scipy.special import betaincinv

        level = as_level(level)
        table = self.table
        is_sure = np.isinf(self.sizes) | (table <= 0) | (table >= 1)
        is_unknown = (self.sizes == 0) & ~is_sure
        is_plain = ~is_sure & ~is_unknown
        sizes = np.where(is_plain, self.sizes, 2.0)
        means = np.where(is_plain, table, 0.5)
        ends = []
        for share, end in ((1 - level) / 2, 0.0), ((1 + level) / 2, 1.0):
            value = np.where(is_unknown, end, betaincinv(sizes * means, sizes * (1 - means), share))
            ends.append(np.where(is_sure, table, value))
        low, high = ends
        return np.stack([np.minimum(low, table), np.maximum(high, table)], axis=-1)


@dataclass(frozen=True)
class DirichletPosterior:
    """The posterior of CPTs whose rows are complete: a Dirichlet distribution for each CPT row.

    Its parameters are the pseudo-counts and the counts of every cell.
    """

    pseudo_of: Tables
    counts_of: Tables
    degrees: ClassVar[float] = np.inf
    doubts: ClassVar[tuple[str, ...]] = ()

    @property
    def alpha_of(self) -> dict[str, FloatArray]:
        """The parameters of every CPT row."""
        return {name: pseudo + self.counts_of[name] for name, pseudo in self.pseudo_of.items()}

    def spreads(self, tables: Tables) -> dict[str, Spread]:
        """How sure each CPT is."""
        spread_of: dict[str, Spread] = {}
        for name, alpha in self.alpha_of.items():
            table = tables[name]
            sums = alpha.sum(axis=-1, keepdims=True)
            prior_rows = self.pseudo_of[name].sum(axis=-1)
            sizes = np.broadcast_to(sums, table.shape)
            spread_of[name] = PosteriorSpread(table, table, sizes, prior_rows=prior_rows)
        return spread_of

    def variances(self, asked: AnsweredQuery, _: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer."""
        alpha_of = self.alpha_of
        sums = {name: alpha.sum(axis=-1, keepdims=True) for name, alpha in alpha_of.items()}
        return moved_variances(asked, alpha_of, sums)


@dataclass(frozen=True)
class EmPosterior:
    """The posterior around where EM ended."""

    covariance: FloatArray  # of the free parameters, without the lost directions
    # A column for each direction about which neither rows nor experts say anything.
    lost: FloatArray
    free: Free
    layout: Layout
    sizes_of: Tables
    pseudo_of: Tables
    weak_directions: tuple[Direction, ...]
    doubts: tuple[str, ...] = ()
    degrees: ClassVar[float] = np.inf

    @classmethod
    def of(cls, em: EmSpreads, cells: FloatArray) -> EmPosterior:
        """From the covariance that EM's observed information gives, pseudo-counts included.

        A cell that EM does not move is as sure as its whole CPT row, experts' rows included.
        """
        free, layout = em.free, em.layout
        number = np.arange(len(free.cell))
        moves = np.zeros((len(cells), free.number))  # of all cells by those that are free
        moves[free.cell, number] = 1.0
        moves[free.reference, number] = -1.0
        for shape, part in zip(free.shapes, free.parts, strict=True):
            moves[shape.cells, part] = shape.jacobian.T
        variance = np.einsum("ij,jk,ik->i", moves, em.covariance, moves)
        is_lost = (np.abs(moves @ em.lost) > SINGULAR).any(axis=1)
        pseudo_of = layout.tables(em.pseudo)
        in_row = {
            name: np.broadcast_to(pseudo.sum(axis=-1, keepdims=True), pseudo.shape)
            for name, pseudo in pseudo_of.items()
        }
        whole = em.rows + layout.flat(in_row)
        for shape in free.shapes:  # each row is known from others too
            whole[shape.cells] = np.inf
        sizes = np.divide(cells * (1 - cells), variance, out=whole.copy(), where=variance > 0)
        sizes = np.where(is_lost, 0.0, np.minimum(sizes, whole))  # complete rows tell no more
        return cls(
            em.covariance,
            em.lost,
            free,
            layout,
            layout.tables(sizes),
            pseudo_of,
            em.weak_directions,
            em.doubts,
        )

    def spreads(self, tables: Tables) -> dict[str, Spread]:
        """How sure each CPT is."""
        spread_of: dict[str, Spread] = {}
        for name, sizes in self.sizes_of.items():
            prior_rows = self.pseudo_of[name].sum(axis=-1)
            table = tables[name]
            spread_of[name] = PosteriorSpread(table, table, sizes, prior_rows=prior_rows)
        return spread_of

    def variances(self, asked: AnsweredQuery, _: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer; infinite if a lost direction moves it."""
        nothing = {name: np.zeros(sizes.shape) for name, sizes in self.sizes_of.items()}
        variances = np.zeros(len(asked.gradients))
        for index, gradient_of in enumerate(asked.gradients):
            cells = self.layout.added({**nothing, **gradient_of})
            moved = self.free.gathered(cells)
            variances[index] = moved @ self.covariance @ moved
            if (np.abs(moved @ self.lost) > SINGULAR).any():
                variances[index] = np.inf
        return variances


Posterior = DirichletPosterior | EmPosterior


def posterior_of_answer(asked: AnsweredQuery, posterior: Posterior) -> Spread:
    """The posterior of an answer; one that nothing moves is sure."""
    answer = asked.answer
    variances = posterior.variances(asked, {}).reshape(answer.shape)
    sizes = quotient(answer * (1 - answer), variances, np.inf)
    return PosteriorSpread(answer, answer, np.where(variances > 0, sizes, np.inf))
