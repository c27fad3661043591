"""Rows on the disk as codes, for tables that memory does not hold.

A file is an Arrow stream: one column of small integers for each variable, in the table's order,
then the weights and the copies, where the rows have them.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.scratch import ScratchError
from lacunet.data.table import Copies, EncodedTable, code_type

EXTRA_BYTES = 8  # of a weight, a number of copies, a sum of squares


@dataclass(frozen=True)
class Coded:
    """Rows in files of codes, in the order of the files; they can be read again and again."""

    cardinality_of: Mapping[str, int]
    paths: tuple[Path, ...]
    rows: int

    def tables(self, most: int, _told: object = None) -> Iterator[EncodedTable]:
        """The rows, at most so many at a time."""
        held: list[Any] = []
        rows = 0
        for batch in self._batches(most):
            if held and rows + len(batch) > most:
                yield self._table(held)
                held, rows = [], 0
            held.append(batch)
            rows += len(batch)
        if held:
            yield self._table(held)

    def removed(self) -> None:
        """Give the room on the disk back."""
        for path in self.paths:
            path.unlink(missing_ok=True)

    def _batches(self, most: int) -> Iterator[Any]:
        import pyarrow as pa

        for path in self.paths:
            with pa.OSFile(str(path)) as file:
                for batch in pa.ipc.open_stream(file):
                    for start in range(0, batch.num_rows, most):
                        yield batch.slice(start, most)

    def _table(self, batches: Sequence[Any]) -> EncodedTable:
        whole = [
            np.concatenate([values_of(batch.column(at)) for batch in batches])
            for at in range(batches[0].num_columns)
        ]
        columns = dict(zip(self.cardinality_of, whole, strict=False))
        extras = whole[len(columns) :]
        weights = extras[0] if extras else None
        copies = Copies(extras[1], extras[2]) if len(extras) > 1 else None
        return EncodedTable.of(self.cardinality_of, columns, weights, copies=copies)


def row_bytes(cardinality_of: Mapping[str, int], extras: int) -> int:
    """What a row takes as codes, with so many numbers beside them."""
    codes = sum(np.dtype(code_type(size)).itemsize for size in cardinality_of.values())
    return codes + EXTRA_BYTES * extras


@dataclass
class CodeWriter:
    """Writes rows to a file of codes; the file is there once something was written."""

    path: Path
    cardinality_of: Mapping[str, int]
    rows: int = 0
    _writer: Any = field(default=None, repr=False)

    def append(self, table: EncodedTable) -> None:
        """Write some more rows."""
        import pyarrow as pa

        extras = [] if table.weights is None else [table.weights]
        extras += [] if table.copies is None else [table.copies.rows, table.copies.squares]
        arrays = [array_of(column) for column in (*table.columns.values(), *extras)]
        batch = pa.record_batch(arrays, names=[str(at) for at in range(len(arrays))])
        try:
            if self._writer is None:
                self._writer = pa.ipc.new_stream(str(self.path), batch.schema)
            self._writer.write_batch(batch)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        self.rows += table.rows

    def finished(self) -> Coded:
        """The file, once all rows are written."""
        if self._writer is not None:
            try:
                self._writer.close()
            except OSError as error:
                raise _unwritable(self.path, error) from None
        return Coded(self.cardinality_of, (self.path,) if self.rows else (), self.rows)

    def __enter__(self) -> CodeWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            with suppress(OSError):  # what was written is of no use any more, or closed already
                self._writer.close()


def array_of(values: NDArray[Any]) -> Any:
    """An Arrow array over the bytes of another; ``pa.array`` would import pandas."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(
        kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
    )


def values_of(array: Any) -> NDArray[Any]:
    """The numbers of an Arrow array without nulls."""
    kind = array.type.to_pandas_dtype()
    stop = array.offset + len(array)
    return np.frombuffer(array.buffers()[1], kind, stop)[array.offset :]


def _unwritable(path: Path, error: OSError) -> ScratchError:
    full = error.errno == errno.ENOSPC
    return ScratchError(
        f"the scratch files in {str(path.parent)!r} cannot be written: "
        f"{'the disk is full' if full else error}.",
        "name a folder on a larger disk: scratch=... (--scratch).",
    )
