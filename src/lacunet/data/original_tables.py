"""Data held as they came, and given back with some columns changed.

A dataframe of pandas, Polars or PyArrow and a dict of lists stay what they are; files and all
other kinds become an Arrow table. Rows, their order and all other columns are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.column_rules import source_from
from lacunet.data.data import Data
from lacunet.data.errors import DataError
from lacunet.data.fill import StateCells, arrow_filled, rows_with_cells, with_cells
from lacunet.data.source_parts import with_nulls
from lacunet.data.spellings import as_type, common_type, keys_by_name

FEW_ROWS = 4  # whose cells are asked for one by one

# The codes of a column (the number of states where nothing is shown), and the states.
CodesAndLabels = tuple[NDArray[Any], tuple[str, ...]]


def hold_data_in_memory(data: Data, known: Collection[str] | None = None) -> Data:
    """The same, with a source in memory whose columns can be replaced.

    Where columns are ``known``, empty cells of all others are nulls in what text files give.
    """
    return replace(data, source=hold_in_memory(data, known), query=None, database=None)


def hold_in_memory(data: Any, known: Collection[str] | None = None) -> Any:
    """What `hold_data_in_memory` holds: something whose columns can be replaced."""
    import pyarrow as pa

    frame = data.source if isinstance(data, Data) else data
    if isinstance(frame, pa.Table) or _library(frame) in ("dict", "pandas", "polars"):
        return frame.collect() if type(frame).__name__ == "LazyFrame" else frame
    source = source_from(data)
    if known is not None:
        source = with_nulls(source, known)
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


def _library(frame: Any) -> str:
    """The package of a frame, or "dict"."""
    if isinstance(frame, Mapping):
        return "dict"
    return type(frame).__module__.partition(".")[0]


def as_library_of(table: Any, frame: Any) -> Any:
    """An Arrow table as what a frame is: of pandas, Polars, a dict of lists; else it stays."""
    library = _library(frame)
    if library == "dict":
        return table.to_pydict()
    if library == "pandas":
        return table.to_pandas().copy()  # Arrow's own memory cannot be written to
    if library == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def few_rows(frame: Any, most: int) -> list[dict[str, Any]] | None:
    """The rows of a frame in memory as dicts, if there are at most so many."""
    if isinstance(frame, Mapping):
        columns = [column for column in frame.values() if isinstance(column, list | tuple)]
        lengths = {len(column) for column in columns}
        if len(columns) < len(frame) or len(lengths) != 1 or max(lengths) > most:
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


def replace_columns(frame: Any, columns: Mapping[str, CodesAndLabels]) -> Any:
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
    import pyarrow as pa

    indices = pa.array(codes.astype(np.int32), mask=codes == len(states))
    column = pa.DictionaryArray.from_arrays(indices, pa.array(states, pa.string()), ordered=True)
    if library != "polars":
        return column.to_pandas().array if library == "pandas" else column
    import polars as pl

    return pl.Series(column).cast(pl.Enum(list(states)))


def _with_columns(frame: Any, columns: Mapping[str, Any]) -> Any:
    """The frame with some columns, new or not."""
    if not columns:
        return frame
    library = _library(frame)
    if library == "dict":
        return {**frame, **columns}
    if library == "polars":
        return frame.with_columns([column.alias(name) for name, column in columns.items()])
    if library == "pandas":
        return _with_pandas_columns(frame, columns)
    return _with_arrow_columns(frame, columns)


def _with_pandas_columns(frame: Any, columns: Mapping[str, Any]) -> Any:
    import pandas as pd

    whole = frame.copy(deep=False)
    added = {}
    for name, column in columns.items():
        cells = pd.Series(column, index=frame.index)
        if name in frame.columns:
            whole[name] = cells
        else:
            added[name] = cells
    if not added:
        return whole
    # All at once: one by one, pandas warns that the frame is fragmented.
    joined = pd.concat([whole, pd.DataFrame(added, index=frame.index)], axis=1)
    return joined.__finalize__(frame)


def _with_arrow_columns(frame: Any, columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    fields = {field.name: field for field in frame.schema}
    arrays = {**{name: frame.column(name) for name in fields}, **columns}
    fields |= {name: pa.field(name, column.type) for name, column in columns.items()}
    schema = pa.schema(list(fields.values()), metadata=frame.schema.metadata)
    return pa.Table.from_arrays(list(arrays.values()), schema=schema)


def _texts(codes: NDArray[Any], states: Sequence[str]) -> list[str | None]:
    names = [*states, None]
    return [names[code] for code in codes.tolist()]


def fill_frame(
    frame: Any,
    columns: Mapping[str, tuple[NDArray[Any], CodesAndLabels]],
    cells_of: Mapping[str, StateCells],
) -> Any:
    """The frame with what is not shown filled in; every other cell keeps its value and its type.

    For each column: the codes that its rows show, and the states to fill in. What some row shows
    is taken from there, all else from the cells of states.
    """
    key_of = keys_by_name(_keys(frame))
    replacements = {}
    for name, (shown, (fill, states)) in columns.items():
        missing = shown >= len(states)
        if not missing.any():
            continue
        if name not in key_of:
            replacements[name] = _categories(frame, np.where(missing, fill, shown), states)
            continue
        cells = cells_of.get(name, StateCells({}, None))
        row_of = {} if cells.are_means else _first_rows(shown, len(states))
        values = {code: value for code, value in cells.values.items() if code not in row_of}
        rows = rows_with_cells(len(shown), values, missing, fill, row_of)
        key = key_of[name]
        replacements[key] = _filled(frame[key], replace(cells, values=values), rows)
    return _with_columns(frame, replacements)


def _first_rows(shown: NDArray[Any], states: int) -> dict[int, int]:
    """The first row that shows each state, of those that some row shows."""
    codes, rows = np.unique(shown, return_index=True)
    pairs = zip(codes.tolist(), rows.tolist(), strict=True)
    return {code: row for code, row in pairs if code < states}


def repeat_rows(frame: Any, rows: NDArray[np.int64], ones: str = "") -> Any:
    """The frame with some rows, perhaps more than once, and with ones in a column."""
    library = _library(frame)
    if library == "pandas":
        repeated = frame.iloc[rows]
    elif library == "polars":
        repeated = frame[rows]
    elif library == "pyarrow":
        repeated = frame.take(rows)
    else:
        repeated = {name: [*map([*column].__getitem__, rows)] for name, column in frame.items()}
    if not ones:
        return repeated
    key = keys_by_name(_keys(repeated))[ones]
    if library == "pandas":
        return repeated.assign(**{key: np.ones(len(rows), np.int64)})
    return _with_columns(repeated, {key: _ones(library, len(rows))})


def _ones(library: str, rows: int) -> Any:
    """A column of ones, of a library but pandas."""
    counts = np.ones(rows, np.int64)
    if library == "dict":
        return counts.tolist()
    if library == "polars":
        import polars as pl

        return pl.Series(counts)
    import pyarrow as pa

    return pa.array(counts)


def _keys(frame: Any) -> Sequence[Any]:
    if _library(frame) == "pyarrow":
        return list(frame.column_names)
    return list(frame if isinstance(frame, Mapping) else frame.columns)


def _filled(column: Any, cells: StateCells, rows: NDArray[np.int64]) -> Any:
    """The cells of some ``rows`` of a column, behind which those of states stand."""
    library = _library(column)
    if library == "pyarrow":
        return arrow_filled(column, cells, rows)
    values = [*cells.values.values()]
    if library == "pandas":
        stacked = _with_pandas_cells(column, values) if values else column
        return stacked.iloc[rows].set_axis(column.index)
    if library == "polars":
        stacked = _with_polars_cells(column, cells) if values else column
        return stacked.gather(rows)
    every = [*column, *values]
    return [every[row] for row in rows.tolist()]


def _with_pandas_cells(column: Any, values: Sequence[Any]) -> Any:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        known = {str(category): category for category in column.cat.categories}
        values = [known.get(str(value), value) for value in values]
        new = [value for value in values if value not in column.cat.categories]
        if new:
            column = column.cat.add_categories(dict.fromkeys(new))
    try:
        cells = pd.Series(values, dtype=column.dtype)
    except (ValueError, TypeError, OverflowError):
        if any(isinstance(value, str) for value in values):
            column = column.astype(object)
            cells = pd.Series(values, dtype=object)
        else:
            cells = pd.Series(values)  # pandas finds a type for both
    return pd.concat([column, cells], ignore_index=True)


def _with_polars_cells(column: Any, cells: StateCells) -> Any:
    import polars as pl

    values = [*cells.values.values()]
    kind = column.dtype
    if kind == pl.Object:
        return pl.Series(column.name, [*column.to_list(), *values], kind)
    if kind in (pl.Enum, pl.Categorical):
        texts = [*column.to_list(), *values]
        if kind == pl.Enum:
            kind = pl.Enum(list(dict.fromkeys([*kind.categories, *values])))
        return pl.Series(column.name, texts, kind)
    stacked = with_cells(column.to_arrow(), cells)
    is_same = cells.kind is None or cells.kind == column.to_arrow().type
    whole = pl.Series(column.name, stacked)
    return whole.cast(kind) if is_same else whole


def columns_as_read(frame: Any, pieces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Columns as they came, for `frame_like`: those of the frame itself, or the pieces."""
    names = pieces[0]
    if _library(frame) in ("pandas", "polars"):
        return {name: hold_in_memory(frame)[name] for name in names}
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
