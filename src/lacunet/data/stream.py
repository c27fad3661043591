"""Rows that are read when they are wanted, as often as they are: tables of bounded size.

`Unread` rows come through the door each time; `lacunet.data.scratch_rows.Coded` rows have been
through it and are codes on the disk. What cannot be read twice, or does not tell beforehand which
variables are ever missing, is read once: into memory while it fits, else onto the disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from lacunet.data.batches import Door
from lacunet.data.column_rules import Reading
from lacunet.data.errors import DataError
from lacunet.data.read import ReadReport
from lacunet.data.scratch_rows import Coded, CodeWriter, row_bytes
from lacunet.data.source_parts import DataSource
from lacunet.data.table import EncodedTable, in_tables
from lacunet.network.network import Scope
from lacunet.progress import Progress, silent

TEXT_BYTES = 2  # of a cell in a text file, at least; a byte of code comes of it


class Stretch(Protocol):
    """Rows that can be read again and again, in the same order."""

    def tables(self, most: int, read_report: ReadReport) -> Iterator[EncodedTable]:
        """The rows, at most so many at a time; ``read_report`` takes in what is met on the way."""
        ...


@dataclass(frozen=True)
class Unread:
    """Rows that come through the door."""

    reading: Reading

    def tables(self, most: int, read_report: ReadReport) -> Iterator[EncodedTable]:
        """The rows, at most so many at a time."""
        own_report = ReadReport()
        yield from in_tables(Door(self.reading, own_report).batches(), most)
        read_report.add(own_report)


def forecast_bytes(reading: Reading) -> float:
    """What the rows will take as codes: as counted, by the bytes of text files, or infinity."""
    source = reading.source
    if source.rows is not None:
        return source.rows * row_bytes(reading.network.cardinality_of, reading.data.extras)
    if any(part.size is None for part in source.parts):
        return inf
    return sum(part.size or 0 for part in source.parts) / TEXT_BYTES


def missing_by_footers(reading: Reading, progress: Progress) -> Scope | None:
    """The variables that are ever missing, if the files tell of nulls; None if they do not.

    A column without nulls may hold strings that mean missing, or values that are taken as such, and
    nulls under a rule may be questions that were not asked: such columns are read to find out, all
    others are not.
    """
    network, data = reading.network, reading.data
    is_any = data.unknown == "missing" or bool(data.missing_anywhere)
    doubtful = {v for v in reading.column_of if is_any or v in network.codes_of}
    missing = set(data.latent)
    for part in reading.source.parts:
        nulls = part.nulls and part.nulls(tuple(reading.column_of.values()))
        if nulls is None:
            return None
        doubtful |= {v for v, column in reading.column_of.items() if nulls[column] is None}
        missing |= {v for v, column in reading.column_of.items() if nulls[column]}
    ruled = network.not_asked_of.keys()
    missing -= ruled
    missing |= _ever_missing(reading, (doubtful | ruled) - missing, progress)
    return tuple(name for name in network.variables if name in missing)


def _ever_missing(reading: Reading, names: set[str], progress: Progress) -> set[str]:
    """Those of some variables that are ever missing; only their columns are read.

    Where files tell the values of columns, only those with a value that means missing, or a rule.
    """
    ruled = names & reading.network.not_asked_of.keys()
    plain = names - ruled
    if plain and all(part.values for part in reading.source.parts):
        narrow = _with_variables(reading, plain)
        parts = (replace(p, read=p.values, size=None) for p in narrow.source.parts if p.values)
        with suppress(DataError):  # which could not name the row: reading all rows does
            plain = _missing_in(replace(narrow, source=DataSource(tuple(parts))), silent)
    names = plain | ruled
    if names:
        return names & _missing_in(_with_variables(reading, names), progress)
    return set()


def _with_variables(reading: Reading, names: set[str]) -> Reading:
    """The same for some variables, and those of their rules, without weights and promises.

    All others are missing in every row.
    """
    rules = reading.network.not_asked_of
    needed = set(names)
    for name in reversed(reading.network.order):
        needed |= {*rules[name].scope} if name in needed and name in rules else set()
    return replace(
        reading,
        column_of={name: column for name, column in reading.column_of.items() if name in needed},
        data=replace(reading.data.every_row(), latent=(), fully_observed=()),
        sampler=None,  # which is to see all columns
    )


def _missing_in(reading: Reading, progress: Progress) -> set[str]:
    """The variables with a column that some row does not show."""
    missing: set[str] = set()
    for batch in Door(reading, ReadReport()).batches(progress):
        for name in reading.column_of.keys() - missing:
            if (batch.columns[name] >= batch.cardinality_of[name]).any():
                missing.add(name)
    return missing


def held_or_coded(
    batches: Iterable[EncodedTable], reading: Reading, most: int, folder: Callable[[], Path]
) -> tuple[EncodedTable | Coded, Scope]:
    """All rows in memory if there are at most so many, else on the disk.

    Also which variables are missing in some row.
    """
    sizes = reading.network.cardinality_of
    rows = 0
    left = iter(batches)
    held: deque[EncodedTable] = deque()
    while rows <= most and (batch := next(left, None)) is not None:
        held.append(batch)
        rows += batch.rows
    batch = None  # else the last one would be kept by its name
    first = (held.popleft() for _ in range(len(held)))  # none is held longer than it has to be
    if rows <= most:
        table = EncodedTable.joined(sizes, first)
        return table, table.partially_observed
    missing: set[str] = set()
    with CodeWriter(folder() / uuid4().hex, sizes) as writer:
        for table in chain(first, left):
            missing |= {v for v, codes in table.columns.items() if (codes >= sizes[v]).any()}
            writer.append(table)
        coded = writer.finished()
    return coded, tuple(name for name in reading.network.variables if name in missing)
