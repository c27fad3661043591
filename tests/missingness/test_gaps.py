"""Gaps beside dropout: what decides where another cause of a mechanism is hidden."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import lacunet as lc
from lacunet.ask.diagnose.em_on_learned_graph import try_learned_graph
from lacunet.data.table import EncodedTable
from lacunet.missingness.learned.from_rows import LearnedGraph, learned_graph
from lacunet.network.nodes import Mechanism

ROWS = 16_000
NO_YES = ["no", "yes"]
Made = tuple[EncodedTable, dict[str, float]]


def hidden(values: dict[str, np.ndarray], gone: dict[str, np.ndarray]) -> Made:
    """The rows with gaps, and the true share of yes where there are gaps."""
    columns = {
        name: np.where(gone[name], 2, codes) if name in gone else codes
        for name, codes in values.items()
    }
    table = EncodedTable(
        dict.fromkeys(values, 2), {name: codes.astype(np.uint8) for name, codes in columns.items()}
    )
    return table, {name: float(values[name].mean()) for name in gone}


def chain(rng: np.random.Generator, names: str) -> dict[str, np.ndarray]:
    """Values, each by the one before."""
    values: dict[str, np.ndarray] = {}
    last = None
    for name in names:
        yes = 0.45 if last is None else np.where(last, 0.75, 0.25)
        last = values[name] = rng.random(ROWS) < yes
    return values


def skipped_page(seed: int) -> Made:
    """A page is skipped by X; its second item has gaps by the first one where that is shown."""
    rng = np.random.default_rng(seed)
    values = chain(rng, "XAB")
    skip = rng.random(ROWS) < np.where(values["X"], 0.1, 0.45)
    gap = rng.random(ROWS) < 0.12
    by_value = rng.random(ROWS) < np.where(values["A"], 0.1, 0.45)
    second = np.where(gap, rng.random(ROWS) < 0.25, by_value)
    return hidden(values, {"A": skip | gap, "B": skip | second})


def visits(seed: int) -> Made:
    """A visit is missed by the one before where that is shown, else by X."""
    rng = np.random.default_rng(seed)
    values = chain(rng, "XAB")
    first = rng.random(ROWS) < np.where(values["X"], 0.15, 0.4)
    by_value = rng.random(ROWS) < np.where(values["A"], 0.4, 0.1)
    second = np.where(first, rng.random(ROWS) < np.where(values["X"], 0.2, 0.75), by_value)
    return hidden(values, {"A": first, "B": second})


def returners(seed: int) -> Made:
    """People drop out by their last value; two of a hundred come back for the last visit."""
    rng = np.random.default_rng(seed)
    values = chain(rng, "XABC")
    first = rng.random(ROWS) < np.where(values["X"], 0.3, 0.1)
    second = first | (rng.random(ROWS) < np.where(values["A"], 0.45, 0.1))
    third = second | (rng.random(ROWS) < np.where(values["B"], 0.5, 0.05))
    third &= ~(second & (rng.random(ROWS) < 0.02))
    return hidden(values, {"A": first, "B": second, "C": third})


def network_of(names: str, order: str) -> lc.Network:
    """The chain of names, with its variables in an order."""
    edges = dict(zip(names[1:], [[name] for name in names], strict=False))
    return lc.Network(dict.fromkeys(order, NO_YES), edges)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("design", [skipped_page, visits])
def test_what_decides_where_another_cause_is_hidden_is_found(
    design: Callable[[int], Made], backwards: bool
) -> None:
    for seed in (411, 412):
        table, truth = design(seed)
        network = network_of("XAB", "BAX" if backwards else "XAB")
        graph = lc.learn_missingness(table, network)
        assert {*graph.causes["A"]} == {"X"}
        assert {*graph.causes["B"]} == {"X", "A", Mechanism("A")}
        assert graph.doubt == ""
        result = lc.learn(network, table, "em", missingness=graph)
        for name, share in truth.items():  # within about three standard errors
            assert float(result.query(f"P({name}=yes)")) == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize("order", ["XABC", "CBAX", "XCAB"])
def test_dropout_with_a_few_who_come_back_is_learned_in_the_order_of_the_visits(order: str) -> None:
    table, truth = returners(421)
    network = network_of("XABC", order)
    graph = lc.learn_missingness(table, network)
    assert {*graph.causes["A"]} == {"X"}
    assert {*graph.causes["B"]} == {"A", Mechanism("A")}
    assert {*graph.causes["C"]} == {"B", Mechanism("B")}
    result = lc.learn(network, table, "em", missingness=graph)
    for name, share in truth.items():
        assert float(result.query(f"P({name}=yes)")) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("design", [skipped_page, visits])
def test_a_graph_that_misses_what_decides_there_is_refuted(
    design: Callable[[int], Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = design(431)
    network = network_of("XAB", "XAB")
    causes = {"A": ["X"], "B": ["A", Mechanism("A")]}
    wrong = LearnedGraph(network=network, causes=causes, origin_of={}).tested_on(table)
    assert "X ⊥ R[B] | A, R[A]" in wrong.doubt
    assert wrong.doubt in lc.learn(network, table, "em", missingness=wrong).warnings
    monkeypatch.setattr("lacunet.ask.diagnose.em_on_learned_graph.learned_graph", lambda *_: wrong)
    trial = try_learned_graph(network, table)
    assert wrong.doubt in trial.refusal
    assert not trial.is_recommended


def test_an_effect_of_a_hidden_value_alone_needs_no_edge_between_mechanisms() -> None:
    network = network_of("XAB", "XAB")
    rng = np.random.default_rng(441)
    values = chain(rng, "XAB")
    first = rng.random(ROWS) < np.where(values["X"], 0.4, 0.15)
    second = rng.random(ROWS) < np.where(values["A"], 0.5, 0.1)
    table, _ = hidden(values, {"A": first, "B": second})
    graph = learned_graph(network, table).tested_on(table)
    assert {name: {*nodes} for name, nodes in graph.causes.items() if nodes} == {
        "A": {"X"},
        "B": {"A"},
    }
    assert graph.doubt == ""


@pytest.mark.parametrize("order", ["UVW", "WVU"])
def test_a_mechanism_that_is_hidden_by_another_is_learned_after_it(order: str) -> None:
    # U and V decide on whether W is shown, and that decides on whether U is.
    rng = np.random.default_rng(27)
    values = {name: rng.random(ROWS) < 0.5 for name in order}
    gone_w = rng.random(ROWS) < np.where(values["U"] & values["V"], 0.85, 0.15)
    gone_u = rng.random(ROWS) < np.where(gone_w, 0.7, 0.1)
    table, _ = hidden(values, {"W": gone_w, "U": gone_u})
    graph = learned_graph(lc.Network(dict.fromkeys(order, NO_YES)), table)
    assert {*graph.causes["W"]} == {"U", "V"}
    assert {*graph.causes["U"]} == {Mechanism("W")}
