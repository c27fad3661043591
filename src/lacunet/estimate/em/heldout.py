r"""How many steps the data support, judged by weight put aside.

EM run to convergence may overfit: on networks with many parameters for the rows there are, the
fit of complete data peaks after a few steps. Rows put aside tell when, though not exactly: their
*observed* part may go on gaining a little at each step while the fit of what they do not show
already suffers. So a step counts only while it gains something that matters. How the rule fares
against others is in ``docs/auto.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

LEAST_GAIN = 0.1  # nats, of all that is put aside together
LEAST_SHARE = 0.3  # of what the rows learned from gain
MANY_ROWS = 1000  # from here on gains are judged from the first step on, below step by step


def steps_supported(
    heldout: Sequence[float], learned: Sequence[float], aside: float, rows: float
) -> int:
    """The number of steps that the weight put aside supports.

    Steps go on until one gains less than a tenth of a nat in all that is put aside, or until
    the gain there is less than 30% of what the rows learned from gain: both since the first
    step where there are 1,000 rows and more, else at this step alone (few rows make the sum of
    the gains say little about the step). In the first case the step still counts if it gained
    at all. No step is made if the first one loses more than a tenth of a nat in all.

    Parameters
    ----------
    heldout, learned
        The mean log-likelihood of the rows put aside and of the others, at the seed and after
        each step.
    aside, rows
        How many rows are put aside, and how many there are in all.

    Examples
    --------
    >>> steps_supported([-9.0, -7.0, -6.8, -6.799], [-9.0, -6.9, -6.5, -6.499], 20, 100)
    3
    >>> steps_supported([-9.0, -7.0, -6.8, -6.7], [-9.0, -6.9, -6.5, -6.1], 20, 100)
    2
    """
    if _loses(heldout, aside):
        return 0
    for step in range(2, len(heldout)):
        gain = heldout[step] - heldout[step - 1]
        since = 1 if rows >= MANY_ROWS else step - 1
        gained, learning = heldout[step] - heldout[since], learned[step] - learned[since]
        if not gained >= LEAST_SHARE * learning:  # or not a number
            return step - 1
        if not gain * aside >= LEAST_GAIN:
            return step if gain > 0 else step - 1
    return max(len(heldout) - 1, 1)


def is_settled(
    heldout: Sequence[float], learned: Sequence[float], aside: float, rows: float
) -> bool:
    """Whether no further step can change what the curves support."""
    if _loses(heldout, aside):
        return True
    return steps_supported([*heldout, inf], [*learned, 0.0], aside, rows) < len(heldout)


def _loses(heldout: Sequence[float], aside: float) -> bool:
    """Whether the first step is clearly a loss."""
    return len(heldout) > 1 and (heldout[1] - heldout[0]) * aside < -LEAST_GAIN
