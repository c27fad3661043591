"""EM under a prior that is learned: first with one pseudo-count per cell, then on from there.

Rows that show a whole family are few where much is missing, and EM knows more than they do. So EM
runs as it would with one pseudo-count per cell; the counts that it expects then are those of
complete data, and the prior is learned from these (`lacunet.estimate.prior`). EM goes on from there
under the learned prior. No row is read again.

Starts are compared with one pseudo-count per cell alone: under a prior
that was learned where EM ended, that place looks better than it is. The limit of iterations is for
both runs together; a single one is left to one pseudo-count per cell.
"""

from __future__ import annotations

from dataclasses import replace

from lacunet.deadline import Deadline
from lacunet.estimate.em.fit import Fit, Fitting, Seeds
from lacunet.estimate.prior import (
    ONE_PER_CELL,
    LearnedPrior,
    Prior,
    learn_prior,
    pseudo_counts,
)
from lacunet.model.network import FloatArray
from lacunet.statistics.problems.layout import Layout

SHARE = 0.7  # of the time and of the iterations, at most, with one pseudo-count per cell


def fit_and_learn_prior(
    fitting: Fitting, seeds: Seeds, before: LearnedPrior, *, is_learned: bool
) -> tuple[Fit, LearnedPrior]:
    """What EM found, and the prior that it was found under.

    Parameters
    ----------
    fitting
        EM under any prior.
    before
        What the rows that show each family say of the prior: it stands where EM makes no step. It
        names the variables whose CPTs have a prior to learn, and those that keep one pseudo-count
        per cell.
    is_learned
        Whether ``before`` was learned already, and is only used.
    """
    within = Deadline.within(SHARE * fitting.deadline.left)
    em = replace(fitting.em, max_iterations=round(SHARE * fitting.em.max_iterations))
    layout = fitting.engine.problems.layout
    one_each = flat_concentration(ONE_PER_CELL, layout)
    first = replace(fitting, prior=one_each, em=em, deadline=within).fit(seeds)
    climb = first.climb
    if not climb.iterations:
        return first, before
    if climb.reason == "interrupted":
        return first, before.keeping(before)
    prior = before
    if not is_learned:
        tables = layout.tables(climb.expected)
        counts = {name: tables[name] for name in before}
        prior = learn_prior(counts, before.kept, layout.network.possible_of)
    refitted = replace(fitting, prior=flat_concentration(prior, layout)).refit(first)
    return (first, before.keeping(before)) if refitted is None else (refitted, prior)


def flat_concentration(prior: Prior, layout: Layout) -> FloatArray:
    """The concentration of each cell, end to end; structural zeros have no pseudo-counts."""
    return 1 + layout.flat(pseudo_counts(prior, layout.network))
