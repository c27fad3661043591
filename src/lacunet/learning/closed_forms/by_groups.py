r"""What the MAR methods share: what the groups say, and what stands in where they say nothing.

Rows are grouped by :math:`X_o = Y_o \cup X'_o`, or by :math:`Y_o` and a separator. A group is
:math:`g = (y_o, x'_o)`, its weight :math:`n_g = N \Pr_D(y_o, x'_o)`. For a cell
:math:`y = (y_o, y_m)` of the family, the sum over :math:`x'_o` is one over the groups
:math:`G(y_o)` that have this :math:`y_o` (`lacunet.counts.family_sums.Reduced`). Where a group has
no data of its own, the estimate without groups, :math:`F`, stands in:

.. math::
    \Pr(y_o, y_m) \approx \sum_{g \in G(y_o)} \frac{n_g}{N} P_g(y_m), \qquad
    P_g(y_m) = \frac{F(y_o, y_m)}{F(y_o)} \text{ where } g \text{ does not tell}
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.counts.family_sums import Reduced
from lacunet.network.network import FloatArray

GROUP_SUM_ROUNDING = 1e-12  # real weights summed in another order differ in their last digits


def over_groups(
    groups: Reduced, total: float, without_groups: Callable[[], FloatArray]
) -> tuple[FloatArray, float]:
    r"""The joint of a family from its groups, and the share of the rows' weight that fell back.

    Rows fall back whose group has none that shows all of :math:`Y_m`; and of the others those
    cells that their group cannot estimate. Let :math:`T(y) \subseteq G(y_o)` be the groups that
    tell :math:`y_m`. All rows show :math:`y_o`, so :math:`F(y_o)` is a plain frequency, the weight
    of the groups :math:`G(y_o)` over :math:`N`, and :math:`N` cancels:

    .. math::
        \Pr(y_o, y_m) \approx \frac{1}{N} \sum_{g \in T(y)} n_g P_g(y_m)
        + F(y_o, y_m) \,
        \frac{\sum_{g \in G(y_o) \setminus T(y)} n_g}{\sum_{g \in G(y_o)} n_g}

    Of `Reduced`, ``inside`` is the first sum, ``observed`` the denominator, and
    ``observed - reached`` the numerator.

    Parameters
    ----------
    groups
        What the groups say about the family, added up.
    total
        The weight of all rows, :math:`N`.
    without_groups
        Estimates :math:`F`; it is called only where something falls back.
    """
    fallen = fallen_weight(groups)
    if not fallen.any():
        return groups.inside / (total or 1.0), 0.0  # without any row nothing is inside

    fallen_share = quotient(fallen, groups.observed)
    stand_in = without_groups()  # F(y)
    joint = groups.inside / total + stand_in * fallen_share

    # All cells of a group without data fall back: with them all its rows, whatever F says.
    without_data = groups.observed - groups.shown
    # Of the other groups only some cells do: their part of the rows is that of F in these cells.
    share_in_part = (fallen_share - quotient(without_data, groups.observed)).clip(0.0)
    fallback_mass = float(without_data.sum() / total) + float((share_in_part * stand_in).sum())
    return joint, fallback_mass


def fallen_weight(groups: Reduced) -> FloatArray:
    """The weight of the rows that fall back, in each cell or for each state of what all show."""
    fallen = groups.observed - groups.reached
    return np.where(fallen <= GROUP_SUM_ROUNDING * groups.observed, 0.0, fallen)
