r"""What the MAR methods share: what the groups say, and what stands in where they say nothing.

Rows are grouped by :math:`X_o` or a separator of it, and the groups are added up
(`lacunet.statistics.gather.Reduced`). Where a group has no data of its own, the estimate
without groups, :math:`F`, stands in:

.. math::
    \Pr(y) \approx \sum_g \frac{n_g}{N} P_g(y_m), \qquad
    P_g(y_m) = \frac{F(y_o, y_m)}{F(y_o)} \text{ where } g \text{ does not tell}
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.counts import quotient
from lacunet.statistics.solved import Reduced

ROUNDING = 1e-12  # real weights summed in another order differ in their last digits


def over_groups(
    groups: Reduced, total: float, without_groups: Callable[[], FloatArray]
) -> tuple[FloatArray, float]:
    """The joint of a family from its groups, and the share of the rows' weight that fell back.

    Rows fall back whose group has none that shows all of :math:`Y_m`; and of the others those
    cells that their group cannot estimate.
    """
    fallen = fallen_weight(groups)
    if not fallen.any():
        return groups.inside / (total or 1.0), 0.0  # without any row nothing is inside
    share = quotient(fallen, groups.observed)
    stand_in = without_groups()  # F(y)
    empty = groups.observed - groups.shown
    in_part = (share - quotient(empty, groups.observed)).clip(0.0) * stand_in
    fallback_mass = float(empty.sum() / total) + float(in_part.sum())
    return groups.inside / total + stand_in * share, fallback_mass


def fallen_weight(groups: Reduced) -> FloatArray:
    """The weight of the rows that fall back, in each cell or for each state of what all show."""
    fallen = groups.observed - groups.reached
    return np.where(fallen <= ROUNDING * groups.observed, 0.0, fallen)
