"""How far EM goes, judged by weight put aside.

EM to convergence is as good as anything else on most data. Where there are too many parameters
for the rows, the fit of complete data peaks after a few steps. So EM may end at other stops: at
the start, or after 1, 2, 4, 8 or 16 steps.

They are judged by the observed-data likelihood of weight put aside. Chance moves it by some nats
even between CPTs that are equally good, so convergence stands unless another stop is clearly
better. How this fares against other rules is in ``docs/auto.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

STOPS = (0, 1, 2, 4, 8, 16)  # steps after which EM may end, besides convergence
CLEARLY = 5.0  # nats
AS_LIKELY = 1e-6  # nats: rounding tells such stops apart, which must decide nothing


def fewer_steps(curve: Sequence[float]) -> int | None:
    """The number of steps that clearly makes what is put aside more likely than convergence does.

    Parameters
    ----------
    curve
        The log-likelihood of what is put aside at each stop, and at last at convergence, which
        may come before all stops are made. Of stops that are as likely, the first is taken.

    Examples
    --------
    >>> fewer_steps([-700.0, -641.0, -640.0, -644.0])
    >>> fewer_steps([-700.0, -641.0, -640.0, -646.0])
    2
    """
    best = max(curve[:-1], default=-inf)
    if not best > curve[-1] + CLEARLY:
        return None
    return next(n for n, log in zip(STOPS, curve, strict=False) if log >= best - AS_LIKELY)
