"""The method that needs no choosing: the closed form, then as many EM steps as pay.

Without holes the CPTs are plain frequencies. Otherwise factored deletion for MAR is followed
by exact EM steps, as many as the observed-data likelihood of rows put aside supports
(`lacunet.estimate.em.heldout`), if what they will cost is within the budget of time and memory;
if it is not, the closed form stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import ClassVar

from lacunet.estimate.deletion.direct_mcar import DirectMcar
from lacunet.estimate.deletion.factored_mar import FactoredMar
from lacunet.estimate.em.method import EM
from lacunet.estimate.em.start import never_shown
from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Learned, Task
from lacunet.inference.expectation.forecast import Forecast, forecast
from lacunet.model.network import Scope
from lacunet.statistics.problems.compile import compile_problems
from lacunet.wording import counted

# What the held-out search and the final run took together, in iterations on all rows, in most
# of the cases that the rule was measured on.
USUAL_ITERATIONS = 40
FEWEST_ROWS = 10
LATENT_RESTARTS = 5


@dataclass(frozen=True)
class Auto:
    """Frequencies, factored-mar, or factored-mar followed by EM steps: whichever the data ask for.

    ``time_limit`` is the number of seconds that EM may take, the forecast of it included.
    """

    name: ClassVar[str] = "auto"
    time_limit: float = 600.0

    def __post_init__(self) -> None:
        if not self.time_limit > 0:
            raise MethodError.out_of_range("time_limit", self.time_limit, 0, inf)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT, and say in a sentence what was chosen and why."""
        if not task.table.partially_observed:
            learned = DirectMcar().learn(task)
            return replace(learned, why="no cell is missing: the CPTs are the plain frequencies")
        began = monotonic()
        if task.table.rows < FEWEST_ROWS:
            return _closed_form(task, f"of {counted(task.table.rows, 'row')} none can be put aside")
        cost = forecast(compile_problems(task.network, task.table), task.memory)
        if reason := self.too_costly(cost):
            return _closed_form(task, reason)
        left = max(self.time_limit - (monotonic() - began), 0.0)
        if hidden := never_shown(task):
            learned = EM(restarts=LATENT_RESTARTS, time_limit=left).learn(task)
            return replace(learned, why=_what_latent_variables_need(hidden))
        learned = EM(stop="heldout", time_limit=left).learn(task)
        return replace(learned, why=_what_the_rows_said(learned))

    def too_costly(self, cost: Forecast) -> str:
        """Why EM is beyond the budget; empty if it is not."""
        if cost.loopy_problems:
            return f"{cost.loopy_problems:,} problems of exact EM are beyond the memory budget"
        seconds = cost.seconds * USUAL_ITERATIONS
        if seconds > self.time_limit:
            return (
                f"EM would take about {seconds:,.2g} s, more than the time limit of "
                f"{self.time_limit:g} s"
            )
        return ""


def _closed_form(task: Task, reason: str) -> Learned:
    return replace(FactoredMar().learn(task), why=f"factored-mar alone: {reason}")


def _what_latent_variables_need(hidden: Scope) -> str:
    return (
        f"EM to convergence, the best of {LATENT_RESTARTS} starts: no row shows "
        f"{', '.join(hidden)}, about which a closed form knows nothing"
    )


def _what_the_rows_said(learned: Learned) -> str:
    ended = learned.ended
    assert ended is not None
    if ended.reason != "held-out peak":
        return f"factored-mar and {counted(ended.iterations, 'EM step')}: {ended.reason}"
    steps = counted(ended.iterations, "EM step")
    return f"factored-mar and {steps}: what the likelihood of rows put aside supports"
