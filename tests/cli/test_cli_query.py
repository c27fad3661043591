"""``lacunet query`` answers as Python does, and refuses what makes no sense before it learns."""

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


def test_a_query_may_stand_among_the_files(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["query", rain[0], "P(Rain | Wet=yes)", "--query", "Wet"]) == 0
    printed = capsys.readouterr().out
    assert main(["query", rain[0], "--query", "Rain | Wet=yes", "--query", "Wet"]) == 0
    assert capsys.readouterr().out == printed
    assert main(["effect", rain[0], "P(Wet | do(Rain))"]) == 0
    assert "do(Rain)" in capsys.readouterr().out
    assert main(["recover", rain[0], "Rain -> R[Wet]", "P(Wet | do(Rain))"]) == 0
    assert "do(Rain)" in capsys.readouterr().out


def test_a_network_answers_by_its_own_cpts(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["query", rain[0], "--query", "Rain, Sprinkler | Wet=yes", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    expected = RAIN.query(["Rain", "Sprinkler"], {"Wet": "yes"})
    np.testing.assert_allclose(told["answer"], expected)
    assert told["given"] == {"Wet": "yes"}
    assert told["intervals"] is None


def test_a_result_in_a_file_answers_as_the_data_do(
    rain: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    kept, asked = str(tmp_path / "result.json"), ["--query", "Rain|Wet=yes", "--intervals", "90"]
    assert main(["learn", *rain, "--intervals", "-o", kept]) == 0
    capsys.readouterr()
    assert main(["query", *rain, *asked, "--json"]) == 0
    (by_data,) = json.loads(capsys.readouterr().out)
    assert main(["query", kept, *asked, "--json"]) == 0
    (by_file,) = json.loads(capsys.readouterr().out)
    assert by_file["intervals"] == by_data["intervals"]
    assert main(["query", rain[0], *asked]) == 1  # a network alone has none
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


@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_data_answer_with_intervals(method: str, rain: tuple[str, str], capsys: Captured) -> None:
    command = ["query", *rain, "--query", "Rain|Wet=yes", "--query", "Wet", "--method", method]
    assert main([*command, "--intervals", "90%", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    result = lc.learn(RAIN, rain[1], method, intervals=True)
    sure = result.require_intervals().query("Rain", {"Wet": "yes"}).interval(0.9)
    np.testing.assert_allclose(told[0]["intervals"], sure)
    np.testing.assert_allclose(told[1]["answer"], result.query("Wet", unsupported="ignore"))
    assert main([*command, "--intervals"]) == 0
    printed = capsys.readouterr()
    assert "P(Rain | Wet=yes)" in printed.out
    assert "probability" in printed.out
    assert "95%" in printed.out
    assert f"{method}; 95%" in printed.err


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
    ],
)
def test_a_query_that_makes_no_sense_is_refused_before_data_are_read(
    query: str, says: str, rain: tuple[str, str], capsys: Captured
) -> None:
    assert main(["query", rain[0], "no such file.csv", "--query", query]) == 1
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.out == ""


def test_doing_and_bounds_are_asked_as_in_python(rain: tuple[str, str], capsys: Captured) -> None:
    command = ["query", *rain, "--method", "direct-mcar", "--unsupported", "bounds"]
    assert main([*command, "--query", "Wet | do(Sprinkler=on), Rain=no", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    result = lc.learn(RAIN, rain[1], "direct-mcar")
    answer = result.query("Wet", {"Rain": "no"}, do={"Sprinkler": "on"}, unsupported="bounds")
    assert (told["do"], told["given"]) == ({"Sprinkler": "on"}, {"Rain": "no"})
    np.testing.assert_allclose(told["answer"], answer)
    np.testing.assert_allclose(told["bounds"]["low"], answer.bounds.low)  # type: ignore[union-attr]
    assert told["bounds"]["exact"] is True
    assert told["unsupported"] == answer.unsupported == 1.0
    assert main([*command, "--query", "Wet | Rain=no, do(Sprinkler=on)"]) == 0
    printed = capsys.readouterr().out
    assert "P(Wet | do(Sprinkler=on), Rain=no)" in printed
    assert "100.0%" in printed
    for query, word in (("Wet | do(Rain=no", "do("), ("P(Wet | Rain", "P(")):
        assert main(["query", rain[0], "--query", query]) == 1
        assert f"{word}" in capsys.readouterr().err


def test_intervals_need_data(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["query", rain[0], "--query", "Rain", "--intervals"]) == 1
    capsys.readouterr()


@pytest.mark.parametrize("level", ["1.5", "5", "0.9%"])
def test_a_level_that_is_neither_a_share_nor_a_usual_percentage_is_refused(
    level: str, rain: tuple[str, str], capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["query", *rain, "--query", "Rain", "--intervals", level])
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
    assert main(["query", str(tmp_path / "net.json"), "--query", asked, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["answer"] == [0.125, 0.875]
    assert told["given"] | told["do"] == {"B, C": state}
