from __future__ import annotations

from itertools import combinations
from math import log
from typing import Any

import networkx as nx
import numpy as np
import pytest

from lacunet.missingness.errors import SeparatorError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separation.separator import separator, separators
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from manifest_laws import random_graph


def smallest_by_trying_all(graph: MissingnessGraph, family: tuple[str, ...]) -> float | None:
    """The least sum of logarithms over all valid separators, by networkx's d-separation."""
    directed: Any = graph.to_networkx()
    missing = {name for name in family if name in graph.causes}
    observed = set(family) - missing
    usable = [name for name in graph.fully_observed if name not in family]
    costs = [
        sum(log(graph.network.cardinality(name)) for name in chosen)
        for size in range(len(usable) + 1)
        for chosen in combinations(usable, size)
        if nx.is_d_separator(
            directed, missing, {Mechanism(name) for name in missing}, observed | set(chosen)
        )
    ]
    return min(costs) if costs else None


@pytest.mark.parametrize("seed", range(25))
def test_no_valid_separator_has_a_smaller_table(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), 5, 0.03)
    for name in graph.network.variables:
        family = graph.network.family(name)
        if not any(member in graph.causes for member in family):
            assert separator(graph, family) == ()
            continue
        smallest = smallest_by_trying_all(graph, family)
        if smallest is None:
            with pytest.raises(SeparatorError, match="not MAR"):
                separator(graph, family)
        else:
            found = separator(graph, family)
            cost = sum(log(graph.network.cardinality(member)) for member in found)
            assert cost == pytest.approx(smallest)


def test_a_cause_of_the_causes_with_fewer_states_is_preferred() -> None:
    network = Network(
        {"A": ["0", "1"], "B": ["0", "1"], "C": list("01234"), "X": ["0", "1"]},
        {name: ["C"] for name in "ABX"},
    )
    graph = MissingnessGraph.parse("A, B -> R[X]", network)
    assert separator(graph, ["X"]) == ("A", "B")  # four cells rather than five
    assert separators(graph)["A"] == ()


def test_a_family_that_is_not_mar_is_refused_with_the_open_path() -> None:
    network = Network({"X": ["0", "1"], "Y": ["0", "1"]}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("Y -> R[Y]", network)
    with pytest.raises(SeparatorError, match=r"Y -> R\[Y\]"):
        separator(graph, ["X", "Y"])


def test_latent_members_of_a_family_play_no_part() -> None:
    states = {name: ["0", "1"] for name in "LXYZ"}
    network = Network(states, {"X": ["L"], "Y": ["L", "X"], "Z": ["Y"]})
    for causes in ({"X": ["Z"]}, {"X": ["Z"], "L": ["Z"]}):
        graph = MissingnessGraph(network, causes, latent=["L"])
        assert separators(graph) == {"L": (), "X": ("Z",), "Y": (), "Z": ()}
