"""The one door for data: whatever holds rows becomes an encoded table.

Reading is planned first (`lacunet.data.column_rules`: which columns, by which rules), then done
piece by piece (`lacunet.data.batches`), then collected here. Nothing but codes is ever held for
more than a few pieces, so memory is bounded by the codes themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lacunet.data.batches import Door, matching_remarks
from lacunet.data.column_rules import Reading, plan_reading
from lacunet.data.data import Data, as_data
from lacunet.data.encode import NOUN, OddCells
from lacunet.data.errors import DataError, DataWarning, WeightError, short_list
from lacunet.data.source_parts import DataSource, Piece
from lacunet.data.table import (
    EncodedTable,
    RowsOfUnits,
    added_rows,
)
from lacunet.errors import warn
from lacunet.network.network import FloatArray, Network
from lacunet.progress import Progress, silent
from lacunet.text import counted


def read_table(
    given: Any, network: Network, progress: Progress = silent, *, keep_sets: bool = False
) -> EncodedTable:
    """The rows of the data as codes of the network's states.

    Parameters
    ----------
    given
        `lacunet.Data`, or what could be its source: a path, a dataframe, a dict of lists; also
        a table that is already encoded.
    network
        Gives the variables and their states; its CPTs are ignored.
    progress
        Told how much has been read, in rows or, for text files, in bytes.
    keep_sets
        Whether cells that are one of several states are kept as such; else they are missing.

    Warns
    -----
    DataWarning
        Columns were ignored, values that are not states were taken as missing, or the like; the
        ``notes`` of the table say the same.

    Raises
    ------
    DataError
        The data cannot be read or do not fit the network; the message names what and where.

    Examples
    --------
    >>> rain = Network({"Rain": ["no", "yes"], "Wet": ["no", "yes"]}, {"Wet": ["Rain"]})
    >>> table = read_table({"Rain": ["yes", "?", "no"], "Wet": ["no", "no", None]}, rain)
    >>> table.columns["Rain"].tolist(), table.columns["Wet"].tolist()
    ([1, 2, 0], [0, 0, 2])
    """
    data = as_data(given)
    if isinstance(data.source, EncodedTable):
        table = _accepted(data.source, network, data)
    else:
        reading = plan_reading(data, network)
        read_report = ReadReport()
        batches = Door(reading, read_report).batches(progress)
        table = EncodedTable.joined(reading.network.cardinality_of, batches)
        table = with_report(table, reading, read_report)
    return table if keep_sets else sets_as_missing(table)


def with_report(table: EncodedTable, reading: Reading, read_report: ReadReport) -> EncodedTable:
    """A table of all rows with its notes, and with the units of rows of weight zero."""
    notes = read_notes(reading, read_report)
    design = table.design
    if design is not None:
        design = replace(design, unweighted=read_report.unweighted)
    numbers = table.row_numbers if read_report.kept < read_report.given else None
    return replace(table, notes=notes, design=design, row_numbers=numbers)


def sets_as_missing(table: EncodedTable) -> EncodedTable:
    """The table without sets of states, with a note on how many cells that makes missing."""
    cells = table.cells_of_sets
    if not cells:
        return table.without_sets()
    return replace(table.without_sets(), notes=(*table.notes, note_on_sets(cells)))


def note_on_sets(cells: Mapping[str, int]) -> str:
    """How many cells of each variable were one of several states, and are missing."""
    each = ", ".join(f"{name} {count:,}" for name, count in cells.items())
    return f"cells that are one of several states were taken as missing here: {each}."


def rows_with_codes(
    source: DataSource,
    data: Data,
    network: Network,
    *,
    columns: Sequence[str] = (),
    unseen: Collection[str] = (),
    read_report: ReadReport | None = None,
    tell: bool = True,
) -> Iterator[tuple[Piece, EncodedTable, EncodedTable]]:
    """The rows of a source some at a time: as they came, as codes, and by what they show alone.

    The last two differ in cells that are empty because their question was not asked. For what looks
    at each row by itself: weights are not looked at, and cells that are one of several states stay
    so.

    Parameters
    ----------
    data
        How the rows are read.
    columns
        What to keep of the rows as they came, beside the columns of the network.
    unseen
        Variables that are missing to the rules of what was not asked: no cell is filled in by
        what a row shows of them.
    read_report
        An empty one, which then says what was met.
    tell
        Whether to warn of what was met, once all rows are read.

    Raises
    ------
    DataError
        There are no rows, and it is to be told.
    """
    every = replace(data.every_row(), source=source, query=None, database=None)
    reading = plan_reading(replace(every, aside=(*every.aside, *columns)), network)
    read_report = read_report or ReadReport()
    number = 1
    for piece, *tables in Door(replace(reading, keep=columns), read_report, unseen).rows():
        numbers = np.arange(number, number + piece.rows)
        table, shown = (replace(rows, row_numbers=numbers) for rows in tables)
        yield piece, table, shown
        number += piece.rows
    if tell:
        read_notes(reading, read_report)


def _accepted(table: EncodedTable, network: Network, data: Data) -> EncodedTable:
    for option in data.given_options:
        if option not in ("source", "fully_observed"):
            raise DataError(
                f"{option}= has no meaning for a table that is already encoded.",
                f"give {option}= when the data are read.",
            )
    sizes = network.cardinality_of
    if dict(table.cardinality_of) != sizes:
        names = sorted({*sizes, *table.cardinality_of})
        other = [name for name in names if sizes.get(name) != table.cardinality_of.get(name)]
        raise DataError(
            "the table was encoded for another network: the variables (or their numbers of "
            f"states) differ in {short_list(other)}.",
            "read the data again with this network.",
        )
    if table.variables == network.variables:
        return table
    columns = {name: table.columns[name] for name in network.variables}
    return table.with_columns(sizes, columns)


@dataclass
class ReadReport:
    """What was met while rows were read; that of several parts adds up."""

    given: int = 0  # rows
    kept: int = 0  # those of a weight above zero
    odd_in: dict[str, OddCells] = field(default_factory=dict)  # by column
    is_aggregated: bool = False  # the weights look like counts
    contradicted: Counter[str] = field(default_factory=Counter)  # rows that break a rule
    replicate_sums: FloatArray | None = None  # of each replicate weight, if there are any
    has_fractions: bool = False  # some counts are not whole numbers
    # The rows of weight zero in each stratum and cluster of a design.
    unweighted: RowsOfUnits = field(default_factory=dict)

    def add(self, other: ReadReport) -> None:
        """Take in what was met in other rows."""
        is_first = not self.given
        self.is_aggregated = other.is_aggregated and (is_first or self.is_aggregated)
        self.has_fractions |= other.has_fractions
        self.given += other.given
        self.kept += other.kept
        self.contradicted.update(other.contradicted)
        self.unweighted = added_rows(self.unweighted, other.unweighted)
        if other.replicate_sums is not None:
            self.add_replicates(other.replicate_sums)
        for name, odd in other.odd_in.items():
            cells = self.odd_in.setdefault(name, OddCells())
            cells.add(odd)

    def add_replicates(self, sums: FloatArray) -> None:
        """Take in the replicate weights of other rows, added up."""
        self.replicate_sums = sums if self.replicate_sums is None else self.replicate_sums + sums


def read_notes(
    reading: Reading, read_report: ReadReport, warned: set[str] | None = None
) -> tuple[str, ...]:
    """The notes on rows that were read, also given as warnings unless they were before.

    Raises
    ------
    DataError
        There were no rows at all, or none of a weight above zero; a replicate weight is zero in
        all of them.
    """
    _refuse_no_rows(reading, read_report)
    notes = [*reading.notes]
    if read_report.is_aggregated:
        notes.append(_AGGREGATED)
    if read_report.has_fractions:
        notes.append(_FRACTIONS)
    notes += matching_remarks(reading, read_report.odd_in, read_report.contradicted)
    warned = set() if warned is None else warned
    for note in notes:
        if note not in warned:
            warn(note, DataWarning)
            warned.add(note)
    # That rows of weight zero are left out was asked for: a note, and no warning.
    left_out = read_report.given - read_report.kept
    if left_out:
        whose = "its" if left_out == 1 else "their"
        zero = f"left out {left_out:,} of {counted(read_report.given, 'row')}: {whose}"
        notes.append(f"{zero} {_zero_noun(reading.data)} is zero.")
    return tuple(notes)


def _refuse_no_rows(reading: Reading, read_report: ReadReport) -> None:
    """Refuse data without rows, and weights of which nothing is left to learn from."""
    if not read_report.given:
        raise DataError.no_rows(reading.source.label)
    if not read_report.kept:
        noun = _zero_noun(reading.data)
        raise WeightError(f"every row has {noun} zero.", f"give at least one row a {noun} above 0.")
    sums = read_report.replicate_sums
    if sums is not None and not sums.all():
        index = int(np.argmin(sums))
        replicates = reading.data.replicate_weights
        names = replicates.names if replicates else ()
        name = repr(names[index]) if names else f"number {index + 1}"
        raise WeightError(
            f"every row has weight zero in the column {name} of replicate_weights=.",
            "leave it out, with its factor, or look whether the right column is named.",
        )


def _zero_noun(data: Data) -> str:
    """What rows are left out for where it is zero."""
    options = [name for name in ("weight", "counts") if getattr(data, name) is not None]
    return " or ".join(NOUN[name] for name in options)


_AGGREGATED = (
    "the weights are whole numbers and no two rows are equal, as in a table of counts. weight= "
    "(--weight) takes sampling weights, of which only the ratios matter; if each row stands for so "
    "many rows, give them as counts= (--counts)."
)


_FRACTIONS = (
    "some counts are not whole numbers. counts= (--counts) takes numbers of equal rows, which add "
    "up to the sample size; sampling weights are given as weight= (--weight)."
)
