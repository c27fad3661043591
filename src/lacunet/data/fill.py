"""How a missing cell is filled in, so that every other cell keeps its value and its type.

A state is written as a row that shows it writes it. One that no row shows is written as its code,
if it has one, or by its name, as the type of the column has it: a number in a column of numbers, a
truth value, a date. Where the network cuts numbers into intervals, a missing number gets the mean
of the numbers that the rows show in its interval. A question that was not asked stays empty in a
column that cannot hold the name of that state.

A type that is too narrow for some state is widened, from whole numbers to others, say; a column
that cannot hold the name of a state becomes one of texts. That does not depend on what is filled
in, so that all draws and all pieces of files are of the same types.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, time
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.encode import spelled_column
from lacunet.data.matching import interval_of
from lacunet.data.spellings import SeenValues, is_any_text, plain_type, without_view
from lacunet.network.dates import moment_of
from lacunet.network.network import FloatArray, Network
from lacunet.network.spelling import as_date, number_of, spelled


@dataclass(frozen=True)
class StateCells:
    """What is filled in for each state of a column.

    ``values`` leaves out the states whose cells stay empty. ``kind`` is the Arrow type of the
    completed column, None for one of Python objects. ``are_means`` if the values are not those that
    the rows show.
    """

    values: dict[int, Any]
    kind: Any
    are_means: bool = False


def cells_of_states(network: Network, name: str, seen: SeenValues, kind: Any) -> StateCells:
    """What is filled in for each state of a column of an Arrow type, None if it is a list."""
    import pyarrow as pa

    if kind is not None and pa.types.is_null(kind):  # a column without any value takes texts
        kind = pa.string()
    # Where rows show intervals by name alone, and no number, the others are named, too.
    is_cut = len(network.cuts_of.get(name, ())) > 0
    if is_cut and (seen.counts_of[name].any() or not seen.value_of[name]):
        return _cells_of_intervals(network, name, seen, kind)
    return _cells_as_written(network, name, seen, kind)


def _cells_as_written(network: Network, name: str, seen: SeenValues, kind: Any) -> StateCells:
    """The states as rows write them, the others by name or code, in the first type that holds all.

    Where no type of the same sort does, the column becomes one of texts.
    """
    import pyarrow as pa

    states = network.states(name)
    shown = seen.value_of[name]
    plain = _inferred(shown.values()) if kind is None else plain_type(kind)
    is_text = is_any_text(plain)
    as_texts = {
        code: value if isinstance(value, str) else spelled(value) for code, value in shown.items()
    }
    # A column of texts may come in parts of which some hold numbers.
    values_shown = as_texts if is_text and kind is not None else shown
    candidates = [*_candidates(states, values_shown, network.codes_of.get(name, {}))]
    if is_text and seen.decimal != ".":  # numerals as the column writes them
        candidates = [
            [with_decimal(text, seen.decimal) for text in written] for written in candidates
        ]
    rule = network.not_asked_of.get(name)
    may_be_empty = set() if rule is None else {states.index(rule.state)}
    for wider in _wider(plain):
        values = dict(values_shown)
        for code in range(len(states)):
            if code in values:
                continue
            typed = [_typed(text, wider) for text in candidates[code]]
            if fitting := [value for value in typed if value is not None]:
                values[code] = fitting[0]
        unwritten = set(range(len(states))) - values.keys()
        if kind is None:  # a list holds anything: names beside numbers
            return StateCells(values | {code: candidates[code][0] for code in unwritten}, None)
        if unwritten <= may_be_empty and _holds(wider, values):
            return StateCells(values, kind if wider == plain else wider)
    names = {code: texts[0] for code, texts in enumerate(candidates)}
    return StateCells(names | as_texts, pa.string())


def with_decimal(text: str, decimal: str) -> str:
    """A text with its own character before the decimals, if it is a numeral.

    >>> with_decimal("1.5", ","), with_decimal("v.1", ",")
    ('1,5', 'v.1')
    """
    return text if number_of(text) is None else text.replace(".", decimal)


def _holds(kind: Any, values: Mapping[int, Any]) -> bool:
    """Whether a type of Arrow holds all values."""
    import pyarrow as pa

    try:
        pa.array([*values.values()], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True


def _candidates(
    states: Sequence[str], shown: Mapping[int, Any], codes: Mapping[str, Any]
) -> Iterator[list[str]]:
    """The texts that may stand for each state: its name first where rows write some by name."""
    are_names = not shown or any(spelled(value) == states[code] for code, value in shown.items())
    for state in states:
        of_state = [code for code, meaning in codes.items() if meaning == state]
        yield [state, *of_state] if are_names else [*of_state, state]


def _inferred(values: Any) -> Any:
    """The type of Python objects, texts if they are of several."""
    import pyarrow as pa

    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        kind = pa.array([*values]).type
        return pa.string() if pa.types.is_null(kind) else kind
    return pa.string()


def _wider(kind: Any) -> Iterator[Any]:
    """A type, and those of numbers that hold more."""
    import pyarrow as pa

    yield kind
    if pa.types.is_integer(kind):
        yield pa.int64()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        yield pa.float64()


def _typed(text: str, kind: Any) -> Any:
    """The value of a type that a text writes down, None if there is none."""
    import pyarrow as pa

    types = pa.types
    if is_any_text(kind):
        return text
    if types.is_boolean(kind):
        return {"true": True, "false": False}.get(text.lower())
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return _number(text, kind)
    with suppress(pa.ArrowException, ValueError, OverflowError):
        if types.is_time(kind):
            return time.fromisoformat(text)
        text = as_date(text) if types.is_date(kind) else text
        return pa.array([text], pa.string()).cast(kind)[0].as_py()
    return None


def _number(text: str, kind: Any) -> int | float | Decimal | None:
    import pyarrow as pa

    number = number_of(text)
    is_whole = pa.types.is_integer(kind)
    if number is None or (is_whole and number % 1):
        return None
    if pa.types.is_decimal(kind):
        return number
    return int(number) if is_whole else float(number)


def _cells_of_intervals(network: Network, name: str, seen: SeenValues, kind: Any) -> StateCells:
    """The mean of each interval; any other state by its name, where the column holds names."""
    import pyarrow as pa

    cuts = network.cuts_of[name]
    means = interval_means(cuts, seen.sums_of[name], seen.counts_of[name])
    written = _written_means(means, cuts, _type_of_numbers(seen, name, kind), seen.decimal)
    completed = kind
    if written is None:  # the column becomes one of other numbers; a list holds them anyway
        written = means
        completed = None if kind is None else pa.float64()
    values = dict(enumerate(written))
    if kind is None or is_any_text(plain_type(kind)):
        values |= {c: state for c, state in enumerate(network.states(name)) if c not in values}
    return StateCells(values, completed, are_means=True)


def _type_of_numbers(seen: SeenValues, name: str, kind: Any) -> Any:
    """The plain Arrow type in which a column has its numbers."""
    import pyarrow as pa

    if kind is not None:
        return plain_type(kind)
    values = seen.value_of[name].values()
    return _inferred(values) if values else pa.float64()


def _written_means(
    means: Sequence[float], cuts: Sequence[float], plain: Any, decimal: str
) -> list[Any] | None:
    """Means as values of a type; None where it has whole numbers, and an interval has none."""
    import pyarrow as pa

    if pa.types.is_integer(plain):
        whole = [_whole(mean, cuts) for mean in means]
        return None if None in whole else whole
    return _written_numbers(means, plain, decimal)


def number_cells(
    network: Network,
    name: str,
    drawn: tuple[FloatArray, NDArray[Any]],
    seen: SeenValues,
    kind: Any,
    *,
    are_whole: bool,
) -> tuple[StateCells, NDArray[np.int64]]:
    """What is filled in for numbers that were drawn, and which of it each row gets.

    Parameters
    ----------
    drawn
        The number of each row, NaN where its state stands for none, and its state. Dates are days
        since 1970.
    kind
        The Arrow type of the column, None if it is a list.
    are_whole
        Whether all numbers that can be drawn are whole; of dates, whether none has a time of day.
    """
    import pyarrow as pa

    numbers, codes = drawn
    distinct, places = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
    plain = pa.float64()
    if kind is not None:
        plain = plain_type(kind)
        if pa.types.is_null(plain):  # nothing tells how the column writes them
            is_number = name in network.cuts_of
            kind = plain = pa.float64() if is_number else pa.timestamp("us")
    elif shown := seen.value_of.get(name):
        plain = _inferred(shown.values())
    values: list[Any]
    if name in network.cuts_of:
        if pa.types.is_integer(plain) and not are_whole:
            kind, plain = kind and pa.float64(), pa.float64()
        values = _written_numbers(distinct.tolist(), plain, seen.decimal)
    else:
        values = [_written_day(day, plain, are_whole=are_whole) for day in distinct.tolist()]
    fill = np.full(len(numbers), -1)
    fill[~np.isnan(numbers)] = places
    if kind is None or is_any_text(plain):  # what is not a number can be named
        for code, state in enumerate(network.states(name)):
            rows = np.isnan(numbers) & (codes == code)
            if rows.any():
                fill[rows] = len(values)
                values.append(state)
    else:
        fill[np.isnan(numbers)] = len(values)  # which stays empty
    return StateCells(dict(enumerate(values)), kind, are_means=True), fill


def _written_day(day: float, plain: Any, *, are_whole: bool) -> Any:
    """A number of days since 1970 as a column of a type writes dates."""
    import pyarrow as pa

    moment = moment_of(day)
    if is_any_text(plain):
        return moment.date().isoformat() if are_whole else str(moment)
    if pa.types.is_timestamp(plain):
        return moment if plain.tz is None else moment.replace(tzinfo=UTC)
    return moment.date()


def _written_numbers(numbers: Sequence[float], plain: Any, decimal: str) -> list[Any]:
    """Numbers as a column of a type writes them."""
    import pyarrow as pa

    if pa.types.is_integer(plain):
        return [int(number) for number in numbers]
    if pa.types.is_decimal(plain):
        return [round(Decimal(str(number)), plain.scale) for number in numbers]
    if is_any_text(plain):
        return [spelled(number).replace(".", decimal) for number in numbers]
    return [*numbers]


def interval_means(cuts: Sequence[float], sums: FloatArray, counts: FloatArray) -> list[float]:
    """The mean of the numbers in each interval; its middle where there is none.

    An interval that is open at one end is taken to be as wide as the one beside it.

    Examples
    --------
    >>> inf = float("inf")
    >>> interval_means([0, 10, 30, inf], np.array([8.0, 0.0, 0.0]), np.array([2, 0, 0]))
    [4.0, 20.0, 40.0]
    """
    means = []
    for code, (low, high) in enumerate(interval_ends(cuts)):
        if counts[code]:
            means.append(float(sums[code] / counts[code]))
        else:
            means.append((low + high) / 2)
    return means


def interval_ends(cuts: Sequence[float]) -> list[tuple[float, float]]:
    """Both ends of each interval; an open one is as wide as the one beside it.

    >>> interval_ends([0, 10, 30, float("inf")])
    [(0.0, 10.0), (10.0, 30.0), (30.0, 50.0)]
    """
    if not len(cuts):
        return []
    widths = np.diff(cuts)
    finite = widths[np.isfinite(widths)]
    ends = []
    for low, high in itertools.pairwise(map(float, cuts)):
        below, above = math.isinf(low), math.isinf(high)
        width = float(finite[0 if below else -1]) if len(finite) else 2.0
        if below and above:
            ends.append((-width / 2, width / 2))
        elif below:
            ends.append((high - width, high))
        elif above:
            ends.append((low, low + width))
        else:
            ends.append((low, high))
    return ends


def _whole(mean: float, cuts: Sequence[float]) -> int | None:
    """The whole number nearest to a mean within its interval, if it holds one."""
    interval = interval_of(mean, cuts)
    near = sorted({math.floor(mean), math.ceil(mean)}, key=lambda number: abs(number - mean))
    return next((number for number in near if interval_of(number, cuts) == interval), None)


def arrow_filled(column: Any, cells: StateCells, rows: NDArray[np.int64]) -> Any:
    """The cells of some ``rows`` of an Arrow array, behind which those of states stand."""
    import pyarrow as pa

    kind = column.type if cells.kind is None else cells.kind
    return with_cells(column, cells).take(pa.array(rows)).cast(kind)


def with_cells(column: Any, cells: StateCells) -> Any:
    """An Arrow array, in chunks or not, with the cells of states behind it."""
    import pyarrow as pa

    kind = column.type if cells.kind is None else cells.kind
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    column = pa.chunked_array(chunks, column.type)
    if is_any_text(kind) and not is_any_text(plain_type(column.type)):
        column = spelled_column(column)
    kind = without_view(kind)
    written = pa.array([*cells.values.values()], plain_type(kind))
    if pa.types.is_dictionary(kind):
        indices = pa.array(range(len(written)), kind.index_type)
        written = pa.DictionaryArray.from_arrays(indices, written, ordered=kind.ordered)
    stacked = pa.chunked_array([*column.cast(kind).chunks, written], kind)
    return stacked.unify_dictionaries()


def rows_with_cells(
    length: int,
    values: Mapping[int, Any],
    missing: NDArray[np.bool_],
    codes: NDArray[Any],
    row_of: Mapping[int, int] | None = None,
) -> NDArray[np.int64]:
    """Where each cell is found in a column that has some ``values`` behind its rows.

    ``row_of`` is the row that shows a state, where the cell is taken from that.
    """
    positions = {code: length + index for index, code in enumerate(values)} | dict(row_of or {})
    rows = np.arange(length)
    if not positions:
        return rows
    position_of = np.full(max(*positions, int(codes.max(initial=0))) + 1, -1)
    position_of[[*positions]] = [*positions.values()]
    places = position_of[codes]
    return np.where(missing & (places >= 0), places, rows)
