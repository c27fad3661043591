"""Statistics as files: what was counted here is added to what was counted elsewhere.

A file is Parquet, and says in its footer (`KEY`) what it is: the version of the format, the
network's variables, states and parents with a hash of them, the method, the rows. It is of one
of two kinds (docs/statistics-files.md):

- *families*: the cells of every family's table, missing as a state; for methods that need no more;
- *rows*: distinct rows over all variables; everything can be computed from them, and rows of
  several parts are simply all of them, whichever variables are fully observed in which part.

Numbers beside them: ``rows``, and where rows have weights ``weight`` and ``squares``, the sums of
the weights and of their squares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import glob
from hashlib import sha256
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.coded import array_of, values_of
from lacunet.data.encode import filled
from lacunet.data.errors import listed
from lacunet.data.read import Told
from lacunet.data.table import Copies, EncodedTable, code_type
from lacunet.data.write import to_arrow
from lacunet.errors import LacunetError
from lacunet.model.network import Network, Scope
from lacunet.output import replacing
from lacunet.statistics.counts import Counts, Tally
from lacunet.statistics.gather import Statistics
from lacunet.statistics.rows import Rows, rows_in_parts

SUFFIX = ".stats"
KEY = b"lacunet"
FORMAT, VERSION = "lacunet statistics", 1
FAMILIES, ROWS = "families", "rows"
OWN = "lacunet:"  # begins the names of columns that are not variables
MOST_ROWS = 2**18  # read at a time
NUMBERS = (OWN + "rows", OWN + "weight", OWN + "squares")


class StatisticsError(LacunetError):
    """Statistics cannot be read, do not belong together, or hold too little."""


def network_hash(network: Network) -> str:
    """A hash of the variables, their states and parents; CPTs have no part in it."""
    told = [[v, network.states(v), network.parents(v)] for v in network.variables]
    return sha256(json.dumps(told).encode()).hexdigest()


@dataclass(frozen=True)
class Header:
    """What a file of statistics says of itself."""

    kind: str
    network: Network
    method: str
    rows: int
    total: float
    missing_of: Mapping[str, int]
    complete_rows: int | None = None

    @property
    def partially_observed(self) -> Scope:
        """The variables that some row does not show."""
        return tuple(name for name in self.network.variables if self.missing_of[name])

    def text(self) -> str:
        """As it is written."""
        network = self.network
        return json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "kind": self.kind,
                "network": {
                    "hash": network_hash(network),
                    "states": {name: network.states(name) for name in network.variables},
                    "parents": {name: network.parents(name) for name in network.variables},
                },
                "method": self.method,
                "rows": self.rows,
                "total": self.total,
                "missing": dict(self.missing_of),
                "fully_observed": [v for v in network.variables if not self.missing_of[v]],
                "complete_rows": self.complete_rows,
            }
        )

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Header:
        """What the file says, or why it is not taken.

        Raises
        ------
        StatisticsError
            It is not a whole file of statistics, or a later version wrote it.
        """
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(path) as file:
                told = json.loads((file.metadata.metadata or {}).get(KEY, b"null"))
        except FileNotFoundError:
            raise StatisticsError(f"there is no file {str(path)!r}.", "check the path.") from None
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).rstrip(".")
            raise StatisticsError(
                f"{str(path)!r} is not a file of statistics, or only a part of one: {reason}.",
                "make it again with lacunet count.",
            ) from None
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise StatisticsError(
                f"{str(path)!r} is a Parquet file, but not one of statistics.",
                "count it first: lacunet count NETWORK DATA -o part.stats.",
            )
        if told["version"] > VERSION:
            raise StatisticsError(
                f"{str(path)!r} was written by a newer lacunet: its format has version "
                f"{told['version']}, and {VERSION} is the latest that this one reads.",
                "upgrade lacunet.",
            )
        return cls(
            told["kind"],
            Network(told["network"]["states"], told["network"]["parents"]),
            told["method"],
            told["rows"],
            told["total"],
            told["missing"],
            told["complete_rows"],
        )


def check_same(network: Network, other: Network, label: str) -> None:
    """Refuse statistics that were counted for another network, and say in what it differs."""
    if network_hash(network) == network_hash(other):
        return
    names = set(network.variables) ^ set(other.variables)
    both = [name for name in network.variables if name not in names]
    differ = {
        "variables": sorted(names),
        "states": [name for name in both if network.states(name) != other.states(name)],
        "parents": [name for name in both if network.parents(name) != other.parents(name)],
        "order of the variables": list(network.variables),
    }
    what, where = next((what, where) for what, where in differ.items() if where)
    raise StatisticsError(
        f"{label} were counted for another network: the {what} differ, in {listed(where)}.",
        "count the data again with this network.",
    )


def check_summands(one: Statistics, two: Statistics) -> None:
    """Refuse to add statistics of different networks or kinds."""
    assert one.network is not None
    assert two.network is not None
    check_same(one.network, two.network, "the statistics to be added")
    check_kinds([header_of(one), header_of(two)])


def check_kinds(headers: Sequence[Header]) -> None:
    """Refuse statistics of different kinds: those of families do not tell the rows."""
    if len({(header.kind, header.complete_rows is None) for header in headers}) > 1:
        methods = dict.fromkeys(header.method or header.kind for header in headers)
        raise StatisticsError(
            f"statistics counted for {' and for '.join(methods)} hold different things and do not "
            "add up.",
            "count all parts for one method.",
        )


def header_of(statistics: Statistics) -> Header:
    """The header of the file that statistics are written to."""
    if statistics.network is None:
        raise StatisticsError(
            "the statistics do not say which network they were counted for.",
            "make them with lacunet.count.",
        )
    complete = statistics.complete_rows if statistics.complete else None
    return Header(
        ROWS if statistics.distinct else FAMILIES,
        statistics.network,
        statistics.method,
        statistics.rows,
        statistics.total,
        statistics.missing_of,
        complete,
    )


def write_statistics(statistics: Statistics, path: str | PathLike[str]) -> None:
    """Write statistics to a file, whole or not at all."""
    header = header_of(statistics)
    with writing(path) as file:
        if header.kind == FAMILIES:
            file.append(_families_table(statistics))
        for rows in statistics.distinct.values():
            file.append(_rows_table(rows.table(), header.network))
        file.finish(header)


def write_rows(
    parts: Iterable[Rows], network: Network, method: str, path: str | PathLike[str]
) -> Header:
    """Write distinct rows, as they come; rows of two parts may be equal."""
    rows, total, missing_of = 0, 0.0, dict.fromkeys(network.variables, 0)
    with writing(path) as file:
        for part in parts:
            table = part.table()
            file.append(_rows_table(table, network))
            rows, total = rows + table.stand_for, total + table.total
            missing_of = {name: n + table.missing_of[name] for name, n in missing_of.items()}
        header = Header(ROWS, network, method, rows, total, missing_of)
        file.finish(header)
    return header


def read_statistics(path: str | PathLike[str]) -> Statistics:
    """The statistics in a file.

    Raises
    ------
    StatisticsError
        The file is truncated, damaged, of another kind or of a later version.
    """
    header = Header.read(path)
    network = header.network
    distinct: dict[Scope, Rows] = {}
    counts: dict[bool, dict[Scope, Counts]] = {False: {}, True: {}}
    if header.kind == ROWS:
        tables = SavedRows(network, Path(path)).tables(MOST_ROWS)
        (distinct[network.variables],) = rows_in_parts(tables, network.variables, inf)
    else:
        if header.complete_rows is not None:  # perhaps there were none
            counts[True] = {own: _no_cells(own, network) for own in network.families}
        for is_complete, own in _families(path, network):
            counts[is_complete][own.scope] = own
    return Statistics(
        rows=header.rows,
        total=header.total,
        missing_of=header.missing_of,
        counts=counts[False],
        complete=counts[True],
        complete_rows=header.complete_rows or 0,
        distinct=distinct,
        network=network,
        method=header.method,
    )


def saved_paths(data: Any) -> list[Path]:
    """The files of statistics that data name, by themselves or by a pattern, if they do."""
    paths = getattr(data, "paths", data)
    several = [paths] if isinstance(paths, str | PathLike) else paths
    if not isinstance(several, list | tuple) or not several:
        return []
    are_saved = [isinstance(own, str | PathLike) and str(own).endswith(SUFFIX) for own in several]
    if not any(are_saved):
        return []
    if not all(are_saved):
        raise StatisticsError(
            "files of statistics and of rows are given together.",
            "count the rows too, then add all up: lacunet count, lacunet merge.",
        )
    found = [
        Path(name)
        for own in several
        for name in ([own] if Path(own).exists() else sorted(glob(str(own))) or [own])
    ]
    twice = {str(path) for path in found if found.count(path) > 1}
    if twice:
        raise StatisticsError(
            f"{listed(sorted(twice))} is named more than once: its rows would count twice.",
            "name each file once.",
        )
    return found


def entries_in(path: Path) -> int:
    """The number of distinct rows, or of cells, in a file."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return int(file.metadata.num_rows)


@dataclass(frozen=True)
class SavedRows:
    """The distinct rows in a file of statistics; they can be read again and again."""

    network: Network
    path: Path

    def tables(self, most: int, told: Told | None = None) -> Iterator[EncodedTable]:
        """The rows, at most so many at a time."""
        names = self.network.variables
        sizes = self.network.cardinality_of
        for batch in _batches(self.path, [*names, *NUMBERS], names, most):
            columns: dict[str, Any] = {name: self._codes(batch, name) for name in names}
            rows, weights, squares = (values_of(batch.column(name)) for name in NUMBERS)
            copies = Copies(rows.astype(np.float64), squares)
            table = EncodedTable.of(sizes, columns, weights, copies=copies)
            if told is not None:
                told.given, told.kept = told.given + table.rows, told.kept + table.rows
            yield table

    def _codes(self, batch: Any, name: str) -> NDArray[Any]:
        column, states = batch.column(name), self.network.states(name)
        code_of = [self.network.state_index(name, state) for state in column.dictionary.to_pylist()]
        codes = np.array([*code_of, len(states)], dtype=code_type(len(states)))
        return codes[filled(column.indices, len(code_of))]


class StatisticsWriter:
    """Writes tables to a file of statistics, then its header."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._writer: Any = None

    def append(self, table: Any) -> None:
        """Write a table; all have the same columns."""
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(
                self._file, table.schema, write_page_checksum=True, compression="zstd"
            )
        self._writer.write_table(table)

    def finish(self, header: Header) -> None:
        """Write the header: without it the file is none."""
        assert self._writer is not None  # no statistics are without rows
        self._writer.add_key_value_metadata({KEY: header.text()})
        self._writer.close()


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[StatisticsWriter]:
    """A writer to a file that is there when all is written, and not before."""
    if not str(path).endswith(SUFFIX):
        raise StatisticsError(
            f"the name {str(path)!r} does not say that it holds statistics.",
            f"end it in {SUFFIX}.",
        )
    try:
        with replacing(path) as file:
            yield StatisticsWriter(file)
    except OSError as error:
        raise StatisticsError(f"{path} cannot be written: {error.strerror or error}.") from None


def _rows_table(table: EncodedTable, network: Network) -> Any:
    """Distinct rows as an Arrow table: a column for each variable, then the numbers."""
    if strangers := [name for name in network.variables if name.startswith(OWN)]:
        raise StatisticsError(
            f"the variables {listed(strangers)} cannot be written: names in files of statistics "
            f"that begin with {OWN!r} are not variables.",
            "rename them.",
        )
    rows = to_arrow(replace(table, weights=None), network)
    assert table.copies is not None
    assert table.weights is not None
    numbers = (table.copies.rows.astype(np.int64), table.weights, table.copies.squares)
    for name, own in zip(NUMBERS, numbers, strict=True):
        rows = rows.append_column(name, array_of(own))
    return rows


def _families_table(statistics: Statistics) -> Any:
    """Family counts as an Arrow table: a row for each cell that occurs."""
    import pyarrow as pa

    every = [(False, own) for own in statistics.counts.values()]
    every += [(True, own) for own in statistics.complete.values()]
    lengths = [len(own.keys) for _, own in every]

    def joined(values: Iterable[NDArray[Any]]) -> Any:
        return array_of(np.concatenate(list(values)))

    return pa.table(
        {
            "family": pa.array(np.repeat([own.scope[-1] for _, own in every], lengths)),
            "complete": pa.array(np.repeat([is_complete for is_complete, _ in every], lengths)),
            "cell": joined(own.keys for _, own in every),
            NUMBERS[0]: joined(own.tally.rows.astype(np.int64) for _, own in every),
            NUMBERS[1]: joined(own.tally.weights for _, own in every),
            NUMBERS[2]: joined(own.tally.squares for _, own in every),
        }
    )


def _families(path: str | PathLike[str], network: Network) -> Iterator[tuple[bool, Counts]]:
    """The counts of each family, among all rows or the complete ones."""
    columns = ["family", "complete", "cell", *NUMBERS]
    cells: dict[tuple[str, bool], list[tuple[NDArray[Any], ...]]] = {}
    for batch in _batches(path, columns, ["family"], MOST_ROWS):
        names = batch.column("family").dictionary.to_pylist()
        family = values_of(batch.column("family").indices)
        is_complete = np.array(batch.column("complete"), dtype=bool)
        numbers = [values_of(batch.column(name)) for name in columns[2:]]
        for at, name in enumerate(names):
            for side in (False, True):
                chosen = (family == at) & (is_complete == side)
                if chosen.any():
                    own = tuple(column[chosen] for column in numbers)
                    cells.setdefault((name, side), []).append(own)
    for (name, side), parts in cells.items():
        keys, rows, weights, squares = map(np.concatenate, zip(*parts, strict=True))
        scope = network.family(name)
        tally = Tally(weights, rows.astype(np.float64), squares)
        yield side, Counts(scope, network.shape(scope), keys, tally)


def _no_cells(scope: Scope, network: Network) -> Counts:
    none = np.zeros(0)
    return Counts(scope, network.shape(scope), np.zeros(0, np.int64), Tally(none, none, none))


def _batches(
    path: str | PathLike[str], columns: Sequence[str], texts: Sequence[str], most: int
) -> Iterator[Any]:
    """The record batches of a file; damage is told."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(
            path, read_dictionary=list(texts), page_checksum_verification=True
        ) as file:
            yield from file.iter_batches(min(most, MOST_ROWS), columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise StatisticsError(
            f"{str(path)!r} is damaged: {error}.", "make it again with lacunet count."
        ) from None
