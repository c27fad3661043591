r"""Direct deletion for MAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MAR", and
informed direct deletion of "Learning with a Missingness Graph", which is the same sum over
fewer variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from lacunet.estimands.deletion import Estimand, direct_mar_estimand
from lacunet.estimate.deletion.by_groups import (
    GroupedJoint,
    check_separator,
    family_place,
    informed_grouping,
    learn_by_groups,
    over_observed,
)
from lacunet.estimate.deletion.direct_mcar import direct_mcar
from lacunet.estimate.method import Learned, Task
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Scope
from lacunet.statistics.counts import Counts, Tally, added_up
from lacunet.statistics.groups import GroupedCounts


def direct_mar(shown: GroupedCounts, counts: Counts) -> GroupedJoint:
    r"""Estimate the joint of one family when missingness depends on observed variables only.

    .. math::
        \Pr(y) \approx \sum_{x_o} \Pr_D(y_m \mid x_o, R_{Y_m} = \mathsf{ob}) \Pr_D(x_o)

    A group :math:`x_o` in which no row shows all of :math:`Y_m` falls back on
    :math:`D(y_o, y_m) / D(y_o)`, :math:`D` being the direct-mcar estimate.

    Parameters
    ----------
    shown
        Counts of :math:`Y_m` within each group, among the rows that show all of it.
    counts
        Counts over the whole family :math:`Y`, child last, missing as a state.
    """
    mass = shown.groups.weights  # n_g
    total = mass.sum()
    known = added_up(shown.group, shown.tally.weights, len(mass))
    scale = np.divide(mass, known, out=np.zeros_like(mass), where=known > 0)[shown.group]
    weights = shown.tally.weights * scale  # n_g times the share of y_m among the rows that show it
    table = added_up(family_place(shown, counts), weights, prod(counts.cardinalities))
    table = table.reshape(counts.cardinalities)

    empty = np.where(known > 0, 0.0, mass)
    if empty.any():
        observed = over_observed(shown, counts, mass)  # N D(y_o)
        fallen = over_observed(shown, counts, empty)
        share = np.divide(fallen, observed, out=np.zeros_like(fallen), where=observed > 0)
        table += total * direct_mcar(counts) * share
    entering = Tally(weights, shown.tally.rows, shown.tally.squares * scale * scale)
    return GroupedJoint(table / total, entering, float(empty.sum() / total))


@dataclass(frozen=True)
class DirectMar:
    """Direct deletion under MAR."""

    name: ClassVar[str] = "direct-mar"

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:
        """What is estimated of the joint of ``left``."""
        return direct_mar_estimand(left, partially, observed)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT within the groups that agree on all fully observed variables."""
        return learn_by_groups(task, self.estimand, direct_mar, True)


@dataclass(frozen=True)
class InformedDirect:
    """Direct deletion under MAR, knowing what separates values from their mechanisms."""

    name: ClassVar[str] = "informed-direct"
    separator: Scope = ()
    missingness: MissingnessGraph | None = None

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:
        """What is estimated of the joint of ``left``."""
        given = informed_grouping(left, observed, self.separator, self.missingness)
        return direct_mar_estimand(left, partially, given)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT within the groups that agree on its observed part and W."""
        check_separator(task, self.separator, self.missingness)
        return learn_by_groups(task, self.estimand, direct_mar, True)
