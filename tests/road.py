"""The three lines of the road, for tests that start from an encoded table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lacunet.counts.observations import Held
from lacunet.data.table import EncodedTable
from lacunet.learning.learn import gathering
from lacunet.learning.plan import Learned, Method, Setting, make_plan, run
from lacunet.limits import Deadline
from lacunet.network.network import Network
from lacunet.progress import Progress, silent


@dataclass(frozen=True)
class Task:
    """What is to be learned, from what, under which prior."""

    network: Network
    table: EncodedTable
    pseudo_counts: float = 1.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    memory: int = 8 * 2**30
    progress: Progress = silent


def learned_by(method: Method, task: Task) -> Learned:
    """Look, plan, count, run."""
    limit = Deadline.within(getattr(method, "time_limit", None))
    setting = Setting(task.pseudo_counts, task.rng, task.memory, task.progress, limit)
    rows = Held(task.table)
    plan = make_plan(method, task.network, rows.look(), task.pseudo_counts)
    statistics = rows.gather(gathering(plan, setting, None, 0), setting.progress)
    return run(plan, statistics, setting)
