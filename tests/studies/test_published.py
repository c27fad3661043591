"""The paper's printed numbers, and our numbers beside them."""

from __future__ import annotations

from collections import defaultdict
from math import inf, isnan, sqrt

import numpy as np
import pytest

from studies.paper.published import Published, printed, published
from studies.report.summary import (
    Summary,
    best_method,
    difference_of,
    summary_of,
)

LARGE = published("table-large")


@pytest.mark.parametrize(
    ("study", "place", "method", "value"),
    [
        ("table-mcar", ("alarm", "mcar", 300.0, 100, "divergence"), "direct-mcar", 3.037),
        ("table-mcar", ("alarm", "mcar", 300.0, 1_000_000, "seconds"), "factored-mar", 124),
        ("table-mcar", ("alarm", "mcar", 300.0, 10_000, "log_likelihood"), "em-1", -10.00),
        ("table-mcar", ("alarm", "mcar", 300.0, 10_000, "divergence"), "em-10", None),
        (
            "table-informed",
            ("alarm", "informed", 300.0, 1_000, "divergence"),
            "informed-factored",
            0.375,
        ),
        (
            "table-informed",
            ("alarm", "informed-shown", 300.0, 100, "log_likelihood"),
            "direct-mar",
            -12.13,
        ),
        ("table-large", ("water", "second", 1500.0, 1_000_000, "log_likelihood"), "em-10", None),
        (
            "table-large",
            ("water", "second", 1500.0, 1_000_000, "log_likelihood"),
            "direct-mcar",
            -13.73,
        ),
        (
            "table-large",
            ("grid-90-20-1-like", "first", 60.0, 100, "log_likelihood"),
            "factored-mar",
            -50.24,
        ),
        ("table-large", ("munin1", "second", 300.0, 10_000, "log_likelihood"), "em-bp-10", -157.23),
        (
            "table-large",
            ("barley", "first", 1500.0, 100, "log_likelihood"),
            "em-10",
            -85.11,
        ),
    ],
)
def test_the_numbers_are_those_of_the_paper(
    study: str, place: tuple[str, str, float, int, str], method: str, value: float | None
) -> None:
    assert printed(study, *place)[method].value == value


def test_what_is_in_bold_is_the_best_of_its_row() -> None:
    rows: dict[tuple[object, ...], list[Published]] = defaultdict(list)
    for one in LARGE:
        rows[one.network, one.setting, one.limit, one.rows].append(one)
    for row in rows.values():
        values = [one.value for one in row if one.value is not None]
        bold = [one.value for one in row if one.is_best]
        assert bold == ([max(values)] if values else [])


def test_all_six_large_tables_are_there() -> None:
    assert {(one.setting, one.limit) for one in LARGE} == {
        (setting, limit) for setting in ("first", "second") for limit in (60.0, 300.0, 1500.0)
    }


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


def summary(values: list[float], asked: int) -> Summary:
    found = summary_of(values, asked)
    assert found is not None
    return found


def test_who_failed_in_a_repetition_is_not_the_best() -> None:
    found = {"quick": summary([0.1], 2), "sure": summary([0.2, 0.2], 2), "none": None}
    assert best_method(found, "divergence") == "sure"
    assert best_method({"none": None}, "divergence") is None


def test_the_best_divergence_is_the_smallest_and_the_best_likelihood_the_largest() -> None:
    found: dict[str, Summary | None] = {"a": summary([-2.0], 1), "b": summary([-1.0], 1)}
    assert best_method(found, "log_likelihood") == "b"
    assert best_method(found, "divergence") == "a"
