r"""A CPT and how sure each entry is: standard errors, effective sizes and intervals.

*Effective size* has one meaning everywhere: an entry whose rows say :math:`p` with the
variance :math:`v` is known as well as from

.. math::
    n_\mathrm{eff}(x \mid u) = p (1 - p) / v

complete rows with the parents' states :math:`u`. Its interval is that of so many rows: the
quantiles of :math:`\mathrm{Beta}(n_\mathrm{eff} p + \tfrac12, n_\mathrm{eff} (1 - p) +
\tfrac12)`, which stay between 0 and 1 and are right for small numbers, where two standard
errors to either side are not. Where all rows agree, it reaches to 0 or 1: what was never seen
may be impossible (L. D. Brown, T. T. Cai and A. DasGupta, 2001). EM and factorisations give what no
row shows a little probability all the same, as the prior does. That is no proof: such an entry's
interval reaches to 0 too, unless its rate is :math:`z` standard errors above, :math:`z = 1.96` for
a level of 95%; and that of an entry of which no row shows another state reaches to 1 likewise.

The learned entry :math:`\theta` differs from :math:`p` by the prior's pseudo-counts. Intervals
are made from :math:`p`: around :math:`\theta`, those of rare states covered the truth in 71%
of cases instead of 95% (see docs/details/uncertainty.md). Where the pull of the prior is so strong
that :math:`\theta` lies outside, the interval is stretched to hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.errors import as_level
from lacunet.network.network import FloatArray

HALF_A_ROW = 0.5 - 1e-9  # or what rounding leaves of it
RATE_ROUNDING = 1e-12  # a rate that is no further from 0 or 1 is that
ROUNDING_OF_ROWS = 1e-6  # an effective size below is what rounding leaves of none


@dataclass(frozen=True)
class Spread:
    """A table of probabilities, what the rows alone say, and the effective size of each."""

    table: FloatArray  # as learned, prior included
    rates: FloatArray  # the rows' own
    sizes: FloatArray  # zero where the rows say nothing, infinite where nothing is uncertain
    # Of freedom of the variances behind the sizes, of all or of each; infinite where these are
    # not estimated from a few replicates.
    degrees: FloatArray | float = np.inf
    # Of 0 and of 1, on a last axis: whether no row rules it out.
    open_ends: NDArray[np.bool_] | bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", round_to_ends(self.rates))
        object.__setattr__(self, "sizes", np.where(self.sizes < ROUNDING_OF_ROWS, 0.0, self.sizes))

    @classmethod
    def of_variance(
        cls,
        table: FloatArray,
        rates: FloatArray,
        variance: FloatArray,
        rows: FloatArray | float = np.inf,
    ) -> Spread:
        """From the variance of the rates; infinite where the rows say nothing.

        A rate of 0 or 1 shows no variance, one that less than half a row speaks for none that
        means anything: it takes the smallest size of its row, if that is smaller. Where all
        rates of a row are such, ``rows`` (one for each row, on an axis of length one) say how
        many there were.
        """
        rates = round_to_ends(rates)
        spread = rates * (1 - rates)
        known = (variance > 0) & (spread > 0)
        sizes = np.divide(spread, variance, out=np.full(spread.shape, np.inf), where=known)
        sizes = np.where(np.isinf(variance), 0.0, sizes)
        alone = ~known | (np.where(known, sizes, 0.0) * np.minimum(rates, 1 - rates) < HALF_A_ROW)
        alone &= sizes > 0
        least = np.where(alone, np.inf, sizes).min(axis=-1, keepdims=True)
        sizes = np.where(alone, np.minimum(sizes, np.minimum(least, rows)), sizes)
        return cls(table, rates, np.where(np.isinf(sizes), 0.0, sizes))

    def supported_by(self, support: FloatArray) -> Spread:
        """The same where CPT rows that no row of the data supports are not known at all.

        A CPT row whose rows all agree, but for less than half a row, is known from no more than
        there are.
        """
        rows = support[..., None]
        agree = self.agree_in(rows)
        sizes = np.where(agree, np.minimum(self.sizes, rows), self.sizes)
        return replace(self, sizes=np.where(rows == 0, 0.0, sizes))

    def shown_by(self, counts: FloatArray) -> Spread:
        """The same where rows that show the whole family, so many in each cell, rule out 0 or 1."""
        others = counts.sum(axis=-1, keepdims=True) - counts
        return replace(self, open_ends=np.stack([counts, others], axis=-1) == 0)

    def at_table(self, table: FloatArray) -> Spread:
        """Another table that is as well known."""
        rates = np.clip(self.rates + table - self.table, 0, 1)
        return Spread(
            table=table,
            rates=rates,
            sizes=self.sizes,
            degrees=self.degrees,
            open_ends=self.open_ends,
        )

    @property
    def rates_of_shown(self) -> FloatArray:
        """The rates, 0 where no row rules that out; the rates themselves if there are none such."""
        is_open = self.ends[..., 0] & (self.rates > 0)
        return np.where(is_open, 0.0, self.rates) if is_open.any() else self.rates

    def agree_in(self, rows: FloatArray) -> NDArray[np.bool_]:
        """Whether all rows of each CPT row, so many, agree; on an axis of length one for the child.

        Less than half a row that does not is none.
        """
        apart = np.minimum(self.rates, 1 - self.rates) * np.where(np.isfinite(rows), rows, 0.0)
        return np.asarray((apart < HALF_A_ROW).all(axis=-1, keepdims=True))

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of each entry; infinite where the rows say nothing."""
        return np.asarray(np.sqrt(quotient(self.table * (1 - self.table), self.sizes, np.inf)))

    def at(self, cell: tuple[int, ...]) -> Spread:
        """The spread of one entry."""
        return Spread(*(values[cell] for values in self._of_each_entry()))

    def with_entries(self, entry_of: Mapping[tuple[int, ...], Spread]) -> Spread:
        """The same with some entries of other spreads."""
        every = [values.copy() for values in self._of_each_entry()]
        for cell, entry in entry_of.items():
            for values, value in zip(every, entry._of_each_entry(), strict=True):
                values[cell] = value
        return Spread(*every)

    def _of_each_entry(self) -> tuple[NDArray[Any], ...]:
        degrees = np.broadcast_to(self.degrees, self.table.shape)
        return self.table, self.rates, self.sizes, degrees, self.ends

    @property
    def ends(self) -> NDArray[np.bool_]:
        """The ``open_ends`` of each entry."""
        return np.broadcast_to(self.open_ends, (*self.table.shape, 2))

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
        >>> Spread(quarter, quarter, np.array([40.0, 40.0])).interval()[0].round(3).tolist()
        [0.136, 0.398]
        """
        from scipy.special import betaincinv, ndtri, stdtrit

        level = as_level(level)
        is_known = np.isinf(self.sizes) | (self.table.shape[-1:] == (1,))  # of one state
        sizes = np.where(is_known, 0.0, self.sizes)
        side = (1 + level) / 2
        quantile = np.where(np.isinf(self.degrees), ndtri(side), stdtrit(self.degrees, side))
        sizes = sizes * (ndtri(side) / quantile) ** 2
        yes = sizes * self.rates
        no = sizes * (1 - self.rates)
        low, high = (betaincinv(yes + 0.5, no + 0.5, (1 + sign * level) / 2) for sign in (-1, 1))
        far = ndtri(side) ** 2  # z standard errors from 0 are as many rows times (1 - p)
        at_zero, at_one = np.moveaxis(self.ends, -1, 0)
        is_low = (yes == 0) | (at_zero & (yes < far * (1 - self.rates)))
        is_high = (no == 0) | (at_one & (no < far * self.rates))
        low = np.where(is_known, self.table, np.where(is_low, 0.0, low))
        high = np.where(is_known, self.table, np.where(is_high, 1.0, high))
        return np.stack([np.minimum(low, self.table), np.maximum(high, self.table)], axis=-1)


@dataclass(frozen=True)
class BoundedSpread(Spread):
    """A table of which the lowest and the highest values are known from rows of their own.

    An interval does not go below that of the lowest value, nor above that of the highest.
    """

    lowest: Spread = field(kw_only=True)
    highest: Spread = field(kw_only=True)

    def interval(self, level: float = 0.95) -> FloatArray:
        """The interval of each entry, within those of its lowest and highest values."""
        low, high = np.moveaxis(super().interval(level), -1, 0)
        low = np.maximum(low, self.lowest.interval(level)[..., 0])
        high = np.minimum(high, self.highest.interval(level)[..., 1])
        return np.stack([low, high], axis=-1)


@dataclass(frozen=True)
class SpreadOverOptima(Spread):
    """A table that the rows hardly tell from others: an interval reaches over those of all.

    ``optima`` are the table as it was learned, and the others, each as well known.
    """

    optima: tuple[Spread, ...] = field(kw_only=True)

    @classmethod
    def of(cls, spread: Spread, tables: Sequence[FloatArray]) -> SpreadOverOptima:
        """From the spread of a table, and the tables that the rows hardly tell from it."""
        optima = [spread]
        for table in tables:
            optima.append(spread.at_table(table))
        return cls(
            spread.table,
            spread.rates,
            spread.sizes,
            spread.degrees,
            spread.open_ends,
            optima=tuple(optima),
        )

    def interval(self, level: float = 0.95) -> FloatArray:
        """The interval of each entry: the table's axes, then low and high."""
        intervals = np.stack([spread.interval(level) for spread in self.optima])
        return np.stack([intervals[..., 0].min(axis=0), intervals[..., 1].max(axis=0)], axis=-1)

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of each entry, with the distance to the farthest optimum."""
        apart = np.max([np.abs(spread.table - self.table) for spread in self.optima], axis=0)
        return np.asarray(np.hypot(self.optima[0].standard_error, apart))


def round_to_ends(rates: FloatArray, rounding: float = RATE_ROUNDING) -> FloatArray:
    """The rates, with those that only rounding keeps from 0 or 1 put there.

    Whether all rows agree decides where an interval ends: the order of a sum must not.

    Examples
    --------
    >>> round_to_ends(np.array([1 - 2**-53, 2**-53, 0.25])).tolist()
    [1.0, 0.0, 0.25]
    """
    return np.where(rates < rounding, 0.0, np.where(rates > 1 - rounding, 1.0, rates))
