"""Intervals, periods, dates and timestamps are matched by their printed form."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lacunet.data.data import Data
from lacunet.data.errors import DataError, UnknownStateError
from lacunet.data.read import read_table
from lacunet.network.network import Network


def codes(column: object, states: list[str]) -> list[int]:
    return read_table({"A": column}, Network({"A": states})).columns["A"].tolist()


def test_the_intervals_of_cut_match_as_they_are_printed() -> None:
    cut = pd.cut(pd.Series([1, 7, np.nan, 3]), [0, 5, 10])
    states = ["(0, 5]", "(5, 10]"]
    frame = pd.DataFrame({"A": cut})
    for column in (cut, cut.array):
        assert codes(column, states) == [0, 1, 2, 0]
    assert read_table(frame, Network({"A": states})).columns["A"].tolist() == [0, 1, 2, 0]
    intervals = pd.Series(pd.arrays.IntervalArray.from_breaks([0.5, 1, 2], closed="left"))
    assert codes(intervals, ["[0.5, 1.0)", "[1.0, 2.0)"]) == [0, 1]
    with pytest.raises(UnknownStateError, match=r"\(5, 10\]"):
        codes(cut, ["(0, 5]", "5-10"])


def test_periods_match_as_they_are_printed() -> None:
    months = pd.Series(pd.PeriodIndex(["2020-02", "2020-01", None], freq="M"))
    assert codes(months, ["2020-01", "2020-02"]) == [1, 0, 2]
    assert codes(months.astype("category"), ["2020-01", "2020-02"]) == [1, 0, 2]
    quarters = pd.Series(pd.PeriodIndex(["2020Q2", "2020Q1"], freq="Q"))
    assert codes(quarters, ["2020Q1", "2020Q2"]) == [1, 0]


DAYS = [dt.date(2020, 1, 31), None, dt.date(2020, 2, 1)]


@pytest.mark.parametrize(
    "column",
    [
        DAYS,
        pd.Series(pd.to_datetime(pd.Series(DAYS))),
        pd.Series(pd.to_datetime(pd.Series(DAYS))).astype("category"),
        pd.Series(DAYS, dtype=object),
        np.array(DAYS, dtype="datetime64[ns]"),
        [np.datetime64("2020-01-31"), None, np.datetime64("2020-02-01", "ns")],
        pl.Series(DAYS),
        pl.Series(DAYS).cast(pl.Datetime("ms")),
        pa.array(DAYS),
        pa.array(DAYS, pa.date64()),
    ],
    ids=lambda column: str(getattr(column, "dtype", type(column).__name__)),
)
def test_a_date_and_a_timestamp_at_midnight_match_the_date(column: object) -> None:
    assert codes(column, ["2020-01-31", "2020-02-01"]) == [0, 2, 1]


@pytest.mark.parametrize("column", [DAYS, ["2020-01-31", None, "2020-02-01"]])
def test_a_date_matches_its_midnight(column: object) -> None:
    assert codes(column, ["2020-01-31 00:00:00", "2020-02-01T00:00:00"]) == [0, 2, 1]
    midnight = codes(column, ["2020-01-31 00:00:00", "2020-01-31", "2020-02-01"])
    assert midnight == [1, 3, 2]  # as written first


def test_a_timestamp_matches_as_printed_or_with_a_t() -> None:
    moments = pd.Series(pd.to_datetime(["2020-01-31 13:45", "2020-01-31 00:00"]))
    assert codes(moments, ["2020-01-31 00:00:00", "2020-01-31 13:45:00"]) == [1, 0]
    assert codes(moments, ["2020-01-31", "2020-01-31T13:45:00"]) == [1, 0]
    assert codes(pa.array([1], pa.timestamp("ns")), ["1970-01-01 00:00:00.000000001"]) == [0]
    with pytest.raises(UnknownStateError, match="2020"):
        codes(moments, ["2020-01-31", "13:45"])


@pytest.mark.parametrize("code", ["2020-01-31", "2020-01-31 00:00:00", dt.datetime(2020, 1, 31)])
@pytest.mark.parametrize(
    "column",
    [
        [*DAYS, dt.date(2020, 3, 1)],
        pd.to_datetime(pd.Series([*DAYS, "2020-03-01"])),
        pd.to_datetime(pd.Series([*DAYS, "2020-03-01"])).dt.tz_localize("UTC"),
        ["2020-01-31", None, "2020-02-01", "2020-03-01"],
        ["2020-01-31 00:00:00", None, "2020-02-01 00:00:00", "2020-03-01 00:00:00"],
    ],
    ids=["dates", "timestamps", "with a zone", "texts of dates", "texts of midnights"],
)
def test_a_code_is_heard_by_its_date(column: object, code: object) -> None:
    rows = {"A": column, "B": ["x", "y", "x", "y"]}
    network = Network.from_data(Data(rows, missing={"A": code}), "A -> B")
    assert [state[:10] for state in network.states("A")] == ["2020-02-01", "2020-03-01"]
    assert read_table(rows, network).columns["A"].tolist() == [2, 2, 0, 1]
    known = Network({"A": ["2020-01-31 00:00:00", *network.states("A")], "B": ["x", "y"]})
    declared = Data(rows, missing={"A": code})
    assert read_table(declared, known).columns["A"].tolist() == [3, 3, 1, 2]


def test_midnights_of_other_zones_are_other_moments() -> None:
    network = Network({"A": ["2020-01-31 00:00:00+02:00", "2020-02-01 00:00:00+02:00"]})
    with pytest.raises(UnknownStateError, match="2020"):
        read_table({"A": ["2020-01-31 00:00:00+00:00", "2020-02-01 00:00:00-11:00"]}, network)


def test_a_series_with_a_name_is_a_table_of_one_column() -> None:
    network = Network({"A": ["no", "yes"]})
    for series in (pd.Series(["yes", None], name="A"), pl.Series("A", ["yes", None])):
        assert read_table(series, network).columns["A"].tolist() == [1, 2]
    for nameless in (pd.Series(["yes"]), pl.Series(["yes"])):
        with pytest.raises(DataError, match="series"):
            read_table(nameless, network)


def test_swapped_arguments_are_recognised() -> None:
    network = Network({"A": ["no", "yes"]})
    with pytest.raises(DataError, match="network"):
        read_table(network, network)


def test_one_close_state_is_looked_for_however_many_columns_are_odd(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_up: list[str] = []

    def did_you_mean(name: str, known: Sequence[str]) -> str:
        looked_up.append(name)
        return f"did you mean {known[0]!r}?"

    monkeypatch.setattr("lacunet.data.batches.did_you_mean", did_you_mean)
    names = [f"c{number}" for number in range(30)]
    with pytest.raises(UnknownStateError, match="'yes'"):
        read_table(
            {name: ["yess", "yse"] for name in names}, Network({name: ["yes"] for name in names})
        )
    assert len(looked_up) == 1


def test_many_states_values_and_columns_cost_linear_time() -> None:
    import time

    start = time.process_time()
    states = [str(at) for at in range(20_000)]
    assert read_table({"A": [f"{s}.0" for s in states]}, Network({"A": states})).rows == 20_000
    wide = {f"c{at}": ["no"] for at in range(20_000)}
    with pytest.raises(DataError, match="variables"):
        read_table(wide, Network({f"d{at}": ["no"] for at in range(2_000)}))
    table = pa.table([["no"]] * 20_001, names=[*wide, "c0"])
    with pytest.raises(DataError, match="once"):
        read_table(table, Network({"c0": ["no"]}))
    assert time.process_time() - start < 10
