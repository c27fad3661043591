from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lacunet.inference.elimination.elimination_order import greedy_order, number_nodes


def min_fill_order(neighbours: Mapping[str, set[str]], weight_of: Mapping[str, float]) -> list[str]:
    """The greedy order by fill-in, ties by weight and then by place, in names."""
    nodes = list(neighbours)
    order = greedy_order(number_nodes(neighbours, weight_of), [1] * len(nodes))
    return [nodes[at] for at in order]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, set[str]], dict[str, float]]:
    names = draw(st.lists(st.text("ABCDEFG", min_size=1, max_size=2), max_size=9, unique=True))
    edges = draw(st.lists(st.sampled_from(list(combinations(names, 2)) or [None]), max_size=20))
    neighbours: dict[str, set[str]] = {name: set() for name in names}
    for one, other in filter(None, edges):
        neighbours[one].add(other)
        neighbours[other].add(one)
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=9, max_size=9))
    return neighbours, dict(zip(names, weights, strict=False))


def price(graph: nx.Graph, node: str, weight_of: Mapping[str, float]) -> tuple[int, float]:
    """Fill-in and clique weight of a node, counted anew from the definition."""
    around = list(graph.neighbors(node))
    lacking = sum(not graph.has_edge(*pair) for pair in combinations(around, 2))
    return lacking, sum(weight_of[name] for name in [node, *around])


@settings(deadline=None)
@given(graphs())
def test_every_step_takes_a_node_of_least_fill_then_least_weight(
    drawn: tuple[dict[str, set[str]], dict[str, float]],
) -> None:
    neighbours, weight_of = drawn
    order = min_fill_order(neighbours, weight_of)
    graph = nx.Graph()
    graph.add_nodes_from(neighbours)
    graph.add_edges_from((one, other) for one in neighbours for other in neighbours[one])
    assert sorted(order) == sorted(neighbours)
    for node in order:
        assert price(graph, node, weight_of) == min(price(graph, v, weight_of) for v in graph)
        graph.add_edges_from(combinations(list(graph.neighbors(node)), 2))
        graph.remove_node(node)


@settings(deadline=None)
@given(graphs())
def test_the_graph_given_is_not_modified(
    drawn: tuple[dict[str, set[str]], dict[str, float]],
) -> None:
    neighbours, weight_of = drawn
    before = {node: set(own) for node, own in neighbours.items()}
    min_fill_order(neighbours, weight_of)
    assert neighbours == before


def test_a_chordal_graph_needs_no_edge_filled_in() -> None:
    tree: Any = nx.random_labeled_tree(60, seed=np.random.default_rng(3))
    neighbours: dict[str, set[str]] = {node: set(tree.neighbors(node)) for node in tree}
    order = min_fill_order(neighbours, dict.fromkeys(tree, 1.0))
    for node in order:
        assert tree.degree(node) <= 1
        tree.remove_node(node)
