"""DSC, with tables typed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lacunet.network.formats import dsc
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

HEAD = """belief network "n" // a comment
node A
{
  name : "Age; {old}";
  type : discrete[2] =
  {
    "<50",
    "50, or more"
  };
  position : (207, 95);
}
node B { type : discrete [ 3 ] = { "b0", "b1", "b2" }; }
node C { type : discrete [ 2 ] = { "c0", "c1" }; }
probability ( A ) { 0.25, 0.75; }
probability ( B ) { 0.5, 0.25, 0.25; } /* a
comment */
"""


def read(block: str) -> Network:
    return dsc.parse(Source.of("net.dsc", HEAD + block))


def test_rows_go_where_the_numbers_of_the_states_say() -> None:
    network = read(
        """probability ( C | A, B ) {
          (1, 2) : 0.75, 0.25;
          (0, 0) : 0.125, 0.875;
          (1, 0) : 0.5, 0.5;
          (0, 2) : 0.375
            , 0.625;
          (0, 1) : 0.25, 0.75;
          (1, 1) : 0.625, 0.375;
        }"""
    )
    assert network.states("A") == ("<50", "50, or more")
    np.testing.assert_array_equal(
        network.cpt("C").table,
        [
            [[0.125, 0.875], [0.25, 0.75], [0.375, 0.625]],
            [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]],
        ],
    )


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("", r"net.dsc.*CPT of 'C'"),
        ("probability(C|A){(0):1,0;}", r"dsc:17: the CPT of 'C'.*A=50"),
        ("probability(C|A){(0):1,0;\n(0):1,0;}", r"dsc:18.*A=<50"),
        ("probability(C|A){(0):1,0;\n(2):1,0;}", r"dsc:18: .*'2', but 'A'.*'0', '1'"),
        ("probability(C|A){(0, 0):1,0;}", r"dsc:17.*\(0, 0\) of 'C'"),
        ("probability(C|A){1,0;}", r"dsc:17.*\(\) of 'C'"),
        ("probability(C|A){(0):1;}", r"dsc:17: .*'C' given A=<50 has 1"),
        ("probability(C|A){(0):1,x;}", r"dsc:17: the CPT of 'C' holds 'x'"),
        ("probability(C|A){function = max;}", r"dsc:17: a CPT uses 'function'"),
        ("probability(C|D){}", r"dsc:17: 'C'.*'D'"),
        ("node D { type : discrete[2] = {x}; }", r"dsc:17: variable 'D' announces 2"),
        ("node A { type : discrete[1] = {x}; }", r"dsc:17: variable 'A'"),
        ("node D { type : continuous; }", r"dsc:17: found 'type : continuous; }'"),
        ("nod", r"dsc:17: found 'nod'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(block: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(block)


def test_what_dsc_cannot_quote_is_refused() -> None:
    with pytest.raises(FormatError, match=r"'5\"' of 'A'"):
        dsc.render(Network({"A": ['5"']}, {}, {"A": [1.0]}))
