"""Files, folders of parts and patterns; the name says the format."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from lacunet.data.errors import DataError
from lacunet.data.source import PIECE_ROWS, Part, Piece, pieces_of
from lacunet.data.text import text_part

AnyPath = str | os.PathLike[str]


def file_parts(paths: Sequence[AnyPath]) -> list[Part]:
    """One part for each file, in the order given; those of a folder or pattern by name."""
    if not paths:
        raise DataError.no_paths()
    found: dict[str, str] = {}
    for path in paths:
        own = {os.path.realpath(file): str(file) for file in _files(os.fspath(path))}
        if again := own.keys() & found.keys():
            raise DataError.named_twice(sorted(own[file] for file in again))
        found |= own
    return [_part(Path(file)) for file in found.values()]


def _files(path: str) -> list[Path]:
    if os.path.isdir(path):
        return _in_folder(Path(path))
    if os.path.exists(path):
        return [Path(path)]
    if glob.has_magic(path):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise DataError.nothing_matches(path)
        # What a folder holds is matched by itself where it should be, as in **.
        files = [Path(name) for name in found if os.path.isfile(name)]
        return files or [file for name in found for file in _files(name)]
    raise DataError.no_such_file(path)


def _in_folder(folder: Path) -> list[Path]:
    """The data files of a folder and below, without hidden ones and markers like _SUCCESS."""
    found = [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and _format_of(file) is not None
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    ]
    if not found:
        raise DataError.no_parts(str(folder))
    return found


def _part(path: Path) -> Part:
    import pyarrow as pa

    opened = _format_of(path)
    if opened is None:
        raise DataError.unknown_suffix(str(path))
    try:
        return opened(path)
    except (OSError, pa.ArrowException) as error:
        raise DataError.unreadable(repr(str(path)), error) from None


def _format_of(path: Path) -> Callable[[Path], Part] | None:
    name = path.name.lower()
    return next((opened for suffix, opened in FORMATS.items() if name.endswith(suffix)), None)


def parquet_part(path: Path) -> Part:
    """A Parquet file; texts come as dictionaries, the way they are stored."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        columns = tuple(file.schema_arrow.names)
        rows = file.metadata.num_rows
    label = repr(str(path))
    return Part(label, columns, _guarded(label, partial(_parquet_pieces, path)), rows)


def _parquet_pieces(path: Path, wanted: Sequence[str]) -> Iterator[Piece]:
    from pyarrow import parquet

    names = list(wanted)
    with parquet.ParquetFile(path, read_dictionary=names, pre_buffer=True) as file:
        # One group at a time: reading ahead would otherwise hold the whole file.
        batches = (
            batch
            for group in range(file.num_row_groups)
            for batch in file.iter_batches(PIECE_ROWS, [group], names)
        )
        yield from pieces_of(batches, wanted)


def arrow_part(path: Path) -> Part:
    """An Arrow or Feather file, or a saved Arrow stream."""
    import pyarrow as pa

    label = repr(str(path))
    with pa.memory_map(str(path)) as file:
        try:
            reader = pa.ipc.open_file(file)
        except pa.ArrowInvalid:
            names = tuple(pa.ipc.open_stream(file).schema.names)
            return Part(label, names, _guarded(label, partial(_stream_pieces, path)), None)
        names = tuple(reader.schema.names)
        one = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0]))
        rows = sum(one.get_batch(at).num_rows for at in range(one.num_record_batches))
    return Part(label, names, _guarded(label, partial(_arrow_pieces, path)), rows)


def _arrow_pieces(path: Path, wanted: Sequence[str]) -> Iterator[Piece]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        schema = pa.ipc.open_file(file).schema
        places = sorted(schema.get_field_index(name) for name in wanted)
        only = pa.ipc.IpcReadOptions(included_fields=places)
        reader = pa.ipc.open_file(file, options=only)
        batches = (reader.get_batch(at) for at in range(reader.num_record_batches))
        yield from pieces_of(batches, wanted)


def _stream_pieces(path: Path, wanted: Sequence[str]) -> Iterator[Piece]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        yield from pieces_of(iter(pa.ipc.open_stream(file)), wanted)


def _guarded(
    label: str, read: Callable[[Sequence[str]], Iterator[Piece]]
) -> Callable[[Sequence[str]], Iterator[Piece]]:
    """The same reading, with damage in the file told in words."""

    def guarded(wanted: Sequence[str]) -> Iterator[Piece]:
        import pyarrow as pa

        try:
            yield from read(wanted)
        except (OSError, pa.ArrowException) as error:
            raise DataError.unreadable(label, error) from None

    return guarded


FORMATS: dict[str, Callable[[Path], Part]] = {
    ".csv": partial(text_part, separator=","),
    ".csv.gz": partial(text_part, separator=","),
    ".tsv": partial(text_part, separator="\t"),
    ".tsv.gz": partial(text_part, separator="\t"),
    ".parquet": parquet_part,
    ".arrow": arrow_part,
    ".feather": arrow_part,
}
