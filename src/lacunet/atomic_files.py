"""A file that appears whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO
from uuid import uuid4

from lacunet.text import in_shell


@contextmanager
def replacing(path: str | os.PathLike[str], follow_links: bool = True) -> Iterator[IO[bytes]]:
    """A file that takes the place of the one at ``path`` once all is written, or else vanishes.

    A link stays a link: what it leads to is replaced. The mode of a file that was there holds
    from the first byte, and one that must not be written is not replaced. A device or a pipe is
    written to.
    Without ``follow_links`` whatever has the name is replaced, a link too.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    mode = _mode_of(path, follow_links)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            yield file
        return
    folder = os.path.dirname(path) or os.curdir
    if not os.path.isdir(folder):  # realpath would take nowhere/../rows.csv for rows.csv
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}")
    target = Path(os.path.realpath(path) if follow_links else path)
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(f"the file {target} is read-only")
    draft = target.with_name(f".{uuid4().hex}.part")
    try:
        with open(draft, "xb", opener=partial(_opened, mode=mode)) as file:
            yield file
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _mode_of(path: str | os.PathLike[str], follow_links: bool) -> int | None:
    """The mode of what is there; of links that are not followed, and of nothing, None."""
    try:
        mode = os.stat(path, follow_symlinks=follow_links).st_mode
    except OSError:
        return None
    is_kept = follow_links or stat.S_ISREG(mode)
    return mode if is_kept else None


def _opened(path: str, flags: int, mode: int | None) -> int:
    """Open a file that has a mode before anything is in it; None for that of any new file."""
    if mode is None:
        return os.open(path, flags, 0o666)
    # At first for its owner alone; nobody can read more of it later than may read all of it.
    descriptor = os.open(path, flags, 0o600)
    os.chmod(path, stat.S_IMODE(mode))
    return descriptor


@contextmanager
def writing_to(
    path: str | os.PathLike[str], refusal: Callable[[str, str], Exception]
) -> Iterator[IO[bytes]]:
    """As `replacing`; an error made by ``refusal`` says why the file cannot be written."""
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        reason = error.strerror or error
        raise refusal(f"{path} cannot be written: {reason}.", where_instead(path)) from None


def where_instead(path: str | os.PathLike[str]) -> str:
    """What to do about a file that cannot be written.

    >>> where_instead("nowhere/rows.csv")
    'make the folder (mkdir nowhere), or name another.'
    """
    folder = os.path.dirname(path) or os.curdir
    if os.path.isdir(folder):
        return "name another file."
    return f"make the folder (mkdir {in_shell(folder)}), or name another."
