"""Numbers cut into intervals: where, and what the intervals are called.

An interval holds its left end: ``[18,40)``. Cut points that are found in the data (equally many
rows, or equal widths) leave both ends open, because the next data may go further. Cut points
given by hand are what they say: a number outside is refused by name, unless ``-inf`` or ``inf``
is among them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.building.states import tokens_in
from lacunet.data.batches import copied_pieces, encoded_column, remarks
from lacunet.data.encode import distinct_cells
from lacunet.data.errors import DataWarning, clipped, refuse_strangers
from lacunet.data.given import Data, data_given
from lacunet.data.reading import Reading, source_from, with_data_codes
from lacunet.data.source import DataSource, Piece
from lacunet.data.whole import held, replaced
from lacunet.errors import LacunetError, warn
from lacunet.model.intervals import labels_of
from lacunet.model.network import FloatArray, Network
from lacunet.model.spelling import number_of, spelled
from lacunet.wording import counted

# A number of intervals, ("width", number), or cut points.
Bins = int | tuple[str, int] | Sequence[float]


class BinsError(LacunetError):
    """Numbers cannot be cut as asked."""


def discretise(data: Any, bins: Mapping[str, Bins] | Network) -> Any:
    """The data with columns of numbers cut into labelled intervals.

    Parameters
    ----------
    data
        A dataframe, or whatever else `lacunet.learn` takes.
    bins
        For each column a number of intervals with equally many rows (5), a number of equally
        wide ones (``("width", 5)``), or cut points (``[18, 40, 65]``: two intervals); or a
        network, whose own cut points and codes are used. Codes and missing values that come with
        the data (`lacunet.Data`) come before the network's.

    Returns
    -------
    A dataframe of the same kind (an Arrow table for files); the columns that are cut become
    ordered categories, all else is as it was. A code that means several intervals is a category
    of its own.

    Raises
    ------
    BinsError
        A column holds something that is not a number, or numbers outside the cut points.

    Examples
    --------
    >>> rows = {"Age": [12, 20, 39, 40, 65, None], "Id": [1, 2, 3, 4, 5, 6]}
    >>> discretise(rows, {"Age": [0, 18, 40, float("inf")]})["Age"]
    ['[0,18)', '[18,40)', '[18,40)', '>=40', '>=40', None]
    """
    dataset, frame = data_given(data), held(data)
    source = source_from(frame)
    if not isinstance(bins, Network):
        cuts = cuts_found(source, bins, dataset)
        bins = Network({name: labels_of(points) for name, points in cuts.items()}, cuts=cuts)
    names = [name for name in bins.cuts_of if name in source.columns]
    known = with_data_codes(bins, dataset)
    reading = Reading(known, source, dataset, {name: name for name in names}, ())
    return replaced(frame, {name: _cut(reading, name) for name in names})


def _cut(reading: Reading, name: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """The codes of a column, and the labels of its intervals.

    A code that means several intervals stays as it is: it is a label too, before missing.
    """
    pieces = (piece for part in reading.source.parts for piece in part.read([name]))
    codes, encoder = encoded_column(reading, name, pieces)
    refused = encoder.odd.refused
    if refused and reading.data.unknown == "error":
        values = [str(value) for value, _ in refused.most_common(5)]
        raise BinsError(
            f"column {name!r}: {counted(refused.total(), 'cell is', 'cells are')} outside "
            f"the cut points {_shown(reading.network.cuts_of[name])} or not numbers: "
            f"{', '.join(values)}.",
            "add -inf or inf to the cut points, correct the values, or say what they mean: "
            "lacunet.Data(data, codes={...}).",
        )
    for note in remarks(reading, {name: encoder.odd}, {}):
        warn(note, DataWarning)
    states = reading.network.states(name)
    code_of = {number: code for code, number in reversed(encoder.matcher.code_of.items())}
    sets = [number for number in np.unique(codes).tolist() if number > len(states)]
    labels = (*states, *(code_of[number] for number in sets))
    places = np.arange(max(len(states), *sets, 0) + 1)
    places[[len(states), *sets]] = [len(labels), *range(len(states), len(labels))]
    return places[codes], labels


def cuts_found(
    source: DataSource, bins: Mapping[str, Bins], data: Data
) -> dict[str, tuple[float, ...]]:
    """The cut points of each column, from the data where they are not given."""
    if not isinstance(bins, Mapping):
        raise BinsError(f"bins is {bins!r}.", "say which columns to cut: bins={'Age': 5}.")
    refuse_strangers("bins", bins, source.columns, source.label, BinsError)
    return {name: _cuts(source, name, choice, data) for name, choice in bins.items()}


def _cuts(source: DataSource, name: str, bins: Bins, data: Data) -> tuple[float, ...]:
    kind, count = bins if isinstance(bins, tuple) and bins[:1] == ("width",) else ("rows", bins)
    if not isinstance(count, Integral):
        try:
            cuts = [float(cut) for cut in count]
        except (TypeError, ValueError, OverflowError):
            raise BinsError(
                f"column {name!r} cannot be cut by {count!r}.",
                "give a number of intervals, ('width', number), or cut points, which are numbers "
                "(of dates, make a column of numbers first, such as the year).",
            ) from None
        return _checked(name, cuts)
    count = int(count)
    if count < 2:
        raise BinsError(f"column {name!r}: {count} intervals are too few.", "ask for 2 or more.")
    numbers, weights = _numbers(source, name, data)
    if len(numbers) < 2:
        raise BinsError(f"column {name!r} has fewer than two different numbers to cut between.")
    if kind == "width":
        inner = np.linspace(numbers[0], numbers[-1], count + 1)[1:-1].tolist()
    else:
        inner = _quantiles(numbers, weights, count)
    return _checked(name, [-math.inf, *inner, math.inf])


def _quantiles(numbers: FloatArray, weights: FloatArray, count: int) -> list[float]:
    """Numbers that leave equally many rows between them, written as shortly as can be."""
    before = np.cumsum(weights) - weights
    positions = np.searchsorted(before, np.arange(1, count) / count * weights.sum())
    inner = np.unique(np.clip(positions, 1, len(numbers) - 1))
    return [_shortest(numbers[index - 1], numbers[index]) for index in inner]


def _shortest(low: float, high: float) -> float:
    """The number with the fewest digits that is above ``low`` and not above ``high``.

    >>> _shortest(0.99731, 10.00413), _shortest(249, 250)
    (10.0, 250.0)
    """
    rounded = (float(f"{high:.{digits}g}") for digits in range(1, 17))
    return next((cut for cut in rounded if low < cut <= high), float(high))


def _numbers(source: DataSource, name: str, data: Data) -> tuple[FloatArray, FloatArray]:
    """The distinct numbers of a column, ascending, and in how many rows each occurs."""
    numbers: list[float] = []
    counts: list[float] = []
    for piece, copies in copied_pieces(source, [name], data):
        for value, number, count in _number_cells(piece, name, data, copies):
            if number is None:
                shown = value if len(clipped(value)) <= 20 else "..."
                raise BinsError(
                    f"column {name!r} holds {clipped(value)}, which is not a number that can be "
                    "cut.",
                    f"leave {name!r} out of bins if it is not a column of numbers (of dates, make "
                    f"one, such as the year), or give lacunet.Data(data, missing=[{shown!r}]) "
                    "(--missing) if it means 'not observed'.",
                )
            numbers.append(number)
            counts.append(count)
    distinct, index_of = np.unique(np.array(numbers), return_inverse=True)
    return distinct, np.bincount(index_of, counts).astype(np.float64)


def numbers_in(piece: Piece, name: str, data: Data) -> FloatArray:
    """The distinct numbers that a column has in some rows, those that mean missing left out."""
    cells = _number_cells(piece, name, data)
    return np.array(sorted({number for _, number, _ in cells if number is not None}))


def _number_cells(
    piece: Piece, name: str, data: Data, copies: FloatArray | None = None
) -> Iterator[tuple[object, float | None, float]]:
    """Each distinct value of a column, the number that it is, if any, and in how many rows."""
    missing = tokens_in(name, data)
    for count, value in zip(*distinct_cells(piece.columns[name], copies), strict=True):
        if value is not None and count and spelled(value) not in missing:
            yield value, _as_float(value, data.decimal), count


def _as_float(value: object, decimal: str) -> float | None:
    if not isinstance(value, int | float):
        number = number_of(str(value).strip().replace(decimal, "."))
        return None if number is None else float(number)
    try:
        return float(value)
    except OverflowError:
        return None


def _checked(name: str, cuts: list[float]) -> tuple[float, ...]:
    if len(cuts) < 2 or any(not low < high for low, high in pairwise(cuts)):
        raise BinsError(
            f"column {name!r}: the cut points {_shown(cuts)} do not ascend.",
            "give at least two, each larger than the one before.",
        )
    return tuple(cuts)


def _shown(cuts: Sequence[float]) -> str:
    return ", ".join(f"{cut:g}" for cut in cuts)


def asked_bins(name: str, text: str) -> Bins:
    """The bins of a column as they are typed: ``5``, ``width:5`` or ``18,40,65``."""
    try:
        if text.startswith("width:"):
            return ("width", int(text[6:]))
        return int(text) if text.strip().isdecimal() else [float(cut) for cut in text.split(",")]
    except ValueError:
        raise BinsError(
            f"column {name!r}: {text!r} is neither a number of intervals nor cut points.",
            "write 5, width:5 or 18,40,65.",
        ) from None
