r"""How many steps the data support, judged by rows put aside.

EM run to convergence may overfit: on networks with many parameters for the rows there are, the
fit of complete data peaks after a few steps. Rows put aside tell when, though not exactly: their
*observed* part may go on gaining a little at each step while the fit of what they do not show
already suffers. So a step counts only while it gains something that matters.

The rule was chosen among some eighty over 72 problems (Alarm, Water, Munin1, Barley and the
20 x 20 grid, 100 to 10,000 rows, both of the paper's MAR settings, 20% of the rows put aside, at
most 60 steps), judged by the log-likelihood of complete test rows on the same problems. Mean loss
against the best number of steps in nats a row, and mean loss against the best of seed, one step
and the last step in per cent of that best's distance to the fit of the complete data:

============================================  =====  =====
no step                                        3.89   363%
one step                                       0.83    50%
the last step                                  0.50     9%
the peak of the held-out curve                 0.39     7%
until a step gains less than 5% of all gains   0.55    36%
until a step gains less than 0.1% of them      0.35     9%
until a step gains less than half a nat        0.28   6.2%
this rule                                      0.29   4.5%
============================================  =====  =====

Its worst cases, 3.5 to 4.3 nats below one step, are Munin1 with 100 and 300 rows, where the
observed part of the rows does not tell. Summing the curves of five folds did not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from lacunet.estimate.em.climb import Climb

LEAST_GAIN = 0.1  # nats, of all rows put aside together
LEAST_SHARE = 0.3  # of what the rows learned from gain


@dataclass(frozen=True)
class Followed:
    """How the likelihood went, at the seed and after each step; ``climb`` is where it ended.

    ``heldout`` is the mean log-likelihood of the ``rows`` put aside, ``learned`` that of the
    others.
    """

    heldout: tuple[float, ...]
    learned: tuple[float, ...]
    rows: int
    climb: Climb


def steps_supported(heldout: Sequence[float], learned: Sequence[float], rows: int) -> int:
    """The number of steps that the rows put aside support.

    Steps go on until one gains these rows less than a tenth of a nat in all, or less than 30%
    of what it gains the rows learned from. In the first case it still counts if it gained at
    all. At least one step is made: it was better than the seed in 71 of 72 problems.

    Parameters
    ----------
    heldout, learned
        The mean log-likelihood of the rows put aside and of the others, at the seed and after
        each step.
    rows
        How many rows are put aside.

    Examples
    --------
    >>> steps_supported([-9.0, -7.0, -6.8, -6.799], [-9.0, -6.9, -6.5, -6.499], 20)
    3
    >>> steps_supported([-9.0, -7.0, -6.8, -6.7], [-9.0, -6.9, -6.5, -6.1], 20)
    2
    """
    for step in range(2, len(heldout)):
        gain = heldout[step] - heldout[step - 1]
        if not gain >= LEAST_SHARE * (learned[step] - learned[step - 1]):  # or not a number
            return step - 1
        if not gain * rows >= LEAST_GAIN:
            return step if gain > 0 else step - 1
    return max(len(heldout) - 1, 1)


def is_settled(heldout: Sequence[float], learned: Sequence[float], rows: int) -> bool:
    """Whether no further step can change what the curves support."""
    return steps_supported([*heldout, inf], [*learned, 0.0], rows) < len(heldout)
