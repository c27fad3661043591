"""Bounds hold for every completion of the rows, and some completion reaches each of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest

from lacunet.ask.worst_case import bounds, worst_case
from lacunet.counts.count import count
from lacunet.counts.distinct_rows import Rows
from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.network.dictionary import NotAsked
from lacunet.network.network import Network


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_are_the_extremes_over_all_completions(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 3, size), rng.integers(0, 4, size)])  # 2 and 3: missing
    table = EncodedTable(
        {"U": 2, "X": 3},
        {"U": codes[0].astype(np.uint8), "X": codes[1].astype(np.uint8)},
    )
    rows = Rows.of(count(table, [("U", "X")])[("U", "X")])
    low, high = bounds(rows, Network({"U": "ab", "X": "abc"}), ("X",), ("U",))
    lowest, highest = _extremes(codes)
    seen = np.isfinite(lowest)
    # where no completion has u, the bounds say nothing
    np.testing.assert_allclose(low, np.where(seen, lowest, 0), rtol=1e-12)
    np.testing.assert_allclose(high, np.where(seen, highest, 1), rtol=1e-12)


def _extremes(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    choices = [
        list(product([u] if u < 2 else range(2), [x] if x < 3 else range(3))) for u, x in codes.T
    ]
    lowest, highest = np.full((2, 3), np.inf), np.full((2, 3), -np.inf)
    for completion in product(*choices):
        counts = np.zeros((2, 3))
        for cell in completion:
            counts[cell] += 1
        for u in range(2):
            if counts[u].sum():
                share = counts[u] / counts[u].sum()
                lowest[u] = np.minimum(lowest[u], share)
                highest[u] = np.maximum(highest[u], share)
    return lowest, highest


def test_what_no_row_can_be_is_bounded_although_none_need_have_the_condition() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1", "2"]}, {"B": ["A"]})
    found = worst_case(network, {"A": [None, None, "1"], "B": ["0", "2", "1"]}, "B | A")
    np.testing.assert_array_equal(found.high, [[1, 0, 1], [0.5, 1, 0.5]])
    assert found.interval()[0, 1, 1] > 0.5  # as sure as one row makes it, not more


def test_complete_rows_leave_no_room() -> None:
    columns = {"U": np.array([0, 0, 1], np.uint8), "X": np.array([0, 1, 1], np.uint8)}
    table = EncodedTable({"U": 2, "X": 2}, columns)
    rows = Rows.of(count(table, [("U", "X")])[("U", "X")])
    low, high = bounds(rows, Network({"U": "ab", "X": "ab"}), ("X",), ("U",))
    np.testing.assert_array_equal(low, [[0.5, 0.5], [0, 1]])
    np.testing.assert_array_equal(high, low)


@pytest.mark.parametrize("rule", ["U=a", "U!=a", "U=a or V=b", "not (U=b and V=b)"])
@pytest.mark.parametrize(
    "asked", [("X", "U"), ("X", ""), ("U", "X"), ("X", "UV"), ("XU", ""), ("X", "V")]
)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_the_extremes_over_all_completions_that_obey_rules_and_sets(
    rule: str, asked: tuple[str, str], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    states = {"U": ["a", "b", "c"], "V": ["a", "b"], "X": ["a", "b", "not_asked"]}
    network = Network(
        states,
        {"X": ["U", "V"]},
        codes={"X": {"a or b": ["a", "b"], "a or none": ["a", "not_asked"]}},
        not_asked={"X": rule},
    )
    skips = network.not_asked_of["X"]
    sets = {"a or b": {"a", "b"}, "a or none": {"a", "not_asked"}}
    rows, choices = [], []
    while len(rows) < 5:
        row = {
            "U": rng.choice(["a", "b", "c", None]),
            "V": rng.choice(["a", "b", None]),
            "X": rng.choice(["a", "b", "a or b", "a or none", None, None]),
        }
        own = [
            cell
            for cell in product(*states.values())
            if all(
                row[v] in (None, s) or s in sets.get(row[v], ())
                for v, s in zip("UVX", cell, strict=True)
            )
            and (cell[2] == "not_asked")
            == is_skipped(skips, dict(zip("UVX", cell, strict=True)), network)
        ]
        if own:
            rows.append(row)
            choices.append(own)
    data = {name: [row[name] for row in rows] for name in "UVX"}
    low, high = worst_case(network, data, f"{', '.join(asked[0])} | {', '.join(asked[1])}")
    lowest, highest = np.full(low.shape, np.inf), np.full(low.shape, -np.inf)
    forced = np.ones(low.shape, dtype=bool)
    for completion in product(*choices):
        counts = np.zeros(low.shape)
        for cell in completion:
            place = dict(zip("UVX", cell, strict=True))
            counts[tuple(states[v].index(place[v]) for v in (*asked[1], *asked[0]))] += 1
        axes = tuple(range(len(asked[1]), counts.ndim))
        totals = np.broadcast_to(counts.sum(axis=axes, keepdims=True), counts.shape)
        forced &= totals > 0
        share = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
        lowest, highest = np.fmin(lowest, share), np.fmax(highest, share)
    np.testing.assert_allclose(low[forced], lowest[forced])
    np.testing.assert_allclose(high[forced], highest[forced])
    assert (low <= lowest + 1e-12).all()
    assert (high >= highest - 1e-12).all()


def is_skipped(rule: NotAsked, cell: Mapping[str, str], network: Network) -> bool:
    """Whether a rule holds for some states."""
    return bool(rule.truth[tuple(network.state_index(name, cell[name]) for name in rule.scope)])


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_a_joint_given_another_are_the_extremes_over_all_completions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (3, 5)).astype(np.uint8)  # 2: missing
    table = EncodedTable(dict.fromkeys("UXY", 2), dict(zip("UXY", codes, strict=True)))
    network = Network({n: ["0", "1"] for n in "UXY"})
    low, high = worst_case(network, table, "X, Y | U")
    lowest, highest = np.full((2, 2, 2), np.inf), np.full((2, 2, 2), -np.inf)
    choices = [list(product(*([c] if c < 2 else (0, 1) for c in row))) for row in codes.T]
    for completion in product(*choices):
        counts = np.zeros((2, 2, 2))
        np.add.at(counts, tuple(np.array(completion).T), 1)
        for u in range(2):
            if counts[u].sum():
                lowest[u] = np.minimum(lowest[u], counts[u] / counts[u].sum())
                highest[u] = np.maximum(highest[u], counts[u] / counts[u].sum())
    for u in range(2):
        if (codes[0] == u).any():  # else no row need have u, and the bounds are 0 and 1
            np.testing.assert_allclose(low[u], lowest[u])
            np.testing.assert_allclose(high[u], highest[u])


def test_intervals_of_bounds_cover_the_parameter_in_small_samples() -> None:
    # Y hides itself: 30% of the zeros, 60% of the ones; X is always shown.
    rng = np.random.default_rng(0)
    network = Network({"X": ["0", "1"], "Y": ["0", "1"]}, {"Y": ["X"]})
    truth = np.array([[0.8, 0.2], [0.35, 0.65]])
    covered = []
    for _ in range(400):
        x = rng.integers(0, 2, 200)
        y = (rng.random(200) < truth[x, 1]).astype(int)
        shown = np.where(rng.random(200) < np.array([0.3, 0.6])[y], 2, y)
        columns = {"X": x.astype(np.uint8), "Y": shown.astype(np.uint8)}
        found = worst_case(network, EncodedTable({"X": 2, "Y": 2}, columns), "Y | X")
        interval = found.interval()
        covered.append((interval[..., 0] <= truth) & (truth <= interval[..., 1]))
    # Two independent conditionals in 400 samples: a standard error of 0.008 at 0.95.
    assert np.mean(covered) > 0.95 - 2 * 0.008


def test_a_query_is_read_with_or_without_its_p() -> None:
    network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]})
    rows = {"Age": ["old", "young"] * 4, "Ill": ["no"] * 3 + ["yes"] * 2 + [None] * 3}
    written, plain = (worst_case(network, rows, text) for text in ("P(Ill | Age)", "Ill|Age"))
    np.testing.assert_array_equal([*written], [*plain])
    with pytest.raises(LacunetError, match="sets"):
        worst_case(network, rows, "P(Ill | do(Age))")


@pytest.mark.parametrize("cluster", [None, [1, 1, 2, 2, 3, 3, 4, 4]])
def test_states_that_are_named_have_the_bounds_of_these_cells(cluster: list[int] | None) -> None:
    network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]})
    source = {"Age": ["old", "young"] * 4, "Ill": ["no"] * 3 + ["yes"] * 2 + [None] * 3}
    rows = Data(source, cluster=cluster)
    whole = worst_case(network, rows, "Ill | Age")
    one = worst_case(network, rows, "Ill=yes | Age=old")
    assert one.states == (("old",), ("yes",))
    np.testing.assert_array_equal([*one], np.array([*whole])[:, 1:, 1:])
    np.testing.assert_array_equal(one.interval(), whole.interval()[1:, 1:])
    assert "P(Ill=yes | Age=old)" in str(one)
    given = worst_case(network, rows, "P(Ill | Age=young)")
    np.testing.assert_array_equal([*given], np.array([*whole])[:, :1])
    with pytest.raises(LacunetError, match="elderly"):
        worst_case(network, rows, "Ill | Age=elderly")


def test_bounds_need_a_target_and_no_variable_twice() -> None:
    network = Network({"X": ["0", "1"], "Y": ["0", "1"]})
    for query, message in (("| X", "no variable"), ("X | X", "'X' more than once"), (["X"], "X")):
        with pytest.raises(LacunetError, match=message):
            worst_case(network, {"X": ["0"], "Y": ["1"]}, query)  # type: ignore[arg-type]
