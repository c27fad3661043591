from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacunet.learning.learn import learn
from lacunet.missingness.errors import MissingnessGraphError, without_mechanism
from lacunet.missingness.graph import MissingnessGraph, graph_of
from lacunet.missingness.graph_text import parse_statements
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism, Node
from strategies import networks

SURVEY = Network(
    {name: ["no", "yes"] for name in ["Age", "Income", "Job", "Place of birth"]},
    {"Income": ["Age", "Job"]},
)
HOSTILE = st.text(
    st.sampled_from('abR[]"\\;,#<->: \n\r\t\x85\u2028é'), min_size=1, max_size=6
) | st.sampled_from(["R", "R[A]", "->", "<->", "#", '"', "a-", "-a", "a->b"])


@st.composite
def graphs(draw: st.DrawFn) -> MissingnessGraph:
    network = draw(networks(names=HOSTILE, max_variables=4))
    names = list(network.variables)
    partial = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    causes: dict[str, list[Node]] = {
        name: [
            *draw(st.lists(st.sampled_from(names), max_size=2)),
            *(Mechanism(other) for other in partial[:at] if draw(st.booleans())),
        ]
        for at, name in enumerate(partial)
    }
    nodes: list[Node] = [*names, *map(Mechanism, partial)]
    pairs = draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=3))
    return MissingnessGraph(network, causes, [pair for pair in pairs if pair[0] != pair[1]])


@given(graphs())
def test_a_graph_reads_back_from_its_text(graph: MissingnessGraph) -> None:
    if graph.causes or graph.hidden:
        assert MissingnessGraph.parse(str(graph), graph.network) == graph


@given(graphs())
def test_a_graph_comes_back_from_networkx(graph: MissingnessGraph) -> None:
    assert MissingnessGraph.from_networkx(graph.to_networkx(), graph.network) == graph


def test_a_graph_is_written_to_a_file_and_read_back(tmp_path: Path) -> None:
    graph = MissingnessGraph.parse('Age -> R[Income]; "Place of birth" <-> R[Job]', SURVEY)
    graph.write(tmp_path / "mechanisms.txt")
    assert MissingnessGraph.read(tmp_path / "mechanisms.txt", SURVEY) == graph


def test_several_parents_comments_and_bare_mechanisms_are_understood() -> None:
    graph = MissingnessGraph.parse(
        '# why\r\nAge, "Place of birth" -> R[Income]  # two causes\nR[Income]->R[Job];;R["Age"]\n',
        SURVEY,
    )
    assert dict(graph.causes) == {
        "Age": (),
        "Income": ("Age", "Place of birth"),
        "Job": (Mechanism("Income"),),
    }


def test_an_edge_of_the_network_may_be_repeated() -> None:
    graph = MissingnessGraph.parse("Age -> Income; Age -> R[Income]", SURVEY)
    assert graph == MissingnessGraph.parse("Age -> R[Income]", SURVEY)


def test_two_variables_may_share_a_hidden_cause() -> None:
    assert MissingnessGraph.parse("Age <-> Job", SURVEY).hidden == (("Age", "Job"),)


def test_mechanisms_may_be_given_as_texts_from_python() -> None:
    graph = MissingnessGraph(SURVEY, {"Job": ["R[Income]", 'R["Place of birth"]']})
    assert graph.causes["Job"] == (Mechanism("Income"), Mechanism("Place of birth"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Agee -> R[Income]", r"'Agee'"),
        ("Age -> R[Incom]", r"R\[Incom\].*'Incom'"),
        ("R[Income] -> Age", r"mechanism"),
        ("Income -> Age", r"network"),
        ("R[Age] -> R[Job]; R[Job] -> R[Age]", r"R\[\w+\] -> R\[\w+\] -> R"),
        ("R[Age] -> R[Age]", r"R\[Age\]"),
        ("Age <-> Age", r"itself"),
        ("R[Age]\nAge -> ", r"line 2, column 8"),
        ("Age R[Job]", r"line 1, column 5: expected '->'"),
        ('Age -> R["Job', r"line 1, column 10"),
        ("Age -> R[Job", r"line 1, column 13: expected '\]'"),
        ("Age -> R[Job] R[Income]", r"line 1, column 15: expected '->', '<->' or '<='"),
        ("Age ← R[Job]", r"line 1, column 5"),
        ("Age, R[Job]", r"line 1, column 11"),
        ("R(Age), R.Job", r"line 1, column 13"),
        ("R(Income) -> R[Job]", r"'R\(Income\)'"),
        (
            "Age -> R[Job], Job -> R[Income]",
            r"column 14: .* two ways(?s:.)*'Age -> R\[Job\]; Job -> R\[Income\]'.*"
            r"'Age -> R\[Job\]; Age -> Job; R\[Job\] -> R\[Income\]; Job -> R\[Income\]'",
        ),
        ("", r"R\[X\]"),
        ("Age, Job -> Income", r"R\[X\]"),
        ("# R[Age]\n;", r"R\[X\]"),
        ("Age", r"line 1, column 3"),
        ("Age <- R[Job]", r"line 1, column 5"),
        ("Age > R[Job]", r"line 1, column 5"),
        ("Age ~> R[Job]", r"line 1, column 6"),
        ("Age [ R[Job]", r"line 1, column 5"),
    ],
)
def test_what_cannot_be_a_graph_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(MissingnessGraphError, match=message):
        MissingnessGraph.parse(text, SURVEY)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("R[Age], R[Job]", "R[Age]; R[Job]"),
        ("Age -> R[Income] -> R[Job]", "Age -> R[Income]; R[Income] -> R[Job]"),
        ("Age, Job -> R[Income], R[Age]", "Age, Job -> R[Income]; Age, Job -> R[Age]"),
        ("Age <-> R[Job] -> R[Income]", "Age <-> R[Job]; R[Job] -> R[Income]"),
        ("Age → R[Income] ⟶ R[Job]", "Age -> R[Income]; R[Income] -> R[Job]"),
        ("Age=>R[Income] --> R[Job]", "Age -> R[Income]; R[Income] -> R[Job]"),
        ("Age <=> R[Income]", "Age <-> R[Income]"),
        ("Age ↔ R[Job]; Age⟷R[Income]", "Age <-> R[Job]; Age <-> R[Income]"),
        ("R_Income; Age -> R_Job", "R[Income]; Age -> R[Job]"),
        ("Age -> R[Job], Income -> R[Job]", "Age -> R[Job]; Income -> R[Job]"),
        ("Age -> R_Job, Age -> R_Income", "Age -> R[Job]; Age -> R[Income]"),
        ("Age -> Income, Income -> R[Job]", "Age -> Income; Income -> R[Job]"),
    ],
)
def test_lists_chains_and_arrows_of_any_kind_are_read(text: str, same: str) -> None:
    assert MissingnessGraph.parse(text, SURVEY) == MissingnessGraph.parse(same, SURVEY)


def test_a_variable_may_be_called_like_a_mechanism() -> None:
    network = Network({name: ["no", "yes"] for name in ("A", "B", "R_B")}, {"R_B": ["A"]})
    assert MissingnessGraph.parse("A -> R_B; A -> R[B]", network).causes == {"B": ("A",)}


def test_edges_in_place_of_a_network_are_answered_with_one() -> None:
    edges: Any = [("Age", "Income"), ("Job", "Income")]
    with pytest.raises(NetworkError, match=r"not list.*\n.*Network.from_data\(data, edges\)"):
        MissingnessGraph(edges, {"Job": "Age"})


def test_a_graph_comes_from_a_value_its_text_or_a_path(tmp_path: Path) -> None:
    graph = MissingnessGraph.parse("Age -> R[Income]", SURVEY)
    path = tmp_path / "mechanisms.txt"
    graph.write(path)
    for value in (graph, "Age -> R[Income]", "Age → R[Income]", path, str(path)):
        assert graph_of(value, SURVEY) == graph
    assert graph_of(graph.to_networkx(), SURVEY) == graph
    assert graph_of("R[Age]", SURVEY).causes == {"Age": ()}


def test_what_stands_for_no_graph_is_refused() -> None:
    with pytest.raises(MissingnessGraphError, match="3 is"):
        graph_of(3, SURVEY)
    with pytest.raises(MissingnessGraphError, match=r"'nowhere.txt'"):
        graph_of("nowhere.txt", SURVEY)
    other = Network({name: ["a", "b"] for name in SURVEY.variables}, {"Income": ["Age", "Job"]})
    with pytest.raises(MissingnessGraphError, match="'Age'"):
        graph_of(MissingnessGraph.parse("R[Age]", other), SURVEY)


def test_a_text_in_another_place_is_refused_with_the_place_that_is_meant() -> None:
    text: Any = "Age -> R[Job]"
    network: Any = SURVEY
    for made_of in ((network, text), (text, network), (text,)):
        with pytest.raises(MissingnessGraphError, match=r"MissingnessGraph.parse\(.*, network\)"):
            MissingnessGraph(*made_of)
    with pytest.raises(MissingnessGraphError, match="comes"):
        MissingnessGraph.parse(network, text)


def test_the_data_that_a_graph_is_held_against_are_of_any_kind() -> None:
    graph = MissingnessGraph.parse("R[Age]", SURVEY)
    rows = {name: list(SURVEY.states(name)) for name in SURVEY.variables}
    assert graph.check_data(rows) == (
        "the data show every value of 'Age', which the graph lets go missing",
    )
    with pytest.raises(MissingnessGraphError, match="'Job'"):
        graph.check_data(pd.DataFrame(rows | {"Job": [None, "no"]}))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingnessGraphError, match=r"nowhere.txt"):
        MissingnessGraph.read(tmp_path / "nowhere.txt", SURVEY)
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MissingnessGraphError, match="text"):
        MissingnessGraph.read(tmp_path / "bytes.txt", SURVEY)


def test_a_node_of_networkx_that_is_nothing_is_named() -> None:
    graph = MissingnessGraph.parse("Age -> R[Job]", SURVEY).to_networkx()
    graph.add_edge(3, Mechanism("Job"))
    with pytest.raises(MissingnessGraphError, match="3 is"):
        MissingnessGraph.from_networkx(graph, SURVEY)


def test_a_graph_takes_a_result_and_a_single_cause() -> None:
    result = learn(SURVEY, {name: [*SURVEY.states(name)] * 2 for name in SURVEY.variables})
    one, two, *_ = SURVEY.variables
    graph = MissingnessGraph(result, {two: one})
    assert graph == MissingnessGraph(SURVEY, {two: [one]}).with_edges_of(result.network)
    assert MissingnessGraph(SURVEY, {two: Mechanism(one)}).causes[two] == (Mechanism(one),)
    assert MissingnessGraph.from_networkx(graph.to_networkx(), result) == graph


@pytest.mark.parametrize(
    "name", ["Missing_Income", "Income_missing", "M_Income", "is_missing(Income)", "Income.NA"]
)
def test_another_name_of_a_mechanism_is_answered_with_ours(name: str) -> None:
    error = MissingnessGraphError.unknown_variable(name, ["Age", "Income"])
    assert error.hint == "did you mean R[Income]?"


@pytest.mark.parametrize("text", ["Age group -> R[Ill]", "Ill -> R[Age group]"])
def test_a_name_with_a_space_is_answered_with_quotes(text: str) -> None:
    with pytest.raises(MissingnessGraphError, match=r'R\["X Y"\]'):
        list(parse_statements(text))


def test_a_hint_on_a_mechanism_can_be_written_as_it_is() -> None:
    hint = without_mechanism(["Age group", "Ill"]).hint
    assert 'R["Age group"]; R[Ill]' in hint
    network = Network({"Age group": ["0", "1"], "Ill": ["0", "1"]})
    assert len(MissingnessGraph.parse('R["Age group"]; R[Ill]', network).causes) == 2
    error = MissingnessGraphError.unknown_variable("R_Age group", ["Age group"])
    assert error.hint == 'did you mean R["Age group"]?'


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("A -> R[B", r"close the mechanism: R\[B\]"),
        ("A -> R[B]]", r"as in 'Age -> R\[Income\]'"),
        ("A -> ", r"as in 'Age -> R\[Income\]'"),
        ("A - R[B]", r"as in 'Age -> R\[Income\]'"),
        ("A b -> R[B]", "goes in quotes"),
    ],
)
def test_what_cannot_be_read_is_answered_with_what_can(text: str, way: str) -> None:
    with pytest.raises(MissingnessGraphError, match=f"{way}"):
        list(parse_statements(text))
