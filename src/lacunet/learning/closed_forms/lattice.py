r"""The factorisation lattice: many estimates of one joint, merged by their variances.

A joint over :math:`k` variables has :math:`k!` factorisations by the chain rule, each
estimable on other rows. They share their factors: the subsets of the variables form a
lattice with :math:`k 2^{k-1}` edges, an edge being the conditional of one variable given
the others of its subset. Bottom up, each subset :math:`S` receives one candidate along the edge of
each of its variables :math:`S_i`, from the subset :math:`S_{-i} = S \setminus \{S_i\}`,

.. math::
    \hat P(s) \leftarrow \Pr_D(s_i \mid s_{-i}, R_S = \mathsf{ob}) \, \hat P(s_{-i}),
    \qquad \hat P(\emptyset) = 1,

and the candidates are merged. Of A and B::

                  P(A, B)
                 /       \\
    P(B | A) ·  /         \\  · P(A | B)
             P(A)         P(B)
                 \\       /
       P(A) ·     \\     /  · P(B)
                     1

The left way uses all rows that show A, then those that show both; the right way all rows that
show B, then those that show both. Everything here is elementwise over something that gives the
numbers of rows, so the same lines serve tables over all cells (factored-mcar) and lists of the
cells that occur (factored-mar).

*Slopes.* The estimate is a function of these numbers of rows, and its derivative by each of them
is found on the way back down, from the joint of all variables to that of none. The weights by which
candidates are merged are taken as they are: what they move the estimate by is their own error
times the distance of two estimates of the same quantity, which vanishes faster than either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.learning.plan import Aggregation
from lacunet.network.network import FloatArray

Axes = tuple[int, ...]
AGGREGATIONS: tuple[Aggregation, ...] = ("inverse-variance", "mean", "median", "lowest-variance")


@dataclass(frozen=True)
class MeanAndVariance:
    """A mean and the variance it is known with, for each cell."""

    mean: FloatArray  # the estimate of a probability
    variance: FloatArray  # of that estimate, not of the data


ONE_FOR_SURE = MeanAndVariance(np.array(1.0), np.array(0.0))  # the joint of no variables


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
    estimate_of: dict[Axes, MeanAndVariance] = {(): ONE_FOR_SURE}
    for subset in subsets_of_axes(len(sizes)):
        estimate_of[subset] = merge_candidates(
            _candidates(subset, sizes, number, estimate_of), aggregation
        )
    return estimate_of[tuple(range(len(sizes)))].mean


def _candidates(
    subset: Axes,
    sizes: Sequence[int],
    number: Callable[[Axes, Axes], FloatArray],
    estimate_of: Mapping[Axes, MeanAndVariance],
) -> Iterator[MeanAndVariance]:
    r"""One estimate of a subset along each edge that leads to it.

    One after the other, as each is as large as the table of the subset and `merge_candidates` needs
    no two at a time.
    """
    part = number(subset, subset)  # n(s)
    for axis, rest in _edges(subset):
        whole = number(subset, rest)  # n(s_{-i}), among the rows that show all of S
        factor = share_and_variance(part, whole, sizes[axis])  # P(s_i | s_{-i})
        yield candidate(factor, estimate_of[rest])


@dataclass(frozen=True)
class _Edge:
    """An edge of the lattice, with what the way back down needs of the way up."""

    rest: Axes  # the subset without one variable
    whole: FloatArray  # the weight that the conditional of this variable is a share of
    factor: MeanAndVariance  # that conditional


def lattice_slopes(
    sizes: Sequence[int], number: Callable[[Axes, Axes], FloatArray], aggregation: Aggregation
) -> tuple[FloatArray, dict[tuple[Axes, Axes], FloatArray]]:
    r"""What `lattice` gives, and its derivative by each number of rows, for each cell.

    The keys of the derivatives are what ``number`` is asked for: the variables that rows show, and
    those in which they agree with the cell. With the weight :math:`\lambda_i` of a candidate
    :math:`p \cdot m'`, :math:`p = n(s) / n`, the joint moves

    .. math::
        \frac{\partial}{\partial m'} = \lambda_i p, \qquad
        \frac{\partial}{\partial n(s)} = \sum_i \lambda_i \frac{m'}{n}, \qquad
        \frac{\partial}{\partial n} = -\lambda_i \frac{m'}{n} p,

    each times what it moves by when the estimate of the subset does.
    """
    # Up, as in `lattice`, but all candidates are kept: their weights depend on each other.
    estimate_of: dict[Axes, MeanAndVariance] = {(): ONE_FOR_SURE}
    edges_of: dict[Axes, list[_Edge]] = {}
    weights_of: dict[Axes, Sequence[FloatArray]] = {}
    for subset in subsets_of_axes(len(sizes)):
        part = number(subset, subset)
        edges = []
        candidates = []
        for axis, rest in _edges(subset):
            whole = number(subset, rest)
            factor = share_and_variance(part, whole, sizes[axis])
            edges.append(_Edge(rest, whole, factor))
            candidates.append(candidate(factor, estimate_of[rest]))
        edges_of[subset] = edges
        estimate_of[subset] = merge_candidates(iter(candidates), aggregation)
        weights_of[subset] = merging_weights(candidates, aggregation)

    # Down: what the joint moves by when the estimate of a subset does.
    top = tuple(range(len(sizes)))
    moves_of: dict[Axes, FloatArray] = {top: np.ones(())}
    slopes: dict[tuple[Axes, Axes], FloatArray] = {}
    for subset in reversed([*subsets_of_axes(len(sizes))]):
        by_part = np.zeros(())
        for edge, weight in zip(edges_of[subset], weights_of[subset], strict=True):
            moved = moves_of[subset] * weight
            moved_before = moves_of.get(edge.rest, np.zeros(()))
            moves_of[edge.rest] = moved_before + moved * edge.factor.mean
            by_share = quotient(moved * estimate_of[edge.rest].mean, edge.whole)
            by_part = by_part + by_share
            slopes[subset, edge.rest] = -by_share * edge.factor.mean
        slopes[subset, subset] = by_part
    return estimate_of[top].mean, slopes


def _edges(subset: Axes) -> Iterator[tuple[int, Axes]]:
    """Each variable of a subset, with the others."""
    for axis in subset:
        yield axis, tuple(other for other in subset if other != axis)


def subsets_of_axes(size: int) -> Iterator[Axes]:
    """The nonempty subsets of ``range(size)``, small ones first.

    Examples
    --------
    >>> list(subsets_of_axes(2))
    [(0,), (1,), (0, 1)]
    """
    for length in range(1, size + 1):
        yield from combinations(range(size), length)


def share_and_variance(
    part: FloatArray, whole: FloatArray, states: int | NDArray[np.integer]
) -> MeanAndVariance:
    r"""The share ``part / whole`` and the variance of that mean.

    .. math::
        p = \frac{n(s)}{n}, \qquad v = \frac{p (1 - p)}{n - 1}

    Where :math:`p` is 0 or 1, :math:`v = 1 / (n - 1)`; where :math:`n \le 1`,
    :math:`v = 1/2`; between one row and two, which weights make, :math:`v` lies in proportion
    between what it is at either; where nothing is known, :math:`n = 0`, the share is uniform
    and :math:`v = p (1 - p)`.

    Examples
    --------
    >>> some = share_and_variance(np.array([1.0, 4.0, 0.0]), np.array([5.0, 4.0, 0.0]), 2)
    >>> some.mean.tolist(), some.variance.round(4).tolist()
    ([0.2, 1.0, 0.5], [0.04, 0.3333, 0.25])
    """
    is_known = whole > 0
    uniform = np.full(part.shape, 1 / states)
    share = np.divide(part, whole, out=uniform, where=is_known)  # p
    spread = share * (1 - share)
    # A share of 0 or 1 would seem certain, and the merged estimate would be nothing else.
    spread_of_known = np.where(spread == 0, 1.0, spread)
    # 1 / (n - 1) has a pole at one row: a weight of 1 + 1e-16 would know infinitely little.
    degrees = np.maximum(whole - 1, 1)
    beyond_one = np.clip(whole - 1, 0, 1)  # 0 up to one row, 1 from two rows on
    variance_of_known = (1 - beyond_one) * 0.5 + beyond_one * spread_of_known / degrees
    variance = np.where(is_known, variance_of_known, spread)
    return MeanAndVariance(share, variance)


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


def merge_candidates(
    candidates: Iterator[MeanAndVariance], aggregation: Aggregation
) -> MeanAndVariance:
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
    # Neither says how sure it is: what is carried on is the mean of the variances.
    variance = np.mean([estimate.variance for estimate in estimates], axis=0)
    if aggregation == "mean":
        return MeanAndVariance(np.mean(means, axis=0), variance)
    return MeanAndVariance(np.median(means, axis=0), variance)


def _by_inverse_variance(candidates: Iterator[MeanAndVariance]) -> MeanAndVariance:
    r"""The mean with weights :math:`1 / v`, whose variance is :math:`1 / \sum 1 / v`."""
    precisions = np.zeros(())  # the sum of 1 / v
    weighted_means = np.zeros(())  # the sum of m / v
    certain_means = np.zeros(())  # the sum of m where v = 0
    certain_number = np.zeros(())
    for candidate in candidates:
        precision = quotient(1.0, candidate.variance)  # zero where the candidate is certain
        precisions = precisions + precision
        weighted_means = weighted_means + precision * candidate.mean
        is_certain = candidate.variance == 0
        if is_certain.any():
            certain_means = certain_means + np.where(is_certain, candidate.mean, 0.0)
            certain_number = certain_number + is_certain
    mean = quotient(weighted_means, precisions)
    variance = quotient(1.0, precisions)
    if certain_number.any():
        mean = np.where(certain_number > 0, quotient(certain_means, certain_number), mean)
        variance = np.where(certain_number > 0, 0.0, variance)
    return MeanAndVariance(mean, variance)


def merging_weights(
    candidates: Sequence[MeanAndVariance], aggregation: Aggregation
) -> Sequence[FloatArray]:
    """The share of each candidate in what `merge_candidates` makes of them.

    Examples
    --------
    >>> sure, vague = (MeanAndVariance(np.array(0.5), np.array(v)) for v in (0.01, 0.03))
    >>> [round(float(weight), 2) for weight in merging_weights([sure, vague], "inverse-variance")]
    [0.75, 0.25]
    """
    number = len(candidates)
    if aggregation == "mean":
        return [np.full((), 1 / number)] * number
    if aggregation == "median":
        means = np.stack([estimate.mean for estimate in candidates])
        order = np.argsort(means, axis=0, kind="stable")
        rank = np.argsort(order, axis=0)  # the inverse of a permutation is what sorts it
        is_middle = (rank == (number - 1) // 2) | (rank == number // 2)
        return [*(is_middle / is_middle.sum(axis=0))]
    variances = np.stack(np.broadcast_arrays(*(estimate.variance for estimate in candidates)))
    if aggregation == "lowest-variance":
        least = variances.argmin(axis=0)  # of equal ones the first
        return [(least == index).astype(np.float64) for index in range(number)]
    is_certain = variances == 0
    precision = quotient(1.0, variances)
    precision = np.where(is_certain.any(axis=0), is_certain, precision)  # the certain ones alone
    return [*(precision / precision.sum(axis=0))]


def _less_variable(left: MeanAndVariance, right: MeanAndVariance) -> MeanAndVariance:
    """In each cell the estimate of lower variance; of equal ones the first."""
    is_left = left.variance <= right.variance
    mean = np.where(is_left, left.mean, right.mean)
    variance = np.where(is_left, left.variance, right.variance)
    return MeanAndVariance(mean, variance)


def lattice_cells(sizes: Sequence[int]) -> int:
    """The number of cells of all tables of the lattice, times the candidates of each.

    Examples
    --------
    >>> lattice_cells([2, 2])
    18
    """
    # The sum over all subsets of the product of their sizes is the product of all sizes plus one.
    cells = prod(size + 1 for size in sizes)
    return cells * max(len(sizes), 1)
