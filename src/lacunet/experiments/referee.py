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
from lacunet.experiments.report.summary import Mean, mean_of
from lacunet.experiments.runner.cells import Cell, Drawn, by_problem, draw_rows
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
CLEARLY = 2.0  # standard errors of a paired difference


@dataclass(frozen=True)
class Case:
    """A user's network and pattern of missing values, to draw learning problems from."""

    truth: Network
    missingness: Missingness
    rows: int
    separator: Scope | None


@dataclass(frozen=True)
class CaseProblem:
    """One draw of rows from a user's case."""

    case: Case
    repetition: int
    seed: int
    test_rows: int = 20_000
    judge_divergence: bool = True

    @property
    def key(self) -> str:
        """What tells this draw from the others of the same case."""
        return f"rows={self.case.rows} repetition={self.repetition} seed={self.seed}"

    @property
    def labels(self) -> dict[str, str | int]:
        """The columns that say in the results which draw it was."""
        return {
            "network": "yours",
            "setting": "yours",
            "rows": self.case.rows,
            "repetition": self.repetition,
            "seed": self.seed,
        }

    def draw(self) -> Drawn:
        """Sample rows from the network, hide values as the user's are hidden."""
        missingness = replace(self.case.missingness, separator=self.case.separator)
        return draw_rows(self, self.case.truth, self.case.rows, missingness)


@dataclass(frozen=True)
class Standing:
    """How one method did; ``behind`` is its divergence above the best one's, draw by draw."""

    method: str
    divergence: Mean | None
    log_likelihood: Mean | None
    seconds: Mean | None
    behind: Mean | None
    message: str = ""

    @property
    def is_as_good_as_best(self) -> bool:
        """Whether what it is behind the best is within chance."""
        if self.behind is None:
            return False
        return not self.behind.value > CLEARLY * self.behind.standard_error


@dataclass(frozen=True)
class Comparison:
    """The standings, the best first; who gave no network last."""

    case: Case
    hidden: float
    repetitions: int
    standings: tuple[Standing, ...]

    @property
    def best(self) -> Standing:
        """The most accurate method; the yardstick does not compete."""
        return next(one for one in self.standings if one.method != YARDSTICK)


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
    return Case(learned, fitted_mechanisms(network, table), rows or table.rows, separator)


def learners_for(case: Case) -> tuple[Learner, ...]:
    """Who can take part: informed methods only if a separator is known."""
    return learners_named((*USUAL, *(INFORMED if case.separator else ())))


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
        Cell(CaseProblem(case, repetition, seed), learner, limit)
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
        method: draws
        for method, draws in by_method.items()
        if method != YARDSTICK and all(one.status == "ok" for one in draws.values())
    }
    if not whole:
        raise ExperimentError.nobody_learned(
            sorted({f"{one.method}: {one.message or one.status}" for one in outcomes})
        )
    best = min(
        whole, key=lambda method: sum(one.divergence or 0.0 for one in whole[method].values())
    )
    standings = [_standing(draws, whole[best]) for draws in by_method.values()]
    ranked = sorted(standings, key=_rank)
    hidden = [one.hidden for one in outcomes if one.hidden is not None and one.method != YARDSTICK]
    return Comparison(case, sum(hidden) / len(hidden), repetitions, tuple(ranked))


def _rank(standing: Standing) -> float:
    whole = standing.divergence is not None and standing.divergence.is_whole
    return standing.divergence.value if whole and standing.divergence else float("inf")


def _standing(draws: dict[int, Outcome], best: dict[int, Outcome]) -> Standing:
    done = [one for one in draws.values() if one.status == "ok"]
    behind = [(one.divergence or 0.0) - (best[one.repetition].divergence or 0.0) for one in done]
    first = next(iter(draws.values()))
    troubles = [one.message or one.status for one in draws.values() if one.status != "ok"]
    asked = len(draws)
    return Standing(
        first.method,
        mean_of([one.divergence for one in done if one.divergence is not None], asked),
        mean_of([one.log_likelihood for one in done if one.log_likelihood is not None], asked),
        mean_of([one.seconds for one in done if one.seconds is not None], asked),
        mean_of(behind, asked),
        troubles[0] if troubles else "",
    )
