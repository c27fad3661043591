"""Columns of cells as codes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lacunet.data.encode import ColumnEncoder
from lacunet.data.matching import Matcher
from lacunet.model.intervals import labels_of


def test_numbers_that_are_cut_all_at_once_get_the_codes_of_each_alone() -> None:
    cuts = (-np.inf, 0.5, 1.0, 3.25)
    numbers = [*np.random.default_rng(5).normal(1, 1, 200), 0.5, 1.0, np.nan, None]
    below = [number for number in numbers if number is None or not number > cuts[-1]]
    for cells, has_strangers in ((below, False), ([*below, 3.25, 7.0, np.inf], True)):
        column = pa.array(cells, pa.float64())
        matcher = Matcher(labels_of(cuts), cuts=cuts)
        encoder = ColumnEncoder(matcher)
        alone = [matcher.match(cell).code for cell in cells]
        assert encoder.encode(column).tolist() == alone
        assert bool(encoder.odd.refused) == has_strangers
    coded = Matcher(labels_of(cuts), cuts=cuts, codes={"1": None})  # a code is no number
    assert ColumnEncoder(coded).encode(pa.array([1.0, 0.7, 2.0])).tolist() == [3, 1, 2]
    assert Matcher(labels_of(cuts), ["2"], cuts=cuts).cuts == ()
