"""Completions and posteriors, against the sum over every completion."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from examples import RAIN
from lacunet.ask.predict.posteriors import row_posteriors
from lacunet.data.table import EncodedTable
from lacunet.inference import completions as rows_module
from lacunet.inference.completions import draw_completions, in_batches, most_probable
from lacunet.inference.errors import ImpossibleDataError, OverBudgetError
from lacunet.inference.sampling import sample_codes
from lacunet.network.catalogue import example
from lacunet.network.network import Network
from strategies import networks, tables


def completions_of(
    network: Network, table: EncodedTable, row: int
) -> list[tuple[dict[str, int], float]]:
    """Every completion of a row with its probability, by definition."""
    choices = []
    for name in network.variables:
        size, code = network.cardinality(name), int(table.columns[name][row])
        choices.append(range(size) if code == size else (code,))
    found = []
    for states in product(*choices):
        state_of = dict(zip(network.variables, states, strict=True))
        cells = [cpt.table[tuple(state_of[axis] for axis in cpt.family)] for cpt in network.cpts]
        found.append((state_of, float(np.prod(cells))))
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[Network, EncodedTable]:
    network = draw(networks(max_variables=6))
    return network, draw(tables(network, max_rows=12))


def possible(network: Network, table: EncodedTable) -> EncodedTable:
    kept = [
        row
        for row in range(table.rows)
        if any(probability for _, probability in completions_of(network, table, row))
    ]
    return table.take(np.array(kept, dtype=np.int64))


@settings(deadline=None, max_examples=150)
@given(cases())
def test_posteriors_and_log_probabilities_are_what_enumeration_gives(
    case: tuple[Network, EncodedTable],
) -> None:
    network, table = case
    found = row_posteriors(network, table, network.variables)
    for row in range(table.rows):
        whole = completions_of(network, table, row)
        total = sum(probability for _, probability in whole)
        if total == 0:
            assert found.log_probability[row] == -np.inf
            assert all(np.isnan(found.of_target[name][row]).all() for name in network.variables)
            continue
        np.testing.assert_allclose(found.log_probability[row], np.log(total), rtol=0, atol=1e-12)
        for name in network.variables:
            expected = np.zeros(network.cardinality(name))
            for state_of, probability in whole:
                expected[state_of[name]] += probability / total
            np.testing.assert_allclose(found.of_target[name][row], expected, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=150)
@given(cases())
def test_the_most_probable_completion_has_the_largest_probability(
    case: tuple[Network, EncodedTable],
) -> None:
    network, table = case
    table = possible(network, table)
    if not table.rows:
        return
    whole = most_probable(network, table)
    for row in range(table.rows):
        found = completions_of(network, table, row)
        completed = completions_of(network, whole, row)
        assert len(completed) == 1
        state_of, probability = completed[0]
        assert any(state_of == other for other, _ in found)
        largest = max(probability for _, probability in found)
        np.testing.assert_allclose(probability, largest, rtol=1e-12)


@settings(deadline=None, max_examples=60)
@given(cases(), st.integers(0, 2**32 - 1))
def test_draws_are_possible_and_keep_what_rows_show(
    case: tuple[Network, EncodedTable], seed: int
) -> None:
    network, table = case
    table = possible(network, table)
    if not table.rows:
        return
    for whole in draw_completions(network, table, 2, np.random.default_rng(seed)):
        assert not whole.partially_observed
        for row in range(table.rows):
            ((state_of, probability),) = completions_of(network, whole, row)
            assert probability > 0
            for name in network.variables:
                code = int(table.columns[name][row])
                assert code in (state_of[name], network.cardinality(name))


def test_draws_follow_the_joint_posterior() -> None:
    # Asia, what a doctor would know: a chi-square test of all completions together.
    asia = example("asia")
    shown = {"smoke": "yes", "dysp": "yes", "asia": "no"}
    columns = {
        name: np.full(
            1,
            asia.state_index(name, shown[name]) if name in shown else asia.cardinality(name),
            np.uint8,
        )
        for name in asia.variables
    }
    table = EncodedTable({name: asia.cardinality(name) for name in asia.variables}, columns)
    many = table.take(np.zeros(50_000, dtype=np.int64))
    (drawn,) = draw_completions(asia, many, 1, np.random.default_rng(11))
    codes = np.stack([drawn.columns[name] for name in asia.variables], axis=1)
    values, counts = np.unique(codes, axis=0, return_counts=True)
    found = {tuple(row): count for row, count in zip(values, counts, strict=True)}
    whole = completions_of(asia, table, 0)
    total = sum(probability for _, probability in whole)
    statistic, degrees = 0.0, -1
    for state_of, probability in whole:
        count = found.pop(tuple(state_of[name] for name in asia.variables), 0)
        expected = 50_000 * probability / total
        if expected == 0:
            assert count == 0
        elif expected >= 5:
            statistic += (count - expected) ** 2 / expected
            degrees += 1
    assert not found
    assert degrees > 10
    assert 0.001 < chi2.sf(statistic, degrees) < 0.999


def test_two_draws_differ_and_one_seed_gives_one_table() -> None:
    columns = {name: np.full(200, 2, np.uint8) for name in RAIN.variables}
    table = EncodedTable(dict.fromkeys(RAIN.variables, 2), columns)
    one, two = draw_completions(RAIN, table, 2, np.random.default_rng(3))
    assert any((one.columns[v] != two.columns[v]).any() for v in RAIN.variables)
    again, _ = draw_completions(RAIN, table, 2, np.random.default_rng(3))
    assert all((one.columns[v] == again.columns[v]).all() for v in RAIN.variables)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    alarm = example("alarm")
    table = sample_codes(alarm, 300, np.random.default_rng(5))
    rng = np.random.default_rng(6)
    columns: dict[str, Any] = {
        name: np.where(rng.random(300) < 0.3, alarm.cardinality(name), codes).astype(codes.dtype)
        for name, codes in table.columns.items()
    }
    holes = EncodedTable(table.cardinality_of, columns)
    whole = most_probable(alarm, holes), row_posteriors(alarm, holes, ["HR"])
    monkeypatch.setattr(rows_module, "ROWS_AT_A_TIME", 37)
    parts = most_probable(alarm, holes), row_posteriors(alarm, holes, ["HR"])
    for name in alarm.variables:
        assert (whole[0].columns[name] == parts[0].columns[name]).all()
    np.testing.assert_allclose(whole[1].of_target["HR"], parts[1].of_target["HR"], rtol=1e-12)


def test_a_row_of_probability_zero_is_named() -> None:
    # Wet without rain and sprinkler cannot be.
    columns = {
        "Rain": np.array([0, 0], np.uint8),
        "Sprinkler": np.array([2, 0], np.uint8),
        "Wet": np.array([2, 1], np.uint8),
    }
    table = EncodedTable(dict.fromkeys(RAIN.variables, 2), columns)
    found = row_posteriors(RAIN, table, ["Rain"])
    assert found.log_probability[1] == -np.inf
    never = Network(
        {"A": ["0", "1"], "B": ["0", "1"]},
        {"B": ["A"]},
        {"A": [0.5, 0.5], "B": [[1, 0], [1, 0]]},
    )
    rows = EncodedTable(
        {"A": 2, "B": 2}, {"A": np.array([0, 2], np.uint8), "B": np.array([0, 1], np.uint8)}
    )
    with pytest.raises(ImpossibleDataError, match="row 2 has probability zero"):
        most_probable(never, rows)


def test_a_thousand_unlikely_symptoms_do_not_underflow() -> None:
    leaves = [f"S{at}" for at in range(1000)]
    rare = [[1 - 1e-3, 1e-3], [1 - 5e-4, 5e-4]]
    network = Network(
        {"Cause": ["a", "b"], **{name: ["no", "yes"] for name in leaves}},
        {name: ["Cause"] for name in leaves},
        {"Cause": [0.5, 0.5], **dict.fromkeys(leaves, rare)},
    )
    columns = {"Cause": np.array([2], np.uint8)}
    columns |= {name: np.array([int(at < 500)], np.uint8) for at, name in enumerate(leaves)}
    table = EncodedTable(dict.fromkeys(network.variables, 2), columns)
    found = row_posteriors(network, table, ["Cause"]).of_target["Cause"][0]
    odds = 0.5**500 * ((1 - 5e-4) / (1 - 1e-3)) ** 500
    np.testing.assert_allclose(found[1] / found[0], odds, rtol=1e-10)


def test_what_does_not_fit_the_budget_is_refused() -> None:
    alarm = example("alarm")
    columns = {name: np.full(1, alarm.cardinality(name), np.uint8) for name in alarm.variables}
    table = EncodedTable({v: alarm.cardinality(v) for v in alarm.variables}, columns)
    with pytest.raises(OverBudgetError, match="rows miss 37 variables together"):
        most_probable(alarm, table, memory=1000)


def test_fewer_rows_are_completed_at_a_time_where_memory_is_small() -> None:
    columns = {name: np.zeros(50_000, dtype=np.uint8) for name in "ABCD"}
    table = EncodedTable(dict.fromkeys("ABCD", 2), columns)

    def sizes(budget: float) -> list[int]:
        batches = list(in_batches(table, budget))
        assert [here.stop - here.start for here, _ in batches] == [part.rows for _, part in batches]
        return [part.rows for _, part in batches]

    assert sizes(2.0**32) == [50_000]
    some = sizes(2.0**26)
    assert sum(some) == 50_000
    assert max(some) * 4 * 60 <= 2**26 / 16
    assert max(sizes(1.0)) == 1024  # however small it is
