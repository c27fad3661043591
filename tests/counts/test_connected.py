"""Connected components beside those of networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lacunet.counts.em_problems.connected import connected_components


@given(st.data())
def test_components_are_those_of_networkx(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(0, 30))
    ends = st.integers(0, max(nodes - 1, 0))
    edges = data.draw(st.lists(st.tuples(ends, ends), max_size=40 if nodes else 0))
    one, two = np.array(edges, dtype=np.int32).reshape(-1, 2).T
    number, label = connected_components(nodes, one, two)
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(nodes))
    parts = sorted(nx.connected_components(graph), key=min)
    assert number == len(parts)
    assert [set(np.flatnonzero(label == place)) for place in range(number)] == parts


def test_a_long_chain_in_any_order_is_one_component() -> None:
    order = np.random.default_rng(0).permutation(10_000)
    number, label = connected_components(10_001, order, order + 1)
    assert number == 1
    assert not label.any()
