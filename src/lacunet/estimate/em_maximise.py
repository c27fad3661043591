r"""The maximisation: the posterior mode given expected counts, for all families at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.problem_layout import Layout
from lacunet.statistics.problem_ragged import Integers


@dataclass(frozen=True)
class Rows:
    """The rows of all CPTs, laid end to end: where each begins and how long it is."""

    begins: Integers
    lengths: Integers

    @classmethod
    def of(cls, layout: Layout) -> Rows:
        """The rows of a layout's CPTs."""
        sizes = np.diff(layout.offsets)
        lengths = np.repeat(layout.cardinalities, sizes // layout.cardinalities)
        return cls(np.cumsum(lengths) - lengths, lengths)

    def normalised(self, weights: FloatArray) -> FloatArray:
        """Each row divided by its sum; a row of zeros becomes uniform."""
        sums = np.repeat(np.add.reduceat(weights, self.begins), self.lengths)
        empty = sums == 0
        if empty.any():
            weights = np.where(empty, 1.0, weights)
            sums = np.where(empty, np.repeat(self.lengths, self.lengths), sums)
        rows: FloatArray = weights / sums
        return rows


def maximise(counts: FloatArray, rows: Rows, prior: float) -> FloatArray:
    r"""The CPTs of highest posterior given expected counts.

    .. math::
        \theta(x \mid u) \propto E[n(u, x)] + (\alpha - 1)

    The same line as `lacunet.estimate.method.posterior_mode`, for all families end to end.

    Examples
    --------
    >>> one_variable = Rows(np.array([0]), np.array([2]))
    >>> maximise(np.array([5.0, 3.0]), one_variable, 2.0).tolist()
    [0.6, 0.4]
    """
    return rows.normalised(counts + (prior - 1))


def log_prior(cells: FloatArray, prior: float) -> float:
    r"""The Dirichlet prior's part of the log-posterior, up to a constant.

    .. math::
        (\alpha - 1) \sum \log \theta
    """
    if prior == 1:
        return 0.0
    with np.errstate(divide="ignore"):
        return float((prior - 1) * np.log(cells).sum())


def random_cells(rows: Rows, rng: np.random.Generator) -> FloatArray:
    """CPTs whose rows are drawn uniformly from all distributions."""
    return rows.normalised(rng.standard_exponential(int(rows.lengths.sum())))
