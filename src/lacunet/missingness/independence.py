r"""A test of independence within strata, right for small counts too.

Pearson's :math:`X^2`, with the degrees of freedom of the rows and columns that occur. Its
distribution is close to :math:`\chi^2` where all expected counts are at least five. Elsewhere its
mean and variance given the margins of each stratum are known exactly (J. B. S. Haldane 1940, R. B.
Dawson 1954), and it is compared with the gamma distribution of this mean and variance. Where that
comes out small, and the counts are whole numbers, it is compared with tables drawn under
independence: given both margins, each row of a stratum is a draw without replacement from what the
rows before it left (the hypergeometric law), which is what permuting one variable within the
strata would give, without the rows. Where few of the draws are as far, the gamma distribution
stays: otherwise no p-value could be small enough among thousands of tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.model.network import FloatArray

SMALL = 5.0  # expected counts below this are small
FEW_ROWS = 300  # the distribution of tables of fewer rows is not that of large ones
FIRST_DRAWS, ALL_DRAWS = 400, 40_000
MOST_DRAWN_CELLS = 2e7
NOT_LARGE = 0.2
ENOUGH_ABOVE = 40  # draws above the statistic, after which more would change nothing
CHI2, GAMMA, DRAWS = "chi2", "gamma", "draws"


@dataclass(frozen=True)
class TestResult:
    """What a table says about independence.

    ``effect`` is Cramér's V. ``how`` is what the statistic was compared with: "chi2", "gamma"
    (small counts) or "draws" (small counts, and close).
    """

    __test__ = False  # not a test case of pytest

    statistic: float
    degrees_of_freedom: int
    p_value: float
    effect: float
    rows: float
    how: str

    @property
    def by_draws(self) -> bool:
        """Whether the p-value comes from drawn tables."""
        return self.how == DRAWS


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
    from scipy.special import gammaincc

    statistic, freedom, least = pearson(counts)
    total = float(counts.sum())
    states = [int(counts.any(axis=axes).sum()) for axes in ((0, 2), (0, 1))]
    scale = total * (min(states) - 1)
    effect = min(float(np.sqrt(statistic / scale)), 1.0) if scale > 0 else 0.0
    if freedom == 0:
        return TestResult(statistic, 0, 1.0, effect, total, CHI2)
    if least >= SMALL and total >= FEW_ROWS:
        p_value, how = float(gammaincc(freedom / 2, statistic / 2)), CHI2
    else:
        p_value, how = _by_moments(counts, statistic), GAMMA
        if p_value < NOT_LARGE and (counts == np.floor(counts)).all():
            p_value, how = _by_draws(counts.astype(np.int64), statistic, p_value, rng), DRAWS
    return TestResult(statistic, freedom, p_value, effect, total, how)


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


def _by_moments(counts: FloatArray, statistic: float) -> float:
    """The tail of the gamma distribution with the statistic's own mean and variance."""
    from scipy.special import gammaincc

    mean, variance = (float(moment.sum()) for moment in pearson_moments(counts))
    if variance <= 1e-12 * mean:  # every table with these margins gives this statistic
        return 1.0
    return float(gammaincc(mean**2 / variance, statistic * mean / variance))


def _by_draws(
    counts: np.ndarray, statistic: float, by_moments: float, rng: np.random.Generator
) -> float:
    """The share of tables drawn under independence that are as far from it as this one.

    Never above what so many draws can tell apart from the gamma distribution's own tail.
    """
    most = int(min(ALL_DRAWS, max(FIRST_DRAWS, MOST_DRAWN_CELLS / counts.size)))
    drawn = _drawn(counts, FIRST_DRAWS, rng)
    as_far = drawn >= statistic * (1 - 1e-9)
    while as_far.sum() < ENOUGH_ABOVE and len(drawn) < most:
        more = min(9 * len(drawn), most - len(drawn))
        if len(drawn) > FIRST_DRAWS and not as_far.any():
            break
        drawn = np.concatenate([drawn, _drawn(counts, more, rng)])
        as_far = drawn >= statistic * (1 - 1e-9)
    smallest = 1 / (len(drawn) + 1)
    return min(by_moments, smallest) if not as_far.any() else float(as_far.sum() + 1) * smallest


def _drawn(counts: np.ndarray, draws: int, rng: np.random.Generator) -> FloatArray:
    """The statistics of tables drawn under independence, the margins kept."""
    found = np.zeros(draws)
    for stratum in counts:
        right, below = stratum.sum(axis=1), stratum.sum(axis=0)
        right, below, total = right[right > 0], below[below > 0], int(below.sum())
        if len(right) < 2 or len(below) < 2:
            continue
        left = np.tile(below, (draws, 1))  # of each column, not yet in a row
        for row in right[:-1]:
            cells = _row(left, int(row), rng)
            found += (np.square(cells - row * below / total) / (row * below / total)).sum(axis=1)
            left -= cells
        expected = right[-1] * below / total
        found += (np.square(left - expected) / expected).sum(axis=1)
    return found


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
    """The mean and the variance of Pearson's statistic over all tables with these margins."""
    size = counts.sum(axis=(1, 2))
    margins = counts.sum(axis=2), counts.sum(axis=1)
    several = size > 1.5
    spare = np.where(size > 3.5, size, 4.0)
    levels, within, between = [], [], []
    for margin in margins:
        states = (margin > 0).sum(axis=1)
        inverse = np.divide(1, margin, out=np.zeros_like(margin), where=margin > 0).sum(axis=1)
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
