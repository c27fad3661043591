"""Outcomes on disk as they come: one line of JSON each, only ever appended.

A line is written in one piece and forced to the disk before the next cell's outcome is
taken. A run that is killed can tear at most the last line; it is dropped when the journal is
opened again, and its cell is run again. No other line is ever touched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lacunet.experiments.errors import ExperimentError
from lacunet.experiments.outcomes import Outcome, as_plain

NAME = "cells.jsonl"


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / NAME).open("ab")
    except OSError as error:
        raise ExperimentError.folder(folder, error) from None
    with file:
        _lock(file, folder)
        text = (folder / NAME).read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            file.truncate(len(whole))
        yield Journal(file, _parsed(whole, folder / NAME))


def read_journal(folder: Path) -> dict[str, Outcome]:
    """The outcomes in a folder, by key, in the order they came; the folder is not touched."""
    path = folder / NAME
    if not path.exists():
        return {}
    text = path.read_bytes()
    return _parsed(text[: text.rfind(b"\n") + 1], path)


def _parsed(text: bytes, path: Path) -> dict[str, Outcome]:
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            outcome = Outcome(**json.loads(line))
        except (ValueError, TypeError):
            raise ExperimentError.broken_line(path, number) from None
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
        raise ExperimentError.in_use(folder) from None
