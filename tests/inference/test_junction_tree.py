from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacunet.inference.elimination.elimination_order import (
    best_order,
    clique_cells,
    number_nodes,
    sweep,
)
from lacunet.inference.elimination.junction_tree import (
    JunctionTree,
    calibrate,
    calibration_plan,
    junction_tree,
)
from lacunet.network.network import Network
from strategies import networks


def families_of(network: Network) -> list[tuple[int, ...]]:
    """The families by numbers, in an arbitrary elimination order: that of the variables."""
    number_of = {name: number for number, name in enumerate(network.variables)}
    return [tuple(number_of[v] for v in network.family(name)) for name in network.variables]


def bits(scope: Iterable[int]) -> int:
    return sum(1 << number for number in scope)


def tree_of(network: Network, *wanted: int) -> JunctionTree:
    scopes = [bits(family) for family in families_of(network)]
    return junction_tree(scopes, network.shape(network.variables), wanted)


@st.composite
def rooted_trees(draw: st.DrawFn) -> tuple[Network, JunctionTree]:
    """A network and its tree, with a root that holds some of its variables."""
    network = draw(networks(max_variables=9))
    count = len(network.variables)
    wanted = draw(st.lists(st.sets(st.integers(0, count - 1), max_size=3), max_size=3))
    return network, tree_of(network, *map(bits, wanted))


@settings(deadline=None)
@given(rooted_trees())
def test_every_family_lies_within_its_home_clique(drawn: tuple[Network, JunctionTree]) -> None:
    network, tree = drawn
    for family in families_of(network):
        assert set(family) <= set(tree.cliques[tree.home(family)])


@settings(deadline=None)
@given(rooted_trees())
def test_the_cliques_of_one_variable_hang_together(drawn: tuple[Network, JunctionTree]) -> None:
    network, tree = drawn
    graph = nx.Graph()
    graph.add_nodes_from(range(len(tree.cliques)))
    graph.add_edges_from((at, up) for at, up in enumerate(tree.parents) if up >= 0)
    assert nx.is_forest(graph)
    for number in range(len(network.variables)):
        holders = [at for at, clique in enumerate(tree.cliques) if number in clique]
        assert nx.is_connected(graph.subgraph(holders))


@settings(deadline=None)
@given(rooted_trees())
def test_a_separator_is_what_a_clique_shares_with_its_parent(
    drawn: tuple[Network, JunctionTree],
) -> None:
    _, tree = drawn
    for at, (up, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
        assert up < at
        shared = set(tree.cliques[at]) & set(tree.cliques[up]) if up >= 0 else set()
        assert set(separator) == shared


@settings(deadline=None)
@given(rooted_trees())
def test_no_clique_lies_within_another(drawn: tuple[Network, JunctionTree]) -> None:
    for one, other in combinations(map(set, drawn[1].cliques), 2):
        assert not one <= other
        assert not other <= one


@settings(deadline=None)
@given(networks(max_variables=9), st.data())
def test_the_first_scope_wanted_lies_within_a_root(network: Network, data: st.DataObject) -> None:
    count = len(network.variables)
    wanted = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=3))
    tree = tree_of(network, bits(wanted))
    home = tree.home(tuple(wanted))
    assert tree.parents[home] == -1
    assert wanted <= set(tree.cliques[home])


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
    nodes = list(grid)
    for number in best_order(number_nodes(grid, dict.fromkeys(grid, np.log(2)))):
        node = nodes[number]
        sizes.append(graph.degree(node) + 1)
        graph.add_edges_from(combinations(list(graph.neighbors(node)), 2))
        graph.remove_node(node)
    assert max(sizes) == 21
    assert sum(2**size for size in sizes) < 2**28


def test_the_search_is_repeatable() -> None:
    grid = triangulated_grid(9)
    graph = number_nodes(grid, dict.fromkeys(grid, np.log(3)))
    assert best_order(graph) == best_order(graph)


def test_a_sweep_reaches_the_parts_that_do_not_hang_together() -> None:
    graph = number_nodes(
        {"A": {"B"}, "B": {"A"}, "C": set(), "D": {"E"}, "E": {"D"}}, dict.fromkeys("ABCDE", 1.0)
    )
    assert sweep(graph, 3) == [3, 4, 0, 1, 2]
    assert clique_cells(graph, [3, 4, 0, 1, 2]) == pytest.approx(
        2 * np.exp(2) + 3 * np.exp(1), rel=1e-14
    )


def test_the_product_of_contradictory_factors_has_no_marginals() -> None:
    tree = junction_tree([0b11], [2, 2])
    plan = calibration_plan(tree, [(0,), (0, 1)], [(1,)])
    result = calibrate(plan, [np.array([1.0, 0.0]), np.array([[0.0, 0], [1, 1]])])
    assert result.log_total == -np.inf
    assert result.marginals == ()


def test_the_total_of_a_product_is_its_sum() -> None:
    tree = junction_tree([0b011, 0b110], [2, 2, 3])
    one, two = np.arange(4.0).reshape(2, 2), np.arange(6.0).reshape(2, 3)
    result = calibrate(calibration_plan(tree, [(0, 1), (1, 2)], []), [one, two])
    assert result.log_total == pytest.approx(np.log(np.einsum("ab,bc->", one, two)), rel=1e-14)


@pytest.mark.parametrize("size", [3, 12])  # one call for a clique, or one variable at a time
@pytest.mark.parametrize("scale", [1.0, 1e-90])  # whose fourth power is below the smallest float
def test_cliques_of_any_size_and_scale_give_the_sums_of_the_product(
    size: int, scale: float
) -> None:
    rng = np.random.default_rng(3)
    scopes = [(0, 1, 2), (2, 1, 3), (3, 0), (3, 2), (3, 4)]
    tables = [rng.random([size] * len(scope)) for scope in scopes]
    joint = np.einsum("abc,cbd,da,dc,de->abcde", *tables)
    wanted = [(4,), (0, 3), (2,), (1, 0)]
    tree = junction_tree(map(bits, scopes), [size] * 5, [bits(scope) for scope in wanted])
    found = calibrate(calibration_plan(tree, scopes, wanted), [scale * t for t in tables])
    for scope, marginal in zip(wanted, found.marginals, strict=True):
        kept = "".join("abcde"[v] for v in scope)
        expected = np.einsum(f"abcde->{kept}", joint)
        np.testing.assert_allclose(marginal, expected / expected.sum(), rtol=1e-12)
    expected_log = np.log(joint.sum()) + 5 * np.log(scale)
    assert found.log_total == pytest.approx(expected_log, rel=1e-13)


@pytest.mark.parametrize("size", [3, 8, 12])  # one call; one variable at a time; and each version
@pytest.mark.parametrize("scale", [1.0, 1e-90])
@pytest.mark.parametrize("wanted", [[], [(4,)], [(4,), (0, 3), (2,)]])
def test_totals_of_variants_come_with_the_product(
    size: int, scale: float, wanted: list[tuple[int, ...]]
) -> None:
    rng = np.random.default_rng(3)
    scopes = [(0, 1, 2), (2, 1, 3), (3, 0), (3, 2), (3, 4)]
    tables = [rng.random([size] * len(scope)) for scope in scopes]
    others = [table * (rng.random(table.shape) < 0.7) for table in tables]
    variants = [0b00001, 0b00101, 0b10000, 0b11111]
    totals = [
        np.einsum("abc,cbd,da,dc,de->", *(o if v >> f & 1 else t for f, (t, o) in pairs))
        for pairs in [[*enumerate(zip(tables, others, strict=True))]]
        for v in [0, *variants]
    ]
    tree = junction_tree(map(bits, scopes), [size] * 5, [bits(scope) for scope in wanted])
    both = [scale * np.stack(pair, axis=-1) for pair in zip(tables, others, strict=True)]
    found = calibrate(calibration_plan(tree, scopes, wanted, variants), both)
    np.testing.assert_allclose(found.ratios, np.array(totals[1:]) / totals[0], rtol=1e-12)
    plain = calibrate(calibration_plan(tree, scopes, wanted), [scale * t for t in tables])
    assert found.log_total == pytest.approx(plain.log_total, rel=1e-13)
    for mine, other in zip(found.marginals, plain.marginals, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)
