r"""EM on compiled problems: from where, how far, and which of several starts.

Nothing here sees a row. The data come as problems whose weights are in one part, or in two: what
is learned from, and what is put aside to judge how to run EM. One plan serves both parts and
every start.

EM ends in the optimum that its start leads to, and not all are good ones. Where an iteration is
cheap, several starts are made (the closed form, then perturbed closed forms and random CPTs in
turn), until three of them end at the best posterior found or ten are made, and the best is kept.
How often the best of 15 starts is missed by more than 0.1 nats (``benchmarks/em_starts.py``; 242
problems of small networks, 10^2 to 10^5 rows):

===========================  ======  ===========
policy                       missed  starts made
===========================  ======  ===========
the closed form alone        0.83%   1
three starts                 0.25%   3
until three agree            0.14%   3.1
ten starts                   0.02%   10
===========================  ======  ===========
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.em.climb import CUT_SHORT, Climb, Limits, climb
from lacunet.estimate.em.heldout import (
    SHARES,
    Way,
    clearly_best,
    ended,
    lighter,
    visit_stops,
)
from lacunet.estimate.em.start import Rows, log_prior, perturbed_cells, random_cells
from lacunet.estimate.method import AGREEMENT, agreed
from lacunet.inference.engine import Engine
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent

Stop = Literal["converge", "heldout"] | int

# The starts made by themselves, by the cells that an iteration multiplies: up to 2e4 it takes about
# a millisecond, up to 2e5 some milliseconds.
STARTS_UP_TO = ((2e4, 10), (2e5, 3))
ENOUGH_AGREE = 3  # starts that found the same optimum, the best so far
SHARE_TO_JUDGE = 0.45  # of the time left, for what is learned without the weight put aside
LEARNING = np.array([1.0, 0.0])  # the part that is put aside does not count


@dataclass(frozen=True)
class Options:
    """How far EM goes; ``restarts`` is the number of starts, None to decide by their cost."""

    stop: Stop = "converge"
    tolerance: float = 1e-4
    max_iterations: int = 500
    restarts: int | None = None
    accelerate: bool = True


@dataclass(frozen=True)
class Seeds:
    """The cells to start from: learned from all rows, and without those put aside.

    ``redrawn`` are the cells that hidden variables have a part in, if any: a restart draws
    these alone.
    """

    whole: FloatArray
    learning: FloatArray
    redrawn: NDArray[np.bool_] | None = None

    def without(self, start: FloatArray) -> FloatArray:
        """A start on all rows as it is without those put aside."""
        return start if self.redrawn is None else np.where(self.redrawn, start, self.learning)


@dataclass(frozen=True)
class Fit:
    """What EM found.

    ``heldout`` is the log-likelihood of what was put aside, at each stop
    (`lacunet.estimate.em.heldout`), and ``way`` what it clearly spoke for, if anything, by
    ``margin`` nats. ``starts`` are the log-posteriors in which the starts ended, the seed's first;
    that of the best is ``gain`` nats above the seed's.
    """

    climb: Climb
    heldout: tuple[float, ...] = ()
    way: Way | None = None
    margin: float = 0.0
    starts: tuple[float, ...] = ()
    gain: float = 0.0


def fit(
    engine: Engine,
    seeds: Seeds,
    prior: float,
    options: Options,
    *,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Fit:
    """Run EM as the options say, within the deadline; what was found until then if it is not met.

    Parameters
    ----------
    engine
        The problems, planned; "heldout" needs two parts, the second put aside.
    seeds
        Where to start.
    prior
        The concentration of the symmetric Dirichlet prior.
    rng
        Draws the starts after the first.
    """
    run = _Run(engine, prior, options, rng, deadline, progress)
    if options.stop == "heldout":
        return run.as_supported(seeds)
    limits = run.limits(options.stop)
    return run.best(run.climb(seeds.whole, limits), seeds, limits)[0]


@dataclass(frozen=True)
class _Run:
    engine: Engine
    prior: float
    options: Options
    rng: np.random.Generator
    deadline: Deadline
    progress: Progress

    def limits(self, stop: Stop, share: float | None = None) -> Limits:
        """When to stop; ``share`` is how much of the time left it may take at most."""
        options, deadline = self.options, self.deadline
        if share is not None:
            deadline = Deadline.within(share * deadline.left)
        if isinstance(stop, int):
            return Limits(options.tolerance, stop, exactly=True, deadline=deadline)
        return Limits(
            options.tolerance,
            options.max_iterations,
            accelerate=options.accelerate,
            deadline=deadline,
        )

    def climb(self, start: FloatArray, limits: Limits, prior: float | None = None) -> Climb:
        prior = self.prior if prior is None else prior
        return climb(self.engine, start, prior, limits, progress=self.progress)

    def number_of_starts(self, exactly: bool) -> int:
        if self.options.restarts is not None:
            return self.options.restarts
        if exactly or self.engine.loopy.graphs:
            return 1
        return next((most for reads, most in STARTS_UP_TO if self.engine.reads <= reads), 1)

    def best(self, first: Climb, seeds: Seeds, limits: Limits) -> tuple[Fit, FloatArray]:
        """The climb of highest posterior among all starts, and its start.

        That of the seed, which is made already, is kept unless another is clearly better. Unless
        a number of starts is asked for, no more are made once enough of them agree.
        """
        best, best_start = first, seeds.whole
        found = [best.log_posterior]
        number = self.number_of_starts(limits.exactly)
        enough = ENOUGH_AGREE if self.options.restarts is None else number
        starts = _starts(seeds, Rows.of(self.engine.problems.layout), self.rng)
        while len(found) < number and agreed(found) < enough and best.reason not in CUT_SHORT:
            start = next(starts)
            other = self.climb(start, limits)
            if not other.trace:
                best = replace(best, reason=other.reason)
                break
            found.append(other.log_posterior)
            if other.log_posterior > best.log_posterior + AGREEMENT:
                best, best_start = other, start
            if other.reason in CUT_SHORT:
                best = replace(best, reason=other.reason)
        gain = best.log_posterior - found[0]
        return Fit(best, starts=tuple(found), gain=gain), best_start

    def as_supported(self, seeds: Seeds) -> Fit:
        """EM to convergence, unless weight put aside clearly speaks for another way.

        Another start than the closed form is taken only if it foretells that weight better.
        """
        limits = self.limits("converge", 1 - SHARE_TO_JUDGE)
        first = self.climb(seeds.whole, limits)
        usual, start = self.best(first, seeds, limits)
        if usual.climb.reason == "interrupted":
            return usual
        ways, reason = self.judged(seeds.learning, SHARES)
        curve = tuple(way.value for way in ways if way.share == 1)
        usual, value = replace(usual, heldout=curve), curve[-1] if curve else nan
        if reason == "done" and start is not seeds.whole:  # another start led to a better optimum
            others, reason = self.judged(seeds.without(start), (1.0,))
            is_better = reason == "done" and others[-1].value > value + AGREEMENT
            value = others[-1].value if is_better else value
            usual = usual if is_better else replace(usual, climb=first, gain=0.0)
        if seeds.redrawn is not None:  # from chance, a few steps lead nowhere
            ways = [way for way in ways if way.steps is None]
        chosen = clearly_best(ways, value) if ways and reason != "interrupted" else None
        if chosen is not None:
            found = self.by(chosen, seeds.whole)
            if found.reason not in CUT_SHORT:
                curve = tuple(way.value for way in ways if way.share == chosen.share)
                return Fit(found, curve, chosen, chosen.value - value)
            reason = found.reason
        if reason == "interrupted":
            return replace(usual, climb=replace(usual.climb, reason=reason))
        if usual.climb.reason == "time limit":  # of its share of the time
            more = self.climb(usual.climb.cells, self.limits("converge"))
            usual = replace(usual, climb=usual.climb.followed_by(more))
        return usual

    def judged(self, start: FloatArray, shares: Sequence[float]) -> tuple[list[Way], str]:
        """How likely is what is put aside, learned without it, in each way; "done" or why not."""
        ways: list[Way] = []
        for share in shares:
            limits = self.limits("converge", SHARE_TO_JUDGE)

            def judge(at: Climb, share: float = share, limits: Limits = limits) -> None:
                value = float(self.engine.log_likelihoods(at.cells, limits.deadline)[1])
                ways.append(Way(None if at.reason else at.iterations, share, value))

            try:
                reason = visit_stops(
                    self.engine,
                    start,
                    self.prior,
                    share,
                    limits,
                    judge,
                    parts=LEARNING,
                    progress=self.progress,
                )
            except OutOfTimeError:
                reason = "time limit"
            except KeyboardInterrupt:
                reason = "interrupted"
            if reason in CUT_SHORT:
                return ways, reason
        return ways, "done"

    def by(self, way: Way, start: FloatArray) -> Climb:
        """What EM gives on all rows in that way, unless it was cut short."""
        limits = self.limits("converge" if way.steps is None else way.steps)
        at = self.climb(start, limits, lighter(self.prior, way.share))
        if at.reason in CUT_SHORT:
            return at
        at = ended(at, Rows.of(self.engine.problems.layout), self.prior)
        try:
            logs = self.engine.log_likelihoods(at.cells, self.deadline)
        except (OutOfTimeError, KeyboardInterrupt):
            logs = np.full(1, nan)
        posterior = float(logs.sum()) + log_prior(at.cells, self.prior)
        trace = (*at.trace, posterior)
        return replace(at, log_likelihoods=logs, trace=trace, reason="held-out peak")


def _starts(seeds: Seeds, rows: Rows, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Further starts: those that redraw what hidden variables touch, or perturbed and random."""
    while True:
        if seeds.redrawn is not None:
            yield np.where(seeds.redrawn, random_cells(rows, rng), seeds.whole)
        else:
            yield perturbed_cells(seeds.whole, rows, rng)
            yield random_cells(rows, rng)
