"""Statistics of rows that memory does not hold.

Rows are read in tables of bounded size, and what these say is added up. Where rows have to be
together (`lacunet.counts.passes`) they are first spread over files on the disk, as codes, and
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

from lacunet.counts.counts import Tally, summed
from lacunet.counts.distinct_rows import Rows, distinct_rows
from lacunet.counts.gather import Gathering, Needs, Statistics, of_part, with_reduced
from lacunet.counts.look import Look
from lacunet.counts.passes import MOST_PARTS, in_passes, passes, spread
from lacunet.counts.units import Units, UnitsLeftOut
from lacunet.data.donors import DonorSampler
from lacunet.data.errors import DataError, short_list
from lacunet.data.read import ReadReport
from lacunet.data.scratch_rows import Coded, check_free
from lacunet.data.stream import Stretch
from lacunet.data.table import EncodedTable
from lacunet.network.network import Network, Scope
from lacunet.progress import Progress, silent

# Shares of the memory budget; the rest is for what is made of them.
PART_SHARE = 8  # the codes of rows that are counted at once
TABLE_SHARE = 32  # the codes of rows that are on their way
GROUPS_SHARE = 16  # groups that are held until all rows are read
MOST_GROUP_BYTES = 2**24  # more of them cost more to add up than rows to spread
MAX_ROWS_AT_ONCE = 2**20
LEAST_ROWS = 2**10
UNIT = "\x00unit"  # the name of a column; no variable has it
STUCK = 0.9  # of the rows in one part again: they agree on the key


@dataclass(frozen=True)
class Sizes:
    """How many rows are taken at once."""

    memory: float  # the bytes that may be used
    row_bytes: int  # what one row takes as codes

    @property
    def most(self) -> int:
        """The rows that are read at a time."""
        return self._rows(TABLE_SHARE, MAX_ROWS_AT_ONCE)

    @property
    def room(self) -> int:
        """The rows that are counted at a time, where they have to be together."""
        return self._rows(PART_SHARE)

    def _rows(self, share: float, most: float = inf) -> int:
        return int(max(LEAST_ROWS, min(most, self.memory / share / self.row_bytes)))


@dataclass(frozen=True)
class Streamed:
    """Rows that are read when they are counted."""

    network: Network
    stretches: Sequence[Stretch]
    partially_observed: Scope
    rows: int  # how many there are, as far as it is known
    sizes: Sizes  # how many of them are taken at once
    folder: Callable[[], Path]  # gives a scratch folder
    # What the user should know of how the rows were read.
    warned_notes: Callable[[ReadReport], tuple[str, ...]]
    is_designed: bool = False  # whether rows have weights, clusters or strata
    # What was met when the rows were turned into codes in that folder, if they were.
    read_report: ReadReport | None = None
    sampler: DonorSampler | None = None  # which all rows pass when they are read first

    def gather(self, gathering: Gathering, progress: Progress = silent) -> Statistics:
        """Count what is needed, reading the rows as often as that takes."""
        return in_passes(gathering, self._group_bytes, partial(self._counted, progress=progress))

    @property
    def _group_bytes(self) -> float:
        return min(self.sizes.memory / GROUPS_SHARE, MOST_GROUP_BYTES)

    def _counted(self, gathering: Gathering, progress: Progress) -> Statistics:
        """What one reading of all rows says."""
        report = ReadReport()
        if gathering.together is None:
            statistics = count_tables(gathering, self._watched("counting", report, progress))
        else:
            statistics = summed_up(self._by_part(gathering, gathering.together, report, progress))
        notes = self.warned_notes(report)
        assert statistics is not None  # no rows at all were refused just now
        units = statistics.units
        if units is not None:
            units = replace(units, unweighted=(self.read_report or report).unweighted)
        seen = (v for v, number in statistics.missing_of.items() if number)
        if strangers := [name for name in seen if name not in self.partially_observed]:
            raise DataError(
                f"the files tell the values of {short_list(strangers)} without one that means "
                "missing, and rows have some.",
                "write the files again: what they tell of themselves is wrong.",
            )
        return replace(statistics, notes=notes, units=units)

    def _by_part(
        self, gathering: Gathering, key: Scope, report: ReadReport, progress: Progress
    ) -> Iterator[Statistics]:
        """What the rows of each file say, once all that agree on the key are in the same one."""
        folder = self.folder()
        sizes = self.sizes
        check_free(folder, self.rows * sizes.row_bytes)
        number = min(MOST_PARTS, max(2, ceil(2 * self.rows / sizes.room)))
        tables = self._watched("spreading", report, progress)
        files = spread(tables, key=key, parts=number, folder=folder)
        parts = [part for part in files if part.rows]
        for done, coded in enumerate(parts, start=1):
            statistics = of_rows(gathering, sizes, coded)
            progress("counting", done, len(parts))
            yield statistics

    def scratch_bytes(self, needs: Needs) -> int:
        """What the scratch files will take."""
        readings = passes(Gathering(needs, self.network), self._group_bytes)
        is_spread = any(reading.together for reading in readings)
        copies = is_spread + (self.read_report is not None)
        return copies * self.rows * self.sizes.row_bytes

    def tables(self, read_report: ReadReport) -> Iterator[EncodedTable]:
        """All rows, table by table."""
        for stretch in self.stretches:
            yield from stretch.tables(self.sizes.most, read_report)

    def look(self) -> Look:
        """What is known of the rows before they are counted."""
        if not self.is_designed:
            rows = np.array([float(self.rows)])
            return Look(self.partially_observed, Tally(rows, rows, rows), self.some_rows)
        # What weights add up to, and which clusters there are, is found by reading them.
        statistics = self.gather(Gathering(Needs(()), self.network))
        return Look(self.partially_observed, statistics.tally, self.some_rows, statistics.units)

    def some_rows(self, most: int, read_report: ReadReport) -> EncodedTable:
        """Every k-th row; at least ``most`` rows, if there are so many."""
        step = max(1, self.rows // most)

        def chosen() -> Iterator[EncodedTable]:
            start = 0
            for table in self.tables(read_report):
                taken = table.take(slice(-start % step, None, step))
                yield replace(taken, row_numbers=None)
                start += table.rows

        whole = EncodedTable.joined(self.network.cardinality_of, chosen())
        if whole.design is not None:
            unweighted = (self.read_report or read_report).unweighted
            some = {unit: rows / step for unit, rows in unweighted.items()}
            whole = replace(whole, design=replace(whole.design, unweighted=some))
        return replace(whole, hidden_elsewhere=self.partially_observed)

    def _watched(
        self, stage: str, report: ReadReport, progress: Progress
    ) -> Iterator[EncodedTable]:
        """All rows, table by table; as they are read, it is told how many have been."""
        done = 0
        for table in self.tables(report):
            yield table
            done += table.rows
            progress(stage, done, max(self.rows, done), "rows")


def summed_up(parts: Iterator[Statistics]) -> Statistics | None:
    """The sum of the parts, None if there are none."""
    first = next(parts, None)
    return None if first is None else summed(chain([first], parts))


def count_tables(gathering: Gathering, tables: Iterable[EncodedTable]) -> Statistics | None:
    """What all rows of some tables say, whatever their groups; None if there are none."""
    return summed_up(_each(gathering, tables))


def _each(gathering: Gathering, tables: Iterable[EncodedTable]) -> Iterator[Statistics]:
    """What each table says; Ctrl-C ends the work, for the rest would still have to be read."""
    for table in tables:
        if table.rows:
            statistics = of_part(gathering, table)
            if statistics.stopped_by == "interrupted":
                raise KeyboardInterrupt
            yield statistics


def of_rows(gathering: Gathering, sizes: Sizes, coded: Coded, depth: int = 1) -> Statistics:
    """What rows say that have all the rows of their groups, so many at a time as there is room for.

    Their files are removed.
    """
    if coded.rows <= sizes.room:
        statistics = summed(_each(gathering, coded.tables(sizes.room)))
        coded.removed()
        return statistics
    assert gathering.together is not None
    key = gathering.together
    folder = coded.paths[0].parent
    number = min(MOST_PARTS, ceil(2 * coded.rows / sizes.room))
    parts = spread(coded.tables(sizes.most), key=key, parts=number, folder=folder, salt=depth)
    if max(part.rows for part in parts) < STUCK * coded.rows:
        coded.removed()
        return summed(of_rows(gathering, sizes, part, depth + 1) for part in parts if part.rows)
    for part in parts:
        part.removed()
    return _of_one_group(gathering, sizes, coded, depth)


def _of_one_group(gathering: Gathering, sizes: Sizes, coded: Coded, depth: int) -> Statistics:
    """What rows say that nearly all agree on the key: they are reduced when all are added."""
    wide = replace(gathering, shared=frozenset(asked.family for asked in gathering.needs.groupings))
    every, folds = gathering.network.variables, gathering.needs.folds
    if folds is None:
        statistics = summed(_each(wide, coded.tables(sizes.room)))
    elif gathering.together != every:
        statistics = of_rows(replace(wide, together=every), sizes, coded, depth + 1)
    else:  # nearly all are equal: one row stands for them
        rows, units = _equal_as_one(gathering, folds.left_out, coded.tables(sizes.room))
        statistics = summed(_each(replace(wide, replicate=None), [rows]))
        statistics = replace(statistics, units=units)
    coded.removed()
    return with_reduced(statistics, gathering, gathering.shared)


def _equal_as_one(
    gathering: Gathering, left_out: UnitsLeftOut | None, tables: Iterable[EncodedTable]
) -> tuple[EncodedTable, Units | None]:
    """Distinct rows, which stand for their copies, with the weights asked for; and their units.

    In a survey, rows are equal only if they are left out together.
    """
    every = gathering.network.variables
    parts: list[Rows] = []
    units: list[Units] = []
    for table in tables:
        rows = table if gathering.replicate is None else table.replicated(gathering.replicate)
        unit: Any = np.zeros(rows.rows, np.intp)
        if table.design is not None:
            units.append(Units.of(table.design))
            unit = unit if left_out is None else left_out.numbers(table.design)
        sizes = {**rows.cardinality_of, UNIT: 1 if left_out is None else len(left_out.number_of)}
        rows = rows.with_columns(sizes, {**rows.columns, UNIT: unit})
        parts.append(distinct_rows(rows, (*every, UNIT)))
    whole = reduce(add, parts).table
    columns = {name: whole.columns[name] for name in every}
    distinct = whole.with_columns(gathering.network.cardinality_of, columns)
    if left_out is not None:
        distinct = replace(distinct, design=left_out.design(whole.columns[UNIT]))
    return distinct, reduce(add, units) if units else None
