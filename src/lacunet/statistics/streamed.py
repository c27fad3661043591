"""Statistics of rows that memory does not hold.

Rows are read in tables of bounded size, and what these say is added up. Where rows have to be
together (`lacunet.statistics.passes`) they are first spread over files on the disk, as codes, and
then taken file by file. One process does it all: PyArrow decodes in threads of its own, and a
thread reads ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from math import ceil, inf
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from lacunet.data.batches import EncodedBatch
from lacunet.data.coded import Coded, check_free
from lacunet.data.errors import DataError, listed
from lacunet.data.read import Collected, ReadReport
from lacunet.data.stream import Stretch
from lacunet.data.table import EncodedTable
from lacunet.model.network import Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.counts import summed
from lacunet.statistics.gather import (
    Gathering,
    Needs,
    Statistics,
    of_part,
    of_passes,
    with_dealt,
    with_reduced,
)
from lacunet.statistics.look import Look, weighed
from lacunet.statistics.passes import MOST_PARTS, Pass, passes, spread
from lacunet.statistics.rows import Rows, distinct_rows
from lacunet.statistics.units import Units

# Shares of the memory budget; the rest is for what is made of them.
PART_SHARE = 8  # the codes of rows that are counted at once
TABLE_SHARE = 32  # the codes of rows that are on their way
GROUPS_SHARE = 16  # groups that are held until all rows are read
MOST_GROUP_BYTES = 2**24  # more of them cost more to add up than rows to spread
MOST_ROWS, LEAST_ROWS = 2**20, 2**10
UNIT = "\x00unit"  # the name of a column; no variable has it
STUCK = 0.9  # of the rows in one part again: they agree on the key


@dataclass(frozen=True)
class Streamed:
    """Rows that are read when they are counted.

    ``rows`` is their number as far as it is known, ``row_bytes`` what one takes as codes,
    ``folder`` gives a scratch folder, in which they take ``on_disk`` bytes already. ``notes`` says
    what the user should know of how they were read; ``is_designed`` if rows have weights, clusters
    or strata. ``read_report`` is what was met when they were turned into codes, if they were.
    """

    network: Network
    stretches: Sequence[Stretch]
    partially_observed: Scope
    rows: int
    row_bytes: int
    memory: float
    folder: Callable[[], Path]
    notes: Callable[[ReadReport], tuple[str, ...]]
    on_disk: int = 0
    is_designed: bool = False
    read_report: ReadReport | None = None

    @property
    def most(self) -> int:
        """The rows that are read at a time."""
        return rows_in(self.memory / TABLE_SHARE, self.row_bytes, MOST_ROWS)

    @property
    def room(self) -> int:
        """The rows that are counted at a time, where they have to be together."""
        return rows_in(self.memory / PART_SHARE, self.row_bytes)

    def gather(self, how: Gathering, progress: Progress = silent) -> Statistics:
        """Count what is needed, reading the rows as often as that takes."""
        return with_dealt(how, partial(self._gathered, progress=progress))

    def _gathered(self, how: Gathering, progress: Progress) -> Statistics:
        found: list[Statistics] = []
        notes: tuple[str, ...] = ()
        for own in self._passes(how.needs, how.network):
            asked = replace(how, needs=own.needs, shared=own.shared)
            statistics, met = self._read(asked, own, progress)
            notes = self.notes(met)
            assert statistics is not None  # no rows at all were refused just now
            if statistics.units is not None:
                unweighted = (self.read_report or met).unweighted
                units = replace(statistics.units, unweighted=unweighted)
                statistics = replace(statistics, units=units)
            self._check_missing(statistics)
            found.append(with_reduced(statistics, asked))
        return of_passes(found, notes)

    def _check_missing(self, statistics: Statistics) -> None:
        """Refuse rows that do not show what the files tell to be in all of them."""
        seen = (v for v, number in statistics.missing_of.items() if number)
        if strangers := [name for name in seen if name not in self.partially_observed]:
            raise DataError(
                f"the files tell the values of {listed(strangers)} without one that means missing, "
                "and rows have some.",
                "write the files again: what they tell of themselves is wrong.",
            )

    def scratch_bytes(self, needs: Needs) -> int:
        """What the scratch files will take."""
        is_spread = any(own.together for own in self._passes(needs, self.network))
        return self.on_disk + is_spread * self.rows * self.row_bytes

    def tables(self, read_report: ReadReport) -> Iterator[EncodedTable]:
        """All rows, table by table."""
        for stretch in self.stretches:
            yield from stretch.tables(self.most, read_report)

    def look(self) -> Look:
        """What is known of the rows before they are counted."""
        look = Look(self.partially_observed, self.rows, self.some_rows, total=float(self.rows))
        if not self.is_designed:
            return look
        # What weights add up to, and which clusters there are, is found by reading them.
        found = self.gather(Gathering(Needs(()), self.network))
        return weighed(replace(look, units=found.units), found.tally)

    def some_rows(self, most: int, read_report: ReadReport) -> EncodedTable:
        """Every k-th row; at least ``most`` rows, if there are so many."""
        step, start = max(1, self.rows // most), 0
        kept = Collected(self.network.cardinality_of, {})
        for table in self.tables(read_report):
            own = table.take(slice(-start % step, None, step)).without_sets()
            kept.append(EncodedBatch(own, own.rows))
            start += table.rows
        whole = kept.table
        if whole.design is not None:
            unweighted = (self.read_report or read_report).unweighted
            some = {unit: rows / step for unit, rows in unweighted.items()}
            whole = replace(whole, design=replace(whole.design, unweighted=some))
        missing_of = {v: max(n, v in self.partially_observed) for v, n in whole.missing_of.items()}
        return replace(whole, missing_of=missing_of)

    def _passes(self, needs: Needs, network: Network) -> list[Pass]:
        return passes(needs, network, min(self.memory / GROUPS_SHARE, MOST_GROUP_BYTES))

    def _read(
        self, how: Gathering, own: Pass, progress: Progress
    ) -> tuple[Statistics | None, ReadReport]:
        read_report = ReadReport()

        def parts() -> Iterator[Statistics | None]:
            if own.together is None:
                for stretch in self._watched("counting", progress):
                    statistics, met = counted(how, self.most, stretch)
                    read_report.add(met)
                    yield statistics
                return
            partitions = self._spread(own.together, read_report, progress)
            for done, coded in enumerate(partitions, start=1):
                statistics = of_rows(how, own.together, self.room, self.most, coded)
                progress("counting", done, len(partitions))
                yield statistics

        return summed_up(filter(None, parts())), read_report

    def _spread(self, key: Scope, read_report: ReadReport, progress: Progress) -> list[Coded]:
        """All rows in files, those that agree on the key in the same one."""
        folder, found = self.folder(), []
        check_free(folder, self.rows * self.row_bytes)
        number = min(MOST_PARTS, max(2, ceil(2 * self.rows / self.room)))
        for stretch in self._watched("spreading", progress):
            coded, met = spread(stretch, key=key, parts=number, folder=folder, most=self.most)
            read_report.add(met)
            found.append(coded)
        parts = [
            Coded(own[0].cardinality_of, sum((p.paths for p in own), ()), sum(p.rows for p in own))
            for own in zip(*filter(None, found), strict=True)
        ]
        return [part for part in parts if part.rows]

    def _watched(self, stage: str, progress: Progress) -> list[Watched]:
        """The rows; as they are read, it is told how many have been, of how many."""
        done = 0

        def tick(rows: int) -> None:
            nonlocal done
            done += rows
            progress(stage, done, max(self.rows, done), "rows")

        return [Watched(stretch, tick) for stretch in self.stretches]


def rows_in(memory: float, row_bytes: int, most: float = inf) -> int:
    """How many rows are taken at once, where their codes may take so many bytes."""
    return int(max(LEAST_ROWS, min(most, memory / row_bytes)))


@dataclass(frozen=True)
class Watched:
    """Rows whose reading is told."""

    stretch: Stretch
    tick: Callable[[int], None]

    def tables(self, most: int, read_report: ReadReport) -> Iterator[EncodedTable]:
        """The rows, at most so many at a time."""
        for table in self.stretch.tables(most, read_report):
            yield table
            self.tick(table.rows)


def summed_up(parts: Iterator[Statistics]) -> Statistics | None:
    """The sum of the parts, None if there are none."""
    first = next(parts, None)
    return None if first is None else summed(chain([first], parts))


def counted(how: Gathering, most: int, stretch: Stretch) -> tuple[Statistics | None, ReadReport]:
    """What the rows of a stretch say, whatever their groups."""
    read_report = ReadReport()
    return summed_up(_each(how, stretch.tables(most, read_report))), read_report


def _each(how: Gathering, tables: Iterable[EncodedTable]) -> Iterator[Statistics]:
    """What each table says; Ctrl-C ends the work, for the rest would still have to be read."""
    for table in tables:
        if table.rows:
            yield _of_table(how, table)


def _of_table(how: Gathering, table: EncodedTable) -> Statistics:
    found = of_part(how, table)
    if found.stopped_by == "interrupted":
        raise KeyboardInterrupt
    return found


def of_rows(
    how: Gathering, key: Scope, room: int, most: int, coded: Coded, depth: int = 1
) -> Statistics:
    """What rows say that have all the rows of their groups, at most ``room`` of them at a time.

    Their files are removed.
    """
    if coded.rows <= room:
        statistics = summed(_each(how, coded.tables(room)))
        coded.removed()
        return statistics
    number = min(MOST_PARTS, ceil(2 * coded.rows / room))
    folder = coded.paths[0].parent
    parts, _ = spread(coded, key=key, parts=number, folder=folder, most=most, salt=depth)
    if max(part.rows for part in parts) < STUCK * coded.rows:
        coded.removed()
        return summed(of_rows(how, key, room, most, own, depth + 1) for own in parts if own.rows)
    for part in parts:
        part.removed()
    return _of_one_group(how, key, room, most, coded, depth)


def _of_one_group(
    how: Gathering, key: Scope, room: int, most: int, coded: Coded, depth: int
) -> Statistics:
    """What rows say that nearly all agree on the key: they are reduced when all are added."""
    wide = replace(how, shared=frozenset(asked.family for asked in how.needs.groupings))
    every = how.network.variables
    if how.needs.folds is None:
        statistics = summed(_each(wide, coded.tables(room)))
    elif key != every:
        statistics = of_rows(wide, every, room, most, coded, depth + 1)
    else:  # nearly all are equal: one row stands for them
        rows, units = _equal_as_one(how, coded.tables(room))
        statistics = replace(_of_table(replace(wide, replicate=None), rows), units=units)
    coded.removed()
    return with_reduced(statistics, how, how.shared)


def _equal_as_one(
    how: Gathering, tables: Iterable[EncodedTable]
) -> tuple[EncodedTable, Units | None]:
    """Distinct rows, which stand for their copies, with the weights asked for; and their units.

    In a survey, rows are equal only if they are left out together.
    """
    every, folds = how.network.variables, how.needs.folds
    left_out = None if folds is None else folds.left_out
    found: list[Rows] = []
    units: list[Units] = []
    for table in tables:
        if table.design is not None:
            units.append(Units.of(table.design))
        rows = table if how.replicate is None else table.replicated(how.replicate)
        if left_out is None:
            found.append(distinct_rows(rows, every))
            continue
        assert table.design is not None
        unit: Any = left_out.numbers(table.design)
        sizes = {**rows.cardinality_of, UNIT: len(left_out.number_of)}
        rows = rows.with_columns(sizes, {**rows.columns, UNIT: unit})
        found.append(distinct_rows(rows, (*every, UNIT)))
    whole = reduce(add, found)
    distinct = whole.table()
    if left_out is not None:
        columns = {name: distinct.columns[name] for name in every}
        sizes = {name: distinct.cardinality_of[name] for name in every}
        design = left_out.design(whole.column(UNIT).astype(np.intp))
        distinct = replace(distinct.with_columns(sizes, columns), design=design)
    return distinct, reduce(add, units) if units else None
