"""Bounds hold for every completion of the rows, and some completion reaches each of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lacunet.data.table import EncodedTable
from lacunet.statistics.count import count
from lacunet.uncertainty.bounds import bounds


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
