r"""What the MAR methods share: what the groups say, and what stands in where they say nothing.

Rows are grouped by :math:`X_o` or a separator of it, and the groups are added up
(`lacunet.counts.gather.Reduced`). Where a group has no data of its own, the estimate
without groups, :math:`F`, stands in:

.. math::
    \Pr(y) \approx \sum_g \frac{n_g}{N} P_g(y_m), \qquad
    P_g(y_m) = \frac{F(y_o, y_m)}{F(y_o)} \text{ where } g \text{ does not tell}
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.counts.family_sums import Reduced
from lacunet.network.network import FloatArray

ROUNDING = 1e-12  # real weights summed in another order differ in their last digits


def over_groups(
    groups: Reduced, total: float, without_groups: Callable[[], FloatArray]
) -> tuple[FloatArray, float]:
    r"""The joint of a family from its groups, and the share of the rows' weight that fell back.

    Rows fall back whose group has none that shows all of :math:`Y_m`; and of the others those
    cells that their group cannot estimate. All rows show :math:`y_o`, so :math:`F(y_o)` is a plain
    frequency, the weight of the groups with :math:`y_o` over :math:`N`, and :math:`N` cancels:

    .. math::
        \Pr(y) \approx \frac{1}{N} \sum_{g \text{ tells}} n_g P_g(y_m)
        + F(y) \frac{\sum_{g \text{ does not}} n_g}{\sum_g n_g}

    where the second term sums over the groups with :math:`y_o`.

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
    return np.where(fallen <= ROUNDING * groups.observed, 0.0, fallen)
