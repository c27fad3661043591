"""Times as ratios: the machine is shared and noisy, so only figures of one run are compared."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.network.catalogue import example
from lacunet.simulation.at_random import MCAR
from lacunet.simulation.simulate import simulate


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        work()
        best = min(best, perf_counter() - start)
    return best


def read_once(table: EncodedTable) -> None:
    """Read every byte of the codes: the limit that no counting can beat."""
    for column in table.columns.values():
        np.bitwise_or.reduce(column)


def alarm(rows: int) -> EncodedTable:
    """Alarm, 30% of the variables with 70% of their values hidden completely at random."""
    return simulate(
        example("alarm"), rows, MCAR(0.7, share=0.3), rng=np.random.default_rng(2015)
    ).table
