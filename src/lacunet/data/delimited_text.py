"""CSV and TSV: read as text, never sniffed.

Arrow's streaming reader does the parsing; what it cannot tell (the line of a row, which
row is ragged) is looked up by a second, slower pass that runs only on the way to an error.
"""

from __future__ import annotations

import atexit
import codecs
import csv
import gzip
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from weakref import ref

from lacunet.data.errors import DataError
from lacunet.data.source_parts import Part, Piece
from lacunet.text import counted

MOST_SECONDS = 10.0  # to wait for threads that read
BLOCK_BYTES = 1 << 22  # the fastest of 1, 4 and 16 MB; a row must be shorter
MOST_OF_A_ROW = 2 * BLOCK_BYTES  # that can be read, where it lies well in the blocks
MAX_TEXT_COLUMNS = 2**16  # with more, what is noted of each takes gigabytes
DELIMITERS = ",\t;|"  # tried for a hint, never by themselves


@dataclass(frozen=True)
class TextFile:
    """A text file, what to call it, and how it is written."""

    path: Path
    label: str
    delimiter: str
    encoding: str

    @property
    def is_utf8(self) -> bool:
        """Whether Arrow can read the bytes as they are."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")

    @property
    def is_gzipped(self) -> bool:
        """Whether the name says that the file is compressed."""
        return self.path.suffix.lower() == ".gz"

    @contextmanager
    def records(self, errors: str, *, strict: bool = False) -> Iterator[_Records]:
        """The records, with damage in the file told in words."""
        opened: Any = gzip.open if self.is_gzipped else open
        encoding = "utf-8-sig" if self.is_utf8 else self.encoding
        try:
            with opened(self.path, "rt", encoding=encoding, errors=errors, newline="") as lines:
                yield _Records(lines, self, strict)
        except UnicodeError:
            raise self.wrong_encoding() from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError.damaged(self.label, error) from None
        except OSError as error:
            raise DataError.unreadable(self.label, error) from None

    def wrong_encoding(self) -> DataError:
        """The error that suggests another encoding."""
        with self.path.open("rb") as file:
            has_mark = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        guess = "utf-16" if has_mark else "cp1252"
        return DataError(
            f"{self.label} is not {self.encoding.upper()} text.",
            f"name its encoding: give lacunet.Data(path, encoding={guess!r}) "
            f"(--encoding {guess}), or save it again as UTF-8.",
        )


class _Records:
    """The records of an open text file, none of which takes much memory.

    A file of a few megabytes may hold a line of gigabytes, for it is compressed.
    """

    def __init__(self, text: Any, file: TextFile, strict: bool) -> None:
        self._text = text
        self._file = file
        # of the record that is read next
        self._begins = 1
        self._row_bytes = 0
        self._reader = csv.reader(self._lines(), delimiter=file.delimiter, strict=strict)

    @property
    def line_num(self) -> int:
        """How many lines have been read."""
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        for cells in self._reader:
            self._begins = self._reader.line_num + 1
            self._row_bytes = 0
            yield cells

    def _lines(self) -> Iterator[str]:
        while line := self._text.readline(MOST_OF_A_ROW):
            self._row_bytes += len(line.encode(errors="surrogatepass"))
            if self._row_bytes > MOST_OF_A_ROW or len(line) == MOST_OF_A_ROW:
                raise too_long(self._file, self._begins)
            yield line


def too_long(file: TextFile, line: int) -> DataError:
    """The error that names a line on which a row takes more than can be read at once."""
    return DataError(
        f"{file.label}, line {line}: the row takes more than {BLOCK_BYTES >> 20} MiB.",
        "check that the lines end where the rows end, and that every quote is closed.",
    )


def text_part(file: TextFile) -> Part:
    """A text file whose first line that is not empty names the columns."""
    empty, columns = _header(file)
    return Part(
        label=file.label,
        columns=tuple(columns),
        read=partial(_pieces, file, empty, columns),
        size=os.path.getsize(file.path),
        unit="bytes",
        lines_of=partial(_lines_of, file, len(columns)),
    )


def delimiter_hint(columns: Sequence[str], delimiter: str = "") -> str:
    """The option that seems to be needed where a header came as one cell, or nothing."""
    if len(columns) != 1:
        return ""
    other = next((mark for mark in DELIMITERS if mark in columns[0] and mark != delimiter), None)
    if other is None:
        return ""
    return (
        f"the columns seem to be separated by {other!r}: give "
        f"lacunet.Data(path, delimiter={other!r}) (--delimiter {other!r})."
    )


def _pieces(
    file: TextFile, empty: int, columns: Sequence[str], wanted: Sequence[str]
) -> Iterator[Piece]:
    import pyarrow as pa

    batch = None
    with pa.OSFile(str(file.path)) as raw:
        stream = pa.CompressedInputStream(raw, "gzip") if file.is_gzipped else raw
        try:
            options = _options(file, empty, columns, wanted)
            with closing(_OpenReader(stream, file, options)) as reader:
                while (following := reader.next()) is not None:
                    if not following.num_rows:  # empty lines alone
                        continue
                    batch = following
                    cells = {name: batch.column(name) for name in wanted}
                    yield Piece(cells, batch.num_rows, raw.tell())
        except UnicodeError:
            raise file.wrong_encoding() from None
        except pa.ArrowInvalid as error:
            raise _explained(error, file, len(columns)) from None
    if batch is not None:
        _check_end(file, batch.column(columns[-1])[-1].as_buffer().to_pybytes())


OPEN: set[_OpenReader] = set()


class _OpenReader:
    """A reader of Arrow's, whose threads read ahead from a stream of ours.

    None of them may still have to call it, or let go of a block that it gave, when the interpreter
    ends: that aborts the process. So both are waited for: what they read from and what they read.

    They get UTF-8, and always with a line break at the end: with it, a quote in the last cell that
    is never closed shows, for the cell then holds it. Once ``is_given_up``, or after an ``error``,
    the file seems to end. An error is kept here and not raised, without its traceback, which would
    hold what Arrow is to let go of.
    """

    is_given_up = False
    error: Exception | None = None

    def __init__(self, raw: Any, file: TextFile, options: Mapping[str, Any]) -> None:
        self._raw = raw
        self._options = options
        self._last = b"\n"
        self._decoder = None if file.is_utf8 else codecs.getincrementaldecoder(file.encoding)()
        self._lent: list[Callable[[], object]] = []
        self._reader: Any = None
        OPEN.add(self)

    def next(self) -> Any:
        """The next batch of rows; None at the end. At first, Arrow begins to read, and ahead."""
        from pyarrow import csv as arrow_csv

        try:
            if self._reader is None:
                # Only Arrow may hold what it is handed: a name here is one in tracebacks of errors.
                self._reader = arrow_csv.open_csv(_Handed(self), **self._options)
            return self._reader.read_next_batch()
        except Exception as error:
            if self.error:  # for which Arrow failed, or ended
                raise self.error from None
            if isinstance(error, StopIteration):
                return None
            raise

    def read(self, size: int) -> bytes:
        """The next bytes, for Arrow."""
        if not self.is_given_up and not self.error:
            try:
                return self._read(size)
            except Exception as error:
                self.error = error.with_traceback(None)
        return b""

    def _read(self, size: int) -> bytes:
        chunk: bytes = self._raw.read(size)
        if self._decoder:
            while not (text := self._decoder.decode(chunk, not chunk)) and chunk:
                chunk = self._raw.read(size)
            chunk = text.encode()
        if not chunk and self._last != b"\n":
            chunk = b"\n"
        self._last = chunk[-1:] or b"\n"
        return chunk

    def lend(self, held: object) -> None:
        """Wait for Arrow to let go of something before the end."""
        self._lent[:] = [*(lent for lent in self._lent if lent() is not None), ref(held)]

    def close(self) -> None:
        """Let the threads come to an end, wherever they are."""
        OPEN.discard(self)
        self.is_given_up = True
        self._reader = None
        # No callback tells of it: it would run in the very thread that has to be done.
        latest = monotonic() + MOST_SECONDS
        while any(lent() is not None for lent in self._lent) and monotonic() < latest:
            sleep(0.0005)


class _Handed:
    """What Arrow holds of a reader: gone when no thread will read any more."""

    closed = False

    def __init__(self, reader: _OpenReader) -> None:
        self._open = reader
        reader.lend(self)

    def read(self, size: int) -> memoryview:
        block = memoryview(self._open.read(size))
        self._open.lend(block)
        return block

    def close(self) -> None:
        self.closed = True


@atexit.register
def _end_all() -> None:
    for reader in tuple(OPEN):
        reader.close()


def _options(
    file: TextFile, empty: int, columns: Sequence[str], wanted: Sequence[str]
) -> dict[str, Any]:
    """How Arrow is to read a file."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # The last column is always read: a quote that is never closed ends there (`_check_end`).
    kinds = {columns[-1]: pa.binary()} | dict.fromkeys(wanted, pa.string())
    # An empty line is an empty cell where there is one column, and no row elsewhere.
    is_lone = len(columns) == 1
    return {
        "read_options": arrow_csv.ReadOptions(
            block_size=BLOCK_BYTES, skip_rows=empty if is_lone else 0
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=file.delimiter, newlines_in_values=True, ignore_empty_lines=not is_lone
        ),
        "convert_options": arrow_csv.ConvertOptions(
            include_columns=list(kinds), column_types=kinds, strings_can_be_null=False
        ),
    }


def _explained(error: Exception, file: TextFile, width: int) -> DataError:
    if "UTF8" in str(error):
        return file.wrong_encoding()
    is_cut = "straddling" in str(error)  # a row does not end in the block after its first
    for line, _, cells in _records(file, width):
        if is_cut and sum(len(cell.encode()) for cell in cells) > BLOCK_BYTES:
            return too_long(file, line)
        if len(cells) != width:
            hint = delimiter_hint([file.delimiter.join(cells)], file.delimiter) * (width == 1)
            return DataError(
                f"{file.label}, line {line}: the row has {counted(len(cells), 'cell')}, but the "
                f"header names {counted(width, 'column')}.",
                hint or f"quote cells that hold the delimiter {file.delimiter!r}.",
            )
    return DataError.unreadable(file.label, error)


def _check_end(file: TextFile, last_cell: bytes) -> None:
    """Refuse a quote that is never closed: all rows after it would be one cell, unseen."""
    if b"\n" in last_cell or b"\r" in last_cell:
        deque(_records(file, 0, strict=True), maxlen=0)


def _header(file: TextFile) -> tuple[int, list[str]]:
    """The number of empty lines before the header, and the names in it."""
    with file.records("surrogateescape" if file.is_utf8 else "strict") as records:
        try:
            first = islice(enumerate(records), BLOCK_BYTES)
            empty, cells = next(((index, cells) for index, cells in first if cells), (0, []))
        except csv.Error as error:
            raise DataError.unreadable(file.label, error) from None
        "".join(cells).encode()  # bytes that are not UTF-8 escape no further than here
    if not cells:
        raise DataError(
            f"{file.label} is empty: it has no header.", "the first line must name the columns."
        )
    if len(cells) > MAX_TEXT_COLUMNS:
        raise DataError(
            f"the header of {file.label} names {len(cells):,} columns, and at most "
            f"{MAX_TEXT_COLUMNS:,} can be read.",
            "write the columns that are needed to a file of their own.",
        )
    return empty, cells


def _lines_of(file: TextFile, width: int, rows: Sequence[int]) -> Mapping[int, int]:
    """The line (from 1) on which each of the rows (from 0) starts."""
    wanted = set(rows)
    line_of = {}
    for line, row, _ in _records(file, width):
        if row in wanted:
            line_of[row] = line
            if len(line_of) == len(wanted):
                break
    return line_of


def _records(
    file: TextFile, width: int, *, strict: bool = False
) -> Iterator[tuple[int, int, list[str]]]:
    """Each row below the header: the line it starts on, its number, its cells.

    A quote that is never closed is refused: at the end if ``strict``, else where its cell is longer
    than ``csv.field_size_limit()``.
    """
    row = -2  # the header is the next record
    line = 1
    with file.records("replace", strict=strict) as records:
        try:
            for cells in records:
                is_record = bool(cells) or (width == 1 and row >= -1)
                row += is_record
                if is_record and row >= 0:
                    yield line, row, cells or [""]
                line = records.line_num + 1
        except csv.Error as error:  # also of quotes that Arrow takes otherwise, if strict
            if not strict or "unexpected end" in str(error):
                raise DataError(
                    f"{file.label}, line {line}: the row does not end; it seems to open a quote "
                    "that is never closed.",
                    "close the quote, or write a quote inside a cell twice.",
                ) from None
