r"""The iteration of EM from one start: expect, maximise, until something says stop.

Plain EM slows down near the optimum, the more so the more is missing. So it is accelerated after
Anderson (1965; for EM: Henderson and Varadhan, 2019), on :math:`x = \log \theta`. A plain step from
:math:`x_k` goes to :math:`x_k + f_k`; with the differences :math:`\Delta x_i, \Delta f_i` between
the last places,

.. math::
    x' = x_k + f_k - \sum_i \gamma_i (\Delta x_i + \Delta f_i), \qquad
    \gamma = \arg\min \lVert f_k - \sum_i \gamma_i \Delta f_i \rVert,

every row of every CPT scaled to sum to one. The norm weighs each cell by its expected count: in
this metric :math:`f` points up the log-posterior. Where :math:`x' - x_k` points down (EM is leaving
a saddle, and each step is longer than the one before), the step is :math:`x_k + a f_k` instead,
with :math:`a = \lVert \Delta x \rVert / \lVert \Delta f \rVert` (Varadhan and Roland, 2008).
No step is more than some times as long as the plain one; that limit doubles when so long a step
was kept, and halves when it was not: on a ridge, where the data do not tell what is best, steps
that are too long go over the edge. A step is kept only if the log-posterior does not fall;
otherwise the plain step stands, and the past is forgotten. What is zero stays zero.

*Near the optimum.* Where much is missing steps are short long before EM has arrived. What remains
is :math:`d = (I - \partial M)^{-1} f`, and in standard errors its square is :math:`f' W (I -
\partial M)^{-1} f`, since :math:`W (I - \partial M)` is the observed information. The last places
give an estimate of it, as a multiple of :math:`f' W f`. It is too small where directions of many
speeds are left, so the largest multiple in the later half of the climb is taken, and a margin. EM
has converged where this is below a tenth of a standard error, and the last step is short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.em.start import CptRows, log_prior, maximise
from lacunet.estimate.method import PerCell
from lacunet.inference.engine import Engine
from lacunet.inference.errors import ImpossibleDataError
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent

CUT_SHORT = {"time limit": "time was up", "interrupted": "it was interrupted"}
REMEMBERED = 6  # places, the present one among them
LONGEST_AT_FIRST = 4.0  # times a plain step
GROWTH = 2.0  # of that, after one so long was kept; it shrinks likewise
SMALLEST = float(np.finfo(np.float64).tiny)
NEAR = 0.1  # standard errors: what is left of the way when EM has converged
NEAR_CELL = 1e-4  # by how much a cell may still move
SAFETY = 100.0  # the last steps see up to so small a part of the square of that
SLOWEST = 1e4  # times the last step that all further ones may be, where nothing is known of them
ENOUGH_STEPS = 3  # to tell how many times it is
LONGEST_LOG = 10.0  # that an extrapolation may move the logarithm of a cell


@dataclass(frozen=True)
class Limits:
    """When to stop: a change below ``tolerance`` near the optimum, or after ``iterations``."""

    tolerance: float
    iterations: int
    accelerate: bool = True
    deadline: Deadline = NEVER


@dataclass(frozen=True)
class Climb:
    """Where EM came to from one start, and how.

    ``start`` are the cells that it started from. ``expected`` are the expected counts at ``cells``,
    empty if it was cut short before any were known. ``log_likelihoods`` has the value at ``cells``
    for each part of the data.
    ``trace`` holds the log-posterior of the start and of all that was
    kept since; its last value is that of ``cells``. It is empty if the climb was cut short before
    any was known.
    ``iterations`` counts the expectations after the first, those of extrapolations that were
    not kept among them; ``messages`` are those of the last expectation.
    """

    cells: FloatArray
    start: FloatArray
    expected: FloatArray
    reason: str
    iterations: int
    log_likelihoods: FloatArray
    trace: tuple[float, ...]
    messages: tuple[FloatArray, ...] = ()

    @classmethod
    def at_start(cls, cells: FloatArray, reason: str = "") -> Climb:
        """Before the first expectation."""
        return cls(cells, cells, np.empty(0), reason, 0, np.full(1, nan), ())

    def followed_by(self, later: Climb) -> Climb:
        """Both climbs as one; the other began where this one ended."""
        if not later.trace:
            return replace(self, reason=later.reason)
        done, trace = self.iterations + later.iterations, (*self.trace[:-1], *later.trace)
        return replace(later, start=self.start, iterations=done, trace=trace)

    @property
    def log_posterior(self) -> float:
        """The log-posterior of ``cells``."""
        return self.trace[-1] if self.trace else nan


def climb(
    engine: Engine,
    start: FloatArray,
    pseudo_counts: PerCell,
    limits: Limits,
    *,
    progress: Progress = silent,
    visit: Callable[[Climb], None] | None = None,
) -> Climb:
    """Iterate from a start.

    When time is up, or on Ctrl-C, the last parameters whose log-posterior is known are
    returned: the best so far, since exact EM never goes down.

    Parameters
    ----------
    start
        The cells of all CPTs, end to end.
    pseudo_counts
        What is added to each cell: one number, or one for each of these cells.
    visit
        Called with where the climb is, at the start and after each iteration.
    """
    latest = Climb.at_start(start)
    rows = CptRows.of(engine.problems.layout)
    maximised = partial(maximise, rows=rows, pseudo_counts=pseudo_counts)
    climbing = Climbing(engine, rows, pseudo_counts, maximised, limits)
    try:
        for iterate in climbing.iterates(start):
            latest = iterate
            note = f"log-posterior {iterate.log_posterior:,.4f}"
            progress("em", iterate.iterations, limits.iterations, note)
            if visit is not None:
                visit(iterate)
    except OutOfTimeError:
        return replace(latest, reason="time limit")
    except KeyboardInterrupt:
        return replace(latest, reason="interrupted")
    return latest


@dataclass(frozen=True)
class Climbing:
    """What stays the same from one iteration to the next.

    ``maximised`` are the cells of highest posterior given expected counts.
    """

    engine: Engine
    rows: CptRows
    pseudo_counts: PerCell
    maximised: Callable[[FloatArray], FloatArray]
    limits: Limits

    def iterates(self, start: FloatArray) -> Iterator[Climb]:
        """The climb after each iteration; the last has a reason."""
        limits = self.limits
        past: list[Step] = []
        lengths: list[float] = []
        done, longest = 0, LONGEST_AT_FIRST
        here = self._look(Climb.at_start(start, _limit_reached(limits, 0)))
        yield here
        while not here.reason:
            done += 1
            plain = self._stepped(here, done)
            past = remembered(past, Step.between(here.cells, plain.cells))
            aim = Aim.of(past, here.expected + self.pseudo_counts)
            lengths += [aim.times_step] if aim.tells else []
            times = max(lengths[len(lengths) // 2 :]) if aim.tells else SLOWEST
            change = float(np.abs(plain.cells - here.cells).max())
            if self._has_arrived(change, times, aim.step):
                plain = replace(plain, reason="converged")
            if limits.accelerate and len(past) > 1 and not plain.reason:
                jump, length = extrapolated(aim, self.rows, longest)
                try:
                    trial = self._look(replace(plain, cells=jump))
                except ImpossibleDataError:  # below what floating point holds
                    trial = replace(plain, trace=())
                is_kept = trial.log_posterior >= here.log_posterior
                if length == longest:
                    longest = max(longest * (GROWTH if is_kept else 1 / GROWTH), LONGEST_AT_FIRST)
                if is_kept:
                    here = trial
                    yield here
                    continue
                done, past = done + 1, past[-1:]
                plain = self._stepped(here, done)
            here = self._look(plain)
            yield here

    def _stepped(self, here: Climb, done: int) -> Climb:
        """One plain step on, not yet looked at."""
        after = self.maximised(here.expected)
        return replace(here, cells=after, reason=_limit_reached(self.limits, done), iterations=done)

    def _has_arrived(self, change: float, times: float, step: float) -> bool:
        """Whether the last step is short, and so is the way that remains.

        Loopy propagation is too coarse to tell the latter.

        Parameters
        ----------
        change
            By how much the last step moves a cell.
        times
            How many times as long the way is.
        step
            The square of the last step in standard errors.
        """
        if not change < self.limits.tolerance:
            return False
        is_near = times * change < NEAR_CELL and SAFETY * times * step < NEAR**2
        return is_near or bool(self.engine.loopy.graphs)

    def _look(self, here: Climb) -> Climb:
        """The expectation here."""
        outcome = self.engine.expect(here.cells, self.limits.deadline, here.messages)
        logs = outcome.log_likelihoods
        likelihood = float(logs.sum())
        trace = (*here.trace, likelihood + log_prior(here.cells, self.pseudo_counts))
        looked = replace(here, expected=outcome.counts, messages=outcome.messages)
        return replace(looked, log_likelihoods=logs, trace=trace)


@dataclass(frozen=True)
class Step:
    """A plain step: the cells ``after`` it, their logarithms before it, how much it moves these.

    A cell that is zero before or after has no logarithm, and no part in extrapolations.
    """

    after: FloatArray
    has_logs: NDArray[np.bool_]
    logs: FloatArray
    moves: FloatArray

    @classmethod
    def between(cls, before: FloatArray, after: FloatArray) -> Step:
        """The step from some cells to others."""
        has_logs = (before > 0) & (after > 0)
        logs, moves = np.zeros((2, len(before)))
        np.log(before, out=logs, where=has_logs)
        np.log(after, out=moves, where=has_logs)
        moves -= logs
        return cls(after, has_logs, logs, moves)


def remembered(past: list[Step], step: Step) -> list[Step]:
    """The last steps with one more; it alone if others have logarithms in other cells."""
    if past and not np.array_equal(past[-1].has_logs, step.has_logs):
        past = []
    return [*past, step][-REMEMBERED:]


@dataclass(frozen=True)
class Aim:
    r"""Where plain steps point at: how far all cells would have to move, and how far that is.

    ``moves`` are those of the logarithms of cells, :math:`(I - \partial M)^{-1} f` as far as the
    last ``steps`` tell. ``weights`` say how much each cell counts, the diagonal of :math:`W`.
    """

    steps: Sequence[Step]
    weights: FloatArray
    moves: FloatArray

    @classmethod
    def of(cls, steps: Sequence[Step], weights: FloatArray) -> Aim:
        """What some plain steps point at, the newest of them last."""
        last = steps[-1]
        places = np.diff([step.logs for step in steps], axis=0)
        changes = np.diff([step.moves for step in steps], axis=0)
        moves = last.moves
        if len(steps) > 1:
            weighted = changes * weights
            shares = np.linalg.lstsq(weighted @ changes.T, weighted @ last.moves, rcond=None)[0]
            moves = last.moves - shares @ (places + changes)
        return cls(steps, weights, moves)

    @property
    def step(self) -> float:
        """The square of the last step, in standard errors of complete rows: f' W f."""
        moves = self.steps[-1].moves
        return float(self.weights * moves @ moves)

    @property
    def times_step(self) -> float:
        r"""How many times the last step the way is: f' W (I - \partial M)^{-1} f / f' W f."""
        way = float(self.weights * self.steps[-1].moves @ self.moves)
        return way / max(self.step, SMALLEST)

    @property
    def tells(self) -> bool:
        """Whether there are enough steps to tell that."""
        return len(self.steps) >= ENOUGH_STEPS and self.times_step > 0


def extrapolated(aim: Aim, rows: CptRows, longest: float) -> tuple[FloatArray, float]:
    """The cells that plain steps point at, and how many times the last step that is.

    Parameters
    ----------
    aim
        Of two steps or more.
    longest
        How many times the last step it may be.
    """
    before, last = aim.steps[-2:]
    move, length = aim.moves, aim.times_step
    if length <= 0:
        changes, places = last.moves - before.moves, last.logs - before.logs
        bending = float(aim.weights * changes @ changes)
        straight = float(aim.weights @ places**2)
        length = longest if bending == 0 else max(sqrt(straight / bending), 1.0)
        move = length * last.moves
    if length > longest:
        length, move = longest, move * (longest / length)
    move = np.clip(move, last.moves - LONGEST_LOG, last.moves + LONGEST_LOG)
    cells = np.where(last.has_logs, np.exp(last.logs + move), last.after)
    return rows.normalised(cells), length


def _limit_reached(limits: Limits, done: int) -> str:
    """Why to stop after so many iterations, arrived or not; empty to go on."""
    return "" if done < limits.iterations else "iteration limit"
