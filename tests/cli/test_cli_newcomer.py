"""From a table to an answer, as a user types it: convert, show, predict, impute."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from examples import RAIN
from lacunet.cli import main
from lacunet.inference.query import query
from lacunet.learning.result import read_result
from lacunet.network.formats.files import read_network, write_network

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def rain(tmp_path: Path) -> tuple[str, str]:
    write_network(RAIN, tmp_path / "rain.bif")
    (tmp_path / "rain.csv").write_text(
        "Day,Rain,Sprinkler,Wet\n1,no,,yes\n2,,on,yes\n3,yes,off,?\n4,no,off,no\n"
    )
    return str(tmp_path / "rain.bif"), str(tmp_path / "rain.csv")


def test_a_network_file_comes_from_data_and_edges(
    rain: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "found.bif"
    edges = "Rain -> Sprinkler, Wet; Sprinkler -> Wet"
    assert main(["convert", edges, rain[1], "-o", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "6 states" in printed.err
    assert "3 columns" in printed.err
    assert "1 cell" in printed.err
    assert "'?'" in printed.err
    assert read_network(out).edges == RAIN.edges
    assert main(["learn", str(out), rain[1]]) == 0


def test_edges_may_be_in_a_file_and_states_and_bins_given(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "rows.csv").write_text("Age,Ill\n10,no\n30,no\n70,yes\n")
    (tmp_path / "graph.dot").write_text("digraph { Age -> Ill }")
    out = str(tmp_path / "net.json")
    command = ["convert", str(tmp_path / "graph.dot"), str(tmp_path / "rows.csv"), "-o", out]
    command += ["--bins", "Age=0,18,65,120", "--states", "Ill=yes,no,unsure"]
    assert main(command) == 0
    made = read_network(out)
    assert made.states("Age") == ("[0,18)", "[18,65)", "[65,120]")
    assert made.states("Ill") == ("yes", "no", "unsure")
    assert made.cuts_of == {"Age": (0, 18, 65, 120)}
    assert main([*command, "--bins", "Age=x"]) == 1
    capsys.readouterr()
    assert main([*command, "--states", "Ill"]) == 1
    assert "--states Stage=I,II,III" in capsys.readouterr().err


def test_a_cpt_is_shown_as_a_table(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["show", rain[0], "Wet", "Rain"]) == 0
    assert capsys.readouterr().out == f"{RAIN.cpt('Wet')}\n\n{RAIN.cpt('Rain')}\n"
    assert main(["show", rain[0]]) == 0
    assert capsys.readouterr().out == f"{RAIN}\n"
    assert main(["show", "asia", "--dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph {")
    assert main(["show", rain[0], "Sprinkler", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["Sprinkler"]
    assert shown["states"] == {"Rain": ["no", "yes"], "Sprinkler": ["off", "on"]}
    assert shown["table"] == RAIN.cpt("Sprinkler").table.tolist()
    learned = str(Path(rain[0]).with_name("learned.json"))
    assert main(["learn", *rain, "--intervals", "-o", learned]) == 0
    result = read_result(learned)
    capsys.readouterr()
    assert main(["show", learned]) == 0
    assert capsys.readouterr().out == f"{result}\n"
    assert main(["show", learned, "--json"]) == 0
    assert (
        json.loads(capsys.readouterr().out)["intervals"]["Wet"] == result.interval("Wet").tolist()
    )
    assert main(["show", learned, "Wet"]) == 0
    assert capsys.readouterr().out == f"{result.cpt('Wet')}\n"
    assert main(["show", learned, "Wet", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["Wet"]
    assert shown["interval"] == result.interval("Wet").tolist()
    assert main(["show", rain[0], "Snow"]) == 1
    assert "'Snow'" in capsys.readouterr().err


def test_columns_that_are_kept_stand_before_the_predictions(
    rain: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "predicted.csv"
    assert main(["predict", *rain, "--targets", "Rain", "--keep", "Day,Wet", "-o", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["Day"] for row in rows] == ["1", "2", "3", "4"]
    assert list(rows[0])[:3] == ["Day", "Wet", "Rain=no"]
    assert main(["predict", *rain, "--targets", "Rain", "--keep", "Rain"]) == 1
    assert main(["predict", *rain, "--targets", "Rain", "--keep", "day"]) == 1
    assert "'Day'" in capsys.readouterr().err


def test_predictions_are_printed_row_by_row(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["predict", *rain, "--targets", "Rain"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == ["Rain=no", "Rain=yes", "Rain", "log-probability"]
    answer = query(RAIN, "Rain", {"Sprinkler": "on", "Wet": "yes"})
    np.testing.assert_allclose(float(rows[1]["Rain=yes"]), answer.probabilities[1], rtol=1e-12)
    alone = query(RAIN, "Rain", {"Sprinkler": "off"})  # the third row shows rain, and no target is
    np.testing.assert_allclose(float(rows[2]["Rain=yes"]), alone.probabilities[1], rtol=1e-12)
    assert main(["predict", *rain, "--targets", "Rain", "--json", "--given-targets"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["Rain=no"] == 1.0
    assert main(["predict", *rain, "--targets", "Rain"]) == 0
    capsys.readouterr()


def test_completed_rows_are_written(
    rain: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["impute", *rain, "--most-probable"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Day,Rain,Sprinkler,Wet",
        "1,no,on,yes",
        "2,no,on,yes",
        "3,yes,off,yes",
        "4,no,off,no",
    ]
    out = tmp_path / "drawn.csv"
    assert main(["impute", *rain, "--draws", "3", "--seed", "1", "-o", str(out)]) == 1
    assert "--fixed-cpts" in capsys.readouterr().err
    fixed = ["--draws", "3", "--fixed-cpts", "--seed", "1", "-o", str(out)]
    assert main(["impute", *rain, *fixed]) == 0
    first = (tmp_path / "drawn-1.csv").read_text()
    assert first.splitlines()[4] == "4,no,off,no"
    assert (tmp_path / "drawn-3.csv").exists()
    assert main(["impute", *rain, "--draws", "3", "--seed", "1", "-o", str(out)]) == 1
    assert "--fixed-cpts" in capsys.readouterr().err
    fixed = ["--draws", "3", "--fixed-cpts", "--seed", "1", "-o", str(out)]
    assert main(["impute", *rain, *fixed]) == 0
    assert (tmp_path / "drawn-1.csv").read_text() == first
    one = ["impute", *rain, "--seed", "1", "-o", str(out)]
    assert main(one) == 0  # one draw, which a network can give
    single = out.read_text()
    assert {line.split(",")[1] for line in single.splitlines()[1:]} <= {"no", "yes"}
    assert main([*one, "--draws", "1"]) == 0
    assert out.read_text() == single
    with pytest.raises(SystemExit) as stopped:
        main([*one, "--most-probable", "--draws", "3"])
    assert stopped.value.code == 2
    capsys.readouterr()
    assert main(["impute", *rain, "--draws", "3"]) == 1
    assert "with -o" in capsys.readouterr().err


def test_rows_of_standard_input_are_completed_once_for_a_file_and_for_json(
    rain: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    learned = str(tmp_path / "learned.json")
    assert main(["learn", *rain, "--method", "em", "-o", learned]) == 0
    capsys.readouterr()
    assert main(["impute", learned, rain[1], "--json"]) == 0
    expected = capsys.readouterr()
    out = tmp_path / "out.csv"
    with open(rain[1]) as rows:
        monkeypatch.setattr("sys.stdin", rows)
        assert main(["impute", learned, "-", "--json", "-o", str(out)]) == 0
    found = capsys.readouterr()
    assert found.out == expected.out
    assert [json.loads(line)["Sprinkler"] for line in found.out.splitlines()] == [
        line.split(",")[2] for line in out.read_text().splitlines()[1:]
    ]
    assert found.err.count("assumes MAR") == expected.err.count("assumes MAR") == 1


def test_json_spells_what_it_has_no_type_for_as_states_are(
    rain: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    noon, tags = datetime(2020, 1, 2, 12), ["a", None]
    beside = {
        "day": pa.array([noon.date()]),
        "late": pa.array([7_000_000], pa.int32()).cast(pa.date32()),
        "moment": pa.array([noon]),
        "time": pa.array([noon.time()]),
        "length": pa.array([timedelta(days=1)]),
        "price": pa.array([Decimal("1.50")]),
        "bytes": pa.array([b"\xff"]),
        "tags": pa.array([tags]),
        "record": pa.array([{"day": noon.date(), "x": float("nan")}]),
    }
    table = pa.table({"Rain": ["no"], "Sprinkler": ["on"], "Wet": ["yes"], **beside})
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert main(["impute", rain[0], str(tmp_path / "rows.parquet"), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert {name: row[name] for name in beside} == {
        "day": "2020-01-02",
        "late": "21135-05-09",
        "moment": "2020-01-02 12:00:00",
        "time": "12:00:00",
        "length": "1 day, 0:00:00",
        "price": "1.5",
        "bytes": "\\xff",
        "tags": tags,
        "record": {"day": "2020-01-02", "x": None},
    }
