"""``lacunet recover``, and learning with a missingness graph."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from examples import NOT_VERIFIED, RAIN, SCREENING
from lacunet.cli import main
from lacunet.data.query_text import split_query
from lacunet.data.write import write_table
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.formats.files import read_network, write_network
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    graph = MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)
    drawn = simulate(
        SCREENING, 3000, MissingByGraph(graph, NOT_VERIFIED), rng=np.random.default_rng(5)
    )
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
    assert out.startswith("Disease, Test -> R[Disease]\n\nMNAR: ")
    assert "P(Disease | Age): NOT RECOVERABLE" in out
    assert "P(Symptoms | Disease): RECOVERABLE" in out
    assert "P(Symptoms | Disease) = P(Symptoms | Disease, R[Disease]=1)" in out
    assert "2 of 4" in out


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
    assert "CPT of 'Disease'" in capsys.readouterr().err
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
    assert "Symptoms -> R[Disease]" in out
    assert "MCAR" in out
    assert "Disease" in out


def test_explain_forecasts_an_expectation(files: dict[str, str], capsys: Captured) -> None:
    assert main(["explain", files["net.bif"], files["rows.csv"], "--method", "em"]) == 0
    out = capsys.readouterr().out
    assert "EM step" in out
    assert "time per EM step" in out


def test_a_graph_file_that_is_not_there_is_told_in_words(
    files: dict[str, str], capsys: Captured
) -> None:
    assert main(["recover", files["net.bif"], "nowhere.txt"]) == 1
    assert "'nowhere.txt'" in capsys.readouterr().err


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
        ('X|Z="1 day, 0:00:00"', ["X"], ["Z=1 day, 0:00:00"]),
        ('X="a|b"|"do(Z"="b=c","Y"', ["X=a|b"], ["do(Z=b=c", "Y"]),
        ('X|Z=5", Y=6"', ["X"], ['Z=5"', 'Y=6"']),
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
        assert "Symptoms" in by_name["Symptoms"]["why"]
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
    assert "'Age'" in capsys.readouterr().err


def test_the_effort_may_be_chosen_but_not_be_negative(
    files: dict[str, str], capsys: Captured
) -> None:
    command = ["recover", files["net.bif"], files["mar.txt"], "--effort"]
    assert main([*command, "2"]) == 0
    assert "4 can" in capsys.readouterr().out
    assert main([*command, "-1"]) == 1
    assert "-1.0" in capsys.readouterr().err


def test_a_query_and_implications_are_both_answered(
    files: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    page = tmp_path / "page.html"
    command = ["recover", files["net.bif"], files["mar.txt"], "--query", "Disease", "--report"]
    command += [str(page), "--implications"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "RECOVERABLE" in text
    assert "Age ⊥ R[Disease] | Symptoms, Test" in text
    assert "implies" in page.read_text()
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["queries"][0]["target"] == ["Disease"]
    assert len(found["implications"]) == 1


def test_states_in_a_query_choose_the_cells_that_are_shown(
    files: dict[str, str], capsys: Captured
) -> None:
    command = ["recover", files["net.bif"], files["mar.txt"], "--data", files["rows.csv"]]
    disease, age = SCREENING.states("Disease"), SCREENING.states("Age")
    assert main([*command, "--query", f"Disease={disease[1]} | Age={age[0]}", "--intervals"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (at,) = [k for k, line in enumerate(lines) if line.split()[:2] == ["Age", "Disease"]]
    assert lines[at].split() == ["Age", "Disease", "P", "interval"]
    words = re.split(r"\s{2,}", lines[at + 1].strip())
    assert words[:2] == [age[0], disease[1]]
    value, interval = words[2], words[3].split()
    low, high = (float(end.strip("[],")) for end in interval)
    assert low < float(value) < high
    assert "rows used" in lines[at + 2]
    assert main([*command, "--query", "Disease | Age=nobody"]) == 1
    assert "'nobody'" in capsys.readouterr().err


def test_intervals_without_data_are_refused(files: dict[str, str], capsys: Captured) -> None:
    assert main(["recover", files["net.bif"], files["mar.txt"], "--intervals"]) == 1
    capsys.readouterr()


def test_what_cannot_be_recovered_comes_first_and_has_its_set(
    files: dict[str, str], capsys: Captured
) -> None:
    command = ["recover", files["net.bif"], files["mnar.txt"], "--data", files["rows.csv"]]
    assert main([*command, "--query", "Symptoms|Disease", "--query", "Disease"]) == 0
    out = capsys.readouterr().out
    more = "of the others 1 is identified for these numbers of states"
    assert "1 of 2" in out
    assert f"{more}" in out
    assert out.index("P(Disease): NOT RECOVERABLE") < out.index("P(Symptoms | Disease): REC")
    assert out.index("in almost all models") < out.index("In some models") < out.index("Two models")
    assert main([*command, "--query", "Disease", "--intervals", "--json"]) == 0
    (query,) = json.loads(capsys.readouterr().out)["queries"]
    low, high = np.array(query["set"]["low"]), np.array(query["set"]["high"])
    assert (low <= high).all()
    ends = np.array(query["set"]["interval"])
    assert (ends[:, 0] < low).all()
    assert (high < ends[:, 1]).all()


def test_rows_of_everyone_undo_a_selection(tmp_path: Path, capsys: Captured) -> None:
    network, rows = tmp_path / "net.json", tmp_path / "rows.csv"
    write_network(SCREENING, str(network))
    young, old = SCREENING.states("Age")
    graph = tmp_path / "selected.txt"
    graph.write_text("Age -> R[*]")
    mechanisms = MissingByGraph(MissingnessGraph.read(graph, SCREENING), {"*": [0.1, 0.8]})
    drawn = simulate(SCREENING, 4000, mechanisms, rng=np.random.default_rng(1))
    write_table(drawn.table, SCREENING, str(rows))
    everyone = tmp_path / "census.csv"
    everyone.write_text("\n".join(["Age", *[young] * 3, old]))
    command = ["recover", str(network), str(graph), "--data", str(rows), "--query", "Age"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"][0]["status"] == "not recoverable"
    assert main([*command, "--json", "--population", str(everyone), "--intervals"]) == 0
    (query,) = json.loads(capsys.readouterr().out)["queries"]
    np.testing.assert_allclose(query["estimate"]["table"], [0.75, 0.25], atol=1e-12)
    with pytest.raises(SystemExit, match="2"):
        main(["recover", str(network), str(graph), "--population", str(everyone)])


def test_a_network_that_was_learned_with_a_graph_knows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_network(RAIN, tmp_path / "rain.bif")
    (tmp_path / "rain.csv").write_text("Rain,Sprinkler,Wet\n" + "no,on,yes\nyes,off,\n" * 20)
    files, kept = [str(tmp_path / "rain.bif"), str(tmp_path / "rain.csv")], tmp_path / "kept.json"
    graph = ["--method", "em", "--missingness", "Rain -> R[Wet]"]
    assert main(["learn", *files, *graph, "-o", str(kept)]) == 0
    capsys.readouterr()
    assert main(["recover", str(kept)]) == 0
    assert "P(Wet | Rain, Sprinkler)" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["recover", files[0]])


def test_assumptions_have_a_line_each(files: dict[str, str], capsys: Captured) -> None:
    command = ["recover", files["net.bif"], files["mar.txt"], "--assumptions"]
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--query", "Disease"])
    command += ["--query", "Disease", "--data", files["rows.csv"]]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "Disease -> R[Disease]" in out.split("What the graph assumes")[1]
    assert main([*command, "--json"]) == 0
    (query,) = json.loads(capsys.readouterr().out)["queries"]
    assert {one["edge"] for one in query["assumptions"]} == {
        "Age -> R[Disease]",
        "Disease -> R[Disease]",
    }


@pytest.mark.parametrize(
    ("graph", "standing"),
    [
        ("Rain -> R[Wet]", "recoverable"),
        ("Wet -> R[Wet]", "not recoverable in general, but identified for these numbers of states"),
    ],
)
def test_whether_rows_can_be_completed_is_said(
    graph: str, standing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_network(RAIN, tmp_path / "rain.bif")
    assert main(["recover", str(tmp_path / "rain.bif"), graph]) == 0
    assert f"R[Wet]): {standing.upper()}\n" in capsys.readouterr().out
    assert main(["recover", str(tmp_path / "rain.bif"), graph, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["full_law"]["standing"] == standing


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("X -> Y; Y -> R[X]", "'X -> Y' 'Y -> R[X]'"),
        ("X -> Y; Y -> R_X", "'X -> Y' 'Y -> R_X'"),
        ("X -> Y", "'X -> Y' GRAPH"),
        ("X -> R[X]", "'A -> B' 'X -> R[X]'"),
    ],
)
def test_edges_and_mechanisms_in_one_text_are_answered_with_both_apart(
    text: str, write: str, capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["recover", text])
    assert ended.value.code == 2
    assert write in capsys.readouterr().err


def test_states_that_are_assumed_are_named_beside_the_verdict(
    tmp_path: Path, capsys: Captured
) -> None:
    command = ["recover", "Ill -> Test", "Ill -> R[Ill]", "--query", "Ill"]
    assert main(command) == 0
    standing = "BUT IDENTIFIED FOR THESE NUMBERS OF STATES (two, assumed for Ill, Test)"
    assert standing in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    (query,) = json.loads(capsys.readouterr().out)["queries"]
    assert query["standing"].endswith("(two, assumed for Ill, Test)")
    assert main([*command[:3], "--report", str(tmp_path / "page.html")]) == 0
    (law,) = [text for text in capsys.readouterr().out.splitlines() if "the full law" in text]
    assert law.endswith("(two, assumed for Ill, Test)")
    assert "(two, assumed for Ill, Test)" in (tmp_path / "page.html").read_text()
    assert main([*command, "--states", "Ill=no,yes", "--states", "Test=neg,pos"]) == 0
    assert "assumed" not in capsys.readouterr().out


def test_a_range_that_is_narrow_by_chance_is_said_to_be(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "rows.csv"
    shown = "no,a\n" * 20 + "no,b\n" * 40 + "no,c\n" * 30 + "no,\n" * 10
    path.write_text("Ill,Job\n" + shown + "yes,a\n" * 25 + "yes,b\n" * 15 + "yes,\n" * 60)
    command = ["recover", "Ill -> Job", "Job -> R[Job]", "--query", "Job", "--data", str(path)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "highest" in out
    caption = "Estimated from the data: the lowest and highest answer of the models"
    assert caption in out
    assert "narrower" in out
    assert main([*command, "--json"]) == 0
    (query,) = json.loads(capsys.readouterr().out)["queries"]
    assert query["set"]["is_narrow"] is True


def test_an_estimate_below_two_models_says_what_it_is(tmp_path: Path, capsys: Captured) -> None:
    path, page = tmp_path / "rows.csv", tmp_path / "page.html"
    shown = "old,no\n" * 20 + "old,yes\n" * 40 + "old,\n" * 40
    path.write_text("Age,Ill\n" + shown + "young,no\n" * 70 + "young,yes\n" * 10 + "young,\n" * 20)
    command = ["recover", "Age -> Ill", "Ill -> R[Ill]", "--query", "Ill", "--data", str(path)]
    assert main([*command, "--report", str(page)]) == 0
    out = capsys.readouterr().out
    assert "models" in out
    words = (
        "Estimated from the data: the models of the graph that fit these data best all give this "
        "answer "
        "(the two models above are an example, not these data)"
    )
    assert f"{words}; --intervals" in out
    assert f"{words}:" in page.read_text()
    assert main([*command, "--intervals"]) == 0
    assert f"  {words}:\n  Ill " in capsys.readouterr().out


def test_recover_and_effect_keep_to_the_memory(tmp_path: Path, capsys: Captured) -> None:
    write_network(SCREENING, tmp_path / "net.bif")
    drawn = simulate(SCREENING, 9000, "Age -> R[Disease]", rng=np.random.default_rng(1))
    write_table(drawn.table, SCREENING, str(tmp_path / "rows.csv"))
    files = [str(tmp_path / "net.bif"), "Age -> R[Disease]", "--data", str(tmp_path / "rows.csv")]
    recover = ["recover", *files, "--query", "Disease", "--intervals", "--json"]
    effect = [
        "effect",
        files[0],
        files[3],
        "Disease",
        "--do",
        "Age",
        "--missingness",
        files[1],
    ]
    for command in (recover, [*effect, "--json"]):
        found = []
        for memory in ([], ["--memory", "0.001"]):  # the distinct rows alone fit
            assert main([*command, *memory]) == 0
            found.append(json.loads(capsys.readouterr().out))
        assert found[0] == found[1]


def test_only_the_answers_that_rows_against_the_graph_enter_are_refused(
    tmp_path: Path, capsys: Captured
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("X,Y\n0,0\n1,1\n1,0\n,1\n0,\n")
    graph = ["recover", "X -> Y", "R[Y] <= R[X]", "--data", str(rows)]
    assert main([*graph, "--json"]) == 0
    out, err = capsys.readouterr()
    first, second = json.loads(out)["queries"]
    assert first["estimate"]["rows_used"] == 4
    against = "the graph says R[Y] <= R[X], but 1 row shows 'Y' and not 'X'"
    assert second["not_estimated"] == f"{against}: if that may be, write R[X] -> R[Y]."
    assert against in err
    assert main([*graph, "--query", "X", "--assumptions"]) == 0
    assert against in capsys.readouterr().out


def test_a_hidden_cause_among_the_edges_is_answered_with_the_two_apart(
    tmp_path: Path, capsys: Captured
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["recover", "A -> B; A <-> B"])
    assert "'A -> B' 'A <-> B'" in capsys.readouterr().err
    rows = tmp_path / "rows.csv"
    rows.write_text("A,B\n0,1\n1,0\n")
    assert main(["learn", "A -> B; A <-> B", str(rows)]) == 1
    assert "--missingness 'A <-> B'" in capsys.readouterr().err


def test_a_graph_without_mechanisms_has_no_full_law_to_complete_rows_by(capsys: Captured) -> None:
    assert main(["recover", "A -> B", "A <-> B"]) == 0
    out = capsys.readouterr().out
    assert "2 can" in out
    assert "full law" not in out
