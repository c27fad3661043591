"""The paper's printed numbers, and our numbers beside them."""

from __future__ import annotations

from collections import defaultdict

import pytest

from studies.paper.published import Published, printed, published

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
