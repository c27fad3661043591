r"""Worst-case bounds: what the data say if nothing is assumed about why values are missing.

Whatever the missing values are, the frequencies that the complete rows would have given lie
between these bounds (C. F. Manski, "Partial Identification of Probability Distributions",
2003; for conditions missing as well, M. Ramoni and P. Sebastiani, 2001). The rows are a sample:
the bounds have standard errors, and intervals that cover the parameter wherever it lies between
them (`lacunet.missingness.identified.intervals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lacunet.data.given import data_given
from lacunet.errors import LacunetError
from lacunet.formats.files import AnyNetwork, as_network
from lacunet.hints import with_hints
from lacunet.memory import memory_budget
from lacunet.missingness.identified.intervals import covering
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import Counts
from lacunet.statistics.distinct import unpack
from lacunet.statistics.folds import folds_of
from lacunet.statistics.gather import Gathering, Needs
from lacunet.statistics.observations import observations, replicates


@dataclass(frozen=True)
class WorstCase:
    """The lowest and highest value of every cell of P(target | given), axes given... then target.

    It unpacks into ``low`` and ``high``. Their standard errors are ``low_error`` and
    ``high_error``; `interval` allows for both.
    """

    low: FloatArray
    high: FloatArray
    low_error: FloatArray
    high_error: FloatArray

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.low, self.high))

    def interval(self, level: float = 0.95) -> FloatArray:
        """Intervals that cover the parameter: the axes of the bounds, then low and high."""
        return covering(self.low, self.high, self.low_error, self.high_error, level)


@with_hints
def worst_case(
    network: AnyNetwork,
    data: Any,
    target: str | Sequence[str],
    given: str | Sequence[str] = (),
    weight: Any = None,
    *,
    counts: Any = None,
    strata: Any = None,
    cluster: Any = None,
    missing: Any = (),
    memory: float | None = None,
) -> WorstCase:
    """The worst-case bounds on P(target | given), whatever the missing values are.

    Parameters
    ----------
    network
        Owns the variables and their states; its edges have no part in it.
    data
        What `learn` takes: a path, a dataframe of any library, `lacunet.Data`, ...
    target, given
        The variables left and right of the bar.
    weight, counts, strata, cluster, missing
        How the data are read, as in `lacunet.Data`; standard errors are those of its clusters
        or replicate weights.
    memory
        The budget in bytes; half of the machine's memory by default.

    Examples
    --------
    Three say no, one says yes, four do not answer.

    >>> from lacunet.model.network import Network
    >>> rows = {"Ill": ["no"] * 3 + ["yes"] + [None] * 4}
    >>> low, high = worst_case(Network({"Ill": ["no", "yes"]}), rows, "Ill")
    >>> low.tolist(), high.tolist()
    ([0.375, 0.125], [0.875, 0.625])
    """
    network = as_network(network)
    left = (target,) if isinstance(target, str) else tuple(target)
    right = (given,) if isinstance(given, str) else tuple(given)
    scope: Scope = (*right, *left)
    if not left or len({*scope}) < len(scope):
        raise LacunetError(f"the bounds need different variables, at least one target: {scope}.")
    for name in scope:
        network.known(name)
    said = {"weight": weight, "counts": counts, "missing": missing}
    said |= {"strata": strata, "cluster": cluster}
    with observations(data_given(data, **said), network, memory_budget(memory)) as rows:
        look = rows.look()
        folds = folds_of(None, 0, 0, look.units)
        how = Gathering(Needs((scope,), folds=folds), network, scale=look.scale)
        statistics = rows.gather(how)
        whole = bounds(statistics.sample(0).counts[scope], len(left))
        if look.units is None:
            return whole
        samples, scales = replicates(rows, how, statistics)
        parts = [bounds(sample.counts[scope], len(left)) for sample in samples]

    def error(values: list[FloatArray], centre: FloatArray) -> FloatArray:
        variance: FloatArray = np.tensordot(scales, np.square(np.array(values) - centre), axes=1)
        return np.sqrt(variance)

    return replace(
        whole,
        low_error=error([part.low for part in parts], whole.low),
        high_error=error([part.high for part in parts], whole.high),
    )


def bounds(counts: Counts, targets: int = 1) -> WorstCase:
    r"""The lowest and highest frequency of every cell over all completions of the rows.

    .. math::
        \frac{n(x, u)}{n(x, u) + c(\bar x, u)} \;\le\; \theta(x \mid u) \;\le\;
        \frac{c(x, u)}{c(x, u) + n(\bar x, u)}

    :math:`n` is the weight of the rows that show the configuration, :math:`c` that of the
    rows that do not contradict it. Where no row need have the conditions' states :math:`u`, the
    bounds are 0 and 1. Each bound is the share f of one part in two, whose rows have the weight w
    and the squared weights s together; its variance is :math:`f (1 - f) s / w^2`, with f drawn a
    little to the middle, as by one row more in either part.

    Parameters
    ----------
    counts
        Counts over the conditions, then the targets, missing as a state.
    targets
        How many of the last variables are targets.
    """
    weights, squares = (
        _sums(_laid_out(counts, values), targets)
        for values in (counts.tally.weights, counts.tally.squares)
    )
    low, low_error = _share(weights.surely, weights.against, squares.surely, squares.against, 0.0)
    high, high_error = _share(
        weights.agrees, weights.surely_not, squares.agrees, squares.surely_not, 1.0
    )
    return WorstCase(low, high, low_error, high_error)


@dataclass(frozen=True)
class _Sums:
    """Of the rows: those that show (x, u), may have (not x, u), may have or cannot have it."""

    surely: FloatArray  # n(x, u)
    against: FloatArray  # c(not x, u)
    agrees: FloatArray  # c(x, u)
    surely_not: FloatArray  # n(not x, u)


def _laid_out(counts: Counts, values: FloatArray) -> FloatArray:
    whole = np.zeros(counts.radices)
    whole[tuple(unpack(counts.keys, counts.radices))] = values
    return whole


def _sums(whole: FloatArray, targets: int) -> _Sums:
    """The sums from a table with one more state, missing, along every axis."""
    conditions = range(whole.ndim - targets)
    last = range(whole.ndim - targets, whole.ndim)
    shown, may = whole, whole
    for axis in conditions:
        shown, may = _surely(shown, axis), _maybe(may, axis)
    axes = tuple(last)
    totals = may.sum(axis=axes, keepdims=True), shown.sum(axis=axes, keepdims=True)
    surely, may_surely, surely_may, agrees = shown, may, shown, may
    for axis in last:
        surely, may_surely = _surely(surely, axis), _surely(may_surely, axis)
        surely_may, agrees = _maybe(surely_may, axis), _maybe(agrees, axis)
    return _Sums(surely, totals[0] - may_surely, agrees, totals[1] - surely_may)


def _surely(whole: FloatArray, axis: int) -> FloatArray:
    """The rows that show each state."""
    return np.split(whole, [whole.shape[axis] - 1], axis=axis)[0]


def _maybe(whole: FloatArray, axis: int) -> FloatArray:
    """The rows that show each state or none."""
    shown, missing = np.split(whole, [whole.shape[axis] - 1], axis=axis)
    return np.asarray(shown + missing)


def _share(
    part: FloatArray,
    rest: FloatArray,
    part_squares: FloatArray,
    rest_squares: FloatArray,
    otherwise: float,
) -> tuple[FloatArray, FloatArray]:
    """The share of one part in two, and its standard error."""
    total = part + rest
    share = np.divide(part, total, out=np.full_like(total, otherwise), where=total > 0)
    row = np.divide(part_squares + rest_squares, total, out=np.zeros_like(total), where=total > 0)
    drawn = np.divide(part + row, total + 2 * row, out=np.full_like(total, 0.5), where=total > 0)
    squares = part_squares + rest_squares
    spread = np.sqrt(drawn * (1 - drawn) * squares)
    return share, np.divide(spread, total, out=np.zeros_like(total), where=total > 0)
