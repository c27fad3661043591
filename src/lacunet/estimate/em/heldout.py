r"""How far EM goes, and with how much of the prior, judged by weight put aside.

EM to convergence is as good as anything else on most data. Two things may make it worse.

*Too many parameters for the rows there are.* Then the fit of complete data peaks after a few
steps. So EM may end at other stops: at the start, or after 1, 2, 4, 8 or 16 steps.

*The prior counts more than once.* Each step adds the pseudo-counts :math:`\alpha - 1` to expected
counts that are themselves made from the CPTs of the step before: where much is missing and some
probabilities are near zero, what the prior said comes back as expected counts and is added to
again. So the steps on the way may be made with a small share :math:`s` of the prior, and only the
last one with all of it, as a prior is added once to the counts of complete data:

.. math::
    \theta_k \propto E[n \mid \theta_{k-1}] + s (\alpha - 1), \qquad
    \hat\theta \propto E[n \mid \theta_k] + (\alpha - 1)

Both are judged by the observed-data likelihood of weight put aside. Chance moves it by some nats
even between CPTs that are equally good, so convergence with all of the prior stands unless
another way is clearly better. How this fares against other rules is in ``docs/auto.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lacunet.estimate.em.climb import Climb, Limits, climb
from lacunet.estimate.em.start import Rows, maximise
from lacunet.inference.engine import Engine
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent

STOPS = (1, 2, 4, 8, 16)  # steps after which EM may end, besides the start and convergence
SHARES = (1.0, 0.1)  # of the prior, that the steps on the way are made with
CLEARLY = 3.0  # nats


@dataclass(frozen=True)
class Way:
    """A way to run EM: so many ``steps``, None to converge, with a share of the prior on the way.

    ``value`` is the log-likelihood of what is put aside when it has no part in the learning.
    """

    steps: int | None
    share: float
    value: float


def clearly_best(ways: Sequence[Way], usual: float) -> Way | None:
    """The way that makes what is put aside clearly more likely than the usual one, if any does.

    Examples
    --------
    >>> clearly_best([Way(4, 0.1, -640.0), Way(None, 1.0, -642.0)], -642.0)
    >>> clearly_best([Way(4, 0.1, -640.0), Way(None, 1.0, -644.0)], -644.0)
    Way(steps=4, share=0.1, value=-640.0)
    """
    best = max(ways, key=lambda way: way.value)
    return best if best.value > usual + CLEARLY else None


def visit_stops(
    engine: Engine,
    start: FloatArray,
    prior: float,
    share: float,
    limits: Limits,
    visit: Callable[[Climb], None],
    *,
    parts: FloatArray,
    progress: Progress = silent,
) -> str:
    """Climb to convergence, calling ``visit`` with what EM gives at each stop; why it ended.

    Parameters
    ----------
    share
        Of the prior, that the steps on the way are made with.
    limits
        When convergence is reached, and when to give up.
    parts
        How much each part of the data counts.
    """
    rows = Rows.of(engine.problems.layout)

    def at_stop(at: Climb) -> bool:
        if at.iterations + 1 in STOPS and not at.reason:
            visit(ended(at, rows, prior))
        return True

    visit(Climb.at_start(start))
    first = replace(limits, iterations=min(STOPS[-1], limits.iterations), accelerate=False)
    found = climb(
        engine,
        start,
        lighter(prior, share),
        first,
        parts=parts,
        progress=progress,
        goes_on=at_stop,
    )
    if found.reason == "iteration limit" and limits.iterations > STOPS[-1]:
        later = replace(limits, iterations=limits.iterations - STOPS[-1])
        found = climb(
            engine, found.cells, lighter(prior, share), later, parts=parts, progress=progress
        )
    if found.reason in ("converged", "iteration limit"):
        visit(ended(found, rows, prior))
    return found.reason


def lighter(prior: float, share: float) -> float:
    """The concentration with a share of the pseudo-counts.

    Examples
    --------
    >>> lighter(2.0, 0.1), lighter(1.0, 0.1)
    (1.1, 1.0)
    """
    return 1 + share * (prior - 1)


def ended(at: Climb, rows: Rows, prior: float) -> Climb:
    """The climb with its last step made with all of the prior; one more step if it is prepared.

    How likely the data are after that step is not known.
    """
    if at.expected is not None:
        at = replace(at, counts=at.expected, expected=None, iterations=at.iterations + 1)
    if at.counts is None:
        return at
    return replace(at, cells=maximise(at.counts, rows, prior))
