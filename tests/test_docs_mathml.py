"""Formulas of the book as MathML."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from lacunet.estimands.notation import LATEX

mathml = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "mathml.py"))["mathml"]


def shown(latex: str) -> str:
    """What a reader sees: the text of all elements, in order."""
    return "".join(ElementTree.fromstring(mathml(latex)).itertext())


def test_a_conditional_among_shown_rows_is_written_with_its_subscript() -> None:
    assert mathml(r"\Pr(X \mid R_{X}=1)") == (
        '<math display="block"><mi>Pr</mi><mo stretchy="false">(</mo><mi>X</mi><mo>∣</mo>'
        "<msub><mi>R</mi><mi>X</mi></msub><mo>=</mo><mn>1</mn>"
        '<mo stretchy="false">)</mo></math>'
    )


def test_what_a_sum_runs_over_stands_below_it() -> None:
    assert '<munder><mo movablelimits="false">∑</mo><mi>A</mi></munder>' in mathml(r"\sum_{A} B")


def test_aligned_lines_become_the_lines_of_a_table() -> None:
    text = mathml("\\begin{aligned}\n& A = B \\\\\n& C = \\frac{1}{D}\n\\end{aligned}")
    root = ElementTree.fromstring(text)
    assert ["".join(line.itertext()) for line in root.iter("mtr")] == ["A=B", "C=1D"]


def test_a_command_that_is_not_known_is_shown_as_it_is_written() -> None:
    assert shown(r"A \curly B") == r"A\curlyB"


def test_of_a_long_list_the_first_names_are_shown_and_the_others_counted() -> None:
    names = ", ".join(rf"\mathrm{{N{k}}}" for k in range(20))
    assert shown(rf"\Pr({names})") == "Pr(N0,N1,N2,and 17 more)"


@given(st.text(min_size=2, max_size=12).filter(lambda t: t.strip(" ") == t and t.isprintable()))
def test_any_name_is_shown_as_it_is(name: str) -> None:
    assert shown(rf"\Pr({LATEX.name(name)})") == f"Pr({name})"
