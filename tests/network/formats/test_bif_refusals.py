"""What is wrong with a BIF file is said with its line and its names."""

from __future__ import annotations

import pytest

from lacunet.network.formats import bif
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

VARIABLES = """\
network unknown {
}
variable A {
  type discrete [ 2 ] { a0, a1 };
}
variable B {
  type discrete [ 3 ] { b0, b1, b2 };
}
variable C {
  type discrete [ 2 ] { c0, c1 };
}
probability ( A ) {
  table 0.25, 0.75;
}
probability ( B ) {
  table 0.5, 0.25, 0.25;
}
"""


def read(text: str) -> Network:
    return bif.parse(Source.of("net.bif", text))


def test_lines_may_end_in_carriage_returns_alone() -> None:
    text = (
        "variable A { // why\rtype discrete [ 2 ] { yes, no }; }\rprobability ( A ) {\rtable 1; }"
    )
    with pytest.raises(FormatError, match=r"net.bif:3: the CPT of 'A' has 1"):
        read(text)


ROWS = "probability ( C | A, B ) {\n  (a0, b0) 0.5, 0.5;\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROWS + "}", r"net.bif:18: the CPT of 'C'.*A=a0, B=b1"),
        (ROWS + "(a0, b0) 0.5, 0.5;}", r"net.bif:20: .*'C'.*A=a0, B=b0"),
        (ROWS + "(a0, b9) 0.5, 0.5;}", r"net.bif:20.*'b9', but 'B'.*'b0', 'b1'"),
        (ROWS + "(a0) 0.5, 0.5;}", r"net.bif:20.*\(a0\) of 'C'"),
        (ROWS + "(a0, b1) 0.5;}", r"net.bif:20: .*'C' given A=a0, B=b1 has 1.*need 2"),
        (ROWS + "(a0, b1) 0.5, 0.5, 0.0;}", r"net.bif:20: .*'C' given A=a0, B=b1 has 3"),
        (
            ROWS + "(a0, b1) 0.5, x;}",
            r"net.bif:20: the CPT of 'C' holds 'x'",
        ),
        (ROWS + "(a0, b1) 1.5, -0.5; default 1, 0;}", r"net.bif:20: .*A=a0, B=b1 holds 1.5"),
        (ROWS + "\n\ndefault -1, 2;\n(a0, b1) 1, 0;}", r"net.bif:22: .*A=a0, B=b2 holds -1.0"),
        (ROWS + "default 1, 0; default 1, 0;}", r"net.bif:20.*'default'"),
        (ROWS + "table 1, 0;}", r"net.bif:18: .*'table'"),
        ("probability ( C | A, D ) { }", r"net.bif:18: 'C'.*'D'"),
        ("probability ( C | A, A ) { }", r"net.bif:18: 'C'.*'A'"),
        ("probability ( C | C ) { }", r"net.bif:18: 'C'"),
        ("probability ( D ) { }", r"net.bif:18: a CPT.*'D'"),
        ("probability ( A ) { }", r"net.bif:18.*'A'"),
        ("probability ( C ) { }", r"net.bif:18: the CPT of 'C'"),
        ("probability ( C ) { table 0.5, 0.25, 0.25; }", r"net.bif:18: .*3"),
        ("", r"net.bif.*CPT of 'C'"),
        ("variable A { type discrete [ 1 ] { x }; }", r"net.bif:18: variable 'A'"),
        (
            "variable D { type discrete [ 2 ] { x }; }",
            r"net.bif:18: variable 'D' announces 2 .*'x'",
        ),
        ("variable D { type discrete [ 2 ] { x, x }; }", r"net.bif:18: .*'x'"),
        ("variable D { type discrete [ 2 ] { x, }; }", r"net.bif:18"),
        ("variable D { type continuous; }", r"net.bif:18: found 'type continuous; }'"),
        (ROWS + "\n  (a0, b1) 0.5, 0", r"net.bif:21"),
        ("variable D {\n  type disc", r"net.bif:19"),
        ("hello", r"net.bif:18: found 'hello' where 'network', 'variable' or 'probability'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(VARIABLES + text)


def test_a_cycle_is_refused_by_name() -> None:
    with pytest.raises(FormatError, match=r"net.bif.*'A' -> 'B' -> 'A'"):
        read(
            """variable A { type discrete [ 1 ] { x }; } probability ( A | B ) { (x) 1; }
            variable B { type discrete [ 1 ] { x }; } probability ( B | A ) { (x) 1; }"""
        )


def test_a_default_for_more_rows_than_memory_holds_is_refused() -> None:
    names = [f"V{number}" for number in range(40)]
    variables = "".join(
        f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for name in names
    )
    with pytest.raises(FormatError, match=r"'V0'.*8 TiB.*256 MiB"):
        read(f"{variables} probability ( V0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}")
