"""BIF as it is found in the wild; the expected tables are typed by hand."""

from __future__ import annotations

import numpy as np
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
C_GIVEN_AB = [
    [[0.125, 0.875], [0.25, 0.75], [0.375, 0.625]],
    [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]],
]


def read(text: str) -> Network:
    return bif.parse(Source.of("net.bif", text))


def one(
    states: str, rest: str = "probability ( X ) { table 0.5, 0.5; }", count: int = 2
) -> Network:
    return read(f"variable X {{ type discrete [ {count} ] {{ {states} }}; }}\n{rest}")


def test_rows_in_any_order_go_where_their_states_say() -> None:
    network = read(
        VARIABLES
        + """probability ( C | A, B ) {
          (a1, b2) 0.75, 0.25;
          (a0, b0) 0.125, 0.875;
          (a1, b0) 0.5, 0.5;
          (a0, b2) 0.375, 0.625;
          (a0, b1) 0.25, 0.75;
          (a1, b1) 0.625, 0.375;
        }"""
    )
    np.testing.assert_array_equal(network.cpt("C").table, C_GIVEN_AB)
    assert network.variables == ("A", "B", "C")
    np.testing.assert_array_equal(network.cpt("B").table, [0.5, 0.25, 0.25])


def test_a_table_with_parents_has_the_child_slowest() -> None:
    network = read(
        VARIABLES
        + """probability ( C | A, B ) {
          table 0.125, 0.25, 0.375, 0.5, 0.625, 0.75,
                0.875, 0.75, 0.625, 0.5, 0.375, 0.25;
        }"""
    )
    np.testing.assert_array_equal(network.cpt("C").table, C_GIVEN_AB)


def test_the_order_of_the_parents_is_that_of_the_block() -> None:
    network = read(
        VARIABLES
        + """probability ( C | B, A ) {
          (b0, a0) 0.125, 0.875; (b1, a0) 0.25, 0.75; (b2, a0) 0.375, 0.625;
          (b0, a1) 0.5, 0.5; (b1, a1) 0.625, 0.375; (b2, a1) 0.75, 0.25;
        }"""
    )
    assert network.parents("C") == ("B", "A")
    np.testing.assert_array_equal(network.cpt("C").table, np.swapaxes(C_GIVEN_AB, 0, 1))


def test_a_default_stands_for_the_rows_that_are_not_given() -> None:
    network = read(
        VARIABLES
        + """probability ( C | A, B ) {
          default 0.5, 0.5;
          (a1, b2) 1.0, 0.0;
          (a0, b1) 0.0, 1.0;
        }"""
    )
    half = [0.5, 0.5]
    expected = [[half, [0.0, 1.0], half], [half, half, [1.0, 0.0]]]
    np.testing.assert_array_equal(network.cpt("C").table, expected)


def test_commas_may_be_left_out_everywhere() -> None:
    network = read(
        """network old { }
        variable "light on" { type discrete[2] { "very true" false }; }
        variable A { type discrete[2] { yes no }; }
        variable B { type discrete[2] { yes no }; }
        probability ( A ) { table 0.25 0.75 ; }
        probability ( B ) { table 0.5 0.5 ; }
        probability ( "light on" A B ) { table 0.5 0.25 0.125 1.0 0.5 0.75 0.875 0.0 ; }"""
    )
    assert network.states("light on") == ("very true", "false")
    assert network.parents("light on") == ("A", "B")
    expected = [[[0.5, 0.5], [0.25, 0.75]], [[0.125, 0.875], [1.0, 0.0]]]
    np.testing.assert_array_equal(network.cpt("light on").table, expected)
    rows = read(
        """variable A { type discrete[2] { yes no }; }
        variable B { type discrete[2] { yes no }; }
        variable C { type discrete[2] { yes no }; }
        probability ( A ) { table 0.25 0.75; } probability ( B ) { table 0.5 0.5; }
        probability ( C | A B ) {
          (yes yes) 0.5 0.5; (yes no) 0.25 0.75; (no yes) 0.125 0.875; (no no) 1.0 0.0;
        }"""
    )
    np.testing.assert_array_equal(rows.cpt("C").table, expected)


def test_states_with_signs_blanks_and_parentheses_need_no_quotes() -> None:
    network = read(
        """variable X { type discrete [ 7 ] { <5, -1.5, Asy/Patch, c(d), very low, 12+, [1-2) }; }
        variable very odd { type discrete [ 2 ] { yes, no }; }
        probability ( X ) { table 0.25, 0.25, 0.125, 0.125, 0.125, 0.125, 0.0; }
        probability ( very odd | X ) {
          (c(d)) 0.125, 0.875;
          (very low) 0.25, 0.75;
          (<5) 0.375, 0.625;
          (-1.5) 0.5, 0.5;
          (Asy/Patch) 0.625, 0.375;
          (12+) 0.75, 0.25;
          ([1-2)) 1.0, 0.0;
        }"""
    )
    assert network.states("X") == ("<5", "-1.5", "Asy/Patch", "c(d)", "very low", "12+", "[1-2)")
    first = [0.375, 0.5, 0.625, 0.125, 0.25, 0.75, 1.0]
    np.testing.assert_array_equal(network.cpt("very odd").table[:, 0], first)


def test_states_may_be_called_table_default_and_property() -> None:
    network = read(
        """variable X { type discrete [ 3 ] { table, default, property }; }
        variable Y { type discrete [ 2 ] { table, default }; }
        probability ( Y | X ) {
          (default) 0.25, 0.75; default 0.5, 0.5; (table) 0.125, 0.875;
        }
        probability ( X ) { table 0.5, 0.25, 0.25; }"""
    )
    expected = [[0.125, 0.875], [0.25, 0.75], [0.5, 0.5]]
    np.testing.assert_array_equal(network.cpt("Y").table, expected)


def test_commas_quotes_and_comment_signs_belong_to_names_in_quotes() -> None:
    network = read(
        r"""variable "X, or {Y}; //" { type discrete [ 2 ] { "a, b", "say \"hi\" \\ /* c */" }; }
        variable Z { type discrete [ 2 ] { "1,5", "(2)" }; }
        probability ( "X, or {Y}; //" ) { table 0.25, 0.75; }
        probability ( Z | "X, or {Y}; //" ) {
          ("say \"hi\" \\ /* c */") 0.5, 0.5;
          ("a, b") 0.125, 0.875;
        }"""
    )
    assert network.variables == ("X, or {Y}; //", "Z")
    assert network.states("X, or {Y}; //") == ("a, b", r'say "hi" \ /* c */')
    np.testing.assert_array_equal(network.cpt("Z").table, [[0.125, 0.875], [0.5, 0.5]])


def test_comments_properties_and_carriage_returns_are_passed_over() -> None:
    network = read(
        """// made by "someone
        network "n" { property version 1.0; property "a; b"; } /* two
        lines */
        variable A { // why
          property position = (1, 2);
          type discrete [ 2 ] { /* first */ yes, no }; // { }
          property "x {y}";
        }
        probability ( A ) { // 2 values
          property credal 1;
          table 0.25, // half of a half
                0.75;
        }""".replace("\n", "\r\n")
    )
    assert network.states("A") == ("yes", "no")
    np.testing.assert_array_equal(network.cpt("A").table, [0.25, 0.75])


def test_a_block_may_stand_before_the_variables_it_mentions() -> None:
    network = read(
        """probability ( B | A ) { (yes) 0.25, 0.75; (no) 0.5, 0.5; }
        variable B { type discrete [ 2 ] { yes, no }; }
        probability ( A ) { table 0.125, 0.875; }
        variable A { type discrete [ 2 ] { yes, no }; }"""
    )
    assert network.variables == ("B", "A")
    np.testing.assert_array_equal(network.cpt("B").table, [[0.25, 0.75], [0.5, 0.5]])


def test_empty_blocks_give_a_network_without_cpts() -> None:
    network = read(
        """variable A { type discrete [ 2 ] { yes, no }; }
        variable B { type discrete [ 2 ] { yes, no }; }
        probability ( A ) { } probability ( B | A ) { property x; }"""
    )
    assert not network.has_cpts
    assert network.parents("B") == ("A",)


def test_what_needs_no_quotes_is_written_without() -> None:
    network = one('<5, "very low"', "probability ( X ) { table 0.25, 0.75; }")
    assert bif.render(network) == (
        "network unknown {\n}\n"
        'variable X {\n  type discrete [ 2 ] { <5, "very low" };\n}\n'
        "probability ( X ) {\n  table 0.25, 0.75;\n}\n"
    )


def test_tables_that_hold_only_minus_one_are_yet_to_be_learned() -> None:
    blocks = """probability ( C | A, B ) { default -1, -1.0; }"""
    text = VARIABLES.replace("0.25, 0.75", "-1, -1").replace("0.5, 0.25, 0.25", "-1 -1 -1")
    network = read(text + blocks)
    assert network.edges == (("A", "C"), ("B", "C"))
    assert not network.has_cpts
    with pytest.raises(FormatError, match=r"net.bif:18: the CPT of 'C'"):
        read(VARIABLES + blocks)
    with pytest.raises(FormatError, match=r"net.bif:18: the CPT of 'C'.*-1\.0"):
        read(VARIABLES + "probability ( C | A, B ) { default 0.5, 0.5; (a0, b1) -1, -1; }")


@pytest.mark.parametrize("error", [-1.2e-7, -1e-6])
def test_a_number_below_zero_within_the_tolerance_of_sums_is_zero(error: float) -> None:
    network = one("x, y", f"probability ( X ) {{ table {error}, {1 - error}; }}")
    assert network.cpt("X").table.tolist() == [0.0, 1.0]
    for wrong in (-1.1e-6, -0.01, "nan"):
        with pytest.raises(FormatError):
            one("x, y", f"probability ( X ) {{ table {wrong}, 1; }}")
