"""The laws that every method keeps. A new method joins by being registered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from examples import RAIN
from lacunet.data.table import Copies, EncodedTable
from lacunet.learning.methods import METHODS, method_named
from lacunet.learning.plan import Learned
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network
from road import Task, learned_by
from strategies import networks, tables

ITERATIVE = ("auto", "em", "em-bp")
EXACT = {"rtol": 1e-9, "atol": 1e-12}  # sums in another order, divided once or twice


def learned(
    name: str, network: Network, table: EncodedTable, pseudo_counts: float = 1.0, **options: Any
) -> Learned:
    if name.startswith("informed"):
        options["groups"] = table.fully_observed
    if name in ITERATIVE and name != "auto":  # random starts know no order of states
        options["restarts"] = 1
    if name == "mgraph" and not options:  # missing completely at random
        options["missingness"] = MissingnessGraph(
            network, dict.fromkeys(table.partially_observed, ())
        )
    return learned_by(method_named(name, **options), Task(network, table, pseudo_counts))


def assert_same(one: Learned, two: Learned) -> None:
    for variable, table in one.tables.items():
        np.testing.assert_allclose(two.tables[variable], table, **EXACT)


def with_rows(table: EncodedTable, rows: np.ndarray, weights: np.ndarray | None) -> EncodedTable:
    columns = {name: column[rows] for name, column in table.columns.items()}
    return EncodedTable(table.cardinality_of, columns, weights)


every_method = pytest.mark.parametrize("name", METHODS)
# `auto` puts rows aside at random, so which rows are which does matter to it.
every_method_that_sees_all_rows = pytest.mark.parametrize(
    "name", [name for name in METHODS if name != "auto"]
)
some = settings(max_examples=10, deadline=None)


@every_method
@some
@given(st.data())
def test_complete_data_give_the_plain_frequencies(name: str, data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    holes = data.draw(tables(network, weighted=data.draw(st.booleans())))
    columns = {
        variable: np.minimum(column, network.cardinality(variable) - 1)
        for variable, column in holes.columns.items()
    }
    table = EncodedTable(holes.cardinality_of, columns, holes.weights)
    result = learned(name, network, table)
    table = table.scaled()
    for variable in network.variables:
        family = network.family(variable)
        counts = np.ones(network.shape(family))
        cells = tuple(table.columns[axis] for axis in family)
        np.add.at(counts, cells, 1.0 if table.weights is None else table.weights)
        expected = counts / counts.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(result.tables[variable], expected, **EXACT)


@every_method
@some
@given(st.data())
def test_every_row_of_a_cpt_is_a_distribution(name: str, data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=data.draw(st.booleans())))
    pseudo_counts = data.draw(st.sampled_from([1.0, 1.5, 2.0, 10.0]))
    for cpt in learned(name, network, table, pseudo_counts).tables.values():
        assert (cpt >= 0).all()
        np.testing.assert_allclose(cpt.sum(axis=-1), 1, rtol=1e-12)


@every_method_that_sees_all_rows
@some
@given(st.data())
def test_the_order_of_the_rows_does_not_matter(name: str, data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    table = data.draw(tables(network, weighted=True))
    order = np.array(data.draw(st.permutations(range(table.rows))))
    mixed = with_rows(table, order, table.weights[order])
    assert_same(learned(name, network, table), learned(name, network, mixed))


@every_method_that_sees_all_rows
@some
@given(st.data())
def test_a_row_that_stands_for_several_counts_as_they_do(name: str, data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    table = data.draw(tables(network))
    copies = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=table.rows, max_size=table.rows))
    )
    number = copies.astype(float)
    once = EncodedTable(table.cardinality_of, table.columns, number, copies=Copies(number, number))
    copied = with_rows(table, np.repeat(np.arange(table.rows), copies), None)
    assert_same(learned(name, network, once), learned(name, network, copied))


@every_method
@some
@given(st.data(), st.floats(1e-6, 1e6))
def test_weights_have_no_scale(name: str, data: st.DataObject, scale: float) -> None:
    network = data.draw(networks(max_variables=4))
    table = data.draw(tables(network, weighted=True))
    larger = replace(table, weights=table.row_weights * scale)
    one, two = (learned(name, network, own) for own in (table, larger))
    for variable in network.variables:
        np.testing.assert_allclose(one.tables[variable], two.tables[variable], atol=1e-8)


@every_method
def test_one_row_of_any_weight_says_one_thing(name: str) -> None:
    # Scaled to an effective size of one, some weights come to 1 and some to 1 + 2e-16.
    network = Network({"A": ["a", "b"], "B": ["a", "b"]}, {"B": ["A"]})
    columns = {"A": np.array([2], np.uint8), "B": np.array([1], np.uint8)}  # A is missing
    rows = EncodedTable({"A": 2, "B": 2}, columns, np.ones(1))
    expected = learned(name, network, rows)
    for weight in (0.22121075436249915, 0.22121076369616874):
        assert_same(expected, learned(name, network, replace(rows, weights=np.array([weight]))))


@every_method
@some
@given(st.data())
def test_permuting_the_states_permutes_the_cpts(name: str, data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    table = data.draw(tables(network))
    # Where no row shows a variable EM starts at random, which knows no order of states.
    assume(name not in ITERATIVE or max(table.missing_of.values()) < table.rows)
    chosen = data.draw(st.sampled_from(network.variables))
    size = network.cardinality(chosen)
    order = np.array(data.draw(st.permutations(range(size))))
    states = {**network.states_of, chosen: [network.states(chosen)[at] for at in order]}
    place = np.append(np.argsort(order), size).astype(table.columns[chosen].dtype)
    columns: dict[str, Any] = {**table.columns, chosen: place[table.columns[chosen]]}
    other = Network(states, network.parents_of)
    before = learned(name, network, table)
    after = learned(name, other, EncodedTable(table.cardinality_of, columns))
    for variable, cpt in before.tables.items():
        family = network.family(variable)
        axis = family.index(chosen) if chosen in family else None
        moved = cpt if axis is None else np.take(cpt, order, axis=axis)
        np.testing.assert_allclose(after.tables[variable], moved, **EXACT)


@every_method
@some
@given(st.data())
def test_renaming_the_variables_changes_nothing_else(name: str, data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    table = data.draw(tables(network))
    renamed = Network(
        {f"new {v}": network.states(v) for v in network.variables},
        {f"new {v}": [f"new {u}" for u in network.parents(v)] for v in network.variables},
    )
    moved = EncodedTable(
        {f"new {v}": size for v, size in table.cardinality_of.items()},
        {f"new {v}": column for v, column in table.columns.items()},
    )
    before, after = learned(name, network, table), learned(name, renamed, moved)
    for variable, cpt in before.tables.items():
        np.testing.assert_allclose(after.tables[f"new {variable}"], cpt, **EXACT)


@every_method
def test_the_data_are_not_modified(name: str) -> None:
    codes = {v: np.array([0, 1, 2, 1, 0], dtype=np.uint8) for v in RAIN.variables}
    codes["Rain"] = np.array([0, 1, 1, 1, 0], dtype=np.uint8)
    table = EncodedTable(dict.fromkeys(codes, 2), codes, np.array([1.0, 2.0, 3.0, 0.5, 1.0]))
    copies = {v: column.copy() for v, column in table.columns.items()}
    learned(name, RAIN, table)
    for variable, column in table.columns.items():
        np.testing.assert_array_equal(column, copies[variable])


@every_method
def test_every_family_says_what_it_rests_on(name: str) -> None:
    codes = {v: np.array([0, 1, 2, 1, 0], dtype=np.uint8) for v in RAIN.variables}
    codes["Rain"] = np.array([0, 1, 1, 1, 0], dtype=np.uint8)
    result = learned(name, RAIN, EncodedTable(dict.fromkeys(codes, 2), codes))
    for variable, report in result.families.items():
        assert report.variable == variable
        assert report.parents == RAIN.parents(variable)
        assert report.estimand
        assert report.rows_shown == (5 if variable == "Rain" else 4)
        assert report.effective_size is None or 0 < report.effective_size <= 5
        if name != "listwise":  # which uses the complete rows alone
            np.testing.assert_allclose(report.support.sum(), report.rows_shown)
        assert report.unsupported == np.count_nonzero(report.support == 0)
