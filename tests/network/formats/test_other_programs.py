"""Files as pyAgrum, bnlearn and Hugin write them, and ours as they read them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import RAIN
from lacunet.errors import LacunetWarning
from lacunet.network.formats import net
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

TABLE = np.arange(1, 7).reshape(2, 3, 1) / 8 * [1, -1] + [0, 1]  # C given A (2), B (3)
FAMILY = Network(
    {"A": ["a0", "a1"], "B": ["b0", "b1", "b2"], "C": ["c0", "c1"]},
    {"C": ["A", "B"]},
    {"A": [0.25, 0.75], "B": [0.5, 0.25, 0.25], "C": TABLE},
)

# As pyAgrum 1.9.0 and 3.3.1 write FAMILY, but for blank lines.
AGRUM_XDSL = """<?xml version="1.0" ?>
<!-- This network was created by pyAgrum 3.3.1 for any purpose you want -->
<smile version="1.0" id="x">
  <nodes>
    <cpt id="A"><state id="a0" /><state id="a1" /><probabilities>0.25 0.75</probabilities></cpt>
    <cpt id="B"><state id="b0" /><state id="b1" /><state id="b2" />
      <probabilities>0.5 0.25 0.25</probabilities></cpt>
    <cpt id="C"><state id="c0" /><state id="c1" /><parents>A B</parents>
      <probabilities>0.125 0.875 0.5 0.5 0.25 0.75 0.625 0.375 0.375 0.625 0.75 0.25</probabilities>
    </cpt>
  </nodes>
  <extensions><genie version="1.0" app="aGrUM VERSION" name="x"></genie></extensions>
</smile>
"""
AGRUM_UAI = """BAYES
3
2 3 2\x20
3
1 0   # A
1 1   # B
3 0 1 2   # C


2
  0.25 0.75\x20

3
  0.5 0.25 0.25\x20

12
  0.125 0.875\x20
  0.5 0.5\x20
  0.25 0.75\x20
  0.625 0.375\x20
  0.375 0.625\x20
  0.75 0.25\x20
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("version", ["1.9.0", "3.3.1"])
def test_an_xdsl_file_of_pyagrum_is_read_as_pyagrum_means_it(tmp_path: Path, version: str) -> None:
    path = written(tmp_path, "g.xdsl", AGRUM_XDSL.replace("VERSION", version))
    with pytest.warns(LacunetWarning, match=r"g\.xdsl") as told:
        assert read_network(path) == FAMILY
    assert told[0].filename == __file__  # the user's line, not ours
    genie = written(tmp_path, "genie.xdsl", AGRUM_XDSL.replace("aGrUM VERSION", "GeNIe 2.1"))
    np.testing.assert_array_equal(
        read_network(genie).cpt("C").table.reshape(6, 2),
        TABLE.transpose(1, 0, 2).reshape(6, 2),
    )


def test_a_uai_file_of_pyagrum_is_read_as_pyagrum_means_it(tmp_path: Path) -> None:
    path = written(tmp_path, "g.uai", AGRUM_UAI)
    with pytest.warns(LacunetWarning, match=r"g\.uai"):
        np.testing.assert_array_equal(read_network(path).cpt("X2").table, TABLE)
    half = written(tmp_path, "half.uai", AGRUM_UAI.replace("# B", ""))
    with pytest.raises(FormatError, match=r"half\.uai:6"):
        read_network(half)


def test_one_parent_leaves_nothing_to_turn_and_nothing_to_say(tmp_path: Path) -> None:
    text = "BAYES\n2\n2 2\n2\n1 0 # A\n2 0 1 # B\n2\n.5 .5\n4\n.1 .9 .2 .8\n"
    network = read_network(written(tmp_path, "g.uai", text))  # a warning would be an error
    np.testing.assert_array_equal(network.cpt("X1").table, [[0.1, 0.9], [0.2, 0.8]])


def cpt_in_pyagrum(model: Any, network: Network, variable: str) -> np.ndarray:
    axes = list(model.cpt(variable).names)[::-1]  # pyAgrum's arrays have the child's axis last
    table = model.cpt(variable).toarray()
    return table.transpose([axes.index(name) for name in network.family(variable)])


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".net", ".xdsl"])
def test_what_the_real_pyagrum_writes_is_read_the_same(tmp_path: Path, suffix: str) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    write_network(FAMILY, tmp_path / "ours.bif")
    model = pyagrum.loadBN(str(tmp_path / "ours.bif"))
    pyagrum.saveBN(model, str(tmp_path / f"theirs{suffix}"))
    if suffix == ".xdsl":
        with pytest.warns(LacunetWarning, match="pyAgrum"):
            read = read_network(tmp_path / f"theirs{suffix}")
    else:
        read = read_network(tmp_path / f"theirs{suffix}")
    for variable in FAMILY.variables:
        np.testing.assert_allclose(
            read.cpt(variable).table, FAMILY.cpt(variable).table, rtol=0, atol=1e-7
        )


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".net"])
def test_the_real_pyagrum_reads_what_we_write(tmp_path: Path, suffix: str) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    write_network(FAMILY, tmp_path / f"ours{suffix}")
    model = pyagrum.loadBN(str(tmp_path / f"ours{suffix}"))
    for variable in FAMILY.variables:
        np.testing.assert_allclose(
            cpt_in_pyagrum(model, FAMILY, variable),
            FAMILY.cpt(variable).table,
            rtol=0,
            atol=1e-7,
        )


def test_pyagrum_opens_our_xdsl_but_turns_the_parents_of_several(tmp_path: Path) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    write_network(FAMILY, tmp_path / "ours.xdsl")
    model = pyagrum.loadBN(str(tmp_path / "ours.xdsl"))
    assert set(model.names()) == set(FAMILY.variables)
    for variable in ("A", "B"):
        np.testing.assert_allclose(
            cpt_in_pyagrum(model, FAMILY, variable), FAMILY.cpt(variable).table
        )
    # GeNIe's order, in which we write, is not the one that pyAgrum assumes (docs/formats.md).
    turned = TABLE.reshape(3, 2, 2).transpose(1, 0, 2)
    np.testing.assert_allclose(cpt_in_pyagrum(model, FAMILY, "C"), turned)


def test_a_net_file_may_have_dots_in_its_names(tmp_path: Path) -> None:
    text = """net { } node my.var { states = ( "a" "b" ); } node x { states = ( "c" ); }
    potential ( my.var ) { data = ( 0.5 0.5 ); } potential ( x | my.var ) { data = ((1)(1)); }"""
    network = read_network(written(tmp_path, "dots.net", text))
    assert network.parents("x") == ("my.var",)


CLASS = """class Rain
{
  inputs = ();
  outputs = (Wet);
  node_size = (80 40);
  node Rain { states = ("no" "yes"); }
  node Wet { states = ("no" "yes"); }
  potential (Rain) { data = (0.8 0.2); }
  potential (Wet | Rain) { data = ((0.9 0.1) (0.2 0.8)); }
} % class
"""


def test_a_hugin_class_is_read_as_the_network_it_holds(tmp_path: Path) -> None:
    network = read_network(written(tmp_path, "rain.net", CLASS))
    np.testing.assert_array_equal(network.cpt("Wet").table, [[0.9, 0.1], [0.2, 0.8]])
    for old, new, message in [
        ("inputs = ()", "inputs = (Sky)", r"rain\.net:3: the class has inputs"),
        ("} % class", "", "the file ends where 'node' or 'potential"),
        ("} % class", "} node", r"rain\.net:10: found 'node' where the end of the file"),
        ("node Wet", "instance i : Other () { } node Wet", r"rain\.net:7: the file holds a 'inst"),
    ]:
        with pytest.raises(FormatError, match=message):
            read_network(written(tmp_path, "rain.net", CLASS.replace(old, new)))


HEAD = """net { } node A { states = (a0 a1); } node B { states = (b0 b1 b2); }
node C { states = (c0 c1); }
potential (A) { data = (0.25 0.75); } potential (B) { data = (0.5 0.25 0.25); }
"""
ROWS = [f"({row[0]} {row[1]})" for row in TABLE.reshape(6, 2)]


@pytest.mark.parametrize(
    "data",
    [
        f"(({''.join(ROWS[:2])})({''.join(ROWS[2:4])})({''.join(ROWS[4:])}))",  # B before A
        f"(({''.join(ROWS[:3])})({''.join(ROWS[3:5])}{ROWS[5]}))".replace(") (", "", 1).replace(
            ROWS[0] + ROWS[1], "(0.125 0.875 0.25)(0.75)"
        ),
        "((0.125 0.875 0.25)(0.75 0.375 0.625)(0.5 0.5 0.625)(0.375 0.75 0.25))",
        "(0.125 (0.875 0.25) 0.75 0.375 0.625 0.5 0.5 0.625 0.375 0.75 0.25)",
    ],
)
def test_parentheses_that_contradict_the_parents_are_refused(data: str) -> None:
    with pytest.raises(FormatError, match=r"x\.net:4.*CPT of 'C'"):
        net.parse(Source.of("x.net", HEAD + f"potential (C | A B) {{ data = {data}; }}"))


@pytest.mark.parametrize(
    "data",
    [
        f"(({''.join(ROWS[:3])})({''.join(ROWS[3:])}))",
        f"({''.join(ROWS)})",
        f"({' '.join(ROWS)})".replace("(", " ").replace(")", " ").join("()"),
    ],
)
def test_parentheses_may_be_left_out_inside(data: str) -> None:
    network = net.parse(Source.of("x.net", HEAD + f"potential (C | A B) {{ data = {data}; }}"))
    np.testing.assert_array_equal(network.cpt("C").table, TABLE)


def test_xml_and_bifxml_are_names_of_xmlbif(tmp_path: Path) -> None:
    for suffix in (".xml", ".bifxml", ".bifxml.gz"):
        write_network(RAIN, tmp_path / f"rain{suffix}")
        assert read_network(tmp_path / f"rain{suffix}") == RAIN


AWKWARD = Network(
    {
        "1": ["-1", "1.5", "0.5", "1e5", "00"],
        "table": ["type", "Default", "a b", "a,b", "5-6"],
        "x.y": ["<5", "[5,9)", ">=9", "é", "NA"],
    },
    {"x.y": ["1", "table"]},
    {
        "1": [0.2] * 5,
        "table": [0.2] * 5,
        "x.y": np.random.default_rng(4).dirichlet([1] * 5, (5, 5)),
    },
)


def renamed_bif(folder: Path, network: Network) -> tuple[Path, Network]:
    path = folder / "renamed.bif"
    with pytest.warns(LacunetWarning, match=r"renamed\.bif"):
        write_network(network, path, rename=True)
    return path, read_network(path)


def test_the_real_pyagrum_reads_every_renamed_bif(tmp_path: Path) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    write_network(AWKWARD, tmp_path / "plain.bif")
    with pytest.raises(Exception, match="Syntax"):
        pyagrum.loadBN(str(tmp_path / "plain.bif"))
    path, ours = renamed_bif(tmp_path, AWKWARD)
    model = pyagrum.loadBN(str(path))
    assert set(model.names()) == set(ours.variables)
    for variable in ours.variables:
        assert model.variable(variable).labels() == ours.states(variable)
        table = ours.cpt(variable).table
        np.testing.assert_allclose(cpt_in_pyagrum(model, ours, variable), table, atol=1e-6)


def test_the_names_of_a_renamed_bif_are_those_that_bnlearn_looks_for(tmp_path: Path) -> None:
    # bnlearn 5 splits states and rows at every comma, knows no quotes, and takes the name of a
    # CPT to be what \w matches; its words are those of the lines that begin with them.
    path, ours = renamed_bif(tmp_path, AWKWARD)
    for table, variable in zip(AWKWARD.cpts, ours.variables, strict=True):
        np.testing.assert_array_equal(ours.cpt(variable).table, table.table)
    lines = path.read_text().splitlines()
    heads = [re.match(r"probability\s*\(\s*(\w+)", line) for line in lines]
    assert [head[1] for head in heads if head] == [*ours.variables]
    declared = [re.match(r"variable\s+(.+)\s+\{", line) for line in lines]
    assert [line[1] for line in declared if line] == [*ours.variables]
    states = [re.search(r"\{\s+(.+?)\s*\};", line) for line in lines if "type discrete" in line]
    split = [tuple(line[1].split(", ")) for line in states if line]
    assert split == [ours.states(variable) for variable in ours.variables]
    assert not any('"' in line for line in lines)


def test_names_that_every_program_reads_stay_in_a_renamed_bif(tmp_path: Path) -> None:
    write_network(RAIN, tmp_path / "rain.bif", rename=True)  # a warning would be an error
    assert read_network(tmp_path / "rain.bif") == RAIN


def test_a_dsl_file_of_the_real_pyagrum_is_read_the_same(tmp_path: Path) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    write_network(FAMILY, tmp_path / "ours.bif")
    pyagrum.saveBN(pyagrum.loadBN(str(tmp_path / "ours.bif")), str(tmp_path / "theirs.dsl"))
    back = read_network(tmp_path / "theirs.dsl")
    axes = [back.family("C").index(name) for name in FAMILY.family("C")]
    np.testing.assert_allclose(back.cpt("C").table.transpose(axes), TABLE, rtol=0, atol=1e-7)


DSL = """net N
{
 node A { TYPE = CPT; HEADER = { ID = A; NAME = "A"; }; PARENTS = (); DEFINITION =
  { NAMESTATES = (a0, a1); PROBABILITIES = (0.25, 0.75); }; };
 node B { TYPE = CPT; HEADER = { ID = B; NAME = "B"; }; PARENTS = (); DEFINITION =
  { NAMESTATES = (b0, b1, b2); PROBABILITIES = (0.5, 0.25, 0.25); }; };
 node C { TYPE = CPT; HEADER = { ID = C; NAME = "C"; }; PARENTS = (A, B); DEFINITION =
  { NAMESTATES = (c0, c1); PROBABILITIES = (0.125, 0.875, 0.25, 0.75, 0.375, 0.625, 0.5, 0.5,
  0.625, 0.375, 0.75, 0.25); }; };
};
"""


def test_the_real_pyagrum_reads_a_dsl_file_as_we_do(tmp_path: Path) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    path = written(tmp_path, "genie.dsl", DSL)
    model = pyagrum.loadBN(str(path))
    assert read_network(path) == FAMILY
    for variable in FAMILY.variables:
        table = FAMILY.cpt(variable).table
        np.testing.assert_allclose(cpt_in_pyagrum(model, FAMILY, variable), table, atol=1e-7)
