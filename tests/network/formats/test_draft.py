"""The borders of what is kept, rescaled, rescaled with a warning, and refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lacunet.errors import LacunetWarning
from lacunet.network.formats import bif
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source


def first_row(row: str) -> np.ndarray:
    text = f"""variable A {{ type discrete [ 2 ] {{ x, y }}; }}
    variable B {{ type discrete [ 3 ] {{ x, y, z }}; }}
    probability ( A ) {{ table 0.5, 0.5; }}
    probability ( B | A ) {{ (x) {row}; (y) {row}; }}"""
    return bif.parse(Source.of("net.bif", text)).cpt("B").table[0]


@pytest.mark.parametrize("row", ["0.1, 0.2, 0.7", "0.3, 0.3, 0.4000000000009", "1e-300, 1, 0"])
def test_a_row_that_sums_to_one_keeps_every_bit(row: str) -> None:
    assert first_row(row).tolist() == [float(word) for word in row.split(",")]


@pytest.mark.parametrize(
    "row",
    [
        "0.3333333, 0.3333333, 0.3333333",
        "0.2, 0.3, 0.500001",
        "0.2, 0.3, 0.499999",
        "0, 0, 1.000001",
    ],
)
def test_up_to_a_millionth_is_rescaled_in_silence(row: str) -> None:
    given = np.array([float(word) for word in row.split(",")])
    np.testing.assert_array_equal(first_row(row), given / given.sum())


@pytest.mark.parametrize(
    "row", ["0.2, 0.3, 0.5000011", "0.2, 0.3, 0.4999989", "0.33, 0.33, 0.33", "0.34, 0.33, 0.34"]
)
def test_up_to_a_hundredth_is_rescaled_with_one_warning_for_all_rows(row: str) -> None:
    given = np.array([float(word) for word in row.split(",")])
    with pytest.warns(LacunetWarning, match=r"^net\.bif: .*'B' \(2 rows\)\.$"):
        np.testing.assert_array_equal(first_row(row), given / given.sum())


@pytest.mark.parametrize("row", ["0.2, 0.3, 0.51001", "0.2, 0.3, 0.48999", "0, 0, 0", "1, 1, 1"])
def test_more_than_a_hundredth_is_refused_without_a_warning(row: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FormatError, match=r"net\.bif:4: the CPT of 'B' given A=x"):
            first_row(row)
