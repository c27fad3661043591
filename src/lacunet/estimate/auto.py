"""The method that needs no choosing: the closed form, then as many EM steps as pay.

Without missing values the CPTs are plain frequencies. Otherwise factored deletion for MAR is
followed by EM steps, as many as the observed-data likelihood of rows put aside supports
(`lacunet.estimate.em.heldout`) and the time limit allows: exact where the memory budget allows
it, by loopy belief propagation elsewhere. If not even one step fits, the closed form stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lacunet.estimate.deletion.forms import DirectMCAR, FactoredMAR
from lacunet.estimate.em.method import EM
from lacunet.estimate.method import Ended, Learned, Plan, Setting, check_options, option
from lacunet.model.network import Network, Scope
from lacunet.statistics.gather import Statistics
from lacunet.wording import counted

FEWEST_ROWS = 10


@dataclass(frozen=True)
class Auto:
    """Frequencies, factored-mar, or factored-mar followed by EM steps: whichever the data ask for.

    ``time_limit`` is the number of seconds that learning may take.
    """

    name: ClassVar[str] = "auto"
    time_limit: float = option(
        600.0, "time limit in seconds; the best so far is returned", kind=float, least=1e-9
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        return FactoredMAR().bytes_per_cell

    def plan(self, network: Network, partially: Scope | None) -> Plan:
        """The plan of EM stopped by rows put aside; of frequencies where nothing is missing."""
        if partially is not None and not partially:
            plan = DirectMCAR().plan(network, partially)
            return replace(plan, method=self.name, intention="no value is missing")
        plan = EM(stop="heldout").plan(network, partially)
        intention = "factored-mar, then as many EM steps as held-out rows support"
        return replace(plan, method=self.name, intention=intention)

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        """Every CPT, and in a sentence what was chosen and why."""
        if plan.start is None:
            learned = DirectMCAR().estimate(plan, statistics, setting)
            return replace(learned, why="no value is missing: the CPTs are the plain frequencies")
        too_few = statistics.learning is None and not statistics.cut
        if statistics.total < FEWEST_ROWS or too_few:
            learned = FactoredMAR().estimate(plan.start, statistics, setting)
            reason = f"{counted(statistics.rows, 'row')}: too few to hold some out"
            return replace(learned, why=f"factored-mar alone: {reason}")
        em = EM(stop="heldout", time_limit=self.time_limit)
        learned = em.estimate(plan, statistics, setting)
        ended = learned.ended
        assert ended is not None
        if not ended.iterations:
            closed = FactoredMAR().estimate(plan.start, statistics, setting)
            learned = replace(learned, families=closed.families)
        return replace(learned, why=_why(ended, statistics.never_shown))


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
