"""Variances against the derivative by rows, numerical Hessians, and repeated draws."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from enumeration import enumerated
from lacunet.data.table import EncodedTable
from lacunet.estimate.em.method import EM
from lacunet.estimate.em.uncertain import em_uncertainty
from lacunet.estimate.learn import learn
from lacunet.inference.engine import Engine, engine_of
from lacunet.model.network import Network
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate
from lacunet.statistics.count import count
from lacunet.statistics.groups import group_rows
from lacunet.statistics.problems.compile import compile_problems
from lacunet.uncertainty.delta import Asked
from lacunet.uncertainty.influence import direct_mar_spread, direct_mcar_spread, influence
from lacunet.uncertainty.jackknife import (
    bootstrap,
    distinct_table,
    jackknife,
    without_each_group,
)
from lacunet.uncertainty.rate_matrix import EmSpreads
from lacunet.uncertainty.spread import Spread
from lacunet.uncertainty.steps import steps

CHAIN = Network(
    {"A": ["0", "1"], "B": ["0", "1", "2"], "C": ["0", "1"]},
    {"B": ["A"], "C": ["B"]},
    {
        "A": [0.4, 0.6],
        "B": [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]],
        "C": [[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]],
    },
)


def _hidden(rows: int, seed: int, missing: MAR | None = None) -> EncodedTable:
    """B and C missing, more often where A is 1."""
    rng = np.random.default_rng(seed)
    drawn = simulate(CHAIN, rows, missing, rng).table
    columns = dict(drawn.columns)
    for name, rate in (("B", (0.2, 0.6)), ("C", (0.3, 0.5))):
        gone = rng.random(rows) < np.array(rate)[drawn.columns["A"]]
        columns[name] = np.where(gone, CHAIN.cardinality(name), columns[name]).astype(np.uint8)
    return EncodedTable.of(drawn.cardinality_of, columns)


def _mar_spread(table: EncodedTable, variable: str, cpt: np.ndarray) -> Spread:
    family = CHAIN.family(variable)
    hidden = tuple(name for name in family if table.missing_of[name])
    observed = tuple(name for name in family if name not in hidden)
    scopes = (table.fully_observed, observed)
    settled = steps(table, hidden, scopes, partial(group_rows, table))
    return direct_mar_spread(settled, family, cpt.shape, cpt)


def _variance(spread: Spread) -> np.ndarray:
    return spread.standard_error**2


@pytest.mark.parametrize("variable", ["B", "C"])
def test_the_variance_of_direct_mar_is_that_of_its_derivative_by_rows(variable: str) -> None:
    table = _hidden(400, 1)
    cpt = learn(CHAIN, table, "direct-mar", prior=1).network.cpt(variable).table
    by_rows = np.zeros_like(cpt)
    for row in range(table.rows):
        weights = np.ones(table.rows)
        weights[row] += 1e-4
        moved = EncodedTable.of(table.cardinality_of, table.columns, weights)
        after = learn(CHAIN, moved, "direct-mar", prior=1).network.cpt(variable).table
        by_rows += ((after - cpt) / 1e-4) ** 2
    # The two groups have more than a hundred rows: unbiased and plain variances differ by 1%.
    variance = _variance(_mar_spread(table, variable, cpt))
    np.testing.assert_allclose(variance, by_rows, rtol=0.02)


def test_rows_that_all_show_the_family_have_the_variance_of_a_frequency() -> None:
    table = simulate(CHAIN, 300, None, np.random.default_rng(0)).table
    cpt = learn(CHAIN, table, "direct-mcar", prior=1).network.cpt("C").table
    counts = count(table, [("B", "C")])[("B", "C")]
    number = counts.dense().sum(axis=-1, keepdims=True)
    usual = cpt * (1 - cpt) / number
    np.testing.assert_allclose(_variance(direct_mcar_spread(counts, cpt)), usual, rtol=1e-12)
    settled = steps(table, ("B", "C"), (("A",),), partial(group_rows, table))
    spread = direct_mar_spread(settled, ("B", "C"), (3, 2), cpt)
    np.testing.assert_allclose(_variance(spread), usual, rtol=1e-12)


@pytest.mark.parametrize("variable", ["B", "C"])
def test_the_variance_of_direct_mar_is_that_of_repeated_draws(variable: str) -> None:
    tables, variances = [], []
    for seed in range(600):
        table = _hidden(800, seed)
        cpt = learn(CHAIN, table, "direct-mar", prior=1).network.cpt(variable).table
        tables.append(cpt)
        variances.append(_variance(_mar_spread(table, variable, cpt)))
    ratio = np.mean(variances, axis=0) / np.var(tables, axis=0, ddof=1)
    # A variance from 600 draws has a standard error of sqrt(2/599) = 5.8%: four of them.
    np.testing.assert_allclose(ratio, 1, atol=0.24)


def test_whole_weights_are_as_many_rows() -> None:
    table = _hidden(300, 3)
    cpt = learn(CHAIN, table, "direct-mar").network.cpt("C").table
    twice = EncodedTable.of(
        table.cardinality_of, {n: np.concatenate([c, c]) for n, c in table.columns.items()}
    )
    np.testing.assert_allclose(
        _mar_spread(twice, "C", cpt).sizes, _mar_spread(table, "C", cpt).sizes * 2, rtol=0.02
    )
    unequal = EncodedTable.of(table.cardinality_of, table.columns, np.full(300, 2.5))
    np.testing.assert_allclose(
        _mar_spread(unequal, "C", cpt).sizes, _mar_spread(table, "C", cpt).sizes, rtol=1e-9
    )


def _em(table: EncodedTable, prior: float) -> tuple[Network, Engine, EmSpreads]:
    method = EM(tolerance=1e-12, max_iterations=100_000)
    network = learn(CHAIN, table, method, prior=prior).network
    engine = engine_of(compile_problems(CHAIN.with_tables(None), table), 2**30)
    cells = engine.problems.layout.flat(dict(network.tables_of or {}))
    return network, engine, em_uncertainty(engine, cells, prior)


def test_the_variance_of_em_is_the_inverse_hessian_by_enumeration() -> None:
    table = distinct_table(_hidden(400, 3))
    network, _, found = _em(table, 1.0)
    cells = np.concatenate([np.ravel(network.cpt(v).table) for v in CHAIN.variables])
    free = found.free

    def log_likelihood(move: np.ndarray) -> float:
        there = cells + free.spread_out(move, len(cells))
        tables, at = {}, 0
        for name in CHAIN.variables:
            size = network.cpt(name).table.size
            tables[name] = there[at : at + size].reshape(network.cpt(name).table.shape)
            at += size
        return enumerated(CHAIN.with_tables(tables), table)[1]

    number, step = len(free.cell), 2e-3
    hessian = np.zeros((number, number))
    for i in range(number):
        for j in range(i + 1):
            corners = 0.0
            for a in (1, -1):
                for b in (1, -1):
                    move = np.zeros(number)
                    move[i] += a * step
                    move[j] += b * step
                    corners += a * b * log_likelihood(move)
            hessian[i, j] = hessian[j, i] = corners / (4 * step**2)
    # Fourth differences over a step of 2e-3 are off by about 1e-4 of the second.
    np.testing.assert_allclose(
        np.sqrt(np.diag(found.covariance)), np.sqrt(np.diag(np.linalg.inv(-hessian))), rtol=2e-3
    )


def test_complete_rows_give_em_the_size_of_the_counts() -> None:
    table = simulate(CHAIN, 300, None, np.random.default_rng(0)).table
    _, _, found = _em(table, 2.0)
    number = count(table, [("B", "C")])[("B", "C")].dense().sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.spread_of["C"].sizes, np.broadcast_to(number, (3, 2)))
    assert found.unidentified == ()


def test_a_direction_that_the_data_do_not_identify_is_named() -> None:
    network = Network({"H": ["0", "1"], "X": ["0", "1"], "Y": ["0", "1"]}, {"X": ["H"]})
    rng = np.random.default_rng(0)
    columns = {
        "H": np.full(400, 2, np.uint8),
        "X": rng.integers(0, 2, 400).astype(np.uint8),
        "Y": rng.integers(0, 2, 400).astype(np.uint8),
    }
    table = EncodedTable.of(dict.fromkeys("HXY", 2), columns)
    learned = learn(network, table, EM(tolerance=1e-10, max_iterations=50_000)).network
    engine = engine_of(compile_problems(network, table), 2**30)
    cells = engine.problems.layout.flat(dict(learned.tables_of or {}))
    found = em_uncertainty(engine, cells, 2.0)
    assert found.unidentified
    assert {name for one in found.unidentified for name in one.families} == {"H", "X"}
    assert found.spread_of["Y"].row_sizes == pytest.approx(400)
    assert (found.spread_of["H"].sizes < 5).all()


def test_the_jackknife_agrees_with_the_influence_of_rows() -> None:
    table = _hidden(2000, 5)

    def refit(rows: EncodedTable) -> Network:
        return learn(CHAIN, rows, "direct-mar").network

    network = refit(table)
    splits = [jackknife(network, table, refit, 2.0, 40, seed).spreads() for seed in range(10)]
    for name in ("B", "C"):
        by_formula = _variance(_mar_spread(table, name, network.cpt(name).table))
        by_splits = np.mean([_variance(spreads[name]) for spreads in splits], axis=0)
        # A variance from 40 groups has a standard error of sqrt(2/39) = 23%, from ten splits 7%.
        np.testing.assert_allclose(by_splits, by_formula, rtol=0.22)


def test_the_bootstrap_agrees_with_the_influence_of_rows_and_answers_queries() -> None:
    table = _hidden(2000, 5)

    def refit(rows: EncodedTable) -> Network:
        return learn(CHAIN, rows, "direct-mar").network

    network = refit(table)
    replicates = bootstrap(network, table, refit, 2.0, 200, np.random.default_rng(0))
    by_formula = _mar_spread(table, "C", network.cpt("C").table)
    np.testing.assert_allclose(
        replicates.spreads()["C"].standard_error, by_formula.standard_error, rtol=0.15
    )
    # A is always shown: the answer about it is a frequency.
    share = network.cpt("A").table[0]
    usual = np.sqrt(share * (1 - share) / 2000)
    variance = replicates.variances(Asked.of(network, ("A",), {}))[0]
    assert np.sqrt(variance) == pytest.approx(usual, rel=0.15)


def test_the_groups_of_the_jackknife_do_not_depend_on_the_order_of_rows() -> None:
    table = _hidden(300, 4)
    order = np.random.default_rng(1).permutation(300)
    other = EncodedTable.of(table.cardinality_of, {n: c[order] for n, c in table.columns.items()})
    for one, two in zip(without_each_group(table, 5), without_each_group(other, 5), strict=True):
        assert one.weights is not None
        np.testing.assert_array_equal(one.weights, two.weights)
        assert sum(one.weights) < 300


def test_the_sums_of_parts_that_split_no_group_are_those_of_all_rows() -> None:
    table = _hidden(300, 4)

    def sums(rows: EncodedTable) -> object:
        (step,) = steps(rows, ("B", "C"), (("A",),), partial(group_rows, rows))
        return influence(step, ("B", "C"), (3, 2))

    parts = [sums(table.take(table.columns["A"] == state)) for state in (0, 1)]
    whole, added = sums(table), parts[0] + parts[1]  # type: ignore[operator]
    for name in ("weight", "cells", "cross", "rows", "inside", "inside_rows"):
        np.testing.assert_allclose(getattr(added, name), getattr(whole, name), rtol=1e-12)


def test_groups_that_fell_back_are_as_sure_as_the_rows_that_stand_for_them() -> None:
    # Given A = 1 no row shows C: half of the weight rests on the rows with A = 0.
    columns = {
        "A": np.repeat([0, 1], 200).astype(np.uint8),
        "B": np.full(400, 0, np.uint8),
        "C": np.concatenate([np.repeat([0, 1], [150, 50]), np.full(200, 2)]).astype(np.uint8),
    }
    table = EncodedTable.of({"A": 2, "B": 3, "C": 2}, columns)
    cpt = learn(CHAIN, table, "direct-mar", prior=1).network.cpt("C").table
    variance = _variance(_mar_spread(table, "C", cpt))[0]
    # All of the estimate stands on 200 rows that say a quarter; how many rows fell into either
    # group says nothing about C here.
    np.testing.assert_allclose(variance, 0.25 * 0.75 / 200, rtol=0.02)
