"""Means, spreads and paired differences over draws."""

from __future__ import annotations

from math import inf, isnan, sqrt

import numpy as np
import pytest

from studies.comparison.summary import difference_of, summary_of


def test_the_standard_error_is_that_of_the_mean() -> None:
    found = summary_of([1.0, 2.0, 4.0, 5.0])
    assert found is not None
    # Deviations -2, -1, 1, 2: their squares sum to 10; 10 / (4 * 3).
    assert (found.mean, found.standard_error) == (3.0, pytest.approx(sqrt(10 / 12), rel=1e-15))


def test_a_heavy_tail_shows_in_the_worst_and_not_in_the_median() -> None:
    found = summary_of([1.0, 2.0, 3.0, 4.0, 1000.0])
    assert found is not None
    assert (found.median, found.quartiles, found.worst, found.count) == (3.0, (2.0, 4.0), 1000.0, 5)
    likelihoods = summary_of([-1.0, -9.0], larger_is_better=True)
    assert likelihoods is not None
    assert likelihoods.worst == -9.0


def test_an_infinite_divergence_leaves_the_median_and_takes_the_standard_error() -> None:
    found = summary_of([1.0, 2.0, 3.0, inf])
    assert found is not None
    assert (found.mean, found.median, found.worst) == (inf, 3.0, inf)
    assert isnan(found.standard_error)


def test_the_interval_of_paired_differences_is_that_of_students_t() -> None:
    from scipy import stats

    rng = np.random.default_rng(1)
    one, two = rng.normal(0.3, 1.0, 9), rng.normal(0.0, 1.0, 9)
    found = difference_of(list(zip(one, two, strict=True)))
    expected = stats.ttest_rel(one, two).confidence_interval(0.95)
    assert found is not None
    assert found.mean == pytest.approx((one - two).mean(), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert (found.better, found.count) == ((one < two).sum(), 9)


def test_one_value_has_no_standard_error_and_none_has_no_mean() -> None:
    one = summary_of([7.0])
    assert one is not None
    assert isnan(one.standard_error)
    assert summary_of([]) is None
    pair = difference_of([(2.0, 1.0)])
    assert pair is not None
    assert isnan(pair.low)
    assert not pair.is_within_chance  # nothing is known of chance
