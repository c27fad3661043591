r"""How far EM goes, and with how much of the prior, judged by weight put aside.

EM to convergence is as good as anything else on most data. Two things may make it worse.

*Too many parameters for the rows there are.* Then the fit of complete data peaks after a few
steps. So EM may end at other stops: at the start, or after 1, 2, 4, 8 or 16 steps.

*The prior counts more than once.* Each step adds the pseudo-counts :math:`\alpha - 1` to expected
counts that are themselves made from the CPTs of the step before: where much is missing and some
probabilities are near zero, what the prior said comes back as expected counts and is added to
again. So EM may go on, from where it converged, with a small share :math:`s` of the prior until it
converges again, and add all of it in one last step, as a prior is added once to the counts of
complete data:

.. math::
    \theta_k \propto E[n \mid \theta_{k-1}] + s (\alpha - 1), \qquad
    \hat\theta \propto E[n \mid \theta_k] + (\alpha - 1)

Both are judged by the observed-data likelihood of weight put aside. Chance moves it by some nats
even between CPTs that are equally good, so convergence with all of the prior stands unless
another way is clearly better. How this fares against other rules is in ``docs/auto.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lacunet.estimate.em.climb import Climb
from lacunet.estimate.em.start import Rows, maximise

STOPS = (0, 1, 2, 4, 8, 16)  # steps after which EM may end, besides convergence
SHARE = 0.1  # of the prior, that steps may be made with before the last one
CLEARLY = 5.0  # nats


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
    >>> clearly_best([Way(4, 1.0, -640.0), Way(None, 0.1, -642.0)], -644.0)
    >>> clearly_best([Way(4, 1.0, -640.0), Way(None, 0.1, -642.0)], -646.0)
    Way(steps=4, share=1.0, value=-640.0)
    """
    best = max(ways, key=lambda way: way.value)
    return best if best.value > usual + CLEARLY else None


def lighter(prior: float) -> float:
    """The concentration with a share of the pseudo-counts.

    Examples
    --------
    >>> lighter(2.0), lighter(1.0)
    (1.1, 1.0)
    """
    return 1 + SHARE * (prior - 1)


def with_whole_prior(at: Climb, rows: Rows, prior: float) -> Climb:
    """The climb with its last step made with all of the prior.

    How likely the data are after that step is not known.
    """
    return at if at.counts is None else replace(at, cells=maximise(at.counts, rows, prior))
