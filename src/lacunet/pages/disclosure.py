"""Numbers about people that may be told: none from which a small count can be worked out.

With a threshold of :math:`k` rows, a count from 1 to :math:`k - 1` is not told. That alone does
not protect it: where all rows but a few are complete, the number of complete rows gives the few
away, and two tables that overlap differ by a cell of a third; rounding makes such differences
uncertain, but the ends of several ranges may still meet in one value. So hardly any count is
told at all: of the data, how many rows there are and how many miss each variable (a multiple of
:math:`k`, or all rows where fewer than :math:`k` do not); of CPTs, probabilities in steps of 1,
2 or 5 times a power of ten, at least :math:`k / n` where one rests on :math:`n` rows, so that the
steps do not tell :math:`n` either. Rows of CPTs with a small cell are withheld.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.families import FamilyReport
from lacunet.missingness.verdict import Estimation
from lacunet.model.network import FloatArray
from lacunet.pages.provenance import Provenance
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts

STEPS = np.array([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])


@dataclass(frozen=True)
class Disclosure:
    """What may be told of counts of rows; below two, ``min_count`` permits everything.

    ``rows`` is the number of all rows, which is told: a count that lacks fewer than ``min_count``
    of them is told as all of them.

    Examples
    --------
    >>> told = Disclosure(min_count=10, rows=1003)
    >>> told.count(996), told.count(742), told.count(4), told.count(0)
    (1003, 740, None, 0)
    """

    min_count: int = 0
    rows: float = 0

    @property
    def is_limited(self) -> bool:
        """Whether anything is rounded or withheld."""
        return self.min_count > 1

    def count(self, rows: float) -> float | None:
        """A count of rows as it may be told; None where it is too small."""
        if not self.is_limited or not rows:
            return rows
        if rows < self.min_count:
            return None
        is_nearly_all = self.rows - rows < self.min_count
        return self.rows if is_nearly_all else round(rows / self.min_count) * self.min_count

    def share(self, rows: float) -> float | None:
        """The share of all rows, from a count that may be told."""
        known = self.count(rows)
        return None if known is None else known / self.rows if self.rows else 0.0

    def probability(self, values: FloatArray, rows: FloatArray | float) -> FloatArray:
        """Probabilities in steps as wide as ``min_count`` of the rows that they rest on, or wider.

        ``rows`` may have fewer axes than ``values``: those in front.
        """
        return self._in_steps(values, rows, np.rint) if self.is_limited else values

    def interval(self, ends: FloatArray, rows: FloatArray) -> FloatArray:
        """Intervals whose ends are rounded outwards to such steps."""
        if not self.is_limited:
            return ends
        low = self._in_steps(ends[..., 0], rows, np.floor)
        high = self._in_steps(ends[..., 1], rows, np.ceil)
        return np.stack([low, high], -1)

    def _in_steps(
        self, values: FloatArray, rows: FloatArray | float, rounded: np.ufunc
    ) -> FloatArray:
        least = np.minimum(self.min_count / np.maximum(rows, self.min_count), 1.0)
        step = np.asarray(STEPS[np.searchsorted(STEPS, least - 1e-12)])
        step = step.reshape(step.shape + (1,) * (np.ndim(values) - step.ndim))
        return np.asarray(np.clip(rounded(values / step) * step, 0.0, 1.0))

    def without_hashes(self, source: Provenance) -> Provenance:
        """Where a page comes from, without what all rows but a few could be tried against."""
        if not self.is_limited:
            return source
        withheld = ((name, digest and "withheld") for name, digest in source.files)
        return replace(source, files=tuple(withheld))

    def withheld(self, counts: Counts) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Which configurations of all but the last variable would tell a small count.

        Each is withheld as a whole if any of its cells is too small: a single cell could be had
        from the others, as they sum to one.
        """
        rows = counts.row_counts()
        small = (rows > 0) & (rows < self.min_count) if self.is_limited else rows < 0
        return np.asarray(small.any(axis=-1))


def disclosed_estimation(
    estimation: Estimation, table: EncodedTable, disclosure: Disclosure
) -> Estimation:
    """An estimate as it may be told: withheld where a small count is behind it, else rounded.

    What only the rows used could give away, weights and warnings, is left out.
    """
    scope = (*estimation.given, *estimation.target)
    rows = count(table, [scope])[scope].row_counts()
    inner = tuple(range(len(estimation.given), rows.ndim))
    small = ((rows > 0) & (rows < disclosure.min_count)).any(axis=inner, keepdims=True)
    rounded = disclosure.probability(estimation.table, rows.sum(axis=inner))
    return replace(
        estimation,
        table=np.where(small, np.nan, rounded),
        rows_used=int(disclosure.count(estimation.rows_used) or 0),
        rows_shown=int(disclosure.count(estimation.rows_shown) or 0),
        share_used=disclosure.share(estimation.rows_used) or 0.0,
        given_share=np.full_like(estimation.given_share, np.nan),
        weighted_size=np.nan,
        largest_weight=np.nan,
        warnings=(),
    )


def rows_behind(report: FamilyReport) -> FloatArray:
    """How many rows are behind each parent configuration, whatever they weigh."""
    rows = report.counts.row_counts().sum(axis=-1)
    return np.asarray(np.where(report.support > 0, rows, 0.0))
