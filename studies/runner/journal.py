"""A run's folder: outcomes as they come, what the folder is for, and files that replace others.

Outcomes are lines of JSON, only ever appended. A line is written in one piece and forced to the
disk before the next cell's outcome is taken. A run that is killed can tear at most the last
line; it is dropped when the journal is opened again, and its cell is run again. No other line
is ever touched.

A folder keeps the results of one study. Tables average over the repetitions of a place: that
is a mean of like things only if they come from one study, one seed, one number of test rows,
one way of drawing problems, and one network of each name. What would mix is refused.

What is read from a folder is not trusted: somebody else may have written it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from lacunet.atomic_files import replacing
from studies.errors import StudyError
from studies.paper.studies import Study
from studies.problems.sources import Source
from studies.runner.outcomes import Outcome, as_plain, parsed_outcome

NAME = "cells.jsonl"
PURPOSE = "study.json"
DRAWING = 2  # 1 drew the mechanisms anew for every size, and one variable of Alarm fewer


@dataclass(frozen=True)
class Journal:
    """The open journal of a run, and the outcomes that were in it."""

    file: IO[bytes]
    finished: dict[str, Outcome]

    def append(self, outcome: Outcome) -> None:
        """Keep an outcome, for good."""
        self.file.write(json.dumps(as_plain(outcome)).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.finished[outcome.key] = outcome


@contextmanager
def journal_in(folder: Path) -> Iterator[Journal]:
    """Open the journal of a folder for this run alone; drop a torn last line."""
    text = _content(folder / NAME)  # refuses what is not a plain file
    try:
        file = (_ensured(folder) / NAME).open("ab")
    except OSError as error:
        raise StudyError.folder(folder, error) from None
    with file:
        _lock(file, folder)
        text = _content(folder / NAME)
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            file.truncate(len(whole))
        yield Journal(file, _parsed(whole, folder / NAME))


def read_journal(folder: Path) -> dict[str, Outcome]:
    """The outcomes in a folder, by key, in the order they came; the folder is not touched."""
    text = _content(folder / NAME)
    return _parsed(text[: text.rfind(b"\n") + 1], folder / NAME)


def restore(study: Study, folder: Path, results: Path) -> int:
    """Put the outcomes of a table of results into a folder, but for cells that it has itself.

    Returns
    -------
    How many were put there.
    """
    from pyarrow import parquet

    rows = parquet.read_table(results).to_pylist()
    keep_to_purpose(study, folder)
    with journal_in(folder) as journal:
        published = [parsed_outcome(json.dumps(row).encode()) for row in rows]
        fresh = [outcome for outcome in published if outcome.key not in journal.finished]
        for outcome in fresh:
            journal.append(outcome)
    return len(fresh)


def last_result(folder: Path) -> datetime:
    """When the last outcome of a folder was written."""
    return datetime.fromtimestamp((folder / NAME).stat().st_mtime).astimezone()


def _content(path: Path) -> bytes:
    """What a plain file holds, nothing if there is none; a link, FIFO or device is refused."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise StudyError(f"{path} is not a plain file.", "name another folder with -o.")
        return path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise StudyError.folder(path.parent, error) from None


def _parsed(text: bytes, path: Path) -> dict[str, Outcome]:
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            outcome = parsed_outcome(line)
        except (ValueError, TypeError, RecursionError) as error:
            raise StudyError(
                f"{path}, line {number}: this is not a result ({str(error)[:200]}).",
                "only the last line of a run that was killed may be torn; something else has "
                "changed this file.",
            ) from None
        found[outcome.key] = outcome
    return found


def _lock(file: IO[bytes], folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # a system without it: two runs in one folder are the user's care
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise StudyError(
            f"another run is writing to {folder}.", "wait for it, or name another folder with -o."
        ) from None


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in place of whatever has its name, a link too, in one step."""
    try:
        with replacing(path, follow_links=False) as file:
            file.write(content)
    except OSError as error:
        raise StudyError.folder(path.parent, error) from None


def _ensured(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError.folder(folder, error) from None
    return folder


def keep_to_purpose(study: Study, folder: Path) -> None:
    """Note what the folder is for, or refuse a study that is not what it is for."""
    kept = _kept(folder)
    networks: dict[str, str] = dict(kept.get("networks", {}))
    for source in study.networks:
        if networks.setdefault(source.name, source.key) != source.key:
            raise StudyError(
                f"two different networks are called {source.name!r} here or in {folder}: their "
                "results would be averaged.",
                "rename one of the files, or name another folder with -o.",
            )
    wanted = {
        "study": study.name,
        "seed": study.seed,
        "test_rows": study.test_rows,
        "drawing": DRAWING,
    }
    _check_same(kept, wanted, folder)
    content = json.dumps({**wanted, "networks": networks}, indent=1) + "\n"
    replace_file(_ensured(folder) / PURPOSE, content.encode())


def kept_study(study: Study, folder: Path) -> Study:
    """The study as a folder has it: its seed, its number of test rows, its networks."""
    kept = _kept(folder)
    if not kept:
        raise StudyError.no_results(folder)
    _check_same(kept, {"study": study.name}, folder)
    return replace(
        study,
        seed=kept["seed"],
        test_rows=kept["test_rows"],
        networks=tuple(map(Source, kept["networks"])),
    )


def _check_same(kept: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    for name, value in wanted.items():
        if kept and kept[name] != value:
            raise StudyError(
                f"{folder} keeps results with {name.replace('_', ' ')} {kept[name]!r}, not "
                f"{value!r}: they would be averaged.",
                "name another folder with -o.",
            )


def _kept(folder: Path) -> dict[str, Any]:
    """What the folder is for, as its file says; nothing where there is no such file."""
    text = _content(folder / PURPOSE)
    if not text:
        return {}
    try:
        kept = {"drawing": 1, **json.loads(text)}
        numbers = [kept[name] for name in ("seed", "test_rows", "drawing")]
        names = [kept["study"], *kept["networks"], *kept["networks"].values()]
        if not all(type(n) is int for n in numbers) or not all(type(n) is str for n in names):
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise StudyError(
            f"{folder / PURPOSE} does not say what this folder is for.",
            "something has changed this file; name another folder with -o.",
        ) from None
    return kept
