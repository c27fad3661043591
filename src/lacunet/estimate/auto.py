"""The method that needs no choosing: the closed form, then as many EM steps as pay.

Without missing values the CPTs are plain frequencies. Otherwise factored deletion for MAR is
followed by EM steps, as many as the observed-data likelihood of rows put aside supports
(`lacunet.estimate.em.heldout`) and the time limit allows: exact where the memory budget allows
it, by loopy belief propagation elsewhere. If not even one step fits, the closed form stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

from lacunet.estimate.deletion.direct_mcar import DirectMcar
from lacunet.estimate.deletion.factored_mar import FactoredMar
from lacunet.estimate.em.method import EM, never_shown
from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Ended, Learned, Task
from lacunet.inference.expectation.forecast import Forecast
from lacunet.model.network import Scope
from lacunet.wording import counted

FEWEST_ROWS = 10


@dataclass(frozen=True)
class Auto:
    """Frequencies, factored-mar, or factored-mar followed by EM steps: whichever the data ask for.

    ``time_limit`` is the number of seconds that learning may take.
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
            return replace(learned, why="no value is missing: the CPTs are the plain frequencies")
        if task.table.total < FEWEST_ROWS:
            reason = f"{counted(task.table.rows, 'row')} are too few to put any aside"
            return replace(FactoredMar().learn(task), why=f"factored-mar alone: {reason}")
        learned = EM(stop="heldout", time_limit=self.time_limit).learn(task)
        assert learned.ended is not None
        return replace(learned, why=_why(learned.ended, never_shown(task.table)))

    def too_costly(self, cost: Forecast) -> str:
        """Why not even one step is likely to fit the limit; empty if it does."""
        if cost.seconds <= self.time_limit:
            return ""
        return (
            f"one EM step would take about {cost.seconds:,.2g} s, more than the time limit of "
            f"{self.time_limit:g} s"
        )


def _why(ended: Ended, hidden: Scope) -> str:
    if not ended.iterations and ended.reason != "held-out peak":
        return f"factored-mar alone: {ended.reason} before the first EM step"
    if not ended.iterations:
        return "factored-mar alone: an EM step made held-out rows less likely"
    words = f"factored-mar and {counted(ended.iterations, 'EM step')}: "
    words += (
        "stopped where held-out rows stopped gaining"
        if ended.reason == "held-out peak"
        else ended.reason
    )
    if hidden:
        words += f"; no row shows {', '.join(hidden[:5])}, learned from several random starts"
    return words
