"""Counts: what they hold, and that they add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacunet.counts import count as engine
from lacunet.counts.count import count
from lacunet.counts.counts import Counts
from lacunet.counts.distinct import (
    _by_address,
    _by_hash,
    ascending,
    distinct,
    number_distinct,
    pack_keys,
    unpack,
)
from lacunet.counts.errors import ScopeError
from lacunet.data.table import EncodedTable
from lacunet.network.network import Network
from strategies import networks, tables

some = settings(max_examples=40, deadline=None)


def assert_same(one: Counts, two: Counts) -> None:
    assert (one.scope, one.cardinalities) == (two.scope, two.cardinalities)
    np.testing.assert_array_equal(one.keys, two.keys)
    np.testing.assert_allclose(one.tally.weights, two.tally.weights, rtol=1e-12)
    np.testing.assert_allclose(one.tally.rows, two.tally.rows, rtol=0)
    np.testing.assert_allclose(one.tally.squares, two.tally.squares, rtol=1e-12)


def by_hand(table: EncodedTable, scope: tuple[str, ...]) -> np.ndarray:
    """A dense table, missing as a state, row after row."""
    found = np.zeros([table.cardinality_of[name] + 1 for name in scope])
    for row in range(table.rows):
        cell = tuple(table.columns[name][row] for name in scope)
        found[cell] += 1 if table.weights is None else table.weights[row]
    return found


def laid_out(counts: Counts) -> np.ndarray:
    found = np.zeros(counts.radices)
    found.reshape(-1)[counts.keys] = counts.tally.weights
    return found


@some
@given(st.data())
def test_every_family_is_counted_cell_by_cell(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=data.draw(st.booleans())))
    scopes = [network.family(name) for name in network.variables]
    for scope, counts in count(table, scopes).items():
        np.testing.assert_allclose(laid_out(counts), by_hand(table, scope), rtol=1e-12)


@some
@given(st.data())
def test_adding_the_counts_of_batches_counts_the_whole(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=data.draw(st.booleans())))
    cut = data.draw(st.integers(0, table.rows))
    scopes = [network.family(name) for name in network.variables]
    whole = count(table, scopes)
    one, two = count(table.take(slice(0, cut)), scopes), count(table.take(slice(cut, None)), scopes)
    for scope in scopes:
        assert_same(one[scope] + two[scope], whole[scope])
        assert_same(two[scope] + one[scope], whole[scope])


@some
@given(st.data())
def test_sparse_counting_equals_dense_counting(data: st.DataObject) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, max_rows=60, weighted=data.draw(st.booleans())))
    scope = network.family(network.order[-1])
    dense = count(table, [scope])[scope]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "MAX_DENSE_CELLS", 0)
        patch.setattr(engine, "SPARSE_BLOCK_ROWS", 7)
        sparse = count(table, [scope])[scope]
    assert_same(sparse, dense)


@some
@given(st.data())
def test_a_marginal_is_the_count_of_the_subset(data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    table = data.draw(tables(network))
    subset = tuple(data.draw(st.lists(st.sampled_from(network.variables), unique=True)))
    whole = count(table, [network.variables])[network.variables]
    np.testing.assert_allclose(laid_out(whole.marginal(subset)), by_hand(table, subset))


def test_a_family_of_two_billion_cells_is_counted_without_laying_it_out() -> None:
    names = [f"V{at}" for at in range(31)]
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 3, 50).astype(np.uint8) for name in names}  # 2: missing
    table = EncodedTable(dict.fromkeys(names, 2), columns)
    counts = count(table, [tuple(names)])[tuple(names)]
    assert counts.total == 50
    assert len(counts.keys) <= 50
    assert counts.marginal(names[:2]).total == 50


def test_no_rows_are_counted_in_a_family_that_is_not_laid_out() -> None:
    sizes = {"A": 2000, "B": 2000, "C": 500}
    none = EncodedTable(sizes, {name: np.zeros(0, np.uint16) for name in sizes})
    counts = count(none, [("A", "B", "C")])[("A", "B", "C")]
    assert (len(counts.keys), counts.total) == (0, 0.0)


def test_counts_of_different_scopes_do_not_add_up() -> None:
    codes = {"A": np.array([0], dtype=np.uint8), "B": np.array([1], dtype=np.uint8)}
    counts = count(EncodedTable({"A": 2, "B": 2}, codes), [("A",), ("B",)])
    with pytest.raises(ScopeError, match=r"\['A'\] and over \['B'\]"):
        counts[("A",)] + counts[("B",)]


@some
@given(st.lists(st.integers(0, 200)))
def test_hashing_and_addressing_find_the_same_keys(values: list[int]) -> None:
    keys = np.array(values, dtype=np.int64)
    expected, place = np.unique(keys, return_inverse=True)
    for found, at in (_by_hash(keys), _by_address(keys, 201)):
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(at, place)


@some
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 1)), min_size=1))
def test_unpacking_gives_what_was_packed(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    packed = pack_keys(columns, [4, 7, 2], len(rows))
    for column, back in zip(columns, unpack(packed, [4, 7, 2]), strict=True):
        np.testing.assert_array_equal(back, column)


def test_a_network_is_counted_in_fewer_tables_than_it_has_families() -> None:
    from lacunet.counts.count import superfamilies

    network = Network(
        {f"V{at}": ["0", "1"] for at in range(20)},
        {f"V{at}": [f"V{at - 1}"] for at in range(1, 20)},
    )
    families = [network.family(name) for name in network.variables]
    unions = superfamilies(families, dict.fromkeys(network.variables, 3))
    assert sorted(family for _, members in unions for family in members) == sorted(families)
    assert all(set(family) <= set(union) for union, members in unions for family in members)
    assert len(unions) <= 3


@given(st.lists(st.integers(0, 2**61)), st.booleans())
def test_distinct_keys_are_numbered_in_ascending_order_by_every_way(
    keys: list[int], in_order: bool
) -> None:
    array = np.array(sorted(keys) if in_order else keys, np.int64)
    expected = sorted(set(keys))
    for found, place in (distinct(array, 2**62), number_distinct(array)[::2]):
        assert found.tolist() == expected
        assert found[place].tolist() == array.tolist()
    assert ascending(array).tolist() == expected
    first = number_distinct(array)[1]
    assert first.tolist() == [array.tolist().index(key) for key in expected]
