"""The one door for data: whatever holds rows becomes an encoded table.

Reading is planned first (`lacunet.data.reading`: which columns, by which rules), then done piece
by piece (`lacunet.data.batches`), then collected here. Nothing but codes is ever held for more
than a few pieces, so memory is bounded by the codes themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lacunet.data.batches import EncodedBatch, Encoders, batches, encoders_of, remarks
from lacunet.data.errors import DataError, DataWarning, WeightError, listed
from lacunet.data.reading import AS_IT_IS, How, Reading, Unknown, plan_reading
from lacunet.data.table import Codes, EncodedTable, code_type
from lacunet.errors import warn
from lacunet.model.network import FloatArray, Network
from lacunet.progress import Progress, silent
from lacunet.wording import counted


def read_table(
    data: Any,
    network: Network,
    *,
    weight: Any = None,
    missing: Sequence[str] = (),
    unknown: Unknown = "error",
    latent: Sequence[str] = (),
    progress: Progress = silent,
) -> EncodedTable:
    """The rows of ``data`` as codes of the network's states.

    Parameters
    ----------
    data
        A path or a list of paths (``.csv .tsv .csv.gz .tsv.gz .parquet .arrow .feather``; also
        patterns and folders of parts, and ``"-"`` for CSV from the standard input); the same in
        `TextFiles`, which says how they are written; a table of pandas, Polars, PyArrow, DuckDB or
        any other library that Narwhals takes; a dict of lists; a table that is already encoded.
    network
        Owns the names and the states; its CPTs are not looked at.
    weight
        The column that holds the row weights, or an array with one weight for each row.
    missing
        Strings that mean "not observed", beside the usual ones
        (`lacunet.data.matching.MISSING_TOKENS`), unless they are states of the variable.
    unknown
        Whether a value that is not a state is an error or, with a note, missing.
    latent
        Variables that the data have no column for: every row misses them.
    progress
        Told how much has been read, in rows or, for text files, in bytes.

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
    how = How(weight=weight, missing=missing, unknown=unknown, latent=latent)
    return table_read(data, network, how, progress)


def table_read(
    data: Any, network: Network, how: How = AS_IT_IS, progress: Progress = silent
) -> EncodedTable:
    """The same, told how by one value."""
    if isinstance(data, EncodedTable):
        return _accepted(data, network, how)
    reading = plan_reading(data, network, how)
    encoders, collected = encoders_of(reading), Collected(reading.cardinality_of)
    for batch in batches(reading, encoders, progress):
        collected.append(batch)
    told = Told.of(encoders, collected.given, collected.rows)
    table = EncodedTable.of(*collected.whole, row_numbers=collected.row_numbers)
    return replace(table, notes=told_notes(reading, told))


def _accepted(table: EncodedTable, network: Network, how: How) -> EncodedTable:
    for option, is_given in (("weight", how.weight is not None), ("latent", bool(how.latent))):
        if is_given:
            raise DataError(
                f"{option}= has no meaning for a table that is already encoded.",
                f"give {option}= when the data are read.",
            )
    own = network.cardinality_of
    if dict(table.cardinality_of) != own:
        names = sorted({*own, *table.cardinality_of})
        other = [name for name in names if own.get(name) != table.cardinality_of.get(name)]
        raise DataError(
            "the table was encoded for another network: the variables (or their numbers of "
            f"states) differ in {listed(other)}.",
            "read the data again with this network.",
        )
    if table.variables == network.variables:
        return table
    columns = {name: table.columns[name] for name in network.variables}
    return EncodedTable.of(own, columns, table.weights, table.notes, table.row_numbers)


@dataclass
class Told:
    """What was met while rows were read; that of several parts adds up.

    ``given`` counts the rows, ``kept`` those of a weight above zero.
    """

    given: int = 0
    kept: int = 0
    odd_in: dict[str, OddCells] = field(default_factory=dict)

    @classmethod
    def of(cls, encoders: Encoders, given: int, kept: int) -> Told:
        """What encoders remember."""
        odd = {name: OddCells(own.stripped, own.refused) for name, own in encoders.items()}
        return cls(given, kept, odd)

    def add(self, other: Told) -> None:
        """Take in what was met in other rows."""
        self.given += other.given
        self.kept += other.kept
        for name, odd in other.odd_in.items():
            own = self.odd_in.setdefault(name, OddCells())
            own.stripped.update(odd.stripped)
            own.refused.update(odd.refused)


@dataclass
class OddCells:
    """The cells of a column that had spaces around their value, or no known value."""

    stripped: Counter[object] = field(default_factory=Counter)
    refused: Counter[object] = field(default_factory=Counter)


def told_notes(reading: Reading, told: Told, warned: set[str] | None = None) -> tuple[str, ...]:
    """The notes on rows that were read, also given as warnings unless they were before.

    Raises
    ------
    DataError
        There were no rows at all, or none of a weight above zero.
    """
    if not told.given:
        raise DataError(f"{reading.source.label} has no rows.")
    if not told.kept:
        raise WeightError("every row has weight zero.", "give at least one row a weight above 0.")
    notes = (*reading.notes, *remarks(reading, told.odd_in))
    for note in notes:
        if warned is None or note not in warned:
            warn(note, DataWarning)
        if warned is not None:
            warned.add(note)
    if told.kept == told.given:
        return notes  # that rows of weight zero are left out was asked for: no warning
    left_out = told.given - told.kept
    zero = f"left out {left_out} of {counted(told.given, 'row')}: their weight is zero."
    return (*notes, zero)


class Collected:
    """Batches put together, column by column."""

    def __init__(self, cardinality_of: Mapping[str, int]) -> None:
        self.cardinality_of = cardinality_of
        self.given = self.rows = 0
        self._columns = {v: Growing(code_type(size)) for v, size in cardinality_of.items()}
        self._weights, self._numbers = Growing(np.float64), Growing(np.int64)

    def append(self, batch: EncodedBatch) -> None:
        """Put the next rows in."""
        self.given += batch.given
        for name, codes in batch.columns.items():
            self._columns[name].append(codes, batch.expected)
        self.rows = next(iter(self._columns.values())).length
        if batch.weights is not None and batch.row_numbers is not None:
            self._weights.append(batch.weights, batch.expected)
            self._numbers.append(batch.row_numbers, batch.expected)

    @property
    def whole(self) -> tuple[Mapping[str, int], dict[str, Codes], FloatArray | None]:
        """The numbers of states, the columns, and the weights if there are any."""
        columns = {name: column.whole for name, column in self._columns.items()}
        return self.cardinality_of, columns, self._weights.whole if self._weights.length else None

    @property
    def row_numbers(self) -> NDArray[np.int64] | None:
        """The numbers of the rows, if some of weight zero were left out."""
        return self._numbers.whole if self.rows < self.given else None


class Growing:
    """Values appended piece by piece, with room made ahead.

    Room is made at once for as many values as are expected: memory that is never written is
    never resident, so expecting too many costs nothing, and expecting too few one copy.

    Examples
    --------
    >>> growing = Growing(np.int64)
    >>> for piece in ([1, 2], [3]):
    ...     growing.append(np.array(piece), expected=3)
    >>> growing.whole
    array([1, 2, 3])
    """

    def __init__(self, kind: DTypeLike) -> None:
        self.length = 0
        self._room: NDArray[Any] = np.empty(0, kind)

    def append(self, values: NDArray[Any], expected: int | None) -> None:
        """Append some values; ``expected`` is how many there will be in all, if known."""
        end = self.length + len(values)
        if end > len(self._room):
            room = np.empty(max(end, expected or 0, 3 * len(self._room) // 2), self._room.dtype)
            room[: self.length] = self.whole
            self._room = room
        self._room[self.length : end] = values
        self.length = end

    @property
    def whole(self) -> NDArray[Any]:
        """All values appended so far."""
        return self._room[: self.length]
