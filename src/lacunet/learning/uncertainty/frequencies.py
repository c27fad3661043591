r"""The variance of frequencies among the rows that show a family.

.. math::
    \mathrm{Var}(\theta) = \sum w^2 D^2 / n(u)^2, \qquad D = 1[x, u] - \theta 1[u]

*Answers.* Under MCAR the errors of different CPTs are uncorrelated: given the parents' states, and
whatever is shown, the error of a row's state has mean zero. So the variance of an answer is the
sum of what each cell of each family brings. Within groups it is not: there what each row moves the
answer by is added up (`lacunet.learning.closed_forms.influence`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lacunet.counts.counts import Counts, quotient
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.network.network import FloatArray, Tables

if TYPE_CHECKING:
    from lacunet.learning.uncertainty.delta import AnsweredQuery


def counted_spread(counts: Counts, table: FloatArray) -> Spread:
    """The spread of a CPT that is a frequency among the rows that show its family.

    Parameters
    ----------
    counts
        Counts of the family, child last, missing as a state.
    table
        The CPT, as learned.

    Examples
    --------
    >>> from lacunet.counts.counts import Counts, Tally
    >>> weights = np.array([30.0, 10.0, 60.0])
    >>> counts = Counts(("Ill",), (2,), np.array([0, 1, 2]), Tally(weights, weights, weights))
    >>> counted_spread(counts, np.array([0.75, 0.25])).sizes.round(6).tolist()
    [40.0, 40.0]
    """
    weight, squares = counts.dense(), counts.squares()
    total = weight.sum(axis=-1, keepdims=True)
    rates = quotient(weight, total)
    inside = squares * (1 - 2 * rates) + rates**2 * squares.sum(axis=-1, keepdims=True)
    variance = quotient(np.maximum(inside, 0.0), total**2, np.inf)
    return Spread.of_variance(table, rates, variance, row_sizes(counts)[..., None])


def row_sizes(counts: Counts) -> FloatArray:
    r"""How many rows of equal weight each CPT row rests on: :math:`(\sum w)^2 / \sum w^2`."""
    return quotient(counts.dense().sum(axis=-1) ** 2, counts.squares().sum(axis=-1))


def frequency_sizes(counts: Counts, rows: FloatArray) -> FloatArray:
    """The effective size of each row of a CPT whose entries are frequencies among so many rows."""
    weigh_one = counts.tally.squares is counts.tally.weights
    return rows if weigh_one else _frequencies(counts).row_sizes


def rows_per_weight(counts: Counts) -> FloatArray:
    """How many effective rows a unit of weight is, in each cell of a CPT, among rows that show it.

    One for rows that weigh one each, and where no row shows the family.
    """
    return quotient(_frequencies(counts).sizes, counts.dense().sum(axis=-1, keepdims=True), 1.0)


def _frequencies(counts: Counts) -> Spread:
    weight = counts.dense()
    return counted_spread(counts, quotient(weight, weight.sum(axis=-1, keepdims=True)))


@dataclass(frozen=True)
class Uncorrelated:
    """The covariance of CPTs that are frequencies: there is none between them."""

    counts_of: Mapping[str, Counts]  # of each variable's family, missing as a state
    pseudo_of: Tables  # the pseudo-counts of its cells
    degrees: ClassVar[float] = np.inf

    def variances(self, asked: AnsweredQuery, spread_of: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer."""
        from lacunet.learning.uncertainty.delta import moved_variances, with_pseudo_rows

        names = dict.fromkeys(name for gradient_of in asked.gradients for name in gradient_of)
        sizes_of = {name: spread_of[name].row_sizes[..., None] for name in names}
        squares_of = {name: self.counts_of[name].squares() for name in names}
        weight_of, total_of = {}, {}
        for name in names:
            weight_of[name] = self.counts_of[name].dense().sum(axis=-1, keepdims=True)
            total_of[name] = weight_of[name] + self.pseudo_of[name].sum(axis=-1, keepdims=True)
        variances = moved_variances(asked, squares_of, total_of)
        return with_pseudo_rows(asked, variances, self.pseudo_of, sizes_of, weight_of)
