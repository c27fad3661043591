"""Data held as they came, and given back with some columns changed.

A dataframe of pandas, Polars or PyArrow and a dict of lists stay what they are; files and all
other kinds become an Arrow table. Rows, their order and all other columns are kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.files import file_parts
from lacunet.data.frames import frame_part
from lacunet.data.matching import number_of
from lacunet.data.source import Source, source_of

# The codes of a column (the number of states where nothing is shown), and the states.
States = tuple[NDArray[Any], tuple[str, ...]]


def source_from(data: Any) -> Source:
    """The source of rows for whatever holds them."""
    if isinstance(data, str | os.PathLike):
        return source_of(file_parts([data]))
    if isinstance(data, list | tuple):
        return source_of(file_parts(data))
    return source_of([frame_part(data)])


def held(data: Any) -> Any:
    """The data as something in memory whose columns can be replaced."""
    import pyarrow as pa

    if isinstance(data, Mapping | pa.Table) or _library(data) in ("pandas", "polars"):
        return data.collect() if type(data).__name__ == "LazyFrame" else data
    source = source_from(data)
    tables = [
        pa.table({name: piece.columns[name] for name in source.columns})
        for part in source.parts
        for piece in part.read(source.columns)
    ]
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def _library(frame: Any) -> str:
    return type(frame).__module__.split(".", maxsplit=1)[0]


def replaced(frame: Any, columns: Mapping[str, States]) -> Any:
    """The frame with some columns, new or not, as ordered categories; null where not shown."""
    if isinstance(frame, Mapping):
        return {**frame, **{name: _texts(*own) for name, own in columns.items()}}
    library = _library(frame)
    if library == "pandas":
        import pandas as pd

        made = {
            name: pd.Categorical.from_codes(
                np.where(codes == len(states), -1, codes.astype(np.int64)).tolist(),
                categories=pd.Index(states),
                ordered=True,
            )
            for name, (codes, states) in columns.items()
        }
        return frame.assign(**made)
    if library == "polars":
        import polars as pl

        return frame.with_columns(
            [
                pl.Series(name, _texts(codes, states), dtype=pl.Enum(list(states)))
                for name, (codes, states) in columns.items()
            ]
        )
    for name, own in columns.items():
        frame = _set_column(frame, name, _dictionary(*own))
    return frame


def _texts(codes: NDArray[Any], states: Sequence[str]) -> list[str | None]:
    names = [*states, None]
    return [names[code] for code in codes.tolist()]


def _dictionary(codes: NDArray[Any], states: Sequence[str]) -> Any:
    import pyarrow as pa

    indices = pa.array(codes.astype(np.int32), mask=codes == len(states))
    return pa.DictionaryArray.from_arrays(indices, pa.array(states, pa.string()), ordered=True)


def _set_column(table: Any, name: str, column: Any) -> Any:
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def filled(frame: Any, columns: Mapping[str, tuple[NDArray[np.bool_], States]]) -> Any:
    """The frame with what is not shown filled in; every other cell is left as it was.

    For each column: whether each row is to be filled, and the states. A state takes the value
    that another row of the column has for it, so that the column's type stays. Where no row has
    it, a column of numbers gets the number, one of texts the text; any other becomes a column of
    ordered categories.
    """
    for name, (missing, (codes, states)) in columns.items():
        if missing.any():
            frame = _filled(frame, name, missing, codes, states)
    return frame


def _filled(
    frame: Any, name: str, missing: NDArray[np.bool_], codes: NDArray[Any], states: Sequence[str]
) -> Any:
    if name not in _names(frame):
        return replaced(frame, {name: (codes, tuple(states))})
    donor = np.full(len(states), -1)
    shown = np.flatnonzero(~missing)
    donor[codes[shown][::-1]] = shown[::-1]
    rows = np.where(missing, donor[codes], np.arange(len(codes)))
    if (rows >= 0).all():
        return _taken(frame, name, rows)
    kind = _kind(frame, name)
    numbers = [number_of(state) for state in states]
    if kind == "numbers" and None not in numbers:
        return _spliced(frame, name, missing, np.array(numbers, dtype=np.float64)[codes])
    if kind == "texts":
        return _spliced(frame, name, missing, np.array(states, dtype=object)[codes])
    return replaced(frame, {name: (codes, tuple(states))})


def _names(frame: Any) -> Sequence[str]:
    if isinstance(frame, Mapping):
        return list(frame)
    return list(frame.columns) if _library(frame) != "pyarrow" else list(frame.column_names)


def _kind(frame: Any, name: str) -> str:
    """Whether a column holds numbers, texts, or something else."""
    if isinstance(frame, Mapping):
        return "texts"
    if _library(frame) == "pyarrow":
        kind = str(frame.schema.field(name).type)
        return {"string": "texts", "large_string": "texts", "null": "texts"}.get(kind, kind)
    if _library(frame) == "polars":
        dtype = frame[name].dtype
        return "numbers" if dtype.is_numeric() else "texts" if str(dtype) == "String" else ""
    dtype = frame[name].dtype
    return "numbers" if dtype.kind in "iuf" else "texts" if str(dtype) in ("str", "object") else ""


def _spliced(frame: Any, name: str, missing: NDArray[np.bool_], values: NDArray[Any]) -> Any:
    """The frame with new values in the missing cells of one column."""
    library = "dict" if isinstance(frame, Mapping) else _library(frame)
    if library == "pandas":
        return frame.assign(**{name: frame[name].where(~missing, values)})
    if library == "polars":
        import polars as pl

        new = pl.Series(name, values.tolist()).cast(frame[name].dtype)
        return frame.with_columns(frame[name].zip_with(pl.Series(~missing), new))
    old = frame[name].to_pylist() if library == "pyarrow" else list(frame[name])
    cells = [
        new if fill else cell
        for fill, new, cell in zip(missing.tolist(), values.tolist(), old, strict=True)
    ]
    if library == "dict":
        return {**frame, name: cells}
    import pyarrow as pa

    return _set_column(frame, name, pa.array(cells, pa.string()))


def _taken(frame: Any, name: str, rows: NDArray[np.int64]) -> Any:
    """The frame with the cells of one column taken from the given rows."""
    if isinstance(frame, Mapping):
        column = frame[name]
        if hasattr(column, "take"):
            return {**frame, name: column.take(rows)}
        return {**frame, name: [column[row] for row in rows.tolist()]}
    library = _library(frame)
    if library == "pandas":
        return frame.assign(**{name: frame[name].array.take(rows)})
    if library == "polars":
        return frame.with_columns(frame[name].gather(rows).alias(name))
    return _set_column(frame, name, frame.column(name).take(rows))


def made_like(frame: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """A new frame of the same kind, with these columns; pandas keeps the index."""
    if isinstance(frame, Mapping):
        return dict(columns)
    library = _library(frame)
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(dict(columns), index=frame.index)
    if library == "polars":
        import polars as pl

        return pl.DataFrame(dict(columns))
    import pyarrow as pa

    return pa.table(dict(columns))
