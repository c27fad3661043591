r"""Tests of independence between being shown and a variable, right for small counts too.

Pearson's :math:`X^2` over strata, with the degrees of freedom of the rows and columns that
occur. Its distribution is close to :math:`\chi^2` where all expected counts are at least five.
Elsewhere the table is compared with tables drawn under independence: given both margins, who
is missing is a draw without replacement from each stratum (the multivariate hypergeometric
law), which is what permuting the mechanism within the strata would give, without the rows.
Where none of the draws is as far, a gamma distribution with the draws' mean and variance
gives the tail: otherwise no p-value could be small enough among thousands of tests. A table
that is close to independence by the approximation already is not compared with any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.model.network import FloatArray

SMALL = 5.0  # expected counts below this are small
FEW_ROWS = 300  # tables of fewer rows are always compared with draws
FIRST_DRAWS, ALL_DRAWS = 400, 40_000
NOT_LARGE = 0.2
ENOUGH_ABOVE = 40  # draws above the statistic, after which more would change nothing


@dataclass(frozen=True)
class TestResult:
    """What a table says about independence.

    ``effect`` is Cramér's V. ``by_draws`` if the p-value comes from drawn tables.
    """

    __test__ = False  # not a test case of pytest

    statistic: float
    degrees_of_freedom: int
    p_value: float
    effect: float
    rows: float
    by_draws: bool


def independence(counts: FloatArray, rng: np.random.Generator) -> TestResult:
    """Test whether being shown depends on a variable, within strata.

    Parameters
    ----------
    counts
        The rows of each stratum by missing (0) or shown (1) and by the variable's state:
        axes strata, 2, states.
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
    from scipy.special import gammaincc

    statistic, freedom, least = pearson(counts)
    total = float(counts.sum())
    effect = float(np.sqrt(statistic / total)) if total > 0 else 0.0
    if freedom == 0:
        return TestResult(statistic, 0, 1.0, effect, total, by_draws=False)
    p_value = float(gammaincc(freedom / 2, statistic / 2))
    are_whole = bool((counts == np.floor(counts)).all())
    by_draws = are_whole and (least < SMALL or total < FEW_ROWS) and p_value < NOT_LARGE
    if by_draws:
        p_value = _by_draws(counts.astype(np.int64), statistic, rng)
    return TestResult(statistic, freedom, p_value, min(effect, 1.0), total, by_draws)


def pearson(counts: FloatArray) -> tuple[float, int, float]:
    """Pearson's statistic over strata, its degrees of freedom, the smallest expected count.

    Empty rows and columns of a stratum take no degrees of freedom.
    """
    expected = expected_counts(counts)
    apart = np.square(counts - expected)
    statistic = np.divide(apart, expected, out=np.zeros_like(counts), where=expected > 0).sum()
    rows, columns = (np.maximum((counts.sum(axis=axis) > 0).sum(axis=1) - 1, 0) for axis in (2, 1))
    tells = (rows * columns > 0)[:, None, None] & (expected > 0)
    least = float(expected[tells].min(initial=np.inf))
    return float(statistic), int((rows * columns).sum()), least


def expected_counts(counts: FloatArray) -> FloatArray:
    """The counts that the margins of each stratum, the first axis, give under independence."""
    right, below = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    total = counts.sum(axis=(1, 2), keepdims=True)
    expected = np.zeros_like(counts)
    np.divide(right * below, total, out=expected, where=total > 0)
    return expected


def _by_draws(counts: np.ndarray, statistic: float, rng: np.random.Generator) -> float:
    """The share of tables drawn under independence that are as far from it as this one."""
    from scipy.special import gammaincc

    drawn = _drawn(counts, FIRST_DRAWS, rng)
    as_far = drawn >= statistic * (1 - 1e-9)
    while as_far.sum() < ENOUGH_ABOVE and len(drawn) < ALL_DRAWS:
        more = min(9 * len(drawn), ALL_DRAWS - len(drawn))
        if len(drawn) > FIRST_DRAWS and not as_far.any():
            break
        drawn = np.concatenate([drawn, _drawn(counts, more, rng)])
        as_far = drawn >= statistic * (1 - 1e-9)
    if as_far.any() or not drawn.var():
        return float(as_far.sum() + 1) / (len(drawn) + 1)
    shape, scale = drawn.mean() ** 2 / drawn.var(), drawn.var() / drawn.mean()
    return float(min(gammaincc(shape, statistic / scale), 1 / (len(drawn) + 1)))


def _drawn(counts: np.ndarray, draws: int, rng: np.random.Generator) -> FloatArray:
    """The statistics of tables drawn under independence, the margins kept."""
    found = np.zeros(draws)
    for stratum in counts:
        below, missing = stratum.sum(axis=0), int(stratum[0].sum())
        below, total = below[below > 0], int(below.sum())
        if missing in (0, total) or len(below) < 2:
            continue
        hidden = rng.multivariate_hypergeometric(below, missing, size=draws)
        expected = below * (missing / total)
        # X^2 of a table with two rows: the other row differs by as much.
        apart = (np.square(hidden - expected) / expected).sum(axis=1)
        found += apart * (total / (total - missing))
    return found


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
