"""Rows on the disk as codes, for tables that memory does not hold.

A file is an Arrow stream: one column of small integers for each variable, in the table's order,
then the weights, the copies, the strata and clusters as dictionaries of labels, and the replicate
weights, where the rows have them.

The files are in a folder that is gone when the work ends, however it ends. Each run has a folder
of its own beside a file that it keeps locked. The system drops the lock of a process that dies,
so what a killed run left behind can be told from what is in use: the next run on the same machine
that wants a folder at the same place removes it first. Where files cannot be locked there is only
the folder, and a warning.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from glob import glob
from pathlib import Path
from platform import node
from typing import Any
from uuid import uuid4

import numpy as np

from lacunet.data.encode import array_of, label_column, text_array, values_of
from lacunet.data.table import (
    Copies,
    Design,
    EncodedTable,
    Labels,
    code_type,
    in_tables,
    share_equal_arrays,
)
from lacunet.errors import LacunetError, warn
from lacunet.limits import gibibytes
from lacunet.network.network import FloatArray

LONGEST_MACHINE_NAME = 1000  # bytes
PREFIX = "lacunet-scratch-"
LOCK = ".lock"
ANOTHER_FOLDER = (
    "let the environment variable TMPDIR name a folder on a large disk, or raise the memory "
    "budget: memory=... (--memory)."
)
SPARE = 2**26  # bytes of a disk that are left to others


class ScratchError(LacunetError):
    """The codes cannot be put on the disk."""


@contextmanager
def scratch_folder(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """An empty folder within ``parent`` (by default the system's folder for temporary files).

    Raises
    ------
    ScratchError
        There is no such folder, or it cannot be written to.
    """
    where = _parent_folder(parent)
    remove_leftovers(where)
    folder = where / f"{PREFIX}{uuid4().hex}"
    try:
        lock = _locked(folder.with_suffix(LOCK))
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise ScratchError(
            f"no scratch files can be written to {str(where)!r}: {error.strerror}.",
            ANOTHER_FOLDER,
        ) from None
    try:
        if lock is None:
            warn(
                f"files in {str(where)!r} cannot be locked: if this run is killed, nobody will "
                f"remove {str(folder)!r}; the environment variable TMPDIR names another folder."
            )
        yield folder
    finally:
        _remove(folder, lock)


def remove_leftovers(parent: str | os.PathLike[str] | None = None) -> None:
    """Remove the scratch folders of runs on this machine that were killed."""
    folder = _parent_folder(parent)
    for name in glob(f"{PREFIX}*{LOCK}", root_dir=folder):
        with suppress(OSError):  # it is gone, or not for us to read
            _remove_leftover(folder / name)


def _remove_leftover(lock_file: Path) -> None:
    """Remove the folder of a lock file that nobody holds, if this machine has made it."""
    descriptor = os.open(lock_file, os.O_RDWR)
    try:
        machine = os.read(descriptor, LONGEST_MACHINE_NAME).decode().split()
    except OSError:  # on Windows, where a run that holds the lock is alive
        os.close(descriptor)
        return
    # Locks of another machine may not be seen here, though the folder is shared.
    is_ours = not _this_machine().isdisjoint(machine)
    if is_ours and _try_lock(descriptor):
        _remove(lock_file.with_suffix(""), descriptor)
    else:
        os.close(descriptor)


def _parent_folder(parent: str | os.PathLike[str] | None) -> Path:
    return Path(tempfile.gettempdir() if parent is None else parent)


def check_free(folder: Path, needed: float) -> None:
    """Refuse work whose scratch files will not fit on the disk."""
    free = shutil.disk_usage(folder).free - SPARE
    if needed > free:
        raise ScratchError(
            f"the scratch files need {gibibytes(needed)}, but {str(folder.parent)!r} has "
            f"{gibibytes(max(free, 0))} free.",
            ANOTHER_FOLDER,
        )


def _locked(path: Path) -> int | None:
    """The descriptor of a new file that is locked; None, and no file, where files cannot be.

    The file says whose it is once it is locked. While it is empty nobody takes it for a leftover.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    if _try_lock(descriptor):
        os.write(descriptor, " ".join(sorted(_this_machine())).encode())
        return descriptor
    os.close(descriptor)
    path.unlink(missing_ok=True)
    return None


def _try_lock(descriptor: int) -> bool:
    """Lock a file; false where another process has locked it, or files cannot be locked.

    Lustre, some NFS and FUSE have no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@cache
def _this_machine() -> frozenset[str]:
    """Names of this machine: containers on it share one, and it keeps the other when restarted."""
    names = {node() or "unnamed"}
    with suppress(OSError):
        names.add(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    return frozenset(names)


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is None:
        return
    os.close(lock)  # an open file cannot be removed everywhere
    if not folder.exists():  # else it is a leftover: the next run tries again
        folder.with_suffix(LOCK).unlink(missing_ok=True)


EXTRA_BYTES = 8  # of a weight, a number of copies, a sum of squares; a label takes less
WEIGHT = "weight"
ROWS = "rows"
SQUARES = "squares"
STRATUM = "stratum"
CLUSTER = "cluster"
REPLICATE = "replicate"
FACTORS = b"factors"
SETS = b"sets"


@dataclass(frozen=True)
class Coded:
    """Rows in files of codes, in the order of the files; they can be read again and again."""

    cardinality_of: Mapping[str, int]
    paths: tuple[Path, ...]
    rows: int

    def tables(self, most: int, _told: object = None) -> Iterator[EncodedTable]:
        """The rows, at most so many at a time."""
        return in_tables(map(self._table, self._batches()), most)

    def removed(self) -> None:
        """Give the room on the disk back."""
        for path in self.paths:
            path.unlink(missing_ok=True)

    def _batches(self) -> Iterator[Any]:
        import pyarrow as pa

        for path in self.paths:
            with pa.OSFile(str(path)) as file:
                yield from pa.ipc.open_stream(file)

    def _table(self, batch: Any) -> EncodedTable:
        kept = batch.schema.metadata or {}
        factors = np.frombuffer(kept[FACTORS], np.float64) if FACTORS in kept else None
        columns = {
            name: values_of(batch.column(index)) for index, name in enumerate(self.cardinality_of)
        }
        sets = json.loads(kept.get(SETS, b"{}"))
        return EncodedTable(
            self.cardinality_of,
            columns,
            sets_of={name: tuple(map(tuple, state_sets)) for name, state_sets in sets.items()},
            **beside_codes(batch, factors),
        )


def beside_codes(batch: Any, factors: FloatArray | None) -> dict[str, Any]:
    """The weights, copies and design of a table that a record batch holds beside the codes."""
    names = batch.schema.names

    def numbers(name: str) -> FloatArray:
        return values_of(batch.column(name))

    def labels(name: str) -> Labels | None:
        return label_column(batch.column(name)) if name in names else None

    design = None
    replicates = [numbers(name) for name in names if name.startswith(REPLICATE)]
    if replicates or STRATUM in names or CLUSTER in names:
        design = Design(
            strata=labels(STRATUM),
            clusters=labels(CLUSTER),
            replicates=np.stack(replicates, axis=1) if replicates else None,
            factors=factors,
        )
    weights = numbers(WEIGHT) if WEIGHT in names else None
    copies = None
    if weights is not None and ROWS in names:
        weights, rows, squares = share_equal_arrays(weights, numbers(ROWS), numbers(SQUARES))
        copies = Copies(rows, squares)
    return {"weights": weights, "copies": copies, "design": design}


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

        codes = {str(index): array_of(codes) for index, codes in enumerate(table.columns.values())}
        columns = codes | extras_of(table)
        kept = {SETS: json.dumps(table.sets_of).encode()} if table.sets_of else {}
        if table.design is not None and table.design.factors is not None:
            kept[FACTORS] = table.design.factors.tobytes()
        batch = pa.record_batch(list(columns.values()), names=list(columns), metadata=kept or None)
        with _written_to(self.path):
            if self._writer is None:
                self._writer = pa.ipc.new_stream(str(self.path), batch.schema)
            self._writer.write_batch(batch)
        self.rows += table.rows

    def finished(self) -> Coded:
        """The file, once all rows are written."""
        if self._writer is not None:
            with _written_to(self.path):
                self._writer.close()
        return Coded(self.cardinality_of, (self.path,) if self.rows else (), self.rows)

    def __enter__(self) -> CodeWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            with suppress(OSError):  # what was written is of no use any more, or closed already
                self._writer.close()


def extras_of(table: EncodedTable) -> dict[str, Any]:
    """What goes with the rows beside their codes, by name."""
    import pyarrow as pa

    extras = {} if table.weights is None else {WEIGHT: array_of(table.weights)}
    if table.copies is not None:
        extras |= {ROWS: array_of(table.copies.rows), SQUARES: array_of(table.copies.squares)}
    if table.design is None:
        return extras
    for name, grouping in ((STRATUM, table.design.strata), (CLUSTER, table.design.clusters)):
        if grouping is not None:
            codes = array_of(grouping.codes)
            labels = text_array(grouping.labels)
            extras[name] = pa.DictionaryArray.from_arrays(codes, labels)
    if table.design.replicates is not None:
        columns = enumerate(table.design.replicates.T)
        extras |= {f"{REPLICATE}{index}": array_of(column) for index, column in columns}
    return extras


@contextmanager
def _written_to(path: Path) -> Iterator[None]:
    """What goes wrong while a file is written, in words."""
    try:
        yield
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error
        raise ScratchError(
            f"the scratch files in {str(path.parent)!r} cannot be written: {reason}.",
            ANOTHER_FOLDER,
        ) from None
