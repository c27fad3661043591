"""Which rows of the data enter each factor of an estimand: the paper's appendix example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.estimate.estimands import Estimand, Factor

RowNumbers = NDArray[np.int64]


@dataclass(frozen=True)
class FactorRows:
    """A factor and the numbers of the rows that enter it, the first row being 1."""

    factor: Factor
    rows: RowNumbers


@dataclass(frozen=True)
class OrderRows:
    """One product of factors, each with its rows, and the rows of all of them together."""

    factors: tuple[FactorRows, ...]
    together: RowNumbers


def rows_entering(
    estimand: Estimand, table: EncodedTable, values: Mapping[str, int]
) -> tuple[OrderRows, ...]:
    """The rows that each factor of the estimand counts, for one configuration of its left side.

    A row enters a factor if it shows every variable that the factor mentions, or that its
    condition asks to be shown, and agrees with ``values`` where these say anything; the
    variables summed over are free.
    """
    return tuple(_order(order, table, values) for order in estimand.orders)


def _order(order: tuple[Factor, ...], table: EncodedTable, values: Mapping[str, int]) -> OrderRows:
    factors = tuple(FactorRows(factor, _rows(factor, table, values)) for factor in order)
    together = np.unique(np.concatenate([one.rows for one in factors]))
    return OrderRows(factors, together)


def _rows(factor: Factor, table: EncodedTable, values: Mapping[str, int]) -> RowNumbers:
    enters = table.is_shown((*factor.mentions, *factor.shown))
    for name in factor.mentions:
        if name in values:
            enters &= table.columns[name] == values[name]
    rows = np.flatnonzero(enters)
    return rows + 1 if table.row_numbers is None else table.row_numbers[rows]


def ranges(rows: RowNumbers) -> str:
    """Row numbers in words, runs of three and more as ranges.

    Examples
    --------
    >>> ranges(np.array([1, 2, 3, 7, 8]))
    '1-3, 7, 8'
    """
    breaks = np.flatnonzero(np.diff(rows) > 1) + 1
    words: list[str] = []
    for run in np.split(rows, breaks):
        words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run.tolist())
    return ", ".join(words) or "none"
