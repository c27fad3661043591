"""What is exported does what the studio does, to the last digit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import exported, finish, keep, served

import lacunet as lc
from lacunet.cli import main
from lacunet.data.query_text import parse_query, split_query
from lacunet.errors import LacunetError
from lacunet.learning.result import Result, read_learned
from lacunet.network.edges import edges_of
from lacunet.network.network import Network
from lacunet.network.nodes import node_text
from lacunet.show.studio.commands import (
    network_words,
    python_text,
    query_words,
    question_in_address,
    shell_text,
)
from lacunet.show.studio.project import Project, ProjectError, project_from
from lacunet.show.studio.sketch import sketch_of

EXACT = 1e-12
PROJECTS: dict[str, dict[str, Any]] = {
    "em": {
        "graph": "Age -> Ill -> Test; Sex",
        "bins": {"Age": "3"},
        "missing": {"Test": ["9"]},
        "method": "em",
        "seed": 3,
        "asked": "#Ill=yes&Test",
    },
    "graph": {
        "graph": 'Age -> Ill; Age -> R[Ill]; "Sex" -> Ill; R[Age]; R[Sex]',
        "bins": {"Age": "0,30,inf"},
        "states": {"Sex": ["f", "m", "a, b"]},
        "pseudo_counts": 0.0,
        "level": 0.9,
        "asked": "#Age=%5B0%2C30)",
    },
    "weights": {"graph": "Sex -> Ill", "weight": "W", "method": "direct-mcar", "level": 0.0},
    "learned pseudo-counts": {
        "graph": "Sex -> Ill",
        "method": "em",
        "pseudo_counts": "learn",
        "level": 0.0,
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(25)
    lines = ["Age,Sex,Ill,Test,W"]
    for _ in range(400):
        age, sex = int(rng.integers(1, 90)), "fm"[rng.integers(2)]
        ill = "yes" if rng.random() < age / 120 else "no"
        test = "pos" if (ill == "yes") == (rng.random() < 0.85) else "neg"
        cells = [str(age), sex, ill, test if rng.random() < 0.8 else "9"]
        cells = [cell if rng.random() < 0.85 else "" for cell in cells]
        lines.append(",".join([*cells, f"{rng.uniform(1, 3):.3f}"]))
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    "kind", ["em", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("graph", "weights"))]
)
def test_exported_commands_give_the_numbers_of_the_studio(folder: Path, kind: str) -> None:
    with served(folder) as server:
        keep(server, data="people.csv", **PROJECTS[kind])
        job = finish(server)
        assert job["status"] == "done", job["message"]
        notes = server.studio.runs.known("1")["notes"]
        assert notes
        assert not any(note.startswith(("{", "lacunet:", "note:")) for note in notes)
        studio = read_learned(server.studio.runs.file("1", "learned.json"))
        # What is said later changes neither the run that is shown nor its code.
        later = {"graph": "Sex -> Test", "method": "listwise", "seed": 99, "level": 0.5, "bins": {}}
        keep(server, run=1, **later)
        code, other = exported(server)
        assert code["title"] == "run 1"
        assert code["note"] == ""
        assert "--seed 99" in other["shell"]
    _run_in_shell(code["shell"], folder)
    by_shell = read_learned(folder / "lacunet-studio" / "learned.json")
    shutil.rmtree(folder / "lacunet-studio")
    _run([sys.executable, "-c", code["python"]], folder)
    by_python = read_learned(folder / "lacunet-studio" / "learned.json")
    for found in (by_shell, by_python):
        _assert_same(found, studio)


def _assert_same(found: Result | Network, expected: Result | Network) -> None:
    """The same CPTs, and the same intervals where there are some."""
    assert isinstance(found, Result) == isinstance(expected, Result)
    if isinstance(found, Result) and isinstance(expected, Result):
        for name in expected.network.variables if expected.uncertainty is not None else ():
            ends = found.interval(name, 0.9), expected.interval(name, 0.9)
            np.testing.assert_allclose(*ends, rtol=0, atol=EXACT)
        found, expected = found.network, expected.network
    assert isinstance(found, Network)
    assert isinstance(expected, Network)
    assert found.states_of == expected.states_of
    assert found.cuts_of == expected.cuts_of
    for cpt in expected.cpts:
        own = found.cpt(cpt.child)
        assert own.parents == cpt.parents
        np.testing.assert_allclose(own.table, cpt.table, rtol=0, atol=EXACT)


def _run_in_shell(text: str, folder: Path) -> None:
    _run(["sh", "-ec", f'lacunet() {{ "{sys.executable}" -m lacunet "$@"; }}\n{text}'], folder)


@pytest.mark.slow
def test_the_code_of_two_results_side_by_side_learns_both(folder: Path) -> None:
    with served(folder) as server:
        for seed in (1, 2):
            said = {"graph": "Sex -> Ill", "method": "em", "level": 0.9, "seed": seed}
            keep(server, data="people.csv", **said)
            assert finish(server)["status"] == "done"
        assert finish(server, "beside", runs=[1, 2])["name"] == "3"
        keep(server, run=3, asked="#Sex=f", seed=2)
        studio = [read_learned(server.studio.runs.file(name, "learned.json")) for name in "12"]
        (code,) = exported(server)  # the settings are still those of the second
        texts = [run["words"] for run in server.studio.runs.finished() if run["kind"] == "learn"]
        assert [text.rpartition(", ")[-1] for text in texts] == ["seed 2", "seed 1"]
    places = [folder / "lacunet-studio" / one for one in ("first", "second", "page.html")]
    for does in ("shell", "python"):
        if does == "shell":
            _run_in_shell(code["shell"], folder)
        else:
            _run([sys.executable, "-c", code["python"]], folder)
        for place, expected in zip(places, studio, strict=False):
            _assert_same(read_learned(place / "learned.json"), expected)
            shutil.rmtree(place)
        assert '"other"' in places[-1].read_text(encoding="utf-8")
        places[-1].unlink()


def test_a_table_that_was_changed_after_learning_is_named(folder: Path) -> None:
    with served(folder) as server:
        said = {"graph": "Sex -> Ill", "method": "listwise", "level": 0.0}
        keep(server, data="people.csv", **said)
        assert finish(server)["status"] == "done"
        keep(server, run=1)
        (code,) = exported(server)
        assert code["note"] == ""
        with (folder / "people.csv").open("a") as rows:
            rows.write("50,f,yes,pos,1\n")
        (code,) = exported(server)
        assert code["note"].startswith("people.csv was changed after run 1")
        (folder / "people.csv").unlink()
        (code,) = exported(server)
        assert "people.csv" in code["note"]


def _run(words: list[str], folder: Path) -> str:
    ended = subprocess.run(
        words, cwd=folder, env=os.environ, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_intervals_and_answers_of_the_python_are_those_of_the_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(data="people.csv", **PROJECTS["em"])
    with served(folder) as server:
        keep(server, data="people.csv", **PROJECTS["em"])
        assert finish(server)["status"] == "done"
        page = server.studio.runs.file("1", "page.html").read_text()
    start = page.index('id="page-data">') + len('id="page-data">')
    shown = json.loads(page[start : page.index("</script>", start)])
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(python_text(project, "lacunet-studio"), names)
    result: Result = names["result"]
    for variable, ends in zip(shown["variables"], shown["live"]["intervals"], strict=True):
        own = result.query(variable["name"], level=0.95).interval
        np.testing.assert_allclose(ends, own, rtol=0, atol=5.1e-7)  # carried to six decimals


def test_what_is_set_to_an_interval_is_set_in_the_exported_command() -> None:
    project = Project(graph="Age -> Ill; Sex -> Ill", asked="#do(Age)=%5B0%2C30)&Sex=m|x&Ill")
    assert split_query(query_words(project, "work")[2]) == (["Ill"], ["Sex=m|x"], ["Age=[0,30)"])


def test_one_of_several_states_is_in_the_exported_command() -> None:
    project = Project(graph="Age -> Ill", asked="#Age=%5B0%2C30)&Age=a|b&Ill")
    command = query_words(project, "work")
    network = Network({"Age": ["[0,30)", "a|b", "c"], "Ill": ["no", "yes"]})
    assert parse_query(command[2], network).given == {"Age": ["[0,30)", "a|b"]}
    assert "{'Age': ['[0,30)', 'a|b']}" in python_text(project, "work")


def test_likelihoods_are_in_the_exported_command() -> None:
    project = Project(graph="Age -> Ill", asked="#Age~%5B0%2C30)=0.25&Age~a%7Eb=2&Age~c=0&Ill")
    command = query_words(project, "work")
    network = Network({"Age": ["[0,30)", "a~b", "c"], "Ill": ["no", "yes"]})
    weights = {"Age": {"[0,30)": 0.25, "a~b": 2, "c": 0}}
    assert parse_query(command[2], network).given == weights
    assert repr(weights) in python_text(project, "work").replace("2.0", "2").replace("0.0", "0")
    with pytest.raises(LacunetError, match="much"):
        question_in_address("#Age~c=much", ["Age"])


def test_the_question_is_what_the_address_says() -> None:
    assert question_in_address("#A=a%26b&C", "ABC") == (["C"], {"A": "a&b"}, {})
    assert question_in_address("#A=x", "ABC") == (["B", "C"], {"A": "x"}, {})
    assert question_in_address("#do(A)=x&B=y", "ABC") == (["C"], {"B": "y"}, {"A": "x"})
    assert question_in_address("#do(a%20b)=x", ["a b", "C"]) == (["C"], {}, {"a b": "x"})
    assert question_in_address("", "AB") == ([], {}, {})
    several = ["C"], {"A": ["x", "y"]}, {"B": "z"}
    assert question_in_address("#A=x&do(B)=z&A=y", "ABC") == several


@given(
    st.lists(st.text(min_size=1, max_size=6).filter(str.strip), min_size=2, max_size=4, unique=True)
)
def test_names_of_any_kind_go_through_both_texts(names: list[str]) -> None:
    text = "\n".join([*map(node_text, names), f"{node_text(names[0])} -> {node_text(names[1])}"])
    sketch = sketch_of(text)
    assert sketch.variables == tuple(names)
    edges = edges_of(sketch.edges_text)
    assert set(edges.variables) == set(names)
    assert edges.parents_of == {names[1]: (names[0],)}


@pytest.mark.parametrize(
    "said",
    [
        {"data": 5},
        {"missing": []},
        {"pseudo_counts": "2"},
        {"pseudo_counts": True},
        {"seed": -1},
        {"level": 95},
        {"nothing": ""},
        [],
    ],
)
def test_a_project_of_other_things_is_refused(said: Any) -> None:
    with pytest.raises(ProjectError):
        project_from(said)


def test_names_with_signs_go_through_the_options_of_the_exported_commands(tmp_path: Path) -> None:
    rows = pd.DataFrame({"Sex=m": [1, 2, 1, 2] * 30, "Q: 1": [None, "u", None, "9"] * 30})
    rows["b=c"] = rows.index * 1.5
    rows.to_csv(tmp_path / "r.csv", index=False)
    project = Project(
        data=str(tmp_path / "r.csv"),
        graph='"Sex=m" -> "Q: 1"; "b=c"',
        states={"Sex=m": ("2", "1"), "Q: 1": ("u", "v")},
        bins={"b=c": "2"},
        missing={"b=c": ("0",), "Q: 1": ("9",)},
        not_asked={"Q: 1": "Sex=m=1"},
    )
    assert main(network_words(project, tmp_path.as_posix())) == 0
    made = lc.read_network(tmp_path / "network.json")
    assert made.states("Sex=m") == ("2", "1")
    assert made.states("Q: 1") == ("u", "v", "not_asked")
    assert made.cuts_of.keys() == {"b=c"}
    assert made.codes_of["b=c"] == {"0": None}


def test_a_method_without_mechanisms_gets_none() -> None:
    graph = "A -> B; A -> R[B]"
    with_graph = Project(data="r.csv", graph=graph, method="em")
    without = Project(data="r.csv", graph=graph, method="direct-mar")
    assert "missingness='A -> R[B]'" in python_text(with_graph, "f")
    assert "missingness" not in python_text(without, "f") + shell_text(without, "f")


def test_a_method_without_a_graph_does_not_forget_a_hidden_cause_of_two_variables() -> None:
    graph = "A -> B; A <-> B; A -> R[B]; B <-> R[B]"
    with pytest.raises(LacunetError, match=r"\(A <-> B\)"):
        shell_text(Project(data="r.csv", graph=graph, method="direct-mar"), "f")
    assert "A <-> B" in shell_text(Project(data="r.csv", graph=graph, method="mgraph"), "f")


def test_a_tab_between_cells_is_one_in_the_exported_python() -> None:
    project = Project(data="r.csv", graph="A -> B", delimiter="\\t")
    assert r"delimiter='\t'" in python_text(project, "f")
    assert r"--delimiter '\t'" in shell_text(project, "f")
