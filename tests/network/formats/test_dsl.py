"""GeNIe's DSL, with tables typed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lacunet.network.formats import dsl
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

HEAD = """net Example
{
 HEADER =
  {
   ID = Example;
   NAME = "An example";
   COMMENT = "on two \\
   lines; { with a brace";
  };
 CREATION =
  {
  };
 SCREENCOMMENT =  { (403, 132, 228, 220),"a comment of \\
 the window"};
 /# another comment #/

 node A
  {
   TYPE = CPT;
   HEADER =
    {
     ID = A;
     NAME = "Age?";
    };
   PARENTS = ();
   DEFINITION =
    {
     NAMESTATES = (a0, a1);
     PROBABILITIES = (0.25000000, 0.75000000);
    };
  };

 node B
  {
   TYPE = CPT;
   PARENTS = ();
   DEFINITION =
    {
     NAMESTATES = (b0, b1, b2);
     PROBABILITIES = (0.5, 0.25, 0.25);
    };
  };
"""
CPT = """ node C
  {
   TYPE = CPT;
   PARENTS = (A, B);
   DEFINITION =
    {
     NAMESTATES = (c0, c1);
     PROBABILITIES = (0.125, 0.875, 0.25, 0.75, 0.375, 0.625,
     0.5, 0.5, 0.625, 0.375, 0.75, 0.25);
    };
  };
"""
COSTS = """ OBSERVATION_COST =
  {
   node A
    {
     PARENTS = ();
     COSTS = (0.00000000);
    };
  };
"""


def read(nodes: str) -> Network:
    return dsl.parse(Source.of("net.dsl", f"{HEAD}{nodes}}};\n"))


def test_the_child_runs_fastest_and_the_first_parent_slowest() -> None:
    network = read(CPT + COSTS)
    assert network.parents("C") == ("A", "B")
    np.testing.assert_array_equal(
        network.cpt("C").table,
        [
            [[0.125, 0.875], [0.25, 0.75], [0.375, 0.625]],
            [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]],
        ],
    )


def test_a_truth_table_has_ones_and_zeros() -> None:
    network = read(
        "node C { TYPE = TRUTHTABLE; PARENTS = (B, A); DEFINITION = { NAMESTATES = (lo, hi); "
        "RESULTINGSTATES = (lo, hi, hi, hi, lo, \n lo); }; };"
    )
    assert network.cpt("C").table[..., 1].tolist() == [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("node C { TYPE = NOISY_MAX; };", r"net.dsl:43: node 'C'.*'NOISY_MAX'"),
        ("node C { TYPE = CPT; };", r"net.dsl:43: variable 'C'"),
        ("node C { DEFINITION = { NAMESTATES = (x); }; };", r"net.dsl:43"),
        (
            "node C { DEFINITION = { NAMESTATES = (x, y); PROBABILITIES = (1); }; };",
            r"net.dsl:43: the CPT of 'C' has 1",
        ),
        (
            "node C { DEFINITION = { NAMESTATES = (x); RESULTINGSTATES = (y); }; };",
            r"net.dsl:43.*'y', but 'C'.*'x'",
        ),
        (
            "node C { DEFINITION = { NAMESTATES = (x); }; DEFINITION = { }; };",
            r"net.dsl:43: found 'a second DEFINITION'",
        ),
        ("node C { PARENTS = (Z); DEFINITION = { NAMESTATES = (x); }; };", "'Z'"),
        ("nod", r"net.dsl:43: found 'nod"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(nodes: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(nodes)


def test_a_text_cut_anywhere_is_refused() -> None:
    text = f"{HEAD}{CPT}{COSTS}}}"
    dsl.parse(Source.of("net.dsl", text))
    for length in range(len(text)):
        with pytest.raises(FormatError):
            dsl.parse(Source.of("net.dsl", text[:length]))
