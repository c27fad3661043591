"""Weights split between parts: by content, so that copies and order make no difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from lacunet.data.table import EncodedTable
from lacunet.model.network import Network
from lacunet.statistics.split import split_weights
from strategies import networks, tables

FIFTH = np.array([0.8, 0.2])


def by_content(table: EncodedTable, parts: np.ndarray) -> dict[tuple[int, ...], list[float]]:
    rows = zip(*(column.tolist() for column in table.columns.values()), strict=True)
    found: dict[tuple[int, ...], np.ndarray] = {}
    for row, own in zip(rows, parts, strict=True):
        found[row] = found.get(row, 0.0) + own
    return {row: own.tolist() for row, own in found.items()}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 2**62), st.booleans())
def test_the_parts_of_each_row_add_up_to_its_weight(
    data: st.DataObject, seed: int, weighted: bool
) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=weighted))
    shares = data.draw(st.sampled_from([FIFTH, np.full(7, 1 / 7)]))
    parts = split_weights(network, table, shares, seed)
    assert (parts >= 0).all()
    expected = np.ones(table.rows) if table.weights is None else table.weights
    np.testing.assert_allclose(parts.sum(axis=1), expected, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 2**62))
def test_copies_in_any_order_fare_as_a_weighted_row_does_bit_for_bit(
    data: st.DataObject, seed: int
) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    copies = rng.integers(1, 50, table.rows)
    weighted = replace(table, weights=copies.astype(float))
    copied = table.take(rng.permutation(np.repeat(np.arange(table.rows), copies)))
    one, two = (split_weights(network, own, FIFTH, seed) for own in (weighted, copied))
    assert by_content(weighted, one) == by_content(copied, two)


def test_the_order_of_the_states_in_the_network_does_not_matter() -> None:
    codes = np.random.default_rng(0).integers(0, 4, 500).astype(np.uint8)
    one = Network({"A": ["x", "y", "z"], "B": ["0", "1"]})
    two = Network({"A": ["z", "y", "x"], "B": ["0", "1"]})
    other = np.array([2, 1, 0, 3], np.uint8)[codes]
    b = np.random.default_rng(1).integers(0, 3, 500).astype(np.uint8)
    mine, theirs = (
        split_weights(network, EncodedTable.of({"A": 3, "B": 2}, {"A": own, "B": b}), FIFTH, seed=4)
        for network, own in ((one, codes), (two, other))
    )
    np.testing.assert_array_equal(mine, theirs)


def test_a_whole_weight_is_split_as_binomial_draws_are() -> None:
    # 2,000 distinct rows of weight 12: the counts against the law, by chi-squared at 1e-4.
    network = Network({"A": [str(state) for state in range(2000)]})
    codes = {"A": np.arange(2000, dtype=np.uint16)}
    table = EncodedTable.of({"A": 2000}, codes, np.full(2000, 12.0))
    aside = split_weights(network, table, FIFTH, seed=11)[:, 1]
    observed = np.bincount(aside.astype(int), minlength=13)
    expected = 2000 * binom.pmf(np.arange(13), 12, 0.2)
    many = expected > 5
    statistic = ((observed - expected)[many] ** 2 / expected[many]).sum()
    assert statistic < 29.9  # seven degrees of freedom or fewer: one in ten thousand
    assert np.array_equal(aside, np.round(aside))


def test_twenty_groups_are_about_equal_and_another_seed_gives_others() -> None:
    network = Network({"A": [str(state) for state in range(1000)]})
    table = EncodedTable.of({"A": 1000}, {"A": np.arange(1000, dtype=np.uint16)})
    one, two = (split_weights(network, table, np.full(20, 1 / 20), seed) for seed in (1, 2))
    # Each group is binomial with mean 50 and standard deviation 6.9: five of these.
    assert (np.abs(one.sum(axis=0) - 50) < 35).all()
    assert not np.array_equal(one, two)


def test_what_is_less_than_a_unit_falls_as_a_whole() -> None:
    network = Network({"A": [str(state) for state in range(100)]})
    table = EncodedTable.of({"A": 100}, {"A": np.arange(100, dtype=np.uint8)}, np.full(100, 0.25))
    parts = split_weights(network, table, FIFTH, seed=3)
    assert set(parts.ravel().tolist()) == {0.0, 0.25}
