"""Which method is best on the user's own case: asked of data whose truth is known.

The user's network is learned from the user's data. It is then taken as the truth: rows are
drawn from it, as many as the user has, and values are hidden by mechanisms fitted to the
user's pattern (`lacunet.missingness.fitted`). Every method learns from these rows, and
how far each ends up from the truth can be measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lacunet.data.table import EncodedTable
from lacunet.estimate.learn import learn
from lacunet.experiments.errors import ExperimentError
from lacunet.experiments.paper.settings import Setting
from lacunet.experiments.paper.sources import Source
from lacunet.experiments.report.summary import (
    Difference,
    Draws,
    Summary,
    best_method,
    difference,
    summary,
)
from lacunet.experiments.runner.cells import Cell, Problem, by_problem
from lacunet.experiments.runner.learners import LEARNERS, Learner, learners_named
from lacunet.experiments.runner.outcomes import Outcome
from lacunet.experiments.runner.pool import solve_all
from lacunet.missingness.fitted import fitted_mechanisms
from lacunet.missingness.mechanisms import Missingness
from lacunet.model.network import Network, Scope
from lacunet.progress import Progress, silent

USUAL = (
    "listwise",
    "direct-mcar",
    "factored-mcar",
    "direct-mar",
    "factored-mar",
    "one-step",
    "em",
    "auto",
)
INFORMED = ("informed-direct", "informed-factored")
YARDSTICK = "complete"
TEST_ROWS = 20_000
LEVEL = 1e-9  # nats: rounding, not a difference between methods


@dataclass(frozen=True)
class Case:
    """A user's network and pattern of missing values, to draw learning problems from."""

    truth: Network
    missingness: Missingness
    rows: int

    def problem(self, repetition: int, seed: int) -> Problem:
        """One draw of rows from the case."""
        source, setting = Source("yours", network=self.truth), Setting("yours", self.missingness)
        return Problem(source, setting, self.rows, repetition, seed, TEST_ROWS)


@dataclass(frozen=True)
class Standing:
    """How one method did; ``behind`` is its divergence above the best one's, draw by draw."""

    method: str
    divergence: Summary | None
    log_likelihood: Summary | None
    seconds: Summary | None
    behind: Difference | None
    message: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it gave a network in every draw."""
        return self.divergence is not None and self.divergence.is_whole


@dataclass(frozen=True)
class Comparison:
    """The standings, the best first; who gave no network last."""

    case: Case
    hidden: float
    repetitions: int
    standings: tuple[Standing, ...]

    @property
    def best(self) -> Standing | None:
        """The most accurate method, None if all are level; the yardstick does not compete."""
        first, *others = self._rivals
        apart = [one.behind.mean for one in others if one.behind]
        return None if apart and max(apart) <= LEVEL else first

    @property
    def as_good(self) -> tuple[Standing, ...]:
        """The best, and whoever is behind it by no more than chance explains."""
        best = self.best
        return tuple(
            one
            for one in self._rivals
            if best is None
            or one.method == best.method
            or (one.behind is not None and one.behind.is_within_chance)
        )

    @property
    def _rivals(self) -> tuple[Standing, ...]:
        return tuple(one for one in self.standings if one.method != YARDSTICK and one.is_whole)


def case_of(
    network: Network,
    table: EncodedTable,
    truth: str = "factored-mar",
    prior: float = 2.0,
    rows: int | None = None,
    separator: Scope | None = None,
) -> Case:
    """The case that the user's data are: what is taken as the truth, and what hides values."""
    learned = learn(network, table, truth, prior).network
    missingness = replace(fitted_mechanisms(network, table), separator=separator)
    return Case(learned, missingness, rows or table.rows)


def learners_for(case: Case) -> tuple[Learner, ...]:
    """The methods to compare: informed ones only if a separator is known."""
    return learners_named((*USUAL, *(INFORMED if case.missingness.separator else ())))


def compare(
    case: Case,
    learners: Sequence[Learner],
    repetitions: int = 5,
    limit: float | None = 60.0,
    seed: int = 0,
    processes: int = 1,
    progress: Progress = silent,
) -> Comparison:
    """Let every learner learn from the same draws of the case, and rank them.

    Raises
    ------
    ExperimentError
        No method gave a network.
    """
    takers = (*learners, LEARNERS[YARDSTICK])
    cells = [
        Cell(case.problem(repetition, seed), learner, limit)
        for repetition in range(repetitions)
        for learner in takers
    ]
    outcomes: list[Outcome] = []
    for outcome in solve_all(by_problem(cells), processes):
        outcomes.append(outcome)
        progress("compare", len(outcomes), len(cells), outcome.method)
    return _ranked(case, repetitions, outcomes)


def _ranked(case: Case, repetitions: int, outcomes: Sequence[Outcome]) -> Comparison:
    by_method: dict[str, dict[int, Outcome]] = {}
    for one in outcomes:
        by_method.setdefault(one.method, {})[one.repetition] = one
    whole = {
        method: summary(draws, "divergence")
        for method, draws in by_method.items()
        if method != YARDSTICK and all(one.status == "ok" for one in draws.values())
    }
    best = best_method(whole, "divergence")
    if best is None:
        reasons = sorted({f"  {one.method}: {one.message or one.status}" for one in outcomes})
        raise ExperimentError(
            "no method gave a network on the simulated data:\n" + "\n".join(reasons)
        )
    standings = [_standing(draws, by_method[best]) for draws in by_method.values()]
    hidden = [one.hidden for one in outcomes if one.hidden is not None and one.method != YARDSTICK]
    ranked = sorted(standings, key=_rank)
    return Comparison(case, sum(hidden) / len(hidden), repetitions, tuple(ranked))


def _rank(standing: Standing) -> float:
    found = standing.divergence
    return found.mean if found is not None and found.is_whole else float("inf")


def _standing(draws: Draws, best: Draws) -> Standing:
    troubles = [one.message or one.status for one in draws.values() if one.status != "ok"]
    return Standing(
        method=next(iter(draws.values())).method,
        divergence=summary(draws, "divergence"),
        log_likelihood=summary(draws, "log_likelihood"),
        seconds=summary(draws, "seconds"),
        behind=difference(draws, best, "divergence"),
        message=troubles[0] if troubles else "",
    )
