"""``lacunet effect``: contrasts from a network, from rows, and by a missingness graph."""

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
    command = ["effect", files["net.bif"], "--query", "Ill | do(Smoke)"]
    assert main([*command, "--json"]) == 0
    found = contrast(capsys)
    assert found["difference"]["value"] == pytest.approx(DIFFERENCE)
    assert found["difference"]["low"] is None
    assert main(command) == 0
    assert "hidden" in capsys.readouterr().out
    assert main([*command, "--intervals"]) == 1
    capsys.readouterr()


def test_a_result_file_answers_with_its_intervals_and_says_what_new_rows_leave_unused(
    files: dict[str, str], capsys: Captured, tmp_path: Path
) -> None:
    graph = lc.MissingnessGraph.read(files["graph.txt"], NETWORK)
    result = lc.learn(NETWORK, files["rows.csv"], "em", missingness=graph, intervals=True)
    kept, asked = str(tmp_path / "result.json"), ["--query", "Ill | do(Smoke)", "--json"]
    result.write(kept)
    assert main(["effect", kept, *asked, "--intervals", "90"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told == json.loads(json.dumps(result.effect("Ill", do="Smoke", level=0.9).as_data()))
    for command, query in (("effect", asked), ("query", ["--query", "Ill"])):
        assert main([command, kept, files["rows.csv"], *query]) == 0
        said = capsys.readouterr().err
        assert "CPTs" in said

        assert main([command, files["net.bif"], files["rows.csv"], *query]) == 0
        assert "not used" not in capsys.readouterr().err
    assert (
        main(["effect", kept, files["rows.csv"], *asked, "--missingness", files["graph.txt"]]) == 0
    )
    assert "CPTs" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--method", "em"]])
def test_rows_and_a_graph_give_intervals_around_the_truth(
    files: dict[str, str], capsys: Captured, more: list[str]
) -> None:
    command = ["effect", files["net.bif"], files["rows.csv"], "--query", "Ill | do(Smoke)"]
    command += ["--missingness", files["graph.txt"], "--json", *more]
    assert main(command) == 0
    found = contrast(capsys)["difference"]
    assert found["low"] < DIFFERENCE < found["high"]
    # About 2,000 rows used, 800 of them smokers: a standard error of some 0.02.
    assert 0.05 < found["high"] - found["low"] < 0.12


def test_the_reference_the_level_and_a_figure_may_be_chosen(
    files: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    figure = tmp_path / "forest.svg"
    command = ["effect", files["net.bif"], files["rows.csv"], "--query", "Ill | do(Smoke), Age=old"]
    command += ["--missingness", files["graph.txt"], "--json"]
    assert main(command) == 0
    wide = contrast(capsys)["ratio"]
    more = ["--reference", "yes", "--intervals", "0.5", "--forest", str(figure)]
    assert main([*command, *more, "--measure", "ratio"]) == 0
    found = contrast(capsys)
    assert (found["state"], found["reference"]) == ("no", "yes")
    assert found["ratio"]["value"] == pytest.approx(1 / wide["value"])
    assert found["ratio"]["high"] < 1 / wide["low"]
    assert "<svg" in figure.read_text()


def test_a_state_of_the_outcome_chooses_what_is_compared(
    files: dict[str, str], capsys: Captured
) -> None:
    assert main(["effect", files["net.bif"], "--query", "Ill=no | do(Smoke)", "--json"]) == 0
    found = contrast(capsys)
    assert found["outcome"] == "no"
    assert found["difference"]["value"] == pytest.approx(-DIFFERENCE)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("Ill | Smoke", "Ill | do(Smoke)"),
        ("Ill | Smoke=yes", "Ill | do(Smoke)"),
        ("Ill | do(Smoke=yes)", "write do(Smoke)"),
        ("Ill=maybe | do(Smoke)", "'maybe'"),
        ("Ill, Age | do(Smoke)", "effect"),
        ("Ill | do(Ill)", "different variables"),
        ("Ill | do(Smok)", "'Smok'"),
        ("Ill | do(Smoke), Age=middle", "'middle'"),
    ],
)
def test_what_is_not_an_effect_is_refused(
    files: dict[str, str], capsys: Captured, query: str, value: str
) -> None:
    assert main(["effect", files["net.bif"], "--query", query]) == 1
    assert value in capsys.readouterr().err


def test_a_selection_is_undone_by_rows_of_everyone(tmp_path: Path, capsys: Captured) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("Age -> R[*]")
    mechanisms = lc.MissingByGraph(lc.MissingnessGraph.read(graph, NETWORK), {"*": [0.1, 0.8]})
    drawn = lc.simulate(NETWORK, 6000, mechanisms, rng=np.random.default_rng(2))
    network, rows, everyone = (str(tmp_path / name) for name in ("n.bif", "r.csv", "all.csv"))
    NETWORK.write(network)
    write_table(drawn.table, NETWORK, rows)
    Path(everyone).write_text("\n".join(["Age", *["young"] * 6, *["old"] * 4]))
    command = ["effect", network, rows, "--query", "Ill | do(Smoke)", "--json"]
    command += ["--missingness", str(graph)]
    assert main(command) == 1
    assert "not recoverable" in capsys.readouterr().err
    assert main([*command, "--population", everyone]) == 0
    found = contrast(capsys)["difference"]
    assert found["low"] < DIFFERENCE < found["high"]
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--population", everyone, "--method", "em"])


@pytest.mark.parametrize("typed", [("Smoke", "Ill"), ("Age, Ill | do(Smoke)",)])
def test_what_does_not_ask_for_an_effect_is_answered_with_a_query_that_does(
    typed: tuple[str, ...], files: dict[str, str], capsys: Captured
) -> None:
    assert main(["effect", files["net.bif"], *typed]) == 1
    assert '--query "Smoke | do(Age)"' in capsys.readouterr().err
