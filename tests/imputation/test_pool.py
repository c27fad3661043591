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
    np.testing.assert_allclose(pooled.missing_information, 4 / 7)
    np.testing.assert_allclose(pooled.df, 2 * (7 / 4) ** 2)
    reach = stats.t.ppf(0.95, 2 * (7 / 4) ** 2) * np.sqrt(7 / 3)
    np.testing.assert_allclose(pooled.interval(0.9), [2 - reach, 2 + reach])
    # With 20 complete-data degrees: 21/23 * 20 * 3/7 more, harmonically.
    few = lc.pool([1, 2, 3], [1, 1, 1], df=20)
    np.testing.assert_allclose(1 / few.df, 1 / (2 * (7 / 4) ** 2) + 1 / (21 / 23 * 20 * 3 / 7))
    assert "estimate" in repr(few)
    assert repr(few).endswith("low, high: 95% interval")


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
    with pytest.raises(lc.LacunetError, match=r"estimates\[1, 0\] is nan"):
        lc.pool([[0.2, 0.2], [np.nan, 0.2]], [[0.1, 0.1], [0.1, 0.1]])
    for odd in ([[0.3, 0.1], [0.2]], ["a", "b"], [None, {}]):
        with pytest.raises(lc.LacunetError, match=r"one shape|finite"):
            lc.pool(odd, [1, 1])
    with pytest.raises(lc.LacunetError, match="df"):
        lc.pool([1, 2], [1, 1], df=0)
    with pytest.raises(lc.LacunetError, match="level"):
        lc.pool([1, 2], [1, 1]).interval(5)
