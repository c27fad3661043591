r"""Intervals for what is only known to lie between two estimated ends.

The interval :math:`[l - c \, s_l, \; h + c \, s_h]` covers the parameter, wherever it lies between
the ends, with the probability wanted if

.. math::
    \Phi\Bigl(c + \frac{h - l}{\max(s_l, s_h)}\Bigr) - \Phi(-c) = \text{level}

(G. Imbens and C. F. Manski 2004). Where the ends are far apart only one of them can be missed, and
c is that of a one-sided test; where they are one point, it is that of an ordinary interval. Where
the errors come from a few clusters, the t distribution takes the place of the normal one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.errors import as_level
from lacunet.network.network import FloatArray

BISECTIONS = 60


def covering(
    low: FloatArray,
    high: FloatArray,
    low_error: FloatArray,
    high_error: FloatArray,
    level: float,
    degrees: float = np.inf,
) -> FloatArray:
    """The interval of every cell: the axes of the ends, then low and high; within 0 and 1.

    ``degrees`` are the degrees of freedom of the errors.

    Examples
    --------
    Far apart, 1.645 standard errors; together, 1.96.

    >>> zero, one, error = np.zeros(()), np.ones(()), np.full((), 0.01)
    >>> covering(one / 4, one / 2, error, error, 0.95).round(5).tolist()
    [0.23355, 0.51645]
    >>> covering(one / 4, one / 4, error, error, 0.95).round(4).tolist()
    [0.2304, 0.2696]
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    wanted = as_level(level)
    law: Any = partial(stdtr, degrees) if np.isfinite(degrees) else ndtr
    quantile: Any = partial(stdtrit, degrees) if np.isfinite(degrees) else ndtri
    error = np.maximum(low_error, high_error)
    width = quotient(high - low, error, np.inf)  # of the set, in standard errors
    fewest = np.full(np.shape(low), float(quantile(wanted)))  # c for ends far apart
    most = np.full(np.shape(low), float(quantile((1 + wanted) / 2)))  # and for one point
    for _ in range(BISECTIONS):
        middle = (fewest + most) / 2
        covers = law(middle + width) - law(-middle) >= wanted
        fewest = np.where(covers, fewest, middle)
        most = np.where(covers, middle, most)
    ends = [low - most * low_error, high + most * high_error]
    return np.clip(np.stack(ends, axis=-1), 0.0, 1.0)
