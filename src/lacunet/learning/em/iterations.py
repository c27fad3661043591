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
otherwise the plain step stands, and the past is forgotten. What is zero stays zero. A CPT that is
no full table leaves its shape on the way: it is moved to the nearest one of its shape before it is
looked at.

*Near the optimum.* Where much is missing steps are short long before EM has arrived. What remains
is :math:`d = (I - \partial M)^{-1} f`, and in standard errors its square is :math:`f' W (I -
\partial M)^{-1} f`, since :math:`W (I - \partial M)` is the observed information. The last places
give an estimate of it, as a multiple of :math:`f' W f`. It is too small where directions of many
speeds are left, so the largest multiple in the later half of the climb is taken, and a margin. EM
has converged where this is below a tenth of a standard error, and the last step is short.

A cell that hardly a row is expected in weighs nothing in all this: a jump may have taken it to
where it grows too slowly to be seen. So before EM ends, such cells that grow are lifted, once, and
it goes on from there if the log-posterior is higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.engine import Engine
from lacunet.inference.errors import ImpossibleDataError
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.start import log_prior, maximise
from lacunet.learning.plan import PerCell
from lacunet.limits import NEVER, Deadline, OutOfTimeError
from lacunet.network.network import FloatArray
from lacunet.progress import Progress, silent

COST_LIMIT = "cost limit"
CUT_SHORT = {
    "time limit": "time was up",
    "interrupted": "it was interrupted",
    COST_LIMIT: "EM would take too long even by loopy belief propagation",
}
# How far an extrapolation goes.
STEPS_REMEMBERED = 6  # the present one among them
LONGEST_AT_FIRST = 4.0  # times a plain step
GROWTH = 2.0  # of that, after one so long was kept; it shrinks likewise
LONGEST_LOG = 10.0  # that the logarithm of a cell may move

# When EM has converged.
CONVERGED_WAY = 0.1  # standard errors: what is left of the way
NEAR_CELL = 1e-4  # by how much a cell may still move
SAFETY = 100.0  # the last steps see up to so small a part of the square of the way that is left
MIN_STEPS_TO_TELL = 3  # how many times the last step the way is
TIMES_UNKNOWN = 1e4  # what it is taken to be while that is not known
LEAST_ROWS = 0.1  # expected in a cell, below which it may grow unseen
GROWTH_UNSEEN = 1e-3  # in a step, relative to the cell
LEAST_DIVISOR = float(np.finfo(np.float64).tiny)  # nothing is divided by less


@dataclass(frozen=True)
class Limits:
    """When to stop."""

    tolerance: float  # near the optimum: no cell changes by more
    iterations: int  # at most
    accelerate: bool = True  # whether steps are extrapolated
    deadline: Deadline = NEVER
    least_rise: float = 0.0  # of the log-posterior: an iteration that raises it by less is the last


@dataclass(frozen=True)
class Climb:
    """Where EM came to from one start, and how."""

    cells: FloatArray  # of all CPTs, end to end
    start: FloatArray  # the cells that it started from
    expected: FloatArray  # the expected counts at `cells`; empty if cut short before any were known
    reason: str  # why it ended; empty while it goes on
    iterations: int  # the expectations after the first, those of jumps that were not kept too
    log_likelihoods: FloatArray  # at `cells`, for each part of the data
    # The log-posterior of the start and of all that was kept since; the last is that of `cells`.
    # Empty if it was cut short before any was known.
    trace: tuple[float, ...]
    messages: tuple[FloatArray, ...] = ()  # of loopy propagation, in the last expectation

    @classmethod
    def at_start(cls, cells: FloatArray, reason: str = "") -> Climb:
        """Before the first expectation."""
        return cls(cells, cells, np.empty(0), reason, 0, np.full(1, nan), ())

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

    def maximised(expected: FloatArray, near: FloatArray) -> FloatArray:
        return maximise(expected, rows, pseudo_counts, near)

    climbing = Climbing(
        engine=engine, rows=rows, pseudo_counts=pseudo_counts, maximised=maximised, limits=limits
    )
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
    """What stays the same from one iteration to the next."""

    engine: Engine
    rows: CptRows
    pseudo_counts: PerCell
    # The cells of highest posterior by expected counts, and the cells that these were expected at.
    maximised: Callable[[FloatArray, FloatArray], FloatArray]
    limits: Limits

    def iterates(self, start: FloatArray) -> Iterator[Climb]:
        """The climb after each iteration; the last has a reason."""
        past: list[Step] = []
        times_so_far: list[float] = []  # how many times the last step the way was
        longest = LONGEST_AT_FIRST
        done = 0
        is_lifted = False
        here = self._look(Climb.at_start(start), start, done)
        yield here
        while not here.reason:
            if self._rises_too_little(here):
                yield replace(here, reason="converged")
                return
            # A plain step: expected counts are there already, so it costs next to nothing.
            done += 1
            plain = self.maximised(here.expected, here.cells)
            past = remember_step(past, Step.between(here.cells, plain))
            aim = Aim.of(past, here.expected + self.pseudo_counts)

            # The largest estimate in the later half: each may miss directions that are slow.
            times = TIMES_UNKNOWN
            if aim.tells:
                times_so_far.append(aim.times_step)
                times = max(times_so_far[len(times_so_far) // 2 :])
            change = float(np.abs(plain - here.cells).max())
            if self._has_arrived(change, times, aim.step):
                lifted = None if is_lifted else self._lifted(here, plain)
                is_lifted = True
                if lifted is not None:
                    done += 1
                    past, times_so_far, here = [], [], lifted
                    yield here
                    continue
                here = self._look(here, plain, done, has_arrived=True)
                yield here
                return

            # A jump to where plain steps point at, if the log-posterior is no lower there.
            is_last = done >= self.limits.iterations
            if self.limits.accelerate and len(past) > 1 and not is_last:
                cells, length = extrapolated(aim, self.rows, longest)
                cells = self.rows.shaped_near(cells, aim.weights)
                jump = self._look_if_possible(here, cells, done)
                is_kept = jump is not None and jump.log_posterior >= here.log_posterior
                if length == longest:
                    factor = GROWTH if is_kept else 1 / GROWTH
                    longest = max(longest * factor, LONGEST_AT_FIRST)
                if jump is not None and is_kept:
                    here = jump
                    yield here
                    continue
                # The expectation at the jump is lost; the past led astray.
                done += 1
                past = past[-1:]
            here = self._look(here, plain, done)
            yield here

    def _lifted(self, here: Climb, plain: FloatArray) -> Climb | None:
        """The climb with more in cells that are too small to be seen growing, if that is higher."""
        weights = here.expected + self.pseudo_counts
        is_small = (weights > 0) & (weights < LEAST_ROWS)
        is_growing = is_small & (plain > (1 + GROWTH_UNSEEN) * here.cells)
        if not is_growing.any() or self.engine.loopy.graphs or self.rows.shaped:
            return None
        times = np.where(is_growing, LEAST_ROWS / np.maximum(weights, LEAST_DIVISOR), 1.0)
        cells = self.rows.normalised(here.cells * times)
        lifted = self._look_if_possible(here, cells, here.iterations + 1)
        if lifted is None or lifted.log_posterior <= here.log_posterior:
            return None
        return lifted

    def _rises_too_little(self, here: Climb) -> bool:
        least = self.limits.least_rise
        return least > 0 and len(here.trace) > 1 and here.trace[-1] - here.trace[-2] < least

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
        is_near = times * change < NEAR_CELL and SAFETY * times * step < CONVERGED_WAY**2
        return is_near or bool(self.engine.loopy.graphs)

    def _look(
        self, before: Climb, cells: FloatArray, done: int, *, has_arrived: bool = False
    ) -> Climb:
        """The climb with the expectation at some cells, after so many iterations."""
        outcome = self.engine.expect(cells, self.limits.deadline, before.messages)
        likelihood = float(outcome.log_likelihoods.sum())
        log_posterior = likelihood + log_prior(cells, self.pseudo_counts)
        reason = ""
        if has_arrived:
            reason = "converged"
        elif done >= self.limits.iterations:
            reason = "iteration limit"
        return Climb(
            cells,
            start=before.start,
            expected=outcome.counts,
            reason=reason,
            iterations=done,
            log_likelihoods=outcome.log_likelihoods,
            trace=(*before.trace, log_posterior),
            messages=outcome.messages,
        )

    def _look_if_possible(self, before: Climb, cells: FloatArray, done: int) -> Climb | None:
        """The same; None where the data have a probability below what floating point holds."""
        try:
            return self._look(before, cells, done)
        except ImpossibleDataError:
            return None


@dataclass(frozen=True)
class Step:
    """A plain step.

    A cell that is zero before or after has no logarithm, and no part in extrapolations.
    """

    after: FloatArray  # the cells after it
    has_logs: NDArray[np.bool_]  # of each cell, before and after
    logs: FloatArray  # x: of the cells before it; zero where there is none
    moves: FloatArray  # f: how much it moves these

    @classmethod
    def between(cls, before: FloatArray, after: FloatArray) -> Step:
        """The step from some cells to others."""
        has_logs = (before > 0) & (after > 0)
        logs, moves = np.zeros((2, len(before)))
        np.log(before, out=logs, where=has_logs)
        np.log(after, out=moves, where=has_logs)
        moves -= logs
        return cls(after, has_logs, logs, moves)


def remember_step(past: list[Step], step: Step) -> list[Step]:
    """The last steps with one more; it alone if others have logarithms in other cells."""
    if past and not np.array_equal(past[-1].has_logs, step.has_logs):
        past = []
    return [*past, step][-STEPS_REMEMBERED:]


@dataclass(frozen=True)
class Aim:
    r"""Where plain steps point at: how far all cells would have to move, and how far that is.

    .. math::
        (I - \partial M)^{-1} f \approx f_k - \sum_i \gamma_i (\Delta x_i + \Delta f_i)
    """

    steps: Sequence[Step]  # the last ones, the newest last
    weights: FloatArray  # how much each cell counts: the diagonal of W
    moves: FloatArray  # of the logarithms of cells: (I - dM)^-1 f, as far as the steps tell

    @classmethod
    def of(cls, steps: Sequence[Step], weights: FloatArray) -> Aim:
        """What some plain steps point at, the newest of them last."""
        last = steps[-1]
        if len(steps) == 1:
            return cls(steps, weights, last.moves)
        places = np.diff([step.logs for step in steps], axis=0)  # Delta x
        changes = np.diff([step.moves for step in steps], axis=0)  # Delta f
        weighted = changes * weights
        # gamma, by the normal equations: a few steps, though there may be a million cells.
        shares = np.linalg.lstsq(weighted @ changes.T, weighted @ last.moves, rcond=None)[0]
        return cls(steps, weights, last.moves - shares @ (places + changes))

    @property
    def step(self) -> float:
        """The square of the last step, in standard errors of complete rows: f' W f."""
        moves = self.steps[-1].moves
        return float(self.weights * moves @ moves)

    @property
    def times_step(self) -> float:
        r"""How many times the last step the way is: f' W (I - \partial M)^{-1} f / f' W f."""
        way = float(self.weights * self.steps[-1].moves @ self.moves)
        return way / max(self.step, LEAST_DIVISOR)

    @property
    def tells(self) -> bool:
        """Whether there are enough steps to tell that."""
        return len(self.steps) >= MIN_STEPS_TO_TELL and self.times_step > 0


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
    move = aim.moves
    length = aim.times_step
    if length <= 0:  # it points down: along the last step instead, a = |Delta x| / |Delta f|
        changes = last.moves - before.moves
        places = last.logs - before.logs
        bending = float(aim.weights * changes @ changes)
        straight = float(aim.weights @ places**2)
        length = longest
        if bending > 0:
            length = max(sqrt(straight / bending), 1.0)
        move = length * last.moves
    if length > longest:
        move = move * (longest / length)
        length = longest
    move = np.clip(move, last.moves - LONGEST_LOG, last.moves + LONGEST_LOG)
    cells = np.where(last.has_logs, np.exp(last.logs + move), last.after)
    return rows.normalised(cells), length
