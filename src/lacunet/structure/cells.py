r"""What the cells of a table cost: as in BIC, or less where some cannot occur.

In BIC a family costs :math:`c = \tfrac12 \log N` for each free parameter: what the table of the
variable and its parents costs, :math:`(K - 1) c` with K cells, less what that of the parents does.
A combination of states that is impossible is charged for like any other. Where CPTs have zeros and
ones, wrong structures whose tables are smaller may then score higher than the true one, even with
many rows.

Where i of the cells do not occur it may be cheaper to say which they are:

.. math::
    \min\Bigl((K - 1) c,\; (K - i - 1) c + \log \binom{K}{i} + \log K\Bigr)

Only such cells count among the i as five rows or more would have, were the variables independent:
others may be rare. This is still a number for each set of variables, so that all DAGs of one class
cost the same.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from lacunet.network.network import FloatArray

# In a cell that does not occur: with fewer than five rows it may be rare. What is expected is a
# product, which is rounded in one order or another.
EXPECTED_ROWS = 5.0 - 1e-9


def cost_of_cells(cells: int, impossible: int, each: float) -> float:
    """What a table of so many cells costs, some of them impossible.

    Parameters
    ----------
    each
        What a free parameter costs.
    """
    full = (cells - 1) * each
    if not impossible:
        return full
    named = lgamma(cells + 1) - lgamma(impossible + 1) - lgamma(cells - impossible + 1)
    return min(full, (cells - impossible - 1) * each + named + log(cells))


def cost_of_family(
    states: int, configurations: int, impossible: tuple[int, int], each: float
) -> float:
    """What a variable costs, given its parents: their table with it less their own.

    Parameters
    ----------
    impossible
        The cells of the two that do not occur.
    """
    if not any(impossible):
        return (states - 1) * configurations * each
    both, alone = impossible
    whole = cost_of_cells(states * configurations, both, each)
    return whole - cost_of_cells(configurations, alone, each)


def impossible_cells(table: FloatArray) -> int:
    """How many cells of a table do not occur, though five rows would if all were independent."""
    axes = range(table.ndim)
    total = max(float(table.sum()), 1.0)
    expected = np.array(total)
    for axis in axes:
        margin = table.sum(axis=tuple(other for other in axes if other != axis))
        expected = expected[..., None] * (margin / total)
    return int(np.count_nonzero((table == 0) & (expected >= EXPECTED_ROWS)))
