r"""What a test of independence is worth in a survey with clusters, strata or replicate weights.

Rows of one cluster are alike, so Pearson's :math:`X^2` is larger than its degrees of freedom on
average, also where two variables are independent. To first order, the residual of a cell is a sum
over rows,

.. math::
    H_{ij} = N_{ij} - \frac{N_{i+} N_{+j}}{N} \approx
    \sum_u w_u (1_{i_u = i} - N_{i+} / N) (1_{j_u = j} - N_{+j} / N)

whose variance the design tells: clusters left out in turn within their strata, or the replicates.
Then :math:`X^2 = \sum H_{ij}^2 / E_{ij}` is a sum of squares with the covariance matrix
:math:`V` of :math:`H_{ij} / \sqrt{E_{ij}}`, and

.. math::
    \frac{X^2}{\operatorname{tr} V} \sim F(d, d \nu), \qquad
    d = \frac{(\operatorname{tr} V)^2}{\operatorname{tr} V^2}

with the degrees of freedom :math:`\nu` of the design, clusters minus strata (J. N. K. Rao and A. J.
Scott, 1984, second order, by F. E. Satterthwaite; D. R. Thomas and J. N. K. Rao, 1987). The mean
design effect is the trace by the degrees of freedom of the table. Counts divided by it say how
many rows the table is worth.

The variance is that under independence, with :math:`E_{ij}` for what is expected; R's `svychisq`
takes what is observed in its place. Both agree where there is little dependence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.counts.distinct import Index, group_equal
from lacunet.counts.folds import FOLD, Dealing, deal_groups, divide_rows, folds_of
from lacunet.counts.units import Units
from lacunet.data.table import EncodedTable
from lacunet.missingness.independence.stratified import (
    DESIGN,
    TestResult,
    cramers,
    independence,
    pearson,
)
from lacunet.network.network import FloatArray, Network
from lacunet.network.nodes import Mechanism, Node

MAX_UNIT_CELLS = 2**22  # of the tables of all units that are held at once
SMALLEST_TOTAL = 1e-300  # of a stratum, so that one without rows divides nothing by zero
Cells = tuple[Index, Index, tuple[int, int, int]]


@dataclass(frozen=True, eq=False)
class SurveyRows:
    """Rows with what tells the variance of their sums."""

    table: EncodedTable
    scales: FloatArray  # what the squared distances of replicates count in the variance
    degrees: float  # of freedom of the variance
    unit: Index  # of each row, where there are no replicate weights
    multiples: FloatArray  # how much each unit counts in each replicate
    # The weights of each row in each replicate, if there are any.
    replicates: FloatArray | None = None

    @classmethod
    def of(cls, network: Network, table: EncodedTable) -> SurveyRows | None:
        """The rows of a table, if it has a design."""
        if table.design is None:
            return None
        factors = table.design.factors
        weights = table.design.replicates
        units = Units.of(table.design)
        if weights is not None and factors is not None:
            if table.copies is not None:
                weights = weights * table.copies.rows[:, None]
            return cls(
                table=table,
                scales=factors,
                degrees=units.degrees(),
                unit=np.zeros(table.rows, np.intp),
                multiples=np.eye(0),
                replicates=weights,
            )
        folds = folds_of(0, seed=0, units=units)
        assert folds is not None
        if folds.is_to_deal:
            folds = deal_groups(folds, Dealing.of(network, table, folds))
        rows = divide_rows(network, table, folds)
        return cls(
            table=rows,
            scales=folds.scales,
            degrees=folds.degrees,
            unit=rows.columns[FOLD].astype(np.intp),
            multiples=folds.samples[1:],
        )

    def test(self, rows: Index, cell: Index, shape: tuple[int, int, int]) -> TestResult | None:
        """Test whether two variables are independent within strata; None if nothing varies.

        Parameters
        ----------
        rows
            The rows that are used.
        cell
            The cell of each of them.
        shape
            The number of strata, and of the states of both.
        """
        from scipy.special import fdtrc

        weights = self.table.row_weights[rows]
        counts = np.bincount(cell, weights, np.prod(shape)).astype(np.float64).reshape(shape)
        products = self._products(counts, rows, cell)
        (statistic,), (freedom,), _ = pearson(counts[None])
        mean = float(np.trace(products))  # tr V
        if freedom == 0 or mean <= 0:
            return None
        worth = counts * freedom / mean
        degrees = mean**2 / float((products**2).sum())  # d
        return TestResult(
            statistic=float(statistic * freedom / mean),
            degrees_of_freedom=int(freedom),
            p_value=float(fdtrc(degrees, degrees * self.degrees, float(statistic) / mean)),
            effect=float(cramers(counts[None], np.array([statistic]))[0]),
            rows=float(worth.sum()),
            how=DESIGN,
        )

    def _products(self, counts: FloatArray, rows: Index, cell: Index) -> FloatArray:
        """The products of the scaled residuals of each two replicates.

        V has those of each two cells: the trace of either is the same, and that of its square.
        """
        size = counts.shape[1] * counts.shape[2]
        weight = float(self.table.row_weights[rows].sum())
        total_of = self._sums(np.zeros(len(rows), np.intp), rows, 1)[:, 0]
        step = max(1, MAX_UNIT_CELLS // (len(self.scales) * size))  # strata at once
        products = np.zeros((len(self.scales), len(self.scales)))
        for start in range(0, len(counts), step):
            is_inside = (cell >= start * size) & (cell < (start + step) * size)
            some = counts[start : start + step]
            sums = self._sums(cell[is_inside] - start * size, rows[is_inside], some.size)
            moved = residuals(some, sums.reshape(-1, *some.shape), total_of / weight)
            products += moved @ moved.T
        return np.asarray(products * np.sqrt(np.outer(self.scales, self.scales)))

    def _sums(self, cell: Index, rows: Index, cells: int) -> FloatArray:
        """The weight in each cell, by replicate."""
        if self.replicates is None:
            numbers = self.unit[rows] * cells + cell
            units = self.multiples.shape[1]
            sums = np.bincount(numbers, self.table.row_weights[rows], units * cells)
            return np.asarray(self.multiples @ sums.reshape(units, cells))
        each = [np.bincount(cell, weights[rows], cells) for weights in self.replicates.T]
        return np.stack(each).astype(np.float64)


def packed_cells(table: EncodedTable, left: Node, right: Node, given: Sequence[Node]) -> Cells:
    """The rows that show two nodes and the conditions of their test, and the cell of each.

    Then the number of strata that occur, and of the states of both. A condition whose own mechanism
    is one too leaves no row out: the rows that hide it are a group.
    """

    def size(node: Node) -> int:
        if isinstance(node, Mechanism):
            return 2
        return table.cardinality_of[node] + (node in grouped_nodes)

    def values(node: Node) -> Index:
        if isinstance(node, Mechanism):
            return table.is_shown((node.variable,))[used].astype(np.intp)
        return np.minimum(table.columns[node][used].astype(np.intp), size(node) - 1)

    grouped_nodes = {node for node in given if has_hidden_group(node, given)}
    names = [
        node
        for node in (left, right, *given)
        if isinstance(node, str) and node not in grouped_nodes
    ]
    used = np.flatnonzero(table.is_shown(names))
    strata, firsts = group_equal([*map(values, given)], [*map(size, given)], len(used))
    shape = len(firsts), size(left), size(right)
    return used, (strata * shape[1] + values(left)) * shape[2] + values(right), shape


def has_hidden_group(node: Node, others: Collection[Node]) -> bool:
    """Whether the rows that hide a variable are a group: its mechanism is among the others."""
    return isinstance(node, str) and Mechanism(node) in others


def independence_test(
    table: EncodedTable, survey: SurveyRows | None, left: Node, right: Node, given: Sequence[Node]
) -> TestResult:
    """Whether two nodes are independent given others: by a survey's design, if that tells."""
    if survey and (result := survey.test(*packed_cells(survey.table, left, right, given))):
        return result
    rows, cell, shape = packed_cells(table, left, right, given)
    counts = np.bincount(cell, table.row_weights[rows], np.prod(shape)).astype(np.float64)
    return independence(counts.reshape(shape), np.random.default_rng(0))


def residuals(counts: FloatArray, sums: FloatArray, shares: FloatArray) -> FloatArray:
    r"""How far each replicate moves :math:`H_{ij} / \sqrt{E_{ij}}`: a row for each.

    Parameters
    ----------
    counts
        The weight of all rows in each cell: axes strata, one, two.
    sums
        The same by replicate, along a first axis.
    shares
        The weight of each replicate by that of all rows, where all strata are taken together.

    Examples
    --------
    Of 25 rows for each cell, every one is a cluster: the mean statistic is about as large as that
    of independent rows, which is 1.

    >>> cell = np.repeat(np.arange(4), 25)
    >>> sums = 100 / 99 * (25 - np.eye(4)[cell]).reshape(-1, 1, 2, 2)
    >>> apart = residuals(np.full((1, 2, 2), 25.0), sums, np.ones(100))
    >>> round(float((0.99 * apart**2).sum()), 3)
    1.01
    """
    right = counts.sum(axis=2, keepdims=True)
    below = counts.sum(axis=1, keepdims=True)
    total = np.maximum(right.sum(axis=1, keepdims=True), SMALLEST_TOTAL)
    expected = right * below / total
    rows = sums.sum(axis=3, keepdims=True)
    columns = sums.sum(axis=2, keepdims=True)
    inside = rows.sum(axis=2, keepdims=True)
    moved = sums - (rows * below + columns * right - inside * expected) / total
    moved -= (counts - expected) * shares[:, None, None, None]
    root = np.sqrt(expected)
    np.divide(moved, root, out=moved, where=root > 0)
    moved[:, root == 0] = 0.0
    return np.asarray(moved.reshape(len(moved), -1))
