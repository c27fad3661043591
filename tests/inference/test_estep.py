"""The exact expectation against the sum over every completion, and where it must refuse."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import enumerated
from examples import RAIN
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.elimination import batched
from lacunet.inference.engine import engine_of
from lacunet.inference.errors import ImpossibleDataError, OverBudgetError
from lacunet.inference.expectation import expectation_plan as estep_plan
from lacunet.inference.expectation import shards as estep_shards
from lacunet.inference.expectation.expect import expect, log_likelihoods
from lacunet.inference.expectation.expectation_plan import ALWAYS_EXACT, plan_of, runs_of
from lacunet.inference.expectation.message_groups import Dense
from lacunet.inference.likelihood import observed_log_likelihood
from lacunet.inference.query import query
from lacunet.limits import Deadline, OutOfTimeError
from lacunet.network.network import Network
from strategies import networks, random_rows, tables

EXACT = {"rtol": 1e-10, "atol": 1e-10}
MEMORY = 2**30


def cells_of(network: Network) -> np.ndarray:
    return np.concatenate([cpt.table.ravel() for cpt in network.cpts])


@pytest.mark.parametrize(
    ("dense_clique", "index_bytes", "many_cells", "few_cells"),
    [(1, 8, 2**22, 2**13), (4, 10**12, 0, 2**13), (2**12, 8, 2**22, 2**13), (2**12, 8, 0, 0)],
)
@pytest.mark.parametrize("run_steps", [2, 2**17])
@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans(), st.booleans())
def test_expected_counts_are_those_of_enumeration(
    dense_clique: int,
    index_bytes: int,
    many_cells: int,
    few_cells: int,
    run_steps: int,
    data: st.DataObject,
    weighted: bool,
    prune: bool,
) -> None:
    network = data.draw(networks(max_variables=6))
    table = data.draw(tables(network, max_rows=12, weighted=weighted))
    counts, expected = enumerated(network, table, prune)
    problems = compile_problems(network, table, prune=prune)
    with pytest.MonkeyPatch.context() as patch:  # every way of laying out, on small data
        patch.setattr(estep_plan, "DENSE_GROUP", dense_clique)
        patch.setattr(estep_shards, "DENSE_GROUP", dense_clique)
        patch.setattr(estep_shards, "DENSE_CLIQUE", dense_clique)
        patch.setattr(estep_shards, "CELLS_WORTH_A_GROUP", few_cells)
        patch.setattr(estep_plan, "BYTES_OF_AN_INDEX", index_bytes)
        patch.setattr(estep_plan, "STEPS_OF_A_RUN", run_steps)
        patch.setattr(batched, "SEARCH_FROM_CELLS", many_cells)
        plan = plan_of(problems, MEMORY)
    np.testing.assert_allclose(log_likelihoods(plan, cells_of(network)).sum(), expected, **EXACT)
    if np.isneginf(expected) and _a_component_is_impossible(network, table):
        with pytest.raises(ImpossibleDataError, match="probability zero"):
            expect(plan, cells_of(network))
    elif np.isfinite(expected):
        found = expect(plan, cells_of(network))
        np.testing.assert_allclose(found.log_likelihoods.sum(), expected, **EXACT)
        for name, cells in problems.layout.tables(found.counts).items():
            np.testing.assert_allclose(cells, counts[name], **EXACT)


def _a_component_is_impossible(network: Network, table: EncodedTable) -> bool:
    """Whether a row is ruled out even without the families that it shows completely."""
    for row in range(table.rows):
        one = table.take(slice(row, row + 1))
        free = {
            name: np.ones_like(network.cpt(name).table) / network.cardinality(name)
            if one.is_shown(network.family(name)).all()
            else network.cpt(name).table
            for name in network.variables
        }
        if np.isneginf(enumerated(network.with_tables(free), one)[1]):
            return True
    return False


def test_the_posterior_of_a_cause_is_bayes_rule() -> None:
    # P(Rain=yes | Sprinkler=off, Wet=yes) = .2*.99*.8 / (.2*.99*.8 + .8*.6*0) = 1
    # P(Rain=yes | Sprinkler=on, Wet=yes) = .2*.01*.99 / (.2*.01*.99 + .8*.4*.9)
    columns = {
        "Rain": np.array([2, 2], np.uint8),
        "Sprinkler": np.array([0, 1], np.uint8),
        "Wet": np.array([1, 1], np.uint8),
    }
    table = EncodedTable(dict.fromkeys(columns, 2), columns)
    problems = compile_problems(RAIN, table)
    found = expect(plan_of(problems, MEMORY), cells_of(RAIN))
    yes = 1 + 0.00198 / (0.00198 + 0.288)
    np.testing.assert_allclose(
        problems.layout.tables(found.counts)["Rain"], [2 - yes, yes], rtol=1e-12
    )
    np.testing.assert_allclose(found.log_likelihoods.sum(), np.log(0.1584) + np.log(0.28998))


def chain(length: int, rng: np.random.Generator, smallest: float) -> Network:
    names = [f"X{place:03}" for place in range(length)]
    tables = {}
    for place, name in enumerate(names):
        rows = rng.random((2, 2) if place else (2,)) ** 4 + smallest
        tables[name] = rows / rows.sum(axis=-1, keepdims=True)
    parents = {two: [one] for one, two in pairwise(names)}
    return Network({name: ["0", "1"] for name in names}, parents, tables)


def test_a_long_chain_does_not_underflow() -> None:
    # Every second variable is seen, in the state that its parent makes improbable; the reference
    # is the forward recursion in logarithms.
    network = chain(2001, np.random.default_rng(3), 1e-9)
    columns = {
        name: np.array([2 if place % 400 else 1], np.uint8)
        for place, name in enumerate(network.variables)
    }
    table = EncodedTable(dict.fromkeys(columns, 2), columns)
    forward = np.log(network.cpts[0].table)
    for place, name in enumerate(network.variables):
        if place:
            steps = np.log(network.cpt(name).table) + forward[:, None]
            forward = np.logaddexp(steps[0], steps[1])
        if table.columns[name][0] < 2:
            forward = np.where(np.arange(2) == table.columns[name][0], forward, -np.inf)
    expected = np.logaddexp(*forward)
    np.testing.assert_allclose(observed_log_likelihood(network, table), expected, rtol=1e-12)


@pytest.mark.parametrize("dense_clique", [0, 2**13])
def test_a_hidden_tree_of_improbable_leaves_does_not_underflow(
    monkeypatch: pytest.MonkeyPatch, dense_clique: int
) -> None:
    monkeypatch.setattr(estep_shards, "DENSE_CLIQUE", dense_clique)
    monkeypatch.setattr(estep_shards, "DENSE_GROUP", dense_clique)
    # One hidden cause of 300 observed effects, each of probability 1e-9: log Z = 300 log 1e-9.
    effects = [f"E{place}" for place in range(300)]
    network = Network(
        {name: ["0", "1"] for name in ["H", *effects]},
        {name: ["H"] for name in effects},
        {"H": [0.5, 0.5], **{name: [[1 - 1e-9, 1e-9]] * 2 for name in effects}},
    )
    columns = {name: np.array([1], np.uint8) for name in network.variables}
    columns["H"] = np.array([2], np.uint8)
    table = EncodedTable(dict.fromkeys(columns, 2), columns)
    np.testing.assert_allclose(
        observed_log_likelihood(network, table), 300 * np.log(1e-9), rtol=1e-12
    )
    counts = expect(plan_of(compile_problems(network, table), MEMORY), cells_of(network)).counts
    # both states of the cause are equally likely, and each effect is seen at its second state
    np.testing.assert_allclose(counts, [0.5, 0.5] + 300 * [0, 0.5, 0, 0.5], rtol=1e-12)


@pytest.mark.parametrize("dense_clique", [0, 2**12])
def test_what_is_too_improbable_for_floating_point_is_refused_not_turned_into_nan(
    monkeypatch: pytest.MonkeyPatch, dense_clique: int
) -> None:
    monkeypatch.setattr(estep_shards, "DENSE_CLIQUE", dense_clique)
    monkeypatch.setattr(estep_shards, "DENSE_GROUP", dense_clique)
    rare = [[1 - 1e-160, 1e-160]] * 2
    network = Network(
        {name: ["0", "1"] for name in "HAB"},
        {"A": ["H"], "B": ["H"]},
        {"H": [0.5, 0.5], "A": rare, "B": rare},
    )
    columns = {"H": np.array([2]), "A": np.array([1]), "B": np.array([1])}
    table = EncodedTable(
        dict.fromkeys("HAB", 2), {v: c.astype(np.uint8) for v, c in columns.items()}
    )
    assert np.isneginf(observed_log_likelihood(network, table))
    with pytest.raises(ImpossibleDataError, match="probability zero"):
        expect(plan_of(compile_problems(network, table), MEMORY), cells_of(network))


def grid(side: int, rng: np.random.Generator) -> Network:
    names = [[f"G{row}_{column}" for column in range(side)] for row in range(side)]
    parents = {
        names[row][column]: ([names[row - 1][column]] if row else [])
        + ([names[row][column - 1]] if column else [])
        for row in range(side)
        for column in range(side)
    }
    tables = {name: random_rows(rng, [2] * (len(own) + 1)) for name, own in parents.items()}
    return Network({name: ["0", "1"] for name in parents}, parents, tables)


def holes(network: Network, rows: int, share: float, rng: np.random.Generator) -> EncodedTable:
    columns = {
        name: np.where(rng.random(rows) < share, 2, rng.integers(0, 2, rows)).astype(np.uint8)
        for name in network.variables
    }
    return EncodedTable(dict.fromkeys(columns, 2), columns)


def test_how_the_problems_are_cut_into_shards_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    network = grid(8, rng)
    smooth = {name: table * 0.9 + 0.05 for name, table in dict(network.tables_of or {}).items()}
    network = network.with_tables(smooth)
    monkeypatch.setattr(estep_plan, "CELLS_OF_A_SHARD", 2000)
    monkeypatch.setattr(estep_shards, "DENSE_CLIQUE", 4)
    monkeypatch.setattr(estep_shards, "DENSE_GROUP", 64)
    monkeypatch.setattr(estep_shards, "CELLS_OF_A_GROUP", 500)
    problems = compile_problems(network, holes(network, 40, 0.6, rng))
    plan = plan_of(problems, MEMORY)
    assert len(plan.shards) > 4
    together = {
        group.sizes[0]
        for shard in plan.shards
        for group in shard.groups
        if isinstance(group, Dense)
    }
    assert min(together) == 1 < max(together)  # messages alone, and several at once
    many = expect(plan, cells_of(network))
    monkeypatch.undo()
    one = expect(plan_of(problems, MEMORY), cells_of(network))
    np.testing.assert_allclose(many.counts, one.counts, rtol=1e-10, atol=1e-12)
    assert many.log_likelihoods[0] == pytest.approx(one.log_likelihoods[0], rel=1e-12)


def test_a_large_component_is_summed_along_the_better_order() -> None:
    # A 16 x 16 grid, one corner shown: the greedy order makes 3e8 cells, a sweep from one corner
    # to the other 7e6. Within 64 MB, products are not kept.
    rng = np.random.default_rng(8)
    network = grid(16, rng)
    columns = {name: np.full(1, 2, np.uint8) for name in network.variables}
    columns["G15_15"] = np.zeros(1, np.uint8)
    table = EncodedTable(dict.fromkeys(columns, 2), columns)
    problems = compile_problems(network, table)
    plan, lean = plan_of(problems, MEMORY), plan_of(problems, 2**27)
    assert plan.states < 1e7
    assert not len(lean.left_out)
    expected = query(network, "G15_15").probabilities[0]
    one, two = expect(plan, cells_of(network)), expect(lean, cells_of(network))
    np.testing.assert_allclose(one.log_likelihoods, [np.log(expected)])
    np.testing.assert_allclose(two.log_likelihoods, [np.log(expected)])
    np.testing.assert_allclose(two.counts, one.counts, rtol=1e-9, atol=1e-12)


def test_a_component_beyond_the_budget_is_left_out_and_the_likelihood_refused() -> None:
    rng = np.random.default_rng(6)
    network = grid(6, rng)
    table = holes(network, 3, 1.0, rng)
    table = EncodedTable(table.cardinality_of, {**table.columns, "G5_5": np.zeros(3, np.uint8)})
    problems = compile_problems(network, table)
    assert len(plan_of(problems, 1000).left_out) == len(problems)
    with pytest.raises(OverBudgetError, match="35"):
        observed_log_likelihood(network, table, memory=1000)


def test_an_expectation_stops_when_its_time_is_up() -> None:
    table = holes(RAIN, 5, 0.5, np.random.default_rng(7))
    plan = plan_of(compile_problems(RAIN, table), MEMORY)
    with pytest.raises(OutOfTimeError):
        expect(plan, cells_of(RAIN), deadline=Deadline(0.0))


def test_a_number_of_cells_leaves_the_largest_components_out_whatever_the_memory() -> None:
    # Rows of a 14 x 14 grid that show two corners, two of them also what is beside the first.
    rng = np.random.default_rng(4)
    network = grid(14, rng)
    columns = {name: np.full(3, 2, np.uint8) for name in network.variables}
    columns["G0_0"] = np.array([0, 0, 1], np.uint8)
    for place in range(1, 8):
        columns[f"G0_{place}"] = np.array([2, 0, 0], np.uint8)
    columns["G13_13"] = np.zeros(3, np.uint8)
    table = EncodedTable(dict.fromkeys(columns, 2), columns)
    problems = compile_problems(network, table)
    costs = sorted(float(cells) for run in runs_of(problems) for cells in run.cells)
    assert costs[-1] > ALWAYS_EXACT
    for memory in (MEMORY, 4 * MEMORY):
        assert not len(plan_of(problems, memory).left_out)
        beyond = plan_of(problems, memory, most_cells=max(costs[-1], 2 * costs[0])).left_out
        assert 0 < len(beyond) < len(problems)
        engine = engine_of(problems, memory, most_cells=1.0)
        assert len(engine.plan.left_out) == len(problems)  # all are large
        assert engine.loopy_families
    small = compile_problems(grid(6, rng), holes(grid(6, rng), 5, 0.9, rng))
    assert not len(plan_of(small, MEMORY, most_cells=1.0).left_out)
