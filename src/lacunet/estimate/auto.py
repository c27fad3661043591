"""The method that needs no choosing: the closed form, then EM as far as it pays.

Without missing values the CPTs are plain frequencies. Otherwise factored deletion for MAR is
followed by EM to convergence, or by fewer steps if the observed-data likelihood of rows put aside
clearly speaks for it (`lacunet.estimate.em.heldout`), as far as the time limit allows: exact where
the memory budget allows it, by loopy belief propagation elsewhere. If not even one step fits, the
closed form stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import nan
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
        intention = "factored-mar, then EM, to the end unless held-out rows speak for fewer steps"
        return replace(plan, method=self.name, intention=intention)

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        """Every CPT, and in two sentences what was found in the data and what was chosen."""
        if plan.start is None:
            learned = DirectMCAR().estimate(plan, statistics, setting)
            return replace(learned, why="No value is missing. The CPTs are the plain frequencies.")
        closed = partial(FactoredMAR().estimate, plan.start, statistics, setting)
        if statistics.cut:
            cut = "time was up" if statistics.cut == "time limit" else "it was interrupted"
            choice = f"factored-mar alone: {cut} before the first EM step"
            learned = replace(closed(), ended=Ended(statistics.cut, 0, 0.0, nan, nan, ()))
        elif statistics.total < FEWEST_ROWS or statistics.learning is None:
            rows = counted(statistics.rows, "row")
            learned, choice = closed(), f"factored-mar alone: {rows}, too few to hold some out"
        else:
            em = EM(stop="heldout", time_limit=self.time_limit)
            learned = em.estimate(plan, statistics, setting)
            choice = learned.why
            if learned.ended is not None and not learned.ended.iterations:
                learned = replace(learned, families=closed().families)
        return replace(learned, why=_why(statistics, learned, choice))


def _why(statistics: Statistics, learned: Learned, choice: str) -> str:
    """What is missing and what that leaves; what was chosen and why."""
    partially = sum(missing > 0 for missing in statistics.missing_of.values())
    share = sum(statistics.missing_of.values()) / (statistics.rows * len(statistics.missing_of))
    verb = "has" if partially == 1 else "have"
    found = (
        f"{partially} of {counted(len(statistics.missing_of), 'variable')} {verb} missing values"
    )
    found += f", {share:.0%} of all cells"
    shown = {name: report.rows_shown for name, report in learned.families.items()}
    fewest = min(shown, key=lambda name: shown[name])
    if shown[fewest]:
        found += f"; every family is shown whole by {counted(shown[fewest], 'row')} or more"
    else:
        never = sum(not rows for rows in shown.values())
        families = counted(never, "family", "families")
        found += f"; {families} ({fewest}) {'is' if never == 1 else 'are'} shown whole by no row"
    return f"{found}. Chosen: {choice}."
