from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import APPENDIX, appendix_table
from lacunet.data.table import EncodedTable
from lacunet.statistics import missing
from lacunet.statistics.missing import MissingSummary, missing_summary

FAMILIES = [APPENDIX.family(name) for name in "XYWZ"]


def assert_same(one: MissingSummary, two: MissingSummary) -> None:
    assert one.variables == two.variables
    np.testing.assert_array_equal(one.is_missing, two.is_missing)
    np.testing.assert_array_equal(one.rows, two.rows)
    np.testing.assert_allclose(one.patterns.weights, two.patterns.weights, rtol=1e-12)
    for family in FAMILIES:
        np.testing.assert_allclose(one.shown[family].dense(), two.shown[family].dense())
        np.testing.assert_allclose(one.complete[family].dense(), two.complete[family].dense())


def test_the_papers_table_has_four_patterns() -> None:
    summary = missing_summary(appendix_table(), FAMILIES)
    patterns = {
        tuple(np.array(summary.variables)[row].tolist()): count
        for row, count in zip(summary.is_missing, summary.rows, strict=True)
    }
    assert patterns == {(): 16, ("Y",): 8, ("X",): 8, ("X", "Y"): 4}
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


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = missing_summary(appendix_table(), FAMILIES)
    monkeypatch.setattr(missing, "BLOCK_ROWS", 5)
    assert_same(missing_summary(appendix_table(), FAMILIES), whole)


def test_rows_are_counted_without_their_weights() -> None:
    table = appendix_table()
    heavy = EncodedTable(table.cardinality_of, table.columns, np.full(36, 2.5))
    counts = missing_summary(heavy, FAMILIES).shown[("W",)]
    assert counts.dense().tolist() == [45.0, 45.0]
    assert counts.row_counts().tolist() == [18.0, 18.0]
