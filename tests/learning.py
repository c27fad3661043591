"""The three lines of the road, for tests that start from an encoded table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.learn import carry_out
from lacunet.estimate.method import Learned, Method, Setting
from lacunet.model.network import Network
from lacunet.progress import Progress, silent
from lacunet.statistics.observations import Held


@dataclass(frozen=True)
class Task:
    """What is to be learned, from what, under which prior."""

    network: Network
    table: EncodedTable
    prior: float = 2.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    memory: int = 8 * 2**30
    progress: Progress = silent


def learned_by(method: Method, task: Task) -> Learned:
    """Plan, count, estimate."""
    setting = Setting(task.prior, task.rng, task.memory, task.progress)
    return carry_out(method, task.network, Held(task.table), setting)
