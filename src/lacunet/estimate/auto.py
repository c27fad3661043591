"""The method that needs no choosing: the closed form, then as many EM steps as pay.

Without holes the CPTs are plain frequencies. Otherwise factored deletion for MAR is followed
by exact EM steps, as many as the observed-data likelihood of rows put aside supports
(`lacunet.estimate.em_heldout`), if what they will cost is within the budget of time and memory;
if it is not, the closed form stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar

from lacunet.estimate.direct_mcar import DirectMcar
from lacunet.estimate.em import EM
from lacunet.estimate.factored_mar import FactoredMar
from lacunet.estimate.method import Learned, Task
from lacunet.inference.forecast import Forecast, forecast
from lacunet.statistics.problems import compile_problems

# What the held-out search and the final run took together, in iterations on all rows, in most
# of the cases that the rule was measured on.
USUAL_ITERATIONS = 40
FEWEST_ROWS = 10


@dataclass(frozen=True)
class Auto:
    """Frequencies, factored-mar, or factored-mar followed by EM steps: whichever the data ask for.

    ``time_limit`` is the number of seconds that EM may take, the forecast of it included.
    """

    name: ClassVar[str] = "auto"
    time_limit: float = 600.0

    def learn(self, task: Task) -> Learned:
        """Learn every CPT, and say in a sentence what was chosen and why."""
        if not task.table.partially_observed:
            learned = DirectMcar().learn(task)
            return replace(learned, why="no cell is missing: the CPTs are the plain frequencies")
        began = monotonic()
        if task.table.rows < FEWEST_ROWS:
            return _closed_form(task, f"{task.table.rows} rows are too few to put any aside")
        cost = forecast(compile_problems(task.network, task.table), task.memory)
        if reason := self.too_costly(cost):
            return _closed_form(task, reason)
        left = max(self.time_limit - (monotonic() - began), 0.0)
        learned = EM(stop="heldout", time_limit=left).learn(task)
        return replace(learned, why=_what_the_rows_said(learned))

    def too_costly(self, cost: Forecast) -> str:
        """Why EM is beyond the budget; empty if it is not."""
        if cost.loopy_problems:
            return f"{cost.loopy_problems:,} problems of exact EM are beyond the memory budget"
        seconds = cost.seconds * USUAL_ITERATIONS
        if seconds > self.time_limit:
            return (
                f"EM would take about {seconds:,.0f} s, more than the time limit of "
                f"{self.time_limit:,.0f} s"
            )
        return ""


def _closed_form(task: Task, reason: str) -> Learned:
    return replace(FactoredMar().learn(task), why=f"factored-mar alone: {reason}")


def _what_the_rows_said(learned: Learned) -> str:
    ended = learned.ended
    assert ended is not None
    if ended.reason != "held-out peak":
        return f"factored-mar and {ended.iterations} EM steps: ended by {ended.reason}"
    steps = "no EM step" if not ended.iterations else f"{ended.iterations} EM steps"
    steps = steps.replace("1 EM steps", "one EM step") if ended.iterations == 1 else steps
    return f"factored-mar and {steps}: what the likelihood of rows put aside supports"
