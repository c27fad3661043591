"""Row weights: from a column of the data, or from an array beside them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lacunet.data.errors import WeightError
from lacunet.data.matching import with_points
from lacunet.data.source import Column
from lacunet.model.network import FloatArray

# Effective sizes need sums of squares, which must neither overflow nor vanish.
SMALLEST, LARGEST = 1e-100, 1e100


def weight_array(weight: ArrayLike) -> FloatArray:
    """The weights given beside the data, checked."""
    try:
        weights = np.array(weight, dtype=np.float64)
    except OverflowError:  # an integer beyond every float
        weights = np.array([_number(one) for one in np.array(weight, dtype=object).ravel()])
    except (TypeError, ValueError):
        weights = np.array(0.0)
    if weights.ndim != 1:
        raise WeightError(
            "weight= must be the name of a column or a one-dimensional array of numbers, "
            "one for each row."
        )
    if (wrong := first_wrong(weights)) is not None:
        raise WeightError.value(f"row {wrong + 1}", float(weights[wrong]))
    return weights


def weight_column(column: Column, decimal: str = ".") -> FloatArray:
    """The weights of some rows; NaN where a cell holds no number."""
    import pyarrow as pa

    if not isinstance(column, list):
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        is_written = decimal == "," and not pa.types.is_primitive(column.type)
        if not pa.types.is_boolean(column.type) and not is_written:
            try:
                return _floats(column.cast(pa.float64(), safe=False))
            except pa.ArrowException:
                pass  # some cell is not a number: find it
        column = column.to_pylist()
    return np.array([_number(cell, decimal) for cell in column], dtype=np.float64)


def _floats(column: Any) -> FloatArray:
    numbers: FloatArray = column.to_numpy(zero_copy_only=False)
    return numbers


def first_wrong(weights: FloatArray) -> int | None:
    """The first place that holds neither zero nor a number whose square can be added up."""
    right = (weights == 0) | ((weights >= SMALLEST) & (weights <= LARGEST))
    return None if right.all() else int(np.argmin(right))


def cell_at(column: Column, row: int) -> object:
    """A cell as a Python object, for messages."""
    cell: Any = column[row]
    return cell.as_py() if hasattr(cell, "as_py") else cell


def _number(cell: object, decimal: str = ".") -> float:
    if isinstance(cell, bool | np.bool_) or not isinstance(
        cell, str | int | float | Decimal | np.number
    ):
        return np.nan
    if isinstance(cell, str):
        cell = "" if "_" in cell else with_points(cell, decimal)
    try:
        return float(cell)
    except OverflowError:  # an integer or a decimal beyond every float
        return np.inf
    except ValueError:
        return np.nan
