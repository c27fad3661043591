"""EM with pseudo-counts that are learned: first with one per cell, then on from there.

Rows that show a whole family are few where much is missing, and EM knows more than they do. So EM
runs as it would with one pseudo-count per cell; the counts that it expects then are those of
complete data, and pseudo-counts are learned from these (`lacunet.learning.pseudo_counts`). EM goes
on from there with the learned ones. No row is read again.

Starts are compared with one pseudo-count per cell alone: under a prior
that was learned where EM ended, that place looks better than it is. The limit of iterations is for
both runs together; a single one is left to one pseudo-count per cell.
"""

from __future__ import annotations

from dataclasses import replace

from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.learning.em.restarts import Fit, Fitting, Seeds
from lacunet.learning.pseudo_counts import (
    ONE_PER_CELL,
    PseudoCounts,
    UsedPseudoCounts,
    learn_from_tables,
    pseudo_tables,
)
from lacunet.limits import Deadline
from lacunet.network.network import FloatArray

SHARE = 0.7  # of the time and of the iterations, at most, with one pseudo-count per cell


def fit_and_learn_pseudo_counts(
    fitting: Fitting, seeds: Seeds, before: PseudoCounts, *, is_learned: bool
) -> tuple[Fit, PseudoCounts]:
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
    layout = fitting.engine.problems.layout
    full_tables = [name for name in before if name not in layout.network.shaped_of]
    first_fitting = replace(
        fitting,
        pseudo_counts=flat_pseudo_counts(ONE_PER_CELL, layout),
        em=replace(fitting.em, max_iterations=round(SHARE * fitting.em.max_iterations)),
        deadline=Deadline.within(SHARE * fitting.deadline.left),
    )
    first = first_fitting.fit(seeds)
    climb = first.climb
    if not climb.iterations:
        return first, before
    if climb.reason == "interrupted":
        return first, before.keeping(full_tables)
    pseudo_counts = before
    if not is_learned:
        tables = layout.tables(climb.expected)
        counts = {name: tables[name] for name in before}
        pseudo_counts = learn_from_tables(layout.network, counts, before.kept)
    flat = flat_pseudo_counts(pseudo_counts, layout)
    refitted = replace(fitting, pseudo_counts=flat).refit(first)
    if refitted is None:
        return first, before.keeping(full_tables)
    return refitted, pseudo_counts


def flat_pseudo_counts(pseudo_counts: UsedPseudoCounts, layout: Layout) -> FloatArray:
    """The pseudo-counts of each cell, end to end; structural zeros have none."""
    return layout.flat(pseudo_tables(pseudo_counts, layout.network))
