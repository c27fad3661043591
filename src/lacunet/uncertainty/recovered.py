"""How sure an estimate by an estimand is: the same estimand without each group of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lacunet.missingness.errors import NoRowsError
from lacunet.missingness.gathered import gathered_rows
from lacunet.missingness.verdict import Estimation, Verdict, columns_needed, estimate
from lacunet.model.network import FloatArray, Scope
from lacunet.model.table import Table
from lacunet.statistics.folds import GROUPS, Folds
from lacunet.uncertainty.spread import Spread


@dataclass(frozen=True)
class Recovered:
    """An estimate of a query, and the same from the rows without each of many groups.

    ``replicates`` has one row for each group, the cells of the query as columns. ``folds`` says
    how the groups were made.
    """

    found: Estimation
    replicates: FloatArray
    folds: Folds

    @property
    def covariance(self) -> FloatArray:
        """How the cells of the estimate vary together: the jackknife's covariance."""
        centre = self.replicates.mean(axis=0)
        if self.folds.left_out is not None:
            centre = np.nan_to_num(self.found.table.reshape(-1))
        apart = self.replicates - centre
        return np.asarray(apart.T @ (self.folds.scales[:, None] * apart))

    @property
    def spread(self) -> Spread:
        """The standard error and the interval of every cell."""
        flat = self.found.table.reshape(-1)
        known = np.nan_to_num(flat)
        rows = float(max(self.found.rows_used, 1))
        whole = Spread.of_variance(known, known, np.diag(self.covariance), rows)
        sizes = np.where(np.isnan(flat), 0.0, np.minimum(whole.sizes, rows))
        shape = self.found.table.shape
        degrees = self.folds.degrees
        return Spread(known.reshape(shape), known.reshape(shape), sizes.reshape(shape), degrees)

    def interval(self, level: float = 0.95) -> FloatArray:
        """The interval of every cell: the table's axes, then low and high."""
        return self.spread.interval(level)


Laws = Mapping[Scope, Table]


def recovered(
    verdict: Verdict,
    data: object,
    groups: int = GROUPS,
    *,
    population: Laws | None = None,
) -> Recovered:
    """Estimate a query, and again without each group of rows, by the estimand chosen first.

    What is known of the ``population`` is taken as exact.

    Raises
    ------
    NotRecoverableError
        The query is not recoverable, or no row shows what its estimand needs.
    """
    rows, folds = gathered_rows(verdict.graph, data, columns_needed(verdict), groups)
    assert folds is not None
    found = estimate(verdict, rows.sampled(folds.samples[0]), population)
    chosen = replace(verdict, term=found.term, find_terms=None)
    replicates = []
    for multiples in folds.samples[folds.replicates :]:
        try:
            again = estimate(chosen, rows.sampled(multiples), population).table.reshape(-1)
        except NoRowsError:
            again = np.full(found.table.size, np.nan)
        replicates.append(again)
    whole = np.stack(replicates)
    known = np.nan_to_num(found.table.reshape(-1))
    return Recovered(found, np.where(np.isnan(whole), known, whole), folds)
