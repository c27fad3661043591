"""Informed deletion: told the separator, or left to read it off a missingness graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from golden import golden
from lacunet.learning.family_reports import MCAR
from lacunet.learning.methods import method_named
from lacunet.learning.plan import MethodError
from lacunet.missingness.errors import SeparatorError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separation.separator import separator
from road import Task, learned_by

CASE = golden("fire-alarm-mar")
GRAPH = MissingnessGraph(CASE.network, CASE.expected["mechanism_parents"])


@pytest.mark.parametrize("method", ["informed-direct", "informed-factored"])
def test_a_graph_gives_each_family_its_own_separator(method: str) -> None:
    task = Task(CASE.network, CASE.table, 1.0)
    by_graph = learned_by(method_named(method, missingness=GRAPH), task)
    for name in CASE.network.variables:
        own = separator(GRAPH, CASE.network.family(name), CASE.table.fully_observed)
        named = learned_by(method_named(method, groups=own), task)
        np.testing.assert_array_equal(by_graph.tables[name], named.tables[name])


def test_a_graph_that_is_not_mar_for_a_family_is_refused_with_the_path() -> None:
    graph = MissingnessGraph.parse("Alarm -> R[Alarm]; Report -> R[Leaving]", CASE.network)
    with pytest.raises(SeparatorError, match="Alarm -> R\\[Alarm\\]"):
        learned_by(
            method_named("informed-direct", missingness=graph), Task(CASE.network, CASE.table, 1.0)
        )


def test_a_separator_or_a_graph_is_asked_for() -> None:
    with pytest.raises(MethodError, match="--missingness FILE"):
        method_named("informed-direct")


def test_a_lone_name_is_a_separator_of_one() -> None:
    method: Any = method_named("informed-direct", groups="Fire")
    assert method.groups == ("Fire",)


@pytest.mark.parametrize(("separator", "given"), [(["A"], "at random given A"), ([], MCAR)])
def test_a_result_assumes_what_its_separator_says(separator: list[str], given: str) -> None:
    rows = {
        "A": ["a", "b", "a", "b"],
        "B": ["a", "b", "b", "a"],
        "C": ["a", None, "b", "a"],
        "D": [None, "a", "b", "b"],
    }
    result = lc.learn("A -> B -> C -> D", rows, "informed-direct", groups=separator)
    assert result.assumption.endswith(given)  # rows of P(B, C) are grouped by B too
    explained = lc.explain("A -> B -> C -> D", rows, "informed-direct", groups=separator)
    assert explained.assumption == result.assumption


@pytest.mark.parametrize("method", ["informed-direct", "informed-factored"])
def test_a_result_keeps_the_graph_and_refuses_what_its_hidden_causes_confound(
    method: str, tmp_path: Path
) -> None:
    rows = {"X": ["a", "a", "a", "b", "b", "b"], "Y": ["a", "b", None, "b", "b", None]}
    graph = "X -> R[Y]; X <-> Y"
    result = lc.learn("X -> Y", rows, method, missingness=graph)
    result.write(tmp_path / "learned.json")
    for known in (result, lc.read_result(tmp_path / "learned.json")):
        with pytest.raises(lc.LacunetError, match="hidden"):
            known.query("Y", do={"X": "a"})
    assert not [w for w in result.warnings if "hidden" in w]  # P(X) P(Y | X) is their law
    apart = lc.learn("X; Y", rows, method, missingness="X <-> Y; R[Y]")
    assert any("hidden common cause" in note for note in apart.notes)
