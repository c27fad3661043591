"""Bounds hold for every completion of the rows, and some completion reaches each of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.model.network import Network
from lacunet.statistics.count import count
from lacunet.uncertainty.bounds import bounds, worst_case


@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_are_the_extremes_over_all_completions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 3, 6), rng.integers(0, 4, 6)])  # 2 and 3: missing
    table = EncodedTable.of(
        {"U": 2, "X": 3},
        {"U": codes[0].astype(np.uint8), "X": codes[1].astype(np.uint8)},
    )
    low, high = bounds(count(table, [("U", "X")])[("U", "X")])
    lowest, highest = _extremes(codes)
    seen = np.isfinite(lowest)
    forced = low > 0  # where no row need have u, the bounds say nothing and are 0 and 1
    np.testing.assert_allclose(low[seen & forced], lowest[seen & forced])
    assert (low <= np.where(seen, lowest, 1) + 1e-12).all()
    np.testing.assert_allclose(high[seen & (high < 1)], highest[seen & (high < 1)])
    assert (high >= np.where(seen, highest, 0) - 1e-12).all()


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


def test_complete_rows_leave_no_room() -> None:
    columns = {"U": np.array([0, 0, 1], np.uint8), "X": np.array([0, 1, 1], np.uint8)}
    low, high = bounds(count(EncodedTable.of({"U": 2, "X": 2}, columns), [("U", "X")])[("U", "X")])
    np.testing.assert_array_equal(low, [[0.5, 0.5], [0, 1]])
    np.testing.assert_array_equal(high, low)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_a_joint_given_another_are_the_extremes_over_all_completions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (3, 5)).astype(np.uint8)  # 2: missing
    table = EncodedTable.of(dict.fromkeys("UXY", 2), dict(zip("UXY", codes, strict=True)))
    network = Network({n: ["0", "1"] for n in "UXY"})
    low, high = worst_case(network, table, ["X", "Y"], ["U"])
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
        found = worst_case(network, EncodedTable.of({"X": 2, "Y": 2}, columns), "Y", "X")
        interval = found.interval()
        covered.append((interval[..., 0] <= truth) & (truth <= interval[..., 1]))
    # Two independent conditionals in 400 samples: a standard error of 0.008 at 0.95.
    assert np.mean(covered) > 0.95 - 2 * 0.008


def test_bounds_need_a_target_and_no_variable_twice() -> None:
    network = Network({"X": ["0", "1"], "Y": ["0", "1"]})
    for target, given in (([], ["X"]), (["X"], ["X"])):
        with pytest.raises(LacunetError, match="different variables"):
            worst_case(network, {"X": ["0"], "Y": ["1"]}, target, given)
