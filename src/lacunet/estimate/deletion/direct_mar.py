r"""Direct deletion for MAR data, within groups of rows.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MAR", and
informed direct deletion of "Learning with a Missingness Graph", which is the same sum over
fewer variables.
"""

from __future__ import annotations

from lacunet.statistics.counts import added_up
from lacunet.statistics.gather import Solved
from lacunet.statistics.groups import GroupedCounts


def direct_mar(shown: GroupedCounts) -> Solved:
    r"""What the groups say about the joint of a family when missingness depends on them only.

    .. math::
        \Pr(y) \approx \sum_{x_o} \Pr_D(y_m \mid x_o, R_{Y_m} = \mathsf{ob}) \Pr_D(x_o)

    A group :math:`x_o` in which no row shows all of :math:`Y_m` says nothing.

    Parameters
    ----------
    shown
        Counts of :math:`Y_m` within each group, among the rows that show all of it.
    """
    mass = shown.groups.weights  # n_g
    known = added_up(shown.group, shown.tally.weights, len(mass))
    share = shown.tally.weights / known[shown.group]  # of y_m among the rows that show it
    return Solved(shown.weighing(mass[shown.group] * share), reached=None)
