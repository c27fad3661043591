"""How rows write the states of their columns, so that others can be written the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lacunet.data.encode import cell_at, is_text, spelled_column
from lacunet.data.reading import source_from
from lacunet.data.table import EncodedTable
from lacunet.model.spelling import number_of, spelled


@dataclass
class SeenValues:
    """How rows write each state of their columns: as the first row that shows it does.

    ``type_of`` has the Arrow type of each column, None where it is a list.
    """

    value_of: dict[str, dict[int, Any]] = field(default_factory=dict)
    type_of: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: Any, shown: EncodedTable) -> SeenValues:
        """How those columns of a frame in memory write states that do not show all of them."""
        sizes, seen = shown.cardinality_of, cls()
        names = [
            name
            for name, codes in shown.columns.items()
            if not np.bincount(codes, minlength=sizes[name])[: sizes[name]].all()
        ]
        if isinstance(frame, Mapping):  # a list may hold anything, whatever it holds now
            seen.add({name: list(column) for name, column in frame.items()}, shown, names)
            return seen
        (part,) = source_from(frame).parts
        key_of, row = keys_by_name(part.columns), 0
        for piece in part.read([key_of[name] for name in names if name in key_of]):
            seen.add(piece.columns, shown.take(slice(row, row + piece.rows)), names)
            row += piece.rows
        return seen

    def add(self, columns: Mapping[str, Any], shown: EncodedTable, names: Iterable[str]) -> None:
        """Take in some rows: columns as they came, Arrow arrays or lists, and their codes."""
        key_of = keys_by_name(columns)
        for name in names:
            if name not in key_of:
                continue
            column, size = columns[key_of[name]], shown.cardinality_of[name]
            values = self.value_of.setdefault(name, {})
            if len(values) < size:
                codes, rows = np.unique(shown.columns[name], return_index=True)
                for code, row in zip(codes.tolist(), rows.tolist(), strict=True):
                    if code < size and code not in values:
                        values[code] = cell_at(column, row)
            kind = getattr(column, "type", None)
            known = self.type_of.setdefault(name, kind)
            is_list = kind is None or known is None
            self.type_of[name] = None if is_list else common_type([known, kind])

    def is_text(self, name: str) -> bool:
        """Whether any text fits into a column."""
        return self._kind(name) == "texts"

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
        cells = typed_states(self.type_of[name], self.value_of[name], states)
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
    import pyarrow as pa

    for name, kind in zip(table.schema.names, table.schema.types, strict=True):
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        type_of[name] = common_type([type_of.get(name, plain), plain])


def as_type(column: Any, kind: Any) -> Any:
    """A chunked array with a `common_type`; texts are spelled so that they are read as states."""
    if is_text(kind) and not is_text(column.type):
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


def typed_states(kind: Any, shown: Mapping[int, Any], states: Sequence[str]) -> Any:
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
