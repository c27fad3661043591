"""Data held as they came, and given back with some columns changed.

A dataframe of pandas, Polars or PyArrow and a dict of lists stay what they are; files and all
other kinds become an Arrow table. Rows, their order and all other columns are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.encode import cell_at, is_text, spelled_column
from lacunet.data.errors import DataError
from lacunet.data.given import Data
from lacunet.data.reading import source_from
from lacunet.data.table import EncodedTable
from lacunet.model.spelling import number_of, spelled

# The codes of a column (the number of states where nothing is shown), and the states.
States = tuple[NDArray[Any], tuple[str, ...]]


def held_data(data: Data) -> Data:
    """The same, with a source in memory whose columns can be replaced."""
    return replace(data, source=held(data), query=None, database=None)


def held(data: Any) -> Any:
    """The data as something in memory whose columns can be replaced."""
    import pyarrow as pa

    frame = data.source if isinstance(data, Data) else data
    if isinstance(frame, pa.Table) or _library(frame) in ("dict", "pandas", "polars"):
        return frame.collect() if type(frame).__name__ == "LazyFrame" else frame
    source = source_from(data)
    tables = [
        pa.table({name: piece.columns[name] for name in source.columns})
        for part in source.parts
        for piece in part.read(source.columns)
    ]
    if not tables:
        raise DataError.no_rows(source.label)
    return _joined(tables).unify_dictionaries()


def _joined(tables: Sequence[Any]) -> Any:
    """All rows, table after table; columns without a type in common become texts."""
    import pyarrow as pa

    type_of = {
        name: common_type([table.schema.field(name).type for table in tables])
        for name in tables[0].column_names
    }
    return pa.concat_tables(
        pa.table({name: as_type(table.column(name), kind) for name, kind in type_of.items()})
        for table in tables
    )


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


def as_type(column: Any, kind: Any) -> Any:
    """A chunked array with a `common_type`; texts are spelled so that they are read as states."""
    import pyarrow as pa

    if is_text(kind) and not is_text(column.type):
        texts = [spelled_column(chunk) for chunk in column.chunks]
        column = pa.chunked_array(texts, pa.dictionary(pa.int32(), pa.string()))
    return column if column.type == kind else column.cast(kind)


FEW_ROWS = 4  # whose cells are asked for one by one


def _library(frame: Any) -> str:
    """The package of a frame, or "dict"."""
    return "dict" if isinstance(frame, Mapping) else type(frame).__module__.partition(".")[0]


def few_rows(frame: Any, most: int) -> list[dict[str, Any]] | None:
    """The rows of a frame in memory as dicts, if there are at most so many."""
    if isinstance(frame, Mapping):
        columns = [column for column in frame.values() if isinstance(column, list | tuple)]
        if len(columns) < len(frame) or not columns or len(columns[0]) > most:
            return None
        if any(len(column) != len(columns[0]) for column in columns):
            return None
        return [dict(zip(frame, row, strict=True)) for row in zip(*columns, strict=True)]
    kinds = [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")]
    is_held = (_library(frame), type(frame).__name__) in kinds
    names = _keys(frame) if is_held and len(frame) <= most else ()
    if len(set(names)) < len(names) or not names:
        return None
    if _library(frame) == "pandas":
        return [dict(zip(names, row, strict=True)) for row in _cells(frame, len(names))]
    rows: list[dict[str, Any]] = (
        frame.to_dicts() if _library(frame) == "polars" else frame.to_pylist()
    )
    return rows


def _cells(frame: Any, columns: int) -> list[list[Any]]:
    """The cells of a frame of pandas, row by row.

    It takes long to turn a column of categories or strings into objects, however short it is: the
    cells of very few rows are asked for one by one.
    """
    rows = len(frame)
    if rows > FEW_ROWS or (rows > 1 and all(isinstance(dtype, np.dtype) for dtype in frame.dtypes)):
        cells: list[list[Any]] = frame.to_numpy(dtype=object).tolist()
        return cells
    cell = frame.iat
    return [[_python(cell[row, column]) for column in range(columns)] for row in range(rows)]


def _python(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def replaced(frame: Any, columns: Mapping[str, States]) -> Any:
    """The frame with some columns, new or not, as ordered categories; null where not shown."""
    key_of = keys_by_name(_keys(frame))
    return _with_columns(
        frame,
        {key_of.get(name, name): _categories(frame, *coded) for name, coded in columns.items()},
    )


def _categories(frame: Any, codes: NDArray[Any], states: Sequence[str]) -> Any:
    """A column of ordered categories, of the frame's kind."""
    library = _library(frame)
    if library == "dict":
        return _texts(codes, states)
    if library == "pandas":
        import pandas as pd

        shown: Any = np.where(codes == len(states), -1, codes.astype(np.int64))
        return pd.Categorical.from_codes(shown, pd.Index(states), ordered=True)
    import pyarrow as pa

    indices = pa.array(codes.astype(np.int32), mask=codes == len(states))
    column = pa.DictionaryArray.from_arrays(indices, pa.array(states, pa.string()), ordered=True)
    if library != "polars":
        return column
    import polars as pl

    return pl.Series(column).cast(pl.Enum(list(states)))


def _with_columns(frame: Any, columns: Mapping[str, Any]) -> Any:
    """The frame with some columns, new or not, set all at once: one by one each takes a copy."""
    if not columns:
        return frame
    library = _library(frame)
    if library == "dict":
        return {**frame, **columns}
    if library == "polars":
        return frame.with_columns([column.alias(name) for name, column in columns.items()])
    if library == "pandas":
        import pandas as pd

        fresh = [name for name in columns if name not in frame.columns]
        old = [columns.get(name, index) for index, name in enumerate(frame.columns)]
        cells = [frame.iloc[:, column] if isinstance(column, int) else column for column in old]
        series = [
            pd.Series(column, index=frame.index) for column in (*cells, *map(columns.get, fresh))
        ]
        whole: Any = pd.concat(series, axis=1, keys=range(len(series)))
        whole.columns = frame.columns.append(pd.Index(fresh)) if fresh else frame.columns
        return whole.__finalize__(frame)
    import pyarrow as pa

    fields = {field.name: field for field in frame.schema}
    arrays = {**{name: frame.column(name) for name in fields}, **columns}
    fields |= {name: pa.field(name, column.type) for name, column in columns.items()}
    schema = pa.schema(list(fields.values()), metadata=frame.schema.metadata)
    return pa.Table.from_arrays(list(arrays.values()), schema=schema)


def _texts(codes: NDArray[Any], states: Sequence[str]) -> list[str | None]:
    names = [*states, None]
    return [names[code] for code in codes.tolist()]


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
        if _library(frame) == "dict":  # a list may hold anything, whatever it holds now
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
        kind = self.type_of[name]
        return _kind_of_values(self.value_of[name].values()) if kind is None else arrow_kind(kind)

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


def filled(frame: Any, seen: SeenValues, columns: Mapping[str, tuple[NDArray[Any], States]]) -> Any:
    """The frame with what is not shown filled in; every other cell is left as it was.

    For each column: the codes that its rows show, and the states to fill in. They are written as
    was ``seen``; a column that cannot be kept as it is written holds the states themselves in every
    row, as texts or as ordered categories.
    """
    key_of, replacements = keys_by_name(_keys(frame)), {}
    for name, (shown, (fill, states)) in columns.items():
        if not (shown >= len(states)).any():
            continue
        codes, key = np.where(shown >= len(states), fill, shown), key_of.get(name)
        column = None if key is None else _filled(frame[key], seen, name, shown, codes, states)
        replacements[name if key is None else key] = (
            _categories(frame, codes, states) if column is None else column
        )
    return _with_columns(frame, replacements)


def _filled(
    column: Any,
    seen: SeenValues,
    name: str,
    shown: NDArray[Any],
    codes: NDArray[Any],
    states: Sequence[str],
) -> Any:
    """A column with what is not shown filled in; None where it cannot hold the states."""
    missing = shown >= len(states)
    if name not in seen.value_of:  # some row shows each state
        _, first = np.unique(shown, return_index=True)
        return _taken(column, np.where(missing, first[codes], np.arange(len(codes))))
    written, is_text = seen.spellings(name, states), seen.is_text(name)
    if written is None and is_text:  # the whole column has names in place of codes
        written, missing = states, np.ones_like(missing)
    if written is None:
        return None
    return _spliced(column, missing, np.array(written, object if is_text else None)[codes])


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


def _keys(frame: Any) -> Sequence[Any]:
    if _library(frame) == "pyarrow":
        return list(frame.column_names)
    return list(frame if isinstance(frame, Mapping) else frame.columns)


def keys_by_name(keys: Iterable[Any]) -> dict[str, Any]:
    """The column of each variable: of its name or, failing that, with spaces around it.

    >>> keys_by_name([" Age ", 7, "Sex", "Sex "])
    {'Age': ' Age ', '7': 7, 'Sex': 'Sex'}
    """
    texts = {str(key): key for key in keys}
    return {text.strip(): key for text, key in texts.items()} | texts


def _kind_of_values(shown: Iterable[Any]) -> str:
    values = list(shown)
    return "numbers" if values and all(map(_is_number, values)) else "texts"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def arrow_kind(column: Any) -> str:
    """The kind of a column of this Arrow type, for `spellings`."""
    from pyarrow import types

    if types.is_integer(column) or types.is_floating(column):
        return "integers" if types.is_integer(column) else "numbers"
    return "texts" if is_text(column) or types.is_null(column) else ""


def _spliced(column: Any, missing: NDArray[np.bool_], values: NDArray[Any]) -> Any:
    """A column with new values in its missing cells."""
    library = _library(column)
    if library == "pandas":
        return column.where(~missing, values)
    if library == "polars":
        import polars as pl

        new = pl.Series(values.tolist())
        if column.dtype == pl.Null:
            return new
        return column.zip_with(pl.Series(~missing), new.cast(column.dtype))
    old = column.to_pylist() if library == "pyarrow" else list(column)
    cells = [
        new if fill else cell
        for fill, new, cell in zip(missing.tolist(), values.tolist(), old, strict=True)
    ]
    if library != "pyarrow":
        return cells
    import pyarrow as pa

    return pa.array(cells, pa.string() if pa.types.is_null(column.type) else column.type)


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    """A column with its cells taken from the given rows."""
    library = _library(column)
    if library == "pandas":
        return column.iloc[rows].set_axis(column.index)
    if library == "polars":
        return column.gather(rows)
    return column.take(rows) if hasattr(column, "take") else [column[row] for row in rows.tolist()]


def kept_columns(frame: Any, pieces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Columns as they came, for `frame_like`: those of the frame itself, or the pieces."""
    names = pieces[0]
    if _library(frame) in ("pandas", "polars"):
        return {name: held(frame)[name] for name in names}
    if _library(frame) == "dict":
        return {name: np.array([*frame[name], None], object)[:-1] for name in names}
    import pyarrow as pa

    whole = _joined([pa.table(dict(piece)) for piece in pieces])
    return dict(zip(names, whole.columns, strict=True))


def frame_like(frame: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    """A new frame of the same kind, with these columns; pandas keeps the index.

    What is neither a dict nor a frame of pandas or Polars gives an Arrow table.
    """
    library = _library(frame)
    if library == "dict":
        return {name: column.tolist() for name, column in columns.items()}
    if library == "pandas":
        import pandas as pd

        if columns and all(column.dtype == np.float64 for column in columns.values()):
            cells = np.stack([*columns.values()], axis=1)  # one block takes less time than several
            return pd.DataFrame(cells, frame.index, _pandas_names((*columns,)).view(), copy=False)
        return pd.DataFrame(dict(columns), index=frame.index)
    if library == "polars":
        import polars as pl

        texts = (name for name, column in columns.items() if column.dtype == object)
        return pl.DataFrame({**columns, **{name: columns[name].tolist() for name in texts}})
    import pyarrow as pa

    return pa.table(dict(columns))


@lru_cache(maxsize=32)
def _pandas_names(names: tuple[str, ...]) -> Any:
    """The names of columns as pandas holds them: to make these takes most of a small frame's time.

    A frame gets a view, so that it can name them without all others being named.
    """
    import pandas as pd

    return pd.Index(names)
