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

from dataclasses import dataclass, replace
from math import inf, nan
from operator import index
from time import monotonic
from typing import ClassVar, Literal

import numpy as np

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.em.climb import Climb, Limits, climb
from lacunet.estimate.em.heldout import Followed, is_settled, put_aside, steps_supported
from lacunet.estimate.em.report import family_reports
from lacunet.estimate.em.start import Rows, random_cells, seed_cells
from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Ended, Learned, Task
from lacunet.inference.engine import Engine, Inference, engine_of
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.problems.compile import compile_problems
from lacunet.statistics.problems.layout import Layout, layout_of

Stop = Literal["converge", "heldout"] | int
CUT_SHORT = ("time limit", "interrupted")


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
    seed: str | Network = "factored-mar"
    stop: Stop = "converge"
    tolerance: float = 1e-4
    max_iterations: int = 500
    restarts: int = 1
    time_limit: float | None = None
    inference: Inference = "exact"
    heldout_share: float = 0.2

    def __post_init__(self) -> None:
        if self.stop not in ("converge", "heldout"):
            try:
                object.__setattr__(self, "stop", index(self.stop))  # type: ignore[arg-type]
            except TypeError:
                known = ("converge", "heldout", "a whole number of steps")
                raise MethodError.choice("stop", self.stop, known) from None
        if self.inference not in ("exact", "bp"):
            raise MethodError.choice("inference", self.inference, ("exact", "bp"))
        steps = self.stop if isinstance(self.stop, int) else 0
        for option, value, least, most in (
            ("stop", steps, 0, inf),
            ("tolerance", self.tolerance, 0, inf),
            ("max_iterations", self.max_iterations, 0, inf),
            ("restarts", self.restarts, 1, inf),
            ("time_limit", self.time_limit or 0, 0, inf),
            ("heldout_share", self.heldout_share, 0.01, 0.99),
        ):
            if not least <= value <= most:
                raise MethodError.out_of_range(option, value, least, most)

    def learn(self, task: Task) -> Learned:
        """Learn all CPTs; how it ended is in the result."""
        began = monotonic()
        deadline = Deadline.within(self.time_limit)
        start, notes = seed_cells(self.seed, task)
        curve: tuple[float, ...] = ()
        try:
            if self.stop == "heldout":
                found, engine, curve = _as_supported(self, task, start, deadline)
            else:
                found, engine = _best_climb(self, task, start, deadline)
        except OutOfTimeError:
            found, engine = Climb(start, None, "time limit", nan, ()), None
        except KeyboardInterrupt:
            found, engine = Climb(start, None, "interrupted", nan, ()), None
        return _learned(task, found, engine, (monotonic() - began, notes, curve))


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
    method: EM, task: Task, start: FloatArray, deadline: Deadline
) -> tuple[Climb, Engine | None, tuple[float, ...]]:
    """As many steps on all rows as rows put aside support.

    Cut short before that number is known, the parameters reached without these rows are the
    best so far.
    """
    followed = followed_heldout(method, task, deadline)
    curve = tuple(followed.rows * value for value in followed.heldout)
    if followed.climb.reason in CUT_SHORT:
        return _on_a_part(followed.climb, start), None, curve
    steps = steps_supported(followed.heldout, followed.learned, followed.rows)
    try:
        found, engine = _best_climb(replace(method, stop=steps), task, start, deadline)
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


def followed_heldout(method: EM, task: Task, deadline: Deadline = NEVER) -> Followed:
    """Put rows aside, learn from the others, and follow the likelihood of both."""
    rest, aside = put_aside(task.table, method.heldout_share, task.rng)
    if not (rest.rows and aside.rows):
        raise MethodError.too_few_rows(task.table.rows)
    part = replace(task, table=rest)
    start, _ = seed_cells(method.seed, part)
    judge = _engine(method, replace(task, table=aside), deadline)
    heldout: list[float] = []
    learned: list[float] = []

    def goes_on(at: Climb) -> bool:
        heldout.append(judge.log_likelihood(at.cells, deadline) / aside.total)
        learned.append(at.log_likelihood / rest.total)
        return not is_settled(heldout, learned, aside.rows)

    limits = Limits(0.0, method.max_iterations, deadline=deadline)
    engine = _engine(method, part, deadline)
    found = climb(engine, start, task.prior, limits, task.progress, goes_on)
    return Followed(tuple(heldout), tuple(learned), aside.rows, found)


def _engine(method: EM, task: Task, deadline: Deadline) -> Engine:
    task.progress("compile", 0, task.table.rows)
    problems = compile_problems(task.network, task.table)
    task.progress("compile", task.table.rows, task.table.rows)
    return engine_of(problems, task.memory, method.inference, task.progress, deadline)


def _best_climb(
    method: EM, task: Task, start: FloatArray, deadline: Deadline
) -> tuple[Climb, Engine]:
    """The climb of highest posterior among all starts, which share one engine."""
    engine = _engine(method, task, deadline)
    rows = Rows.of(engine.problems.layout)
    exactly = isinstance(method.stop, int)
    most = method.stop if isinstance(method.stop, int) else method.max_iterations
    limits = Limits(method.tolerance, most, exactly, deadline)
    best = climb(engine, start, task.prior, limits, task.progress)
    for _ in range(1, method.restarts):
        if best.reason in CUT_SHORT:
            break
        other = climb(engine, random_cells(rows, task.rng), task.prior, limits, task.progress)
        winner = other if other.log_posterior > best.log_posterior else best
        best = replace(winner, reason=other.reason) if other.reason in CUT_SHORT else winner
    return best, engine


def _learned(
    task: Task,
    found: Climb,
    engine: Engine | None,
    account: tuple[float, tuple[str, ...], tuple[float, ...]],
) -> Learned:
    seconds, notes, heldout = account
    layout = layout_of(task.network.with_tables(None))
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
    reports = family_reports(task, _unseen(layout, found.counts), loopy)
    return Learned(layout.tables(found.cells), reports, ended)


def _unseen(layout: Layout, counts: FloatArray | None) -> dict[str, int]:
    """How many parent configurations of each family have no expected count at all."""
    if counts is None:
        return dict.fromkeys(layout.network.variables, 0)
    return {
        name: int(np.count_nonzero(table.sum(axis=-1) == 0))
        for name, table in layout.tables(counts).items()
    }
