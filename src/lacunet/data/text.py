"""CSV and TSV: read as text, never sniffed.

Arrow's streaming reader does the parsing; what it cannot tell (the line of a row, which
row is ragged) is looked up by a second, slower pass that runs only on the way to an error.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from lacunet.data.errors import DataError
from lacunet.data.source import Part, Piece

BLOCK_BYTES = 1 << 22  # the fastest of 1, 4 and 16 MB; a row must be shorter


def text_part(path: Path, separator: str) -> Part:
    """A text file whose first line names the columns."""
    label = repr(str(path))
    columns = tuple(_header(path, label, separator))
    return Part(
        label,
        columns,
        partial(_pieces, path, label, separator, columns),
        os.path.getsize(path),
        "bytes",
        partial(_lines_of, path, separator, len(columns)),
    )


def _pieces(
    path: Path, label: str, separator: str, columns: Sequence[str], wanted: Sequence[str]
) -> Iterator[Piece]:
    import pyarrow as pa

    batch = None
    with pa.OSFile(str(path)) as raw:
        stream = pa.CompressedInputStream(raw, "gzip") if _is_gzipped(path) else raw
        try:
            for batch in _reader(stream, separator, columns, wanted):
                cells = {name: batch.column(name) for name in wanted}
                yield Piece(cells, batch.num_rows, raw.tell())
        except pa.ArrowInvalid as error:
            raise _explained(error, path, label, separator, len(columns)) from None
        except OSError as error:
            raise DataError.unreadable(label, error) from None
    if batch is not None:
        _check_end(path, label, separator, batch.column(columns[-1])[-1].as_buffer().to_pybytes())


def _reader(stream: Any, separator: str, columns: Sequence[str], wanted: Sequence[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # The last column is always read: a quote that is never closed ends there (`_check_end`).
    kinds = {columns[-1]: pa.binary()} | dict.fromkeys(wanted, pa.string())
    return arrow_csv.open_csv(
        stream,
        read_options=arrow_csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=arrow_csv.ParseOptions(
            delimiter=separator,
            newlines_in_values=True,
            # An empty line is an empty cell where there is one column, and no row elsewhere.
            ignore_empty_lines=len(columns) > 1,
        ),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(kinds), column_types=kinds, strings_can_be_null=False
        ),
    )


def _explained(error: Exception, path: Path, label: str, separator: str, width: int) -> DataError:
    if "UTF8" in str(error):
        return DataError.not_utf8(label)
    for line, _, cells in _records(path, separator, width):
        if len(cells) != width:
            return DataError.ragged(label, line, width, len(cells))
    return DataError.unreadable(label, error)


def _check_end(path: Path, label: str, separator: str, last_cell: bytes) -> None:
    """Refuse a quote that is never closed: all rows after it would be one cell, unseen."""
    if b"\n" not in last_cell and b"\r" not in last_cell:
        return
    line = 1
    with _opened(path, "replace") as lines:
        reader = csv.reader(lines, delimiter=separator, strict=True)
        try:
            for _ in reader:
                line = reader.line_num + 1
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise DataError.unclosed_quote(label, line) from None


def _header(path: Path, label: str, separator: str) -> list[str]:
    try:
        with _opened(path, "surrogateescape") as lines:
            for cells in filter(None, csv.reader(lines, delimiter=separator)):
                "".join(cells).encode()  # bytes that are no UTF-8 escape no further than here
                return cells
    except UnicodeEncodeError:
        raise DataError.not_utf8(label) from None
    except (OSError, EOFError, csv.Error) as error:
        raise DataError.unreadable(label, error) from None
    raise DataError.no_header(label)


def _lines_of(path: Path, separator: str, width: int, rows: Sequence[int]) -> Mapping[int, int]:
    """The line (from 1) on which each of the rows (from 0) starts."""
    wanted, found = set(rows), {}
    for line, row, _ in _records(path, separator, width):
        if row in wanted:
            found[row] = line
            if len(found) == len(wanted):
                break
    return found


def _records(path: Path, separator: str, width: int) -> Iterator[tuple[int, int, list[str]]]:
    """Each row below the header: the line it starts on, its number, its cells."""
    row = -2  # the header is the next record
    line = 1
    with _opened(path, "replace") as lines:
        reader = csv.reader(lines, delimiter=separator)
        try:
            for cells in reader:
                is_record = bool(cells) or (width == 1 and row >= -1)
                row += is_record
                if is_record and row >= 0:
                    yield line, row, cells or [""]
                line = reader.line_num + 1
        except csv.Error:  # a cell is longer than csv.field_size_limit()
            raise DataError.unclosed_quote(repr(str(path)), line) from None


def _is_gzipped(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _opened(path: Path, errors: str) -> IO[str]:
    if _is_gzipped(path):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors=errors, newline="")
    return path.open("rt", encoding="utf-8-sig", errors=errors, newline="")
