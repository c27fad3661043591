"""How rows write the states of their columns, so that others can be written the same way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.column_rules import source_from
from lacunet.data.encode import cell_at, is_text, number_column, spelled_column
from lacunet.data.table import EncodedTable
from lacunet.network.network import FloatArray
from lacunet.network.spelling import number_of, spelled


@dataclass
class SeenValues:
    """How rows write each state of their columns: as the first row that shows it does.

    ``type_of`` has the Arrow type of each column, None where it is a list; of a frame that of
    ``dates`` too, however many of their states it shows. Of variables with ``cuts_of`` numbers,
    ``sums_of`` and ``counts_of`` add up the numbers in each interval.
    """

    cuts_of: Mapping[str, Sequence[float]] = field(default_factory=dict)
    decimal: str = "."
    value_of: dict[str, dict[int, Any]] = field(default_factory=dict)
    type_of: dict[str, Any] = field(default_factory=dict)
    sums_of: dict[str, FloatArray] = field(default_factory=dict)
    counts_of: dict[str, FloatArray] = field(default_factory=dict)
    dates: Collection[str] = ()

    def add_frame(self, frame: Any, shown: EncodedTable) -> None:
        """Take in columns with missing cells: those of numbers that are cut into intervals.

        And those that do not show all of their states; the others show how each is written.
        """
        names = []
        for name, codes in shown.columns.items():
            size = shown.cardinality_of[name]
            shows_all = np.bincount(codes, minlength=size)[:size].all()
            has_numbers = name in self.cuts_of or name in self.dates
            if shown.missing_of[name] and (has_numbers or not shows_all):
                names.append(name)
        if isinstance(frame, Mapping):  # a list may hold anything, whatever it holds now
            self.add({name: list(column) for name, column in frame.items()}, shown, names)
            return
        (part,) = source_from(frame).parts
        key_of = keys_by_name(part.columns)
        row = 0
        for piece in part.read([key_of[name] for name in names if name in key_of]):
            self.add(piece.columns, shown.take(slice(row, row + piece.rows)), names)
            row += piece.rows

    def add(
        self,
        columns: Mapping[str, Any],
        shown: EncodedTable,
        names: Iterable[str],
        weights: FloatArray | None = None,
    ) -> None:
        """Take in some rows: columns as they came, Arrow arrays or lists, and their codes.

        Numbers are added up by the ``weights`` of rows, if these have any.
        """
        key_of = keys_by_name(columns)
        for name in names:
            if name not in key_of:
                continue
            column = columns[key_of[name]]
            self._add_values(name, column, shown.columns[name], shown.cardinality_of[name])
            if name in self.cuts_of:
                self._add_numbers(name, column, shown.columns[name], weights)
            kind = getattr(column, "type", None)
            known = self.type_of.setdefault(name, kind)
            is_list = kind is None or known is None
            self.type_of[name] = None if is_list else common_type([known, kind])

    def _add_values(self, name: str, column: Any, codes: NDArray[Any], size: int) -> None:
        """Keep the value of each state that no row before has shown."""
        values = self.value_of.setdefault(name, {})
        if len(values) == size:
            return
        shown, rows = np.unique(codes, return_index=True)
        for code, row in zip(shown.tolist(), rows.tolist(), strict=True):
            if code < size and code not in values:
                values[code] = cell_at(column, row)

    def _add_numbers(
        self, name: str, column: Any, codes: NDArray[Any], weights: FloatArray | None
    ) -> None:
        """Add up the numbers that some rows show in each interval."""
        cuts = np.array(self.cuts_of[name])
        numbers = number_column(column, self.decimal)
        intervals = np.clip(np.searchsorted(cuts, numbers, side="right"), 1, len(cuts) - 1) - 1
        is_held = (codes == intervals) & np.isfinite(numbers)  # not a code of an interval
        held = intervals[is_held]
        size = len(cuts) - 1
        none = np.zeros(size)
        rows = np.ones(len(held)) if weights is None else weights[is_held]
        self.sums_of[name] = self.sums_of.get(name, none) + np.bincount(
            held, rows * numbers[is_held], size
        )
        self.counts_of[name] = self.counts_of.get(name, none) + np.bincount(held, rows, size)

    def add_means(self, name: str, sums: FloatArray, counts: FloatArray) -> None:
        """Take in what numbers add up to elsewhere, of intervals of which no row shows any."""
        is_unseen = self.counts_of[name] == 0
        self.sums_of[name] = np.where(is_unseen, sums, self.sums_of[name])
        self.counts_of[name] = np.where(is_unseen, counts, self.counts_of[name])

    def _kind(self, name: str) -> str:
        if self.type_of[name] is not None:
            return arrow_kind(self.type_of[name])
        values = self.value_of[name].values()
        kinds = {bool if isinstance(value, bool) else type(value) for value in values}
        are_numbers = kinds and all(issubclass(kind, int | float | np.number) for kind in kinds)
        return "numbers" if are_numbers and bool not in kinds else "texts"

    def spellings(self, name: str, states: Sequence[str]) -> Sequence[Any] | None:
        """Each state as the rows write it; None where their column cannot hold all."""
        if self.type_of[name] is None:
            return spellings(self._kind(name), self.value_of[name], states)
        cells = spellings_as_array(self.type_of[name], self.value_of[name], states)
        return None if cells is None else cells.to_pylist()

    def written(self, name: str, states: Sequence[str]) -> Sequence[Any]:
        """Each state as the rows write it, or as it is where their column cannot hold all."""
        values = self.spellings(name, states) if name in self.value_of else None
        return states if values is None else values


def keys_by_name(keys: Iterable[Any]) -> dict[str, Any]:
    """The column of each name: the one called so or, failing that, so with spaces around it.

    >>> column_of = keys_by_name([" Age ", 7, "Sex", "Sex "])
    >>> column_of["Age"], column_of["7"], column_of["Sex"], column_of["Sex "]
    (' Age ', 7, 'Sex', 'Sex ')
    """
    texts = {str(key): key for key in keys}
    return {text.strip(): key for text, key in texts.items()} | texts


def common_type(types: Sequence[Any]) -> Any:
    """The Arrow type that holds what any of these types does: that of texts if there is no other.

    Parts of data may be written by different programs, and text files hold nothing but texts.
    """
    import pyarrow as pa

    schemas = [pa.schema([("cells", kind)]) for kind in types]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("cells").type
    except pa.ArrowTypeError:
        return pa.string()


def widen_types(type_of: dict[str, Any], table: Any) -> None:
    """Let the type of each column hold what an Arrow table has in it, dictionaries as values."""
    for name, kind in zip(table.schema.names, table.schema.types, strict=True):
        plain = plain_type(kind)
        type_of[name] = common_type([type_of.get(name, plain), plain])


def plain_type(kind: Any) -> Any:
    """The type of the values of a dictionary; any other as it is."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def is_any_text(kind: Any) -> bool:
    """Whether a type of Arrow is that of texts, views of them too."""
    return is_text(kind) or str(kind) == "string_view"


def without_view(kind: Any) -> Any:
    """The type without views, of which Arrow takes no cells."""
    import pyarrow as pa

    return {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(kind), kind)


def as_type(column: Any, kind: Any) -> Any:
    """A chunked array with a `common_type`; what becomes text is spelled as states are."""
    if is_text(kind) and not is_any_text(plain_type(column.type)):
        column = spelled_column(column)
    return column if column.type == kind else column.cast(kind)


def spellings(kind: str, shown: Mapping[int, Any], states: Sequence[str]) -> list[Any] | None:
    """How each state is written in a column; None if the column must hold the states themselves.

    A state is written as the rows that show it write it. One that no row shows is written as its
    number in a column of numbers, as its name in one of texts, as long as the others are too: a
    column does not mix codes with states. Whether a state is filled in anywhere does not matter,
    so that all draws are written the same way.

    Parameters
    ----------
    kind
        "integers", "numbers", "texts", or anything else.
    shown
        The value of each state that some row shows, by its place.

    Examples
    --------
    >>> spellings("texts", {0: "F"}, ["F", "M"]), spellings("numbers", {1: 2.0}, ["1", "2"])
    (['F', 'M'], [1, 2.0])
    >>> spellings("texts", {0: "1"}, ["female", "male"]) is None
    True
    """
    if len(shown) == len(states):
        return [shown[code] for code in range(len(states))]
    named: Sequence[Any] = states if kind == "texts" else [_number(state) for state in states]
    if kind not in ("integers", "numbers", "texts") or None in named:
        return None
    if kind == "integers" and not all(isinstance(value, int) for value in named):
        return None
    if any(value != named[code] for code, value in shown.items()):
        return None
    return [shown.get(code, value) for code, value in enumerate(named)]


def _number(state: str) -> int | float | None:
    number = number_of(state)
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number)


def spellings_as_array(kind: Any, shown: Mapping[int, Any], states: Sequence[str]) -> Any:
    """The `spellings` of states as an Arrow array of a column's type; None if it must hold states.

    Of a column that has texts in some parts of the data, numbers in others, all are texts.
    """
    import pyarrow as pa

    if is_text(kind):
        shown = {
            c: value if isinstance(value, str) else spelled(value) for c, value in shown.items()
        }
    written = spellings(arrow_kind(kind), shown, states)
    try:
        return written and pa.array(written, pa.string() if pa.types.is_null(kind) else kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # as 300 among bytes
        return None


def arrow_kind(column: Any) -> str:
    """The kind of a column of this Arrow type, for `spellings`."""
    from pyarrow import types

    if types.is_integer(column) or types.is_floating(column):
        return "integers" if types.is_integer(column) else "numbers"
    return "texts" if is_text(column) or types.is_null(column) else ""
