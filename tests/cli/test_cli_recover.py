"""``lacunet recover``, and learning with a missingness graph."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from examples import NOT_VERIFIED, SCREENING
from lacunet.cli import main
from lacunet.cli.queries import split_query
from lacunet.data.write import write_table
from lacunet.formats.files import read_network, write_network
from lacunet.missingness.graph import MissingnessGraph
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    graph = MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)
    drawn = simulate(SCREENING, 3000, MissingByGraph(graph, NOT_VERIFIED), np.random.default_rng(5))
    paths = {name: str(tmp_path / name) for name in ("net.bif", "rows.csv", "mar.txt", "mnar.txt")}
    write_network(SCREENING, paths["net.bif"])
    write_table(drawn.table, SCREENING, paths["rows.csv"])
    graph.write(paths["mar.txt"])
    Path(paths["mnar.txt"]).write_text("Disease, Test -> R[Disease]\n")
    return paths


def test_every_family_gets_a_verdict_and_an_estimand(
    files: dict[str, str], capsys: Captured
) -> None:
    assert main(["recover", files["net.bif"], files["mnar.txt"]]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Disease, Test -> R[Disease]\n\nMNAR: the path Disease -> R[Disease]")
    assert "P(Disease | Age): NOT RECOVERABLE" in out
    assert "P(Symptoms | Disease): RECOVERABLE" in out
    assert "P(Symptoms | Disease) = P(Symptoms | Disease, R[Disease]=1)" in out
    assert "2 of 4 are recoverable" in out


def test_a_query_is_estimated_from_data(files: dict[str, str], capsys: Captured) -> None:
    command = ["recover", files["net.bif"], files["mar.txt"], "--query", "Test|Disease"]
    assert main([*command, "--data", files["rows.csv"], "--json"]) == 0
    (query,) = json.loads(capsys.readouterr().out)["queries"]
    assert query["status"] == "recoverable"
    estimate = query["estimate"]
    truth = SCREENING.cpt("Test").table
    # About 180 effective rows with the disease: five standard errors of a proportion.
    np.testing.assert_allclose(estimate["table"], truth, atol=5 * np.sqrt(0.25 / 180))
    assert estimate["rows_used"] < 3000


def test_implications_are_listed_and_tested(files: dict[str, str], capsys: Captured) -> None:
    assert main(["recover", files["net.bif"], files["mar.txt"], "--implications"]) == 0
    listed = capsys.readouterr().out
    assert "Age ⊥ R[Disease] | Symptoms, Test" in listed
    assert "never testable" in listed
    command = ["recover", files["net.bif"], files["mar.txt"], "--implications", "--json"]
    assert main([*command, "--data", files["rows.csv"]]) == 0
    (tested,) = json.loads(capsys.readouterr().out)["tested"]
    assert tested["adjusted"] > 0.01  # a fixed seed, and the implication is true


def test_learning_refuses_what_the_graph_does_not_recover(
    files: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    command = ["learn", files["net.bif"], files["rows.csv"], "--method", "mgraph"]
    command += ["--missingness", files["mnar.txt"], "-o", str(tmp_path / "out.bif")]
    assert main(command) == 1
    assert "the CPT of 'Disease' is not recoverable" in capsys.readouterr().err
    assert not (tmp_path / "out.bif").exists()
    assert main([*command, "--otherwise", "prior", "--json"]) == 0
    families = json.loads(capsys.readouterr().out)["families"]
    assert families["Disease"]["fallback"] == "prior"
    assert families["Symptoms"]["fallback"] == ""
    assert read_network(tmp_path / "out.bif").cpt("Disease").table.tolist() == [[0.5, 0.5]] * 2


def test_explain_states_the_verdicts(files: dict[str, str], capsys: Captured) -> None:
    command = ["explain", files["net.bif"], files["rows.csv"]]
    assert main([*command, "--missingness", files["mar.txt"]]) == 0
    out = capsys.readouterr().out
    assert "MAR: the path Symptoms -> R[Disease] rules out MCAR" in out
    assert "recoverable: the rows that show Disease are a fair sample" in out


def test_explain_forecasts_an_expectation(files: dict[str, str], capsys: Captured) -> None:
    assert main(["explain", files["net.bif"], files["rows.csv"], "--method", "em"]) == 0
    out = capsys.readouterr().out
    assert "states per iteration" in out
    assert "time per iteration" in out


def test_a_graph_file_that_is_not_there_is_told_in_words(
    files: dict[str, str], capsys: Captured
) -> None:
    assert main(["recover", files["net.bif"], "nowhere.txt"]) == 1
    assert "nowhere.txt: the missingness graph cannot be read" in capsys.readouterr().err


def test_a_broken_query_is_told_in_words(files: dict[str, str], capsys: Captured) -> None:
    assert main(["recover", files["net.bif"], files["mar.txt"], "--query", "Tset|Disease"]) == 1
    assert "'Tset'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "target", "given"),
    [
        ("X,Y|Z", ["X", "Y"], ["Z"]),
        (" X , Y | Z ", ["X", "Y"], ["Z"]),
        ('"a|b"|"c, d"', ["a|b"], ["c, d"]),
        ('"e ""f|"""', ['e "f|"'], []),
        ("X |", ["X"], []),
        ("P(X|Y)", ["X"], ["Y"]),
        (" P( X, Y | Z ) ", ["X", "Y"], ["Z"]),
        ("P(X)", ["X"], []),
    ],
)
def test_a_query_is_split_at_the_bar_outside_quotes(
    text: str, target: list[str], given: list[str]
) -> None:
    assert split_query(text) == (target, given, [])


def test_a_latent_variable_is_hidden_with_and_without_data(
    files: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    rows = Path(files["rows.csv"]).read_text().splitlines()
    at = rows[0].split(",").index("Symptoms")
    cut = [",".join(cell for k, cell in enumerate(row.split(",")) if k != at) for row in rows]
    data = tmp_path / "cut.csv"
    data.write_text("\n".join(cut))
    command = ["recover", files["net.bif"], files["mar.txt"], "--latent", "Symptoms", "--json"]
    for more in ([], ["--data", str(data)]):
        assert main([*command, *more]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["latent"] == ["Symptoms"]
        assert found["category"] == "MNAR"  # through Symptoms, which nobody sees
        by_name = {query["target"][0]: query for query in found["queries"]}
        assert by_name["Symptoms"]["status"] == "not recoverable"
        assert "Symptoms is latent: no row ever shows it" in by_name["Symptoms"]["why"]
        assert by_name["Disease"]["status"] == "not recoverable"
        assert by_name["Age"]["status"] == "recoverable"
    assert by_name["Age"]["estimate"]["rows_used"] == 3000


def test_the_graph_and_the_two_models_are_printed(
    files: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    graph = tmp_path / "colluder.txt"
    graph.write_text("Disease, R[Disease] -> R[Test]; Test -> R[Disease]")
    command = ["recover", files["net.bif"], str(graph), "--query", "P(Disease,Test)"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert text.startswith("Test -> R[Disease]\nDisease, R[Disease] -> R[Test]\n")
    assert "model 1" in text
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["graph"] == "Test -> R[Disease]\nDisease, R[Disease] -> R[Test]"
    witness = found["queries"][0]["witness"]
    assert witness["manifest_difference"] < 1e-12
    assert witness["query_difference"] > 1e-6
    assert witness["model_1"].keys() == witness["model_2"].keys() == witness["parents"].keys()
    assert np.sum(witness["model_1"]["Disease"], axis=-1) == pytest.approx(1)


def test_a_variable_without_a_gap_is_a_note(
    files: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    graph = tmp_path / "more.txt"
    graph.write_text("Symptoms, Test -> R[Disease]; R[Age]")
    command = ["recover", files["net.bif"], str(graph), "--data", files["rows.csv"]]
    assert main([*command, "--query", "Age"]) == 0
    assert "note: the data show every value of 'Age'" in capsys.readouterr().err


def test_the_effort_may_be_chosen_but_not_be_negative(
    files: dict[str, str], capsys: Captured
) -> None:
    command = ["recover", files["net.bif"], files["mar.txt"], "--effort"]
    assert main([*command, "2"]) == 0
    assert "4 of 4 are recoverable" in capsys.readouterr().out
    assert main([*command, "-1"]) == 1
    assert "effort is -1.0, not a positive number" in capsys.readouterr().err
