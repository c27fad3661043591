r"""A measure over several draws in few numbers.

The mean and its standard error,

.. math::
    \bar{v} = \frac{1}{n} \sum_i v_i, \qquad
    \widehat{se} = \sqrt{\frac{\sum_i (v_i - \bar{v})^2}{n (n - 1)}},

say little of divergences, whose distribution has a heavy tail: a few draws decide the mean. So
the median, the quartiles and the worst stand beside it, and two methods are compared draw by
draw: the mean of their differences has the interval

.. math::
    \bar{d} \pm t_{0.975, n - 1} \, \widehat{se}(d).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Summary:
    """A measure over draws; ``asked`` of them were run, ``count`` gave a number.

    ``stopped`` of those that gave one were stopped by their time limit.
    """

    mean: float
    standard_error: float
    median: float
    quartiles: tuple[float, float]
    worst: float
    count: int
    asked: int
    stopped: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every draw gave a number."""
        return self.count == self.asked


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, its 95% interval, and in how many the first was better.

    The ends of the interval are NaN where a single pair says nothing of the spread.
    """

    mean: float
    low: float
    high: float
    count: int
    better: int

    @property
    def is_within_chance(self) -> bool:
        """Whether the interval is known and holds zero."""
        return self.low <= 0 <= self.high


def summary_of(
    values: Sequence[float],
    asked: int | None = None,
    stopped: int = 0,
    larger_is_better: bool = False,
) -> Summary | None:
    """The numbers in short; None of no values, a standard error of NaN for a single one.

    Examples
    --------
    >>> found = summary_of([1.0, 3.0])
    >>> found.mean, found.standard_error, found.median, found.quartiles, found.worst
    (2.0, 1.0, 2.0, (1.5, 2.5), 3.0)
    """
    if not values:
        return None
    # A step beyond infinity is infinite, not the NaN that interpolation makes of it.
    kind: Any = "linear" if all(map(isfinite, values)) else "higher"
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75], method=kind).tolist()
    return Summary(
        mean=float(np.mean(values)),
        standard_error=_standard_error(values),
        median=median,
        quartiles=(low, high),
        worst=min(values) if larger_is_better else max(values),
        count=len(values),
        asked=len(values) if asked is None else asked,
        stopped=stopped,
    )


def _standard_error(values: Sequence[float]) -> float:
    if len(values) < 2 or not all(map(isfinite, values)):
        return nan
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def difference_of(pairs: Sequence[tuple[float, float]]) -> Difference | None:
    """The first less the second of each pair, where smaller is better.

    Examples
    --------
    >>> found = difference_of([(1.0, 0.0), (2.0, 0.0), (0.0, 0.0)])
    >>> found.mean, round(found.low, 3), round(found.high, 3), found.better
    (1.0, -1.484, 3.484, 0)
    """
    if not pairs:
        return None
    from scipy.special import stdtrit

    # infinity less infinity is 0 too
    apart = [0.0 if left == right else left - right for left, right in pairs]
    mean, count = float(np.mean(apart)), len(apart)
    half = float(stdtrit(count - 1, 0.975)) * _standard_error(apart) if count > 1 else nan
    return Difference(mean, mean - half, mean + half, count, sum(value < 0 for value in apart))
