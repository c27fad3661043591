"""From the cells of a column to codes, distinct value by distinct value; and to weights.

Each distinct value is matched once (`lacunet.data.matching`); the rows follow by looking its
code up in a small table, which is what makes a million rows cheap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lacunet.data.errors import WeightError
from lacunet.data.matching import MISSING_TOKENS, NULLS, Match, Matcher, Outcome, with_points
from lacunet.data.source_parts import Column
from lacunet.data.table import Codes, Labels, code_type
from lacunet.network.network import FloatArray
from lacunet.network.spelling import spelled

# More distinct texts than this, or more characters, are matched again in each piece instead of
# being kept.
KEPT_TEXTS = 4096
MATCHED_CHARACTERS = 2**22
# Fewer rows than this are matched one by one: Arrow would take longer to begin.
ROWS_FOR_TEXTS = 32
OTHER_VALUES = "(other values)"

Indices = NDArray[np.integer[Any]]


@dataclass
class OddCells:
    """The cells of a column that had spaces around their value, or no known value.

    Those of the latter that equal more than one state are ``ambiguous``. Values beyond some number,
    or some number of characters, are counted together.
    """

    stripped: Counter[object] = field(default_factory=Counter)
    refused: Counter[object] = field(default_factory=Counter)
    ambiguous: set[object] = field(default_factory=set)
    characters: int = 0  # of the texts that are kept

    def count(self, value: object, cells: int, outcome: Outcome, *, is_refused: bool) -> None:
        """Count cells of one value, which is kept as far as there is room."""
        counter = self.refused if is_refused else self.stripped
        if value not in counter:
            size = len(value) if isinstance(value, str | bytes) else 0
            if len(counter) >= KEPT_TEXTS or self.characters + size > MATCHED_CHARACTERS:
                counter[OTHER_VALUES] += cells
                return
            self.characters += size
        counter[value] += cells
        if outcome is Outcome.AMBIGUOUS:
            self.ambiguous.add(value)

    def add(self, other: OddCells) -> None:
        """Count the cells of further rows."""
        for counter, is_refused in ((other.stripped, False), (other.refused, True)):
            for value, cells in counter.items():
                is_ambiguous = is_refused and value in other.ambiguous
                outcome = Outcome.AMBIGUOUS if is_ambiguous else Outcome.UNKNOWN
                self.count(value, cells, outcome, is_refused=is_refused)


class ColumnEncoder:
    """Encodes one variable's column, piece by piece, and remembers what it could not match.

    This is the one object of the room that changes: it keeps the texts seen so far, so that
    no text is matched twice, and the counts of ``odd`` values, so that one error can name
    them all. ``first_refused`` is the first row (from 0, over all pieces) that holds one.
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.odd = OddCells()
        self.first_refused: int | None = None
        self._rows = 0
        self._texts: Any = None
        self._matches: list[Match] = []

    def encode(self, column: Column) -> Codes:
        """The codes of the next rows."""
        if (intervals := self._intervals(column)) is not None:
            self._rows += len(intervals)
            return intervals
        is_texts = not isinstance(column, list) and is_text(column.type)
        matches: Sequence[Match]
        if is_texts and len(column) >= ROWS_FOR_TEXTS:
            indices, values, matches = self._distinct_texts(column)
        else:
            indices, values = distinct_values(column.to_pylist() if is_texts else column)
            matches = [self.matcher.match(value) for value in values]
        self._remember(indices, values, matches)
        self._rows += len(indices)
        states = len(self.matcher.states)
        kind = code_type(states, len(self.matcher.sets))
        codes = [*(match.code for match in matches), states]  # the last is of nulls
        code_of = np.array(codes, kind)
        return code_of.take(indices)  # type: ignore[return-value]

    def _intervals(self, column: Column) -> Codes | None:
        """The codes of numbers that are cut, all at once; None where each value needs a look."""
        import pyarrow as pa

        cuts = self.matcher.cuts
        if not cuts or isinstance(column, list) or column.type != pa.float64():
            return None
        numbers = column.to_numpy(zero_copy_only=False)
        is_missing = np.isnan(numbers)
        is_inside = np.isfinite(numbers) & (numbers >= cuts[0]) & (numbers <= cuts[-1])
        if not (is_missing | is_inside).all():
            return None
        states = len(self.matcher.states)
        codes = np.where(is_missing, states, np.searchsorted(cuts[1:-1], numbers, side="right"))
        return codes.astype(code_type(states, len(self.matcher.sets)))  # type: ignore[return-value]

    def _distinct_texts(self, cells: Any) -> tuple[Indices, Any, Sequence[Match]]:
        """The same as `distinct_values`, and how each text is matched.

        They are looked up among those seen before, which is twice as fast as hashing anew.
        """
        import pyarrow as pa
        from pyarrow import compute

        if self._texts is None:
            known = list(self.matcher.written)
            self._texts, self._matches = text_array(known), list(map(self.matcher.match, known))
        texts, matches = self._texts, self._matches
        if pa.types.is_large_string(cells.type):
            texts = texts.cast(pa.large_string())  # else Arrow would narrow the cells
        indices = compute.index_in(cells, value_set=texts)
        if indices.null_count > cells.null_count:
            new = compute.unique(cells.filter(compute.is_null(indices)))
            new = new.drop_null()
            texts = pa.concat_arrays([texts, new])
            matches = [*matches, *map(self.matcher.match, new.to_pylist())]
            indices = compute.index_in(cells, value_set=texts)
            if len(texts) <= KEPT_TEXTS and texts.nbytes <= MATCHED_CHARACTERS:
                self._texts = texts.cast(pa.string())
                self._matches = matches
        return fill_indices(indices, len(texts)), texts, matches

    def _remember(self, indices: Indices, values: Any, matches: Sequence[Match]) -> None:
        plain = (Outcome.STATE, Outcome.MISSING)
        odd = [index for index, match in enumerate(matches) if match.outcome not in plain]
        counts = np.bincount(indices, minlength=len(matches) + 1) if odd else ()
        is_refused = np.zeros(len(matches) + 1, dtype=bool)
        for index in (index for index in odd if counts[index]):
            value = cell_at(values, index)
            match = matches[index]
            is_refused[index] = match.is_refused
            cells = int(counts[index])
            self.odd.count(value, cells, match.outcome, is_refused=match.is_refused)
        if self.first_refused is None and is_refused.any():
            self.first_refused = self._rows + int(np.argmax(is_refused[indices]))


def text_array(texts: Sequence[str]) -> Any:
    """An Arrow array of texts, by way of its buffers: ``pa.array`` imports pandas."""
    import pyarrow as pa

    cells = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([0, *map(len, cells)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(cells), pa.py_buffer(ends), pa.py_buffer(b"".join(cells))
    )


def array_of(values: NDArray[Any]) -> Any:
    """An Arrow array over the bytes of another; ``pa.array`` would import pandas."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(
        kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
    )


def values_of(array: Any) -> NDArray[Any]:
    """The numbers of an Arrow array; anything where it has a null."""
    kind = array.type.to_pandas_dtype()
    stop = array.offset + len(array)
    return np.frombuffer(array.buffers()[1], kind, stop)[array.offset :]


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow is that of texts."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def distinct_values(column: Column) -> tuple[Indices, list[Any]]:
    """The distinct values of a column, and for each row the index of its own.

    One index more stands for null.
    """
    import pyarrow as pa

    if isinstance(column, list):
        return _distinct_objects(column)
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int32), []
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            return _distinct_objects(column.to_pylist())
    try:
        values = column.dictionary.to_pylist()
    except (ValueError, OverflowError):  # a date or time that Python cannot hold
        values = column.dictionary.cast(pa.string()).to_pylist()
    if pa.types.is_floating(column.dictionary.type):
        values = [_written(value, column.dictionary.type) for value in values]
    return fill_indices(column.indices, len(values)), values


def _written(value: float | None, kind: Any) -> float | None:
    """The number that was meant: the shortest one that reads back as the same narrow float."""
    narrow = {16: np.float16, 32: np.float32}.get(kind.bit_width)
    return value if value is None or narrow is None else float(str(narrow(value)))


def fill_indices(indices: Any, null: int) -> Indices:
    """The indices as an array, with the index ``null`` where there is none.

    By way of the buffers, because Arrow's own ways to fill nulls import pandas.
    """
    values = values_of(indices)
    start = indices.offset
    if not indices.null_count:
        return values
    validity = np.frombuffer(indices.buffers()[0], np.uint8)
    stop = start + len(indices)
    is_valid = np.unpackbits(validity, count=stop, bitorder="little")
    return np.where(is_valid[start:], values, np.int32(null))


def _distinct_objects(cells: Sequence[Any]) -> tuple[Indices, list[Any]]:
    """The same for Python objects of any types; 1, 1.0 and True are kept apart."""
    place_of: dict[tuple[type, object], int] = {}
    indices = np.empty(len(cells), dtype=np.int64)
    for row, cell in enumerate(cells):
        value = _plain(cell)
        indices[row] = place_of.setdefault((type(value), value), len(place_of))
    return indices, [value for _, value in place_of]


def _plain(cell: Any) -> Hashable:
    """A Python object for a cell: None for every kind of missing, a text for the unhashable."""
    if isinstance(cell, np.floating):
        cell = float(str(cell))
    elif isinstance(cell, np.datetime64):
        cell = cell.astype("datetime64[us]").item()  # nanoseconds would come as an integer
    elif isinstance(cell, np.generic):
        cell = cell.item()
    if type(cell).__name__ in NULLS or (isinstance(cell, float) and isnan(cell)):
        return None
    try:
        hash(cell)
    except TypeError:
        return str(cell)
    return cell  # type: ignore[no-any-return]


def distinct_cells(column: Column, copies: FloatArray | None = None) -> tuple[list[Any], list[Any]]:
    """How often each distinct value of a column occurs, and the values; nulls are left out.

    ``copies`` says how many rows each cell stands for, one if it is not given.
    """
    indices, values = distinct_values(column)
    return np.bincount(indices, copies, len(values) + 1).tolist()[: len(values)], values


# Weighted sample sizes need sums of squares, which must neither overflow nor vanish.
SMALLEST = 1e-100
LARGEST = 1e100


NOUN = {
    "weight": "weight",
    "counts": "count",
    "squared_weight": "squared weight",
    "replicate_weights": "replicate weight",
}


def number_array(given: ArrayLike, option: str) -> FloatArray:
    """The numbers given beside the data, one for each row, checked."""
    try:
        numbers = np.array(given, dtype=np.float64)
    except OverflowError:  # an integer beyond every float
        numbers = np.array([_number(cell) for cell in np.array(given, dtype=object).ravel()])
    except (TypeError, ValueError):
        numbers = np.array(0.0)
    if numbers.ndim != 1:
        raise WeightError(
            f"{option}= must be the name of a column or a one-dimensional array of numbers, "
            "one for each row."
        )
    if (wrong := first_wrong(numbers)) is not None:
        raise WeightError.value(NOUN[option], f"row {wrong + 1}", float(numbers[wrong]))
    return numbers


def number_column(column: Column, decimal: str = ".") -> FloatArray:
    """The numbers of some rows; NaN where a cell holds none."""
    import pyarrow as pa

    if not isinstance(column, list):
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        is_written = decimal == "," and not pa.types.is_primitive(column.type)
        if not pa.types.is_boolean(column.type) and not is_written:
            try:
                floats = column.cast(pa.float64(), safe=False)
                return np.asarray(floats.to_numpy(zero_copy_only=False))
            except pa.ArrowException:
                pass  # some cell is not a number: find it
        column = column.to_pylist()
    return np.array([_number(cell, decimal) for cell in column], dtype=np.float64)


def first_wrong(weights: FloatArray) -> int | None:
    """The first place that holds neither zero nor a number whose square can be added up."""
    right = (weights == 0) | ((weights >= SMALLEST) & (weights <= LARGEST))
    return None if right.all() else int(np.argmin(right))


def label_column(column: Column) -> Labels:
    """The labels of some rows; the code -1 where a cell is missing.

    Numbers are spelled like states. A text is a name, whatever it looks like: 1.1 is not 1.10.
    """
    indices, values = distinct_values(column)
    labels: dict[str, int] = {}
    codes: list[int] = []
    for value in [*values, None]:  # the last is that of nulls
        label = value.strip() if isinstance(value, str) else spelled(value)
        if value is None or label in MISSING_TOKENS:
            codes.append(-1)
        else:
            codes.append(labels.setdefault(label, len(labels)))
    return Labels(tuple(labels), np.array(codes, np.int32)[indices])


def spelled_column(column: Any) -> Any:
    """A chunked array as dictionaries of texts, each spelled so that it is read as its state."""
    import pyarrow as pa

    texts = map(_spelled_chunk, column.chunks)
    return pa.chunked_array(texts, pa.dictionary(pa.int32(), pa.string()))


def _spelled_chunk(chunk: Any) -> Any:
    import pyarrow as pa

    def text_of(value: object) -> str | None:
        if isinstance(value, bytes):  # as they are: of a text every space and zero counts
            return value.decode("utf-8", "backslashreplace")
        return None if value is None else spelled(value)

    indices, values = distinct_values(chunk)
    codes = pa.array(indices.astype(np.int32), mask=indices >= len(values))
    return pa.DictionaryArray.from_arrays(codes, pa.array(map(text_of, values), pa.string()))


def cell_at(column: Column, row: int) -> object:
    """A cell as a Python object, for messages."""
    cell: Any = column[row]
    if isinstance(cell, np.generic) and cell.dtype.kind in "biuf":
        return cell.item()
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
