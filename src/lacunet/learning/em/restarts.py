r"""EM on compiled problems: from where, how far, and which of several starts.

Nothing here sees a row, and one plan serves every start.

EM ends in the optimum that its start leads to, and not all are good ones. Where an iteration is
cheap, several starts are made (the closed form, then perturbed closed forms and random CPTs in
turn), until three of them end at the best posterior found or ten are made, and the best is kept.
Where no row shows a variable, as in latent classes and hidden Markov models, up to twenty are made,
and never fewer than three: of twenty starts of six classes for twelve items of an election study
(1,785 rows) two ended at the best posterior.
Where hardly a row shows a variable, its states may change places and the data be nearly as likely:
which optimum is the best is chance then, so those that are hardly worse are kept beside it. How
often the best of 15 starts is missed by more than 0.1 nats
(``studies/statistics/em_starts.py``; 242
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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.engine import Engine
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.iterations import CUT_SHORT, Climb, Limits, climb
from lacunet.learning.em.start import perturbed_cells, random_cells
from lacunet.learning.plan import AGREEMENT, PerCell, count_agreeing_starts
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray
from lacunet.progress import Progress, silent

if TYPE_CHECKING:
    from lacunet.learning.em.em import EM

Visit = Callable[[Climb], None]

# The starts made by themselves: where an iteration multiplies up to so many cells, so many.
STARTS_UP_TO = (
    (2e4, 10),  # an iteration takes about a millisecond
    (2e5, 3),  # some milliseconds
)
# The same where no row shows some variable: most starts end at other optima, which are worse.
STARTS_OF_HIDDEN_UP_TO = (
    (2e5, 20),
    (2e6, 10),
)
STARTS_OF_HIDDEN = 3  # however much an iteration costs
ENOUGH_AGREE = 3  # starts that found the same optimum, the best so far
HARDLY_WORSE = 2.0  # nats below the best: an optimum that the data do not rule out
SAME_OPTIMUM = 0.05  # change of a cell up to which two optima are taken as one


@dataclass(frozen=True)
class Seeds:
    """The cells to start from."""

    cells: FloatArray
    # The cells that hidden variables have a part in, if any: a restart draws these alone.
    redrawn: NDArray[np.bool_] | None = None
    is_random: bool = False  # then every other start is random too
    # Whether some variable is shown by no row: optima may then differ in the order of its states
    # alone.
    unnamed: bool = False


@dataclass(frozen=True)
class Fit:
    """What EM found."""

    climb: Climb  # the best
    starts: tuple[float, ...] = ()  # the log-posteriors in which the starts ended, the seed's first
    gain: float = 0.0  # by how many nats the best is above the seed's
    others: tuple[Climb, ...] = ()  # optima that are hardly worse and far away


@dataclass(frozen=True)
class Fitting:
    """EM with its options, on the problems of an engine."""

    engine: Engine
    pseudo_counts: PerCell
    em: EM
    rng: np.random.Generator  # draws the starts after the first
    deadline: Deadline = NEVER
    progress: Progress = silent

    def fit(self, seeds: Seeds) -> Fit:
        """The best of the climbs from every start that is made, the seed's first.

        Unless a number of starts is asked for, no more are made once enough of them agree.
        """
        climbs = [self.climb(seeds.cells)]
        number = self._number_of_starts(seeds)
        enough = ENOUGH_AGREE if self.em.restarts is None else number
        further = _starts(seeds, CptRows.of(self.engine.problems.layout), self.rng)
        while len(climbs) < number and climbs[-1].reason not in CUT_SHORT:
            if count_agreeing_starts([climb.log_posterior for climb in climbs]) >= enough:
                break
            climbs.append(self.climb(next(further)))

        known = [climb for climb in climbs if climb.trace] or climbs[:1]
        starts = tuple(climb.log_posterior for climb in known)
        best = _best(known)
        if climbs[-1].reason in CUT_SHORT:  # the first time, no other start is made after it
            best = replace(best, reason=climbs[-1].reason)
        others: tuple[Climb, ...] = ()
        if not seeds.unnamed:
            others = _others(best, climbs)
        return Fit(best, starts, gain=best.log_posterior - starts[0], others=others)

    def climb(self, start: FloatArray, done: int = 0) -> Climb:
        """One climb, after ``done`` iterations that were made before."""
        em = self.em
        limits = Limits(
            em.tolerance,
            iterations=em.max_iterations - done,
            accelerate=em.accelerate,
            deadline=self.deadline,
        )
        return climb(
            self.engine,
            start,
            self.pseudo_counts,
            limits,
            progress=self.progress,
            visit=em.visit,
        )

    def _number_of_starts(self, seeds: Seeds) -> int:
        """How many starts are made at most."""
        if self.em.restarts is not None:
            return self.em.restarts
        if self.engine.loopy.graphs:
            return 1
        for reads, starts in STARTS_OF_HIDDEN_UP_TO if seeds.unnamed else STARTS_UP_TO:
            if self.engine.reads <= reads:
                return starts
        return STARTS_OF_HIDDEN if seeds.unnamed else 1

    def refit(self, before: Fit) -> Fit | None:
        """EM from where it ended under another prior; None if no time or iteration is left for it.

        So it goes on from the other optima, which are not compared anew: a prior that was learned
        where EM ended speaks for that place.
        """
        earlier = before.climb
        if self.em.max_iterations <= earlier.iterations:
            return None
        later = self.climb(earlier.cells, earlier.iterations)
        if not later.trace:
            return None
        others = [self.climb(other.cells, earlier.iterations) for other in before.others]
        iterations = earlier.iterations + later.iterations
        later = replace(later, start=earlier.start, iterations=iterations)
        return replace(before, climb=later, others=_apart([later, *others]))


def _others(best: Climb, climbs: Sequence[Climb]) -> tuple[Climb, ...]:
    """The optima that are hardly worse than the best, and far from it and from each other."""
    least = best.log_posterior - HARDLY_WORSE
    optima = [c for c in climbs if c.reason == "converged" and c.log_posterior >= least]
    optima.sort(key=lambda climb: -climb.log_posterior)
    return _apart([best, *optima])


def _apart(climbs: Sequence[Climb]) -> tuple[Climb, ...]:
    """Those after the first that are far from it and from each other."""
    kept = [climbs[0]]
    for later in climbs[1:]:
        if all(np.abs(later.cells - other.cells).max() >= SAME_OPTIMUM for other in kept):
            kept.append(later)
    return tuple(kept[1:])


def _best(climbs: Sequence[Climb]) -> Climb:
    """The climb of highest posterior; the first unless another is clearly better."""
    best = max(climbs, key=lambda climb: climb.log_posterior)
    if best.log_posterior <= climbs[0].log_posterior + AGREEMENT:
        return climbs[0]
    return best


def _starts(seeds: Seeds, rows: CptRows, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Further starts: what hidden variables touch redrawn, or perturbed and random in turn."""
    while True:
        if seeds.redrawn is not None:
            yield np.where(seeds.redrawn, random_cells(rows, rng), seeds.cells)
        else:
            if not seeds.is_random:
                yield perturbed_cells(seeds.cells, rows, rng)
            yield random_cells(rows, rng)
