r"""Intervals of answers under a tilt, by replicates of the rows.

The interval of a difference is put together from those of its probabilities (G. Zou and A. Donner,
2008): with the probabilities p and q, their ends l and u, and the correlation r of the two,

.. math::
    L = p - q - \sqrt{(p - l_p)^2 - 2 r (p - l_p)(u_q - q) + (u_q - q)^2},

and likewise the upper end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lacunet.ask.sensitivity.tilt import FLAT
from lacunet.counts.counts import quotient
from lacunet.learning.uncertainty.cpt_intervals import Spread, round_to_ends
from lacunet.learning.uncertainty.jackknife import replicate_variance
from lacunet.network.network import FloatArray

TRACE = 1e-6  # pseudo-counts of a CPT row, where the rows are to answer alone


def tilted_intervals(
    probabilities: FloatArray,
    by_rows: FloatArray,
    scales: FloatArray,
    degrees: float,
    rows: Sequence[float],
    *,
    by_design: bool,
) -> FloatArray:
    """Low and high for every tilt; replicates that have no answer are left out.

    They are made around what the rows alone answer, and stretched to hold the answer. Of
    ``by_rows`` the first are the probabilities of all rows, the others those of replicates, all
    for every tilt and each term. Where all replicates answer alike, ``rows`` say how many rows are
    behind each term.
    """
    whole = round_to_ends(by_rows[0], TRACE)
    has_answer = np.isfinite(by_rows[1:]).all(axis=(1, 2))
    replicates = by_rows[1:][has_answer]

    def variance_of(answers: FloatArray, rates: FloatArray) -> FloatArray:
        centre = rates if by_design else None
        variance = replicate_variance(answers, scales[has_answer], centre)
        return np.where(variance < FLAT**2, 0.0, variance)

    def and_rest(shares: FloatArray) -> FloatArray:
        return np.stack([shares, 1 - shares], axis=-1)

    ends = []
    variances = []
    for term, behind in enumerate(rows):
        variance = variance_of(replicates[..., term], whole[:, term])
        spread = Spread.of_variance(
            and_rest(probabilities[:, term]),
            and_rest(whole[:, term]),
            np.repeat(variance[:, None], 2, axis=1),
            behind,
        )
        ends.append(replace(spread, degrees=degrees).interval()[:, 0])
        variances.append(variance)
    if len(rows) == 1:
        return ends[0]
    variance = variance_of(replicates[..., 0] - replicates[..., 1], whole[:, 0] - whole[:, 1])
    return of_difference(
        probabilities, np.stack(ends, axis=1), np.stack(variances, axis=-1), variance
    )


def of_difference(
    probabilities: FloatArray, ends: FloatArray, variances: FloatArray, variance: FloatArray
) -> FloatArray:
    r"""Low and high of differences, from those of the two probabilities.

    .. math:: d - \sqrt{l_1^2 - 2 r l_1 u_2 + u_2^2}, \quad d + \sqrt{u_1^2 - 2 r u_1 l_2 + l_2^2}

    with the difference d, how far the intervals reach below (l) and above (u) the probabilities,
    and their correlation r.

    Parameters
    ----------
    probabilities
        One row for each difference; the two probabilities in columns.
    ends
        Their intervals, on one more axis.
    variances, variance
        Those of the two probabilities, in columns, and of their differences.
    """
    covariance = (variances.sum(axis=1) - variance) / 2
    correlation = np.clip(quotient(covariance, np.sqrt(variances.prod(axis=1))), -1, 1)
    below = probabilities - ends[..., 0]
    above = ends[..., 1] - probabilities

    def reach(first: FloatArray, second: FloatArray) -> FloatArray:
        squared = first**2 - 2 * correlation * first * second + second**2
        return np.sqrt(np.maximum(squared, 0.0))

    middle = probabilities[:, 0] - probabilities[:, 1]
    low = middle - reach(below[:, 0], above[:, 1])
    high = middle + reach(above[:, 0], below[:, 1])
    return np.stack([low, high], axis=-1)
