r"""Direct deletion for MCAR data, and listwise deletion beside it.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MCAR". The
estimate of a family uses the rows that show the whole family; `listwise` those that show
everything. Available-case analysis is another name for the former.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lacunet.estimands.deletion import Estimand, direct_mcar_estimand, listwise_estimand
from lacunet.estimate.cpts import Joint, learn_families
from lacunet.estimate.method import Learned, Task
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts


def direct_mcar(counts: Counts) -> FloatArray:
    r"""Estimate the joint of a family from the rows that show all of it.

    .. math::
        \Pr(y) \approx \Pr_D(y \mid R_Y = \mathsf{ob})

    Where no row shows all of :math:`Y` the estimate is zero everywhere.

    Examples
    --------
    >>> from lacunet.statistics.counts import Counts, Tally
    >>> ones = np.array([3.0, 1.0, 5.0])
    >>> direct_mcar(Counts(("A",), (2,), np.array([0, 1, 2]), Tally(ones, ones, ones))).tolist()
    [0.75, 0.25]
    """
    shown = counts.dense()
    total = shown.sum()
    return shown / total if total > 0 else shown


@dataclass(frozen=True)
class DirectMcar:
    """Direct deletion under MCAR, also known as available-case analysis."""

    name: ClassVar[str] = "direct-mcar"

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:  # noqa: ARG002
        """What is estimated of the joint of ``left``."""
        return direct_mcar_estimand(left, partially)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT from the rows that show its family."""
        families = {name: task.network.family(name) for name in task.network.variables}
        counted = count(task.table, list(families.values()), task.progress)

        def joint(family: Scope) -> Joint:
            shown = counted[family].showing(family).tally
            rows = int(shown.rows.sum())
            return Joint(
                direct_mcar(counted[family]),
                rows,
                rows,
                shown,
                self.estimand(family, *task.table.observed_or_not),
            )

        return learn_families(task, joint)


@dataclass(frozen=True)
class Listwise:
    """Listwise deletion: only the rows in which nothing at all is missing."""

    name: ClassVar[str] = "listwise"

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:  # noqa: ARG002
        """What is estimated of the joint of ``left``."""
        return listwise_estimand(left, partially)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT from the complete rows."""
        table = task.table.take(task.table.is_shown(task.table.variables))
        families = [task.network.family(name) for name in task.network.variables]
        counted = count(table, families, task.progress)

        def joint(family: Scope) -> Joint:
            counts = counted[family]
            shown = int(np.count_nonzero(task.table.is_shown(family)))
            text = self.estimand(family, *task.table.observed_or_not)
            return Joint(direct_mcar(counts), shown, table.rows, counts.tally, text)

        return learn_families(task, joint)
