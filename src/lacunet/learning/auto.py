"""The method that needs no choosing: the closed form, then EM.

Without missing values the CPTs are frequencies; fewer than ten rows are left to factored
deletion for MAR. Otherwise it is EM to convergence, from factored deletion for MCAR, as far as the
time limit allows: exact where a step computes at most `MAX_EXACT_CELLS` cells of large cliques, and
memory allows it, by loopy belief propagation elsewhere. If that too is beyond what an EM step may
compute (`MOST_LOOPY_READS`), or not even one step fits, the closed form stands. The numbers are
fixed, so that machines agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import ClassVar

from lacunet.counts.gather import Statistics
from lacunet.counts.look import WEIGHTS_ROUNDING, Look
from lacunet.learning.closed_forms.forms import FACTORED_BYTES, Deletion
from lacunet.learning.em.em import EM
from lacunet.learning.em.em_stage import cut_short
from lacunet.learning.em.iterations import CUT_SHORT
from lacunet.learning.em.start import alike_states
from lacunet.learning.method_options import ABOVE_ZERO, TIME_LIMIT_HELP, check_options, option
from lacunet.learning.plan import Ended, Learned, Plan, Setting
from lacunet.learning.pseudo_counts import ONE_PER_CELL, AskedPseudoCounts, has_pseudo_counts
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import Network
from lacunet.text import counted, first_of

ROWS_FOR_EM = 10
# Of large cliques in one EM step, a third of a second at 10 ns each: EM to convergence takes some
# hundred steps, first under one pseudo-count and then under the learned prior, and has a minute.
MAX_EXACT_CELLS = 2.0**25
MOST_LOOPY_READS = 2.0**25  # by all messages of loopy propagation, most of a second at 25 ns each
TOO_FEW_BRANCH = f"there are fewer than {ROWS_FOR_EM} rows: factored-mar is used alone"
SolveStage = Callable[[Statistics, Learned, Setting], Learned]


@dataclass(frozen=True)
class Auto:
    """Frequencies, factored-mar, or EM: whichever the data ask for.

    ``time_limit`` is the number of seconds that learning may take, intervals included. Without it
    the estimate has `usual_limit`, and intervals take their time.
    """

    name: ClassVar[str] = "auto"
    bytes_per_cell: ClassVar[int] = FACTORED_BYTES
    most_cells: ClassVar[float] = MAX_EXACT_CELLS
    most_loopy_reads: ClassVar[float] = MOST_LOOPY_READS
    usual_limit: ClassVar[float] = 600.0  # seconds
    time_limit: float | None = option(
        None, TIME_LIMIT_HELP, kind=float, metavar="SECONDS", least=ABOVE_ZERO
    )

    def __post_init__(self) -> None:
        check_options(self)

    def plan(
        self,
        network: Network,
        look: Look,
        pseudo_counts: AskedPseudoCounts = ONE_PER_CELL,
        deadline: Deadline = NEVER,
    ) -> Plan:
        """Frequencies where nothing is missing, a closed form for a few rows; else EM."""
        if look.partially == ():
            plan = Deletion("direct", groups=None).plan(network, look, pseudo_counts)
            choice = "the plain frequencies"
            if has_pseudo_counts(pseudo_counts):
                choice = "the frequencies, with pseudo-counts added"
            return self._closed(plan, "no value is missing", choice)
        if look.total is not None and look.total < ROWS_FOR_EM * (1 - WEIGHTS_ROUNDING):
            choice = _too_few(look.rows or 0, look.total)
            plan = Deletion("factored").plan(network, look, pseudo_counts)
            return self._closed(plan, choice, choice)
        plan = self.em.plan(network, look, pseudo_counts, deadline)
        closed, climb = plan.stages
        climb = replace(climb, solve=partial(_em, closed.name, climb.solve))
        if look.total is None:
            climb = replace(climb, branches=(TOO_FEW_BRANCH, *climb.branches))
        return replace(
            plan,
            method=self.name,
            stages=(closed, climb),
            intention=f"EM to convergence, starting from the {self.em.start} estimate",
        )

    @property
    def em(self) -> EM:
        """EM as it is run where values are missing."""
        return EM(
            time_limit=self.time_limit,
            most_cells=self.most_cells,
            most_loopy_reads=self.most_loopy_reads,
        )

    def _closed(self, plan: Plan, intention: str, choice: str) -> Plan:
        """The plan of a closed form, with the reason for it."""
        (closed,) = plan.stages
        stages = (replace(closed, solve=partial(_with_reason, closed.solve, choice)),)
        return replace(plan, method=self.name, stages=stages, intention=intention)


def _with_reason(
    solve: SolveStage, choice: str, statistics: Statistics, learned: Learned, setting: Setting
) -> Learned:
    learned = solve(statistics, learned, setting)
    return replace(learned, why=_why(choice, statistics, learned))


def _too_few(rows: int, total: float) -> str:
    worth = f" worth {total:.1f}" if total < rows * (1 - WEIGHTS_ROUNDING) else ""
    return f"factored-mar alone: {counted(rows, 'row')}{worth}, too few for EM"


def _em(
    form: str, solve: SolveStage, statistics: Statistics, closed: Learned, setting: Setting
) -> Learned:
    """EM from the closed form, which stands where EM cannot begin."""
    whole = setting.whole
    if statistics.stopped_by:
        cut = CUT_SHORT[statistics.stopped_by]
        choice = f"{form} alone: {cut} before the first EM step"
        learned = replace(
            closed,
            ended=Ended(
                reason=statistics.stopped_by,
                iterations=0,
                seconds=0.0,
                log_likelihood=nan,
                log_posterior=nan,
                trace=(),
                stands=form,
            ),
        )
        assert learned.ended is not None
        learned = replace(learned, notes=(*learned.notes, *cut_short(EM(), learned.ended)))
    elif whole is not None and (whole.ended is None or not whole.ended.iterations):
        # as it was for all rows
        learned = closed
        choice = ""
    else:
        learned = solve(statistics, closed, setting)
        choice = _steps_made(form, statistics, closed, learned)
    return replace(learned, why=_why(choice, statistics, learned))


def _steps_made(form: str, statistics: Statistics, closed: Learned, learned: Learned) -> str:
    """What EM did and why it ended, with the forecast that it rests on."""
    ended, network = learned.ended, learned.network
    assert ended is not None
    assert network is not None
    if not ended.iterations:
        return f"{form} alone: {CUT_SHORT[ended.reason]} before the first EM step"
    reads = 0.0 if learned.engine is None else learned.engine.reads
    done = f"{form} and {counted(ended.iterations, 'EM step')}"
    if round(reads):
        done += f" (each costs {reads:,.0f} reads of table cells)"
    if drawn := alike_states(network, closed.tables, statistics.never_shown):
        done += f", at random where no row shows {first_of(drawn, 5)}"
    if ended.reason in CUT_SHORT:
        return f"{done}: {CUT_SHORT[ended.reason]} before convergence"
    return f"{done}, to convergence, from the best of {counted(len(ended.starts), 'start')}"


def _why(choice: str, statistics: Statistics, learned: Learned) -> str:
    """What is missing and what that leaves; what was chosen and why."""
    partially = sum(missing > 0 for missing in statistics.missing_of.values())
    if not partially:
        return f"No value is missing. Chosen: {choice}."
    share = sum(statistics.missing_of.values()) / (statistics.rows * len(statistics.missing_of))
    verb = "has" if partially == 1 else "have"
    variables = counted(len(statistics.missing_of), "variable")
    words = f"{partially} of {variables} {verb} missing values, {share:.0%} of all cells"
    shown = {name: report.rows_shown for name, report in learned.families.items()}
    never = [name for name, rows in shown.items() if not rows]
    if not never:
        rows = counted(min(shown.values()), "row")
        words += f"; every family is observed whole in {rows} or more"
    else:
        families = counted(len(never), "family", "families")
        verb = "is" if len(never) == 1 else "are"
        words += f"; {families} ({first_of(never, 3)}) {verb} observed whole in no row"
    return f"{words}. Chosen: {choice}."
