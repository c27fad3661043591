r"""A test of independence within strata, right for small counts too.

Pearson's :math:`X^2`, with the degrees of freedom of the rows and columns that occur. Its
distribution is close to :math:`\chi^2` where all expected counts are at least five. Elsewhere its
mean and variance given the margins of each stratum are known exactly (J. B. S. Haldane 1940, R. B.
Dawson 1954), and it is compared with the gamma distribution of this mean and variance. Where that
comes out small, and the counts are whole numbers, it is compared with tables drawn under
independence: given both margins, each row of a stratum is a draw without replacement from what the
rows before it left (the hypergeometric law), which is what permuting one variable within the
strata would give, without the rows. Where none of the draws is as far, the gamma distribution
stays: otherwise no p-value could be small enough among thousands of tests. Small means small after
the adjustment for the number of tests: a p-value of 0.01 among a thousand comes to nothing, drawn
or not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.network.network import FloatArray

SIGNIFICANCE = 0.05  # of p-values adjusted for the number of tests
SMALL_EXPECTED_COUNT = 5.0  # expected counts below this are small
ROWS_FOR_CHI2 = 300  # the distribution of tables of fewer rows is not that of large ones
FIRST_DRAWS = 400
ALL_DRAWS = 40_000  # at most
MOST_DRAWN_CELLS = 2e7  # of all tables that are drawn for one test
NOT_LARGE = 0.2  # a p-value: above, tables are not drawn
ROUNDING_OF_MOMENTS = 1e-12
ROUNDING_OF_STATISTIC = 1e-9  # the same table, drawn, may come out so much lower
MAY_COUNT = 1.0  # a p-value times the number of tests: above, no draws would make it count
ENOUGH_ABOVE = 40  # draws above the statistic, after which more would change nothing
CHI2 = "chi2"
GAMMA = "gamma"
DRAWS = "draws"
DESIGN = "F"


class TestResult(NamedTuple):
    """What a table says about independence."""

    statistic: float
    degrees_of_freedom: int
    p_value: float
    effect: float  # Cramér's V
    rows: float
    # What the statistic was compared with: "chi2", "gamma" (small counts), "draws" (small counts,
    # and close) or "F" (a survey's design).
    how: str


def independence(counts: FloatArray, rng: np.random.Generator) -> TestResult:
    """Test whether two variables are independent within strata.

    Parameters
    ----------
    counts
        The rows of each stratum by the states of both: axes strata, one, two.
    rng
        For the tables drawn under independence.

    Examples
    --------
    Of 100 young all answer, of 100 old half do.

    >>> counts = np.array([[[0.0, 50.0], [100.0, 50.0]]])
    >>> result = independence(counts, np.random.default_rng(0))
    >>> round(result.effect, 2), result.p_value < 1e-12
    (0.58, True)
    """
    (result,) = approximated(counts[None], 1)
    if result.how != DRAWS:
        return result
    return result._replace(p_value=by_draws(counts, result.statistic, result.p_value, rng))


def approximated(counts: FloatArray, among: int) -> list[TestResult]:
    """Test many pairs of variables at once, before tables are drawn under independence.

    Parameters
    ----------
    counts
        Axes tests, strata, one, two.
    among
        The number of tests that the p-values will be adjusted for.

    Returns
    -------
    The results. ``how`` is "draws" where tables should be drawn (`by_draws`): only there might the
    adjusted p-value become small.
    """
    from scipy.special import gammaincc

    statistic, freedom, least = pearson(counts)
    total = counts.sum(axis=(1, 2, 3))
    is_large = (least >= SMALL_EXPECTED_COUNT) & (total >= ROWS_FOR_CHI2)
    p_value = np.ones(len(counts))
    large, small = (np.flatnonzero((freedom > 0) & kind) for kind in (is_large, ~is_large))
    p_value[large] = gammaincc(freedom[large] / 2, statistic[large] / 2)
    p_value[small] = _by_moments(counts[small], statistic[small])
    reference = np.full(len(counts), CHI2, dtype=object)
    reference[small] = GAMMA
    for index in small[p_value[small] < min(NOT_LARGE, MAY_COUNT / max(among, 1))]:
        if (counts[index] == np.floor(counts[index])).all():
            reference[index] = DRAWS
    columns = statistic, freedom, p_value, cramers(counts, statistic), total, reference
    return [TestResult(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def pearson(counts: FloatArray) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
    """Pearson's statistic over strata, its degrees of freedom, the smallest expected count.

    Of several tests: axes tests, strata, one, two. Empty rows and columns of a stratum take no
    degrees of freedom.
    """
    right = counts.sum(axis=3, keepdims=True)
    below = counts.sum(axis=2, keepdims=True)
    total = right.sum(axis=2, keepdims=True)
    expected = quotient(right * below, total)
    apart = np.square(counts - expected)
    np.divide(apart, expected, out=apart, where=expected > 0)  # elsewhere it is zero
    rows = np.maximum((right[..., 0] > 0).sum(axis=2) - 1, 0)
    columns = np.maximum((below[:, :, 0] > 0).sum(axis=2) - 1, 0)
    tells = (rows * columns > 0)[..., None, None] & (expected > 0)
    least = np.where(tells, expected, np.inf).min(axis=(1, 2, 3), initial=np.inf)
    return apart.sum(axis=(1, 2, 3)), (rows * columns).sum(axis=1), least


def cramers(counts: FloatArray, statistic: FloatArray) -> FloatArray:
    """Cramér's V of several tests: axes tests, strata, one, two."""
    states = [counts.any(axis=axes).sum(axis=1) for axes in ((1, 3), (1, 2))]
    scale = counts.sum(axis=(1, 2, 3)) * (np.minimum(*states) - 1)
    share = quotient(statistic, scale)
    return np.asarray(np.minimum(np.sqrt(share), 1.0))


def _by_moments(counts: FloatArray, statistic: FloatArray) -> FloatArray:
    """The tail of the gamma distribution with the statistic's own mean and variance."""
    from scipy.special import gammaincc

    strata = counts.reshape(-1, *counts.shape[2:])
    mean, variance = (
        moment.reshape(counts.shape[:2]).sum(axis=1) for moment in pearson_moments(strata)
    )
    varies = (
        variance > ROUNDING_OF_MOMENTS * mean
    )  # elsewhere all tables with these margins give this statistic
    mean, variance = mean[varies], variance[varies]
    p_value = np.ones(len(counts))
    p_value[varies] = gammaincc(mean**2 / variance, statistic[varies] * mean / variance)
    return p_value


def by_draws(
    counts: FloatArray, statistic: float, by_moments: float, rng: np.random.Generator
) -> float:
    """The share of tables drawn under independence that are as far from it as this one.

    Never above what so many draws can tell apart from the gamma distribution's own tail.
    """
    most = int(min(ALL_DRAWS, max(FIRST_DRAWS, MOST_DRAWN_CELLS / counts.size)))
    table = counts.astype(np.int64)
    least = statistic * (1 - ROUNDING_OF_STATISTIC)
    drawn = _drawn(table, FIRST_DRAWS, rng)
    while (as_far := int((drawn >= least).sum())) < ENOUGH_ABOVE and len(drawn) < most:
        if len(drawn) > FIRST_DRAWS and not as_far:
            break
        more = min(9 * len(drawn), most - len(drawn))
        drawn = np.concatenate([drawn, _drawn(table, more, rng)])
    smallest = 1 / (len(drawn) + 1)
    return (as_far + 1) * smallest if as_far else min(by_moments, smallest)


def _drawn(counts: np.ndarray, draws: int, rng: np.random.Generator) -> FloatArray:
    """The statistics of tables drawn under independence, the margins kept."""
    chi2 = np.zeros(draws)
    for stratum in counts:
        total = int(stratum.sum())
        right = stratum.sum(axis=1)
        right = right[right > 0]
        below = stratum.sum(axis=0)
        below = below[below > 0]
        if len(right) < 2 or len(below) < 2:
            continue
        left = np.tile(below, (draws, 1))  # of each column, not yet in a row
        for row in right[:-1]:
            cells = _row(left, int(row), rng)
            chi2 += (np.square(cells - row * below / total) / (row * below / total)).sum(axis=1)
            left -= cells
        expected = right[-1] * below / total
        chi2 += (np.square(left - expected) / expected).sum(axis=1)
    return chi2


def _row(left: np.ndarray, row: int, rng: np.random.Generator) -> np.ndarray:
    """So many draws without replacement from the columns, for every table at once."""
    cells = np.zeros_like(left)
    wanted = np.full(len(left), row)
    later = left.sum(axis=1)
    for column in range(left.shape[1] - 1):
        later = later - left[:, column]
        cells[:, column] = rng.hypergeometric(left[:, column], later, wanted)
        wanted = wanted - cells[:, column]
    cells[:, -1] = wanted
    return cells


def pearson_moments(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""The mean and the variance of Pearson's statistic over all tables with these margins.

    Of :math:`N` rows, with :math:`r` rows and :math:`c` columns of the table that occur,

    .. math::
        \operatorname{E} X^2 &= \frac{N (r - 1) (c - 1)}{N - 1}, \\
        \operatorname{Var} X^2 &= \frac{2 N}{N - 3} (b_r - w_r) (b_c - w_c)
        + \frac{N^2}{N - 1} w_r w_c,

    where :math:`b_r = (N - r) (r - 1) / (N - 1)` and
    :math:`w_r = (N \sum_i 1 / n_i - r^2) / (N - 2)` of the margin :math:`n_i` of the rows, and the
    same of the columns. With three rows or fewer this is not defined: there only a table of two
    states each varies, if it has three rows, by 9 / 8.
    """
    size = counts.sum(axis=(1, 2))
    margins = counts.sum(axis=2), counts.sum(axis=1)
    several = size > 1.5
    spare = np.where(size > 3.5, size, 4.0)
    levels = []
    within = []
    between = []
    for margin in margins:
        states = (margin > 0).sum(axis=1)
        inverse = quotient(1, margin).sum(axis=1)
        levels.append(np.maximum(states - 1.0, 0.0))
        between.append((spare - states) * (states - 1) / (spare - 1))
        within.append((inverse * spare - states**2) / (spare - 2))
    mean = np.where(several, levels[0] * levels[1] * size / np.maximum(size - 1, 1), 0.0)
    variance = 2 * spare / (spare - 3) * (between[0] - within[0]) * (between[1] - within[1])
    variance += spare**2 / (spare - 1) * within[0] * within[1]
    two_by_two = (levels[0] == 1) & (levels[1] == 1)
    of_three = np.where(two_by_two & (np.abs(size - 3) <= 0.5), 9 / 8, 0.0)
    used = (levels[0] > 0) & (levels[1] > 0)
    return mean, np.where(
        used & (size > 3.5), np.maximum(variance, 0.0), np.where(used, of_three, 0.0)
    )


def holm(p_values: FloatArray) -> FloatArray:
    """The p-values adjusted for testing many (S. Holm, 1979).

    Examples
    --------
    >>> holm(np.array([0.04, 0.01])).tolist()
    [0.04, 0.02]
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * (len(p_values) - np.arange(len(p_values)))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(steps) else steps
    return adjusted
