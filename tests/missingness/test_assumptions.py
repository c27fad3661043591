"""Assumptions of a graph: likelihood ratios against tests by hand, answers against sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from lacunet.data.table import Copies, EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.learned.from_rows import learned_graph
from lacunet.network.network import Network
from manifest_laws import Model, random_model

CHAIN = Network(
    {"X": ["0", "1"], "Y": ["no", "yes"], "T": ["neg", "pos"]}, {"Y": ["X"], "T": ["Y"]}
)


def drawn(model: Model, rows: int, seed: int) -> EncodedTable:
    law = model.manifest()
    counts = np.random.default_rng(seed).multinomial(rows, law.weights / law.total)  # type: ignore[operator]
    seen = counts > 0
    columns = {name: column[seen] for name, column in law.columns.items()}
    rows_of = counts[seen].astype(float)
    return EncodedTable(law.cardinality_of, columns, rows_of, copies=Copies(rows_of, rows_of))


def test_with_observed_causes_the_likelihood_ratio_is_that_of_a_table() -> None:
    graph = MissingnessGraph.parse("R[Y]", CHAIN)
    true = MissingnessGraph.parse("X -> R[Y]", CHAIN)
    table = drawn(random_model(true, np.random.default_rng(0)), 800, 1)
    found = {one.edge: one for one in graph.recover(["Y"]).assumptions(table).assumptions}
    for name in ("X", "T"):
        counts = np.zeros((2, 2))
        is_shown = (table.columns["Y"] < 2).astype(int)
        np.add.at(counts, (table.columns[name], is_shown), table.weights)
        by_hand = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
        one = found[f"{name} -> R[Y]"]
        assert one.degrees_of_freedom == 1
        assert one.statistic == pytest.approx(by_hand.statistic, abs=1e-6)
        assert one.p_value == pytest.approx(by_hand.pvalue, abs=1e-6)


def test_the_scale_of_sampling_weights_means_nothing() -> None:
    graph = MissingnessGraph.parse("R[Y]", CHAIN)
    counted = drawn(random_model(graph, np.random.default_rng(0)), 800, 1)
    one, two = (
        EncodedTable(counted.cardinality_of, counted.columns, counted.row_weights * factor)
        for factor in (1.0, 1500.0)
    )
    for mine, its in zip(
        *(graph.recover(["Y"]).assumptions(table).assumptions for table in (one, two)), strict=True
    ):
        assert its.edge == mine.edge
        assert its.statistic == pytest.approx(mine.statistic, rel=1e-8, abs=1e-9)


def test_what_no_data_refute_has_no_degrees_of_freedom_and_a_set() -> None:
    network = Network({"Y": ["no", "yes"]}, {})
    graph = MissingnessGraph.parse("R[Y]", network)
    table = drawn(random_model(graph, np.random.default_rng(0)), 500, 2)
    verdict = graph.recover(["Y"])
    (one,) = verdict.assumptions(table).assumptions
    assert (one.edge, one.degrees_of_freedom) == ("Y -> R[Y]", 0)
    assert np.isnan(one.p_value)
    shares = np.array([table.weights[table.columns["Y"] == k].sum() for k in range(3)]) / 500  # type: ignore[index]
    np.testing.assert_allclose(one.low, shares[:2], atol=1e-7)  # Manski's bounds
    np.testing.assert_allclose(one.high, shares[:2] + shares[2], atol=1e-7)
    assert "tested" in str(verdict.assumptions(table))


def test_a_value_that_hides_itself_is_seen_through_a_test_of_it() -> None:
    # With two states each, Y -> R[Y] shows in how T goes with being missing.
    true = MissingnessGraph.parse("Y -> R[Y]", CHAIN)
    network = CHAIN.with_tables(
        {
            "X": np.array([0.5, 0.5]),
            "Y": np.array([[0.8, 0.2], [0.4, 0.6]]),
            "T": np.array([[0.9, 0.1], [0.2, 0.8]]),
        }
    )
    import lacunet as lc

    table = lc.simulate(network, 3000, lc.MissingByGraph(true, {"Y": [0.1, 0.5]}), rng=0).table
    graph = MissingnessGraph.parse("R[Y]", CHAIN)
    found = graph.recover(["Y"]).assumptions(table)
    one = next(one for one in found.assumptions if one.edge == "Y -> R[Y]")
    assert one.degrees_of_freedom == 1
    assert one.adjusted < 1e-6
    # P(Y = yes) = .4; three standard errors of a share of 3,000 rows, of which a third is hidden
    assert one.low[1] == pytest.approx(0.4, abs=0.04)
    assert found.low[1] < 0.4 - 0.04  # biased by more than that under the graph without the edge
    assert found.most_moved({"Y": "no"}) == (0,)
    assert "P(Y=yes) is" in found.as_text({"Y": "yes"})


def test_an_edge_that_would_close_a_cycle_is_not_tried() -> None:
    graph = MissingnessGraph.parse("R[X] -> R[Y]; R[X]", CHAIN)
    table = drawn(random_model(graph, np.random.default_rng(0)), 400, 2)
    edges = {one.edge for one in graph.recover(["Y"]).assumptions(table).assumptions}
    assert "R[Y] -> R[X]" not in edges
    assert {"X -> R[X]", "Y -> R[X]", "T -> R[X]", "X -> R[Y]", "Y -> R[Y]", "T -> R[Y]"} == edges


@pytest.mark.slow
def test_the_likelihood_ratio_keeps_its_level_where_causes_are_missing() -> None:
    graph = MissingnessGraph.parse("X -> R[Y]; T -> R[X]", CHAIN)
    verdict = graph.recover(["Y"])
    rejected: dict[str, list[bool]] = {}
    for seed in range(200):
        model = random_model(graph, np.random.default_rng([3, seed]))
        for one in verdict.assumptions(drawn(model, 2000, seed)).assumptions:
            if one.degrees_of_freedom:
                rejected.setdefault(one.edge, []).append(one.p_value < 0.05)
    assert len(rejected) >= 3
    # 200 data sets: a standard error of 0.0154 at 0.05; the boundary makes it smaller at times.
    assert all(np.mean(share) < 0.05 + 3 * 0.0154 for share in rejected.values()), {
        edge: float(np.mean(share)) for edge, share in rejected.items()
    }


def test_a_learned_graph_has_the_assumptions_of_the_same_graph_written() -> None:
    true = MissingnessGraph.parse("X -> R[Y]", CHAIN)
    table = drawn(random_model(true, np.random.default_rng(0)), 800, 1)
    learned = learned_graph(CHAIN, table, true)
    assert learned == true
    both = [graph.recover(["Y"]).assumptions(table).as_text() for graph in (learned, true)]
    assert both[0] == both[1]
