"""Completions by chained equations: what is shown stays, and what depends is drawn so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacunet.data.table import EncodedTable
from lacunet.structure.chained_completions import complete_in_turn
from lacunet.structure.indexed_rows import CodedRows


def rows_of(columns: dict[str, np.ndarray], sizes: dict[str, int]) -> CodedRows:
    codes = {name: column.astype(np.uint8) for name, column in columns.items()}
    return CodedRows.of(EncodedTable(sizes, codes))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_shown_values_stay_and_missing_ones_become_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = {"A": 2, "B": 3, "C": 4}
    whole = {name: rng.integers(0, size, 40) for name, size in sizes.items()}
    gaps = {name: rng.random(40) < 0.4 for name in sizes}
    gaps["A"][:] = False
    rows = rows_of({n: np.where(gaps[n], sizes[n], whole[n]) for n in sizes}, sizes)
    found = complete_in_turn(rows, rows_of(whole, sizes), rng)
    for at, name in enumerate(sizes):
        shown = ~gaps[name]
        np.testing.assert_array_equal(found.columns[at][shown], whole[name][shown])
        assert found.columns[at].max() < sizes[name]


def test_a_dependence_that_the_first_completion_lacks_is_drawn() -> None:
    """B is A or C, with one in twenty wrong; half of B is missing and was filled at random."""
    rng = np.random.default_rng(5)
    sizes = dict.fromkeys("ABC", 2)
    a, c = rng.integers(0, 2, (2, 4_000))
    b = (a | c) ^ (rng.random(4_000) < 0.05)
    gaps = rng.random(4_000) < 0.5
    start = rows_of({"A": a, "B": np.where(gaps, rng.integers(0, 2, 4_000), b), "C": c}, sizes)
    rows = rows_of({"A": a, "B": np.where(gaps, 2, b), "C": c}, sizes)
    drawn = complete_in_turn(rows, start, rng).columns[1][gaps]
    agrees = (drawn == (a | c)[gaps]).mean()
    assert abs(agrees - 0.95) < 4 * np.sqrt(0.05 * 0.95 / gaps.sum() + 0.05 * 0.95 / 2_000)


def test_the_same_seed_gives_the_same_completion() -> None:
    rng = np.random.default_rng(2)
    sizes = {"A": 2, "B": 3}
    whole = {name: rng.integers(0, size, 200) for name, size in sizes.items()}
    gaps = rng.random(200) < 0.3
    rows = rows_of({"A": whole["A"], "B": np.where(gaps, 3, whole["B"])}, sizes)
    one, two = (
        complete_in_turn(rows, rows_of(whole, sizes), np.random.default_rng(1)).columns
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


def test_rows_that_weigh_nothing_say_nothing() -> None:
    """Where weights differ, the heavy rows decide: in them B is A."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 3_000)
    heavy = np.arange(3_000) % 2 == 0
    b = np.where(heavy, a, 1 - a)
    gaps = rng.random(3_000) < 0.3
    codes = {"A": a.astype(np.uint8), "B": np.where(gaps, 2, b).astype(np.uint8)}
    table = EncodedTable({"A": 2, "B": 2}, codes, np.where(heavy, 1.0, 1e-6))
    opposite = {"A": codes["A"], "B": np.where(gaps, 1 - a, b).astype(np.uint8)}
    start = EncodedTable({"A": 2, "B": 2}, opposite, table.weights)
    drawn = complete_in_turn(CodedRows.of(table), CodedRows.of(start), rng).columns[1][gaps]
    assert (drawn == a[gaps]).mean() > 0.99


def test_a_variable_that_no_row_shows_stays_as_it_was() -> None:
    rng = np.random.default_rng(6)
    sizes = dict.fromkeys("ABC", 2)
    whole = {name: rng.integers(0, 2, 60) for name in sizes}
    gaps = {"A": rng.random(60) < 0.3, "B": np.ones(60, dtype=bool), "C": np.zeros(60, dtype=bool)}
    rows = rows_of({n: np.where(gaps[n], 2, whole[n]) for n in sizes}, sizes)
    found = complete_in_turn(rows, rows_of(whole, sizes), rng)
    np.testing.assert_array_equal(found.columns[1], whole["B"])


def test_a_completion_is_the_same_where_states_are_not_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    sizes = {"A": 2, "B": 3, "C": 3}
    a = rng.integers(0, 2, 300)
    whole = {"A": a, "B": a + rng.integers(0, 2, 300), "C": a + rng.integers(0, 2, 300)}
    gaps = rng.random((3, 300)) < 0.3
    shown = {n: np.where(gap, sizes[n], whole[n]) for n, gap in zip(sizes, gaps, strict=True)}
    rows = rows_of(shown, sizes)
    held = complete_in_turn(rows, rows_of(whole, sizes), np.random.default_rng(1)).columns
    monkeypatch.setattr("lacunet.structure.indexed_rows.MAX_INDEXED_CELLS", 0)
    again = complete_in_turn(rows, rows_of(whole, sizes), np.random.default_rng(1)).columns
    np.testing.assert_array_equal(held, again)
