"""The prior that EM learns: from the counts that a first fit expects, on the same problems.

Rows that show a whole family are few where much is missing, and EM knows more than they do. So a
first fit is made with a quarter of a pseudo-count per cell, as far as EM is asked to go, and its
expected counts are those of complete data (`lacunet.estimate.prior`). The fit under the learned
prior then starts where the first one ended. No row is read again.
"""

from __future__ import annotations

from dataclasses import replace

from lacunet.deadline import Deadline
from lacunet.estimate.em.climb import Limits, climb
from lacunet.estimate.em.fit import Options, Seeds
from lacunet.estimate.prior import LearnedPrior, learn_prior, possible_cells
from lacunet.inference.engine import Engine
from lacunet.model.network import Scope
from lacunet.progress import Progress, silent

PSEUDO_COUNTS = 0.25  # per cell, of the first fit
SHARE_OF_TIME = 0.3  # of the time left, at most


def prior_of_first_fit(
    engine: Engine,
    seeds: Seeds,
    before: LearnedPrior,
    options: Options,
    deadline: Deadline,
    progress: Progress = silent,
) -> tuple[LearnedPrior, Seeds]:
    """The prior learned from what a first fit expects, and where the next fit starts.

    Parameters
    ----------
    before
        What the rows that show each family say of it: it stands if there is no time for a single
        expectation. It names the variables whose CPTs have a prior to learn, and those that keep
        one pseudo-count per cell.
    """
    within = Deadline.within(SHARE_OF_TIME * deadline.left)
    limits = Limits(options.tolerance, options.max_iterations, accelerate=options.accelerate)
    if isinstance(options.stop, int):
        limits = Limits(options.tolerance, options.stop, exactly=True)
    limits = replace(limits, deadline=within)
    found = climb(engine, seeds.whole, 1 + PSEUDO_COUNTS, limits, progress=progress)
    if found.reason == "interrupted":
        raise KeyboardInterrupt
    if not found.trace:
        return before, seeds
    expected = found.expected
    if expected is None:
        expected = engine.expect(found.cells, deadline=deadline, messages=found.messages).counts
    tables = engine.problems.layout.tables(expected)
    names: Scope = tuple(before)
    possible = possible_cells(engine.problems.layout.network)
    prior = learn_prior({name: tables[name] for name in names}, before.kept, possible)
    return prior, seeds if limits.exactly else replace(seeds, near=found.cells)
