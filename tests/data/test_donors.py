"""Rows that are kept to draw missing numbers from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lacunet as lc
from lacunet.data.donors import DonorSampler, day_numbers, number_variables
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable

CUT = lc.Network(
    {"X": ["<0", ">=0"], "G": ["a", "b"]}, cuts={"X": [-float("inf"), 0, float("inf")]}
)


def rows(number: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"X": rng.normal(size=number), "G": rng.choice(["a", "b"], number)})
    return frame.mask(rng.random(frame.shape) < 0.2)


def sampled(frame: pd.DataFrame, most: int, seed: int = 0, pieces: int = 1, **more: Any) -> Any:
    """The donors of a frame that passes in so many pieces."""
    sampler = DonorSampler(CUT, seed, most)
    table = replace(read_table(frame, CUT), **more)
    for part in np.array_split(np.arange(len(frame)), pieces):
        sampler.add(
            {name: pa.array(frame[name].iloc[part]) for name in ("X", "G")}, table.take(part)
        )
    return sampler.donors()


def test_all_rows_that_show_a_number_are_donors_where_there_is_room() -> None:
    frame = rows(60)
    donors = sampled(frame, 60)
    shown = frame["X"].dropna()
    assert donors.numbers["X"][donors.rows_of["X"]].tolist() == shown.tolist()
    assert donors.weights_of["X"].tolist() == [1.0] * len(shown)
    codes = [CUT.states("G").index(g) if isinstance(g, str) else 2 for g in frame["G"][shown.index]]
    assert donors.columns["G"].tolist() == codes
    assert "at most 60 of each interval of X" in donors.about


def test_so_many_of_each_interval_are_kept_and_stand_for_all_of_it() -> None:
    frame = rows(20_000)
    donors = sampled(frame, 50)
    codes = donors.columns["X"][donors.rows_of["X"]]
    assert np.bincount(codes).tolist() == [50, 50]
    below = (frame["X"] < 0).sum()
    # the weights of 50 rows that stay with one probability: 1 / sqrt(50) of what they stand for
    assert donors.weights_of["X"][codes == 0].sum() == pytest.approx(below, rel=4 / np.sqrt(50))


def test_weights_of_donors_add_up_to_those_of_the_rows_on_average() -> None:
    frame = pd.DataFrame({"X": np.linspace(-1, 1, 400), "G": ["a", "b"] * 200})
    weights = np.random.default_rng(1).gamma(0.5, size=400)
    totals, sums = [], []
    for seed in range(200):
        donors = sampled(frame, 30, seed, weights=weights)
        numbers = donors.numbers["X"][donors.rows_of["X"]]
        totals.append(donors.weights_of["X"].sum())
        sums.append(donors.weights_of["X"] @ numbers)
    for found, expected in ((totals, weights.sum()), (sums, weights @ frame["X"])):
        error = np.std(found) / np.sqrt(len(found))
        assert np.mean(found) == pytest.approx(expected, abs=4 * error)


@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 5))
def test_donors_are_the_same_however_rows_are_cut_into_pieces(
    pieces: int, most: int, seed: int
) -> None:
    frame = rows(200, seed)
    whole, parts = sampled(frame, most, seed), sampled(frame, most, seed, pieces)
    for name in ("numbers", "columns", "rows_of", "weights_of"):
        for key, values in getattr(whole, name).items():
            np.testing.assert_array_equal(getattr(parts, name)[key], values)


def test_rows_of_no_weight_are_no_donors() -> None:
    frame = pd.DataFrame({"X": [1.0, 2.0, 3.0, -4.0], "G": ["a"] * 4})
    donors = sampled(frame, 2, weights=np.array([0.0, 1.0, 0.0, 5.0]))
    assert sorted(donors.numbers["X"][donors.rows_of["X"]]) == [-4.0, 2.0]


def test_dates_are_days() -> None:
    moments = pd.Series(pd.to_datetime(["2024-02-01T00:00", "2024-02-01T06:00", None]))
    expected = [19754.0, 19754.25, np.nan]
    cells: list[Any] = [pa.array(moments), ["2024-02-01", "2024-02-01 06:00:00", "2024"]]
    cells.append(pa.array(moments.dt.tz_localize("UTC")))
    cells.append([value.to_pydatetime() for value in moments[:2]] + [None])
    for column in cells:
        np.testing.assert_array_equal(day_numbers(column), expected)
    periods = lc.Network({"D": ["2024-01", "2024-02"], "Y": ["2023", "x"]})
    assert number_variables(periods) == ("D",)


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
@pytest.mark.parametrize("memory", [None, "20MB"])
def test_what_is_learned_keeps_donors_wherever_its_rows_are(
    memory: str | None, tmp_path: Path
) -> None:
    frame = rows(30_000)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = lc.learn(CUT, frame, "direct-mcar").donors
    assert expected is not None
    assert expected.rows <= 400
    for source in (tmp_path / "rows.csv", tmp_path / "rows.parquet", pa.table(frame)):
        donors = lc.learn(CUT, source, "direct-mcar", memory=memory).donors
        assert donors is not None
        np.testing.assert_array_equal(donors.numbers["X"], expected.numbers["X"])
        np.testing.assert_array_equal(donors.columns["G"], expected.columns["G"])
    assert lc.learn(CUT, frame, "direct-mcar", donors=0).donors is None
    few = lc.learn(CUT, frame, "direct-mcar", donors=5).donors
    assert few is not None
    assert few.rows == 10
    other = lc.learn(CUT, frame, "direct-mcar", rng=1).donors
    assert other is not None
    assert not np.array_equal(other.numbers["X"], expected.numbers["X"])


@pytest.mark.parametrize("wrong", [-1, 2.5, True, "all"])
def test_a_wrong_number_of_donors_is_refused(wrong: Any) -> None:
    with pytest.raises(lc.LacunetError, match=str(wrong)):
        lc.learn(CUT, rows(10), donors=wrong)


def test_codes_of_intervals_are_no_numbers() -> None:
    coded = CUT.with_codes({"X": {"-99": "<0"}})
    frame = {"X": [-99, -1.0, 2.0], "G": ["a", "b", "a"]}
    donors = lc.learn(coded, frame, "direct-mcar").donors
    assert donors is not None
    assert donors.numbers["X"][donors.rows_of["X"]].tolist() == [-1.0, 2.0]


def test_tables_of_codes_and_of_distinct_rows_have_no_donors() -> None:
    table = EncodedTable({"X": 2, "G": 2}, {v: np.zeros(3, np.uint8) for v in "XG"})
    assert lc.learn(CUT, table, "direct-mcar").donors is None
    assert lc.learn(CUT, lc.count(CUT, rows(50)), "direct-mcar").donors is None
