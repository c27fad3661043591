r"""Two values that decide on each other's mechanisms, and whether there is more than that.

Where :math:`X_j` decides on :math:`R_i` and :math:`X_i` on :math:`R_j`, nothing that rows show
separates the mechanisms. But if that is all, the rows that show both tell how many hide both,

.. math::
    \operatorname{E} n_{00} = \sum_{\text{rows with } R_i = R_j = 1}
    \frac{1 - \pi_i(x_j)}{\pi_i(x_j)} \, \frac{1 - \pi_j(x_i)}{\pi_j(x_i)},

with :math:`\pi` the shares that are shown. How far their number is from that says whether one
mechanism is a cause of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.counts.distinct import pack_keys
from lacunet.network.network import FloatArray

NOT_SHOWN = -1

StateCodes = NDArray[np.int64]


class Half(NamedTuple):
    """A mechanism in each row, the value that decides on it, its other causes, numbers of states.

    The first of the numbers is that of the value.
    """

    is_shown: StateCodes
    value: StateCodes
    others: tuple[StateCodes, ...]
    sizes: tuple[int, ...]

    def rates(self, rows: NDArray[np.bool_], weights: FloatArray) -> _Rates:
        """The shares that are shown, among those of the rows that show all causes."""
        columns = [np.maximum(column, 0) for column in (self.value, *self.others)]
        cell = pack_keys(columns, self.sizes, len(self.is_shown))
        cells = int(cell.max(initial=0)) + 1
        known = rows & (self.value != NOT_SHOWN)
        shown = known & (self.is_shown == 1)
        counts = np.bincount(cell[known], weights[known], cells).astype(np.float64)
        ones = np.bincount(cell[shown], weights[shown], cells).astype(np.float64)
        return _Rates(cell, counts, quotient(ones, counts))


class _Rates(NamedTuple):
    """The cell of each row, the weight of each cell, and the share of it that is shown."""

    cell: StateCodes
    counts: FloatArray
    shown: FloatArray


def apart_from_mutual(half: Half, other: Half, weights: FloatArray) -> float:
    """How far the rows that hide both are from their number without an edge, in standard errors."""
    rows = np.ones(len(weights), dtype=bool)
    for column in (*half.others, *other.others):
        rows &= column != NOT_SHOWN
    both = rows & (half.is_shown == 1) & (other.is_shown == 1)
    neither = rows & (half.is_shown == 0) & (other.is_shown == 0)
    halves = half.rates(rows, weights), other.rates(rows, weights)
    odds = np.ones(int(both.sum()))
    for rates in halves:
        odds *= quotient(1 - rates.shown, rates.shown)[rates.cell[both]]
    expected = odds * weights[both]
    number = float(weights[neither].sum())
    variance = number + float((expected * odds).sum())
    for rates in halves:
        sums = np.bincount(rates.cell[both], expected, len(rates.counts)).astype(np.float64)
        spread = rates.counts * rates.shown * (1 - rates.shown)
        variance += float(quotient(sums**2, spread).sum())
    return float((number - expected.sum()) / max(variance, 1.0) ** 0.5)
