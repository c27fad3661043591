from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import lacunet as lc
from examples import RAIN
from lacunet.ask.evaluate import data_fit, evaluate, fit
from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetWarning
from lacunet.inference.likelihood import table_log_likelihood
from lacunet.inference.sampling import sample_codes
from lacunet.missingness.implications import check_implications
from lacunet.network.network import Network

LEARNED = RAIN.with_tables(
    {
        "Rain": [0.7, 0.3],
        "Sprinkler": [[0.5, 0.5], [0.9, 0.1]],
        "Wet": [[[0.9, 0.1], [0.2, 0.8]], [[0.2, 0.8], [0.1, 0.9]]],
    }
)


def rain_rows(rows: int, seed: int, hidden: float = 0.0, weighted: bool = False) -> EncodedTable:
    rng = np.random.default_rng(seed)
    columns = {name: codes.copy() for name, codes in sample_codes(RAIN, rows, rng).columns.items()}
    for column in columns.values():
        column[rng.random(rows) < hidden] = 2
    weights = rng.integers(1, 4, rows).astype(float) if weighted else None
    return EncodedTable(dict.fromkeys(RAIN.variables, 2), columns, weights)


def log_probabilities(network: Network) -> dict[tuple[int, ...], float]:
    rain, sprinkler, wet = (network.cpt(name).table for name in RAIN.variables)
    return {
        (a, b, c): math.log(rain[a] * sprinkler[a, b] * wet[a, b, c])
        for a, b, c in product(range(2), repeat=3)
    }


def test_the_fit_to_complete_rows_is_their_mean_with_the_standard_error_of_a_mean() -> None:
    table = rain_rows(50, seed=1)
    of_row = log_probabilities(LEARNED)
    logs = [of_row[tuple(map(int, row))] for row in zip(*table.columns.values(), strict=True)]
    found = fit(LEARNED, table)
    assert found.mean == pytest.approx(np.mean(logs), rel=1e-13)
    assert found.standard_error == pytest.approx(np.std(logs, ddof=1) / np.sqrt(50), rel=1e-13)
    assert (found.rows, found.weight) == (50, 50)


def test_the_weight_of_test_rows_is_their_weighted_sample_size() -> None:
    table = rain_rows(60, seed=2, weighted=True)
    weights = table.row_weights
    expected = weights.sum() ** 2 / np.square(weights).sum()
    assert fit(LEARNED, table).weight == pytest.approx(expected, rel=1e-12)
    assert fit(LEARNED, table.scaled(1_000.0)).weight == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("hidden", [0.0, 0.4])
def test_the_mean_is_the_log_likelihood_over_the_weight(hidden: float, weighted: bool) -> None:
    table = rain_rows(60, seed=2, hidden=hidden, weighted=weighted)
    expected = table_log_likelihood(LEARNED, table) / table.total
    assert fit(LEARNED, table).mean == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("number", [20, 100])
def test_the_standard_error_of_incomplete_rows_is_that_of_a_mean_of_rows(number: int) -> None:
    table = rain_rows(number, seed=5, hidden=0.4)
    rows = [table.take(np.array([row])) for row in range(number)]
    logs = [table_log_likelihood(LEARNED, row) for row in rows]
    found = fit(LEARNED, table)
    expected = np.std(logs, ddof=1) / np.sqrt(number)
    assert found.standard_error == pytest.approx(expected, rel=1e-12)


def test_counted_rows_fit_as_so_many_rows() -> None:
    coin = Network({"A": ["0", "1"]}, tables={"A": [0.25, 0.75]})
    counted = data_fit(coin, Data({"A": ["0", "1", None], "n": [5, 3, 2]}, counts="n"))
    listed = data_fit(coin, {"A": ["0"] * 5 + ["1"] * 3 + [None] * 2})
    assert counted.standard_error == pytest.approx(listed.standard_error, rel=1e-12)
    assert counted.rows == listed.rows == 10


@pytest.mark.parametrize("hidden", [0.0, pytest.param(0.3, marks=pytest.mark.slow)])
def test_the_standard_error_is_the_spread_over_test_sets(hidden: float) -> None:
    found = [fit(LEARNED, rain_rows(200, seed, hidden, weighted=True)) for seed in range(200)]
    spread = np.std([one.mean for one in found], ddof=1)
    # The spread over 200 sets is known to 5%; the mean of their standard errors much better.
    assert np.mean([one.standard_error for one in found]) == pytest.approx(spread, rel=0.2)


def test_an_impossible_row_makes_the_fit_infinitely_bad_and_is_named() -> None:
    table = rain_rows(5, seed=3)
    codes = {"Rain": 0, "Sprinkler": 0, "Wet": 1}
    for name, code in codes.items():
        table.columns[name][2] = code
    with pytest.warns(LacunetWarning, match="row 3 has probability zero"):
        found = fit(RAIN, table)
    assert found.mean == -np.inf
    assert math.isnan(found.standard_error)


def test_one_row_has_no_standard_error() -> None:
    assert math.isnan(fit(LEARNED, rain_rows(1, seed=4)).standard_error)


def test_an_evaluation_holds_divergence_errors_and_fit() -> None:
    rows = {"Rain": ["no", "yes"], "Sprinkler": ["on", None], "Wet": ["yes", "no"]}
    found = evaluate(RAIN, LEARNED, rows)
    assert found.divergence.exact
    assert found.divergence.value > 0
    # Given rain: 0.99 against 0.9, and 0.6 against 0.5 without.
    assert found.cpt_error.largest == pytest.approx(0.1, rel=1e-12)
    off_and_dry, on_and_dry = 0.3 * 0.9 * 0.2, 0.3 * 0.1 * 0.1
    expected = (math.log(0.7 * 0.5 * 0.8) + math.log(off_and_dry + on_and_dry)) / 2
    assert found.fit is not None
    assert found.fit.mean == pytest.approx(expected, rel=1e-12)


def test_without_test_data_there_is_no_fit() -> None:
    assert evaluate(RAIN, LEARNED).fit is None


def test_counted_rows_are_evaluated_as_the_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = {
        name: rng.choice([*LEARNED.states(name), ""], 50).tolist() for name in LEARNED.variables
    }
    data = Data({**rows, "w": rng.choice([0.5, 2.0, 0.0], 50)}, weight="w")
    path = tmp_path / "rows.parquet"
    pq.write_table(lc.count(LEARNED, data), path)
    ours, theirs = (data_fit(LEARNED, own) for own in (path, data))
    np.testing.assert_allclose(
        [ours.mean, ours.standard_error, ours.rows, ours.weight],
        [theirs.mean, theirs.standard_error, theirs.rows, theirs.weight],
        rtol=1e-12,
    )


def test_counted_rows_serve_graphs_and_implications(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = {
        name: rng.choice([*LEARNED.states(name), ""], 200).tolist() for name in LEARNED.variables
    }
    data = Data({**rows, "w": rng.choice([0.3, 2.5, 1.0], 200)}, weight="w")
    path = tmp_path / "rows.parquet"
    pq.write_table(lc.count(LEARNED, data), path)
    graph = lc.MissingnessGraph.parse("R[Rain]; R[Sprinkler]; R[Wet]", LEARNED)
    for one, two in zip(
        check_implications(graph, data), check_implications(graph, path), strict=True
    ):
        assert (one.implication, one.rows) == (two.implication, two.rows)
        assert one.p_value == pytest.approx(two.p_value, rel=1e-9)
    shown = sum(1 for state in rows["Rain"] if state)
    for source in (data, path):
        found = graph.recover(["Rain"]).estimate_with_report(source)
        assert (found.rows_shown, found.rows_used) == (shown, shown)
