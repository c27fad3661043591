"""XMLBIF, with tables typed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lacunet.network.formats import xmlbif
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

HEAD = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME> A </NAME><OUTCOME>&lt;5</OUTCOME><OUTCOME>a &amp; b</OUTCOME>
<PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<VARIABLE><NAME>B</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><OUTCOME>z</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>C</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><TABLE>0.5 <!-- first --> 0.25
0.25</TABLE></DEFINITION>
"""
TABLE = "0.125 0.875 0.25 0.75 0.375 0.625 0.5 0.5 0.625 0.375 0.75 0.25"
TAIL = "</NETWORK></BIF>"


def read(definition: str) -> Network:
    return xmlbif.parse(Source.of("net.xmlbif", HEAD + definition + TAIL))


def test_the_child_runs_fastest_and_the_first_parent_slowest() -> None:
    network = read(
        "<DEFINITION><FOR>C</FOR><GIVEN>A</GIVEN><GIVEN>B</GIVEN>"
        f"<TABLE>{TABLE}</TABLE></DEFINITION>"
    )
    assert network.states("A") == ("<5", "a & b")
    assert network.parents("C") == ("A", "B")
    np.testing.assert_array_equal(network.cpt("B").table, [0.5, 0.25, 0.25])
    np.testing.assert_array_equal(
        network.cpt("C").table,
        [
            [[0.125, 0.875], [0.25, 0.75], [0.375, 0.625]],
            [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]],
        ],
    )


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("", r"net.xmlbif.*CPT of 'C'"),
        ("<DEFINITION><FOR>C</FOR></DEFINITION>", r"xmlbif:11: the CPT of 'C'"),
        (
            "<DEFINITION><FOR>C</FOR><TABLE>0.5 0.5 0</TABLE></DEFINITION>",
            r"xmlbif:11: the CPT of 'C' has 3.*need 2",
        ),
        (
            "<DEFINITION><FOR>C</FOR><GIVEN>D</GIVEN><TABLE>1 0</TABLE></DEFINITION>",
            r"xmlbif:11: 'C'.*'D'",
        ),
        ("<DEFINITION><TABLE>1 0</TABLE></DEFINITION>", r"xmlbif:11.*<FOR>"),
        (
            "<DEFINITION><FOR>C</FOR><FOR>A</FOR><TABLE>1 0</TABLE></DEFINITION>",
            r"xmlbif:11: found 'several <FOR>'",
        ),
        ("<ARC/>", r"xmlbif:11: found '<ARC>'"),
        ("0.5", r"xmlbif:3.*<NETWORK>"),
        ("<DEFINITION>", r"xmlbif:11"),
        (
            '<VARIABLE TYPE="decision"><NAME>D</NAME><OUTCOME>x</OUTCOME></VARIABLE>',
            r"xmlbif:11: variable 'D'.*'decision'",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(definition: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(definition)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE BIF [\n<!ENTITY lol "lol">\n]><BIF>&lol;</BIF>',
        '<!DOCTYPE BIF SYSTEM "bif.dtd">\n<BIF><NETWORK><NAME>&lol;</NAME></NETWORK></BIF>',
    ],
)
def test_entities_of_the_files_own_making_are_refused(text: str) -> None:
    with pytest.raises(FormatError, match=r"net.xmlbif:2.*'lol'"):
        xmlbif.parse(Source.of("net.xmlbif", text))


def test_names_that_xml_would_trim_are_refused() -> None:
    with pytest.raises(FormatError, match=r"XMLBIF.*' A'"):
        xmlbif.render(Network({" A": ["x"]}))
