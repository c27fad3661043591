r"""Direct deletion for MAR data, within groups of rows.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MAR", and
informed direct deletion of "Learning with a Missingness Graph", which is the same sum over
fewer variables.
"""

from __future__ import annotations

from math import prod

import numpy as np

from lacunet.estimate.deletion.by_groups import by_observed
from lacunet.model.network import Scope
from lacunet.statistics.counts import added_up
from lacunet.statistics.gather import Reduced
from lacunet.statistics.groups import GroupedCounts


def direct_mar(shown: GroupedCounts, family: Scope, sizes: tuple[int, ...]) -> Reduced:
    r"""What the groups say about the joint of a family when missingness depends on them only.

    .. math::
        \Pr(y) \approx \sum_{x_o} \Pr_D(y_m \mid x_o, R_{Y_m} = \mathsf{ob}) \Pr_D(x_o)

    A group :math:`x_o` in which no row shows all of :math:`Y_m` says nothing.

    Parameters
    ----------
    shown
        Counts of :math:`Y_m` within each group, among the rows that show all of it.
    family, sizes
        The variables of :math:`Y`, child last, and their numbers of states.
    """
    mass = shown.groups.weights  # n_g
    known = added_up(shown.group, shown.tally.weights, len(mass))
    scale = np.divide(mass, known, out=np.zeros_like(mass), where=known > 0)[shown.group]
    weights = shown.tally.weights * scale  # n_g times the share of y_m among the rows that show it
    inside = added_up(shown.in_family(family, sizes), weights, prod(sizes)).reshape(sizes)
    reached = by_observed(shown, family, sizes, known > 0)
    return Reduced(inside, by_observed(shown, family, sizes, None), reached, reached)
