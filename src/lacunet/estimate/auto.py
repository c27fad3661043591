"""The method that needs no choosing: the closed form, then as many EM steps as pay.

Without holes the CPTs are plain frequencies. Otherwise factored deletion for MAR is followed
by exact EM steps, as many as the observed-data likelihood of rows put aside supports
(`lacunet.estimate.em.heldout`), if what they will cost is within the budget of time and memory;
if it is not, the closed form stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar

from lacunet.estimate.deletion.forms import DirectMCAR, FactoredMAR
from lacunet.estimate.em.method import EM
from lacunet.estimate.method import Learned, Plan, Setting, check_options, option
from lacunet.inference.expectation.forecast import Forecast, forecast
from lacunet.model.network import Network, Scope
from lacunet.statistics.gather import Statistics
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
    time_limit: float = option(
        600.0, "seconds after which the best so far is returned", kind=float, least=1e-9
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
            return replace(plan, method=self.name, intention="no cell is missing")
        plan = EM(stop="heldout").plan(network, partially)
        intention = "auto starts from factored-mar, by the estimands below, and will go on with EM"
        return replace(plan, method=self.name, intention=intention)

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        """Every CPT, and in a sentence what was chosen and why."""
        if statistics.problems is None or plan.start is None:
            learned = DirectMCAR().estimate(plan, statistics, setting)
            return replace(learned, why="no cell is missing: the CPTs are the plain frequencies")
        began = monotonic()
        reason = self.too_costly(forecast(statistics.problems, setting.memory))
        if statistics.rows < FEWEST_ROWS:
            reason = f"of {counted(statistics.rows, 'row')} none can be put aside"
        if reason:
            learned = FactoredMAR().estimate(plan.start, statistics, setting)
            return replace(learned, why=f"factored-mar alone: {reason}")
        left = max(self.time_limit - (monotonic() - began), 0.0)
        if hidden := statistics.never_shown:
            em = EM(restarts=LATENT_RESTARTS, time_limit=left)
            learned = em.estimate(plan, statistics, setting)
            return replace(learned, why=_what_latent_variables_need(hidden))
        learned = EM(stop="heldout", time_limit=left).estimate(plan, statistics, setting)
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
    return f"factored-mar and {steps}: stopped where the likelihood of held-out rows peaked"
