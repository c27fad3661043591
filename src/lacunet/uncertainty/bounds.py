r"""Bounds on a CPT that assume nothing about why values are missing.

Whatever the missing values are, the frequencies that the complete rows would have given lie
between these bounds (C. F. Manski, "Partial Identification of Probability Distributions",
2003; for parents missing as well, M. Ramoni and P. Sebastiani, 2001).
"""

from __future__ import annotations

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.counts import Counts
from lacunet.statistics.distinct import unpack


def bounds(counts: Counts) -> tuple[FloatArray, FloatArray]:
    r"""The lowest and highest frequency of every CPT entry over all completions of the rows.

    .. math::
        \frac{n(x, u)}{n(x, u) + c(\bar x, u)} \;\le\; \theta(x \mid u) \;\le\;
        \frac{c(x, u)}{c(x, u) + n(\bar x, u)}

    :math:`n` is the weight of the rows that show the configuration, :math:`c` that of the
    rows that do not contradict it. Where no row need have the parents' states :math:`u`, the
    bounds are 0 and 1. The prior has no part in them.

    Parameters
    ----------
    counts
        Counts of a family, child last, missing as a state.

    Examples
    --------
    Three say no, one says yes, four do not answer.

    >>> from lacunet.statistics.counts import Counts, Tally
    >>> weights = np.array([3.0, 1.0, 4.0])
    >>> counts = Counts(("Ill",), (2,), np.array([0, 1, 2]), Tally(weights, weights, weights))
    >>> low, high = bounds(counts)
    >>> low.tolist(), high.tolist()
    ([0.375, 0.125], [0.875, 0.625])
    """
    whole = np.zeros(counts.radices)
    whole[tuple(unpack(counts.keys, counts.radices))] = counts.tally.weights
    for axis in range(whole.ndim - 1):  # the parents: a missing one contradicts no state
        shown, missing = np.split(whole, [counts.cardinalities[axis]], axis=axis)
        whole = shown + missing
    agrees = whole[..., :-1] + whole[..., -1:]  # c(x, u)
    against = whole.sum(axis=-1, keepdims=True) - whole[..., :-1]  # c(not x, u)
    surely = counts.dense()  # n(x, u)
    surely_not = surely.sum(axis=-1, keepdims=True) - surely
    return _share(surely, against, 0.0), _share(agrees, surely_not, 1.0)


def _share(part: FloatArray, rest: FloatArray, otherwise: float) -> FloatArray:
    total = part + rest
    return np.divide(part, total, out=np.full_like(total, otherwise), where=total > 0)
