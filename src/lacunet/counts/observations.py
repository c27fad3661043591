"""The rows that a network is learned from, wherever they are.

An estimate sees statistics only, so a source of rows is what gathers them: rows held in memory,
streamed from files, or spread over a cluster. Every source gives the same statistics for the
same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from lacunet.counts.counts import Tally, summed
from lacunet.counts.distinct_rows import rows_in_parts
from lacunet.counts.gather import WORK_BYTES, Gathering, Needs, Statistics, gather, with_dealt
from lacunet.counts.look import Look
from lacunet.counts.missing_values import MissingSummary, missing_summary
from lacunet.counts.units import Units
from lacunet.data.batches import Door
from lacunet.data.column_rules import Reading, checked_promise, plan_reading
from lacunet.data.data import Data, as_data
from lacunet.data.donors import DonorSampler
from lacunet.data.errors import PromiseError
from lacunet.data.frames import is_spark
from lacunet.data.read import (
    ReadReport,
    read_notes,
    read_table,
    sets_as_missing,
    with_report,
)
from lacunet.data.scratch_rows import check_free, row_bytes, scratch_folder
from lacunet.data.stream import (
    Stretch,
    Unread,
    forecast_bytes,
    held_or_coded,
    missing_by_footers,
)
from lacunet.data.table import EncodedTable
from lacunet.limits import memory_budget
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent

if TYPE_CHECKING:  # what rows in memory do without
    from lacunet.counts.streaming import Streamed

BYTES_PER_HELD_CELL = 30  # of a table that is gone over again and again, by measurement
BYTES_PER_ROW = 10  # of it, beside its cells
MERGED_BYTES = 400  # while equal rows are made one, for each row, by measurement
MERGED_PIECES = 8  # of as many rows: what comes on top of them
PROGRAM_BYTES = 150 * 2**20  # what the program takes before it holds a row, by measurement
MIN_TABLE_ROWS = 1_000  # of such a table, however little memory there is
HELD_SHARE = 4  # of the budget: the codes of a table that is held; the rest is for counting


@runtime_checkable
class Observations(Protocol):
    """Rows over a network's variables, wherever they are."""

    def look(self) -> Look:
        """What is known of the rows before they are counted."""

    def gather(self, gathering: Gathering, progress: Progress = silent) -> Statistics:
        """Count what is needed among all rows."""

    def tables(self, read_report: ReadReport) -> Iterator[EncodedTable]:
        """All rows, table by table."""

    def warned_notes(self, read_report: ReadReport) -> tuple[str, ...]:
        """What the user should know of how the rows were read; warns of what was not warned of."""

    def scratch_bytes(self, needs: Needs) -> int | None:
        """What the scratch files will take; None where memory holds the rows, or no row comes."""

    @property
    def sampler(self) -> DonorSampler | None:
        """What has chosen some of the rows, if all of them have passed it."""


@dataclass(frozen=True)
class Held:
    """Rows that are held in memory."""

    table: EncodedTable
    promised: Scope = ()  # the variables that alone count as fully observed, if any are
    sampler: DonorSampler | None = None  # which all rows have passed, if there is one

    def look(self) -> Look:
        """All that there is to know."""
        table = self.table
        partially = self.table.partially_observed
        if self.promised:
            partially = _all_but(table.variables, self.promised)
        units = None if table.design is None else Units.of(table.design)
        return Look(partially, Tally.all_of(table), lambda *_: table, units)

    def scratch_bytes(self, _needs: Needs) -> None:
        """No files."""

    def tables(self, _read_report: ReadReport) -> Iterator[EncodedTable]:
        """All rows, table by table."""
        yield self.table

    def warned_notes(self, _read_report: ReadReport) -> tuple[str, ...]:
        """What the user should know of how the rows were read."""
        return self.table.notes

    def gather(self, gathering: Gathering, progress: Progress = silent) -> Statistics:
        """Count what is needed, all rows at once."""
        return with_dealt(gathering, lambda asked: gather(asked, [self.table], progress))


@contextmanager
def observations(
    data: Data,
    network: Network,
    budget: float,
    *,
    progress: Progress = silent,
    sampler: DonorSampler | None = None,
    is_read_again: bool = True,
) -> Iterator[Observations]:
    """The rows of the data: in memory if they take a fourth of the budget at most, else streamed.

    Parameters
    ----------
    data
        Its source may be open already: then they are its rows. Where any variables are promised to
        be fully observed, no others count as such.
    budget
        The bytes of memory that may be used. Files of codes are in the system's folder for
        temporary files, and gone in the end.
    sampler
        Chooses donors among the rows, where these are read here.
    is_read_again
        Whether more may be asked of the rows than the counts of families: of rows that one look
        reads whole, Spark then keeps the codes.
    """
    source = data.source
    if is_spark(source):  # before what is told by its attributes: a frame has a column of any name
        from lacunet.counts.spark import on_spark

        reading = plan_reading(data, network)
        with closing(on_spark(source, reading, progress, is_read_again=is_read_again)) as rows:
            yield rows
        return
    if isinstance(source, Observations):
        yield source
        return
    if isinstance(source, EncodedTable):
        table = read_table(data, network, keep_sets=True)
        promised = checked_promise(network, data)
        for name in promised:
            if table.missing_of[name]:
                missing = table.columns[name] >= table.cardinality_of[name]
                raise PromiseError.broken(name, f"row {int(np.argmax(missing)) + 1}")
        yield Held(table, promised)
        return
    with ExitStack() as stack:
        folder = cache(lambda: stack.enter_context(scratch_folder()))
        reading = replace(plan_reading(data, network), sampler=sampler)
        yield _opened(reading, budget, folder, progress)


def whole_table(
    given: Any, network: Network, progress: Progress = silent, *, keep_sets: bool = False
) -> EncodedTable:
    """All rows in one table, as `read_table` gives it."""
    with observations(as_data(given), network, inf, progress=progress) as rows:
        (table,) = rows.tables(ReadReport())
        return table if keep_sets else sets_as_missing(table)


def rows_within(
    rows: Observations, network: Network, budget: float, read_report: ReadReport
) -> tuple[EncodedTable, int]:
    """All rows in a table that can be gone over again and again within the budget.

    Where they are too many, equal rows become one that stands for all of them; where that is not
    enough, or each row has its place in the design of a survey, there are as many rows as the
    budget holds, from all over: then the table has a lower ``row_count`` than the number of all
    rows, which comes with it.
    """
    row_cost = BYTES_PER_ROW + BYTES_PER_HELD_CELL * len(network.variables)
    for_rows = budget - min(PROGRAM_BYTES, budget / 3)
    most = max(int(for_rows / row_cost), MIN_TABLE_ROWS)
    if isinstance(rows, Held) and rows.table.rows <= most:
        return rows.table, rows.table.row_count
    look = rows.look()
    if look.units is None:
        names = network.variables
        merged = max(min(most, int(for_rows / MERGED_BYTES)), MIN_TABLE_ROWS)
        at_once = max(merged // MERGED_PIECES, 1)
        room = merged * row_bytes(network.cardinality_of, extras=3)
        report = ReadReport()
        tables = (
            table.take(slice(start, start + at_once))
            for table in rows.tables(report)
            for start in range(0, table.rows, at_once)
        )
        parts = list(islice(rows_in_parts(tables, names, room), 2))
        if len(parts) == 1 and len(parts[0].weights) <= most:
            read_report.add(report)
            table = parts[0].table
            return table, table.row_count
        del parts  # before the rows are read again
    table = look.sampled(most, read_report)
    every = table.row_count if look.rows is None else look.rows
    if table.copies is None and read_report.kept:  # else the look had to read them
        every = read_report.kept
    if table.rows > most:
        table = table.take(slice(None, None, -(-table.rows // most)))
    return table, every


def missing_in_data(given: Any, network: Network, families: Sequence[Scope] = ()) -> MissingSummary:
    """What the rows of the data do not show, and the counts of families in what they do."""
    with observations(as_data(given), network, memory_budget()) as rows:
        return missing_in(rows, families, ReadReport())


def missing_in(
    rows: Observations, families: Sequence[Scope], read_report: ReadReport
) -> MissingSummary:
    """What the rows do not show, and the counts of families in what they do."""
    tables = rows.tables(read_report)
    return summed(missing_summary(table.without_sets(), families) for table in tables)


def _opened(
    reading: Reading, budget: float, folder: Callable[[], Path], progress: Progress
) -> Held | Streamed:
    promised = tuple(reading.data.fully_observed)
    expected = forecast_bytes(reading)
    each = row_bytes(reading.network.cardinality_of, reading.data.extras)
    held = _held_rows(budget, each)
    partially = _all_but(reading.network.variables, promised) if promised else None
    is_large = held * each < expected < inf
    can_wait = is_large and not any(part.is_once for part in reading.source.parts)
    if can_wait and partially is None:
        partially = missing_by_footers(reading, progress)
    stretch: Stretch = Unread(reading)
    rows = reading.source.rows
    read_report = None
    if not can_wait or partially is None:
        if is_large:
            check_free(folder(), expected)
        read_report = ReadReport()
        batches = Door(reading, read_report).batches(progress)
        kept, missing = held_or_coded(batches, reading, int(min(held, 2**62)), folder)
        if isinstance(kept, EncodedTable):
            return Held(with_report(kept, reading, read_report), promised, reading.sampler)
        stretch = kept
        rows = kept.rows
        partially = missing if partially is None else partially
    from lacunet.counts.streaming import Sizes, Streamed

    warned: set[str] = set()
    return Streamed(
        network=reading.network,
        stretches=[stretch],
        partially_observed=partially,
        rows=rows or int(expected / each),
        sizes=Sizes(budget, each),
        folder=folder,
        warned_notes=lambda report: read_notes(reading, read_report or report, warned),
        is_designed=reading.data.is_weighted or reading.data.is_clustered,
        read_report=read_report,
        sampler=reading.sampler,
    )


def _held_rows(budget: float, each: int) -> float:
    """How many rows may be held that take so many bytes each, and counted within the budget."""
    return min(budget / HELD_SHARE / each, budget / (each + WORK_BYTES))


def _all_but(names: Scope, others: Sequence[str]) -> Scope:
    return tuple(name for name in names if name not in others)


class ReplicateSamples(NamedTuple):
    """The samples whose estimates say how sure one is."""

    samples: Iterator[Statistics]  # their squared distances ...
    scales: FloatArray  # ... times these add up to a variance ...
    degrees: float  # ... with so many degrees of freedom


def replicates(
    units: Units | None, statistics: Statistics, replicate: Callable[[int], Statistics]
) -> ReplicateSamples:
    """The samples by replicate weights, or without each of the folds.

    Parameters
    ----------
    statistics
        What was gathered from all rows, in folds.
    replicate
        Gathers the same with the replicate weights of a number.
    """
    if units is not None and units.factors is not None:
        samples = (replicate(index).sample(0) for index in range(len(units.factors)))
        return ReplicateSamples(samples, units.factors, units.degrees())
    folds = statistics.folds
    assert folds is not None
    samples = (statistics.sample(1 + index) for index in range(len(folds.scales)))
    return ReplicateSamples(samples, folds.scales, folds.degrees)
