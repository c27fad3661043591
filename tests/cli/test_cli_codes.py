"""Codes, rules, weights and intervals on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from lacunet.cli import main

ROWS = """Ever,Now,Sex,Age,n
1,1,1,30,3
1,2,2,45,2
2,,1,61,4
2,,2,44,1
1,9,1,70,5
1,1,9,25,2
"""
CODES = '{"Now": {"9": null, "1": "daily", "2": "some"}, "Ever": {"1": "yes", "2": "no"}}'
EDGES = "Ever -> Now; Sex -> Age"
BUILT = ["--bins", "Age=0,40,60,99", "--codes", CODES]
BUILT += ["--not-asked", "Now: Ever=no", "--missing", "Sex=9"]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path / "rows.csv"


@pytest.fixture
def network(rows: Path) -> Path:
    out = rows.with_name("net.json")
    assert main(["learn", EDGES, str(rows), *BUILT, "--counts", "n", "-o", str(out)]) == 0
    return out


def test_what_is_said_once_is_kept_by_the_network(
    rows: Path, network: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = lc.read_network(network)
    assert found.states("Now") == ("daily", "some", "not_asked")
    assert found.codes_of["Sex"] == {"9": None}
    capsys.readouterr()
    assert main(["predict", str(network), str(rows), "--targets", "Sex", "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(answers) == 6
    assert main(["impute", str(network), str(rows), "-o", str(rows.with_name("out.csv"))]) == 0
    completed = rows.with_name("out.csv").read_text().splitlines()
    assert not any(",," in line for line in completed)
    assert main(["diagnose", str(network), str(rows)]) == 0


def test_counts_are_rows(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", EDGES, str(rows), *BUILT, "--counts", "n", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == 17


@pytest.mark.parametrize("written", ["[40,60)", "50", "[40, 60)", "40.0"])
def test_intervals_and_numbers_can_be_asked_about(
    written: str, network: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["query", str(network), f"Sex | Age={written}, Ever=yes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = lc.read_network(network).query("Sex", {"Age": "[40,60)", "Ever": "yes"})
    assert str(float(expected["1"]))[:8] in json.dumps(found)


def test_codes_can_be_asked_about(network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["query", str(network), "Now | Ever=1", "--json"]) == 0
    by_code = capsys.readouterr().out
    assert main(["query", str(network), "Now | Ever=yes", "--json"]) == 0
    assert capsys.readouterr().out == by_code
    assert main(["query", str(network), "Ever | Now=9"]) == 1
    assert "missing" in capsys.readouterr().err
    assert main(["query", str(network), "Ever | Age=120"]) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--codes", "{"], "JSON"),
        (["--codes", "nowhere.json"], "JSON"),
        (["--codes", '{"Noo": {"9": null}}'], "mean"),
        (["--not-asked", "Now"], "variable"),
        (["--not-asked", "Now: Sex=1"], "Sex -> Now"),
        (["--missing", "Noo=9"], "'Now'"),
        (["--strata", "Stratum"], "['Stratum']"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    more: list[str], message: str, rows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["learn", "Ever -> Now; Sex", str(rows), *more]
    assert main(asked) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked",
    [
        ["effect", "Ill | Age=40+", "--do", "Sex", "--missingness", "Age -> R[Ill]; R[Age]"],
        ["sensitivity", "--query", "Ill=no | Age=40+", "--mechanism", "Ill"],
    ],
)
def test_codes_that_come_with_the_data_can_be_asked_about(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = {"Age": ["<40", "40-49", "50+"], "Sex": ["f", "m"], "Ill": ["no", "yes"]}
    network = lc.Network(states, {"Ill": ["Age", "Sex"]})
    codes = {"Age": {"40+": ["40-49", "50+"]}}
    network.write(tmp_path / "plain.json")
    coded = lc.Network(states, {"Ill": ["Age", "Sex"]}, codes=codes)
    coded.write(tmp_path / "coded.json")
    cells = [
        f"{a},{s},{i}" for a in (*states["Age"], "40+") for s in "fm" for i in ("no", "yes", "")
    ]
    rows = [cell for number, cell in enumerate(cells) for _ in range(3 + 5 * number % 7)]
    (tmp_path / "rows.csv").write_text("\n".join(["Age,Sex,Ill", *rows]))
    command, *more = asked
    told = []
    for name, said in (("coded", []), ("plain", ["--codes", json.dumps(codes)])):
        files = [str(tmp_path / f"{name}.json"), str(tmp_path / "rows.csv")]
        assert main([command, *files, *more, *said, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]


def test_codes_may_be_in_a_file(rows: Path) -> None:
    told = {"codes": json.loads(CODES), "not_asked": {"Now": "Ever=no"}}
    rows.with_name("codes.json").write_text(json.dumps(told))
    out = rows.with_name("net.json")
    asked = ["convert", "Ever -> Now", str(rows), "-o", str(out)]
    assert main([*asked, "--codes", str(rows.with_name("codes.json"))]) == 0
    found = json.loads(out.read_text())
    assert found["variables"][1]["not_asked"] == {"when": "Ever=no", "state": "not_asked"}


def test_replicate_weights_are_said_in_one_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"Ill": rng.choice(["no", "yes"], 200), "w": rng.lognormal(size=200)})
    names = [f"w{left_out}" for left_out in range(10)]
    for left_out, name in enumerate(names):
        frame[name] = frame["w"] * np.where(np.arange(200) % 10 == left_out, 0.0, 10 / 9)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    said = ["--weight", "w", "--replicates", "jackknife: w0..w9", "--intervals", "--json"]
    command = ["learn", "[Ill]", str(tmp_path / "rows.csv"), "--method", "direct-mcar"]
    assert main([*command, *said]) == 0
    told = json.loads(capsys.readouterr().out)
    weights = lc.ReplicateWeights(names, "jackknife")
    data = lc.Data(frame, weight="w", replicate_weights=weights)
    network = lc.Network.from_data(frame[["Ill"]], "Ill")
    result = lc.learn(network, data, "direct-mcar", intervals=True)
    low, high = result.interval("Ill")[1]
    assert f"{low:.6f}"[:7] in json.dumps(told)
    assert f"{high:.6f}"[:7] in json.dumps(told)
    for wrong in ("w0..w9", "brr:", "fay x: w0..w9"):
        assert main([*command, "--weight", "w", "--replicates", wrong]) == 1
        assert "--replicates 'jackknife: w1..w80'" in capsys.readouterr().err
