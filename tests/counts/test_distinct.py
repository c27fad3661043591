"""Distinct keys and stable orders, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacunet.counts.distinct import number_distinct, stable_order


@pytest.mark.parametrize("bound", [3, 2**16, 2**17, 2**61])
@given(st.data())
def test_stable_order_is_that_of_argsort(bound: int, data: st.DataObject) -> None:
    few = data.draw(st.lists(st.integers(0, bound - 1), max_size=4))
    keys = np.array(data.draw(st.lists(st.sampled_from([0, bound - 1, *few]))), np.int64)
    np.testing.assert_array_equal(stable_order(keys, bound), np.argsort(keys, kind="stable"))


@given(st.lists(st.integers(0, 9)), st.sampled_from([0, 1, 60]))
def test_keys_that_differ_in_few_bits_are_numbered_in_order(some: list[int], shift: int) -> None:
    keys = np.array(some, np.uint64) << np.uint64(shift)
    expected = np.unique(keys, return_index=True, return_inverse=True)
    for found, other in zip(number_distinct(keys), expected, strict=True):
        np.testing.assert_array_equal(found, other)
