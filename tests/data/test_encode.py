"""Columns of cells as codes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lacunet.data.encode import MATCHED_CHARACTERS, ColumnEncoder, OddCells, label_column
from lacunet.data.matching import Matcher
from lacunet.network.interval_names import labels_of


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


def test_of_long_texts_few_characters_are_kept() -> None:
    cells = [f"{number:06d}" + "x" * 2**18 for number in range(64)]  # 16 MB
    encoder = ColumnEncoder(Matcher(["no", "yes"]))
    encoder.encode(pa.array(cells))
    encoder.encode(pa.array([f"  {text}" for text in cells] + ["yes "] * 100))
    assert sum(len(str(value)) for value in encoder.odd.refused) <= MATCHED_CHARACTERS
    assert encoder.odd.refused.total() == 128
    assert encoder.odd.stripped["yes "] == 100
    assert encoder._texts.nbytes <= MATCHED_CHARACTERS
    both = OddCells()
    for _ in range(2):
        both.add(encoder.odd)
    assert both.characters <= MATCHED_CHARACTERS
    assert both.refused.total() == 256
    short = [f"v{number}" for number in range(100)]
    encoder = ColumnEncoder(Matcher(["no", "yes"]))
    encoder.encode(pa.array(short))
    assert {*encoder.odd.refused} == {*short}


def test_labels_are_names_even_where_they_look_like_numbers() -> None:
    texts = label_column(pa.array(["1.1", "1.10", " 1.1 ", "1E2", "100", "NA"]))
    assert texts.labels == ("1.1", "1.10", "1E2", "100")
    assert texts.codes.tolist() == [0, 1, 0, 2, 3, -1]
    assert label_column(pa.array([1.10, 1.1, 2.0])).labels == ("1.1", "2")
