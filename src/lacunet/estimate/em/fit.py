r"""EM on compiled problems: from where, how far, and which of several starts.

Nothing here sees a row. The data come as problems whose weights are in one part, or in two: what
is learned from, and what is put aside to judge the number of steps. One plan serves both parts
and every start.

EM ends in the optimum that its start leads to, and not all are good ones. Where an iteration is
cheap, several starts are made (the closed form, then perturbed closed forms and random CPTs in
turn) and the best posterior is kept. How often the best of 25 starts is missed by more than 0.1
nats (``benchmarks/em_starts.py``; small networks, the paper's settings, 10^2 to 10^5 rows):

=====================================  ====
the closed form alone                  0.9%
with 1 perturbed and 1 random start    0.3%
with 2 perturbed and 2 random starts   0.2%
with 5 perturbed and 4 random starts   0.1%
=====================================  ====

of 358 problems.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lacunet.deadline import NEVER, Deadline
from lacunet.estimate.em.climb import CUT_SHORT, Climb, Limits, climb
from lacunet.estimate.em.heldout import is_settled, steps_supported
from lacunet.estimate.em.start import Rows, perturbed_cells, random_cells
from lacunet.estimate.method import AGREEMENT
from lacunet.inference.engine import Engine
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent

Stop = Literal["converge", "heldout"] | int

# The starts made by themselves, by the cells that an iteration multiplies: up to 2e4 it takes about
# a millisecond, up to 2e5 some milliseconds.
STARTS_UP_TO = ((2e4, 10), (2e5, 3))
SHARE_TO_FOLLOW = 0.45  # of the time left, to find the number of steps
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

    def with_redrawn(self, cells: FloatArray) -> Seeds:
        """The same with other cells where hidden variables have a part."""
        if self.redrawn is None:
            return self
        whole, learning = (
            np.where(self.redrawn, cells, own) for own in (self.whole, self.learning)
        )
        return Seeds(whole, learning, self.redrawn)


@dataclass(frozen=True)
class Fit:
    """What EM found.

    ``heldout`` is the log-likelihood of what was put aside, at the seed and after each step.
    ``starts`` are the log-posteriors in which the starts ended, the seed's first; that of the
    best is ``gain`` nats above the seed's. ``is_of_a_part`` if time was up before anything was
    learned from all rows.
    """

    climb: Climb
    heldout: tuple[float, ...] = ()
    starts: tuple[float, ...] = ()
    gain: float = 0.0
    is_of_a_part: bool = False


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
    return run.best(seeds.whole, seeds.redrawn, limits, np.ones(run.parts))[0]


@dataclass(frozen=True)
class _Run:
    engine: Engine
    prior: float
    options: Options
    rng: np.random.Generator
    deadline: Deadline
    progress: Progress

    @property
    def parts(self) -> int:
        return self.engine.problems.parts

    def limits(self, stop: Stop, deadline: Deadline | None = None) -> Limits:
        options, deadline = self.options, deadline or self.deadline
        if isinstance(stop, int):
            return Limits(options.tolerance, stop, exactly=True, deadline=deadline)
        return Limits(
            options.tolerance,
            options.max_iterations,
            accelerate=options.accelerate,
            deadline=deadline,
        )

    def climb(self, start: FloatArray, limits: Limits, parts: FloatArray) -> Climb:
        return climb(self.engine, start, self.prior, limits, parts=parts, progress=self.progress)

    def number_of_starts(self, exactly: bool) -> int:
        if self.options.restarts is not None:
            return self.options.restarts
        if exactly or self.engine.loopy.graphs:
            return 1
        return next((most for reads, most in STARTS_UP_TO if self.engine.reads <= reads), 1)

    def within(self, share: float) -> Deadline:
        """The moment when a share of the time left is over."""
        return Deadline.within(share * self.deadline.left)

    def best(
        self,
        seed: FloatArray,
        redrawn: NDArray[np.bool_] | None,
        limits: Limits,
        parts: FloatArray,
    ) -> tuple[Fit, FloatArray]:
        """The climb of highest posterior among all starts, and its start.

        That of the seed is kept unless another is clearly better.
        """
        best, best_start = self.climb(seed, limits, parts), seed
        found = [best.log_posterior]
        number = self.number_of_starts(limits.exactly)
        starts = _starts(seed, redrawn, Rows.of(self.engine.problems.layout), self.rng)
        for start in islice(starts, number - 1):
            if best.reason in CUT_SHORT:
                break
            other = self.climb(start, limits, parts)
            if other.trace:
                found.append(other.log_posterior)
            if other.log_posterior > best.log_posterior + AGREEMENT:
                best, best_start = other, start
            if other.reason in CUT_SHORT:
                best = replace(best, reason=other.reason)
        gain = best.log_posterior - found[0]
        return Fit(best, starts=tuple(found), gain=gain), best_start

    def as_supported(self, seeds: Seeds) -> Fit:
        """As many steps on all rows as the weight put aside supports.

        Where hidden variables have a part in some CPTs, these are first learned to convergence
        without what is put aside: from chance, a few steps lead nowhere. Where several starts
        are cheap and one of them leads to a better optimum than the closed form, that which
        foretells the rows put aside better is taken.
        """
        one = Fit(Climb.at_start(seeds.whole))
        if seeds.redrawn is not None:
            limits = self.limits("converge", self.within(SHARE_TO_FOLLOW))
            one, _ = self.best(seeds.learning, seeds.redrawn, limits, LEARNING)
            if one.climb.reason == "interrupted":
                return replace(one, is_of_a_part=True)
            seeds = seeds.with_redrawn(one.climb.cells)
        followed, start = self.followed(seeds.learning), seeds.whole
        if seeds.redrawn is None and self.number_of_starts(exactly=False) > 1:
            limits = self.limits("converge", self.within(SHARE_TO_FOLLOW))
            one, other = self.best(seeds.learning, None, limits, LEARNING)
            if other is not seeds.learning and one.climb.reason != "interrupted":
                rival = self.followed(other)
                if rival.value > followed.value + AGREEMENT:
                    followed, start = rival, other
                else:
                    one = replace(one, gain=0.0)
        part = replace(one, climb=followed.climb, heldout=followed.curve, is_of_a_part=True)
        if "interrupted" in (one.climb.reason, followed.climb.reason):
            return replace(part, climb=replace(part.climb, reason="interrupted"))
        steps = followed.steps if seeds.redrawn is None else max(followed.steps, 1)
        found = self.climb(start, self.limits(steps), np.ones(self.parts))
        if found.reason in CUT_SHORT and not found.iterations:
            return replace(part, climb=replace(part.climb, reason=found.reason))
        if found.reason == "steps done":
            ended = followed.climb.reason
            reason = "time limit" if ended == "time limit" else "held-out peak"
            found = replace(found, reason=reason)
        return replace(one, climb=found, heldout=followed.curve)

    def followed(self, start: FloatArray) -> Followed:
        """Learn without what is put aside, and follow the likelihood of both parts."""
        totals = self.engine.problems.totals
        curves: list[FloatArray] = []

        def goes_on(at: Climb) -> bool:
            curves.append(at.log_likelihoods / totals)
            return not is_settled(*_both(curves), totals[1], totals.sum())

        limits = Limits(
            0.0,
            self.options.max_iterations,
            accelerate=False,
            deadline=self.within(SHARE_TO_FOLLOW),
        )
        found = climb(
            self.engine,
            start,
            self.prior,
            limits,
            parts=LEARNING,
            progress=self.progress,
            goes_on=goes_on,
        )
        heldout, learned = _both(curves)
        steps = steps_supported(heldout, learned, totals[1], totals.sum())
        return Followed(found, tuple(value * totals[1] for value in heldout), steps)


@dataclass(frozen=True)
class Followed:
    """A climb without what is put aside, whose log-likelihood on the way is ``curve``."""

    climb: Climb
    curve: tuple[float, ...]
    steps: int

    @property
    def value(self) -> float:
        """The log-likelihood of what is put aside after the steps it supports."""
        return self.curve[min(self.steps, len(self.curve) - 1)] if self.curve else -inf


def _both(curves: list[FloatArray]) -> tuple[list[float], list[float]]:
    """The means of what is put aside, and of what is learned from."""
    return [float(means[1]) for means in curves], [float(means[0]) for means in curves]


def _starts(
    seed: FloatArray,
    redrawn: NDArray[np.bool_] | None,
    rows: Rows,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Further starts: those that redraw what hidden variables touch, or perturbed and random."""
    while True:
        if redrawn is not None:
            yield np.where(redrawn, random_cells(rows, rng), seed)
        else:
            yield perturbed_cells(seed, rows, rng)
            yield random_cells(rows, rng)
