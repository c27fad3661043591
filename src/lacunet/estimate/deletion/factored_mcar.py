r"""Factored deletion for MCAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Factored Deletion for MCAR". Every
row that shows at least one variable of the family takes part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lacunet.estimands.deletion import Estimand, factored_mcar_estimand
from lacunet.estimate.cpts import Joint, learn_families
from lacunet.estimate.deletion.lattice import (
    CERTAIN,
    Aggregation,
    Estimate,
    candidate,
    conditional,
    merged,
    subsets,
)
from lacunet.estimate.method import Learned, Task
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts


def factored_mcar(counts: Counts, aggregation: Aggregation = "inverse-variance") -> FloatArray:
    r"""Estimate the joint of a family by all its factorisations at once.

    .. math::
        \Pr(y) = \prod_i \Pr(y_i \mid y_{i+1}, \dots, y_n)
        \approx \prod_i \Pr_D(y_i \mid y_{i+1}, \dots, y_n, R_{Y_i, \dots, Y_n} = \mathsf{ob})

    for every order of the variables, merged on the lattice of their subsets
    (`lacunet.estimate.deletion.lattice`). The result need not sum to one.
    """
    sizes = counts.cardinalities
    estimate_of: dict[tuple[int, ...], Estimate] = {(): CERTAIN}
    for subset in subsets(len(sizes)):
        shown = counts.marginal([counts.scope[axis] for axis in subset]).dense()  # n(s)
        candidates = (
            candidate(
                conditional(shown, shown.sum(axis=axis, keepdims=True), sizes[variable]),
                _beside(estimate_of[subset[:axis] + subset[axis + 1 :]], axis),
            )
            for axis, variable in enumerate(subset)
        )
        estimate_of[subset] = merged(candidates, aggregation)
    return estimate_of[tuple(range(len(sizes)))].mean


def _beside(rest: Estimate, axis: int) -> Estimate:
    """The estimate over the other variables, with an axis for the one left out."""
    if rest.mean.ndim == 0:
        return rest
    return Estimate(np.expand_dims(rest.mean, axis), np.expand_dims(rest.variance, axis))


@dataclass(frozen=True)
class FactoredMcar:
    """Factored deletion under MCAR."""

    name: ClassVar[str] = "factored-mcar"
    aggregation: Aggregation = "inverse-variance"

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:  # noqa: ARG002
        """What is estimated of the joint of ``left``."""
        return factored_mcar_estimand(left, partially)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT from the rows that show any part of its family."""
        families = [task.network.family(name) for name in task.network.variables]
        counted = count(task.table, families, task.progress)

        def joint(family: Scope) -> Joint:
            counts = counted[family]
            shown = int(counts.showing(family).tally.rows.sum())
            used = counts.tally.take(~_shows_nothing(counts))
            return Joint(
                factored_mcar(counts, self.aggregation),
                shown,
                int(used.rows.sum()),
                used,
                self.estimand(family, *task.table.observed_or_not),
            )

        return learn_families(task, joint)


def _shows_nothing(counts: Counts) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    last = int(np.prod([float(radix) for radix in counts.radices])) - 1
    return np.asarray(counts.keys == last)
