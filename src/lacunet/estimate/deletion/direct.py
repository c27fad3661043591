r"""Direct deletion, for MCAR data and, within groups of rows, for MAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MCAR": the estimate
of a family uses the rows that show the whole family. Available-case analysis is another name for
it. "Direct Deletion for MAR" does the same within groups of rows, and informed direct deletion of
"Learning with a Missingness Graph" is the same sum over fewer variables.
"""

from __future__ import annotations

from lacunet.model.network import FloatArray
from lacunet.statistics.counts import Counts, added_up
from lacunet.statistics.groups import GroupedCounts
from lacunet.statistics.solved import Solved


def direct_mcar(counts: Counts) -> FloatArray:
    r"""Estimate the joint of a family from the rows that show all of it.

    .. math::
        \Pr(y) \approx \Pr_D(y \mid R_Y = \mathsf{ob})

    Where no row shows all of :math:`Y` the estimate is zero everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from lacunet.statistics.counts import Counts, Tally
    >>> ones = np.array([3.0, 1.0, 5.0])
    >>> direct_mcar(Counts(("A",), (2,), np.array([0, 1, 2]), Tally(ones, ones, ones))).tolist()
    [0.75, 0.25]
    """
    shown = counts.dense()
    total = shown.sum()
    return shown / total if total > 0 else shown


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
