"""Data frames: whatever holds a table in memory, or computes one, becomes a part.

A library of data frames is imported only if the user's object is its own. Frames in memory
are converted slice by slice, so that a column of Python objects is never copied whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from lacunet.data.copies_columns import roles_in_schema
from lacunet.data.databases import cursor_reader, relation_part
from lacunet.data.errors import DataError, refuse_duplicates
from lacunet.data.source_parts import PIECE_ROWS, Column, Part, Piece, pieces_of
from lacunet.text import counted, first_of


def frame_part(data: Any) -> Part:
    """The part of a data frame, a relation, a stream of record batches or a dict of lists."""
    if isinstance(data, Mapping):
        return _mapping_part(data)
    if type(data).__module__.partition(".")[0] == "pyarrow":
        return _arrow_part(data)
    if type(data).__name__ == "DuckDBPyRelation":
        return relation_part(data)
    if is_spark(data):
        return Part("the Spark DataFrame", tuple(data.columns), _stays_on_spark, None)
    return _narwhals_part(data)


def is_spark(data: Any) -> bool:
    """Whether it is a data frame of Spark, classic or Connect."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "mapInArrow")


def is_arrow_tables(data: Any) -> bool:
    """Whether it is a list of Arrow tables, which are parts of the same data.

    Raises
    ------
    DataError
        One table is there more than once.
    """
    if not isinstance(data, list | tuple) or not data:
        return False
    if not all(type(part).__module__.partition(".")[0] == "pyarrow" for part in data):
        return False
    if len({id(part) for part in data}) < len(data):
        raise DataError(
            "the data name one Arrow table more than once: its rows would count twice.",
            "name each table once.",
        )
    return True


def _stays_on_spark(_: Sequence[str]) -> Iterator[Piece]:
    raise DataError(
        "this is not available for Spark DataFrames: it needs their rows here.",
        "give data.toArrow() if they fit in memory, or some of them: data.limit(...).toArrow().",
    )


def _arrow_part(data: Any) -> Part:
    import pyarrow as pa
    from pyarrow import dataset

    label = f"the PyArrow {type(data).__name__}"
    if isinstance(data, dataset.Scanner):
        data = data.to_reader()
    if isinstance(data, pa.Table | pa.RecordBatch):
        table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
        read = partial(_table_pieces, table)
        description = roles_in_schema(table.schema)
        return Part(label, tuple(table.schema.names), read, table.num_rows, description=description)
    if isinstance(data, dataset.Dataset):
        names = tuple(data.schema.names)
        read = partial(_dataset_pieces, data)
        rows = data.count_rows()
        return Part(label, names, read, rows, description=roles_in_schema(data.schema))
    if isinstance(data, pa.RecordBatchReader):
        return _once(label, data)
    raise DataError.unknown_kind(data)


def _table_pieces(table: Any, wanted: Sequence[str]) -> Iterator[Piece]:
    chosen = table.select([table.schema.get_field_index(name) for name in wanted])
    yield from pieces_of(chosen.to_batches(max_chunksize=PIECE_ROWS), wanted)


def _dataset_pieces(data: Any, wanted: Sequence[str]) -> Iterator[Piece]:
    yield from pieces_of(data.to_batches(columns=list(wanted), batch_size=PIECE_ROWS), wanted)


def _mapping_part(data: Mapping[str, Any]) -> Part:
    import narwhals as nw

    if not all(map(_is_column, data.values())):
        raise DataError.unreadable("the dict", "its values must be lists or arrays, one per column")
    name_of: dict[int, str] = {}
    for name, cells in data.items():
        name_of.setdefault(len(cells), str(name))
    if len(name_of) > 1:
        lengths = [f"{name!r} has {counted(rows, 'value')}" for rows, name in name_of.items()]
        raise DataError(
            f"the columns of the dict differ in length: {first_of(lengths, 3)}.",
            "give each column one value for each row; None where it is missing.",
        )
    rows = next(iter(name_of), 0)
    columns = {
        str(name): cells
        if isinstance(cells, list | tuple)
        else nw.from_native(cells, series_only=True, pass_through=True)
        for name, cells in data.items()
    }
    return Part("the dict", tuple(columns), partial(_sliced, columns, rows), rows)


def _is_column(cells: Any) -> bool:
    """Whether it has cells in one dimension."""
    is_several = hasattr(cells, "__len__") and not isinstance(cells, str)
    return is_several and getattr(cells, "ndim", 1) == 1


def _sliced(columns: Any, rows: int, wanted: Sequence[str]) -> Iterator[Piece]:
    """Pieces of what has columns by name."""
    for start in range(0, rows, PIECE_ROWS):
        stop = min(start + PIECE_ROWS, rows)
        is_whole = stop - start == rows  # a slice of all rows would take longer than they do
        slices = (columns[name] if is_whole else columns[name][start:stop] for name in wanted)
        yield Piece(dict(zip(wanted, map(_cells, slices), strict=True)), stop - start)


def _cells(cells: Any) -> Column:
    """An Arrow array, or a list where the cells are of several types."""
    import pyarrow as pa

    native: Any = cells.to_native() if hasattr(cells, "to_native") else cells
    if type(native).__module__.startswith("polars") and str(native.dtype) == "Object":
        return list(cells.to_list())  # of its Python objects Arrow would be given addresses
    kind = str(getattr(native, "dtype", ""))
    plain = _spelled_out(cells, native, kind)
    try:
        if hasattr(plain, "to_arrow"):
            array = plain.to_arrow()
        else:
            array = pa.array(plain, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return plain.to_list() if hasattr(plain, "to_list") else list(plain)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if kind == "category" and isinstance(array, pa.DictionaryArray):  # they have an order
        return pa.DictionaryArray.from_arrays(array.indices, array.dictionary, ordered=True)
    return array


def _spelled_out(cells: Any, native: Any, kind: str) -> Any:
    """Intervals (`pandas.cut`) and periods as their texts, also as categories."""
    is_category = kind == "category"
    if not is_category and not kind.startswith(SPELLED_OUT):
        return cells
    if type(native).__module__.startswith("pandas") and not hasattr(native, "cat"):
        import pandas as pd

        native = pd.Series(native)
    if not is_category:
        return native.astype(str).where(native.notna(), None)
    categories = native.cat.categories
    if not str(categories.dtype).startswith(SPELLED_OUT):
        return cells
    return native.cat.rename_categories(categories.astype(str))


SPELLED_OUT = ("interval", "period")  # types of pandas that Arrow would take apart


def _narwhals_part(data: Any) -> Part:
    import narwhals as nw

    if nw.dependencies.is_pandas_like_dataframe(data):
        data = data.set_axis([str(name) for name in data.columns], axis=1)
        refuse_duplicates("the DataFrame", list(data.columns))
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.Series):
        if frame.name is None or frame.name == "":
            raise DataError(
                "the series has no name.", "give a DataFrame, whose columns have names."
            )
        frame = frame.alias(str(frame.name)).to_frame()
    kind = type(data).__module__.split(".")[0]
    if isinstance(frame, nw.LazyFrame):
        names = tuple(frame.collect_schema().names())
        return Part(f"the {kind} LazyFrame", names, partial(_lazy_pieces, frame), None)
    if isinstance(frame, nw.DataFrame):
        names = tuple(frame.columns)
        return Part(f"the {kind} DataFrame", names, partial(_sliced, frame, len(frame)), len(frame))
    if hasattr(data, "fetch_record_batch"):
        return _once("the database cursor", cursor_reader(data))
    if not hasattr(data, "__arrow_c_stream__"):
        raise DataError.unknown_kind(data)
    import pyarrow as pa

    return _once(f"the {type(data).__name__}", pa.RecordBatchReader.from_stream(data))


def _lazy_pieces(frame: Any, wanted: Sequence[str]) -> Iterator[Piece]:
    import narwhals as nw

    native = frame.to_native()
    if not nw.dependencies.is_polars_lazyframe(native):
        yield from _table_pieces(frame.select(*wanted).collect("pyarrow").to_native(), wanted)
        return
    from polars import nth

    # By place: a name such as "*" or "^a$" would be taken as a pattern.
    place_of = {name: index for index, name in enumerate(native.collect_schema().names())}
    native = native.select(nth(*(place_of[name] for name in wanted)))
    if not hasattr(native, "collect_batches"):  # before Polars 1.34
        yield from _table_pieces(native.collect().to_arrow(), wanted)
        return
    for batch in native.collect_batches(chunk_size=PIECE_ROWS, maintain_order=True):
        yield from _sliced(nw.from_native(batch, eager_only=True), len(batch), wanted)


def _once(label: str, reader: Any) -> Part:
    """A stream of record batches, which cannot be read again."""
    names = tuple(reader.schema.names)
    return Part(label, names, partial(pieces_of, iter(reader)), None, is_once=True)
