"""How many steps the data support, judged by rows put aside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable

LEAST_GAIN = 0.05
PATIENCE = 3


def steps_supported(curve: Sequence[float]) -> int:
    """The number of steps that a held-out curve supports.

    ``curve[k]`` is the observed-data log-likelihood of the rows put aside after ``k`` steps,
    ``curve[0]`` that of the seed.
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
