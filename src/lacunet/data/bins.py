"""Numbers cut into intervals: where, and what the intervals are called.

An interval holds its left end: ``[18,40)``. Cut points that are found in the data (equally many
rows, or equal widths) leave both ends open, because the next data may go further. Cut points
given by hand are what they say: a number outside is refused by name, unless ``-inf`` or ``inf``
is among them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.batches import copied_pieces, encoded_column, matching_remarks
from lacunet.data.column_rules import Reading, source_from, with_data_codes
from lacunet.data.data import Data, as_data
from lacunet.data.encode import distinct_cells
from lacunet.data.errors import DataWarning, clipped, refuse_strangers
from lacunet.data.matching import with_points
from lacunet.data.original_tables import hold_in_memory, replace_columns
from lacunet.data.source_parts import DataSource, Piece
from lacunet.data.states import Seen, tokens_in
from lacunet.errors import LacunetError, warn
from lacunet.network.arguments import clear_arguments
from lacunet.network.dates import UNITS, periods, periods_of, usual_unit
from lacunet.network.interval_names import INTERVALS, labels_of
from lacunet.network.network import FloatArray, Network
from lacunet.network.spelling import number_of, spelled
from lacunet.text import counted

# A number of intervals, "auto", the name of a unit of time, ("width", number), or cut points.
Bins = int | str | tuple[str, int] | Sequence[float]

WITH_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:[.,' \u00a0]\d{3})+(?:[.,]\d+)?")
MOST_VALUES = 10  # of a column that "auto" leaves as it is
COLUMNS_AT_ONCE = 8  # whose numbers are held, while the data are read for them


class BinsError(LacunetError):
    """Numbers cannot be cut as asked."""


@clear_arguments
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
    dataset, frame = as_data(data), hold_in_memory(data)
    source = source_from(frame)
    if not isinstance(bins, Network):
        cuts = cuts_found(source, bins, dataset)
        bins = Network({name: labels_of(points) for name, points in cuts.items()}, cuts=cuts)
    names = [name for name in bins.cuts_of if name in source.columns]
    known = with_data_codes(bins, dataset)
    reading = Reading(
        network=known,
        source=source,
        data=dataset,
        column_of={name: name for name in names},
        notes=(),
    )
    return replace_columns(frame, {name: _cut(reading, name) for name in names})


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
    for note in matching_remarks(reading, {name: encoder.odd}, {}):
        warn(note, DataWarning)
    states = reading.network.states(name)
    code_of = {number: code for code, number in reversed(encoder.matcher.code_of.items())}
    sets = [number for number in np.unique(codes).tolist() if number > len(states)]
    labels = (*states, *(code_of[number] for number in sets))
    places = np.arange(max(len(states), *sets, 0) + 1)
    places[[len(states), *sets]] = [len(labels), *range(len(states), len(labels))]
    return places[codes], labels


def bins_for_column(bins: Any, column: Seen) -> Bins | None:
    """How "auto" or a number for all columns cuts one; None if it leaves the column as it is.

    Examples
    --------
    >>> from collections import Counter
    >>> ages = Seen(cells=Counter(map(str, range(18, 90))), has_numbers=True)
    >>> bins_for_column("auto", ages), bins_for_column(3, ages)
    (5, 3)
    >>> months = Seen(cells=Counter(["2024-07-15"]), months={"2024-07"})
    >>> print(bins_for_column("auto", months), bins_for_column(3, ages))
    None 3
    """
    is_many = len(column.cells) > MOST_VALUES
    if column.is_declared_or_coded:
        return None
    if column.are_dates:
        return usual_unit(column.months) if bins == "auto" and is_many else None
    intervals = INTERVALS if bins == "auto" else bins
    most = MOST_VALUES if bins == "auto" else bins
    is_cut = column.are_all_numbers and len({*column.numbers}) > most
    return intervals if is_cut else None


def dates_by(unit: str, name: str, column: Seen) -> tuple[str, ...]:
    """The years, quarters or months that a column of dates shows, in order."""
    if not column.are_dates:
        others = [*column.words, *(text for text in column.cells if periods_of(text) is None)]
        raise BinsError(
            f"column {name!r} is not one of dates, which bins={{{name!r}: {unit!r}}} needs"
            + (f": it holds {clipped(others[0])}." if others else "."),
            "write dates as 2024-07-15; or, if it means 'not observed', give "
            f"lacunet.Data(data, missing={{{name!r}: ...}}) (--missing).",
        )
    return periods(column.months, unit)


def cuts_found(
    source: DataSource, bins: Mapping[str, Bins], data: Data
) -> dict[str, tuple[float, ...]]:
    """The cut points of each column, from the data where they are not given."""
    if not isinstance(bins, Mapping):
        raise BinsError(f"bins is {bins!r}.", "say which columns to cut: bins={'Age': 5}.")
    refuse_strangers("bins", bins, source.columns, source.label, BinsError)
    points_of = {name: _points(name, choice) for name, choice in bins.items()}
    looked_up = [name for name, points in points_of.items() if points is None]
    for start in range(0, len(looked_up), COLUMNS_AT_ONCE):
        together = looked_up[start : start + COLUMNS_AT_ONCE]
        for name, (numbers, rows) in distinct_numbers(source, together, data).items():
            points_of[name] = _between(name, bins[name], numbers, rows)
    return {name: points for name, points in points_of.items() if points is not None}


def _points(name: str, bins: Bins) -> tuple[float, ...] | None:
    """The cut points as they are given; None if a number of intervals is."""
    _, count = _kind_and_count(bins)
    if isinstance(count, Integral):
        if count < 2:
            raise BinsError(
                f"column {name!r}: {count} intervals are too few.", "ask for 2 or more."
            )
        return None
    try:
        cuts = [float(cut) for cut in count]
    except (TypeError, ValueError, OverflowError):
        raise BinsError(
            f"column {name!r} cannot be cut by {count!r}.",
            "give a number of intervals, ('width', number), cut points, which are numbers, or, of "
            "dates, 'year', 'quarter' or 'month'.",
        ) from None
    return _checked(name, cuts)


def _kind_and_count(bins: Bins) -> tuple[str, Any]:
    """Whether intervals hold equally many rows or are equally wide, and how many, or which."""
    if isinstance(bins, tuple) and bins[:1] == ("width",):
        return bins
    return ("rows", bins)


def _between(name: str, bins: Bins, numbers: FloatArray, weights: FloatArray) -> tuple[float, ...]:
    """The cut points between the distinct numbers of a column, which occur in so many rows."""
    kind, count = _kind_and_count(bins)
    count = int(count)
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
    return [shortest_between(numbers[index - 1], numbers[index]) for index in inner]


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest digits that is above ``low`` and not above ``high``.

    >>> shortest_between(0.99731, 10.00413), shortest_between(249, 250)
    (10.0, 250.0)
    """
    rounded = (float(f"{high:.{digits}g}") for digits in range(1, 17))
    return next((cut for cut in rounded if low < cut <= high), float(high))


def distinct_numbers(
    source: DataSource, names: Sequence[str], data: Data
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """The distinct numbers of some columns, ascending, and in how many rows each occurs."""
    numbers_of: dict[str, list[float]] = {name: [] for name in names}
    counts_of: dict[str, list[float]] = {name: [] for name in names}
    for piece, copies in copied_pieces(source, names, data):
        for name in names:
            for value, number, count in _number_cells(piece, name, data, copies):
                if number is None:
                    raise _no_number(name, value, data.decimal)
                numbers_of[name].append(number)
                counts_of[name].append(count)
    added: dict[str, tuple[FloatArray, FloatArray]] = {}
    for name in names:
        distinct, index_of = np.unique(np.array(numbers_of[name]), return_inverse=True)
        added[name] = distinct, np.bincount(index_of, counts_of[name]).astype(np.float64)
    return added


def _no_number(name: str, value: object, decimal: str) -> BinsError:
    text = value.strip() if isinstance(value, str) else clipped(value)
    other = {".": ",", ",": "."}[decimal]
    if number_of(with_points(text, other)) is not None:
        return BinsError(
            f"column {name!r} holds {clipped(value)}, and the decimal character is {decimal!r}.",
            f"give lacunet.Data(data, decimal={other!r}) (--decimal {other}), if that is a number.",
        )
    if WITH_THOUSANDS.fullmatch(text):
        return BinsError(
            f"column {name!r} holds {clipped(value)}: a number with a thousands separator.",
            "write numbers without such separators, as 1234.5.",
        )
    way = "bins={" + repr(name) + ": 'year'}, 'quarter' or 'month'"
    if isinstance(value, date) or periods_of(spelled(value)) is not None:
        return BinsError(
            f"column {name!r} holds the date {clipped(value)}, and dates are not numbers.",
            f"let them go by year, quarter or month: {way}.",
        )
    shown = value if len(clipped(value)) <= 20 else "..."
    return BinsError(
        f"column {name!r} holds {clipped(value)}, which is not a number that can be cut.",
        f"leave {name!r} out of bins if it is not a column of numbers, or give "
        f"lacunet.Data(data, missing=[{shown!r}]) (--missing) if it means 'not observed'.",
    )


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
        number = number_of(with_points(str(value).strip(), decimal))
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


def parse_bins(name: str, text: str) -> Bins:
    """The bins of a column as they are typed: ``5``, ``width:5``, ``18,40,65``, ``month``."""
    if text.strip() in ("auto", *UNITS):
        return text.strip()
    try:
        if text.startswith("width:"):
            return ("width", int(text[6:]))
        if text.strip().isdecimal():
            return int(text)
        return [float(cut) for cut in text.split(",")]
    except ValueError:
        raise BinsError(
            f"column {name!r}: {text!r} is neither a number of intervals nor cut points.",
            "write 5, width:5, 18,40,65 or auto; of dates year, quarter or month.",
        ) from None
