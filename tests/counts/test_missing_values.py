from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lacunet as lc
from examples import APPENDIX, appendix_table
from lacunet.ask.diagnose.patterns import patterns
from lacunet.counts import missing_values
from lacunet.counts.missing_values import MissingSummary, PatternCounts, missing_summary
from lacunet.data.table import Copies, EncodedTable

FAMILIES = [APPENDIX.family(name) for name in "XYWZ"]


def assert_same(one: MissingSummary, two: MissingSummary) -> None:
    assert one.variables == two.variables
    np.testing.assert_array_equal(one.patterns.words, two.patterns.words)
    np.testing.assert_array_equal(one.patterns.rows, two.patterns.rows)
    for family in FAMILIES:
        np.testing.assert_allclose(one.shown[family].dense(), two.shown[family].dense())
        np.testing.assert_allclose(one.complete[family].dense(), two.complete[family].dense())


def test_the_papers_table_has_four_patterns() -> None:
    summary = missing_summary(appendix_table(), FAMILIES)
    gone = summary.patterns.is_missing(summary.variables)
    rows_of = {
        tuple(np.array(summary.variables)[row].tolist()): count
        for row, count in zip(gone, summary.patterns.rows, strict=True)
    }
    assert rows_of == {(): 16, ("Y",): 8, ("X",): 8, ("X", "Y"): 4}
    assert summary.complete_rows == 16
    assert summary.missing_together[0, 1] == 4
    assert summary.complete[("W",)].total == 16
    assert summary.shown[("W",)].total == 36


@given(st.integers(0, 36), st.booleans())
def test_summaries_of_two_parts_add_up_to_that_of_the_whole(cut: int, is_weighted: bool) -> None:
    table = appendix_table()
    weights = np.arange(1.0, 37.0) / 4 if is_weighted else None
    whole = EncodedTable(table.cardinality_of, table.columns, weights)
    parts = [whole.take(slice(0, cut)), whole.take(slice(cut, 36))]
    first, second = (missing_summary(part, FAMILIES) for part in parts)
    assert_same(first + second, missing_summary(whole, FAMILIES))


@pytest.mark.parametrize("width", [1, 37, 64, 65, 150])
def test_patterns_of_any_number_of_variables_are_told_apart(width: int) -> None:
    rng = np.random.default_rng(width)
    gone = rng.random((8, width)) < 0.3
    gone = gone[rng.integers(0, 8, 60)]  # some patterns often, in any order
    copies = rng.integers(1, 5, 60).astype(np.float64)
    names = tuple(f"V{k}" for k in range(width))
    columns = dict(zip(names, gone.T.astype(np.uint8), strict=True))
    table = EncodedTable(dict.fromkeys(names, 1), columns, copies, copies=Copies(copies, copies))
    counts = PatternCounts.of(table)
    rows_of: dict[tuple[bool, ...], float] = {}
    for pattern, rows in zip(map(tuple, gone.tolist()), copies.tolist(), strict=True):
        rows_of[pattern] = rows_of.get(pattern, 0) + rows
    ordered = sorted(rows_of)
    assert counts.is_missing(names).tolist() == [[*pattern] for pattern in ordered]
    assert counts.rows.tolist() == [rows_of[pattern] for pattern in ordered]
    first = min(rows_of, key=lambda pattern: (-rows_of[pattern], [not cell for cell in pattern]))
    assert ordered.index(first) == counts.commonest(3)[0]
    chosen = (names[-1], names[0])
    assert counts.showing(chosen) == copies[~gone[:, -1] & ~gone[:, 0]].sum()
    last, other = ~gone[:, -1], ~gone[:, 0]
    together = counts.shown_together(chosen)[0, 1]
    for left in (0, 1):
        for right in (0, 1):
            assert together[left, right] == copies[(last == left) & (other == right)].sum()


def test_as_many_patterns_as_rows_take_little_more_than_their_bits() -> None:
    rows, width = 200_000, 37
    rng = np.random.default_rng(6)
    columns = {f"V{k}": (rng.random(rows) < 0.2).astype(np.uint8) for k in range(width)}
    table = EncodedTable(dict.fromkeys(columns, 1), columns)
    tracemalloc.start()
    try:
        described = patterns(lc.Network(dict.fromkeys(columns, ("a",))), missing_summary(table, ()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert described.number > 0.9 * rows
    blocks = 2**20 * 8 * 5  # of numbers, to count what is missing together
    assert peak < blocks + 100 * rows  # a column of numbers takes 8 bytes for each row


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = missing_summary(appendix_table(), FAMILIES)
    monkeypatch.setattr(missing_values, "PATTERN_ROWS_AT_A_TIME", 5)
    assert_same(missing_summary(appendix_table(), FAMILIES), whole)


def test_rows_are_counted_without_their_weights() -> None:
    table = appendix_table()
    heavy = EncodedTable(table.cardinality_of, table.columns, np.full(36, 2.5))
    counts = missing_summary(heavy, FAMILIES).shown[("W",)]
    assert counts.dense().tolist() == [45.0, 45.0]
    assert counts.row_counts().tolist() == [18.0, 18.0]
