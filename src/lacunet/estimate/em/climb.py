r"""The iteration of EM from one start: expect, maximise, until something says stop.

Plain EM slows down near the optimum, the more so the more is missing. So it is accelerated by
SQUAREM (Varadhan and Roland, 2008), on :math:`x = \log \theta`: from two plain steps,
:math:`r = x_1 - x_0` and :math:`v = (x_2 - x_1) - r`, a longer one is made,

.. math::
    x' = x_0 + 2 a r + a^2 v, \qquad a = \lVert r \rVert / \lVert v \rVert,

every row of every CPT scaled to sum to one. It is kept only if the log-posterior does not fall;
otherwise the plain step stands. What is zero stays zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, isfinite, log, nan
from time import monotonic

import numpy as np

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.em.start import Rows, log_prior, maximise
from lacunet.inference.engine import Engine
from lacunet.inference.errors import ImpossibleDataError
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent

CUT_SHORT = ("time limit", "interrupted")
LONGEST_AT_FIRST = 4.0  # extrapolation allowed
GROWTH = 4.0  # of that, after one so long was kept; it shrinks likewise
LONGEST_LOG = 10.0  # that an extrapolation may move the logarithm of a cell


@dataclass(frozen=True)
class Limits:
    """When to stop: a change below ``tolerance``, ``iterations``, or the deadline.

    ``exactly`` asks for that many plain iterations whatever the change.
    """

    tolerance: float
    iterations: int
    exactly: bool = False
    accelerate: bool = True
    deadline: Deadline = NEVER


@dataclass(frozen=True)
class Climb:
    """Where EM came to from one start, and how.

    ``counts`` are the expected counts that the last plain step was made from, None at the
    start; ``expected`` those at ``cells``, None where they were not computed.
    ``log_likelihoods`` has the value at ``cells`` for each part of the data. ``trace`` holds the
    log-posterior (of the parts that count) of the start and of all that was kept since; its last
    value is that of ``cells``. It is empty if the climb was cut short before any was known.
    ``iterations`` counts the expectations after the first, those of extrapolations that were
    not kept among them.
    """

    cells: FloatArray
    counts: FloatArray | None
    expected: FloatArray | None
    reason: str
    iterations: int
    log_likelihoods: FloatArray
    trace: tuple[float, ...]

    @classmethod
    def at_start(cls, cells: FloatArray, reason: str = "") -> Climb:
        """Before the first expectation."""
        return cls(cells, None, None, reason, 0, np.full(1, nan), ())

    def followed_by(self, later: Climb) -> Climb:
        """Both climbs as one; the other began where this one ended."""
        if not later.trace:
            return replace(self, reason=later.reason)
        done, trace = self.iterations + later.iterations, (*self.trace[:-1], *later.trace)
        return replace(later, iterations=done, trace=trace)

    @property
    def log_posterior(self) -> float:
        """The log-posterior of ``cells``."""
        return self.trace[-1] if self.trace else nan


def climb(
    engine: Engine,
    start: FloatArray,
    prior: float,
    limits: Limits,
    *,
    parts: FloatArray | None = None,
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
    parts
        How much each part of the data counts; all of them fully if None.
    visit
        Called with where the climb is, at the start and after each iteration.
    """
    report = _Report(limits, progress)
    found = Climb.at_start(start)
    reason = ""
    parts = np.ones(engine.problems.parts) if parts is None else parts
    try:
        for at in _Climbing(engine, prior, limits, parts).iterates(start):
            found, reason = at, at.reason
            report(at)
            if visit is not None:
                visit(at)
    except OutOfTimeError:
        reason = "time limit"
    except KeyboardInterrupt:
        reason = "interrupted"
    return replace(found, reason=reason)


@dataclass(frozen=True)
class _Climbing:
    """What stays the same from one iteration to the next."""

    engine: Engine
    prior: float
    limits: Limits
    parts: FloatArray

    def iterates(self, start: FloatArray) -> Iterator[Climb]:
        """The climb after each iteration; the last has a reason."""
        limits, rows = self.limits, Rows.of(self.engine.problems.layout)
        done, longest = 0, LONGEST_AT_FIRST
        here = self._look(Climb.at_start(start, _reason(limits, 0, np.inf)))
        yield here
        while not here.reason:
            done += 1
            before, here = here, self._look(self._stepped(here, rows, done))
            yield here
            may_jump = limits.accelerate and not limits.exactly and done + 1 < limits.iterations
            if here.reason or not may_jump:
                continue
            second = self._stepped(here, rows, done + 1)
            if second.reason:
                continue
            jump, length = extrapolated(before.cells, here.cells, second.cells, rows, longest)
            if length > 1:
                done += 1
                trial = self._look_if_possible(replace(here, cells=jump, iterations=done))
                is_kept = trial is not None and trial.log_posterior >= here.log_posterior
                if length == longest:
                    longest = max(longest * (GROWTH if is_kept else 1 / GROWTH), LONGEST_AT_FIRST)
                if is_kept and trial is not None:
                    here = trial
                    yield here

    def _stepped(self, here: Climb, rows: Rows, done: int) -> Climb:
        """One plain step on, not yet looked at."""
        assert here.expected is not None
        after = maximise(here.expected, rows, self.prior)
        reason = _reason(self.limits, done, float(np.abs(after - here.cells).max()))
        return replace(here, cells=after, counts=here.expected, reason=reason, iterations=done)

    def _look(self, at: Climb) -> Climb:
        """The expectation there; only the likelihood if the climb ends there."""
        expected = None
        if at.reason:
            logs = self.engine.log_likelihoods(at.cells, self.limits.deadline)
        else:
            found = self.engine.expect(at.cells, self.parts, self.limits.deadline)
            logs, expected = found.log_likelihoods, found.counts
        counted = self.parts > 0
        likelihood = float(logs[counted] @ self.parts[counted])
        trace = (*at.trace, likelihood + log_prior(at.cells, self.prior))
        return replace(at, expected=expected, log_likelihoods=logs, trace=trace)

    def _look_if_possible(self, at: Climb) -> Climb | None:
        try:
            return self._look(at)
        except ImpossibleDataError:  # it went too far: below what floating point holds
            return None


def extrapolated(
    zeroth: FloatArray, first: FloatArray, second: FloatArray, rows: Rows, longest: float
) -> tuple[FloatArray, float]:
    """The cells that two plain steps point at, and the length; no longer than one: the second."""
    moves = (zeroth > 0) & (first > 0) & (second > 0)
    start, middle, end = (np.log(cells[moves]) for cells in (zeroth, first, second))
    step = middle - start
    bend = (end - middle) - step
    bending = float(bend @ bend)
    length = longest if bending == 0 else min(float(np.sqrt(step @ step / bending)), longest)
    if length <= 1:
        return second, length
    logs = start + 2 * length * step + length**2 * bend
    logs = np.clip(logs, end - LONGEST_LOG, end + LONGEST_LOG)
    cells = second.copy()
    cells[moves] = np.exp(logs)
    return rows.normalised(cells), length


def _reason(limits: Limits, done: int, change: float) -> str:
    """Why to stop after so many iterations; empty to go on."""
    if limits.exactly and done >= limits.iterations:
        return "steps done"
    if not limits.exactly and change < limits.tolerance:
        return "converged"
    return "iteration limit" if done >= limits.iterations else ""


class _Report:
    """Tells progress how far the climb is, and how long it may take."""

    def __init__(self, limits: Limits, progress: Progress) -> None:
        self.limits = limits
        self.progress = progress
        self.began = monotonic()
        self.last: FloatArray | None = None
        self.changes = [np.inf]

    def __call__(self, at: Climb) -> None:
        if self.last is not None:
            self.changes.append(float(np.abs(at.cells - self.last).max()))
        self.last = at.cells
        seconds = (monotonic() - self.began) / max(at.iterations, 1)
        left = min(seconds * iterations_left(self.changes, self.limits), self.limits.deadline.left)
        note = f"log-posterior {at.log_posterior:,.4f}"
        if at.iterations and isfinite(left):
            note += f", about {left:,.0f} s left"
        self.progress("em", at.iterations, self.limits.iterations, note)


def iterations_left(changes: list[float], limits: Limits) -> int:
    """How many more iterations it may take: changes shrink by a nearly constant factor.

    Examples
    --------
    Halving from 0.08 to below 0.01 takes four more.

    >>> iterations_left([np.inf, 0.32, 0.16, 0.08], Limits(0.01, 100))
    4
    """
    most = limits.iterations - (len(changes) - 1)
    is_shrinking = len(changes) > 2 and 0 < changes[-1] < changes[-2]
    if limits.exactly or limits.tolerance <= 0 or not is_shrinking:
        return most
    if changes[-1] < limits.tolerance:
        return 0
    rate = changes[-1] / changes[-2]
    return min(most, ceil(log(limits.tolerance / changes[-1]) / log(rate) + 1e-9))
