"""Hugin's NET, with tables typed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lacunet.errors import LacunetWarning
from lacunet.network.formats import net
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

HEAD = """net
{
  node_size = (80 40);
  HR_Desc = "A text; with {braces},
and % two lines";
}
node A % a comment; with "signs
{
  label = "Age \\"of\\" A";
  states = ("50%" "> 50 (old)");
  position = (1 2);
}
discrete node B { states = (b0 b1 "b 2"); }
node C { states = ("c0" "c1"); }
potential (A) { data = ( 0.25 0.75 ); }
potential (B) { data = ( 0.5 0.25 0.25 ); }
"""


def read(potential: str) -> Network:
    return net.parse(Source.of("net.net", HEAD + potential))


@pytest.mark.parametrize(
    "data",
    [
        """(((0.125 0.875)   % A=a0 B=b0
             (0.25 0.75) (0.375 0.625))
            ((0.5 0.5) (0.625 0.375) (0.75 0.25)))""",
        "( 0.125 0.875 0.25 0.75 0.375 0.625 0.5 0.5 0.625 0.375 0.75 0.25 )",
    ],
    ids=["nested", "flat"],
)
def test_the_child_runs_fastest_and_the_first_parent_slowest(data: str) -> None:
    network = read(f"potential ( C | A B ) {{ data = {data}; experience = (10 10); }}")
    assert network.states("A") == ("50%", "> 50 (old)")
    assert network.states("B") == ("b0", "b1", "b 2")
    assert network.parents("C") == ("A", "B")
    np.testing.assert_array_equal(
        network.cpt("C").table,
        [
            [[0.125, 0.875], [0.25, 0.75], [0.375, 0.625]],
            [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]],
        ],
    )


@pytest.mark.parametrize(
    ("potential", "message"),
    [
        ("", r"net.net.*CPT of 'C'"),
        ("potential (C) { }", r"net.net:17: the CPT of 'C'"),
        ("potential (C) { dat = (0.5 0.5); }", r"net.net:17: found 'dat =' where 'data' of 'C'"),
        ("potential (C) { data = (0.5 0.5; }", r"net.net:17"),
        ("potential (C) { data = (0.5) (0.5); }", r"net.net:17"),
        ("potential (C) { data = ((0.5 0.5)); }", r"net.net:17.*CPT of 'C'"),
        (
            "potential (C | A) { data = (((0.5 0.5)) (0.5 0.5)); }",
            r"net.net:17.*CPT of 'C' hold 2",
        ),
        ("potential (C) { data = (0.5 0.25 0.25); }", r"net.net:17.*3 numbers"),
        ("potential (C) { data = (0.5 half); }", r"net.net:17: the CPT of 'C' holds 'half'"),
        ("potential (C | D) { }", r"net.net:17: 'C'.*'D'"),
        ("potential (C) { model_data = (x); }", r"net.net:17: the CPT of 'C'"),
        ("potential (A) { }", r"net.net:17.*'A'"),
        ("potential (C) { data = (1 0); data = (0 1); }", r"net.net:17.*'data'"),
        ("node D { }", r"net.net:17: variable 'D'"),
        ("node D { states = (a b; }", r"net.net:17.*'D'"),
        ('node D { states = ("a""b"); }', r"net.net:17.*'D'"),
        ("node A { states = (a b); }", r"net.net:17: variable 'A'"),
        ("utility U { }", r"net.net:17.*'utility'"),
        ("decision D { }", r"net.net:17.*'decision'"),
        ("nod", r"net.net:17: found 'nod'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(potential: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(potential)


@pytest.mark.parametrize(
    ("states", "what"),
    [
        ({"very low": ["x"]}, "the variable name 'very low'"),
        ({"1A": ["x"]}, "the variable name '1A'"),
        ({"A": ['5"']}, "the state '5\"' of 'A'"),
        ({"A": ["C:\\"]}, "the state 'C:"),
    ],
)
def test_what_net_cannot_quote_is_refused(states: dict[str, list[str]], what: str) -> None:
    with pytest.raises(FormatError, match=f"{what}"):
        net.render(Network(states))


def test_counts_are_divided_by_the_sums_of_their_rows_with_a_note() -> None:
    with pytest.warns(LacunetWarning, match="net.net.*'C'"):
        network = read("potential (C | A) { data = ((3 1) (0 12)); }")
    np.testing.assert_array_equal(network.cpt("C").table, [[0.75, 0.25], [0.0, 1.0]])


@pytest.mark.parametrize("data", ["((3 1) (0 0))", "((3 1) (0.5 0.25))", "((3 -1) (1 1))"])
def test_what_are_neither_counts_nor_probabilities_is_refused(data: str) -> None:
    with pytest.raises(FormatError, match=r"net.net:17: the CPT of 'C'"):
        read(f"potential (C | A) {{ data = {data}; }}")


def test_ones_and_zeros_alone_are_probabilities() -> None:
    network = read("potential (C | A) { data = ((1 0) (0 1)); }")  # a warning would be an error
    np.testing.assert_array_equal(network.cpt("C").table, [[1, 0], [0, 1]])


def test_names_may_be_numbers() -> None:
    text = """net { } node 12 { states = ("a" "b"); } node 3x { states = ("c" "d"); }
    potential ( 12 ) { data = (0.5 0.5); } potential ( 3x | 12 ) { data = ((1 0) (0 1)); }"""
    network = net.parse(Source.of("net.net", text))
    assert network.parents("3x") == ("12",)


def test_a_file_in_latin_1_is_read_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "old.net"
    text = 'net { } node A { states = ("größer" "kleiner"); } potential (A) { data = (0.5 0.5); }'
    path.write_bytes(text.encode("latin-1"))
    with pytest.warns(LacunetWarning, match=r"old\.net.*Latin-1"):
        assert read_network(path).states("A") == ("größer", "kleiner")
    path.write_text(text, encoding="utf-8")
    assert read_network(path).states("A") == ("größer", "kleiner")
