"""Loopy propagation: exact on trees, and elsewhere what message by message gives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import enumerated
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference import loopy
from lacunet.inference.engine import engine_of
from lacunet.inference.errors import ImpossibleDataError
from lacunet.network.network import Network
from strategies import networks, tables

MEMORY = 2**30


def smoothed(network: Network) -> Network:
    """Without zeros, and away from certainty."""
    return network.with_tables(
        {cpt.child: 0.8 * cpt.table + 0.2 / cpt.table.shape[-1] for cpt in network.cpts}
    )


def cells_of(network: Network) -> np.ndarray:
    return np.concatenate([cpt.table.ravel() for cpt in network.cpts])


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans())
def test_on_trees_loopy_propagation_is_exact(data: st.DataObject, weighted: bool) -> None:
    network = smoothed(data.draw(networks(max_variables=6, max_parents=1)))
    table = data.draw(tables(network, max_rows=8, weighted=weighted))
    counts, log_likelihood = enumerated(network, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loopy, "LOOPY_TOLERANCE", 0.0)
        engine = engine_of(compile_problems(network, table), MEMORY, "bp")
        found = engine.expect(cells_of(network))
    np.testing.assert_allclose(found.log_likelihoods.sum(), log_likelihood, rtol=1e-9, atol=1e-9)
    for name, cells in engine.problems.layout.tables(found.counts).items():
        np.testing.assert_allclose(cells, counts[name], rtol=1e-9, atol=1e-9)


def one_row_propagated(network: Network, state_of: dict[str, int]) -> dict[str, np.ndarray]:
    """The beliefs of every family after all sweeps, with dictionaries, for one row."""
    size_of = {name: network.cardinality(name) for name in network.variables}
    hidden = [name for name in network.variables if state_of[name] == size_of[name]]
    factors = {name: [axis for axis in network.family(name) if axis in hidden] for name in size_of}

    def entries(name: str) -> list[dict[str, int]]:
        free = [range(size_of[axis]) for axis in factors[name]]
        return [
            {**state_of, **dict(zip(factors[name], states, strict=True))}
            for states in product(*free)
        ]

    def value(name: str, full: dict[str, int]) -> float:
        return float(network.cpt(name).table[tuple(full[axis] for axis in network.family(name))])

    edges = [(name, axis) for name in factors for axis in factors[name]]
    down = {(f, x): np.full(size_of[x], 1 / size_of[x]) for f, x in edges}
    for _ in range(loopy.LOOPY_SWEEPS):
        up = _told_by_variables(edges, down, size_of)
        new = {}
        for f, x in edges:
            said = np.zeros(size_of[x])
            for full in entries(f):
                others = [up[f, y][full[y]] for y in factors[f] if y != x]
                said[full[x]] += value(f, full) * np.prod(others)
            new[f, x] = said / said.sum()
        moved = max((np.abs(new[edge] - down[edge]).max() for edge in edges), default=0)
        down = new
        if moved < loopy.LOOPY_TOLERANCE:
            break
    up = _told_by_variables(edges, down, size_of)
    beliefs = {}
    for f, axes in factors.items():
        belief = np.zeros_like(network.cpt(f).table)
        for full in entries(f):
            weight = value(f, full) * np.prod([up[f, y][full[y]] for y in axes])
            belief[tuple(full[axis] for axis in network.family(f))] = weight
        beliefs[f] = belief / belief.sum()
    return beliefs


def _told_by_variables(edges, down, size_of):  # type: ignore[no-untyped-def]
    up = {}
    for f, x in edges:
        said = np.ones(size_of[x])
        for g, y in edges:
            if y == x and g != f:
                said = said * down[g, y]
        up[f, x] = said / said.sum()
    return up


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_with_loops_the_beliefs_are_those_of_passing_message_by_message(
    data: st.DataObject,
) -> None:
    network = smoothed(data.draw(networks(max_variables=6)))
    # One row: problems of one row stop together, those of several when all have settled.
    table = data.draw(tables(network, max_rows=1))
    engine = engine_of(compile_problems(network, table, prune=False), MEMORY, "bp")
    found = engine.problems.layout.tables(engine.expect(cells_of(network)).counts)
    state_of = {name: int(table.columns[name][0]) for name in network.variables}
    for name, belief in one_row_propagated(network, state_of).items():
        np.testing.assert_allclose(found[name], belief, rtol=1e-9, atol=1e-9)


def test_only_components_beyond_the_budget_are_loopy_and_the_families_are_named() -> None:
    # A - B - C - D all hidden together, Z hidden alone; a tiny budget fits Z only.
    network = Network(
        {name: ["0", "1"] for name in "ABCDEYZ"},
        {"B": ["A"], "C": ["A", "B"], "D": ["A", "B", "C"], "E": ["D"], "Y": ["Z"]},
        {
            "A": np.full(2, 0.5),
            "B": np.full((2, 2), 0.5),
            "C": np.full((2, 2, 2), 0.5),
            "D": np.full((2, 2, 2, 2), 0.5),
            "E": np.full((2, 2), 0.5),
            "Z": np.full(2, 0.5),
            "Y": np.full((2, 2), 0.5),
        },
    )
    columns = {name: np.array([0 if name in "EY" else 2], np.uint8) for name in network.variables}
    problems = compile_problems(network, EncodedTable(dict.fromkeys("ABCDEYZ", 2), columns))
    engine = engine_of(problems, 64 * 10)
    assert engine.loopy_families == frozenset("ABCDE")
    assert engine_of(problems, MEMORY).loopy_families == frozenset()


def test_a_row_that_cannot_happen_is_refused() -> None:
    network = Network(
        {"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}, {"A": [1, 0], "B": [[1, 0], [0, 1]]}
    )
    columns = {"A": np.array([2], np.uint8), "B": np.array([1], np.uint8)}
    problems = compile_problems(network, EncodedTable({"A": 2, "B": 2}, columns))
    with pytest.raises(ImpossibleDataError, match=r"\['A'\].*show B=1"):
        engine_of(problems, MEMORY, "bp").expect(cells_of(network))


def test_two_thousand_effects_of_one_hidden_cause_do_not_underflow() -> None:
    effects = [f"E{place}" for place in range(2000)]
    network = Network(
        {name: ["0", "1"] for name in ["H", *effects]},
        {name: ["H"] for name in effects},
        {"H": [0.5, 0.5], **{name: [[0.6, 0.4], [0.4, 0.6]] for name in effects}},
    )
    columns = {name: np.array([place % 2], np.uint8) for place, name in enumerate(effects)}
    columns["H"] = np.array([2], np.uint8)
    table = EncodedTable(dict.fromkeys(network.variables, 2), columns)
    found = engine_of(compile_problems(network, table), MEMORY, "bp").expect(cells_of(network))
    # As many effects speak for either state: the cause is as likely as before.
    np.testing.assert_allclose(found.counts[:2], [0.5, 0.5], rtol=1e-9)
    np.testing.assert_allclose(found.log_likelihoods, [1000 * np.log(0.24)], rtol=1e-9)


def square(table: float) -> Network:
    """Four variables around a loop, the last one's effect shown."""
    copies = [[1 - table, table], [table, 1 - table]]
    both = np.array([copies, [[0.7, 0.3], [0.2, 0.8]]])
    return Network(
        {name: ["0", "1"] for name in "ABCDE"},
        {"B": ["A"], "C": ["A"], "D": ["B", "C"], "E": ["D"]},
        {"A": [0.6, 0.4], "B": copies, "C": copies, "D": both, "E": copies},
    )


@pytest.mark.parametrize("before", [0.3, 0.0])  # zeros rule out what is possible later
def test_messages_of_an_expectation_before_shorten_the_way_to_the_same_beliefs(
    monkeypatch: pytest.MonkeyPatch, before: float
) -> None:
    columns = {name: np.array([1 if name == "E" else 2], np.uint8) for name in "ABCDE"}
    table = EncodedTable(dict.fromkeys("ABCDE", 2), columns)
    engine = engine_of(compile_problems(square(0.3), table), MEMORY, "bp")
    sweeps, send = [0], loopy._send_to_factors

    def counted(*given: Any) -> None:
        sweeps[0] += 1
        send(*given)

    monkeypatch.setattr(loopy, "_send_to_factors", counted)
    monkeypatch.setattr(loopy, "LOOPY_SWEEPS", 500)
    monkeypatch.setattr(loopy, "LOOPY_TOLERANCE", 1e-13)
    found = engine.expect(cells_of(square(before)))
    sweeps[0] = 0
    cold = engine.expect(cells_of(square(0.301)))
    from_uniform = sweeps[0]
    warm = engine.expect(cells_of(square(0.301)), messages=found.messages)
    np.testing.assert_allclose(warm.counts, cold.counts, rtol=1e-10)
    np.testing.assert_allclose(warm.log_likelihoods, cold.log_likelihoods, rtol=1e-10)
    if before:
        assert sweeps[0] - from_uniform < from_uniform
