"""Files of data; the name says the format."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from lacunet.data.copies_columns import refuse_copies, roles_in_schema
from lacunet.data.data import Data
from lacunet.data.delimited_text import TextFile, text_part
from lacunet.data.errors import DataError, short_list
from lacunet.data.paths import STDIN, files_of
from lacunet.data.scratch_rows import scratch_folder
from lacunet.data.source_parts import PIECE_ROWS, Part, Piece, pieces_of, validate
from lacunet.network.formats.endings import READABLE_FORMATS

CHUNK = 1 << 16
FOREIGN = {  # what reads files of other programs
    ".xlsx": "pandas.read_excel({})",
    ".xls": "pandas.read_excel({})",
    ".ods": "pandas.read_excel({})",
    ".dta": "pandas.read_stata({})",
    ".sav": "pandas.read_spss({})",
    ".sas7bdat": "pandas.read_sas({})",
    ".xpt": "pandas.read_sas({})",
    ".json": "pandas.read_json({})",
    ".rds": "pyreadr.read_r({})[None]",
}


def file_parts(data: Data) -> list[Part]:
    """One part for each file, in the order given; those of a folder or pattern by name."""
    paths = [data.source] if isinstance(data.source, str | os.PathLike) else data.source
    if not paths:
        raise DataError("the list of data files is empty.", "give at least one path.")
    files: dict[str, str] = {}
    for path in paths:
        added = {os.path.realpath(file): str(file) for file in files_of(os.fspath(path))}
        if again := sorted(added[file] for file in added.keys() & files.keys()):
            raise DataError(
                f"the data name {short_list(again)} more than once: its rows would count twice.",
                "name each file once, by itself or by its folder or pattern.",
            )
        files |= added
    if len(files) > 1:
        refuse_copies([Path(file) for file in files])
    return [_part(Path(file), data) for file in files.values()]


def _part(path: Path, data: Data) -> Part:
    import pyarrow as pa

    if str(path) == STDIN:
        saved = _saved(sys.stdin.buffer, "rows.csv")
        return _text(",", saved, "the standard input", data)
    label = repr(str(path))
    reader = _reader_of(path)
    if reader is None:
        raise _refusal(label, path.suffix.lower())
    try:
        if not os.path.isfile(path):  # a pipe
            with path.open("rb") as pipe:
                path = _saved(pipe, path.name)
        return reader(path, label, data)
    except pa.ArrowException as error:
        raise DataError.damaged(label, error) from None
    except (OSError, UnicodeError) as error:
        raise DataError.unreadable(label, error) from None


def _refusal(label: str, suffix: str) -> DataError:
    """What to say of a file whose name is not that of data."""
    endings = ", ".join(READER_OF_ENDING)
    if suffix in READABLE_FORMATS:
        problem = f"{label}: this is the name of a network, not of data."
        hint = f"the network comes first, then the data, which end in one of {endings}."
    elif suffix in FOREIGN:
        problem = f"{label} is not a kind of file that can be read."
        reader = FOREIGN[suffix].format(label)
        hint = f"save it as CSV; or in Python give {reader} in place of the path."
    else:
        problem = f"the name of {label} does not say what kind of data it holds."
        hint = f"rename it to end in one of {endings}."
    return DataError(problem, hint)


def _saved(stream: Any, name: str) -> Path:
    """What comes only once as a file, for it is read more often; gone when the program ends."""
    kept = ExitStack()
    atexit.register(kept.close)
    path = kept.enter_context(scratch_folder()) / name
    with path.open("wb") as file:
        # One read of the system at a time: between two of one call no signal would be heard.
        while chunk := stream.read1(CHUNK):
            file.write(chunk)
    return path


def _reader_of(path: Path) -> Callable[[Path, str, Data], Part] | None:
    """What reads a file of such a name; None where the name does not say what it holds."""
    name = path.name.lower()
    for ending, reader in READER_OF_ENDING.items():
        if name.endswith(ending):
            return reader
    return None


def _text(delimiter: str, path: Path, label: str, data: Data) -> Part:
    return text_part(TextFile(path, label, data.delimiter or delimiter, data.encoding))


def parquet_part(path: Path, label: str, _: Data) -> Part:
    """A Parquet file; texts come as dictionaries, the way they are stored."""
    from pyarrow import parquet, types

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        rows = file.metadata.num_rows
    nested = frozenset(field.name for field in schema if types.is_nested(field.type))
    return Part(
        label,
        tuple(schema.names),
        partial(_parquet_pieces, path, nested),
        rows,
        nulls=partial(_parquet_nulls, path),
        values=partial(_parquet_values, path, nested),
        description=roles_in_schema(schema),
        packed=[field.name for field in schema if not types.is_dictionary(field.type)],
    )


WHOLE_NUMBERS = ("BOOLEAN", "INT32", "INT64")  # of other types values may mean missing, too


def _parquet_nulls(path: Path, wanted: Sequence[str]) -> dict[str, int | None] | None:
    """The nulls of each column as the footer tells them, None if it does not.

    None for a single column that has none, but whose values may mean missing all the same.
    """
    from pyarrow import parquet

    nulls_of = dict.fromkeys(wanted, 0)
    with parquet.ParquetFile(path) as file:
        place_of = {file.schema.column(index).path: index for index in range(len(file.schema))}
        if not place_of.keys() >= nulls_of.keys():
            return None
        for group in range(file.num_row_groups):
            columns = file.metadata.row_group(group)
            for name in wanted:
                statistics = columns.column(place_of[name]).statistics
                if statistics is None or not statistics.has_null_count:
                    return None
                nulls_of[name] += statistics.null_count
        kind_of = {name: file.schema.column(place_of[name]).physical_type for name in wanted}
    return {
        name: nulls if nulls or kind_of[name] in WHOLE_NUMBERS else None
        for name, nulls in nulls_of.items()
    }


def _parquet_pieces(path: Path, nested: frozenset[str], wanted: Sequence[str]) -> Iterator[Piece]:
    """The rows; columns that are ``nested``, lists or records, cannot come as dictionaries."""
    from pyarrow import parquet

    names = list(wanted)
    flat = [name for name in names if name not in nested]
    with parquet.ParquetFile(path, read_dictionary=flat, pre_buffer=True) as file:
        # One group at a time: reading ahead would otherwise hold the whole file.
        batches = (
            batch
            for group in range(file.num_row_groups)
            for batch in file.iter_batches(PIECE_ROWS, [group], names)
        )
        yield from pieces_of(batches, wanted)


def _parquet_values(path: Path, nested: frozenset[str], wanted: Sequence[str]) -> Iterator[Piece]:
    """Every value of each column at least once, as the dictionaries of the file tell them.

    All rows, if some column is not stored by numbers of a small dictionary alone.
    """
    from pyarrow import parquet

    dictionaries: list[dict[str, Any] | None] = [None]
    if nested.isdisjoint(wanted):
        with parquet.ParquetFile(path, read_dictionary=list(wanted), buffer_size=CHUNK) as file:
            groups = range(file.num_row_groups)
            dictionaries = [_dictionaries(file, group, wanted) for group in groups]
    if None in dictionaries:
        yield from _parquet_pieces(path, nested, wanted)
        return
    for dictionary_of in dictionaries:
        rows = max((len(dictionary) for dictionary in (dictionary_of or {}).values()), default=0)
        if dictionary_of and rows:
            cells = {
                name: dictionary.take([row % len(dictionary) for row in range(rows)])
                for name, dictionary in dictionary_of.items()
            }
            yield Piece(cells, rows)


def _dictionaries(file: Any, group: int, wanted: Sequence[str]) -> dict[str, Any] | None:
    """The dictionaries of some columns in one group of rows; None if one does not tell all."""
    columns = file.metadata.row_group(group)
    first = next(file.iter_batches(1, [group], list(wanted)), None)
    if first is None:
        return {}
    place_of = {file.schema.column(index).path: index for index in range(len(file.schema))}
    dictionary_of = {}
    for name in wanted:
        stored = columns.column(place_of[name])
        column = first.column(name)
        if not stored.has_dictionary_page or not hasattr(column, "dictionary"):
            return None
        validate(column)
        dictionary_of[name] = column.dictionary
        if stored.total_uncompressed_size > _most_bytes(columns.num_rows, column.dictionary):
            return None
    return dictionary_of


def _most_bytes(rows: int, dictionary: Any) -> float:
    """What a column takes that is stored by numbers of a small dictionary, with headers of pages.

    Where a writer has gone on without its dictionary, it takes more. A large one may be such.
    """
    if dictionary.nbytes > CHUNK or not len(dictionary):
        return 0.0
    bits = max((len(dictionary) - 1).bit_length(), 1)
    return float(2 * dictionary.nbytes) + rows * (bits + 1) / 8 + rows / 100 + 1000


def arrow_part(path: Path, label: str, _: Data) -> Part:
    """An Arrow or Feather file, or a saved Arrow stream."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        try:
            schema = pa.ipc.open_file(file).schema
        except pa.ArrowInvalid:
            schema = pa.ipc.open_stream(file).schema
            names = tuple(schema.names)
            read = partial(_stream_pieces, path)
            return Part(label, names, read, None, description=roles_in_schema(schema))
        names = tuple(schema.names)
        rows = sum(batch.num_rows for batch in _arrow_batches(file, [0]))
    read = partial(_arrow_pieces, path, names)
    return Part(label, names, read, rows, description=roles_in_schema(schema))


def _arrow_pieces(path: Path, columns: Sequence[str], wanted: Sequence[str]) -> Iterator[Piece]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        batches = _arrow_batches(file, sorted(map(columns.index, wanted)))
        yield from pieces_of(batches, wanted)


def _arrow_batches(file: Any, fields: Sequence[int]) -> Iterator[Any]:
    """The record batches of an open Arrow file, with some of its fields."""
    import pyarrow as pa

    reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
    return (reader.get_batch(index) for index in range(reader.num_record_batches))


def _stream_pieces(path: Path, wanted: Sequence[str]) -> Iterator[Piece]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        yield from pieces_of(iter(pa.ipc.open_stream(file)), wanted)


READER_OF_ENDING: dict[str, Callable[[Path, str, Data], Part]] = {
    ".csv": partial(_text, ","),
    ".tsv": partial(_text, "\t"),
    ".csv.gz": partial(_text, ","),
    ".tsv.gz": partial(_text, "\t"),
    ".parquet": parquet_part,
    ".arrow": arrow_part,
    ".feather": arrow_part,
}
