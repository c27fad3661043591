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
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import added_up
from lacunet.statistics.gather import Reduced
from lacunet.statistics.groups import GroupedCounts

ROUNDING = 1e-12  # real weights summed in another order differ in their last digits


def over_groups(
    groups: Reduced, total: float, without_groups: Callable[[], FloatArray]
) -> tuple[FloatArray, float]:
    """The joint of a family from its groups, and the share of the rows' weight that fell back.

    Rows fall back whose group has none that shows all of :math:`Y_m`; and of the others those
    cells that their group cannot estimate.
    """
    fallen = groups.observed - groups.reached
    fallen = np.where(fallen <= ROUNDING * groups.observed, 0.0, fallen)
    if not fallen.any():
        return groups.inside / total, 0.0
    known = groups.observed > 0
    share = np.divide(fallen, groups.observed, out=np.zeros_like(fallen), where=known)
    stand_in = without_groups()  # F(y)
    empty = groups.observed - groups.shown
    of_empty = np.divide(empty, groups.observed, out=np.zeros_like(empty), where=known)
    in_part = (share - of_empty).clip(0.0) * stand_in
    fallback_mass = float(empty.sum() / total) + float(in_part.sum())
    return groups.inside / total + stand_in * share, fallback_mass


def by_observed(
    cells: GroupedCounts, family: Scope, sizes: tuple[int, ...], chosen: NDArray[np.bool_] | None
) -> FloatArray:
    """The weight of the groups (of those chosen), summed over the family's observed part.

    The table has an axis of length one for each partially observed variable, so that it
    multiplies the family's table.
    """
    weights = cells.groups.weights
    shape = [1 if name in cells.scope else size for name, size in zip(family, sizes, strict=True)]
    place = cells.groups.place([name for name in family if name not in cells.scope])
    chosen_weights = weights if chosen is None else np.where(chosen, weights, 0.0)
    return added_up(place, chosen_weights, prod(shape)).reshape(shape)
