from __future__ import annotations

import json
import re
from typing import Any

from standins import SOURCE

import lacunet as lc
from lacunet.data.read import read_table
from lacunet.missingness.refute.witness_text import two_models
from lacunet.missingness.verdict import Verdict
from lacunet.network.network import Network
from lacunet.show.verdicts.verdict_on_data import GraphReport, report_on_data
from lacunet.show.verdicts.verdict_page import page
from lacunet.show.verdicts.verdict_text import rests_on


def made(graph: lc.MissingnessGraph, verdicts: list[Verdict], rows: Any = None) -> str:
    table = None if rows is None else read_table(rows, graph.network)
    answers = [report_on_data(verdict, table) for verdict in verdicts]
    return page(GraphReport(graph, answers), SOURCE)


def test_every_verdict_is_shown_with_its_formula_or_its_reason() -> None:
    network = Network({name: ["0", "1"] for name in "XYZ"}, {"Y": ["X"], "Z": ["Y"]})
    graph = lc.MissingnessGraph.parse("X -> R[Y]; Z -> R[Z]", network)
    verdicts = [graph.recover(["Y"], ["X"]), graph.recover(["Z"])]
    assert [verdict.status for verdict in verdicts] == ["recoverable", "not recoverable"]
    text = made(graph, verdicts)
    assert text.count("<math") == 1
    assert "depends" in text
    found = re.search(r'id="page-data">(.*?)</script>', text, re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert [one["estimand"] for one in data["queries"]] == [verdicts[0].estimand, ""]


def test_names_in_a_graph_are_shown_as_text() -> None:
    network = Network({"<i>": ["0", "1"], "B": ["0", "1"]}, {"B": ["<i>"]})
    graph = lc.MissingnessGraph.parse('"<i>" -> R[B]', network)
    text = made(graph, [graph.recover(["B"], ["<i>"])])
    assert "<i>" not in text
    assert "&lt;i&gt;" in text


def test_with_data_the_estimate_stands_below_its_formula() -> None:
    network = Network({"X": ["a", "b"], "Y": ["0", "1"]}, {"Y": ["X"]})
    graph = lc.MissingnessGraph.parse("X -> R[Y]", network)
    rows = {"X": ["a"] * 4 + ["b"] * 4, "Y": ["0", "1", "1", "1", "0", "0", None, None]}
    text = made(graph, [graph.recover(["Y"], ["X"])], rows)
    assert "<td>0.7500</td>" in text  # P(Y = 1 | X = a)
    assert "6 rows" in text
    assert "(75.0%)" in text
    assert "weight 1" in text


def test_what_weighted_rows_are_worth_is_not_called_an_effective_size() -> None:
    network = Network({"X": ["a", "b"], "Y": ["0", "1"]}, {"Y": ["X"]})
    graph = lc.MissingnessGraph.parse("X -> R[Y]", network)
    rows = {"X": ["a"] * 4 + ["b"] * 4, "Y": ["0", "1", "1", "1", "0", "0", None, None]}
    found = graph.recover(["Y"]).estimate_with_report(rows)
    # Four rows of weight 1 and two of weight 2: 8^2 / (4 + 2 * 4).
    assert rests_on(found) == "6 rows used (75.0%), worth 5 of equal weight, largest weight 2"


def test_a_proof_by_two_models_is_shown() -> None:
    network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    graph = lc.MissingnessGraph.parse("X -> R[Y]; Y -> R[X]; R[X] -> R[Y]", network)
    verdict = graph.recover(["X", "Y"])
    assert verdict.witness is not None
    cells = two_models(verdict.witness, network)
    text = made(graph, [verdict])
    assert all(f"<td>{value}</td>" in text for row in cells for value in row[1:])
