"""Groups of rows, and the counts within them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lacunet.counts.groups import GroupedCounts, count_in_groups, group_rows
from lacunet.data.table import EncodedTable
from strategies import networks, tables

some = settings(max_examples=40, deadline=None)


def by_hand(table: EncodedTable, given: tuple[str, ...], scope: tuple[str, ...]) -> Counter:
    found: Counter = Counter()
    for row in range(table.rows):
        group = tuple(int(table.columns[name][row]) for name in given)
        cell = tuple(int(table.columns[name][row]) for name in scope)
        if any(value < table.cardinality_of[name] for name, value in zip(scope, cell, strict=True)):
            found[group, cell] += 1 if table.weights is None else table.weights[row]
    return found


def spelled_out(counts: GroupedCounts) -> Counter:
    found: Counter = Counter()
    columns = counts.columns()
    for at, weight in enumerate(counts.tally.weights):
        group = tuple(int(config[counts.group[at]]) for config in counts.groups.configs)
        found[group, tuple(int(column[at]) for column in columns)] += weight
    return found


def assert_same(one: Counter, two: Counter) -> None:
    assert one.keys() == two.keys()
    for key, weight in one.items():
        np.testing.assert_allclose(two[key], weight, rtol=1e-12)


def grouped(table: EncodedTable, given: tuple[str, ...], scope: tuple[str, ...]) -> GroupedCounts:
    return count_in_groups(table, *group_rows(table, given), scope, False)


@some
@given(st.data())
def test_counts_within_groups_follow_the_rows(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=data.draw(st.booleans())))
    scope = table.partially_observed or network.variables[:1]
    counts = grouped(table, table.fully_observed, scope)
    assert_same(spelled_out(counts), by_hand(table, table.fully_observed, scope))
    np.testing.assert_allclose(counts.groups.weights.sum(), table.total)


@some
@given(st.data())
def test_adding_the_groups_of_batches_groups_the_whole(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=data.draw(st.booleans())))
    given_, scope = table.fully_observed, table.partially_observed or network.variables[:1]
    cut = data.draw(st.integers(1, table.rows)) if table.rows > 1 else 1
    one, two = table.take(slice(0, cut)), table.take(slice(cut, None))
    added = grouped(one, given_, scope) + grouped(two, given_, scope)
    assert_same(spelled_out(added), by_hand(table, given_, scope))
    whole = grouped(table, given_, scope)
    np.testing.assert_allclose(added.groups.weights, whole.groups.weights, rtol=1e-12)


def test_groups_of_more_columns_than_one_key_holds_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    names = [f"V{at}" for at in range(40)]
    columns = {name: rng.integers(0, 200, 500).astype(np.uint8) for name in names}
    columns = {name: np.concatenate([column, column]) for name, column in columns.items()}
    groups, group = group_rows(EncodedTable(dict.fromkeys(names, 200), columns), tuple(names))
    assert len(groups.weights) == 500
    np.testing.assert_array_equal(group[:500], group[500:])
