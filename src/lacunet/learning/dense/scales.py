r"""How a variable enters a log-linear CPT: as a child, and as a parent.

A variable of categories enters by contrasts, :math:`r - 1` orthonormal columns for :math:`r`
states, none of which is a baseline: a common variance of their effects treats all states alike.

A variable of numbers enters by scores of its states: the mean number of each interval first, then
powers of their normal scores, each orthogonal to those before it. The effect of one score of a
parent on one score of a child is one parameter; it is the covariance of the two that it fits,

.. math::
    \sum_i t(y_i) \, x_i = \sum_i E[t(Y) \mid x_i] \, x_i,

so that completed rows have the covariances that the rows show. Further scores of the child let its
spread and its form depend on parents, those of a parent bend its effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.network.network import FloatArray

Groups = tuple[tuple[int, int], ...]  # where columns of each begin and end

CHILD_SCORES = 2  # of a variable of numbers
PARENT_SCORES = 3
RAREST = 1e-6  # share of the rows below a state, for a normal score
LEAST_NEW = 0.15  # of a score's spread, that is not told by the scores before it


@dataclass(frozen=True, eq=False)
class Scale:
    """The columns by which a variable enters; a row for each state."""

    contrasts: FloatArray  # of the constants: any distribution can be the one without parents
    as_child: FloatArray
    as_parent: FloatArray
    child_groups: Groups  # columns whose effects have a common variance
    parent_groups: Groups
    seen: FloatArray  # the weight of the rows that show each state
    is_number: bool = False

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.seen)


def scale_of_categories(seen: FloatArray) -> Scale:
    """The scale of states without an order."""
    columns = contrasts(len(seen))
    groups = ((0, columns.shape[1]),) if columns.shape[1] else ()
    return Scale(columns, columns, columns, groups, groups, seen)


def scale_of_numerals(seen: FloatArray, numbers: Sequence[float]) -> Scale:
    """The scale of few states that are numbers, which may be an order or mere codes.

    There are as many columns as for categories; the first is the number, and its effects have a
    variance of their own.
    """
    score = np.array(numbers, np.float64)
    score = score - score.mean()
    beside = np.column_stack([score / np.linalg.norm(score), contrasts(len(seen))])
    columns, _ = np.linalg.qr(beside)
    columns = columns[:, : len(seen) - 1] * np.sign(columns[:, 0] @ score)
    groups = _first_apart(columns.shape[1])
    return Scale(columns, columns, columns, groups, groups, seen)


def scale_of_intervals(seen: FloatArray, means: Sequence[float]) -> Scale:
    """The scale of intervals with these means; a state that is no interval has the mean NaN.

    Examples
    --------
    Of two states there is one score; of equally many rows in each it is 1 and -1.

    >>> scale_of_intervals(np.array([5.0, 5.0]), [20.0, 60.0]).as_child.ravel().tolist()
    [-1.0, 1.0]
    """
    from scipy.special import ndtri

    is_number = np.isfinite(means)
    shares = np.where(is_number, seen, 0.0)
    shares = shares / shares.sum()
    normal = ndtri(np.clip(np.cumsum(shares) - shares / 2, RAREST, 1 - RAREST))
    powers = [normal**power for power in range(1, PARENT_SCORES + 1)]
    scores = _orthogonal([np.where(is_number, means, 0.0), *powers], shares)
    scores[~is_number] = 0.0
    child, parent = scores[:, :CHILD_SCORES], scores[:, :PARENT_SCORES]
    others = np.eye(len(seen))[:, ~is_number]
    return Scale(
        contrasts(len(seen)),
        np.hstack([child, others]),
        np.hstack([parent, others]),
        _first_apart(child.shape[1], others.shape[1]),
        _first_apart(parent.shape[1], others.shape[1]),
        seen,
        is_number=True,
    )


def _first_apart(columns: int, others: int = 0) -> Groups:
    """The first of some columns by itself, then the rest of them, then others behind them.

    >>> _first_apart(3, 1), _first_apart(1)
    (((0, 1), (1, 3), (3, 4)), ((0, 1),))
    """
    groups = (0, min(1, columns)), (min(1, columns), columns), (columns, columns + others)
    return tuple(group for group in groups if group[0] < group[1])


def contrasts(states: int) -> FloatArray:
    """Orthonormal columns, each orthogonal to the constant.

    >>> columns = contrasts(4)
    >>> np.allclose(columns.T @ columns, np.eye(3)), np.allclose(columns.sum(axis=0), 0)
    (True, True)
    """
    centred = np.eye(states) - 1 / states
    columns, _ = np.linalg.qr(centred[:, : states - 1])
    return np.asarray(columns)


def _orthogonal(candidates: Sequence[FloatArray], shares: FloatArray) -> FloatArray:
    """Candidates made orthogonal in turn, of variance one; those with little new are left out."""
    kept = [np.ones(len(shares))]
    for candidate in candidates:
        column = candidate - shares @ candidate
        spread = np.sqrt(shares @ column**2)
        for other in kept:
            column = column - (shares @ (column * other)) * other
        left = np.sqrt(shares @ column**2)
        if len(kept) < np.count_nonzero(shares) and left > LEAST_NEW * spread > 0:
            kept.append(column / left)
    return np.column_stack(kept[1:]) if len(kept) > 1 else np.zeros((len(shares), 0))
