"""Which parts of the data statistics were counted from, so that none is counted twice.

A part is what one run of ``lacunet count`` counted. Its identifier is a hash of its name and of
what was counted; however the rows come, in whatever order and tables, it is the same. So a file
that is counted again, copied, linked, or held already by a sum, is recognised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from lacunet.data.given import Data
from lacunet.statistics.distinct import BLOCK_ROWS
from lacunet.statistics.errors import CountedTwiceError
from lacunet.statistics.problems.ragged import hash64
from lacunet.wording import counted

STDIN = "-"
MOST_NOTES = 20  # on parts, which may be many
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)


@dataclass(frozen=True)
class CountedPart:
    """What was counted at one time.

    ``name`` are the files that were read, or what the user called it (``is_named``); ``notes``
    what the user should know of how they were read, ``latent`` the variables that have no column.
    What its statistics do not keep: the strata, clusters or replicate weights of the data
    (``is_designed``) and, where families alone were counted, the states that cells are one of
    (``cells_of_sets``: how many cells of each variable were taken as missing).
    """

    id: str
    name: str
    rows: int
    is_named: bool = False
    is_designed: bool = False
    cells_of_sets: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    latent: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name or 'a part without a name'} ({counted(self.rows, 'row')}, {self.id})"


Block = tuple[CountedPart, ...]  # parts that were added up; they can be told apart no longer


def notes_on(parts: Sequence[CountedPart]) -> tuple[str, ...]:
    """What the user should know of the data that were counted, part by part.

    What several parts say in the same words is said once, with their number.
    """
    holders_of: dict[str, list[CountedPart]] = {}
    for part in parts:
        for note in part.notes:
            holders_of.setdefault(note, []).append(part)
    notes = []
    for note, holders in holders_of.items():
        where = f"in {holders[0].name or 'a part without a name'}: "
        if len(holders) > 1:
            where = f"in each of {len(holders)} parts: "
        notes.append(note if len(parts) == 1 else where + note)
    if left := notes[MOST_NOTES:]:
        notes[MOST_NOTES:] = [f"{counted(len(left), 'more note')} on single parts."]
    return (*notes, *design_notes(parts))


def design_notes(parts: Iterable[CountedPart]) -> tuple[str, ...]:
    """What the user should know where the data had a design, which statistics do not keep."""
    if not any(part.is_designed for part in parts):
        return ()
    return (
        "statistics keep no strata, clusters and replicate weights: intervals and tests from them "
        "take rows as independent.",
    )


def name_of(data: Any, given: str | None) -> str:
    """What a part is called: as the user says, or by the files that were read."""
    if given is not None:
        return given
    paths = data.source if isinstance(data, Data) else data
    several = [paths] if isinstance(paths, str | PathLike) else paths
    if not isinstance(several, list | tuple) or not all(
        isinstance(path, str | PathLike) for path in several
    ):
        return ""
    names = [PurePath(fspath(path)).name for path in several]
    return ", ".join(name for name in names if name != STDIN)


@dataclass
class Fingerprint:
    """A hash of rows that are added in any order and any grouping."""

    sums: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, columns: Collection[NDArray[Any]], rows: NDArray[Any]) -> None:
        """Add configurations, each with the number of rows that show it."""
        salts = _spread(np.arange(1, 1 + len(columns), dtype=np.uint64))
        for start in range(0, len(rows), BLOCK_ROWS):  # which stay in the processor's cache
            block = slice(start, start + BLOCK_ROWS)
            copies = rows[block].astype(np.uint64)
            packed = np.full(len(copies), salts.sum())
            for column, salt in zip(columns, salts, strict=True):
                packed += column[block].astype(np.uint64) * salt
            for index, multiplier in enumerate(MULTIPLIERS):
                hashes = _spread(packed ^ np.uint64(multiplier)) * copies
                self.sums[index] = (self.sums[index] + int(hashes.sum())) % 2**64

    def part(self, name: str, *, rows: int, total: float, is_named: bool) -> CountedPart:
        """The part that was added; what is not kept of its data has no place in its identifier."""
        text = f"{name}\n{self.sums}\n{rows}\n{total:.9g}"
        return CountedPart(sha256(text.encode()).hexdigest()[:16], name, rows, is_named)


def unnamed_part(rows: int) -> CountedPart:
    """A part of rows that no file holds: it is equal to no other."""
    return CountedPart(uuid4().hex[:16], "", rows)


def _spread(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of a value spread over all; a salt of -1 adds nothing."""
    return hash64(values * np.uint64(MULTIPLIERS[0]), salt=-1)


def check_distinct(holders: Sequence[tuple[str, Sequence[Block]]]) -> tuple[str, ...]:
    """Refuse parts that several holders have; notes on those that only share a name.

    Parameters
    ----------
    holders
        What each is called in an error, and what it holds.

    Raises
    ------
    CountedTwiceError
        A part is there more than once, or two have the name that the user gave.
    """
    notes: list[str] = []
    by_id: dict[str, str] = {}
    by_name: dict[str, tuple[str, bool]] = {}
    for label, blocks in holders:
        for part in (part for block in blocks for part in block):
            where, is_named = by_name.get(part.name, (label, False))
            if part.id in by_id or (part.name in by_name and (part.is_named or is_named)):
                raise CountedTwiceError(
                    f"{part} is in {by_id.get(part.id, where)} and in {label}: its rows would "
                    "count twice.",
                    "leave one out, or let the later one replace the earlier: merge --replace. "
                    "Parts that only look alike are told apart by count --part NAME.",
                )
            if part.name and part.name in by_name:
                notes.append(
                    f"{where} and {label} both hold a part called {part.name}, with different "
                    "contents; if one corrects the other, merge with --replace"
                )
            by_id[part.id] = label
            if part.name:
                by_name[part.name] = (label, part.is_named)
    return tuple(notes)


def replaced(holders: Sequence[tuple[str, Sequence[Block]]]) -> list[list[bool]]:
    """Which blocks of each holder stay if later parts replace those of earlier holders.

    Raises
    ------
    CountedTwiceError
        A part that should be replaced was added up with others.
    """
    stays: list[list[bool]] = []
    ids: set[str] = set()
    names: set[str] = set()
    for label, blocks in reversed(holders):
        stays.insert(0, [])
        for block in blocks:
            again = [part for part in block if part.id in ids or part.name in names]
            if again and len(again) < len(block):
                raise CountedTwiceError(
                    f"{again[0]} cannot be replaced: {label} holds it added up with other parts.",
                    "merge the parts again, without --sum.",
                )
            stays[0].append(not again)
        ids |= {part.id for block in blocks for part in block}
        names |= {part.name for block in blocks for part in block if part.name}
    return stays
