from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from lacunet.inference.elimination.junction_tree import (
    Factor,
    JunctionTree,
    calibrate,
    junction_tree,
)
from lacunet.inference.elimination.order import best_order, cells_of, numbered, sweep
from lacunet.model.network import Network
from strategies import networks


def tree_of(network: Network) -> JunctionTree:
    scopes = [network.family(name) for name in network.variables]
    return junction_tree(scopes, {name: network.cardinality(name) for name in network.variables})


@settings(deadline=None)
@given(networks(max_variables=9))
def test_every_family_lies_within_its_home_clique(network: Network) -> None:
    tree = tree_of(network)
    for name in network.variables:
        family = network.family(name)
        assert set(family) <= set(tree.cliques[tree.home(family)])


@settings(deadline=None)
@given(networks(max_variables=9))
def test_the_cliques_of_one_variable_hang_together(network: Network) -> None:
    tree = tree_of(network)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(tree.cliques)))
    graph.add_edges_from((at, up) for at, up in enumerate(tree.parents) if up >= 0)
    assert nx.is_forest(graph)
    for name in network.variables:
        holders = [at for at, clique in enumerate(tree.cliques) if name in clique]
        assert nx.is_connected(graph.subgraph(holders))


@settings(deadline=None)
@given(networks(max_variables=9))
def test_a_separator_is_what_a_clique_shares_with_its_parent(network: Network) -> None:
    tree = tree_of(network)
    for at, (up, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
        assert up < at
        shared = set(tree.cliques[at]) & set(tree.cliques[up]) if up >= 0 else set()
        assert set(separator) == shared


@settings(deadline=None)
@given(networks(max_variables=9))
def test_no_clique_lies_within_another(network: Network) -> None:
    for one, other in combinations(map(set, tree_of(network).cliques), 2):
        assert not one <= other
        assert not other <= one


def triangulated_grid(side: int) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """The moral graph of a grid whose cells are caused by those above and to the left."""
    cells = {(i, j): set[tuple[int, int]]() for i in range(side) for j in range(side)}
    for (i, j), own in cells.items():
        for other in ((i + 1, j), (i, j + 1), (i + 1, j - 1)):
            if other in cells:
                own.add(other)
                cells[other].add((i, j))
    return cells


def test_a_grid_of_twenty_by_twenty_needs_cliques_of_twenty_one() -> None:
    grid = triangulated_grid(20)
    graph = nx.Graph([(one, other) for one in grid for other in grid[one]])
    sizes = []
    for node in best_order(grid, dict.fromkeys(grid, np.log(2))):
        sizes.append(graph.degree(node) + 1)
        graph.add_edges_from(combinations(list(graph.neighbors(node)), 2))
        graph.remove_node(node)
    assert max(sizes) == 21
    assert sum(2**size for size in sizes) < 2**28


def test_the_search_is_repeatable() -> None:
    grid = triangulated_grid(9)
    weights = dict.fromkeys(grid, np.log(3))
    assert best_order(grid, weights) == best_order(grid, weights)


def test_a_sweep_reaches_the_parts_that_do_not_hang_together() -> None:
    graph = numbered(
        {"A": {"B"}, "B": {"A"}, "C": set(), "D": {"E"}, "E": {"D"}}, dict.fromkeys("ABCDE", 1.0)
    )
    assert sweep(graph, 3) == [3, 4, 0, 1, 2]
    assert cells_of(graph, [3, 4, 0, 1, 2]) == pytest.approx(
        2 * np.exp(2) + 3 * np.exp(1), rel=1e-14
    )


def test_the_product_of_contradictory_factors_has_no_marginals() -> None:
    tree = junction_tree([("A", "B")], {"A": 2, "B": 2})
    factors = [
        Factor(("A",), np.array([1.0, 0.0])),
        Factor(("A", "B"), np.array([[0.0, 0], [1, 1]])),
    ]
    result = calibrate(tree, factors, [("B",)])
    assert result.log_total == -np.inf
    assert result.marginals == ()


def test_the_total_of_a_product_is_its_sum() -> None:
    tree = junction_tree([("A", "B"), ("B", "C")], {"A": 2, "B": 2, "C": 3})
    one, two = np.arange(4.0).reshape(2, 2), np.arange(6.0).reshape(2, 3)
    result = calibrate(tree, [Factor(("A", "B"), one), Factor(("B", "C"), two)], [])
    assert result.log_total == pytest.approx(np.log(np.einsum("ab,bc->", one, two)), rel=1e-14)
