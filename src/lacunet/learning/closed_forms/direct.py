r"""Direct deletion, for MCAR data and, within groups of rows, for MAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MCAR": the estimate
of a family uses the rows that show the whole family. Available-case analysis is another name for
it. "Direct Deletion for MAR" does the same within groups of rows, and informed direct deletion of
"Learning with a Missingness Graph" is the same sum over fewer variables.

In the formulas :math:`Y` is a family; :math:`Y_m` is its partially observed part and
:math:`X_o` are the fully observed variables. :math:`R_{Y_m} = \mathsf{ob}` selects the rows that
show all of :math:`Y_m`, and :math:`\Pr_D` are frequencies among rows.
"""

from __future__ import annotations

from lacunet.counts.counts import Counts, added_up
from lacunet.counts.family_sums import Solved
from lacunet.counts.groups import GroupedCounts
from lacunet.network.network import FloatArray


def direct_mcar(counts: Counts) -> FloatArray:
    r"""Estimate the joint of a family from the rows that show all of it.

    .. math::
        \Pr(y) \approx \Pr_D(y \mid R_Y = \mathsf{ob})

    Where no row shows all of :math:`Y` the estimate is zero everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from lacunet.counts.counts import Counts, Tally
    >>> ones = np.array([3.0, 1.0, 5.0])
    >>> direct_mcar(Counts(("A",), (2,), np.array([0, 1, 2]), Tally(ones, ones, ones))).tolist()
    [0.75, 0.25]
    """
    shown = counts.dense()  # the weight of the rows with y, among those with R_Y = ob
    total = shown.sum()
    if total == 0:
        return shown
    joint: FloatArray = shown / total
    return joint


def direct_mar(shown: GroupedCounts) -> Solved:
    r"""What the groups say about the joint of a family when missingness depends on them only.

    .. math::
        \Pr(y) \approx \sum_{x_o} \Pr_D(y_m \mid x_o, R_{Y_m} = \mathsf{ob}) \Pr_D(x_o)

    The terms of the sum are given, times the weight of all rows; `Solved` adds them up. A group
    :math:`x_o` in which no row shows all of :math:`Y_m` says nothing, and has no term.

    Parameters
    ----------
    shown
        Counts of :math:`Y_m` within each group, among the rows that show all of it.

    Examples
    --------
    The young all answer; half of the old do, and they are ill more often.

    >>> import numpy as np
    >>> from lacunet.data.table import EncodedTable
    >>> from lacunet.counts.groups import count_in_groups, group_rows
    >>> age = np.repeat(np.array([0, 1], np.uint8), [8, 8])
    >>> ill = np.repeat(np.array([0, 1, 0, 1, 2], np.uint8), [6, 2, 1, 3, 4])  # 2: missing
    >>> survey = EncodedTable({"Age": 2, "Ill": 2}, {"Age": age, "Ill": ill})
    >>> groups, group = group_rows(survey, ("Age",))
    >>> shown = count_in_groups(survey, groups, group, ("Ill",), whole=True)
    >>> direct_mar(shown).inside.tally.weights  # 8 young: 3/4 and 1/4; 8 old: 1/4 and 3/4
    array([6., 2., 2., 6.])
    """
    group_weights = shown.groups.weights
    shown_weights = added_up(shown.group, shown.tally.weights, len(group_weights))
    share = shown.tally.weights / shown_weights[shown.group]  # Pr_D(y_m | x_o, R_{Y_m} = ob)
    terms = shown.weighing(group_weights[shown.group] * share)  # share * N Pr_D(x_o)
    # A group with any row has a share for each of its cells, so it estimates the whole table.
    return Solved(terms, reached=None)
