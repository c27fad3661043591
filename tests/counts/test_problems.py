"""Compiling incomplete rows: the problems are what looking at every row gives, and add up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import ancestral
from lacunet.counts.em_problems import compile as problems
from lacunet.counts.em_problems.compile import Problems, compile_problems, merge_problems
from lacunet.counts.em_problems.ragged import Ragged, group_equal_rows
from lacunet.counts.folds import FOLD
from lacunet.data.table import EncodedTable
from lacunet.limits import Deadline, OutOfTimeError
from lacunet.network.network import Network
from strategies import networks, tables

Listed = dict[tuple[frozenset[str], tuple[tuple[str, int], ...]], float]


def listed(found: Problems) -> Listed:
    """The problems by what they are: component, boundary value -> weight."""
    names = found.layout.network.variables
    weights: dict[Any, float] = {}
    for problem, weight in enumerate(found.weights.sum(axis=1)):
        component = found.component[problem : problem + 1]
        members = frozenset(names[place] for place in found.members.take(component).items)
        boundary = [names[place] for place in found.boundaries.take(component).items]
        states = found.states.take(np.array([problem])).items.tolist()
        key = (members, tuple(sorted(zip(boundary, states, strict=True))))
        assert key not in weights
        weights[key] = float(weight)
    return weights


def moral_graph(network: Network, variables: set[str]) -> nx.Graph:
    moral = nx.Graph()
    moral.add_nodes_from(variables)
    for name in variables:
        family = network.family(name)
        moral.add_edges_from((one, two) for one in family for two in family if one != two)
    return moral


def row_by_row(
    network: Network, table: EncodedTable, prune: bool
) -> tuple[Listed, dict[str, np.ndarray]]:
    """The same by looking at one row after the other."""
    found: Any = Counter()
    fixed = {v: np.zeros(network.shape(network.family(v))) for v in network.variables}
    for row in range(table.rows):
        weight = 1.0 if table.weights is None else float(table.weights[row])
        state_of = {name: int(table.columns[name][row]) for name in network.variables}
        hidden = [name for name in state_of if state_of[name] == network.cardinality(name)]
        kept = ancestral(network, set(state_of) - set(hidden)) if prune else set(state_of)
        moral = moral_graph(network, kept)
        for component in nx.connected_components(moral.subgraph(set(hidden) & kept)):
            near = {n for member in component for n in moral[member]} - component
            found[frozenset(component), tuple(sorted((n, state_of[n]) for n in near))] += weight
        for name in network.variables:
            family = network.family(name)
            if not set(family) & set(hidden):
                fixed[name][tuple(state_of[axis] for axis in family)] += weight
    return dict(found), fixed


def assert_same(one: Listed, two: Listed) -> None:
    assert one.keys() == two.keys()
    for key, weight in one.items():
        np.testing.assert_allclose(two[key], weight, rtol=1e-12)


@pytest.mark.parametrize("many_rows", [1, 4, 1000])
@pytest.mark.parametrize("largest_mask", [0, 52])
@settings(max_examples=25, deadline=None)
@given(st.data(), st.booleans(), st.booleans())
def test_compiling_finds_what_looking_at_every_row_finds(
    many_rows: int,
    largest_mask: int,
    data: st.DataObject,
    weighted: bool,
    prune: bool,
) -> None:
    network = data.draw(networks(max_variables=6))
    table = data.draw(tables(network, weighted=weighted))
    with pytest.MonkeyPatch.context() as patch:  # every way of counting, on small data
        patch.setattr(problems, "ROWS_WITH_OWN_BOUNDARY", many_rows)
        patch.setattr(problems, "MAX_VARIABLES_OF_A_MASK", largest_mask)
        found = compile_problems(network, table, prune=prune)
    expected, fixed = row_by_row(network, table, prune)
    assert_same(listed(found), expected)
    for name, counts in found.layout.tables(found.fixed[:, 0]).items():
        np.testing.assert_allclose(counts, fixed[name], rtol=1e-12)
    assert found.rows == table.rows
    np.testing.assert_allclose(found.totals, [table.total])


def test_patterns_of_more_variables_than_one_key_holds_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    is_missing = np.repeat(rng.random((40, 70)) < 0.5, 3, axis=0)
    columns = {
        f"V{at}": np.where(own, 2, 0).astype(np.uint8) for at, own in enumerate(is_missing.T)
    }
    patterns = problems.patterns_of(EncodedTable(dict.fromkeys(columns, 2), columns))
    assert len(patterns.missing) == len(patterns.rows) == 40
    for pattern, missing in enumerate(patterns.missing):
        rows = patterns.rows.row(pattern)
        assert len(rows) == 3
        assert (is_missing[rows] == missing).all()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_each_part_of_the_weights_is_compiled_as_if_it_were_alone(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    fold = rng.integers(0, 3, table.rows).astype(np.uint8)
    sizes = {**table.cardinality_of, FOLD: 3}
    whole = table.with_columns(sizes, {**table.columns, FOLD: fold})
    found = compile_problems(network, whole)
    times = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    both = found.sampled(times)
    for part, multiples in enumerate(times):
        alone = compile_problems(network, replace(table, weights=multiples[fold]))
        np.testing.assert_array_equal(both.weights[:, part], alone.weights[:, 0])
        np.testing.assert_array_equal(both.fixed[:, part], alone.fixed[:, 0])
        assert both.totals[part] == alone.totals[0]


def test_a_row_that_shows_nothing_leaves_no_problem() -> None:
    network = Network({name: ["0", "1"] for name in "ABC"}, {"B": ["A"], "C": ["A", "B"]})
    columns = {name: np.array([2], np.uint8) for name in "ABC"}
    table = EncodedTable(dict.fromkeys("ABC", 2), columns)
    assert len(compile_problems(network, table)) == 0
    assert len(compile_problems(network, table, prune=False)) == 1


def test_parents_of_a_child_that_nothing_shown_depends_on_are_apart() -> None:
    # A -> C <- B, A -> D: with C barren, A is known through D, and B through itself.
    network = Network({name: ["0", "1"] for name in "ABCD"}, {"C": ["A", "B"], "D": ["A"]})
    columns = {
        name: np.array([code], np.uint8) for name, code in zip("ABCD", [2, 1, 2, 0], strict=True)
    }
    found = compile_problems(network, EncodedTable(dict.fromkeys("ABCD", 2), columns))
    assert listed(found) == {(frozenset("A"), (("D", 0),)): 1.0}


def test_compiling_gives_up_when_its_time_is_up() -> None:
    network = Network({"A": ["0", "1"]})
    table = EncodedTable({"A": 2}, {"A": np.array([0, 2], np.uint8)})
    with pytest.raises(OutOfTimeError):
        compile_problems(network, table, deadline=Deadline(0.0))


@pytest.mark.parametrize(("limit", "parts"), [(31.0, 10), (21.0, 1)])
def test_compiling_gives_up_as_soon_as_its_time_will_not_do(
    monkeypatch: pytest.MonkeyPatch, limit: float, parts: int
) -> None:
    network = Network({"A": ["0", "1"]})
    table = EncodedTable({"A": 2}, {"A": np.array([0, 2] * 5, np.uint8)})
    now, compiled = [0.0], problems._compiled

    def in_three_seconds(*given: Any) -> Problems:
        now[0] += 3
        return compiled(*given)

    monkeypatch.setattr(problems, "_compiled", in_three_seconds)
    monkeypatch.setattr(problems, "MIN_ROWS_AT_A_TIME", 1)
    deadline = Deadline(limit, clock=lambda: now[0])
    if parts == 10:
        compile_problems(network, table, memory=0, deadline=deadline)
    else:
        with pytest.raises(OutOfTimeError):
            compile_problems(network, table, memory=0, deadline=deadline)
    assert now[0] == 3 * parts


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans())
def test_adding_the_problems_of_batches_compiles_the_whole(
    data: st.DataObject, weighted: bool
) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=weighted))
    cut = data.draw(st.integers(0, table.rows))
    whole = compile_problems(network, table)
    one, two = (
        compile_problems(network, table.take(part)) for part in (slice(0, cut), slice(cut, None))
    )
    for both in (one + two, two + one, merge_problems([one, two])):
        assert_same(listed(both), listed(whole))
        np.testing.assert_allclose(both.fixed, whole.fixed, rtol=1e-12)
        assert both.rows == whole.rows


def test_rows_compiled_a_few_at_a_time_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network({name: ["0", "1"] for name in "ABC"}, {"B": ["A"], "C": ["B"]})
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 3, 200).astype(np.uint8) for name in "ABC"}
    table = EncodedTable(dict.fromkeys("ABC", 2), columns)
    whole = compile_problems(network, table)
    monkeypatch.setattr(problems, "CELLS_AT_A_TIME", 40)
    monkeypatch.setattr(problems, "MIN_ROWS_AT_A_TIME", 1)
    assert listed(compile_problems(network, table)) == listed(whole)


def test_a_variable_that_no_row_shows_is_a_component_of_every_row() -> None:
    network = Network({name: ["0", "1"] for name in "AHB"}, {"A": ["H"], "B": ["H"]})
    columns = {
        "A": np.array([0, 0, 1, 0], np.uint8),
        "H": np.full(4, 2, np.uint8),
        "B": np.array([1, 1, 0, 0], np.uint8),
    }
    found = compile_problems(network, EncodedTable(dict.fromkeys("AHB", 2), columns))
    assert listed(found) == {
        (frozenset("H"), (("A", 0), ("B", 1))): 2.0,
        (frozenset("H"), (("A", 1), ("B", 0))): 1.0,
        (frozenset("H"), (("A", 0), ("B", 0))): 1.0,
    }
    assert not found.fixed.any()


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_order_of_the_columns_does_not_matter(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network))
    columns = {name: table.columns[name] for name in reversed(table.variables)}
    turned = EncodedTable(table.cardinality_of, columns)
    assert listed(compile_problems(network, turned)) == listed(compile_problems(network, table))


def test_complete_rows_leave_no_problem() -> None:
    network = Network({"A": ["0", "1"]})
    table = EncodedTable({"A": 2}, {"A": np.array([0, 1, 1], np.uint8)})
    found = compile_problems(network, table)
    assert len(found) == 0
    assert found.fixed.tolist() == [[1.0], [2.0]]


@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 3), max_size=4))))
def test_distinct_rows_are_those_of_a_set(rows: list[tuple[int, list[int]]]) -> None:
    items = np.array([item for _, row in rows for item in row], dtype=np.int64)
    ragged = Ragged.of_lengths(np.array([len(row) for _, row in rows], dtype=np.int64), items)
    labels = np.array([label for label, _ in rows], dtype=np.int64)
    first, group = group_equal_rows(ragged, labels)
    keys = [(label, tuple(row)) for label, row in rows]
    assert len(first) == len(set(keys))
    assert [keys[first[place]] for place in group] == keys
