"""Variances against the derivative by rows, numerical Hessians, and repeated draws."""

from __future__ import annotations

import numpy as np
import pytest

from enumeration import enumerated
from lacunet.counts.count import count
from lacunet.counts.distinct_rows import distinct_rows
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.counts.groups import GroupedCounts
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import Engine, engine_of
from lacunet.learning.closed_forms import influence
from lacunet.learning.closed_forms.influence import Moves, RowInfluence, moves_of
from lacunet.learning.em.em import EM
from lacunet.learning.em.em_uncertainty import em_uncertainty
from lacunet.learning.learn import learn
from lacunet.learning.plan import Estimated
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.frequencies import counted_spread
from lacunet.learning.uncertainty.rate_matrix import EmSpreads
from lacunet.network.network import Network
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate

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


def _estimated(table: EncodedTable, variable: str, form: str = "direct") -> Estimated:
    """How a family is estimated within groups of rows that agree on what all rows show."""
    family = CHAIN.family(variable)
    hidden = tuple(name for name in family if table.missing_of[name])
    return Estimated(family, hidden, table.fully_observed, form, "inverse-variance", True)


def _mar_spread(table: EncodedTable, variable: str, cpt: np.ndarray) -> Spread:
    network = CHAIN.with_tables({**(CHAIN.tables_of or {}), variable: cpt})
    estimated_of = {variable: _estimated(table, variable)}
    (spread,) = dict(
        RowInfluence.of(network, table.scaled(), estimated_of, {}).spreads([variable])
    ).values()
    return spread


def _variance(spread: Spread) -> np.ndarray:
    return spread.standard_error**2


@pytest.mark.parametrize("variable", ["B", "C"])
def test_the_variance_of_direct_mar_is_that_of_its_derivative_by_rows(variable: str) -> None:
    table = _hidden(400, 1)
    cpt = learn(CHAIN, table, "direct-mar", pseudo_counts=0).network.cpt(variable).table
    by_rows = np.zeros_like(cpt)
    for row in range(table.rows):
        weights = np.ones(table.rows)
        weights[row] += 1e-4
        moved = EncodedTable(table.cardinality_of, table.columns, weights)
        after = learn(CHAIN, moved, "direct-mar", pseudo_counts=0).network.cpt(variable).table
        by_rows += ((after - cpt) / 1e-4) ** 2
    # The two groups have more than a hundred rows: unbiased and plain variances differ by 1%.
    variance = _variance(_mar_spread(table, variable, cpt))
    np.testing.assert_allclose(variance, by_rows, rtol=0.02)


def test_rows_that_all_show_the_family_have_the_variance_of_a_frequency() -> None:
    table = simulate(CHAIN, 300, None, rng=np.random.default_rng(0)).table
    cpt = learn(CHAIN, table, "direct-mcar", pseudo_counts=0).network.cpt("C").table
    counts = count(table, [("B", "C")])[("B", "C")]
    number = counts.dense().sum(axis=-1, keepdims=True)
    usual = cpt * (1 - cpt) / number
    np.testing.assert_allclose(_variance(counted_spread(counts, cpt)), usual, rtol=1e-12)
    in_groups = Estimated(("B", "C"), ("B", "C"), ("A",), "direct", "inverse-variance", True)
    network = CHAIN.with_tables({**(CHAIN.tables_of or {}), "C": cpt})
    spread = dict(RowInfluence.of(network, table, {"C": in_groups}, {}).spreads("C"))["C"]
    np.testing.assert_allclose(_variance(spread), usual, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["B", "C"])
def test_the_variance_of_direct_mar_is_that_of_repeated_draws(variable: str) -> None:
    tables, variances = [], []
    for seed in range(600):
        table = _hidden(800, seed)
        cpt = learn(CHAIN, table, "direct-mar", pseudo_counts=0).network.cpt(variable).table
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


def _em(table: EncodedTable, pseudo_counts: float) -> tuple[Network, Engine, EmSpreads]:
    method = EM(tolerance=1e-12, max_iterations=100_000)
    network = learn(CHAIN, table, method, pseudo_counts=pseudo_counts).network
    engine = engine_of(compile_problems(CHAIN.with_tables(None), table), 2**30)
    cells = engine.problems.layout.flat(dict(network.tables_of or {}))
    return network, engine, em_uncertainty(engine, cells, np.full(len(cells), pseudo_counts))


def test_the_variance_of_em_is_the_inverse_hessian_by_enumeration() -> None:
    rows = _hidden(400, 3)
    table = distinct_rows(rows, rows.variables).table
    network, _, found = _em(table, 0.0)
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
    _, _, found = _em(table, 1.0)
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


def test_factored_deletion_of_one_hidden_variable_is_as_sure_as_direct_deletion() -> None:
    table = _hidden(500, 5)
    direct, factored = (
        learn(CHAIN, table, method, intervals=True) for method in ("direct-mar", "factored-mar")
    )
    np.testing.assert_allclose(factored.standard_error("B"), direct.standard_error("B"), rtol=1e-9)
    # C has two, and factored deletion also uses the rows that show one of them
    assert (factored.standard_error("C") < 1.05 * direct.standard_error("C")).all()


# In groups by D some rows have no other that shows what they hide: another estimate stands in.
WIDE = Network(
    {"A": ["0", "1"], "B": ["0", "1", "2"], "C": ["0", "1"], "D": [str(i) for i in range(9)]},
    {"B": ["A"], "C": ["B", "A"], "D": ["C"]},
)


def _thin(rows: int, seed: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    columns = {}
    for name in "ABCD":
        states = WIDE.cardinality(name)
        drawn = rng.integers(0, states, rows)
        gone = (rng.random(rows) < 0.4) & (name in "BC")
        columns[name] = np.where(gone, states, drawn).astype(np.uint8)
    return EncodedTable(WIDE.cardinality_of, columns, rng.choice([1.0, 2.0, 3.5], rows))


def _moves(table: EncodedTable, form: str, is_grouped: bool = True) -> Moves:
    given = ("A", "D") if is_grouped else ()
    estimated = Estimated(("B", "A", "C"), ("B", "C"), given, form, "mean", is_grouped)
    return moves_of(table, WIDE, estimated)


METHODS = {
    "direct-mar": ("direct", True),
    "factored-mar": ("factored", True),
    "factored-mcar": ("factored", False),
}


@pytest.mark.parametrize("method", METHODS)
def test_what_rows_move_adds_up_to_the_estimate(method: str) -> None:
    table = _thin(120, 4)
    options = {} if method == "direct-mar" else {"aggregation": "mean"}
    learned = learn(WIDE, table.scaled(), method, pseudo_counts=0, **options)
    weights = _moves(table, *METHODS[method]).weights(table.row_weights)
    cpt = weights / weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(cpt, learned.network.cpt("C").table, rtol=1e-9)
    if method != "factored-mcar":
        assert learned.families["C"].fallback_mass > 0.02


@pytest.mark.parametrize("method", METHODS)
def test_what_a_row_moves_is_the_derivative_by_its_weight(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _thin(120, 4)

    def as_it_is(cells: GroupedCounts, _: object) -> tuple[np.ndarray, np.ndarray]:
        groups = len(cells.groups.weights)
        return np.ones(groups), np.zeros(groups, bool)

    monkeypatch.setattr(influence, "_spread_up", as_it_is)  # not made unbiased
    moves = _moves(table, *METHODS[method])
    for row in range(0, table.rows, 3):
        ends = []
        for factor in (1 + 1e-5, 1 - 1e-5):
            weights = table.row_weights.copy()
            weights[row] *= factor
            moved = EncodedTable(table.cardinality_of, table.columns, weights)
            ends.append(_moves(moved, *METHODS[method]).weights(weights))
        by_hand = (ends[0] - ends[1]) / (2e-5 * table.row_weights[row])
        one_more = np.zeros(table.rows)
        one_more[row] = 1.0
        np.testing.assert_allclose(moves.weights(one_more), by_hand, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_variances_of_entries_are_sums_over_rows(method: str) -> None:
    table = _thin(150, 8)
    moves = _moves(table, *METHODS[method])
    weights = moves.weights(table.row_weights)
    rates = weights / weights.sum(axis=-1, keepdims=True)
    squares = table.row_weights**2
    by_rows = np.zeros_like(rates)
    for cell in np.ndindex(*rates.shape):
        direction = np.zeros_like(rates)
        direction[cell[:-1]] = -rates[cell]
        direction[cell] += 1
        by_rows[cell] = squares @ moves.along(direction) ** 2
    np.testing.assert_allclose(moves.numerator(rates), by_rows, rtol=1e-9)


def test_neither_the_order_of_rows_nor_equal_rows_change_what_they_move() -> None:
    table = _thin(200, 6)
    order = np.random.default_rng(0).permutation(table.rows)
    both = [_moves(table, "factored"), _moves(table.take(order), "factored")]
    distinct = distinct_rows(table, table.variables).table
    rates = both[0].weights(table.row_weights)
    rates = rates / rates.sum(axis=-1, keepdims=True)
    first, second = (moves.numerator(rates) for moves in both)
    np.testing.assert_allclose(first, second, rtol=1e-9)
    assert distinct.copies is not None
    third = _moves(distinct, "factored").numerator(rates)
    np.testing.assert_allclose(first, third, rtol=1e-9)
