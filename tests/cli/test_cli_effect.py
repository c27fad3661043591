"""``lacunet effect``: contrasts from a network, from a result, and by a missingness graph."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.write import write_table

Captured = pytest.CaptureFixture[str]

NETWORK = lc.Network(
    {"Age": ["young", "old"], "Smoke": ["no", "yes"], "Ill": ["no", "yes"]},
    {"Smoke": ["Age"], "Ill": ["Age", "Smoke"]},
    {
        "Age": [0.6, 0.4],
        "Smoke": [[0.7, 0.3], [0.2, 0.8]],
        "Ill": [[[0.9, 0.1], [0.8, 0.2]], [[0.5, 0.5], [0.3, 0.7]]],
    },
)
# P(ill | do(no)) = .6 * .1 + .4 * .5 = .26; P(ill | do(yes)) = .6 * .2 + .4 * .7 = .40
DIFFERENCE = 0.14


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    graph = lc.MissingnessGraph.parse("Ill -> R[Age]; Age -> R[Smoke]", NETWORK)
    hidden = lc.MissingByGraph(graph, {"Age": [0.1, 0.3], "Smoke": [0.1, 0.2]})
    drawn = lc.simulate(NETWORK, 3000, hidden, rng=np.random.default_rng(8))
    paths = {name: str(tmp_path / name) for name in ("net.bif", "rows.csv", "graph.txt")}
    NETWORK.write(paths["net.bif"])
    write_table(drawn.table, NETWORK, paths["rows.csv"])
    graph.write(paths["graph.txt"])
    return paths


def contrast(capsys: Captured) -> dict:
    (found,) = json.loads(capsys.readouterr().out)
    (one,) = found["contrasts"]
    return dict(one)


def test_a_network_alone_gives_contrasts_without_intervals(
    files: dict[str, str], capsys: Captured
) -> None:
    command = ["effect", files["net.bif"], "Ill", "--do", "Smoke"]
    assert main([*command, "--json"]) == 0
    by_option = capsys.readouterr().out
    assert main(["effect", files["net.bif"], "P(Ill | do(Smoke))", "--json"]) == 0
    assert capsys.readouterr().out == by_option
    (found,) = json.loads(by_option)
    assert found["contrasts"][0]["difference"]["value"] == pytest.approx(DIFFERENCE)
    assert found["contrasts"][0]["difference"]["low"] is None
    assert main(command) == 0
    assert "hidden" in capsys.readouterr().out
    assert main([*command, "--level", "0.9"]) == 1
    capsys.readouterr()


def test_a_result_file_answers_with_its_intervals(
    files: dict[str, str], capsys: Captured, tmp_path: Path
) -> None:
    graph = lc.MissingnessGraph.read(files["graph.txt"], NETWORK)
    result = lc.learn(NETWORK, files["rows.csv"], "em", missingness=graph, intervals=True)
    kept, asked = str(tmp_path / "result.json"), ["Ill", "--do", "Smoke", "--json"]
    result.write(kept)
    assert main(["effect", kept, *asked, "--level", "90"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told == json.loads(json.dumps(result.effect("Ill", do="Smoke", level=0.9).as_data()))
    graph_given = ["--missingness", files["graph.txt"]]
    assert main(["effect", kept, files["rows.csv"], *asked, *graph_given]) == 0
    assert "CPTs" in capsys.readouterr().err  # that they are not used


def test_rows_and_a_graph_give_intervals_around_the_truth(
    files: dict[str, str], capsys: Captured
) -> None:
    command = ["effect", files["net.bif"], files["rows.csv"], "Ill", "--do", "Smoke"]
    command += ["--missingness", files["graph.txt"], "--json"]
    assert main(command) == 0
    found = contrast(capsys)["difference"]
    assert found["low"] < DIFFERENCE < found["high"]
    # About 2,000 rows used, 800 of them smokers: a standard error of some 0.02.
    assert 0.05 < found["high"] - found["low"] < 0.12


def test_the_reference_the_level_and_a_figure_may_be_chosen(
    files: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    figure = tmp_path / "forest.svg"
    command = ["effect", files["net.bif"], files["rows.csv"], "Ill | Age=old", "--do", "Smoke"]
    command += ["--missingness", files["graph.txt"], "--json"]
    assert main(command) == 0
    wide = contrast(capsys)["ratio"]
    more = ["--reference", "yes", "--level", "0.5", "--forest", str(figure)]
    assert main([*command, *more, "--measure", "ratio"]) == 0
    found = contrast(capsys)
    assert (found["state"], found["reference"]) == ("no", "yes")
    assert found["ratio"]["value"] == pytest.approx(1 / wide["value"])
    assert found["ratio"]["high"] < 1 / wide["low"]
    assert "<svg" in figure.read_text()


def test_a_state_of_the_outcome_chooses_what_is_compared(
    files: dict[str, str], capsys: Captured
) -> None:
    assert main(["effect", files["net.bif"], "Ill=no", "--do", "Smoke", "--json"]) == 0
    found = contrast(capsys)
    assert found["outcome"] == "no"
    assert found["difference"]["value"] == pytest.approx(-DIFFERENCE)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["Ill | Smoke", "--do", "Smoke"], "'Smoke'"),
        (["Ill", "--do", "Smoke=yes"], "'Smoke=yes'"),
        (["Ill | do(Smoke=yes)"], "--do Smoke"),
        (["Ill | do(Age)", "--do", "Smoke"], "one variable"),
        (["Ill=maybe", "--do", "Smoke"], "'maybe'"),
        (["Ill, Age", "--do", "Smoke"], "one outcome"),
        (["Ill", "--do", "Ill"], "Ill is both"),
        (["Ill", "--do", "Smok"], "'Smok'"),
        (["Ill | Age=middle", "--do", "Smoke"], "'middle'"),
    ],
)
def test_what_is_not_an_effect_is_refused(
    files: dict[str, str], capsys: Captured, words: list[str], value: str
) -> None:
    assert main(["effect", files["net.bif"], *words]) == 1
    assert value in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        ["--do", "Smoke", "--missingness", "R[Ill]"],
        ["--do", "Smoke", "--population", "all.csv"],
        ["--do", "Smoke", "rows.csv"],
        [],
    ],
    ids=["a graph without data", "a population without a graph", "data without a graph", "no --do"],
)
def test_what_an_effect_needs_is_asked_for(
    files: dict[str, str], capsys: Captured, more: list[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["effect", files["net.bif"], "Ill", *more])
    capsys.readouterr()


def test_a_selection_is_undone_by_rows_of_everyone(tmp_path: Path, capsys: Captured) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("Age -> R[*]")
    mechanisms = lc.MissingByGraph(lc.MissingnessGraph.read(graph, NETWORK), {"*": [0.1, 0.8]})
    drawn = lc.simulate(NETWORK, 6000, mechanisms, rng=np.random.default_rng(2))
    network, rows, everyone = (str(tmp_path / name) for name in ("n.bif", "r.csv", "all.csv"))
    NETWORK.write(network)
    write_table(drawn.table, NETWORK, rows)
    Path(everyone).write_text("\n".join(["Age", *["young"] * 6, *["old"] * 4]))
    command = ["effect", network, rows, "Ill", "--do", "Smoke", "--json"]
    command += ["--missingness", str(graph)]
    assert main(command) == 1
    assert "not recoverable" in capsys.readouterr().err
    assert main([*command, "--population", everyone]) == 0
    found = contrast(capsys)["difference"]
    assert found["low"] < DIFFERENCE < found["high"]
