"""Edges in every language that they may be written in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import lacunet as lc
from lacunet.network.edges import EdgesError, edges_of
from lacunet.network.network import Network
from strategies import networks

DIAMOND = {"B": ("A",), "C": ("A",), "D": ("B", "C")}


@pytest.mark.parametrize(
    "edges",
    [
        [("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")],
        "A -> B; A -> C; B -> D; C -> D",
        "A -> {B, C} -> D",
        "A → B ⟶ D\nA --> C ==> D  # the other way round",
        "B <- A -> C\n  -> D; D ← B",
        "[A][B|A][C|A][D|B:C]",
        "[A] [B|A]\n[C|A] [D|B:C]",
        'digraph "g" { rankdir=LR; node [shape=box]; A -> {B C} [color=red]; {B; C} -> D }',
        "strict digraph { A -> B -> D; A -> C -> D /* done */ }",
        'dag {\nbb="0,0,1,1"\nA [exposure,pos="0.1,[2]"]\nA -> B\nA -> C\nD <- B\nC -> D\n}',
        "dag{ A -> {B C}; B -> D <- C }",
        {"B": ["A"], "C": ["A"], "D": ["B", "C"]},
        nx.DiGraph([("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")]),
        ["A -> B -> D", ("A", "C"), ["C", "D"]],
    ],
    ids=str,
)
def test_every_language_draws_the_same_diamond(edges: Any) -> None:
    found = edges_of(edges)
    assert {v: set(own) for v, own in found.parents_of.items()} == {
        v: set(own) for v, own in DIAMOND.items()
    }
    assert sorted(found.variables) == list("ABCD")


@pytest.mark.parametrize(
    ("edges", "parents_of"),
    [
        ("U [latent], V -> W", {"W": ("U", "V")}),
        ('V, U [latent,pos="0.1,2"] -> W', {"W": ("V", "U")}),
        ("U -> V [outcome], W", {"V": ("U",), "W": ("U",)}),
        ("U -> V [x] -> W", {"V": ("U",), "W": ("V",)}),
        ("{U [x] V} -> W", {"W": ("U", "V")}),
        ("digraph { {U [x]; V} -> W [color=red] T -> U }", {"W": ("U", "V"), "U": ("T",)}),
        ("dag { U [x] V [y] V -> W }", {"W": ("V",)}),
    ],
)
def test_attributes_take_no_name_out_of_a_list(
    edges: str, parents_of: dict[str, tuple[str, ...]]
) -> None:
    assert edges_of(edges).parents_of == parents_of


@given(networks())
def test_a_network_its_dot_text_and_its_graph_have_the_same_edges(network: Network) -> None:
    for form in (network, network.to_dot(), network.to_networkx()):
        found = edges_of(form)
        assert found.variables == network.variables
        for name in network.variables:
            assert set(found.parents_of.get(name, ())) == set(network.parents(name))


def test_names_may_have_spaces_hyphens_and_dots_and_anything_in_quotes() -> None:
    found = edges_of('Place of birth, net-income -> "a, b; \\"c\\"" -> x.y/z; Alone')
    assert found.variables == ("Place of birth", "net-income", 'a, b; "c"', "x.y/z", "Alone")
    assert found.parents_of['a, b; "c"'] == ("Place of birth", "net-income")


def test_edges_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("A -> B\n\nB -> C\n")
    assert edges_of(tmp_path / "edges.txt").parents_of == {"B": ("A",), "C": ("B",)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.csv", "A,B\nB,C\n"),
        ("edges.csv", "from,to\nA,B\nB,C\n"),
        ("edges.csv", "Child,Parent\nB,A\nC,B\n"),
        ("edges.csv", '"","from","to","strength"\n"1","A","B",0.9\n"2","B","C",0.8\n'),
        ("edges.CSV", "\ufeffcause;effect\r\nA;B\r\n\r\nB; C\r\n"),
        ("edges.tsv", "source\ttarget\nA\tB\nB\tC\n"),
        ("edges.csv", "A -> B -> C\n"),
        ("edges.txt", "A B\nB C\n"),
        ("edges.txt", "# parents first\n\n  from   to\nA B  # known\nB  C\n"),
        ("edges.txt", '"A" "B"\n"B" C\n'),
        ("edges", "child parent\nB A\nC B\n"),
    ],
)
def test_edges_may_be_in_the_columns_of_a_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert edges_of(tmp_path / name).parents_of == {"B": ("A",), "C": ("B",)}


@pytest.mark.parametrize("text", ["A,B,C\n", "A\nB\n", "from,to\nA\n", "A,B\nC,\n"])
def test_a_line_of_a_file_that_is_no_edge_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "edges.csv").write_text(text)
    line = len(text.splitlines()) if text != "A\nB\n" else 1
    with pytest.raises(EdgesError, match=rf"edges\.csv, line {line}: \[.*\]"):
        edges_of(tmp_path / "edges.csv")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("A B\n\nB C D\n", "line 3"),
        ("A B\nC\n", "line 2"),
        ("A -> B\nB -- C\n", "line 2, column 3"),
        ("A -> B\nB -> \n", "line 2"),
    ],
)
def test_a_line_of_a_text_file_that_is_no_edge_is_named(
    tmp_path: Path, text: str, place: str
) -> None:
    (tmp_path / "edges.txt").write_text(text)
    with pytest.raises(EdgesError, match=rf"edges\.txt, {place}"):
        edges_of(tmp_path / "edges.txt")


def test_a_name_with_spaces_needs_quotes_where_spaces_stand_between(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text('"Place, of birth" Job\n')
    assert edges_of(tmp_path / "edges.txt").parents_of == {"Job": ("Place, of birth",)}


def test_files_of_edges_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_bytes(b"\xff\xfe\x00")
    for name in ("edges.txt", "no.txt"):
        with pytest.raises(EdgesError, match=name):
            edges_of(tmp_path / name)


def test_columns_with_numbers_for_names_become_strings() -> None:
    assert edges_of([(0, 1)]).parents_of == {"1": ("0",)}


def test_a_list_may_name_variables_without_edges_beside_an_edge() -> None:
    assert edges_of(["A -> B", "C"]) == edges_of("A -> B; C")
    assert edges_of("B; C").parents_of == edges_of(["C"]).parents_of == {}


def test_a_pair_of_names_is_not_taken_for_two_variables_without_edges() -> None:
    data = pd.DataFrame({"A": ["no", "yes"] * 5, "B": ["no", "yes", "yes", "no", "no"] * 2})
    for ask in (
        lc.learn,
        lambda pair, rows: lc.diagnose(rows, pair),
        lambda pair, rows: lc.Network.from_data(rows, pair),
    ):
        for pair in (("A", "B"), ["A", "B"]):
            with pytest.raises(EdgesError, match="A, B"):
                ask(pair, data)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("A ->", r"line 1, column 3"),
        ("A -> B\n-> -> C", r"line 2"),
        ("A -- B", "Bayesian"),
        ("A - B", "Bayesian"),
        ("A <-> B", "heads"),
        ("A -> ]", r"column 6: '\]'"),
        ("", "variables"),
        ("[A][B|", "string"),
        ("graph { A -- B }", "undirected"),
        ("digraph { subgraph c { A -> B } }", "subgraphs"),
        (nx.Graph([("A", "B")]), "undirected"),
        ([("A", "B", "C")], r"\('A', 'B', 'C'\)"),
        (("A", "B"), r"a list of names(?s:.)*\[\('A', 'B'\)\]; variables without edges are 'A; B'"),
        (["A", "B", "C", "D", "E"], r"A, B, C and 2"),
        (["", ""], "variables"),
        ({"B": "AB"}, "'AB'"),
        (
            "Age -> Ill, Smoker -> Test",
            r"column 11: .* two ways(?s:.)*'Age -> Ill; Smoker -> Test'.*"
            r"'Age -> Ill; Age -> Smoker; Ill -> Test; Smoker -> Test'",
        ),
        ("A <- B, C -> D <- E", r"'A <- B; C -> D; D <- E'.*'A <- B; A <- C; B -> D; C -> D; D"),
        ('A -> "b c", D, E -> F', r"""'A -> "b c", D; E -> F'"""),
        ("digraph { A -> B, C -> D }", "two ways"),
        (5, "describe"),
        ("Age,Disease\nDisease,Test", "line 1, column 1"),
        (pd.DataFrame({"x": ["A"], "y": ["B"]}), "DataFrame"),
    ],
)
def test_what_cannot_be_read_is_shown_with_its_place(edges: Any, message: str) -> None:
    with pytest.raises(EdgesError, match=message) as refusal:
        edges_of(edges)
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("edges", "same"),
    [
        ("A -> B, A -> C", "A -> B; A -> C"),
        ("A -> B, C -> A", "A -> B; C -> A"),
        ("A -> C, B -> C", "A -> C; B -> C"),
        ("A -> B, B -> C", "A -> B; B -> C"),
    ],
)
def test_a_comma_between_arrows_separates_where_a_chain_would_be_a_cycle(
    edges: str, same: str
) -> None:
    assert edges_of(edges).parents_of == edges_of(same).parents_of


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_two_columns_holds_edges(made: Any) -> None:
    frame = made({"To": ["B", "C"], "From": ["A", "B"]})
    assert edges_of(frame) == edges_of("A -> B -> C")
    learned = lc.learn(frame, {"A": [0, 1], "B": [0, 1], "C": [1, 0]})
    assert learned.network.edges == (("A", "B"), ("B", "C"))
    with pytest.raises(lc.LacunetError, match="network"):
        lc.learn(made({"A": ["x"], "B": ["y"]}), {"A": ["x"], "B": ["y"]})


def test_mechanisms_among_edges_are_answered_with_the_graph_apart() -> None:
    with pytest.raises(
        EdgesError, match=re.escape("learn('X -> Y', data, missingness='Y -> R[X]'")
    ):
        edges_of("X -> Y; Y -> R[X]")
    assert edges_of("digraph { R[color=red]; R -> X }").variables == ("R", "X")


@pytest.mark.parametrize("edges", [[("A", ["B"])], [("A", None)], [(("A", "B"), "C")]])
def test_what_is_no_name_is_no_end_of_an_edge(edges: Any) -> None:
    with pytest.raises(EdgesError, match="not the name of a variable"):
        edges_of(edges)
