from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from examples import APPENDIX, appendix_table
from lacunet.learning.result import Result
from lacunet.network.network import Network
from lacunet.show.results.cpt_tables import EstimateTable


@pytest.fixture(scope="module")
def result() -> Result:
    return lc.learn(APPENDIX, appendix_table(), method="direct-mcar", intervals=True)


def test_a_row_for_each_entry_with_its_interval_and_what_is_behind_it(result: Result) -> None:
    frame = result.table("X", 0.9).to_frame()
    assert list(frame.columns) == [
        *("W", "Z", "X", "estimate", "low", "high", "rows", "effective size"),
    ]
    assert frame[["W", "Z", "X"]].to_numpy().tolist()[:3] == [
        *(["0", "0", "0"], ["0", "0", "1"], ["0", "1", "0"]),
    ]
    np.testing.assert_array_equal(frame["estimate"], result.network.cpt("X").table.ravel())
    np.testing.assert_array_equal(frame[["low", "high"]], result.interval("X", 0.9).reshape(-1, 2))
    # X is shown by 24 of 36 rows, evenly over the four states of W and Z.
    assert frame["rows"].tolist() == [6] * 8


def test_without_intervals_the_table_has_none() -> None:
    plain = lc.learn(APPENDIX, appendix_table(), method="direct-mcar")
    assert list(plain.table("X").columns) == ["W", "Z", "X", "estimate", "rows"]


def test_csv_holds_every_digit(result: Result, tmp_path: Path) -> None:
    table = result.table("Y")
    text = table.to_csv(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text() == text
    again = pd.read_csv(tmp_path / "y.csv", dtype=dict.fromkeys("XYZ", str))
    np.testing.assert_array_equal(again["estimate"], table.to_frame()["estimate"])


@pytest.fixture
def odd() -> EstimateTable:
    names = Network({"50%_{a}": ["x|y", "~\\^&"], "rows": ["1", "2"]}, {"rows": ["50%_{a}"]})
    rows = {"50%_{a}": ["x|y", "~\\^&"] * 3, "rows": ["1", "1", "2"] * 2}
    return lc.learn(names, rows, method="direct-mcar").table("rows")


def test_latex_escapes_what_it_would_take_for_commands(odd: EstimateTable) -> None:
    lines = odd.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{llrr}"
    assert lines[2] == r"50\%\_\{a\} & rows & estimate & rows (number) \\"
    assert lines[6].startswith(r"\textasciitilde{}\textbackslash{}\textasciicircum{}\& & 1 & ")
    assert lines[-1] == r"\end{tabular}"


# States as cutting a column gives them, and others that LaTeX could take for something else.
ODD_STATES = ["[0,20)", "[20,40)", ">=40", "<0", "≤9", "a|b", "*", "20--40", "x`y", "[]", "50%"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
def test_latex_compiles_every_table(result: Result, odd: EstimateTable, tmp_path: Path) -> None:
    rows = {"Age": [*range(90)] * 3, "Ill": ["no", "yes", "no"] * 90}
    network = lc.Network.from_data(lc.Data(rows, bins={"Age": [0, 20, 40, 90]}), "Age -> Ill")
    cut = lc.learn(network, rows, intervals=True)
    tables = [
        *(result.table(variable) for variable in APPENDIX.variables),
        *(cut.table(variable) for variable in network.variables),
        odd,
        EstimateTable("P(A)", {"A": ODD_STATES, "rows": [1] * len(ODD_STATES)}, 1),
        EstimateTable("P(A)", {"A": ["0"], "estimate": [0.5], "low": [float("nan")]}, 1),
    ]
    page = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}"]
    page += [f"{table.to_latex()}\n\n" for table in tables]
    (tmp_path / "tables.tex").write_text("\n".join([*page, r"\end{document}"]), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-1500:]
    assert "Missing character" not in log


def test_latex_takes_no_bracket_for_an_option_and_no_sign_for_another() -> None:
    table = EstimateTable("P(Age)", {"Age": ["[0,20)", ">=20", "<0", "a|b"]}, 1)
    assert table.to_latex().splitlines()[4:8] == [
        r"{[}0,20) \\",
        r"\textgreater{}=20 \\",
        r"\textless{}0 \\",
        r"a\textbar{}b \\",
    ]


def test_markdown_keeps_bars_within_their_cells(odd: EstimateTable) -> None:
    lines = odd.to_markdown().splitlines()
    assert lines[1] == "| --- | --- | ---: | ---: |"
    assert lines[2].startswith(r"| x\|y | 1 | ")


def test_a_number_never_hides_a_variable_of_the_same_name(odd: EstimateTable) -> None:
    (head, first, *_) = csv.reader(io.StringIO(odd.to_csv()))
    assert head == ["50%_{a}", "rows", "estimate", "rows (number)"]
    assert first[:2] == ["x|y", "1"]


def test_what_is_not_known_is_a_dash_in_print_and_empty_in_csv() -> None:
    table = EstimateTable("P(A)", {"A": ["0"], "estimate": [0.5], "low": [float("nan")]}, 1)
    assert "–" in str(table)
    assert table.to_csv().splitlines()[1] == "0,0.5,"
    assert "<td" in table._repr_html_()


def test_the_widest_interval_is_of_a_cpt_row_that_can_occur() -> None:
    network = lc.Network(
        {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"], "Ill": ["no", "yes"]},
        {"Now": ["Smoked"], "Ill": ["Smoked", "Now"]},
        not_asked={"Now": "Smoked=no"},
    )
    rows = {
        "Smoked": ["no", "yes"] * 40,
        "Now": [None, "no", None, "yes"] * 20,
        "Ill": ["no", "yes", "yes", "no", "no"] * 16,
    }
    printed = str(lc.learn(network, rows, "em", pseudo_counts=1, intervals=True))
    assert "P(Ill=no | Smoked=yes, Now=no) = " in printed
    assert "Smoked=no, Now=yes" not in printed
