"""How many steps the data support, judged by rows put aside.

The likelihood of rows put aside falls where EM fits noise; the peak of its curve would be the
place to stop, if the curve told of everything. It tells only of what is observed: where a
variable is hardly ever shown, EM can go on for a long time turning it into whatever explains
the others best, and the curve creeps up all the while. So steps that gain next to nothing are
not made. The share is measured: `docs/auto.md`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable

LEAST_GAIN = 0.001  # of the gain so far
PATIENCE = 3


def steps_supported(curve: Sequence[float]) -> int:
    """The number of steps that a held-out curve supports.

    The steps up to the first that gains less than ``LEAST_GAIN`` of what was gained before it.

    Parameters
    ----------
    curve
        The observed-data log-likelihood of the rows put aside after 0, 1, 2, ... steps.
    """
    best = int(np.argmax(curve))
    for step in range(1, best + 1):
        gained = curve[step] - curve[0]
        if curve[step] - curve[step - 1] < LEAST_GAIN * gained:
            return step - 1
    return best


def is_settled(curve: Sequence[float]) -> bool:
    """Whether further steps can no longer change what the curve supports."""
    return steps_supported(curve) <= len(curve) - 1 - PATIENCE


def put_aside(
    table: EncodedTable, share: float, rng: np.random.Generator
) -> tuple[EncodedTable, EncodedTable]:
    """Split the rows at random: those to learn from, and a share put aside."""
    aside = np.zeros(table.rows, dtype=bool)
    aside[rng.permutation(table.rows)[: round(share * table.rows)]] = True
    return table.take(_places(~aside)), table.take(_places(aside))


def _places(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.flatnonzero(chosen)
