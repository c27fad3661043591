"""Outcomes on disk as they come: one line of JSON each, only ever appended.

A line is written in one piece and forced to the disk before the next cell's outcome is
taken. A run that is killed can tear at most the last line; it is dropped when the journal is
opened again, and its cell is run again. No other line is ever touched.

A folder keeps the results of one study; what would mix with them is refused.

Tables average over the repetitions of a place. That is a mean of like things only if they come
from one study, one seed, one number of test rows, and one network of each name.

On what, and by which version, the numbers were made.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from lacunet.experiments.errors import ExperimentError
from lacunet.experiments.paper.studies import Study
from lacunet.experiments.runner.outcomes import Outcome, as_plain
from lacunet.memory import available

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


FILE = "study.json"


def keep_to_purpose(study: Study, folder: Path) -> None:
    """Note what the folder is for, or refuse a study that is not what it is for."""
    kept = _kept(folder)
    networks: dict[str, str] = dict(kept.get("networks", {}))
    for source in study.networks:
        if networks.setdefault(source.name, source.key) != source.key:
            raise ExperimentError.another_network(folder, source.name)
    wanted = {"study": study.name, "seed": study.seed, "test_rows": study.test_rows}
    for name, value in wanted.items():
        if kept.get(name, value) != value:
            raise ExperimentError.another_purpose(folder, name, kept[name], value)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps({**wanted, "networks": networks}, indent=1) + "\n")
    except OSError as error:
        raise ExperimentError.folder(folder, error) from None


def _kept(folder: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads((folder / FILE).read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise ExperimentError.broken_line(folder / FILE, 1) from None
    return kept


@cache
def version() -> str:
    """The versions that can matter to a result."""
    import numpy as np

    from lacunet import __version__

    return f"lacunet {__version__}, numpy {np.__version__}, python {platform.python_version()}"


@cache
def machine() -> str:
    """The processor, how many of its cores there are, and the memory."""
    cores = os.cpu_count() or 1
    return f"{_processor()}, {cores} cores, {_memory_gib():.0f} GiB, {platform.system()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory_gib() -> float:
    return available() / 2**30
