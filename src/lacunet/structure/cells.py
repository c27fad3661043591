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

from collections.abc import Sequence
from math import lgamma, log

import numpy as np

from lacunet.model.network import FloatArray, Mask
from lacunet.structure.rows import Integers

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


def impossible_cells(
    empty: Mask, expected: FloatArray, of_child: FloatArray
) -> tuple[Integers, Integers]:
    """The cells of a family that do not occur though they should, and those of its parents.

    Parameters
    ----------
    empty
        Which cells do not occur: configurations of the parents, and the child.
    expected
        The share of the rows that would have each configuration, were the parents independent.
    of_child
        How often each state of the child occurs.

    Returns
    -------
    The number of cells in each configuration, and zero or one: whether it is impossible itself.
    """
    both = empty & (np.multiply.outer(expected, of_child) >= EXPECTED_ROWS)
    alone = empty.all(axis=1) & (expected * of_child.sum() >= EXPECTED_ROWS)
    return both.sum(axis=1), alone.astype(np.int64)


def expected_shares(shares: Sequence[FloatArray]) -> FloatArray:
    """The share of the rows that would have each configuration of independent variables.

    Parameters
    ----------
    shares
        How frequent the states of each are, the slowest first.
    """
    expected = np.ones(1)
    for share in shares:
        expected = np.multiply.outer(expected, share).ravel()
    return expected
