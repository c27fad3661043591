r"""EM on compiled problems: from where, how far, and which of several starts.

Nothing here sees a row. The data come as problems whose weights are in one part, or in two: what
is learned from, and what is put aside to judge how to run EM. One plan serves both parts and
every start.

EM ends in the optimum that its start leads to, and not all are good ones. Where an iteration is
cheap, several starts are made (the closed form, then perturbed closed forms and random CPTs in
turn), until three of them end at the best posterior found or ten are made, and the best is kept;
where weight is put aside to judge, optima that the data hardly tell apart are averaged. How often
the best of 15 starts is missed by more than 0.1 nats (``studies/statistics/em_starts.py``; 242
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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.em.climb import CUT_SHORT, Climb, Limits, climb
from lacunet.estimate.em.heldout import STOPS, fewer_steps
from lacunet.estimate.em.start import CptRows, log_prior, perturbed_cells, random_cells
from lacunet.estimate.method import AGREEMENT, Concentration, agreed
from lacunet.inference.engine import Engine
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent

if TYPE_CHECKING:
    from lacunet.estimate.em.method import EM

Stop = Literal["converge", "heldout"] | int
Visit = Callable[[Climb], None]

# The starts made by themselves, by the cells that an iteration multiplies: up to 2e4 it takes about
# a millisecond, up to 2e5 some milliseconds.
STARTS_UP_TO = ((2e4, 10), (2e5, 3))
ENOUGH_AGREE = 3  # starts that found the same optimum, the best so far
SHARE_TO_JUDGE = 0.45  # of the time left, for what is learned without the weight put aside
SAME = 0.05  # change of a cell up to which the mean of optima is as good as the best of them
NEGLIGIBLE = 1e-3  # weight of an optimum, beside the best of them, that does not move the mean
LEARNING = np.array([1.0, 0.0])  # the part that is put aside does not count


@dataclass(frozen=True)
class Seeds:
    """The cells to start from: learned from all rows, and without those put aside.

    ``redrawn`` are the cells that hidden variables have a part in, if any: a restart draws
    these alone. Where the seed itself ``is_random``, so is every other start.
    """

    whole: FloatArray
    learning: FloatArray
    redrawn: NDArray[np.bool_] | None = None
    is_random: bool = False


@dataclass(frozen=True)
class Fit:
    """What EM found.

    ``heldout`` is the log-likelihood of what was put aside, at each stop and at convergence
    (`lacunet.estimate.em.heldout`). ``starts`` are the log-posteriors in which the starts ended,
    the seed's first; that of the best is ``gain`` nats above the seed's. ``optima`` are those that
    were averaged, if any were, with the weight of each.
    """

    climb: Climb
    heldout: tuple[float, ...] = ()
    starts: tuple[float, ...] = ()
    gain: float = 0.0
    optima: tuple[tuple[float, FloatArray], ...] = ()


@dataclass(frozen=True)
class Fitting:
    """EM with its options, on the problems of an engine.

    "heldout" needs two parts of them, the second put aside. ``prior`` is one concentration of the
    Dirichlet prior, or one for each cell; ``rng`` draws the starts after the first. ``averages`` if
    optima that the data hardly tell apart are averaged, as "heldout" does too.
    """

    engine: Engine
    prior: Concentration
    em: EM
    rng: np.random.Generator
    deadline: Deadline = NEVER
    progress: Progress = silent
    averages: bool = False

    def fit(self, seeds: Seeds) -> Fit:
        """Run EM as the options say; what was found until the deadline if it is not met."""
        if self.em.stop == "heldout":
            return self.stopped_by_heldout(seeds)
        return self.from_all_starts(seeds, self.limits(self.em.stop), averages=self.averages)

    def limits(self, stop: Stop, share: float | None = None, done: int = 0) -> Limits:
        """When to stop, after ``done`` iterations; ``share`` is of the time left, at most."""
        em, deadline = self.em, self.deadline
        if share is not None:
            deadline = Deadline.within(share * deadline.left)
        if isinstance(stop, int):
            return Limits(em.tolerance, stop, exactly=True, deadline=deadline)
        most = em.max_iterations - done
        return Limits(em.tolerance, most, accelerate=em.accelerate, deadline=deadline)

    def climb(self, start: FloatArray, limits: Limits) -> Climb:
        """One climb on all parts."""
        progress, visit = self.progress, self.em.visit
        return climb(self.engine, start, self.prior, limits, progress=progress, visit=visit)

    def number_of_starts(self, exactly: bool) -> int:
        """How many starts are made at most."""
        if self.em.restarts is not None:
            return self.em.restarts
        if exactly or self.engine.loopy.graphs:
            return 1
        return next((most for reads, most in STARTS_UP_TO if self.engine.reads <= reads), 1)

    def from_all_starts(self, seeds: Seeds, limits: Limits, *, averages: bool) -> Fit:
        """The best of the climbs from every start that is made, the seed's first, or their mean.

        Unless a number of starts is asked for, no more are made once enough of them agree.
        """
        climbs = [self.climb(seeds.whole, limits)]
        number = self.number_of_starts(limits.exactly)
        enough = ENOUGH_AGREE if self.em.restarts is None else number
        starts = _starts(seeds, CptRows.of(self.engine.problems.layout), self.rng)
        while len(climbs) < number and climbs[-1].reason not in CUT_SHORT:
            if agreed([climb.log_posterior for climb in climbs]) >= enough:
                break
            climbs.append(self.climb(next(starts), limits))
        best = _best(climbs)
        if averages and seeds.redrawn is None and best.climb.reason not in CUT_SHORT:
            return self.averaged(best, climbs)
        return best

    def stopped_by_heldout(self, seeds: Seeds) -> Fit:
        """EM to convergence, unless weight put aside clearly speaks for fewer steps.

        It cannot judge where states may change places, and few steps lead nowhere from chance.
        """
        limits = self.limits("converge", 1 - SHARE_TO_JUDGE)
        usual = self.from_all_starts(seeds, limits, averages=True)
        is_from_chance = usual.gain > 0 or seeds.redrawn is not None
        if is_from_chance or usual.climb.reason in ("interrupted", "optima averaged"):
            return self.continued(usual)
        curve, reason = self.judged(seeds.learning)
        usual = replace(usual, heldout=curve)
        steps = None if reason in CUT_SHORT else fewer_steps(curve)
        if steps is not None:
            shorter = self.climb(seeds.whole, self.limits(steps))
            if shorter.reason not in CUT_SHORT:
                return Fit(replace(shorter, reason="held-out peak"), curve)
            reason = shorter.reason
        if reason == "interrupted":
            return replace(usual, climb=replace(usual.climb, reason=reason))
        return self.continued(usual)

    def continued(self, usual: Fit) -> Fit:
        """What was cut short when its share of the time was up, with what is left."""
        if usual.climb.reason != "time limit":
            return usual
        more = self.climb(usual.climb.cells, self.limits("converge", done=usual.climb.iterations))
        return replace(usual, climb=usual.climb.followed_by(more))

    def averaged(self, usual: Fit, optima: Sequence[Climb]) -> Fit:
        r"""The mean of the optima that the starts found, each weighed by its posterior.

        Where hardly a row shows a variable, its states may change places and the data be as
        likely as before. Which optimum a start leads to is chance then, and the mean is nearer
        to the truth than most.
        """
        best = usual.climb
        weights = np.exp([climb.log_posterior - best.log_posterior for climb in optima])
        kept = [
            (w, climb.cells) for w, climb in zip(weights, optima, strict=True) if w >= NEGLIGIBLE
        ]
        cells = np.average([cells for _, cells in kept], axis=0, weights=[w for w, _ in kept])
        if np.abs(cells - best.cells).max() < SAME:
            return usual
        mean = self.mean(best, cells)
        averaged = kept if mean.reason == "optima averaged" else ()
        return replace(usual, climb=mean, optima=tuple(averaged))

    def mean(self, best: Climb, cells: FloatArray) -> Climb:
        """The mean of optima in the place of the best; the best if there is no time for it."""
        try:
            outcome = self.engine.expect(cells, deadline=self.deadline)
        except OutOfTimeError:
            return best
        except KeyboardInterrupt:
            return replace(best, reason="interrupted")
        logs, expected = outcome.log_likelihoods, outcome.counts
        trace = (*best.trace, float(logs.sum()) + log_prior(cells, self.prior))
        averaged = replace(best, cells=cells, expected=expected, reason="optima averaged")
        return replace(averaged, log_likelihoods=logs, trace=trace)

    def refit(self, before: Fit) -> Fit | None:
        """EM from where it ended under another prior; None if no time or iteration is left for it.

        As many steps as were made before are made anew from the same start. Optima that were
        averaged are averaged again, with the weights they had.
        """
        earlier = before.climb
        limits = self.limits("converge", done=earlier.iterations)
        if earlier.reason in ("steps done", "held-out peak"):
            done = self.climb(earlier.start, self.limits(earlier.iterations))
            if done.reason == "steps done":
                done = replace(done, reason=earlier.reason)
        elif limits.iterations <= 0:
            return None
        else:
            optima = before.optima or ((1.0, earlier.cells),)
            each = [self.climb(cells, limits) for _, cells in optima]
            done = max(each, key=lambda climb: climb.log_posterior)
            if before.optima and all(climb.reason not in CUT_SHORT for climb in each):
                weights = [weight for weight, _ in optima]
                cells = np.average([climb.cells for climb in each], axis=0, weights=weights)
                done = self.mean(done, cells)
            iterations = earlier.iterations + done.iterations
            done = replace(done, start=earlier.start, iterations=iterations)
        return replace(before, climb=done) if done.trace else None

    def judged(self, start: FloatArray) -> tuple[tuple[float, ...], str]:
        """How likely is what is put aside at each stop, without a part in it; why it ended."""
        curve: list[float] = []

        def at_stop(here: Climb) -> None:
            if here.iterations in STOPS and not here.reason:
                curve.append(float(here.log_likelihoods[1]))

        limits, progress = self.limits("converge", SHARE_TO_JUDGE), self.progress
        learned = partial(climb, self.engine, prior=self.prior, parts=LEARNING, progress=progress)
        plainly = min(STOPS[-1] + 1, limits.iterations)
        first = replace(limits, iterations=plainly, accelerate=False)
        end = learned(start, limits=first, visit=at_stop)
        if end.reason == "iteration limit" and limits.iterations > plainly:
            end = learned(end.cells, limits=replace(limits, iterations=limits.iterations - plainly))
        if end.reason not in CUT_SHORT:
            curve.append(float(end.log_likelihoods[1]))
        return tuple(curve), end.reason


def _best(climbs: Sequence[Climb]) -> Fit:
    """The climb of highest posterior; the first unless another is clearly better.

    If time was up, or somebody interrupted, that is why it ended.
    """
    known = [climb for climb in climbs if climb.trace] or climbs[:1]
    best = max(known, key=lambda climb: climb.log_posterior)
    if best.log_posterior <= known[0].log_posterior + AGREEMENT:
        best = known[0]
    starts = tuple(climb.log_posterior for climb in known)
    if climbs[-1].reason in CUT_SHORT:
        best = replace(best, reason=climbs[-1].reason)
    return Fit(best, starts=starts, gain=best.log_posterior - starts[0])


def _starts(seeds: Seeds, rows: CptRows, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Further starts: what hidden variables touch redrawn, or perturbed and random in turn."""
    while True:
        if seeds.redrawn is not None:
            yield np.where(seeds.redrawn, random_cells(rows, rng), seeds.whole)
        else:
            if not seeds.is_random:
                yield perturbed_cells(seeds.whole, rows, rng)
            yield random_cells(rows, rng)
