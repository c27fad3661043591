"""Netica's DNE, with tables typed by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from lacunet.errors import LacunetWarning
from lacunet.network.formats import dne
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

HEAD = """// ~->[DNET-1]->~
bnet Visits {
autoupdate = TRUE;
comment = "two lines; with {braces}\\n\\
    and // no comment";

visual V1 {
    nodefont = font {shape= "Arial"; size= 9;};
    NodeSet Nature {BuiltIn = 1; Color = 0x00F8EED2;};
    };

node Note {
    kind = CONSTANT;
    discrete = FALSE;
    title = "about this net";
    };
node A {
    kind = NATURE;
    discrete = TRUE;
    chance = CHANCE;
    states = (a0, a1);
    parents = ();
    probs =
        // a0     a1
        (0.25,  0.75);
    visual V1 { center = (174, 72); height = 17; };
    };
node B { discrete = TRUE; states = (b0, b1, b2); parents = (); probs = (0.5, 0.25, 0.25); };
"""
FLAT = """(0.125, 0.875,   // a0 b0
           0.25, 0.75, 0.375, 0.625, 0.5, 0.5, 0.625, 0.375, 0.75, 0.25)"""
NESTED = """(((0.125, 0.875), (0.25, 0.75), (0.375, 0.625)),
            ((0.5, 0.5), (0.625, 0.375), (0.75, 0.25)))"""


def read(node: str) -> Network:
    return dne.parse(Source.of("net.dne", f"{HEAD}{node}\n}};\n"))


@pytest.mark.parametrize("numbers", [FLAT, NESTED], ids=["flat", "nested"])
def test_the_child_runs_fastest_and_the_first_parent_slowest(numbers: str) -> None:
    network = read(f"node C {{ states = (c0, c1); parents = (A, B); probs = {numbers}; }};")
    assert network.variables == ("A", "B", "C")  # a constant is a remark
    assert network.parents("C") == ("A", "B")
    np.testing.assert_array_equal(network.cpt("A").table, [0.25, 0.75])
    np.testing.assert_array_equal(
        network.cpt("C").table,
        [
            [[0.125, 0.875], [0.25, 0.75], [0.375, 0.625]],
            [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]],
        ],
    )


@pytest.mark.parametrize("states", ["lo, #1, hi, #1, lo, #0", "(lo, hi, hi), (hi, lo, lo)"])
def test_a_deterministic_node_names_its_states_or_their_numbers(states: str) -> None:
    network = read(
        "node C { chance = DETERMIN; states = (lo, hi); parents = (A, B); "
        f"functable = ({states}); }};"
    )
    assert network.cpt("C").table[..., 1].tolist() == [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]


def test_an_impossible_state_has_the_probability_zero() -> None:
    network = read("node C { states = (c0, c1); parents = (A); probs = (@imposs, 1, 0.5, 0.5); };")
    assert network.cpt("C").table.tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_levels_are_the_cut_points_of_a_continuous_variable() -> None:
    network = read(
        "node C { discrete = FALSE; levels = (-INFINITY, 18, 40, 65); parents = (); "
        "probs = (0.5, 0.25, 0.25); };"
    )
    assert network.states("C") == ("<18", "[18,40)", "[40,65]")
    assert network.cuts_of["C"] == (-math.inf, 18, 40, 65)
    named = read(
        "node C { discrete = FALSE; states = (young, old); levels = (0, 40, INFINITY); "
        "parents = (); probs = (0.5, 0.5); };"
    )
    assert named.states("C") == ("young", "old")
    assert named.cuts_of["C"] == (0, 40, math.inf)


def test_states_without_names_have_their_values_or_numbers() -> None:
    network = read(
        "node C { numstates = 2; parents = (); probs = (0.5, 0.5); };"
        "node D { levels = (2, 3.5); parents = (); probs = (0.5, 0.5); };"
    )
    assert network.states("C") == ("0", "1")
    assert network.states("D") == ("2", "3.5")


def test_a_file_without_tables_is_a_structure() -> None:
    text = (
        "bnet N { node A { states = (x, y); parents = (); }; "
        "node B { states = (z, w); parents = (A, ); }; };"
    )
    network = dne.parse(Source.of("net.dne", text))
    assert network.edges == (("A", "B"),)
    assert not network.has_cpts


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("node U { kind = UTILITY; };", r"net.dne:29: node 'U'.*'UTILITY'"),
        ("node D { kind = DECISION; states = (x, y); };", r"net.dne:29.*'DECISION'"),
        ("node C { discrete = FALSE; parents = (); };", r"net.dne:29"),
        (
            "node C { states = (x, y); parents = (A); delays = (1); };",
            r"net.dne:29.*'C'",
        ),
        (
            'node C { states = (x, y); parents = (A); equation = "C (A) = A"; };',
            r"net.dne:29: the CPT of 'C'",
        ),
        ("node C { states = (x, y); parents = (Z); };", r"net.dne:29: 'C'.*'Z'"),
        ("node C { states = (x, y); parents = (, A); };", r"net.dne:29: found '\(, A\)'"),
        (
            "node C { states = (x, y); parents = (); probs = (0.5, 0.5, 0); };",
            r"net.dne:29: the CPT of 'C' has 3",
        ),
        (
            "node C { states = (x, y); parents = (A, B); probs = "
            f"{NESTED.replace('), (0.25, 0.75)', ', 0.25, 0.75)', 1)}; }};",
            r"net.dne:29.*CPT of 'C' hold 4",
        ),
        (
            "node C { states = (x, y); parents = (); functable = (z); };",
            r"net.dne:29.*'z', but 'C'.*'x', 'y'",
        ),
        (
            "node C { discrete = FALSE; levels = (3, 2); parents = (); };",
            r"net.dne:29.*'C'",
        ),
        (
            "node C { discrete = FALSE; levels = (nan, 2); parents = (); };",
            r"net.dne:29: found 'nan'",
        ),
        (
            "node C { states = (x, y, z); discrete = FALSE; levels = (1, 2); parents = (); "
            "probs = (0.5, 0.25, 0.25); };",
            "net.dne: variable 'C' has 3",
        ),
        ("node C { states = (x, y); states = (x, y); };", r"net.dne:29.*'states'"),
        ("node C { numstates = many; };", r"net.dne:29: found 'many'"),
        ("nodes", r"net.dne:29: found 'nodes'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(node: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(node)


def test_a_text_cut_anywhere_is_refused() -> None:
    text = f"{HEAD}node C {{ states = (c0, c1); parents = (A, B); probs = {NESTED}; }};\n}}"
    dne.parse(Source.of("net.dne", text))
    for length in range(len(text)):
        with pytest.raises(FormatError):
            dne.parse(Source.of("net.dne", text[:length]))


def test_braces_without_end_are_refused_without_a_traceback() -> None:
    with pytest.raises(FormatError, match="file"):
        dne.parse(Source.of("net.dne", "bnet N {" + "a = b {" * 100_000))


def test_the_name_of_a_file_says_that_netica_wrote_it_and_other_formats_are_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "visits.dne"
    path.write_bytes(f"{HEAD.replace('two lines', 'für 2 Zeilen')}}};\n".encode("latin-1"))
    with pytest.warns(LacunetWarning, match="UTF-8.*Latin-1"):
        network = read_network(path)
    assert network.variables == ("A", "B")
    with pytest.raises(FormatError, match=r"\.dne"):
        write_network(network, tmp_path / "again.dne")
