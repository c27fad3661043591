"""Rubin's rules with the degrees of freedom of Barnard and Rubin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import lacunet as lc

TABLES = st.integers(2, 8).flatmap(
    lambda m: st.tuples(
        st.lists(st.floats(-5, 5), min_size=m, max_size=m),
        st.lists(st.floats(1e-6, 4), min_size=m, max_size=m),
    )
)


def test_a_case_by_hand() -> None:
    # Means of three tables: 1, 2, 3 with variances 1; B = 1, T = 1 + 4/3 = 7/3.
    pooled = lc.pool([1, 2, 3], [1, 1, 1])
    assert pooled.estimate == 2
    np.testing.assert_allclose(pooled.standard_error**2, 7 / 3)
    np.testing.assert_allclose(pooled.lambda_, 4 / 7)
    # r = 4/3, and df = 6.125: (4/3 + 2 / 9.125) / (7/3).
    np.testing.assert_allclose(pooled.fmi, (4 / 3 + 2 / 9.125) / (7 / 3))
    np.testing.assert_allclose(pooled.df, 2 * (7 / 4) ** 2)
    reach = stats.t.ppf(0.95, 2 * (7 / 4) ** 2) * np.sqrt(7 / 3)
    np.testing.assert_allclose(pooled.interval(0.9), [2 - reach, 2 + reach])
    # With 20 complete-data degrees: 21/23 * 20 * 3/7 more, harmonically.
    few = lc.pool([1, 2, 3], [1, 1, 1], df=20)
    np.testing.assert_allclose(1 / few.df, 1 / (2 * (7 / 4) ** 2) + 1 / (21 / 23 * 20 * 3 / 7))
    assert "estimate" in str(few)
    assert str(few).endswith("low, high: 95% interval")


def test_five_tables_are_pooled_as_mice_does() -> None:
    # mice 3.15, pool.scalar(estimates, variances, n = 100, k = 1)
    pooled = lc.pool(
        [2.04319975349513, 2.28590441017305, 2.16051153051773, 1.82490913960189, 1.35156183754485],
        [
            0.128677619894253,
            0.0900998302483952,
            0.019422834973619,
            0.0604917372555888,
            0.0593135544077909,
        ],
        df=99,
    )
    np.testing.assert_allclose(pooled.estimate, 1.93321733426653, rtol=1e-12)
    np.testing.assert_allclose(pooled.standard_error**2, 0.233061337235452, rtol=1e-12)
    np.testing.assert_allclose(pooled.df, 6.51371013168977, rtol=1e-12)
    np.testing.assert_allclose(pooled.fmi, 0.757364649543673, rtol=1e-12)
    np.testing.assert_allclose(pooled.lambda_, 1 - 0.0716011152 / 0.233061337235452, rtol=1e-8)


@pytest.mark.parametrize(("df", "expected"), [(10, 8.46153834871794), (np.inf, 11250000300004958)])
def test_a_small_share_of_missing_information_is_pooled_as_mice_does(
    df: float, expected: float
) -> None:
    # mice 3.19.10, pool.scalar(c(1, 1.0001, 0.9999), c(1, 1, 1), n = df + 1, k = 1); 3.15 took a
    # lambda below 1e-4 as 1e-4, and gave 8.46069194977575 and 2e+08
    pooled = lc.pool([1, 1.0001, 0.9999], [1, 1, 1], df)
    np.testing.assert_allclose(pooled.df, expected, rtol=1e-9)
    np.testing.assert_allclose(pooled.lambda_, 1.33333333333304e-08 / 1.00000001333333, rtol=1e-9)


def test_estimates_that_differ_without_variance_leave_no_degrees_of_freedom() -> None:
    # lambda = 1: the formula's second term is infinite, and so is the interval, as near it.
    for variance in (0.0, 1e-12):
        pooled = lc.pool([0.1, 0.2, 0.3], [variance] * 3, df=10)
        assert pooled.df < 1e-8
        assert np.isinf(pooled.interval()).tolist() == [True, True]
    np.testing.assert_allclose(lc.pool([0.1, 0.2, 0.3], [0, 0, 0]).df, 2)
    assert lc.pool([0.2, 0.2], [0, 0], df=10).interval().tolist() == [0.2, 0.2]


@pytest.mark.parametrize("df", [[10, 10], "x", None, 0, float("nan")])
def test_degrees_of_freedom_that_are_none_are_refused(df: Any) -> None:
    with pytest.raises(lc.LacunetError, match="df is"):
        lc.pool([0.1, 0.2], [0.01, 0.01], df=df)


@pytest.mark.parametrize("level", [None, "x", 0, 5, True])
def test_a_level_that_is_none_is_refused(level: Any) -> None:
    with pytest.raises(lc.LacunetError, match="the level"):
        lc.pool([0.1, 0.2], [0.01, 0.01]).interval(level)


@given(TABLES, st.floats(1, 1e4))
def test_few_rows_and_few_tables_never_narrow_an_interval(
    tables: tuple[list[float], list[float]], df: float
) -> None:
    estimates, variances = tables
    many, few = lc.pool(estimates, variances), lc.pool(estimates, variances, df)
    assert few.df <= many.df * (1 + 1e-9)
    assert few.df <= df * (1 + 1e-9)
    assert many.standard_error**2 >= np.mean(variances) * (1 - 1e-12)
    turned = lc.pool(estimates[::-1], variances[::-1], df)
    np.testing.assert_allclose(turned.interval(), few.interval(), rtol=1e-9)


def test_tables_that_agree_are_one_table() -> None:
    pooled = lc.pool([[0.5, 0.25]] * 4, [[0.01, 0.04]] * 4, df=50)
    np.testing.assert_allclose(pooled.standard_error, [0.1, 0.2])
    np.testing.assert_allclose(pooled.df, 51 / 53 * 50)
    assert pooled.interval().shape == (2, 2)
    assert np.isinf(lc.pool([1, 1], [1, 1]).df)


def test_what_cannot_be_pooled_is_refused() -> None:
    for wrong in (([1], [1]), ([1, 2], [1]), (1, 1), ([1, np.nan], [1, 1]), ([1, 2], [1, -1])):
        with pytest.raises(lc.LacunetError):
            lc.pool(*wrong)
    with pytest.raises(lc.LacunetError, match="at least two"):
        lc.pool([0.2], [0.01])
    with pytest.raises(lc.LacunetError, match=r"variances\[1\] is -0.02"):
        lc.pool([0.2, 0.3], [0.01, -0.02])
    with pytest.raises(lc.LacunetError, match=r"estimates\[1, 0\]"):
        lc.pool([[0.2, 0.2], [np.nan, 0.2]], [[0.1, 0.1], [0.1, 0.1]])
    for odd in ([[0.3, 0.1], [0.2]], ["a", "b"], [None, {}]):
        with pytest.raises(lc.LacunetError, match=r"one shape|finite"):
            lc.pool(odd, [1, 1])
    with pytest.raises(lc.LacunetError, match="df"):
        lc.pool([1, 2], [1, 1], df=0)
    with pytest.raises(lc.LacunetError, match="level"):
        lc.pool([1, 2], [1, 1]).interval(5)
