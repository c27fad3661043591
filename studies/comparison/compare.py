"""Which method is best on the user's own case: asked of data whose truth is known.

The user's network is learned from the user's data. It is then taken as the truth: rows are
drawn from it, as many as the user has, and values are hidden by mechanisms fitted to the
user's pattern (`lacunet.missingness.learned.from_rows`). Every method learns from these rows, and
how far each ends up from the truth can be measured.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import numpy as np

from lacunet.ask.evaluate import divergence, fit
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.sampling import sample_codes
from lacunet.learning.closed_forms.forms import DELETIONS
from lacunet.learning.learn import learn
from lacunet.learning.methods import method_named, options_of
from lacunet.learning.plan import Method
from lacunet.learning.pseudo_counts import AskedPseudoCounts
from lacunet.limits import Memory, memory_budget
from lacunet.missingness.learned.from_rows import fitted_mechanisms
from lacunet.missingness.mechanism_cpts import Missingness
from lacunet.network.network import Network, Scope
from lacunet.progress import Progress, silent
from lacunet.simulation.simulate import simulate
from studies.comparison.parallel import parallel_map
from studies.comparison.summary import Difference, Summary, difference_of, summary_of

INFORMED = tuple(name for name, form in DELETIONS.items() if form.is_informed)
CLOSED = tuple(name for name, form in DELETIONS.items() if not form.is_informed)
USUAL = (*CLOSED, "em", "auto")
YARDSTICK = "complete"  # plain frequencies of the rows before anything was hidden
TEST_ROWS = 20_000
LEVEL = 1e-9  # nats: rounding, not a difference between methods


@dataclass(frozen=True)
class Case:
    """A user's network and pattern of missing values, to draw learning problems from.

    ``pseudo_counts`` are those of the user, for the truth and for every method.
    """

    truth: Network
    missingness: Missingness
    rows: int
    pseudo_counts: AskedPseudoCounts | None

    @property
    def methods(self) -> Scope:
        """The methods to compare: informed ones only if a separator is known."""
        return (*USUAL, *(INFORMED if self.missingness.separator else ()))


@dataclass(frozen=True)
class Trial:
    """What one method made of one draw; without a network, ``message`` says why."""

    method: str
    hidden: float
    divergence: float | None = None
    log_likelihood: float | None = None
    seconds: float | None = None
    message: str = ""


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
    """The standings, the best first; methods that gave no network last."""

    case: Case
    hidden: float
    repetitions: int
    standings: tuple[Standing, ...]

    @property
    def best(self) -> Standing | None:
        """The most accurate method, None if all are level; the yardstick does not compete."""
        first, *others = self._rivals
        apart = [standing.behind.mean for standing in others if standing.behind]
        return None if apart and max(apart) <= LEVEL else first

    @property
    def as_good(self) -> tuple[Standing, ...]:
        """The best, and every method that is behind it by no more than chance explains."""
        best = self.best
        return tuple(
            standing
            for standing in self._rivals
            if best is None
            or standing.method == best.method
            or (standing.behind is not None and standing.behind.is_within_chance)
        )

    @property
    def _rivals(self) -> tuple[Standing, ...]:
        return tuple(
            standing
            for standing in self.standings
            if standing.method != YARDSTICK and standing.is_whole
        )


def case_of(
    network: Network,
    table: EncodedTable,
    truth: str = "factored-mar",
    pseudo_counts: AskedPseudoCounts | None = None,
    rows: int | None = None,
    separator: Scope | None = None,
    *,
    memory: Memory = None,
) -> Case:
    """The case that the user's data are: what is taken as the truth, and what hides values."""
    learned = learn(network, table, truth, pseudo_counts=pseudo_counts, memory=memory).network
    missingness = replace(fitted_mechanisms(network, table), separator=separator)
    return Case(learned, missingness, rows or table.row_count, pseudo_counts)


def compare(
    case: Case,
    methods: Sequence[str] | None = None,
    repetitions: int = 5,
    limit: float | None = 60.0,
    seed: int = 0,
    processes: int = 1,
    progress: Progress = silent,
    *,
    memory: Memory = None,
) -> Comparison:
    """Let every method learn from the same draws of the case, and rank them.

    Iterative methods stop at the limit (seconds) with the best they have; a closed form that
    takes longer gave no network in time. Processes share the memory (bytes) that learning and
    inference may take.

    Raises
    ------
    LacunetError
        A method is unknown, or no method gave a network.
    """
    names = dict.fromkeys(case.methods if methods is None else methods)
    for name in names:
        options_of(name)  # refuses unknown names
    pieces = [(draw, name) for draw in range(repetitions) for name in (*names, YARDSTICK)]
    trials: dict[str, dict[int, Trial]] = {}
    work = partial(_trial, case, limit, seed, memory_budget(memory) // processes)
    for done, run in enumerate(parallel_map(work, pieces, processes), start=1):
        trials.setdefault(run.method, {})[pieces[done - 1][0]] = run
        progress("compare", done, len(pieces), run.method)
    return _ranked(case, repetitions, trials)


def timed_method(name: str, limit: float | None, **options: object) -> Method:
    """The method of a name, told its time limit (seconds) if it can heed one."""
    if limit is not None and "time_limit" in options_of(name):
        options["time_limit"] = limit
    return method_named(name, **options)


def _trial(
    case: Case, limit: float | None, seed: int, memory: int, piece: tuple[int, str]
) -> Trial:
    """Draw anew, learn, judge: the same draw for every method."""
    number, name = piece
    drawing, testing, learning = np.random.default_rng([seed, number]).spawn(3)
    drawn = simulate(case.truth, case.rows, case.missingness, rng=drawing)
    hidden = sum(drawn.table.missing_of.values()) / (case.rows * len(case.truth.variables))
    plain, table = ("direct-mcar", drawn.complete) if name == YARDSTICK else (name, drawn.table)
    separator = case.missingness.separator if name in INFORMED else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of simulated rows say nothing of the user's
            method = timed_method(plain, limit, groups=separator)
            began = perf_counter()
            network = case.truth.with_tables(None)
            result = learn(
                network,
                table,
                method,
                pseudo_counts=case.pseudo_counts,
                rng=learning,
                memory=memory,
            )
            seconds = perf_counter() - began
    except LacunetError as error:
        return Trial(name, hidden, message=error.message)
    if limit is not None and seconds > limit and "time_limit" not in options_of(plain):
        return Trial(name, hidden, message=f"took {seconds:.3g} s, above the time limit")
    apart = divergence(case.truth, result.network, memory=memory).value
    tested = fit(result.network, sample_codes(case.truth, TEST_ROWS, testing), memory)
    return Trial(name, hidden, apart, tested.mean, seconds)


def _ranked(case: Case, repetitions: int, trials: Mapping[str, Mapping[int, Trial]]) -> Comparison:
    means = {
        name: float(np.mean(values))
        for name, draws in trials.items()
        if name != YARDSTICK
        and len(values := [run.divergence for run in draws.values() if run.divergence is not None])
        == repetitions
    }
    if not means:
        every = {(name, run.message) for name, draws in trials.items() for run in draws.values()}
        reasons = [f"  {name}: {message}" for name, message in sorted(every) if message]
        raise LacunetError("no method gave a network on the simulated data:\n" + "\n".join(reasons))
    best = trials[min(means, key=lambda name: means[name])]
    standings = [_standing(name, draws, best) for name, draws in trials.items()]
    hidden = np.mean([run.hidden for draws in trials.values() for run in draws.values()])
    return Comparison(case, float(hidden), repetitions, tuple(sorted(standings, key=_rank)))


def _rank(standing: Standing) -> float:
    return standing.divergence.mean if standing.divergence and standing.is_whole else float("inf")


def _standing(name: str, draws: Mapping[int, Trial], best: Mapping[int, Trial]) -> Standing:
    def of(measure: str) -> Summary | None:
        values = [getattr(run, measure) for run in draws.values() if run.divergence is not None]
        return summary_of(values, len(draws), larger_is_better=measure == "log_likelihood")

    pairs = [
        (run.divergence, other)
        for draw, run in draws.items()
        if run.divergence is not None and (other := best[draw].divergence) is not None
    ]
    troubles = [run.message for run in draws.values() if run.divergence is None]
    return Standing(
        name,
        divergence=of("divergence"),
        log_likelihood=of("log_likelihood"),
        seconds=of("seconds"),
        behind=difference_of(pairs),
        message=troubles[0] if troubles else "",
    )
