from __future__ import annotations

from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest

from lacunet.data.table import Copies, EncodedTable
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.implications import check_implications, implications, never_testable
from lacunet.missingness.independence.stratified import (
    approximated,
    independence,
    pearson_moments,
)
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from manifest_laws import random_graph, random_model

CHAIN = Network({name: ["0", "1"] for name in "ABC"}, {"B": ["A"], "C": ["B"]})


def sampled(graph: MissingnessGraph, rows: int, seed: int) -> EncodedTable:
    law = random_model(graph, np.random.default_rng(seed)).manifest()
    assert law.weights is not None
    drawn = np.random.default_rng(seed + 1).choice(law.rows, rows, p=law.weights / law.total)
    columns = {name: column[drawn] for name, column in law.columns.items()}
    return EncodedTable(law.cardinality_of, columns)


@pytest.mark.parametrize("seed", range(20))
def test_every_implication_is_a_separation_of_networkx(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), 4, 0.05)
    directed: Any = graph.to_networkx()
    for implication in implications(graph):
        given = {*implication.given, *implication.shown}
        assert nx.is_d_separator(directed, {implication.one}, {implication.two}, given)
        shown: set[Any] = {implication.one, implication.two, *implication.given}
        hidden = {Mechanism(name) for name in shown if name in graph.causes}
        assert hidden <= {*implication.shown, *implication.given}


def test_that_a_variable_does_not_censor_itself_is_never_testable() -> None:
    graph = MissingnessGraph.parse("A -> R[B]", CHAIN)
    assert not any({i.one, i.two} == {"B", Mechanism("B")} for i in implications(graph))
    assert never_testable(graph) == [
        "B ⊥ R[B] | ...: never testable, as no row with R[B]=0 shows B"
    ]
    assert never_testable(MissingnessGraph.parse("B -> R[B]", CHAIN)) == []


def test_a_true_graph_is_not_refuted_and_a_false_one_is() -> None:
    true = MissingnessGraph.parse("A -> R[B]; R[C]", CHAIN)
    table = sampled(true, 20_000, 5)
    assert all(result.adjusted > 0.01 for result in check_implications(true, table))
    false = MissingnessGraph.parse("R[B]; R[C]", CHAIN)
    worst = check_implications(false, table)[0]
    assert str(worst.implication) == "A ⊥ R[B]"
    assert worst.adjusted < 1e-6
    assert 0 < worst.effect <= 1


def test_the_statistic_is_that_of_scipy() -> None:
    from scipy.stats import chi2_contingency

    graph = MissingnessGraph.parse("R[B]; R[C]", CHAIN)
    table = sampled(MissingnessGraph.parse("A -> R[B]; R[C]", CHAIN), 2000, 5)
    result = next(r for r in check_implications(graph, table) if str(r.implication) == "A ⊥ R[B]")
    counts = np.zeros((2, 2))
    np.add.at(counts, (table.columns["A"], (table.columns["B"] != 2).astype(int)), 1)
    expected = chi2_contingency(counts, correction=False)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.degrees_of_freedom == expected.dof
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.rows == 2000


def test_holm_s_adjustment_by_hand() -> None:
    graph = MissingnessGraph.parse("R[B]; R[C]", CHAIN)
    results = check_implications(graph, sampled(graph, 500, 1))
    highest = 0.0
    for at, result in enumerate(results):
        highest = max(highest, min(1.0, result.p_value * (len(results) - at)))
        assert result.adjusted == highest


def test_sampling_weights_are_scaled_to_their_effective_size() -> None:
    graph = MissingnessGraph.parse("A -> R[C]", CHAIN)
    table = sampled(graph, 500, 2)
    plain = check_implications(graph, table)
    for scale in (0.25, 1.5, 2.0, 1500.0):
        even = EncodedTable(table.cardinality_of, table.columns, np.full(table.rows, scale))
        for one, two in zip(plain, check_implications(graph, even), strict=True):
            assert two.statistic == pytest.approx(one.statistic)
            assert two.p_value == pytest.approx(one.p_value)


def test_a_row_that_stands_for_two_counts_twice() -> None:
    graph = MissingnessGraph.parse("A -> R[C]", CHAIN)
    table = sampled(graph, 300, 2)
    two_each = np.full(table.rows, 2.0)
    copies = Copies(two_each, two_each)
    twice = EncodedTable(table.cardinality_of, table.columns, two_each, copies=copies)
    for one, two in zip(
        check_implications(graph, table), check_implications(graph, twice), strict=True
    ):
        assert two.statistic == pytest.approx(2 * one.statistic)


def test_missing_values_without_a_mechanism_are_not_tested_but_refused() -> None:
    table = sampled(MissingnessGraph.parse("A -> R[C]; A -> R[B]", CHAIN), 200, 2)
    with pytest.raises(MissingnessGraphError, match="'B'"):
        check_implications(MissingnessGraph.parse("A -> R[C]", CHAIN), table)


STAR = Network({n: ["0", "1"] for n in "ZABCXY"}, {n: ["Z"] for n in "ABCX"} | {"Y": ["X"]})


def test_a_mechanism_that_is_parent_and_shown_does_not_refute_its_own_data() -> None:
    graph = MissingnessGraph.parse("Z -> R[X]; A, B, C, X, R[X] -> R[Y]", STAR)
    for implication in implications(graph):
        assert not {*implication.given} & {*implication.shown}
    refuted = sum(
        check_implications(graph, sampled(graph, 500, seed))[0].adjusted < 0.05
        for seed in range(40)
    )
    # Holm holds the level at 5%; 40 samples: six or more have a probability of 0.4%.
    assert refuted <= 5


def test_a_parent_mechanism_among_many_conditions_is_tested_where_it_is_one() -> None:
    network = Network({name: ["0", "1"] for name in "ABCDXY"}, {"X": ["A"], "Y": ["X"]})
    graph = MissingnessGraph.parse("R[X]; A, B, C, D, R[X] -> R[Y]", network)
    tested = check_implications(graph, sampled(graph, 1000, 0))
    assert all(0 <= result.p_value <= 1 for result in tested)


def test_the_moments_of_pearson_s_statistic_are_those_of_all_permutations() -> None:
    for one, two in [
        ([0, 0, 1, 1, 2, 2], [0, 1, 1, 0, 0, 2]),
        ([0, 0, 0, 1], [0, 1, 0, 0]),
        ([0, 0, 1], [0, 1, 1]),
        ([0, 1], [0, 1]),
        ([0, 1, 2], [0, 1, 1]),
    ]:
        tables = np.zeros((len(list(permutations(two))), 3, 3))
        for table, order in zip(tables, permutations(two), strict=True):
            np.add.at(table, (one, list(order)), 1)
        expected = tables.sum(2, keepdims=True) * tables.sum(1, keepdims=True) / len(one)
        gaps = np.where(expected > 0, (tables - expected) ** 2 / np.maximum(expected, 1e-9), 0)
        statistics = gaps.sum((1, 2))
        mean, variance = pearson_moments(tables[:1])
        np.testing.assert_allclose(mean, statistics.mean(), rtol=1e-12)
        np.testing.assert_allclose(variance, statistics.var(), rtol=1e-9, atol=1e-9)


def test_many_tests_at_once_have_the_statistics_and_p_values_of_scipy() -> None:
    from scipy.stats import chi2_contingency

    rng = np.random.default_rng(3)
    tables = rng.integers(20, 200, (6, 1, 2, 4)).astype(np.float64)
    tables[1, :, :, 2] = 0  # a state that does not occur takes no degree of freedom
    found = approximated(tables, len(tables))
    for at, table in enumerate(tables[:, 0]):
        expected = chi2_contingency(table[:, table.any(axis=0)], correction=False)
        assert found[at].statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert found[at].degrees_of_freedom == expected.dof
        assert found[at].p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_tables_are_drawn_only_where_the_adjusted_p_value_may_become_small() -> None:
    counts = np.array([[[[7.0, 3.0], [2.0, 8.0]]]])  # p is about 0.03
    (alone,), (among_many,) = approximated(counts, 1), approximated(counts, 1000)
    assert (alone.how, among_many.how) == ("draws", "gamma")
    assert 0.01 < among_many.p_value < 0.1


@pytest.mark.slow
def test_the_test_of_sparse_tables_keeps_its_level_where_g2_does_not() -> None:
    from scipy.stats import chi2

    rng = np.random.default_rng(0)
    ours, naive = 0, 0
    for _ in range(1000):
        counts = np.zeros((16, 4, 4))  # four states each, 16 strata of about eight rows
        np.add.at(counts, tuple(rng.integers(0, size, 130) for size in (16, 4, 4)), 1)
        found = independence(counts, rng)
        assert found.how in ("gamma", "draws")
        ours += found.p_value < 0.05
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = counts.sum(2, keepdims=True) * counts.sum(1, keepdims=True)
            ratio = np.where(counts > 0, counts * counts.sum((1, 2), keepdims=True) / expected, 1)
        naive += chi2.sf(2 * (counts * np.log(ratio)).sum(), found.degrees_of_freedom) < 0.05
    # 5% of 1,000 is 50; three standard errors of a share are 21.
    assert abs(ours - 50) < 21
    assert naive > 100


def test_a_small_table_has_the_p_value_of_all_its_permutations() -> None:
    # Eight rows, three states by two; as far or further in 40,320 orders of the second variable.
    one, two = [0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 1, 0]
    statistics = []
    for order in permutations(two):
        table = np.zeros((3, 2))
        np.add.at(table, (one, list(order)), 1)
        expected = np.outer(table.sum(1), table.sum(0)) / 8
        statistics.append(((table - expected) ** 2 / expected).sum())
    exact = np.mean(np.array(statistics) >= statistics[0] - 1e-9)
    table = np.zeros((1, 3, 2))
    np.add.at(table[0], (one, two), 1)
    found = independence(table, np.random.default_rng(0))
    assert found.how == "draws"
    # At least 40 draws are as far, or 40,000 were made: four standard errors.
    assert found.p_value == pytest.approx(exact, rel=4 / np.sqrt(40))


def test_the_mechanism_of_a_latent_variable_is_not_spoken_of() -> None:
    graph = MissingnessGraph(CHAIN, {"A": [], "B": ["C"]}, latent=["A"])
    (only,) = never_testable(graph)
    assert only.startswith("B ⊥ R[B]")
