"""No command writes over what it reads, and nothing learned is lost for a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import lacunet as lc
from examples import RAIN
from lacunet.cli import main
from lacunet.network.formats.files import write_network


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    write_network(RAIN, tmp_path / "rain.bif")
    rows = "Rain,Sprinkler,Wet\n" + "no,off,no\nyes,,yes\nno,on,\n" * 5
    (tmp_path / "rain.csv").write_text(rows)
    return str(tmp_path / "rain.bif"), str(tmp_path / "rain.csv")


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "NETWORK", "DATA", "--method", "listwise", "--report", "DATA"],
        ["learn", "NETWORK", "DATA", "--method", "listwise", "--report", "NETWORK"],
        ["learn", "NETWORK", "DATA", "--method", "listwise", "-o", "NETWORK"],
        ["predict", "NETWORK", "DATA", "--targets", "Wet", "-o", "DATA"],
        ["impute", "NETWORK", "DATA", "-o", "DATA"],
        [
            "simulate",
            "NETWORK",
            "--rows",
            "5",
            "--hide",
            "mar",
            "-o",
            "a.csv",
            "--missingness-out",
            "NETWORK",
        ],
        ["impute", "NETWORK", "DATA", "-o", "nowhere/../rain.csv"],
        ["impute", "NETWORK", "*.csv", "-o", "rain.csv"],
        ["impute", "NETWORK", ".", "-o", "rain.csv"],
        ["impute", "NETWORK", "rain-1.csv", "--draws", "2", "-o", "rain.csv"],
        ["predict", "NETWORK", "DATA", "--targets", "Wet", "-o", "link.csv"],
        ["predict", "NETWORK", "link.csv", "--targets", "Wet", "-o", "DATA"],
        ["impute", "NETWORK", "--sql", "select * from 'rain.csv'", "-o", "rain.csv"],
        ["learn", "NETWORK", "DATA", "--missingness", "graph.txt", "-o", "graph.txt"],
        ["learn", "NETWORK", "DATA", "--method", "em", "--start", "NETWORK", "-o", "NETWORK"],
        ["learn", "edges.txt", "DATA", "-o", "edges.txt"],
        ["convert", "NETWORK", "-o", "NETWORK"],
        ["convert", "edges.txt", "DATA", "-o", "DATA"],
    ],
)
def test_a_file_that_is_read_is_not_written_over(
    words: list[str], files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("graph.txt").write_text("Rain -> R[Wet]")
    Path("edges.txt").write_text("Rain -> Wet")
    Path("rain-1.csv").write_bytes(Path("rain.csv").read_bytes())
    Path("link.csv").symlink_to("rain.csv")
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    named = dict(zip(("NETWORK", "DATA"), files, strict=True))
    assert main([named.get(word, word) for word in words]) == 1
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


def test_an_option_is_not_guessed_from_its_beginning(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("graph.txt").write_text("Rain -> R[Wet]")
    words = ["simulate", files[0], "--rows", "5", "-o", "rows.csv", "--graph", "graph.txt"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert Path("graph.txt").read_text() == "Rain -> R[Wet]"


def test_two_outputs_do_not_share_a_path(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["learn", *files, "-o", "out.json", "--report", "./out.json"]) == 1
    assert not Path("out.json").exists()


def test_a_device_may_be_written_to(files: tuple[str, str]) -> None:
    assert main(["count", *files, "-o", os.devnull]) == 1  # its name does not say how
    assert main(["diagnose", *files, "--missingness-out", os.devnull, "--report", os.devnull]) == 0


def test_a_file_beside_the_input_may_be_replaced(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert main(["impute", *files, "-o", "whole.csv"]) == 0


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_learned(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, out = tmp_path / "nowhere" / "page.html", tmp_path / "out.json"
    assert main(["learn", *files, "--report", str(page), "-o", str(out)]) == 1
    capsys.readouterr()
    assert not out.exists()


def test_standard_input_serves_edges_and_learning(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open(files[1]) as rows:
        monkeypatch.setattr("sys.stdin", rows)
        assert main(["learn", "Rain -> Wet", "-", "--method", "direct-mcar"]) == 0
    assert "2 CPTs" in capsys.readouterr().out


@pytest.mark.parametrize(
    "asked",
    [
        ["diagnose", "Rain -> Wet", "-"],
        ["diagnose", "-"],
        ["recover", "Rain -> Wet", "Rain -> R[Wet]; R[Rain]", "--data", "-"],
    ],
)
def test_rows_of_standard_input_are_there_after_their_states_were_found(
    asked: list[str],
    files: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([files[1] if word == "-" else word for word in asked]) == 0
    told = capsys.readouterr().out
    with open(files[1]) as rows:
        monkeypatch.setattr("sys.stdin", rows)
        assert main(asked) == 0
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    "asked", [["predict", "no.csv", "--targets", "Wet"], ["impute", "no.csv"], ["simulate"]]
)
def test_a_table_without_a_known_ending_is_refused_before_anything_is_read(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--rows", "3"] if asked == ["simulate"] else []
    out = str(tmp_path / "out.docx")
    assert main([asked[0], "no.bif", *asked[1:], *more, "-o", out]) == 1
    assert "'out.docx'" in capsys.readouterr().err


def test_predict_and_impute_take_the_delimiter(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "semi.csv").write_text("Rain;Sprinkler;Wet\nyes;;yes\n")
    for words in (["predict", "--targets", "Sprinkler"], ["impute"]):
        data = [files[0], str(tmp_path / "semi.csv"), "--delimiter", ";"]
        assert main([words[0], *data, *words[1:]]) == 0
    assert "Sprinkler" in capsys.readouterr().out


def test_a_result_is_as_good_as_its_network() -> None:
    rows: Any = {"Rain": ["no", "yes", None], "Sprinkler": ["off", "on", "off"], "Wet": ["no"] * 3}
    evidence: Any = "Wet=no"
    result: Any = lc.learn(RAIN, rows, "direct-mcar", rng=3)
    with pytest.warns(lc.LacunetWarning, match="assumes MAR"):
        assert result.predict(rows, "Rain", unsupported="ignore")
    with pytest.warns(lc.LacunetWarning, match="assumes MAR"):
        assert result.impute(rows, draws=1, rng=1, unsupported="ignore")
    assert lc.kl_divergence(result, result) == 0
    for call in (
        lambda: result.query("Rain", evidence),
        lambda: lc.kl_divergence(RAIN, rows),
    ):
        with pytest.raises(lc.LacunetError):
            call()
