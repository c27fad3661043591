r"""What a test of independence is worth in a survey with clusters, strata or replicate weights.

Rows of one cluster are alike, so Pearson's :math:`X^2` is larger than its degrees of freedom on
average, also where two variables are independent. To first order, the residual of a cell is a sum
over rows,

.. math::
    H_{ij} = N_{ij} - \frac{N_{i+} N_{+j}}{N} \approx
    \sum_u w_u (1_{i_u = i} - N_{i+} / N) (1_{j_u = j} - N_{+j} / N)

whose variance the design tells: clusters left out in turn within their strata, or the replicates.
The mean of :math:`X^2` is then the sum of :math:`\mathrm{Var}(H_{ij}) / E_{ij}`, and divided by
the degrees of freedom that is the mean design effect. The statistic is divided by it (J. N. K. Rao
and A. J. Scott, 1984, first order). Dividing all counts does the same, and leaves the number of
rows that the table is worth.

The variance is that under independence, with :math:`E_{ij}` for what is expected; R's `svychisq`
takes what is observed in its place. Both agree where there is little dependence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.missingness.independence import pearson
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.distinct import Index
from lacunet.statistics.folds import FOLD, divided, folds_of
from lacunet.statistics.units import Units

MOST_STRATA = 5_000
MOST_CELLS = 2**22  # of the tables of all units that are held at once


@dataclass(frozen=True, eq=False)
class SurveyRows:
    """Rows with what tells the variance of their sums.

    ``replicates`` has the weights of each row in each replicate, or ``unit`` the unit of each row,
    and ``multiples`` how much each unit counts in each replicate. ``scales`` are what the squared
    distances of replicates count in a variance.
    """

    table: EncodedTable
    scales: FloatArray
    unit: Index
    multiples: FloatArray
    replicates: FloatArray | None = None

    @classmethod
    def of(cls, network: Network, table: EncodedTable) -> SurveyRows:
        """The rows of a table that has a design."""
        assert table.design is not None
        factors, weights = table.design.factors, table.design.replicates
        if weights is not None and factors is not None:
            if table.copies is not None:
                weights = weights * table.copies.rows[:, None]
            return cls(table, factors, np.zeros(table.rows, np.intp), np.eye(0), weights)
        folds = folds_of(None, 0, seed=0, units=Units.of(table.design))
        assert folds is not None
        rows = divided(network, table, folds)
        unit = rows.columns[FOLD].astype(np.intp)
        return cls(rows, folds.scales, unit, folds.samples[folds.replicates :])

    def scale(self, missing: str, cause: str, given: Scope) -> float:
        """What makes the counts of a test add up to the rows that they are worth.

        Zero where the counts do not vary.
        """
        rows = np.flatnonzero(self.table.is_shown((cause,)))
        size = self.table.cardinality_of[cause]
        strata, number = strata_of(self.table, given)
        is_shown = self.table.columns[missing][rows] < self.table.cardinality_of[missing]
        place = (strata[rows] * 2 + is_shown) * size + self.table.columns[cause][rows]
        weights = self.table.row_weights[rows]
        counts = np.bincount(place, weights, number * 2 * size).astype(np.float64)
        counts = counts.reshape(number, 2, size)
        total_of = self._sums(np.zeros(len(rows), np.intp), rows, 1)[:, 0]
        step = max(1, MOST_CELLS // (len(self.scales) * 2 * size))
        mean = 0.0
        for start in range(0, number, step):
            own = (place >= start * 2 * size) & (place < (start + step) * 2 * size)
            some = counts[start : start + step]
            sums = self._sums(place[own] - start * 2 * size, rows[own], some.size)
            sums = sums.reshape(-1, *some.shape)
            mean += mean_statistic(some, sums, total_of / weights.sum(), self.scales)
        freedom = int(pearson(counts[None])[1][0])
        return freedom / mean if mean > 0 else 0.0

    def _sums(self, place: Index, rows: Index, cells: int) -> FloatArray:
        """The weight in each cell, by replicate."""
        if self.replicates is None:
            numbers = self.unit[rows] * cells + place
            units = self.multiples.shape[1]
            sums = np.bincount(numbers, self.table.row_weights[rows], units * cells)
            return np.asarray(self.multiples @ sums.reshape(units, cells))
        each = [np.bincount(place, weights[rows], cells) for weights in self.replicates.T]
        return np.stack(each).astype(np.float64)


def mean_statistic(
    counts: FloatArray, sums: FloatArray, shares: FloatArray, scales: FloatArray
) -> float:
    r"""The mean of Pearson's statistic under independence, as the replicates have it.

    Parameters
    ----------
    counts
        The weight of all rows in each cell: axes strata, one, two.
    sums
        The same by replicate, along a first axis.
    shares
        The weight of each replicate by that of all rows, where all strata are taken together.
    scales
        What the squared distance of each replicate counts in a variance.

    Examples
    --------
    Of 25 rows for each cell, every one is a cluster: the statistic is about as large as that of
    independent rows, whose mean is 1.

    >>> cell = np.repeat(np.arange(4), 25)
    >>> sums = 100 / 99 * (25 - np.eye(4)[cell]).reshape(-1, 1, 2, 2)
    >>> counts = np.full((1, 2, 2), 25.0)
    >>> round(mean_statistic(counts, sums, np.ones(100), np.full(100, 0.99)), 3)
    1.01
    """
    right, below = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    total = np.maximum(right.sum(axis=1, keepdims=True), 1e-300)
    expected = right * below / total
    apart = counts - expected
    rows, columns = sums.sum(axis=3, keepdims=True), sums.sum(axis=2, keepdims=True)
    inside = rows.sum(axis=2, keepdims=True)
    residuals = sums - (rows * below + columns * right - inside * expected) / total
    residuals -= apart * shares[:, None, None, None]
    variance = np.einsum("b,bsij->sij", scales, residuals**2)
    return float(np.divide(variance, expected, out=variance, where=expected > 0).sum())


def strata_of(table: EncodedTable, given: Scope) -> tuple[Index, int]:
    """The stratum of each row by some variables, as many as make few strata, and their number."""
    codes, number = np.zeros(table.rows, np.intp), 1
    for name in given:
        if number * table.cardinality_of[name] > MOST_STRATA:
            break
        codes = codes * table.cardinality_of[name] + table.columns[name]
        number *= table.cardinality_of[name]
    return codes, number
