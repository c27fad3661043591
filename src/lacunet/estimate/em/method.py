r"""EM that reads the data once.

The rows are compiled into counts that never change and problems
(`lacunet.statistics.problems.compile`); from then on an iteration is the expected counts over
the problems, and the line that turns counts into CPTs:

.. math::
    E[n(u, x)] = n_\mathrm{shown}(u, x) + \sum_c w_c \Pr(u, x \mid b_c, \theta), \qquad
    \theta'(x \mid u) \propto E[n(u, x)] + (\alpha - 1)

The posterior of the observed data never goes down, and where it ends depends on where it
begins: by default at the closed form, which is consistent under MAR.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, replace
from math import nan
from operator import index
from time import monotonic
from typing import ClassVar, Literal

import numpy as np

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.cpts import HighestPosterior, family_report
from lacunet.estimate.deletion.forms import shows_any
from lacunet.estimate.em.climb import Climb, Limits, climb
from lacunet.estimate.em.heldout import Followed, is_settled, steps_supported
from lacunet.estimate.em.start import Rows, random_cells, start_cells, starting_form
from lacunet.estimate.method import (
    Ended,
    Learned,
    MethodError,
    Plan,
    Setting,
    check_options,
    option,
)
from lacunet.inference.engine import Engine, Inference, engine_of
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.gather import Statistics
from lacunet.statistics.problems.layout import Layout, layout_of

LOOPY = "its expected counts are approximate: loopy belief propagation"
Stop = Literal["converge", "heldout"] | int
CUT_SHORT = ("time limit", "interrupted")


def steps(stop: object) -> Stop:
    """When to stop, as typed or given: a name, or a number of steps."""
    if stop in ("converge", "heldout"):
        return stop
    try:
        number = int(stop) if isinstance(stop, str) else index(stop)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise MethodError(
            f"stop is {stop!r}, but must be 'converge', 'heldout' or a whole number of steps."
        )
    return number


@dataclass(frozen=True)
class EM:
    """Maximum a posteriori by expectation maximisation.

    Parameters
    ----------
    seed
        Where to start: the name of a method, a network with CPTs, or "random".
    stop
        "converge" stops when no parameter moves by ``tolerance``; a number makes that many
        steps; "heldout" makes as many as rows put aside support, then starts anew on all rows.
    restarts
        The number of starts; those after the first are random. The best posterior wins.
    time_limit
        Seconds after which the best parameters so far are returned.
    inference
        "exact" leaves only components beyond the memory budget to loopy belief propagation,
        "bp" all of them.
    heldout_share
        The share of the rows that "heldout" puts aside.
    """

    name: ClassVar[str] = "em"
    start: str | Network = option(
        "factored-mar",
        "where EM starts: a closed form (factored-mar), a network file, or 'random'",
        metavar="S",
    )
    stop: Stop = option(
        "converge", "'converge', 'heldout', or a number of steps", kind=steps, metavar="S"
    )
    tolerance: float = option(
        1e-4, "converged below this change of a parameter", kind=float, least=0
    )
    max_iterations: int = option(500, "maximum number of iterations", kind=int, least=0)
    restarts: int = option(1, "number of starts; the best posterior wins", kind=int, least=1)
    time_limit: float | None = option(
        None, "seconds after which the best so far is returned", kind=float, least=0
    )
    inference: Inference = option(
        "exact", "exact where it fits, or loopy propagation", choices=("exact", "bp")
    )
    heldout_share: float = option(
        0.2, "share of the rows that 'heldout' puts aside", kind=float, least=0.01, most=0.99
    )
    seed: InitVar[str | Network | None] = None

    def __post_init__(self, seed: str | Network | None) -> None:
        if seed is not None:
            object.__setattr__(self, "start", seed)
        object.__setattr__(self, "stop", steps(self.stop))
        check_options(self)
        if isinstance(self.start, str) and self.start != "random":
            starting_form(self.start)

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        return starting_form(self.start).bytes_per_cell

    def plan(self, network: Network, partially: Scope | None) -> Plan:
        """The plan of the closed form that EM starts from, and the problems."""
        start = starting_form(self.start).plan(network, partially)
        formula = {
            name: replace(family, formula=HighestPosterior(name, family.parents), note="")
            for name, family in start.families.items()
        }
        if isinstance(self.start, Network) or self.start == "random":
            begins = "chance" if self.start == "random" else "a given network"
            intention = f"{self.name} starts from {begins}; below, what available cases would give"
        else:
            intention = f"{self.name} starts from {self.start}, whose estimands are below"
        share = self.heldout_share if self.stop == "heldout" else None
        return replace(
            start,
            method=self.name,
            families=formula,
            needs=replace(start.needs, problems=True, heldout=share),
            intention=intention,
            start=start,
        )

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        """All CPTs; how it ended is in the result."""
        began = monotonic()
        deadline = Deadline.within(self.time_limit)
        start, notes = start_cells(self.start, plan, statistics, setting)
        curve: tuple[float, ...] = ()
        try:
            if self.stop == "heldout":
                found, engine, curve = _as_supported(
                    self, plan, statistics, setting, start, deadline
                )
            else:
                found, engine = _best_climb(self, statistics, setting, start, deadline)
        except OutOfTimeError:
            found, engine = Climb(start, None, "time limit", nan, ()), None
        except KeyboardInterrupt:
            found, engine = Climb(start, None, "interrupted", nan, ()), None
        account = (monotonic() - began, notes, curve)
        return _learned(plan, statistics, setting, found, engine, account)


@dataclass(frozen=True)
class OneStep(EM):
    """The closed form, then one exact expectation: the classical one-step estimator."""

    name: ClassVar[str] = "one-step"
    stop: Stop = 1


@dataclass(frozen=True)
class LoopyEM(EM):
    """EM whose expectations are all by loopy belief propagation."""

    name: ClassVar[str] = "em-bp"
    inference: Inference = "bp"


def _as_supported(
    method: EM,
    plan: Plan,
    statistics: Statistics,
    setting: Setting,
    start: FloatArray,
    deadline: Deadline,
) -> tuple[Climb, Engine | None, tuple[float, ...]]:
    """As many steps on all rows as rows put aside support.

    Cut short before that number is known, the parameters reached without these rows are the
    best so far.
    """
    followed = followed_heldout(method, plan, statistics, setting, deadline)
    curve = tuple(followed.rows * value for value in followed.heldout)
    if followed.climb.reason in CUT_SHORT:
        return _on_a_part(followed.climb, start), None, curve
    number = steps_supported(followed.heldout, followed.learned, followed.rows)
    try:
        found, engine = _best_climb(
            replace(method, stop=number), statistics, setting, start, deadline
        )
    except OutOfTimeError:
        return _on_a_part(replace(followed.climb, reason="time limit"), start), None, curve
    except KeyboardInterrupt:
        return _on_a_part(replace(followed.climb, reason="interrupted"), start), None, curve
    if found.reason in CUT_SHORT and not found.iterations:
        return _on_a_part(replace(followed.climb, reason=found.reason), start), None, curve
    reason = "held-out peak" if found.reason == "steps done" else found.reason
    return replace(found, reason=reason), engine, curve


def _on_a_part(found: Climb, start: FloatArray) -> Climb:
    """What was reached without the rows put aside, or the seed of all rows if that is nothing.

    Its likelihood is that of the part, and so not told.
    """
    if not found.iterations:
        return Climb(start, None, found.reason, nan, ())
    return replace(found, log_likelihood=nan, is_of_a_part=True)


def followed_heldout(
    method: EM,
    plan: Plan,
    statistics: Statistics,
    setting: Setting,
    deadline: Deadline = NEVER,
) -> Followed:
    """Learn without the rows put aside, and follow the likelihood of both."""
    rest, aside = statistics.learning, statistics.aside
    if rest is None or aside is None or not (rest.rows and aside.rows):
        raise MethodError(
            f"{statistics.rows} rows are too few to put any aside.",
            'choose stop="converge" or a number of steps.',
        )
    start, _ = start_cells(method.start, plan, rest, setting)
    judge = _engine(method, aside, setting, deadline)
    heldout: list[float] = []
    learned: list[float] = []

    def goes_on(at: Climb) -> bool:
        heldout.append(judge.log_likelihood(at.cells, deadline) / aside.total)
        learned.append(at.log_likelihood / rest.total)
        return not is_settled(heldout, learned, aside.rows)

    limits = Limits(0.0, method.max_iterations, deadline=deadline)
    engine = _engine(method, rest, setting, deadline)
    found = climb(engine, start, setting.prior, limits, setting.progress, goes_on)
    return Followed(tuple(heldout), tuple(learned), aside.rows, found)


def _engine(method: EM, statistics: Statistics, setting: Setting, deadline: Deadline) -> Engine:
    assert statistics.problems is not None
    memory, progress = setting.memory, setting.progress
    return engine_of(statistics.problems, memory, method.inference, progress, deadline)


def _best_climb(
    method: EM, statistics: Statistics, setting: Setting, start: FloatArray, deadline: Deadline
) -> tuple[Climb, Engine]:
    """The climb of highest posterior among all starts, which share one engine."""
    engine = _engine(method, statistics, setting, deadline)
    rows = Rows.of(engine.problems.layout)
    exactly = isinstance(method.stop, int)
    most = method.stop if isinstance(method.stop, int) else method.max_iterations
    limits = Limits(method.tolerance, most, exactly, deadline)
    best = climb(engine, start, setting.prior, limits, setting.progress)
    for _ in range(1, method.restarts):
        if best.reason in CUT_SHORT:
            break
        cells = random_cells(rows, setting.rng)
        other = climb(engine, cells, setting.prior, limits, setting.progress)
        winner = other if other.log_posterior > best.log_posterior else best
        best = replace(winner, reason=other.reason) if other.reason in CUT_SHORT else winner
    return best, engine


def _learned(
    plan: Plan,
    statistics: Statistics,
    setting: Setting,
    found: Climb,
    engine: Engine | None,
    account: tuple[float, tuple[str, ...], tuple[float, ...]],
) -> Learned:
    seconds, notes, heldout = account
    network = plan.network
    layout = layout_of(network.with_tables(None))
    loopy = engine.loopy_families if engine else frozenset()
    if found.is_of_a_part:
        notes = (*notes, "it ended early: the rows put aside have no part in it")
    if loopy:
        notes = (*notes, f"loopy belief propagation touched {len(loopy)} families")
    ended = Ended(
        found.reason,
        found.iterations,
        seconds,
        found.log_likelihood,
        nan if found.is_of_a_part else found.log_posterior,
        found.trace,
        notes,
        heldout,
    )
    unseen = _unseen(layout, found.counts)
    reports = {}
    for name in network.variables:
        counts = statistics.counts[network.family(name)]
        reports[name] = family_report(
            plan.families[name],
            counts,
            network,
            setting.prior,
            rows_used=int(counts.tally.take(shows_any(counts)).rows.sum()),
            unseen=unseen[name],
            warnings=[LOOPY] if name in loopy else [],
        )
    return Learned(layout.tables(found.cells), reports, ended)


def _unseen(layout: Layout, counts: FloatArray | None) -> dict[str, int]:
    """How many parent configurations of each family have no expected count at all."""
    if counts is None:
        return dict.fromkeys(layout.network.variables, 0)
    return {
        name: int(np.count_nonzero(table.sum(axis=-1) == 0))
        for name, table in layout.tables(counts).items()
    }
