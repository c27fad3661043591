from __future__ import annotations

import json
import re

from standins import SOURCE

import lacunet as lc
from lacunet.model.network import Network
from lacunet.pages.recovered import page


def test_every_verdict_is_shown_with_its_formula_or_its_reason() -> None:
    network = Network({name: ["0", "1"] for name in "XYZ"}, {"Y": ["X"], "Z": ["Y"]})
    graph = lc.MissingnessGraph.parse("X -> R[Y]; Z -> R[Z]", network)
    verdicts = [graph.recover(["Y"], ["X"]), graph.recover(["Z"])]
    assert [verdict.status for verdict in verdicts] == ["recoverable", "not recoverable"]
    text = page(graph, verdicts, SOURCE)
    assert text.count("<math") == 1
    assert "depends on its own value" in text
    found = re.search(r'id="page-data">(.*?)</script>', text, re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert [one["estimand"] for one in data["verdicts"]] == [verdicts[0].estimand, ""]
    assert "script-src 'none'" in text


def test_names_in_a_graph_are_shown_as_text() -> None:
    network = Network({"<i>": ["0", "1"], "B": ["0", "1"]}, {"B": ["<i>"]})
    graph = lc.MissingnessGraph.parse('"<i>" -> R[B]', network)
    text = page(graph, [graph.recover(["B"], ["<i>"])], SOURCE)
    assert "<i>" not in text
    assert "&lt;i&gt;" in text
