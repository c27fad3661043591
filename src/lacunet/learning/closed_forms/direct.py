r"""Direct deletion, for MCAR data and, within groups of rows, for MAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MCAR": the estimate
of a family uses the rows that show the whole family. Available-case analysis is another name for
it. "Direct Deletion for MAR" does the same within groups of rows, and informed direct deletion of
"Learning with a Missingness Graph" is the same sum over fewer variables.

The names of the formulas here and in `factored`, in the paper and in the code:

==========================================  =======================================================
:math:`X_o`                                 the fully observed variables of the network
:math:`Y`                                   the family: a variable and its parents
:math:`Y_o = Y \cap X_o`                    the part of the family that every row shows
:math:`Y_m = Y \setminus X_o`               the part that some rows hide (``hidden``)
:math:`X'_o = X_o \setminus Y_o`            the fully observed variables outside of the family,
                                            which the MAR formulas sum over
:math:`y_o, x'_o`                           the values of :math:`X_o`, one *group* of rows
:math:`R_{Y_m} = \mathsf{ob}`               selects the rows that show all of :math:`Y_m`
:math:`Y^\star_m`                           what the data show of :math:`Y_m`, as it is where shown
:math:`\Pr_D`                               frequencies among the rows, by weight
==========================================  =======================================================
"""

from __future__ import annotations

from lacunet.counts.counts import Counts, added_up
from lacunet.counts.family_sums import Solved
from lacunet.counts.groups import GroupedCounts
from lacunet.network.network import FloatArray


def direct_mcar(counts: Counts) -> FloatArray:
    r"""Estimate the joint of a family from the rows that show all of it.

    .. math::
        \Pr(y) \approx \Pr_D(y_o, y^\star_m \mid R_{Y_m} = \mathsf{ob})

    Where no row shows all of :math:`Y` the estimate is zero everywhere.

    Examples
    --------
    Three rows have A=0, one has A=1, five hide A.

    >>> import numpy as np
    >>> from lacunet.counts.counts import Counts, Tally
    >>> ones = np.array([3.0, 1.0, 5.0])
    >>> direct_mcar(Counts(("A",), (2,), np.array([0, 1, 2]), Tally(ones, ones, ones))).tolist()
    [0.75, 0.25]
    """
    shown = counts.dense()  # the weight of the rows with y, among those with R_{Y_m} = ob
    total = shown.sum()
    if total == 0:
        return shown
    joint: FloatArray = shown / total
    return joint


def direct_mar(shown: GroupedCounts) -> Solved:
    r"""What the groups say about the joint of a family when missingness depends on them only.

    .. math::
        \Pr(y_o, y_m) \approx \sum_{x'_o}
        \Pr_D(y^\star_m \mid y_o, x'_o, R_{Y_m} = \mathsf{ob}) \, \Pr_D(y_o, x'_o)

    The sum runs over :math:`X'_o = X_o \setminus Y_o`, with :math:`y_o` held at its values in
    :math:`y`: each cell :math:`y` adds up the groups :math:`(y_o, x'_o)` that have its
    :math:`y_o`. The terms of the sum are given, times the weight :math:`N` of all rows; `Solved`
    adds them up. A group in which no row shows all of :math:`Y_m` says nothing, and has no term.

    Informed direct deletion is the same with a separator :math:`W_o` in place of :math:`X_o`, and
    :math:`W'_o = W_o \setminus Y_o` in place of :math:`X'_o`.

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
    group_weights = shown.groups.weights  # N Pr_D(y_o, x'_o), for each group
    shown_weights = added_up(shown.group, shown.tally.weights, len(group_weights))
    share = shown.tally.weights / shown_weights[shown.group]  # Pr_D(y*_m | y_o, x'_o, R_{Y_m} = ob)
    terms = shown.weighing(group_weights[shown.group] * share)
    # A group with any row has a share for each of its cells, so it estimates the whole table.
    return Solved(terms, reached=None)
