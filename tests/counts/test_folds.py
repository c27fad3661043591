"""Rows divided into folds: by content, so that copies and order make no difference."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from lacunet.counts.count import count
from lacunet.counts.counts import Counts
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.counts.family_sums import SolvedSamples, solved_samples
from lacunet.counts.folds import (
    FOLD,
    JACKKNIFE_GROUPS,
    Dealing,
    Folds,
    deal_groups,
    divide_rows,
    folds_of,
    row_hashes,
)
from lacunet.counts.gather import Gathering, Needs, gather
from lacunet.counts.groups import FoldedGroups, count_in_groups, group_rows
from lacunet.counts.units import Units
from lacunet.data.table import Copies, Design, EncodedTable, Labels
from lacunet.learning.closed_forms.factored import factored_mar
from lacunet.network.network import Network
from strategies import networks, tables

TWO = folds_of(2, seed=5)
THIRTY = folds_of(JACKKNIFE_GROUPS, seed=5)
assert TWO is not None
assert THIRTY is not None

Content = dict[tuple[int, ...], tuple[float, float, float]]


def by_content(table: EncodedTable) -> Content:
    """The weight, rows and squares of each distinct row, its fold included."""
    rows = zip(*(column.tolist() for column in table.columns.values()), strict=True)
    copies = table.copies or Copies(np.ones(table.rows), table.row_weights**2)
    found: Content = {}
    for row, *own in zip(rows, table.row_weights, copies.rows, copies.squares, strict=True):
        before = found.get(row, (0.0, 0.0, 0.0))
        found[row] = tuple(one + two for one, two in zip(before, own, strict=True))  # type: ignore[assignment]
    return found


def without_folds(content: Content) -> Content:
    found: Content = {}
    for row, own in content.items():
        before = found.get(row[:-1], (0.0, 0.0, 0.0))
        found[row[:-1]] = tuple(one + two for one, two in zip(before, own, strict=True))  # type: ignore[assignment]
    return found


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from([TWO, THIRTY]))
def test_the_folds_of_each_row_add_up_to_it(
    data: st.DataObject, weighted: bool, folds: Folds
) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=weighted))
    found, expected = (
        without_folds(by_content(divide_rows(network, table, folds))),
        by_content(table),
    )
    assert found.keys() == expected.keys()
    for row, own in expected.items():
        np.testing.assert_allclose(found[row], own, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([TWO, THIRTY]))
def test_copies_in_any_order_fall_as_a_row_that_stands_for_them(
    data: st.DataObject, folds: Folds
) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    copies = rng.integers(1, 50, table.rows).astype(float)
    once = replace(table, weights=copies, copies=Copies(copies, copies))
    copied = table.take(rng.permutation(np.repeat(np.arange(table.rows), copies.astype(int))))
    assert by_content(divide_rows(network, once, folds)) == by_content(
        divide_rows(network, copied, folds)
    )


@settings(max_examples=40, deadline=None)
@given(st.data(), st.floats(1e-6, 1e6))
def test_the_scale_of_weights_moves_no_row_to_another_fold(
    data: st.DataObject, scale: float
) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=True))
    larger = replace(table, weights=table.row_weights * scale)
    one, two = (divide_rows(network, own, THIRTY) for own in (table, larger))  # type: ignore[arg-type]
    assert (one.columns[FOLD] == two.columns[FOLD]).all()
    np.testing.assert_allclose(one.row_weights * scale, two.row_weights, rtol=1e-9)


def test_very_many_copies_stay_as_many() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]})
    columns = {"A": np.array([0, 0, 1, 1], np.uint8), "B": np.array([0, 1, 0, 1], np.uint8)}
    weights = np.array([3e9, 3e9, 3e9, 1e9])
    table = EncodedTable({"A": 2, "B": 2}, columns, weights, copies=Copies(weights, weights))
    found = divide_rows(network, table, THIRTY)  # type: ignore[arg-type]
    assert found.row_count == 10_000_000_000
    assert found.total == pytest.approx(1e10, rel=1e-14)


def in_strata(rows: EncodedTable, number: int, seed: int) -> EncodedTable:
    codes = np.random.default_rng(seed).integers(0, number, rows.rows).astype(np.int32)
    return replace(rows, design=Design(strata=Labels(tuple(map(str, range(number))), codes)))


@settings(max_examples=40, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from([1, 3, 60]))
def test_rows_of_strata_are_dealt_the_same_whatever_the_parts(
    data: st.DataObject, weighted: bool, strata: int
) -> None:
    network = data.draw(networks())
    table = in_strata(data.draw(tables(network, weighted=weighted)), strata, seed=1)
    assert table.design is not None
    folds = folds_of(0, 5, Units.of(table.design))
    assert folds is not None
    part = row_hashes(network, table) % np.uint64(3)  # equal rows in the same
    parts = [own for at in range(3) if (own := table.take(part == at)).rows]
    whole = deal_groups(folds, Dealing.of(network, table, folds))
    added = deal_groups(folds, reduce(add, (Dealing.of(network, own, folds) for own in parts)))
    assert (added.ends == whole.ends).all()
    np.testing.assert_allclose(added.samples, whole.samples, rtol=1e-12)
    np.testing.assert_allclose(added.scales, whole.scales, rtol=1e-12)
    expected = by_content(divide_rows(network, table, whole))
    found: Content = {}
    for own in parts:
        found |= by_content(divide_rows(network, own, added))
    assert found.keys() == expected.keys()
    for row, sums in expected.items():
        np.testing.assert_allclose(found[row], sums, rtol=1e-12)


def test_groups_of_a_stratum_differ_by_one_row_at_most_and_samples_keep_its_size() -> None:
    rng = np.random.default_rng(2)
    network = Network({"A": [str(state) for state in range(200)], "B": ["0", "1"]})
    columns = {name: rng.integers(0, network.cardinality(name), 900) for name in network.variables}
    codes = {name: own.astype(np.uint8) for name, own in columns.items()}
    table = in_strata(EncodedTable(network.cardinality_of, codes), 4, seed=2)
    assert table.design is not None
    assert table.design.strata is not None
    folds = folds_of(0, 0, Units.of(table.design))
    assert folds is not None
    folds = deal_groups(folds, Dealing.of(network, table, folds))
    rows = divide_rows(network, table, folds)
    sizes = np.bincount(rows.columns[FOLD], rows.row_weights, minlength=folds.number)
    in_stratum = sizes.reshape(4, 25)
    assert in_stratum.sum(axis=1).tolist() == np.bincount(table.design.strata.codes).tolist()
    assert np.ptp(in_stratum, axis=1).max() <= 1
    for sample in folds.samples:
        np.testing.assert_allclose((sample * sizes).reshape(4, 25).sum(axis=1), in_stratum.sum(1))


def test_the_order_of_the_states_in_the_network_does_not_matter() -> None:
    codes = np.random.default_rng(0).integers(0, 4, 500).astype(np.uint8)
    one = Network({"A": ["x", "y", "z"], "B": ["0", "1"]})
    two = Network({"A": ["z", "y", "x"], "B": ["0", "1"]})
    turned = np.array([2, 1, 0, 3], np.uint8)[codes]
    other = np.random.default_rng(1).integers(0, 2, 500).astype(np.uint8)
    folds = []
    for network, own in ((one, codes), (two, turned)):
        table = EncodedTable({"A": 3, "B": 2}, {"A": own, "B": other})
        found = divide_rows(network, table, THIRTY)  # type: ignore[arg-type]
        names = [[*network.states("A"), "missing"][code] for code in found.columns["A"]]
        cells = zip(names, found.columns["B"], found.columns[FOLD], strict=True)
        folds.append(sorted(zip(cells, found.row_weights, strict=True)))
    assert folds[0] == folds[1]


@pytest.mark.parametrize("copies", [1, 20, 6_000])  # one by one, and drawn
def test_folds_have_their_shares(copies: int) -> None:
    """The statistic of the fixed seed is below the 99.9% quantile of chi squared."""
    number = 60_000 // copies
    network = Network(
        {"A": [str(state) for state in range(250)], "B": [str(s) for s in range(250)]}
    )
    cells = np.arange(number)
    columns = {"A": (cells % 250).astype(np.uint8), "B": (cells // 250).astype(np.uint8)}
    weights = np.full(number, float(copies))
    table = EncodedTable({"A": 250, "B": 250}, columns, weights, copies=Copies(weights, weights))
    found = divide_rows(network, table, THIRTY)  # type: ignore[arg-type]
    assert THIRTY is not None
    sums = np.bincount(found.columns[FOLD], found.row_weights, minlength=THIRTY.number)
    expected = 60_000 * np.array(THIRTY.shares)
    statistic = float((np.square(sums - expected) / expected).sum())
    assert statistic < chi2.ppf(0.999, THIRTY.number - 1)


def test_another_seed_divides_anew() -> None:
    network = Network({"A": ["0", "1"]})
    columns = {"A": np.array([0, 1], np.uint8)}
    weights = np.array([300.0, 200.0])
    table = EncodedTable({"A": 2}, columns, weights, copies=Copies(weights, weights))
    one, two = (divide_rows(network, table, folds_of(30, seed)) for seed in (1, 2))  # type: ignore[arg-type]
    assert by_content(one) != by_content(two)


def equal(one: Counts, two: Counts) -> None:
    assert (one.keys == two.keys).all()
    np.testing.assert_allclose(one.tally.weights, two.tally.weights, rtol=1e-12)
    np.testing.assert_allclose(one.tally.squares, two.tally.squares, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.data(), st.booleans())
def test_a_sample_is_counted_as_the_rows_that_are_in_it(
    data: st.DataObject, weighted: bool
) -> None:
    network = data.draw(networks())
    table = data.draw(tables(network, weighted=weighted))
    rows = divide_rows(network, table, THIRTY)  # type: ignore[arg-type]
    needs = Needs(network.families, rows=(network.variables,), folds=THIRTY)
    whole = gather(Gathering(needs, network), [table])
    problems = compile_problems(network, rows)
    assert THIRTY is not None
    for at in (0, 1, 2, 17):
        multiples = THIRTY.samples[at]
        chosen = rows.take(multiples[rows.columns[FOLD]] > 0)
        sample = whole.sample(at)
        assert sample.total == pytest.approx(chosen.total if chosen.rows else 0.0)
        if not chosen.rows:
            continue
        for family, counts in count(chosen, network.families).items():
            equal(sample.counts[family], counts)
        own = {name: chosen.columns[name] for name in network.variables}
        plain = compile_problems(network, replace(chosen, columns=own))
        sampled = problems.sampled(multiples[None])
        np.testing.assert_allclose(sampled.fixed, plain.fixed, rtol=1e-12)
        assert sampled.weights.sum() == pytest.approx(plain.weights.sum())
        distinct = sample.distinct[network.variables]
        assert distinct.weights.sum() == pytest.approx(chosen.total)


def test_a_sample_says_what_all_its_groups_say_though_few_are_solved_anew() -> None:
    rng = np.random.default_rng(4)
    network = Network(
        {"G": [str(state) for state in range(200)], "A": ["0", "1"], "B": ["0", "1", "2"]},
        {"B": ["A"]},
    )
    columns = {
        name: rng.integers(0, network.cardinality(name) + (name != "G"), 400).astype(np.uint8)
        for name in network.variables
    }
    table = EncodedTable({name: network.cardinality(name) for name in columns}, columns)
    folds = folds_of(30, seed=1)
    assert folds is not None
    rows = divide_rows(network, table, folds)
    groups, group = group_rows(rows, ("G",))
    mass = count_in_groups(rows, groups, group, (FOLD,), whole=True)
    counted = count_in_groups(rows, groups, group, ("A", "B"), whole=False, fold=(FOLD,))
    cells = FoldedGroups(mass, counted)
    family = ("A", "B")
    solved = solved_samples(factored_mar, cells, folds.samples)
    few = 0
    for found, sample in zip(solved.about(family, (2, 3)), folds.samples, strict=True):
        few += len(cells.in_folds(sample != 1)) < 100
        expected = SolvedSamples(factored_mar(cells.sampled(sample))).about(family, (2, 3))[0]
        for mine, other in zip(found.tables, expected.tables, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)
    assert few == 31
