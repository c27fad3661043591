r"""The factorisation lattice: many estimates of one joint, merged by their variances.

A joint over :math:`k` variables has :math:`k!` factorisations by the chain rule, each
estimable on other rows. They share their factors: the subsets of the variables form a
lattice with :math:`k 2^{k-1}` edges, an edge being the conditional of one variable given
the others of its subset. Bottom up, each subset receives one candidate along each edge,

.. math::
    \hat P(s) \leftarrow \hat P(s_i \mid s_{-i}, R_S = \mathsf{ob}) \cdot \hat P(s_{-i}),

and the candidates are merged. Everything here is elementwise over something that gives the
numbers of rows, so the same lines serve tables over all cells (factored-mcar) and lists of the
cells that occur (factored-mar).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import prod
from typing import Literal

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.counts import quotient

Axes = tuple[int, ...]
Aggregation = Literal["inverse-variance", "mean", "median", "lowest-variance"]
AGGREGATIONS: tuple[Aggregation, ...] = ("inverse-variance", "mean", "median", "lowest-variance")


@dataclass(frozen=True)
class MeanAndVariance:
    """A mean and the variance it is known with, for each cell."""

    mean: FloatArray
    variance: FloatArray


CERTAIN = MeanAndVariance(np.array(1.0), np.array(0.0))  # the joint of no variables


def lattice(
    sizes: Sequence[int], number: Callable[[Axes, Axes], FloatArray], aggregation: Aggregation
) -> FloatArray:
    r"""The merged estimate of the joint of all variables, for each cell.

    Parameters
    ----------
    sizes
        The number of states of each variable.
    number
        ``number(shown, agree)`` is, for each cell, the weight of the rows that show all of
        ``shown`` and agree with the cell on ``agree``, a part of it: :math:`n(s_{-i})` among
        the rows with :math:`R_S = \mathsf{ob}`.
    aggregation
        How the candidates are merged.
    """
    estimate_of: dict[Axes, MeanAndVariance] = {(): CERTAIN}
    for subset in subsets(len(sizes)):
        part = number(subset, subset)  # n(s)
        candidates = (
            candidate(conditional(part, number(subset, rest), sizes[axis]), estimate_of[rest])
            for axis in subset
            for rest in [tuple(other for other in subset if other != axis)]
        )
        estimate_of[subset] = merged(candidates, aggregation)
    return estimate_of[tuple(range(len(sizes)))].mean


def subsets(size: int) -> Iterator[Axes]:
    """The nonempty subsets of ``range(size)``, small ones first.

    Examples
    --------
    >>> list(subsets(2))
    [(0,), (1,), (0, 1)]
    """
    for length in range(1, size + 1):
        yield from combinations(range(size), length)


def conditional(part: FloatArray, whole: FloatArray, states: int) -> MeanAndVariance:
    r"""The share ``part / whole`` and the variance of that mean.

    .. math::
        p = \frac{n(s)}{n}, \qquad v = \frac{p (1 - p)}{n - 1}

    Where :math:`p` is 0 or 1, :math:`v = 1 / (n - 1)`; where :math:`n \le 1`,
    :math:`v = 1/2`; where nothing is known, :math:`n = 0`, the share is uniform and
    :math:`v = p (1 - p)`.

    Examples
    --------
    >>> some = conditional(np.array([1.0, 4.0, 0.0]), np.array([5.0, 4.0, 0.0]), 2)
    >>> some.mean.tolist(), some.variance.round(4).tolist()
    ([0.2, 1.0, 0.5], [0.04, 0.3333, 0.25])
    """
    is_known, has_degrees = whole > 0, whole > 1
    share = np.divide(part, whole, out=np.full(part.shape, 1 / states), where=is_known)
    spread = share * (1 - share)  # zero where the share is 0 or 1
    degrees = np.where(has_degrees, whole - 1, 1)
    variance = np.where(has_degrees, np.where(spread == 0, 1.0, spread) / degrees, 0.5)
    return MeanAndVariance(share, np.where(is_known, variance, spread))


def candidate(factor: MeanAndVariance, rest: MeanAndVariance) -> MeanAndVariance:
    r"""The product of two independent estimates.

    .. math::
        m = p \cdot m', \qquad v_m = v v' + v m'^2 + v' p^2
    """
    variance = (
        factor.variance * rest.variance
        + factor.variance * rest.mean**2
        + rest.variance * factor.mean**2
    )
    return MeanAndVariance(factor.mean * rest.mean, variance)


def merged(candidates: Iterator[MeanAndVariance], aggregation: Aggregation) -> MeanAndVariance:
    """One estimate from several of the same quantity.

    The candidates are taken one after the other: each is as large as the result. A candidate
    of variance zero is certain: then the certain ones alone are averaged.
    """
    if aggregation == "inverse-variance":
        return _by_inverse_variance(candidates)
    if aggregation == "lowest-variance":
        return reduce(_less_variable, candidates)
    estimates = list(candidates)
    means = np.stack([estimate.mean for estimate in estimates])
    variance = np.mean([estimate.variance for estimate in estimates], axis=0)
    return MeanAndVariance(
        np.mean(means, 0) if aggregation == "mean" else np.median(means, 0), variance
    )


def _by_inverse_variance(candidates: Iterator[MeanAndVariance]) -> MeanAndVariance:
    total = weighted = certain_sum = number = np.zeros(())  # number of the certain ones
    for candidate in candidates:
        certain = candidate.variance == 0
        precision = quotient(1.0, candidate.variance)
        total = total + precision
        weighted = weighted + precision * candidate.mean
        if certain.any():
            certain_sum = certain_sum + np.where(certain, candidate.mean, 0.0)
            number = number + certain
    mean, variance = quotient(weighted, total), quotient(1.0, total)
    if number.any():
        mean = np.where(number > 0, quotient(certain_sum, number), mean)
        variance = np.where(number > 0, 0.0, variance)
    return MeanAndVariance(mean, variance)


def _less_variable(left: MeanAndVariance, right: MeanAndVariance) -> MeanAndVariance:
    keep = left.variance <= right.variance
    return MeanAndVariance(
        np.where(keep, left.mean, right.mean), np.where(keep, left.variance, right.variance)
    )


def lattice_cells(sizes: Sequence[int]) -> int:
    """The number of cells of all tables of the lattice, times the candidates of each.

    Examples
    --------
    >>> lattice_cells([2, 2])
    18
    """
    return prod(size + 1 for size in sizes) * max(len(sizes), 1)
