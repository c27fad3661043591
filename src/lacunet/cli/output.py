"""Where results go: what is refused as a place, and ``--report``, the result as a page."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterable
from glob import glob, has_magic
from typing import TYPE_CHECKING

from lacunet.atomic_files import where_instead
from lacunet.cli.options import OutputFile
from lacunet.cli.terminal import note
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from lacunet.show.pages.provenance import Provenance


PATH_ARGUMENTS = ("data", "files", "words")  # the arguments that may name folders
READ = ("network", "graph", "beside", "data")  # those that name what a page is made of


def keep_learned(write: Callable[[str], None], path: str) -> None:
    """Write what was learned; it must not be lost, so if that fails it goes elsewhere."""
    try:
        write(path)
    except LacunetError as error:
        saved = os.path.join(tempfile.mkdtemp(prefix="lacunet-"), "learned.json")
        write(saved)
        raise LacunetError(error.message, f"the learned network is in {saved}.") from None


def refuse_overwriting(options: Namespace, targets: Iterable[str] = ()) -> None:
    """Refuse an output that is an input or another output too, or that cannot be written.

    What the command writes are the arguments of the type `OutputFile`, and ``targets``; any other
    argument that names a file, a folder or a pattern may be read.
    """
    page = getattr(options, "report", None) or getattr(options, "page", None)
    if page:
        from lacunet.show.pages.kit import check_page_name

        check_page_name(page)

    outputs, read = _written_and_read(options)
    written_as: dict[str, str] = {}  # what was typed for each path
    for target in (*targets, *outputs):
        if os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target):
            continue  # a device or a pipe
        _refuse_unwritable(target)
        path = os.path.realpath(target)
        if any(_holds(file, path) for file in read):
            raise LacunetError(f"{target} is also an input file.", "write to another file.")
        if path in written_as:
            problem = f"two outputs share a path: {written_as[path]} and {target}."
            raise LacunetError(problem, "give each its own.")
        written_as[path] = target


def _written_and_read(options: Namespace) -> tuple[list[str], list[str]]:
    """The files that the arguments name as outputs, and all others that they may name."""
    written: list[str] = []
    read: list[str] = []
    for name, value in vars(options).items():
        for word in _strings(value):
            if isinstance(word, OutputFile):
                written.append(word)
            elif name in PATH_ARGUMENTS:
                read += _named(word)
            else:
                read += [path for path in _named(word) if os.path.isfile(path)]
    return written, read


def _strings(value: object) -> list[str]:
    """The strings in the value of an argument, those that a query quotes too."""
    if isinstance(value, str):
        return [value, *re.findall(r"'([^']+)'", value)] if " " in value else [value]
    if isinstance(value, list):
        return [word for word in value if isinstance(word, str)]
    return []


def _named(word: str) -> list[str]:
    """The files and folders that a word names, by itself or by a pattern."""
    try:
        if os.path.exists(word):
            return [word]
        return glob(word, recursive=True) if has_magic(word) else []
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return []


def _holds(file: str, path: str) -> bool:
    """Whether a path leads to the file, or to a data file that is in this folder already."""
    from lacunet.data.data_files import READER_OF_ENDING

    real = os.path.realpath(file)
    if not os.path.exists(path):
        return False
    if os.path.isdir(real):
        return os.path.commonpath([real, path]) == real and path.lower().endswith(
            tuple(READER_OF_ENDING)
        )
    return os.path.samefile(real, path)


def _refuse_unwritable(target: str) -> None:
    """Refuse a file in a folder that is not there; ``nowhere/../rows.csv`` is in none."""
    if os.path.isdir(target):
        raise LacunetError(f"{target} is a folder.", "name a file.")
    folder = os.path.dirname(target) or os.curdir
    if not os.path.isdir(folder):
        raise LacunetError(
            f"{target} cannot be written: there is no folder {folder}.", where_instead(target)
        )
    folder = os.path.dirname(os.path.realpath(target))
    if not os.access(folder, os.W_OK):
        raise LacunetError(
            f"{target} cannot be written: the folder {folder} does not allow it.", "name another."
        )


def deliver(
    options: Namespace,
    text: str,
    *writes: Callable[[], None],
    page: Callable[[Provenance], str] | None = None,
) -> None:
    """Write the files, and the page if one is asked for, then print the text.

    A pipe that is closed, or a full disk behind stdout, must not cost the files; so they come
    first. A file that cannot be written must not cost the text: the error is raised after it.
    """
    failed: list[LacunetError] = []
    all_writes = [*writes]
    if page and options.report:
        all_writes.append(lambda: keep_page(options.report, page(page_source(options))))
    for write in all_writes:
        try:
            write()
        except LacunetError as error:
            failed.append(error)
    print(text, flush=True)
    if failed:
        raise failed[0]


def page_source(options: Namespace) -> Provenance:
    """What was typed, without passwords, the files that the result rests on, and the seed."""
    from datetime import datetime

    from lacunet.data.databases import database_label
    from lacunet.data.select import without_secrets
    from lacunet.show.pages.provenance import provenance

    files: list[str] = []
    for name in READ:
        value = getattr(options, name, None) or []
        files += [value] if isinstance(value, str) else value
    data = list(getattr(options, "data", None) or ())
    database = getattr(options, "database", None)
    label = database_label(database)
    words = [word.replace(database, label) if database else word for word in sys.argv[1:]]
    return provenance(
        datetime.now().astimezone(),
        [without_secrets(word) for word in words],
        files,
        seed=getattr(options, "seed", None),
        network=next((name for name in files if name not in data), ""),
        data=data or ([label or "a query"] if getattr(options, "sql", None) else []),
    )


def keep_page(path: str, text: str) -> None:
    """Write the page, and say where it is."""
    from lacunet.show.pages.kit import write_page

    write_page(path, text)
    note(f"the page is in {path}")
