"""The method that needs no choosing: the closed form, then EM as far as it pays.

Without missing values the CPTs are frequencies; fewer than ten rows are left to factored
deletion for MAR. Otherwise that is followed by EM to convergence, the mean of optima that the data
hardly tell apart, as far as the time limit allows: exact where the memory budget allows it, by
loopy belief propagation elsewhere. If not even one step fits, the closed form stands. With a
missingness graph it is EM on the graph.

Under a prior that is given, fewer steps are made if the observed-data likelihood of held-out rows
clearly favours them (`lacunet.estimate.em.heldout`). Under a learned one they are not asked: what
stopping early is worth there is no more than chance (docs/auto.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, ClassVar

from lacunet.estimate.deletion.forms import FACTORED_BYTES, DirectMCAR, FactoredMAR
from lacunet.estimate.em.climb import CUT_SHORT
from lacunet.estimate.em.method import EM
from lacunet.estimate.em.stage import MANY_ROWS, can_hold_out, climb_stage
from lacunet.estimate.method import Ended, Learned, Plan, Setting
from lacunet.estimate.options import ABOVE_ZERO, LIMIT, check_options, graph_option, option
from lacunet.estimate.prior import ONE_PER_CELL, AskedPrior, has_pseudo_counts, is_given
from lacunet.model.network import Network
from lacunet.statistics.gather import Statistics
from lacunet.statistics.look import ROUNDING, Look
from lacunet.wording import counted, first_of

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph

FEWEST_ROWS = 10
Solve = Callable[[Statistics, Learned, Setting], Learned]


@dataclass(frozen=True)
class Auto:
    """Frequencies, factored-mar, or factored-mar followed by EM steps: whichever the data ask for.

    ``time_limit`` is the number of seconds that learning may take; ``missingness`` a graph of
    how values go missing.
    """

    name: ClassVar[str] = "auto"
    bytes_per_cell: ClassVar[int] = FACTORED_BYTES
    time_limit: float = option(600.0, LIMIT, kind=float, metavar="SECONDS", least=ABOVE_ZERO)
    missingness: MissingnessGraph | None = graph_option()

    def __post_init__(self) -> None:
        check_options(self)

    def plan(self, network: Network, look: Look, prior: AskedPrior = ONE_PER_CELL) -> Plan:
        """Frequencies where nothing is missing, a closed form for a few rows; else EM.

        Under a prior that is learned EM converges; under one that is given, held-out rows say how
        far it goes.
        """
        if self.missingness is not None:
            em = EM(time_limit=self.time_limit, missingness=self.missingness)
            return replace(em.plan(network, look, prior), method=self.name)
        if look.partially == ():
            plan = DirectMCAR().plan(network, look, prior)
            choice = "the plain frequencies"
            if has_pseudo_counts(prior):
                choice = "the frequencies, with the prior's pseudo-counts added"
            return self._closed(plan, "no value is missing", choice)
        if look.total is not None and look.total < FEWEST_ROWS * (1 - ROUNDING):
            choice = _too_few(look.rows or 0, look.total)
            plan = FactoredMAR().plan(network, look, prior)
            return self._closed(plan, choice, choice)
        em, until = EM(time_limit=self.time_limit), "to convergence"
        if is_given(prior):
            em = replace(em, stop="heldout")
            until += ", or fewer steps where held-out rows are clearly more likely"
        plan = em.plan(network, look, prior)
        closed = plan.stages[0]
        climb = climb_stage(em, network, plan.partially, closed, averages=True)
        climb = replace(
            climb,
            solve=partial(_em, climb.solve, plan.heldout),
            branches=(*_branches(plan.heldout, look.total), *climb.branches),
        )
        return replace(
            plan,
            method=self.name,
            stages=(closed, climb),
            intention=f"EM {until}, starting from the factored-mar estimate",
        )

    def _closed(self, plan: Plan, intention: str, choice: str) -> Plan:
        """The plan of a closed form, with the reason for it."""
        (closed,) = plan.stages
        stages = (replace(closed, solve=partial(_with_reason, closed.solve, choice)),)
        return replace(plan, method=self.name, stages=stages, intention=intention)


def _with_reason(
    solve: Solve, choice: str, statistics: Statistics, learned: Learned, setting: Setting
) -> Learned:
    learned = solve(statistics, learned, setting)
    return replace(learned, why=_why(choice, statistics, learned))


def _branches(heldout: float | None, total: float | None) -> Iterator[str]:
    """What else may become of EM, for rows worth so many; None if that is not known."""
    if total is None:
        yield f"there are fewer than {FEWEST_ROWS} rows: factored-mar is used alone"
    if heldout is not None and (total is None or total < MANY_ROWS):
        yield "no row is held out, or all are: factored-mar is used alone"


def _too_few(rows: int, total: float) -> str:
    worth = f" worth {total:.1f}" if total < rows * (1 - ROUNDING) else ""
    return f"factored-mar alone: {counted(rows, 'row')}{worth}, too few for EM"


def _em(
    solve: Solve, heldout: float | None, statistics: Statistics, closed: Learned, setting: Setting
) -> Learned:
    """EM from the closed form, which stands where EM cannot begin."""
    whole = setting.whole
    if statistics.stopped_by:
        cut = CUT_SHORT[statistics.stopped_by]
        choice = f"factored-mar alone: {cut} before the first EM step"
        learned = replace(closed, ended=Ended(statistics.stopped_by, 0, 0.0, nan, nan, ()))
    elif whole is not None and (whole.ended is None or not whole.ended.iterations):
        learned, choice = closed, ""  # as it was for all rows
    elif whole is None and heldout is not None and not can_hold_out(statistics):
        learned, choice = closed, _too_few(statistics.rows, statistics.total)
    else:
        learned = solve(statistics, closed, setting)
        choice = learned.why
    return replace(learned, why=_why(choice, statistics, learned))


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
