r"""A CPT with its variances: standard errors, effective sizes and intervals.

*Effective size* has one meaning everywhere: an entry with the variance :math:`v` is known as
well as from

.. math::
    n_\mathrm{eff}(x \mid u) = \theta (1 - \theta) / v

complete rows with the parents' states :math:`u`. Its interval is that of so many rows: the
quantiles of :math:`\mathrm{Beta}(n_\mathrm{eff} \theta + \tfrac12,
n_\mathrm{eff} (1 - \theta) + \tfrac12)`, which stay between 0 and 1 and are right for small
numbers, where :math:`\theta \pm 2` standard errors are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.errors import LacunetError
from lacunet.model.network import FloatArray

FEW_ROWS = 30.0  # entries known from fewer rows are flagged
WIDE = 1.3  # and those whose interval is wider than this times the entry


@dataclass(frozen=True)
class Spread:
    """A table of probabilities and the variance of each; infinite where nothing is known."""

    table: FloatArray
    variance: FloatArray

    @classmethod
    def of_sizes(cls, table: FloatArray, sizes: FloatArray) -> Spread:
        """The spread of entries that are known as well as from so many complete rows."""
        spread = table * (1 - table)
        variance = np.divide(spread, sizes, out=np.full_like(spread, np.inf), where=sizes > 0)
        return cls(table, variance)

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of each entry."""
        return np.asarray(np.sqrt(self.variance))

    @property
    def sizes(self) -> FloatArray:
        r"""The effective size of each entry.

        An entry that is 0 or 1 without any variance takes the smallest size of its row.
        """
        spread = self.table * (1 - self.table)
        known = self.variance > 0
        sizes = np.divide(spread, self.variance, out=np.full_like(spread, np.inf), where=known)
        least = sizes.min(axis=-1, keepdims=True, initial=np.inf)
        least = np.where(np.isfinite(least), least, 0.0)
        return np.where(np.isfinite(sizes), sizes, least)

    @property
    def row_sizes(self) -> FloatArray:
        """The effective size of each row of a CPT: the smallest over the child's states."""
        return np.asarray(self.sizes.min(axis=-1))

    def interval(self, level: float = 0.95) -> FloatArray:
        """The interval of each entry: the table's axes, then low and high.

        Examples
        --------
        Ten of forty rows.

        >>> quarter = np.array([0.25, 0.75])
        >>> spread = Spread(quarter, quarter * (1 - quarter) / 40)
        >>> spread.interval()[0].round(3).tolist()
        [0.136, 0.398]
        """
        from scipy.special import betaincinv

        if not 0 < level < 1:
            raise LacunetError(f"the level {level!r} is not between 0 and 1.", "try level=0.95.")
        yes, no = self.sizes * self.table + 0.5, self.sizes * (1 - self.table) + 0.5
        tails = [(1 - level) / 2, (1 + level) / 2]
        return np.stack([betaincinv(yes, no, tail) for tail in tails], axis=-1)

    def is_vague(self, level: float = 0.95) -> FloatArray:
        """Whether an entry rests on few rows, or has an interval wider than 130% of itself."""
        low, high = np.moveaxis(self.interval(level), -1, 0)
        return np.asarray((self.sizes < FEW_ROWS) | (high - low > WIDE * self.table))
