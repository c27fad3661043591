"""Elimination orders of many components at once, held against networkx and brute force."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lacunet.counts.em_problems.ragged import Ragged
from lacunet.inference.elimination.batched import eliminate


@st.composite
def connected_graphs(draw: st.DrawFn, most: int = 9) -> nx.Graph:
    size = draw(st.integers(1, most))
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    for vertex in range(1, size):
        graph.add_edge(vertex, draw(st.integers(0, vertex - 1)))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    graph.add_edges_from(pair for pair in draw(st.lists(pairs, max_size=9)) if len(set(pair)) == 2)
    return graph


def together(graphs: list[nx.Graph]) -> tuple[np.ndarray, Ragged]:
    sizes = np.array([len(graph) for graph in graphs])
    first = np.cumsum(sizes) - sizes
    pairs = [
        start + end
        for graph, start in zip(graphs, first, strict=True)
        for edge in graph.edges
        for end in edge
    ]
    return sizes, Ragged.of_lengths(np.full(len(pairs) // 2, 2), np.array(pairs, np.int64))


def scopes_by_hand(graph: nx.Graph, order: list[int]) -> dict[int, set[int]]:
    """What each vertex is joined to when it goes, one after the other."""
    left = graph.copy()
    scopes = {}
    for vertex in order:
        near = set(left[vertex])
        scopes[vertex] = near
        left.remove_node(vertex)
        left.add_edges_from((one, two) for one in near for two in near if one != two)
    return scopes


@settings(max_examples=100, deadline=None)
@given(st.lists(connected_graphs(), min_size=1, max_size=4))
def test_scopes_are_those_of_eliminating_in_that_order(graphs: list[nx.Graph]) -> None:
    sizes, edges = together(graphs)
    found = eliminate(sizes, edges, np.ones(int(sizes.sum())))
    first = 0
    for graph, size in zip(graphs, sizes, strict=True):
        rounds = found.round[first : first + size]
        order = sorted(range(size), key=lambda vertex: rounds[vertex])
        expected = scopes_by_hand(graph, order)
        for vertex in range(size):
            scope = found.scope.row(first + vertex) - first
            assert scope.tolist() == sorted(expected[vertex])
        first += size


@settings(max_examples=40, deadline=None)
@given(connected_graphs(most=6))
def test_the_width_of_small_graphs_is_the_best_there_is_or_one_more(graph: nx.Graph) -> None:
    sizes, edges = together([graph])
    found = int(eliminate(sizes, edges, np.ones(len(graph))).scope.lengths.max())
    best = min(
        max(len(scope) for scope in scopes_by_hand(graph, list(order)).values())
        for order in permutations(range(len(graph)))
    )
    assert best <= found <= best + 1


def test_a_chordal_graph_is_eliminated_without_fill() -> None:
    tree = nx.random_labeled_tree(150, seed=3)  # three words of bits a component
    sizes, edges = together([tree, nx.path_graph(70), nx.complete_graph(5)])
    found = eliminate(sizes, edges, np.ones(int(sizes.sum())))
    assert found.scope.lengths[:220].max() == 1
    assert sorted(found.scope.lengths[220:].tolist()) == [0, 1, 2, 3, 4]


def test_a_grid_is_eliminated_within_its_known_width() -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 9))
    sizes, edges = together([grid])
    widest = int(eliminate(sizes, edges, np.ones(81)).scope.lengths.max())
    assert 9 <= widest <= 11  # the treewidth of an n x n grid is n
