"""XDSL, with tables typed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from examples import RAIN
from lacunet.cli import main
from lacunet.errors import LacunetWarning
from lacunet.network.formats import xdsl
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="N" numsamples="1000"><nodes>
<cpt id="A"><state id="a0" /><state id="a1" /><probabilities>0.25 0.75</probabilities></cpt>
<cpt id="B"><state id="b0"/><state id="b1"/><state id="b2"/>
<probabilities>.5 .25 .25</probabilities><property id="literature">some</property></cpt>
"""
TAIL = '</nodes><extensions><genie version="1.0"><node id="A"/></genie></extensions></smile>'


def read(node: str) -> Network:
    return xdsl.parse(Source.of("net.xdsl", HEAD + node + TAIL))


def test_the_child_runs_fastest_and_the_first_parent_slowest() -> None:
    network = read(
        """<cpt id="C"><state id="c0" /><state id="c1" /><parents>A B</parents>
        <probabilities>0.125 0.875 0.25 0.75 0.375 0.625 0.5 0.5 0.625 0.375 0.75 0.25
        </probabilities></cpt>"""
    )
    np.testing.assert_array_equal(
        network.cpt("C").table,
        [
            [[0.125, 0.875], [0.25, 0.75], [0.375, 0.625]],
            [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]],
        ],
    )


def test_a_deterministic_node_has_ones_and_zeros() -> None:
    network = read(
        """<deterministic id="C"><state id="lo" /><state id="hi" /><parents>B A</parents>
        <resultingstates>lo hi hi hi lo lo</resultingstates></deterministic>"""
    )
    assert network.parents("C") == ("B", "A")
    assert network.cpt("C").table[..., 1].tolist() == [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    assert network.cpt("C").table[..., 0].tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ('<noisyadder id="C"/>', r"xdsl:6: node 'C'.*'noisyadder'"),
        ('<utility id="C"/>', r"xdsl:6: node 'C'.*'utility'"),
        ('<cpt id="C"><parents>A</parents></cpt>', r"xdsl:6: variable 'C'"),
        (
            '<cpt id="C"><state id="x"/><parents>D</parents></cpt>',
            r"xdsl:6: 'C'.*'D'",
        ),
        (
            '<cpt id="C"><state id="x"/><probabilities>1 0</probabilities></cpt>',
            r"xdsl:6: the CPT of 'C' has 2.*need 1",
        ),
        ('<cpt id="A"><state id="x"/></cpt>', r"xdsl:6: variable 'A'"),
        ('<cpt><state id="x"/></cpt>', r"xdsl:6: found '<cpt>'.*'id'"),
        (
            '<deterministic id="C"><state id="x"/><resultingstates>y</resultingstates>'
            "</deterministic>",
            r"xdsl:6: .*'y', but 'C'.*'x'",
        ),
        (
            '<deterministic id="C"><state id="x"/><resultingstates>x x</resultingstates>'
            "</deterministic>",
            r"xdsl:6: .*2.*need 1",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(node: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(node)


def test_parents_are_written_first_and_the_order_comes_back() -> None:
    turned = Network(
        {name: RAIN.states(name) for name in ("Wet", "Sprinkler", "Rain")},
        RAIN.parents_of,
        RAIN.tables_of,
    )
    text = xdsl.render(turned)
    assert text.index('id="Rain"') < text.index('id="Sprinkler"') < text.index('id="Wet"')
    assert xdsl.parse(Source.of("net.xdsl", text)) == turned


@pytest.mark.parametrize("state", ["1", "_a", "very low", "a-b", "é"])
def test_what_is_no_identifier_of_genie_is_refused(state: str) -> None:
    network = Network({"A": [state]}, {}, {"A": [1.0]})
    with pytest.raises(FormatError, match=r"XDSL.*'.*' of 'A'"):
        xdsl.render(network)


def test_names_that_do_not_fit_are_replaced_if_asked(tmp_path: Path) -> None:
    states = {"age at visit": ["<40", "40-59", "40+59"], "ill": ["no", "yes"]}
    tables = {"age at visit": [0.5, 0.3, 0.2], "ill": [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]}
    network = Network(states, {"ill": ["age at visit"]}, tables)
    network = network.with_support({"ill": [1, 0, 1]})
    with pytest.raises(FormatError, match="--rename"):
        write_network(network, tmp_path / "net.xdsl")
    write_network(network, tmp_path / "net.json", rename=True)
    assert read_network(tmp_path / "net.json").variables == network.variables
    with pytest.warns(LacunetWarning, match="'age_at_visit'.*visit=40-59 is 's40_59'"):
        write_network(network, tmp_path / "net.xdsl", rename=True)
    found = read_network(tmp_path / "net.xdsl")
    assert found.states("age_at_visit") == ("below_40", "s40_59", "s40_59_")
    np.testing.assert_array_equal(found.cpt("ill").table, network.cpt("ill").table)
    assert found.support is not None
    assert found.support["ill"].tolist() == [True, False, True]
    files = [str(tmp_path / name) for name in ("net.json", "again.xdsl")]
    assert main(["convert", files[0], "-o", files[1], "--rename"]) == 0
    assert read_network(files[1]).states_of == found.states_of


def test_an_empty_dynamic_element_is_passed_over_and_time_slices_are_refused() -> None:
    text = HEAD + TAIL
    still = text.replace("</nodes>", '</nodes><dynamic numslices="5">\n</dynamic>')
    assert xdsl.parse(Source.of("net.xdsl", still)) == xdsl.parse(Source.of("net.xdsl", text))
    moving = still.replace(
        "\n</dynamic>",
        '<cpt id="A" order="1"><parents>A</parents><probabilities>1 0 0 1</probabilities></cpt>'
        "</dynamic>",
    )
    with pytest.raises(FormatError, match=r"net.xdsl:6.*\(<dynamic>\)"):
        xdsl.parse(Source.of("net.xdsl", moving))
