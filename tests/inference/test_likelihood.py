from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import lacunet as lc
from examples import RAIN
from lacunet.counts import observations
from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.data.write import to_arrow
from lacunet.errors import LacunetWarning
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.likelihood import (
    log_likelihood,
    shown_log_likelihoods,
    table_log_likelihood,
)
from lacunet.inference.query import query
from lacunet.network.catalogue import example
from lacunet.network.network import Network
from lacunet.simulation.simulate import simulate
from strategies import networks, tables


def row_probability(network: Network, codes: dict[str, int]) -> float:
    """The sum over all configurations that agree with what a row shows."""
    total = 0.0
    for cell in product(*map(range, network.shape(network.variables))):
        at = dict(zip(network.variables, cell, strict=True))
        if all(codes[name] in (at[name], network.cardinality(name)) for name in at):
            total += np.prod(
                [
                    network.cpt(name).table[tuple(at[axis] for axis in network.family(name))]
                    for name in network.variables
                ]
            )
    return total


def by_enumeration(network: Network, table: EncodedTable) -> np.ndarray:
    rows = [
        {name: int(column[row]) for name, column in table.columns.items()}
        for row in range(table.rows)
    ]
    return np.array([row_probability(network, row) for row in rows])


@settings(deadline=None)
@given(st.data())
def test_incomplete_rows_are_as_probable_as_enumeration_says(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, max_rows=6, weighted=True))
    probabilities = by_enumeration(network, table)
    if (probabilities == 0).any():
        with pytest.warns(LacunetWarning, match="probability zero"):
            assert table_log_likelihood(network, table) == -np.inf
        return
    expected = table.weights @ np.log(probabilities)
    assert table_log_likelihood(network, table) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_complete_rows_are_looked_up() -> None:
    rows = {"Rain": ["no", "yes"], "Sprinkler": ["on", "off"], "Wet": ["yes", "no"]}
    expected = np.log(0.8 * 0.4 * 0.9) + np.log(0.2 * 0.99 * 0.2)
    assert log_likelihood(RAIN, rows) == pytest.approx(expected, rel=1e-14)


def test_what_a_row_does_not_show_is_summed_out() -> None:
    rows = {"Rain": ["no", None], "Sprinkler": [None, None], "Wet": ["yes", None]}
    # Without any value, a row is certain.
    assert log_likelihood(RAIN, rows) == pytest.approx(np.log(0.8 * 0.4 * 0.9), rel=1e-14)


def test_a_row_counts_as_often_as_it_weighs() -> None:
    rows = {"Rain": ["no", None], "Sprinkler": ["on", "on"], "Wet": ["yes", "no"], "n": [3.0, 0.5]}
    on_and_dry = 0.8 * 0.4 * 0.1 + 0.2 * 0.01 * 0.01
    expected = 3 * np.log(0.8 * 0.4 * 0.9) + 0.5 * np.log(on_and_dry)
    assert log_likelihood(RAIN, Data(rows, counts="n")) == pytest.approx(expected, rel=1e-14)
    worth = 3.5**2 / (3.0**2 + 0.5**2)  # of rows, by sampling weights
    found = log_likelihood(RAIN, Data(rows, weight="n"))
    assert found == pytest.approx(expected / 3.5 * worth, rel=1e-14)
    rows["n"] = [3e6, 0.5e6]
    assert log_likelihood(RAIN, Data(rows, weight="n")) == pytest.approx(found, rel=1e-12)


def test_rows_that_memory_does_not_hold_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    drawn = simulate(RAIN, 5000, None, rng=rng).table
    columns = {
        name: np.where(rng.random(5000) < 0.2, 2, own).astype(np.uint8)
        for name, own in drawn.columns.items()
    }
    table = EncodedTable(drawn.cardinality_of, columns)
    whole = log_likelihood(RAIN, table)
    monkeypatch.setattr(observations, "HELD_SHARE", 1e12)
    assert log_likelihood(RAIN, to_arrow(table, RAIN)) == pytest.approx(whole, rel=1e-12)
    own = {name: RAIN.cpt(name).table for name in RAIN.variables}
    sure = RAIN.with_tables({**own, "Rain": [1.0, 0.0]})
    rainy = np.flatnonzero(table.columns["Rain"] == 1)[0] + 1
    with pytest.warns(LacunetWarning, match=f"{rainy}"):
        assert log_likelihood(sure, to_arrow(table, RAIN)) == -np.inf


def test_a_latent_variable_is_summed_out() -> None:
    rows = {"Rain": ["no"], "Wet": ["yes"]}
    found = log_likelihood(RAIN, Data(rows, latent=["Sprinkler"]))
    assert found == pytest.approx(np.log(0.8 * 0.4 * 0.9), rel=1e-14)


def test_the_first_impossible_row_is_named_by_its_number() -> None:
    rows = {"Rain": ["no"] * 4, "Sprinkler": ["on", "off", "off", "off"]}
    rows["Wet"] = ["yes", "no", "yes", "yes"]
    with pytest.warns(LacunetWarning, match="3 has"):
        assert log_likelihood(RAIN, rows) == -np.inf


def test_the_first_impossible_incomplete_row_is_named_by_its_number() -> None:
    sure = RAIN.with_tables(
        {**{name: RAIN.cpt(name).table for name in RAIN.variables}, "Rain": [1.0, 0.0]}
    )
    rows = {
        "Rain": ["no", None, None, "yes", "yes", "no", "yes"],
        "Sprinkler": ["on", None, "on", None, None, None, "on"],
        "Wet": ["yes", "yes", None, "no", None, "no", "no"],
    }
    with pytest.warns(LacunetWarning, match="4 has"):
        assert log_likelihood(sure, rows) == -np.inf


@settings(deadline=None)
@given(st.data())
def test_each_complete_row_has_its_own_log_likelihood(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, max_rows=5))
    table = table.take(table.is_shown(table.variables))
    with np.errstate(divide="ignore"):
        expected = np.log(by_enumeration(network, table))
    np.testing.assert_allclose(shown_log_likelihoods(network, table), expected, rtol=1e-10)


@pytest.mark.parametrize("memory", [None, 400_000])
def test_an_impossible_row_is_named_by_its_number_or_by_what_it_shows(
    memory: int | None, tmp_path: Path
) -> None:
    network = lc.Network(
        {"R": ["n", "y", "z"], "W": ["n", "y"]},
        {"W": ["R"]},
        {"R": [0.4, 0.4, 0.2], "W": [[1.0, 0.0], [0.3, 0.7], [1.0, 0.0]]},
        codes={"R": {"?": ["n", "z"]}},
    )
    rows = ["y,y,1", "y,y,0"] * 50_000 + ["?,y,1"]
    path = tmp_path / "rows.csv"
    path.write_text("R,W,w\n" + "\n".join(rows) + "\n")
    with pytest.warns(lc.LacunetWarning, match=r"row 100001 has|a row with R=n or z, W=y has"):
        assert network.log_likelihood(lc.Data(path, weight="w"), memory=memory) == -np.inf
    with pytest.warns(lc.LacunetWarning, match="R=n or.*W=y has"):
        network.log_likelihood(lc.count(network, lc.Data(path, weight="w")))


@pytest.mark.parametrize(
    ("weight", "which"), [(None, "row 90001"), ("w", "a row with Rain=no, Sprinkler=off, Wet=yes")]
)
def test_an_impossible_row_of_streamed_data_is_named(
    weight: str | None, which: str, tmp_path: Path
) -> None:
    rows, at = 100_000, 90_000
    wet = np.where(np.arange(rows) == at, "yes", "no").tolist()
    weights = np.where(np.arange(rows) % 1_000 == 7, 0.0, 1.0)
    table = pa.table({"Rain": ["no"] * rows, "Sprinkler": ["off"] * rows, "Wet": wet, "w": weights})
    path = tmp_path / "rows.parquet"
    parquet.write_table(table if weight else table.drop(["w"]), path)
    with pytest.warns(LacunetWarning, match=f"{which}"):
        assert log_likelihood(RAIN, Data(path, weight=weight), memory=2**18) == -np.inf


def test_a_budget_of_bytes_is_named_in_bytes() -> None:
    network = example("asia")
    rows = {name: ["yes"] for name in network.variables} | {"smoke": [None]}
    with pytest.raises(OverBudgetError, match=r"1 variable \(smoke\).* within 64") as refused:
        log_likelihood(network, rows, memory=64)
    assert "--memory" in refused.value.hint
    with pytest.raises(OverBudgetError, match="64"):
        query(network, "lung", {"dysp": "yes"}, memory=64)
