"""No command writes over what it reads, and nothing learned is lost for a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lacunet as lc
from examples import RAIN
from lacunet.cli import main
from lacunet.formats.files import write_network


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
        ["simulate", "NETWORK", "--rows", "5", "-o", "rows.csv", "--graph-out", "NETWORK"],
    ],
)
def test_a_file_that_is_read_is_not_written_over(
    words: list[str], files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = [Path(name).read_bytes() for name in files]
    named = dict(zip(("NETWORK", "DATA"), files, strict=True))
    assert main([named.get(word, word) for word in words]) == 1
    assert [Path(name).read_bytes() for name in files] == before


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_learned(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, out = tmp_path / "nowhere" / "page.html", tmp_path / "out.json"
    assert main(["learn", *files, "--report", str(page), "-o", str(out)]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert not out.exists()


def test_standard_input_serves_edges_and_learning(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open(files[1]) as rows:
        monkeypatch.setattr("sys.stdin", rows)
        assert main(["learn", "--edges", "Rain -> Wet", "-", "--method", "direct-mcar"]) == 0
    assert "2 CPTs by direct-mcar from 15 rows" in capsys.readouterr().out


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
    for answer in (lc.predict(result, rows, "Rain"), lc.impute(result, rows, draws=1, rng=1)):
        assert answer
    assert lc.kl_divergence(result, result) == 0
    for call in (
        lambda: lc.predict(rows, RAIN, "Rain"),
        lambda: lc.query(result, "Rain", evidence),
        lambda: lc.kl_divergence(RAIN, rows),
    ):
        with pytest.raises(lc.LacunetError):
            call()
