"""A folder for codes that do not fit in memory, gone when the work ends, however it ends.

Each run has a folder of its own beside a file that it keeps locked. The system drops the lock
of a process that dies, so what a killed run left behind can be told from what is in use: the
next run that wants a folder at the same place removes it first.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from lacunet.errors import LacunetError
from lacunet.memory import gibibytes

PREFIX = "lacunet-scratch-"
LOCK = ".lock"
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
    where = _place(parent)
    if not where.is_dir():
        raise ScratchError(
            f"there is no folder {str(where)!r} for scratch files.",
            "make it, or name another: scratch=... (--scratch).",
        )
    remove_leftovers(where)
    try:
        folder, lock = _made(where)
    except OSError as error:
        raise ScratchError(
            f"no scratch files can be written to {str(where)!r}: {error.strerror}.",
            "name another folder: scratch=... (--scratch).",
        ) from None
    try:
        yield folder
    finally:
        _removed(folder, lock)


def remove_leftovers(parent: str | os.PathLike[str] | None = None) -> None:
    """Remove the scratch folders of runs that were killed."""
    for path in _place(parent).glob(f"{PREFIX}*{LOCK}"):
        with suppress(OSError):
            lock = os.open(path, os.O_RDWR)
            if _is_locked_by_us(lock):
                _removed(path.with_suffix(""), lock)
            else:
                os.close(lock)


def _place(parent: str | os.PathLike[str] | None) -> Path:
    return Path(tempfile.gettempdir() if parent is None else parent)


def check_free(folder: Path, needed: float) -> None:
    """Refuse work whose scratch files will not fit on the disk."""
    free = shutil.disk_usage(folder).free - SPARE
    if needed > free:
        raise ScratchError(
            f"the scratch files need {gibibytes(needed)}, but {str(folder.parent)!r} has "
            f"{gibibytes(max(free, 0))} free.",
            "name a folder on a larger disk: scratch=... (--scratch), or raise the memory budget: "
            "memory=... (--memory).",
        )


def _made(where: Path) -> tuple[Path, int]:
    """A new folder and the descriptor of the locked file beside it."""
    while True:
        folder = where / f"{PREFIX}{uuid4().hex}"
        path = folder.with_suffix(LOCK)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        # Another run may have taken it for a leftover before it was locked.
        if _is_locked_by_us(lock) and path.exists():
            folder.mkdir(mode=0o700)
            return folder, lock
        os.close(lock)


def _removed(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)  # an open file cannot be removed everywhere
    if not folder.exists():  # else it is a leftover: the next run tries again
        folder.with_suffix(LOCK).unlink(missing_ok=True)


def _is_locked_by_us(descriptor: int) -> bool:
    """Lock a file, unless another process has locked it."""
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
