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

from lacunet.data.encode import cell_at, is_text
from lacunet.data.errors import DataError
from lacunet.data.given import Data
from lacunet.data.reading import source_from
from lacunet.data.table import EncodedTable
from lacunet.model.spelling import number_of

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
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


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
    names = _names(frame) if is_held and len(frame) <= most else ()
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
    replacements = {name: _categories(frame, name, *coded) for name, coded in columns.items()}
    return _with_columns(frame, replacements)


def _categories(frame: Any, name: str, codes: NDArray[Any], states: Sequence[str]) -> Any:
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

    return pl.Series(name, column).cast(pl.Enum(list(states)))


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


def filled(frame: Any, columns: Mapping[str, tuple[NDArray[Any], States]]) -> Any:
    """The frame with what is not shown filled in; every other cell is left as it was.

    For each column: the codes that its rows show, and the states to fill in. How they are written
    is decided by `spellings`; a column that cannot be kept as it is written holds the states
    themselves in every row, as texts or as ordered categories.
    """
    known = set(_names(frame))
    replacements = {
        name: _filled(frame, name, shown, codes, states)
        if name in known
        else _categories(frame, name, codes, states)
        for name, (shown, (codes, states)) in columns.items()
        if (shown >= len(states)).any()
    }
    return _with_columns(frame, replacements)


def _filled(
    frame: Any, name: str, shown: NDArray[Any], codes: NDArray[Any], states: Sequence[str]
) -> Any:
    """A column with what is not shown filled in."""
    missing = shown >= len(states)
    codes = np.where(missing, codes, shown)
    seen, first = np.unique(shown, return_index=True)
    donor = {
        int(code): int(row) for code, row in zip(seen, first, strict=True) if code < len(states)
    }
    if len(donor) == len(states):
        rows = np.array([donor[code] for code in range(len(states))])[codes]
        return _taken(frame, name, np.where(missing, rows, np.arange(len(codes))))
    values = {code: _cell(frame, name, row) for code, row in donor.items()}
    kind = _kind(frame, name, values.values())
    written = spellings(kind, values, states)
    if written is not None:
        values_of = np.array(written, dtype=object if kind == "texts" else None)
        return _spliced(frame, name, missing, values_of[codes])
    if kind == "texts":
        everywhere = np.ones(len(codes), dtype=bool)
        return _spliced(frame, name, everywhere, np.array(states, dtype=object)[codes])
    return _categories(frame, name, codes, states)


@dataclass
class SeenValues:
    """How rows write each state of their columns: as the first row that shows it does.

    ``kind_of`` has the kind of each column for `spellings`.
    """

    value_of: dict[str, dict[int, Any]] = field(default_factory=dict)
    kind_of: dict[str, str] = field(default_factory=dict)

    def add(self, columns: Mapping[str, Any], shown: EncodedTable, names: Iterable[str]) -> None:
        """Take in some rows: columns as they came, Arrow arrays or lists, and their codes."""
        for name in names:
            if name not in columns:
                continue
            column, size = columns[name], shown.cardinality_of[name]
            values = self.value_of.setdefault(name, {})
            if len(values) < size:
                codes, rows = np.unique(shown.columns[name], return_index=True)
                for code, row in zip(codes.tolist(), rows.tolist(), strict=True):
                    if code < size and code not in values:
                        values[code] = cell_at(column, row)
            if not hasattr(column, "type"):
                self.kind_of[name] = _kind_of_values(values.values())
            elif name not in self.kind_of or column.null_count < len(column):
                self.kind_of[name] = arrow_kind(column.type)

    def written(self, name: str, states: Sequence[str]) -> Sequence[Any]:
        """Each state as the rows write it, or as it is where their column cannot hold all."""
        if name not in self.value_of:
            return states
        values = spellings(self.kind_of[name], self.value_of[name], states)
        return states if values is None else values


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


def _names(frame: Any) -> Sequence[str]:
    if _library(frame) == "pyarrow":
        return list(frame.column_names)
    return list(frame if isinstance(frame, Mapping) else frame.columns)


def _kind(frame: Any, name: str, shown: Iterable[Any]) -> str:
    """The kind of a column for `spellings`; that of a dict's is the kind of what it shows."""
    library = _library(frame)
    if library == "dict":
        return _kind_of_values(shown)
    if library == "pyarrow":
        return arrow_kind(frame.schema.field(name).type)
    dtype = frame[name].dtype
    if library == "polars":
        if dtype.is_numeric():
            return "integers" if dtype.is_integer() else "numbers"
        return "texts" if str(dtype) == "String" else ""
    if dtype.kind in "iuf":
        return "numbers" if dtype.kind == "f" else "integers"
    return "texts" if str(dtype) in ("str", "object") else ""


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


def _cell(frame: Any, name: str, row: int) -> Any:
    """One cell of a frame as a value of Python or NumPy."""
    column = frame[name]
    if _library(frame) == "pyarrow":
        return column[row].as_py()
    return column.iloc[row] if hasattr(column, "iloc") else column[row]


def _spliced(frame: Any, name: str, missing: NDArray[np.bool_], values: NDArray[Any]) -> Any:
    """A column with new values in its missing cells."""
    library = _library(frame)
    if library == "pandas":
        return frame[name].where(~missing, values)
    if library == "polars":
        import polars as pl

        new = pl.Series(name, values.tolist()).cast(frame[name].dtype)
        return frame[name].zip_with(pl.Series(~missing), new)
    old = frame[name].to_pylist() if library == "pyarrow" else list(frame[name])
    cells = [
        new if fill else cell
        for fill, new, cell in zip(missing.tolist(), values.tolist(), old, strict=True)
    ]
    if library == "dict":
        return cells
    import pyarrow as pa

    column = frame.schema.field(name).type
    return pa.array(cells, pa.string() if pa.types.is_null(column) else column)


def _taken(frame: Any, name: str, rows: NDArray[np.int64]) -> Any:
    """A column with its cells taken from the given rows."""
    library, column = _library(frame), frame[name]
    if library == "pandas":
        return column.array.take(rows)
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

    tables = [pa.table(dict(piece)) for piece in pieces]
    whole = pa.concat_tables(tables, promote_options="permissive")
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
