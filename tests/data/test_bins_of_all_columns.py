"""Bins for all columns of a table: numbers and dates, from whatever holds the rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.bins import BinsError
from lacunet.data.errors import DataError, UnknownStateError
from lacunet.data.read import read_table

ROWS = 600
DRAWN = np.random.default_rng(5)
TABLE = pd.DataFrame(
    {
        "Age": DRAWN.integers(18, 90, ROWS),
        "Dose": DRAWN.lognormal(0, 1, ROWS).round(4),
        "Sex": DRAWN.integers(1, 3, ROWS),
        "Scale": DRAWN.integers(1, 8, ROWS),
        "Ill": DRAWN.choice(["no", "yes"], ROWS),
        "Visit": pd.date_range("2023-11-05", periods=ROWS, freq="D"),
    }
)
EDGES = "Age -> Ill; Dose -> Ill; Sex; Scale"
QUARTERS = ("2023Q4", "2024Q1", "2024Q2", "2024Q3", "2024Q4", "2025Q1", "2025Q2")


def as_csv(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def as_parts(frame: pd.DataFrame, folder: Path) -> list[Path]:
    for part in range(3):
        frame.iloc[part::3].to_csv(folder / f"{part}.csv", index=False)
    return [folder / f"{part}.csv" for part in range(3)]


def as_parquet(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.from_pandas(frame),
    "arrow": lambda frame, _: pa.Table.from_pandas(frame),
    "dict": lambda frame, _: frame.to_dict("list"),
    "csv": as_csv,
    "parts": as_parts,
    "parquet": as_parquet,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_one_number_cuts_every_column_of_more_numbers_at_the_same_points(
    kind: str, tmp_path: Path
) -> None:
    data = lc.Data(SOURCES[kind](TABLE, tmp_path), bins=5)
    network = lc.Network.from_data(data, EDGES)
    by_column = lc.Data(TABLE, bins={"Age": 5, "Dose": 5, "Scale": 5})
    assert network.cuts_of == lc.Network.from_data(by_column, EDGES).cuts_of
    assert network.cardinality_of == {"Age": 5, "Dose": 5, "Sex": 2, "Scale": 5, "Ill": 2}


@pytest.mark.parametrize("kind", SOURCES)
def test_auto_cuts_many_numbers_and_takes_dates_by_quarter(kind: str, tmp_path: Path) -> None:
    data = lc.Data(SOURCES[kind](TABLE, tmp_path), bins="auto")
    network = lc.Network.from_data(data, f"{EDGES}; Visit")
    assert set(network.cuts_of) == {"Age", "Dose"}
    assert network.cardinality("Scale") == 7
    assert network.states("Visit") == QUARTERS
    quarters = TABLE["Visit"].dt.to_period("Q").astype(str)
    expected = [QUARTERS.index(quarter) for quarter in quarters]
    codes = read_table(data, network).columns["Visit"].tolist()
    assert sorted(codes) == sorted(expected)
    if kind != "parts":
        assert codes == expected


def test_what_is_said_of_a_column_comes_before_what_is_said_of_all() -> None:
    bins = {None: 3, "Age": [0, 50, 100], "Visit": "year"}
    network = lc.Network.from_data(
        lc.Data(TABLE, bins=bins, states={"Scale": list("1234567")}), f"{EDGES}; Visit"
    )
    assert network.states("Age") == ("[0,50)", "[50,100]")
    assert (network.cardinality("Dose"), network.cardinality("Scale")) == (3, 7)
    assert network.states("Visit") == ("2023", "2024", "2025")


@pytest.mark.parametrize("bins", [1, 0, -2, True, "month", "quartiles", {None: "year"}, {None: 1}])
def test_what_cannot_be_said_of_all_columns_is_refused(bins: Any) -> None:
    with pytest.raises(DataError, match="bins="):
        lc.Data(TABLE, bins=bins)


DAYS = [dt.date(2024, 7, 15), None, dt.date(2023, 12, 31), dt.date(2024, 8, 1)] * 3
MOMENTS = [None if day is None else dt.datetime(*day.timetuple()[:3], 13, 45) for day in DAYS]


@pytest.mark.parametrize(
    ("unit", "states", "codes"),
    [
        ("year", ("2023", "2024"), [1, 2, 0, 1]),
        ("quarter", ("2023Q4", "2024Q3"), [1, 2, 0, 1]),
        ("month", ("2023-12", "2024-07", "2024-08"), [1, 3, 0, 2]),
    ],
)
@pytest.mark.parametrize(
    "column",
    [
        DAYS,
        MOMENTS,
        pd.Series(DAYS, dtype=object),
        pd.to_datetime(pd.Series(MOMENTS)),
        pd.to_datetime(pd.Series(MOMENTS)).dt.tz_localize("UTC"),
        np.array(MOMENTS, dtype="datetime64[ns]"),
        pl.Series(DAYS),
        pl.Series(MOMENTS),
        pa.array(DAYS, pa.date32()),
        pa.array(DAYS, pa.date64()),
        pa.array(MOMENTS, pa.timestamp("ns")),
        pa.array(MOMENTS, pa.timestamp("us", "UTC")),
        [None if day is None else day.isoformat() for day in DAYS],
        [None if moment is None else moment.isoformat() for moment in MOMENTS],
        ["" if moment is None else str(moment) for moment in MOMENTS],
    ],
    ids=lambda column: f"{type(column).__module__}.{getattr(column, 'dtype', 'list')}",
)
def test_dates_of_every_kind_go_by_year_quarter_or_month(
    column: Any, unit: str, states: tuple[str, ...], codes: list[int]
) -> None:
    data = lc.Data({"When": column}, bins={"When": unit})
    network = lc.Network.from_data(data, "When")
    assert network.states("When") == states
    assert read_table(data, network).columns["When"].tolist() == codes * 3


def test_new_dates_are_read_as_the_network_has_them(tmp_path: Path) -> None:
    data = lc.Data(TABLE, bins={"Visit": "month"})
    network = lc.learn("Visit -> Ill", data, "direct-mcar").network
    assert network.states("Visit")[:3] == ("2023-11", "2023-12", "2024-01")
    march = network.states("Visit").index("2024-03")
    for name in ("net.json", "net.bif"):  # the states alone say it
        network.write(tmp_path / name)
        again = lc.read_network(tmp_path / name)
        codes = read_table({"Visit": ["2024-03-31"], "Ill": ["no"]}, again).columns["Visit"]
        assert codes.tolist() == [march]
    with pytest.raises(UnknownStateError, match="2030"):  # data never invent a state
        read_table({"Visit": [dt.date(2030, 1, 1)], "Ill": ["no"]}, network)
    both = lc.Network({"When": ["2024", "2024-07", "x"]})
    with pytest.raises(UnknownStateError, match="2024-07-15"):  # nor choose between two
        read_table({"When": ["2024-07-15"]}, both)


@pytest.mark.parametrize("odd", ["15/07/2024", "unknown", "2024-13-01", "7"])
def test_what_is_not_a_date_is_named_where_dates_go_by_month(odd: str) -> None:
    rows = {"When": ["2024-07-15", "2024-08-15", odd]}
    with pytest.raises(BinsError, match=odd):
        lc.Network.from_data(lc.Data(rows, bins={"When": "month"}), "When")
    network = lc.Network.from_data(
        lc.Data(rows, bins={"When": "month"}, missing={"When": odd}), "When"
    )
    assert network.states("When") == ("2024-07", "2024-08")


def test_every_question_of_data_cuts_them_alike() -> None:
    rows = TABLE.drop(columns="Visit").assign(
        Ill=TABLE["Ill"].where(DRAWN.random(ROWS) < 0.8, None)
    )
    data = lc.Data(rows, bins=4)
    network = lc.Network.from_data(data, EDGES)
    assert lc.learn(EDGES, data).network.cuts_of == network.cuts_of
    assert lc.learn_structure(data, strengths=0).network.cuts_of == network.cuts_of
    label = network.states("Age")[-1]
    assert lc.count(EDGES, data)["Age"].to_pylist().count(label) > 0
    question = f"Ill=yes | Age={label}"
    assert lc.sensitivity(EDGES, data, question, mechanism="Ill").hidden_share > 0.1


@pytest.mark.parametrize(
    ("points", "asked"),
    [([0, 40, 90], 2), ([0, 40, 90], "auto"), (3, 5), ([0, 40, 90], {"Age": 5}), (5, {"Age": 2})],
)
def test_the_cuts_of_a_network_win_with_one_note(points: Any, asked: Any) -> None:
    network = lc.Network.from_data(lc.Data(TABLE, bins={"Age": points}), "Age -> Ill")
    data = lc.Data(TABLE[["Age", "Ill"]], bins=asked)
    with pytest.warns(lc.LacunetWarning, match="'Age'") as notes:
        result = lc.learn(network, data)
    assert len(notes) == 1
    assert result.network.cuts_of == network.cuts_of


@pytest.mark.parametrize("bins", [5, "auto", {"Age": 3, "Visit": "month"}])
def test_a_network_that_was_cut_as_asked_needs_no_note(bins: Any) -> None:
    data = lc.Data(TABLE[["Age", "Ill", "Visit"]], bins=bins)
    edges = "Age -> Ill; Visit" if bins != 5 else "Age -> Ill"
    network = lc.Network.from_data(data, edges)
    lc.learn(network, lc.Data(data, without=[] if bins != 5 else "Visit"))  # warnings are errors


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    source = str(as_csv(TABLE, tmp_path))
    for asked, bins in {
        ("--bins", "5"): 5,
        ("--bins", "auto"): "auto",
        ("--bins", "5", "--bins", "Visit=month"): {None: 5, "Visit": "month"},
        ("--bins", "Age=3", "--bins", "Dose=auto"): {"Age": 3, "Dose": "auto"},
    }.items():
        target = tmp_path / "net.json"
        edges = f"{EDGES}; Visit" if "Visit=month" in asked else EDGES
        assert main(["convert", edges, source, *asked, "-o", str(target)]) == 0
        expected = lc.Network.from_data(lc.Data(TABLE, bins=bins), edges)  # type: ignore[arg-type]
        assert lc.read_network(target) == expected


def test_a_number_for_all_columns_leaves_numbered_rows_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = TABLE.drop(columns="Visit").assign(Id=range(ROWS))
    with pytest.raises(lc.LacunetError, match="'Id'"):
        lc.learn_structure(lc.Data(rows, bins=5))
    named = lc.Network.from_data(lc.Data(rows, bins=5), "Id -> Ill")
    assert named.cardinality("Id") == 5
    assert main(["structure", str(as_csv(rows, tmp_path)), "--bins", "5", "--json"]) == 1
    assert "'Id'" in capsys.readouterr().err
