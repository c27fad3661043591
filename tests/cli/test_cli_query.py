"""``lacunet query`` answers from a result or a network as Python does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from examples import RAIN
from lacunet.cli import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def rain(tmp_path: Path) -> tuple[str, str]:
    RAIN.write(tmp_path / "rain.bif")
    rows = "no,,yes\n,on,yes\nyes,off,?\nno,off,no\n" * 25
    (tmp_path / "rain.csv").write_text(f"Rain,Sprinkler,Wet\n{rows}")
    return str(tmp_path / "rain.bif"), str(tmp_path / "rain.csv")


def learned(rain: tuple[str, str], method: str, *more: str) -> str:
    kept = str(Path(rain[0]).with_name("result.json"))
    assert main(["learn", *rain, "--method", method, "-o", kept, *more]) == 0
    return kept


def test_a_network_answers_by_its_own_cpts(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["query", rain[0], "Rain, Sprinkler | Wet=yes", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    expected = RAIN.query(["Rain", "Sprinkler"], {"Wet": "yes"})
    np.testing.assert_allclose(told["answer"], expected)
    assert told["given"] == {"Wet": "yes"}
    assert told["intervals"] is None


def test_several_queries_are_answered_in_their_order(
    rain: tuple[str, str], capsys: Captured
) -> None:
    assert main(["query", rain[0], "P(Rain | Wet=yes)", "Wet"]) == 0
    both = capsys.readouterr().out
    alone = []
    for text in ("Rain | Wet=yes", "P(Wet)"):
        assert main(["query", rain[0], text]) == 0
        alone.append(capsys.readouterr().out)
    assert both == "\n".join(alone)


@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_a_result_in_a_file_answers_with_its_intervals(
    method: str, rain: tuple[str, str], capsys: Captured
) -> None:
    kept = learned(rain, method, "--intervals")
    capsys.readouterr()
    assert main(["query", kept, "Rain|Wet=yes", "Wet", "--level", "90%", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    result = lc.learn(RAIN, rain[1], method, intervals=True)
    sure = result.uncertainty.query("Rain", {"Wet": "yes"}).interval(0.9)
    np.testing.assert_allclose(told[0]["intervals"], sure)
    np.testing.assert_allclose(told[1]["answer"], result.query("Wet", unsupported="ignore"))
    assert main(["query", kept, "Rain|Wet=yes"]) == 0
    printed = capsys.readouterr().out
    assert "P(Rain | Wet=yes)" in printed
    assert "95%" in printed


def test_a_file_of_a_result_serves_predictions_and_draws(
    rain: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    kept = learned(rain, "em", "--intervals")
    assert main(["predict", kept, rain[1], "--targets", "Rain"]) == 0
    assert "assumes MAR" in capsys.readouterr().err
    drawn = ["-o", str(tmp_path / "c.csv"), "--draws", "2", "--seed", "1"]
    assert main(["impute", kept, rain[1], *drawn]) == 0
    assert (tmp_path / "c-2.csv").exists()


def test_what_is_given_without_a_state_has_a_row_for_each(
    rain: tuple[str, str], capsys: Captured
) -> None:
    assert main(["query", rain[0], "P(Wet | Rain, do(Sprinkler=on))", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["each"], told["do"], told["states"][0]) == (
        ["Rain"],
        {"Sprinkler": "on"},
        list(RAIN.states("Rain")),
    )
    np.testing.assert_allclose(told["answer"], RAIN.cpt("Wet").table[:, 1], rtol=1e-12)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("Snow", "'Snow'"),
        ("Rain|Rain", "'Rain'"),
        ("Rain|Snow", "'Snow'"),
        ("Rain|Wet=dry", "'dry'"),
        ("", "variable"),
        ("Rain,,Wet", "separated"),
        ("Rain|Wit=dry", "'Wet'"),
        ("Rain|Wet=yes,Wet=no", "'Wet'"),
        ("Wet | do(Rain=no", "do("),
        ("P(Wet | Rain", "P("),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(
    query: str, says: str, rain: tuple[str, str], capsys: Captured
) -> None:
    assert main(["query", rain[0], query]) == 1
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.out == ""


def test_doing_and_bounds_are_asked_as_in_python(rain: tuple[str, str], capsys: Captured) -> None:
    command = ["query", learned(rain, "direct-mcar"), "--unsupported", "bounds"]
    capsys.readouterr()
    assert main([*command, "Wet | do(Sprinkler=on), Rain=no", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    result = lc.learn(RAIN, rain[1], "direct-mcar")
    answer = result.query("Wet", {"Rain": "no"}, do={"Sprinkler": "on"}, unsupported="bounds")
    assert (told["do"], told["given"]) == ({"Sprinkler": "on"}, {"Rain": "no"})
    np.testing.assert_allclose(told["answer"], answer)
    np.testing.assert_allclose(told["bounds"]["low"], answer.bounds.low)  # type: ignore[union-attr]
    assert told["bounds"]["exact"] is True
    assert told["unsupported"] == answer.unsupported == 1.0
    assert main([*command, "Wet | Rain=no, do(Sprinkler=on)"]) == 0
    printed = capsys.readouterr().out
    assert "P(Wet | do(Sprinkler=on), Rain=no)" in printed
    assert "100.0%" in printed


def test_a_level_needs_intervals(rain: tuple[str, str], capsys: Captured) -> None:
    for known in (rain[0], learned(rain, "em")):
        assert main(["query", known, "Rain", "--level", "0.9"]) == 1
        assert "intervals" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["learn", *rain, "--level", "0.9"])
    assert "--intervals" in capsys.readouterr().err


@pytest.mark.parametrize("level", ["1.5", "5", "0.9%"])
def test_a_level_that_is_neither_a_share_nor_a_usual_percentage_is_refused(
    level: str, rain: tuple[str, str], capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["query", rain[0], "Rain", "--level", level])
    assert ended.value.code == 2
    assert f"'{level}'" in capsys.readouterr().err


@pytest.mark.parametrize("state", ["1 day, 0:00:00", "a=b, A=no", "x|y", ":)", 'the "best"'])
@pytest.mark.parametrize("form", ["A|{}", "A|do({})"])
def test_a_state_in_quotes_may_hold_any_sign(
    state: str, form: str, tmp_path: Path, capsys: Captured
) -> None:
    network = lc.Network(
        {"B, C": ["none", state], "A": ["no", "yes"]},
        {"A": ["B, C"]},
        {"B, C": [0.5, 0.5], "A": [[0.25, 0.75], [0.125, 0.875]]},
    )
    network.write(tmp_path / "net.json")
    doubled = state.replace('"', '""')
    asked = form.format(f'"B, C" = "{doubled}"')
    assert main(["query", str(tmp_path / "net.json"), asked, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["answer"] == [0.125, 0.875]
    assert told["given"] | told["do"] == {"B, C": state}
