"""Variances against the derivative by rows, numerical Hessians, and repeated draws."""

from __future__ import annotations

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
from lacunet.statistics.folds import FOLD, divided, folds_of
from lacunet.statistics.groups import FoldedGroups, count_in_groups, group_rows
from lacunet.statistics.influence import Influence, Moving, influence
from lacunet.statistics.problems.compile import compile_problems
from lacunet.statistics.rows import distinct_rows
from lacunet.uncertainty.direct import counted_spread, grouped_spread
from lacunet.uncertainty.rate_matrix import EmSpreads
from lacunet.uncertainty.spread import Spread

FOLDS = folds_of(None, 30, seed=1)
assert FOLDS is not None

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
    drawn = simulate(CHAIN, rows, missing, rng=rng).table
    columns = dict(drawn.columns)
    for name, rate in (("B", (0.2, 0.6)), ("C", (0.3, 0.5))):
        gone = rng.random(rows) < np.array(rate)[drawn.columns["A"]]
        columns[name] = np.where(gone, CHAIN.cardinality(name), columns[name]).astype(np.uint8)
    return EncodedTable(drawn.cardinality_of, columns)


def _moved(
    table: EncodedTable, family: tuple[str, ...], hidden: tuple[str, ...], given: tuple[str, ...]
) -> Influence:
    """What rows move the estimate of a family by, within groups."""
    assert FOLDS is not None
    rows = divided(CHAIN, table, FOLDS)
    groups, group = group_rows(rows, given)
    mass = count_in_groups(rows, groups, group, (FOLD,), whole=True)
    cells = count_in_groups(rows, groups, group, hidden, whole=True, fold=(FOLD,))
    folded = FoldedGroups(mass, cells)
    return influence(Moving.of(folded), family, CHAIN.shape(family))


def _mar_spread(table: EncodedTable, variable: str, cpt: np.ndarray) -> Spread:
    family = CHAIN.family(variable)
    hidden = tuple(name for name in family if table.missing_of[name])
    moved = _moved(table.scaled(), family, hidden, table.fully_observed)
    return grouped_spread(moved, cpt)


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
        moved = EncodedTable(table.cardinality_of, table.columns, weights)
        after = learn(CHAIN, moved, "direct-mar", prior=1).network.cpt(variable).table
        by_rows += ((after - cpt) / 1e-4) ** 2
    # The two groups have more than a hundred rows: unbiased and plain variances differ by 1%.
    variance = _variance(_mar_spread(table, variable, cpt))
    np.testing.assert_allclose(variance, by_rows, rtol=0.02)


def test_rows_that_all_show_the_family_have_the_variance_of_a_frequency() -> None:
    table = simulate(CHAIN, 300, None, rng=np.random.default_rng(0)).table
    cpt = learn(CHAIN, table, "direct-mcar", prior=1).network.cpt("C").table
    counts = count(table, [("B", "C")])[("B", "C")]
    number = counts.dense().sum(axis=-1, keepdims=True)
    usual = cpt * (1 - cpt) / number
    np.testing.assert_allclose(_variance(counted_spread(counts, cpt)), usual, rtol=1e-12)
    spread = grouped_spread(_moved(table, ("B", "C"), ("B", "C"), ("A",)), cpt)
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


def test_copies_are_as_many_rows_and_weights_have_no_unit() -> None:
    table = _hidden(300, 3)
    cpt = learn(CHAIN, table, "direct-mar").network.cpt("C").table
    twice = EncodedTable(
        table.cardinality_of, {n: np.concatenate([c, c]) for n, c in table.columns.items()}
    )
    np.testing.assert_allclose(
        _mar_spread(twice, "C", cpt).sizes, _mar_spread(table, "C", cpt).sizes * 2, rtol=0.02
    )
    unequal = EncodedTable(table.cardinality_of, table.columns, np.full(300, 2.5))
    np.testing.assert_allclose(
        _mar_spread(unequal, "C", cpt).sizes, _mar_spread(table, "C", cpt).sizes, rtol=1e-9
    )


def _em(table: EncodedTable, prior: float) -> tuple[Network, Engine, EmSpreads]:
    method = EM(tolerance=1e-12, max_iterations=100_000)
    network = learn(CHAIN, table, method, prior=prior).network
    engine = engine_of(compile_problems(CHAIN.with_tables(None), table), 2**30)
    cells = engine.problems.layout.flat(dict(network.tables_of or {}))
    return network, engine, em_uncertainty(engine, cells, np.full(len(cells), prior - 1))


def test_the_variance_of_em_is_the_inverse_hessian_by_enumeration() -> None:
    rows = _hidden(400, 3)
    table = distinct_rows(rows, rows.variables).table
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
    table = simulate(CHAIN, 300, None, rng=np.random.default_rng(0)).table
    _, _, found = _em(table, 2.0)
    number = count(table, [("B", "C")])[("B", "C")].dense().sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.spread_of["C"].sizes, np.broadcast_to(number, (3, 2)))
    assert found.weak_directions == ()


def test_a_direction_that_the_data_do_not_identify_is_named() -> None:
    network = Network({"H": ["0", "1"], "X": ["0", "1"], "Y": ["0", "1"]}, {"X": ["H"]})
    rng = np.random.default_rng(0)
    columns = {
        "H": np.full(400, 2, np.uint8),
        "X": rng.integers(0, 2, 400).astype(np.uint8),
        "Y": rng.integers(0, 2, 400).astype(np.uint8),
    }
    table = EncodedTable(dict.fromkeys("HXY", 2), columns)
    learned = learn(network, table, EM(tolerance=1e-10, max_iterations=50_000)).network
    engine = engine_of(compile_problems(network, table), 2**30)
    cells = engine.problems.layout.flat(dict(learned.tables_of or {}))
    found = em_uncertainty(engine, cells, np.ones(len(cells)))
    assert found.weak_directions
    assert {name for one in found.weak_directions for name in one.families} == {"H", "X"}
    assert found.spread_of["Y"].row_sizes == pytest.approx(400)
    assert (found.spread_of["H"].sizes < 5).all()


@pytest.mark.parametrize("method", ["direct-mar", "factored-mar"])
def test_replicates_agree_with_the_influence_of_rows(method: str) -> None:
    """Factored deletion is direct deletion where all of a family's hidden part is one variable."""
    table = _hidden(2000, 5)
    results = [learn(CHAIN, table, method, intervals=True, rng=seed) for seed in range(10)]
    network = results[0].network
    by_formula = _variance(_mar_spread(table, "B", network.cpt("B").table))
    found = []
    for result in results:
        uncertainty = result.require_intervals()
        replicates = uncertainty.covariance
        expected = uncertainty.total * np.array([[0.4], [0.6]])
        found.append(_variance(replicates.spread("B", expected)))  # type: ignore[attr-defined]
    # A variance from 30 groups has a standard error of sqrt(2/29) = 26%, from ten splits 8%.
    np.testing.assert_allclose(np.mean(found, axis=0), by_formula, rtol=0.25)


def test_what_the_folds_move_adds_up_to_the_estimate() -> None:
    table = _hidden(300, 4)
    moved = _moved(table, ("B", "C"), ("B", "C"), ("A",))
    np.testing.assert_allclose(moved.moves.sum(axis=0), moved.weight, rtol=1e-12)


def test_moves_are_derivatives_by_the_weight_of_a_fold() -> None:
    table = _hidden(3000, 4)
    cpt = learn(CHAIN, table, "direct-mar", prior=1).network.cpt("C").table
    moved = _moved(table, ("B", "C"), ("B", "C"), ("A",))
    assert FOLDS is not None
    rows = divided(CHAIN, table, FOLDS)
    for fold in (0, 7):
        times = np.where(rows.columns["\x00fold"] == fold, 1 + 1e-4, 1.0)
        heavier = EncodedTable(
            table.cardinality_of,
            {name: rows.columns[name] for name in CHAIN.variables},
            rows.row_weights * times,
        )
        after = learn(CHAIN, heavier, "direct-mar", prior=1).network.cpt("C").table
        more = moved.weight + 1e-4 * moved.moves[fold]
        by_moves = more / more.sum(axis=-1, keepdims=True)
        # Unbiased variances within the two groups, of about 600 rows each, move 0.1% more.
        np.testing.assert_allclose((after - cpt) / 1e-4, (by_moves - cpt) / 1e-4, atol=1e-3)


def test_the_sums_of_parts_that_split_no_group_are_those_of_all_rows() -> None:
    table = _hidden(300, 4)

    def sums(rows: EncodedTable) -> Influence:
        return _moved(rows, ("B", "C"), ("B", "C"), ("A",))

    parts = [sums(table.take(table.columns["A"] == state)) for state in (0, 1)]
    whole, added = sums(table), parts[0] + parts[1]
    for name in ("weight", "cells", "cross", "rows", "inside", "inside_rows", "moves"):
        one, two = getattr(added, name), getattr(whole, name)
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
