"""Separation in mixed graphs against networkx, on directed graphs with explicit hidden nodes."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from lacunet.missingness.separation.mixed import MixedGraph, project_out, without_bidirected

NODES = tuple("ABCDE")


@st.composite
def mixed_graphs(draw: st.DrawFn) -> MixedGraph:
    pairs = list(combinations(NODES, 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True))
    hidden = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    parents: dict[Any, list[Any]] = {
        node: [one for one, two in edges if two == node] for node in NODES
    }
    return MixedGraph.of(parents, hidden)


def with_hidden_nodes(graph: MixedGraph) -> nx.DiGraph:
    drawn = nx.DiGraph()
    drawn.add_nodes_from(graph.order)
    drawn.add_edges_from((p, node) for node in graph.order for p in graph.parents[node])
    for at, pair in enumerate(graph.hidden):
        drawn.add_edges_from((at, node) for node in pair)
    return drawn


SPLITS = st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(lambda s: 1 in s and 2 in s)


def sets(split: list[int]) -> list[set[str]]:
    return [{n for n, k in zip(NODES, split, strict=True) if k == kind} for kind in (1, 2, 3)]


@given(mixed_graphs(), SPLITS)
def test_separation_is_that_of_networkx_with_the_hidden_causes_drawn(
    graph: MixedGraph, split: list[int]
) -> None:
    one, two, given_nodes = sets(split)
    expected = nx.is_d_separator(with_hidden_nodes(graph), one, two, given_nodes)
    assert graph.separated(one, two, given_nodes) == expected


@given(mixed_graphs(), SPLITS, st.sampled_from(NODES))
def test_fixing_a_node_is_deleting_it(graph: MixedGraph, split: list[int], node: str) -> None:
    one, two, given_nodes = (part - {node} for part in sets(split))
    if one and two:
        fixed = graph.separated(one, two, given_nodes, frozenset({node}))
        others = graph.among([other for other in graph.order if other != node])
        assert fixed == others.separated(one, two, given_nodes)


@given(mixed_graphs(), SPLITS, st.sampled_from(NODES))
def test_a_projection_separates_what_the_graph_separates(
    graph: MixedGraph, split: list[int], node: str
) -> None:
    one, two, given_nodes = (part - {node} for part in sets(split))
    if one and two:
        projection = project_out(graph, node)
        assert projection.separated(one, two, given_nodes) == graph.separated(one, two, given_nodes)


@given(mixed_graphs(), SPLITS)
def test_a_graph_without_hidden_causes_claims_no_more_than_the_one_with_them(
    graph: MixedGraph, split: list[int]
) -> None:
    one, two, given_nodes = sets(split)
    if without_bidirected(graph, NODES).separated(one, two, given_nodes):
        assert graph.separated(one, two, given_nodes)


@given(mixed_graphs(), SPLITS)
def test_an_open_path_is_a_path(graph: MixedGraph, split: list[int]) -> None:
    one, two, given_nodes = sets(split)
    path = graph.open_path(one, two, given_nodes)
    if path is not None:
        assert path[0] in one
        assert path[-1] in two
        for here, there in pairwise(path):
            assert there in graph.parents[here] | graph.children[here] | graph.siblings[here]


def test_without_hidden_causes_a_node_gets_its_district_and_their_parents() -> None:
    graph = MixedGraph.of({"D": [], "A": ["D"], "B": [], "C": []}, [("A", "B"), ("B", "C")])
    one_way = without_bidirected(graph, ("D", "A", "B", "C"))
    assert one_way.parents["B"] == {"A", "D"}
    assert one_way.parents["C"] == {"A", "B", "D"}
    # In another order C comes before B: then nothing joins it to A.
    other_way = without_bidirected(graph, ("D", "A", "C", "B"))
    assert other_way.parents["C"] == set()
    assert other_way.parents["B"] == {"A", "C", "D"}
