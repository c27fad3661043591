"""Count now, learn later: the distinct rows of data, as a plain table that is data again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.counts.distinct_rows import EqualRows, in_parts
from lacunet.counts.observations import Observations
from lacunet.counts.open_rows import OpenRows, open_rows
from lacunet.data.copies_columns import COLUMN_NAMES, COUNTED_FROM, VARIABLES_KEY, with_description
from lacunet.data.data import Data
from lacunet.data.errors import DataError
from lacunet.data.frames import is_spark
from lacunet.data.paths import STDIN
from lacunet.data.read import ReadReport
from lacunet.data.table import Copies, Design, EncodedTable, Labels
from lacunet.data.write import check_table_name, coded_texts, opened_file, texts_of_codes
from lacunet.limits import Memory, gibibytes
from lacunet.network.arguments import clear_arguments
from lacunet.network.dictionary import when_and_state
from lacunet.network.formats.files import NetworkOrEdges
from lacunet.network.network import Network
from lacunet.progress import AskedProgress, Progress, silent

if TYPE_CHECKING:
    import pyarrow as pa

DISTINCT_ROWS_SHARE = (
    8  # of the memory budget: distinct rows that are held; adding them takes as much again
)
TEXT_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")  # which have no place for a description


@clear_arguments
def count(
    network: NetworkOrEdges,
    data: Any,
    *,
    memory: Memory = None,
    progress: AskedProgress = False,
) -> pa.Table:
    """Count how often each distinct row occurs, so that the counts of several parts are data again.

    Parameters
    ----------
    network, data, memory, progress
        As `lacunet.learn` takes them.

    Returns
    -------
    A table with a row for each distinct row over the network's variables, its cells as the names
    of states, and beside them a column of copies; the mean weight and the mean squared weight of
    the copies, where rows are weighted; the strata, clusters and replicate weights, where the data
    have them, in which equal rows agree too. The metadata of its schema name these columns, so
    that the table, several of them, ``[here, there]``, or Parquet files of them are data without
    an option.

    It holds rows: keep it as private as the data.

    Examples
    --------
    >>> network = Network({"Coin": ["head", "tail"]})
    >>> count(network, {"Coin": ["head", None, "head"]}).to_pylist()
    [{'Coin': 'head', 'copies': 2.0}, {'Coin': None, 'copies': 1.0}]
    """
    import pyarrow as pa

    opened = open_rows("count", network, data, memory, progress)
    with _counting(opened) as counting:
        parts = counting.parts()
        whole = next(parts)
        if next(parts, None) is not None:
            raise DataError(
                f"the distinct rows need more than {gibibytes(counting.room)}, an eighth "
                "of the memory budget.",
                "raise memory=... (--memory), or count them into a file: lacunet count.",
            )
        tables = [counting.as_arrow(part) for part in (whole, *counting.unweighted(whole))]
        counting.warned_notes()
        return pa.concat_tables(tables).combine_chunks()


def count_into(
    path: str | PathLike[str],
    network: Network,
    data: Any,
    *,
    memory: Memory = None,
    progress: Progress = silent,
) -> tuple[int, tuple[str, ...]]:
    """Count into a file, however many distinct rows there are.

    The parameters are those of `count`. In a text file, which has no place for squared weights,
    rows that are equal agree in their weights too.

    Returns
    -------
    The number of rows that were counted, and notes on how they were read.
    """
    is_text = check_table_name(path) in TEXT_ENDINGS
    opened = open_rows("count", network, data, memory, progress)
    with _counting(opened, by_weight=is_text) as counting:
        parts = counting.parts()
        rows = 0
        part = next(parts)
        first = counting.as_arrow(part)
        with opened_file(path, first.schema) as write:
            write(first)
            rows += part.row_count
            for part in parts:
                write(counting.as_arrow(part))
                rows += part.row_count
            for units in counting.unweighted(part):
                write(counting.as_arrow(units))
        return rows, counting.warned_notes()


@contextmanager
def _counting(opened: OpenRows, *, by_weight: bool = False) -> Iterator[Counting]:
    """The rows, ready to be counted."""
    if is_spark(opened.data.source) and opened.data.has_design:
        raise DataError(
            "of a Spark DataFrame with strata, clusters or replicate weights no distinct rows are "
            "counted: the driver gets rows without their design.",
            "learn from it as it is: lacunet.learn(network, data).",
        )
    with opened.rows() as rows:
        room = opened.budget / DISTINCT_ROWS_SHARE
        yield Counting(
            network=opened.network, data=opened.data, source=rows, room=room, by_weight=by_weight
        )


@dataclass(frozen=True)
class Counting:
    """Rows that are counted, and how they are written."""

    network: Network  # with the codes of the data
    data: Data
    source: Observations
    room: float  # bytes of distinct rows that are held at a time
    by_weight: bool  # whether equal rows agree in weight
    read_report: ReadReport = field(default_factory=ReadReport)

    def parts(self) -> Iterator[EncodedTable]:
        """The distinct rows, as many at a time as there is room for."""
        tables = self.source.tables(self.read_report)
        each = (EqualRows.of(table, by_weight=self.by_weight) for table in tables if table.rows)
        is_empty = True
        for part in in_parts(each, self.room):
            is_empty = False
            yield part.table
        if is_empty:
            self.warned_notes()  # which refuses data without rows

    def unweighted(self, part: EncodedTable) -> Iterator[EncodedTable]:
        """Rows for the clusters in which some rows weigh nothing: they were sampled too.

        When they are read only their clusters count, so they hold the cells of any row: the first.
        """
        units = self.source.look().units if self.data.is_clustered else None
        if units is None or not units.unweighted:
            return
        names = np.array([*units.unweighted])
        rows = np.array([*units.unweighted.values()])
        design = part.design
        first = np.zeros(len(rows), np.int64)
        assert design is not None  # it has clusters
        none = np.zeros(len(rows))
        numbers = np.arange(len(rows), dtype=np.int32)
        strata, clusters = (Labels((*column.tolist(),), numbers) for column in names.T)
        yield replace(
            part.take(first),
            weights=none,
            copies=Copies(rows, none),
            design=Design(design.strata and strata, design.clusters and clusters),
        )

    def warned_notes(self) -> tuple[str, ...]:
        """What the user should know of how the rows were read."""
        return self.source.warned_notes(self.read_report)

    def as_arrow(self, table: EncodedTable) -> pa.Table:
        """Distinct rows as a table that says what its columns hold."""
        import pyarrow as pa

        cells, codes = self._cells(table)
        beside, description = self._beside(table)
        description[VARIABLES_KEY] = [*cells]
        if self.data.latent:
            description["latent"] = [*self.data.latent]
        if codes:
            description["codes"] = codes
        if self.data.not_asked:
            rules = self.data.not_asked.items()
            description["not_asked"] = {name: [*when_and_state(name, rule)] for name, rule in rules}
        if files := _names_of_files(self.data.source):
            description[COUNTED_FROM] = files
        return with_description(pa.table({**cells, **beside}), description)

    def _cells(self, table: EncodedTable) -> tuple[dict[str, Any], dict[str, dict[str, list[str]]]]:
        """The columns of the variables, and what the codes in them mean."""
        cells, codes = {}, {}
        for name, column in table.columns.items():
            if name in self.data.latent:
                continue
            texts, meanings = texts_of_codes(self.network, name, table.sets_of.get(name, ()))
            cells[name] = coded_texts(column, texts)
            if meanings:
                codes[name] = meanings
        return cells, codes

    def _beside(self, table: EncodedTable) -> tuple[dict[str, Any], dict[str, Any]]:
        """The columns beside the variables, and what each of them holds."""
        assert table.copies is not None  # they are distinct rows
        copies = table.copies.rows
        design = table.design
        columns: dict[str, Any] = {"counts": copies}
        if self.data.weight is not None or getattr(self.data.source, "is_weighted", False):
            columns["weight"] = table.row_weights / copies
            if not self.by_weight:
                columns["squared_weight"] = table.copies.squares / copies
        if design is not None:
            labels_of = {"strata": design.strata, "cluster": design.clusters}
            for option, labels in labels_of.items():
                if labels is not None:
                    texts = coded_texts(labels.codes, [*labels.labels, None])
                    columns[option] = texts.dictionary_decode()
        name_of = {option: self._name(option) for option in columns}
        description: dict[str, Any] = dict(name_of)
        named = {name_of[option]: column for option, column in columns.items()}
        if design is not None and design.replicates is not None:
            replicates = design.replicates.T
            factors = design.factors
            names = self._names_of_replicates(len(replicates))
            named |= dict(zip(names, replicates, strict=True))
            description["replicate_weights"] = {
                "columns": names,
                "factors": [] if factors is None else factors.tolist(),
            }
        return named, description

    def _name(self, option: str) -> str:
        """The name of a column: that which it had in the data, or else one that no variable has."""
        given = getattr(self.data, option)
        return given if isinstance(given, str) else self._free(COLUMN_NAMES[option])

    def _names_of_replicates(self, number: int) -> list[str]:
        replicates = self.data.replicate_weights
        if replicates is not None and replicates.names:
            return [*replicates.names]
        return [self._free(f"replicate {index + 1}") for index in range(number)]

    def _free(self, name: str) -> str:
        taken = {*self.network.variables, *self.data.beside}
        while name in taken:
            name += "_"
        return name


def _names_of_files(source: Any) -> list[str]:
    """The names of the files that hold the data, without their folders."""
    several = source if isinstance(source, list | tuple) else [source]
    if not all(isinstance(path, str | PathLike) for path in several):
        return []
    return [PurePath(path).name for path in map(fspath, several) if path != STDIN]
