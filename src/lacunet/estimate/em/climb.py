"""The iteration of EM from one start: expect, maximise, until something says stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, isfinite, log, nan
from time import monotonic

import numpy as np

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.em.start import Rows, log_prior, maximise
from lacunet.inference.engine import Engine
from lacunet.inference.expectation.expect import Expectation
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent


@dataclass(frozen=True)
class Limits:
    """When to stop: a change below ``tolerance``, ``iterations``, or the deadline.

    ``exactly`` asks for that many iterations whatever the change.
    """

    tolerance: float
    iterations: int
    exactly: bool = False
    deadline: Deadline = NEVER


@dataclass(frozen=True)
class Climb:
    """Where EM came to from one start, and how.

    ``counts`` are the expected counts that ``cells`` were made from, None at the start.
    ``trace`` holds the log-posterior of the start and after each iteration; its last value is
    that of ``cells``. It is empty if the climb was cut short before any was known.
    ``is_of_a_part`` if rows that were put aside have no part in it.
    """

    cells: FloatArray
    counts: FloatArray | None
    reason: str
    log_likelihood: float
    trace: tuple[float, ...]
    is_of_a_part: bool = False

    @property
    def iterations(self) -> int:
        """How many iterations were done."""
        return max(len(self.trace) - 1, 0)

    @property
    def log_posterior(self) -> float:
        """The log-posterior of ``cells``."""
        return self.trace[-1] if self.trace else nan


def climb(
    engine: Engine,
    start: FloatArray,
    prior: float,
    limits: Limits,
    progress: Progress = silent,
    goes_on: Callable[[Climb], bool] | None = None,
) -> Climb:
    """Iterate from a start.

    When time is up, or on Ctrl-C, the last parameters whose log-posterior is known are
    returned: the best so far, since exact EM never goes down.

    Parameters
    ----------
    start
        The cells of all CPTs, end to end.
    goes_on
        Called with where the climb is, at the start and after each iteration; False ends it.
    """
    report = _Report(limits, progress)
    found = Climb(start, None, "", nan, ())
    reason = ""
    try:
        for at in _iterates(engine, start, prior, limits):
            found, reason = at, at.reason
            report(at)
            if goes_on is not None and not goes_on(at):
                reason = "held-out peak"
                break
    except OutOfTimeError:
        reason = "time limit"
    except KeyboardInterrupt:
        reason = "interrupted"
    return replace(found, reason=reason)


def _iterates(engine: Engine, start: FloatArray, prior: float, limits: Limits) -> Iterator[Climb]:
    """The climb after each iteration; the last has a reason."""
    rows = Rows.of(engine.problems.layout)
    cells, counts, change, reason = start, None, np.inf, ""
    trace: tuple[float, ...] = ()
    while not reason:
        reason = _reason(limits, len(trace), change)
        if reason:  # nothing will be made of the expected counts
            found = Expectation(cells, engine.log_likelihood(cells, limits.deadline))
        else:
            found = engine.expect(cells, limits.deadline)
        trace = (*trace, found.log_likelihood + log_prior(cells, prior))
        yield Climb(cells, counts, reason, found.log_likelihood, trace)
        counts = found.counts
        after = maximise(counts, rows, prior)
        change = float(np.abs(after - cells).max())
        cells = after


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
