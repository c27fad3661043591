"""Numbers about people that may be told: none from which a small count can be worked out.

With a threshold of :math:`k` rows, a count from 1 to :math:`k - 1` is not told. That alone does
not protect it: where all rows but a few are complete, the number of complete rows gives the few
away, and two tables that overlap differ by a cell of a third. So every other count is rounded to
a multiple of :math:`k`, and a probability that rests on :math:`n` rows to a multiple of
:math:`k / n`, which is the same for the rows behind it. Whatever is a difference of two such
numbers is then uncertain by about :math:`k`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.estimate.method import FamilyReport
from lacunet.model.network import FloatArray
from lacunet.statistics.counts import Counts
from lacunet.statistics.missing import rows_of


@dataclass(frozen=True)
class Disclosure:
    """What may be told of counts of rows; below two, ``min_count`` permits everything.

    Examples
    --------
    >>> told = Disclosure(min_count=10)
    >>> told.count(996), told.count(4), told.count(0)
    (1000.0, None, 0.0)
    >>> told.share(996, 1003)
    1.0
    """

    min_count: int = 0

    @property
    def is_limited(self) -> bool:
        """Whether anything is rounded or withheld."""
        return self.min_count > 1

    def count(self, rows: float) -> float | None:
        """A count of rows as it may be told; None where it is too small."""
        if not self.is_limited:
            return float(rows)
        return None if 0 < rows < self.min_count else float(self._round(np.asarray(rows)))

    def counts(self, rows: FloatArray) -> FloatArray:
        """Counts as they may be told, not a number where they are too small."""
        if not self.is_limited:
            return rows
        small = (rows > 0) & (rows < self.min_count)
        return np.where(small, np.nan, self._round(rows))

    def _round(self, rows: FloatArray) -> FloatArray:
        return np.asarray(np.rint(rows / self.min_count) * self.min_count)

    def share(self, rows: float, of: float) -> float | None:
        """The share of rows, from a count that may be told."""
        known = self.count(rows)
        return None if known is None else min(known / of, 1.0) if of else 0.0

    def probability(self, values: FloatArray, rows: FloatArray | float) -> FloatArray:
        """Probabilities in steps as wide as ``min_count`` of the rows that they rest on.

        ``rows`` may have fewer axes than ``values``: those in front.
        """
        if not self.is_limited:
            return values
        return self._in_steps(values, rows, np.rint)

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
        known = np.asarray(self._round(np.asarray(rows, dtype=float)))
        step = np.minimum(self.min_count / np.maximum(known, self.min_count), 1.0)
        step = step.reshape(step.shape + (1,) * (np.ndim(values) - step.ndim))
        return np.asarray(np.clip(rounded(values / step) * step, 0.0, 1.0))

    def withheld(self, counts: Counts) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Which configurations of all but the last variable would tell a small count.

        Each is withheld as a whole if any of its cells is too small: a single cell could be had
        from the others, as they sum to one.
        """
        rows = rows_of(counts)
        small = (rows > 0) & (rows < self.min_count) if self.is_limited else rows < 0
        return np.asarray(small.any(axis=-1))


EVERYTHING = Disclosure()


def rows_behind(report: FamilyReport) -> FloatArray:
    """How many rows are behind each parent configuration, whatever they weigh."""
    rows = rows_of(report.counts).sum(axis=-1)
    return np.asarray(np.where(report.support > 0, rows, 0.0))
