"""The one door for data: whatever holds rows becomes an encoded table.

Reading is planned first (`lacunet.data.reading`: which columns, by which rules), then done piece
by piece (`lacunet.data.batches`), then collected here. Nothing but codes is ever held for more
than a few pieces, so memory is bounded by the codes themselves.

An array that grows at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from lacunet.data.batches import EncodedBatch, batches, encoders_of, remarks
from lacunet.data.errors import DataError, DataWarning, WeightError, listed
from lacunet.data.reading import Unknown, plan_reading
from lacunet.data.table import EncodedTable, code_type
from lacunet.errors import warn
from lacunet.model.network import Network
from lacunet.progress import Progress, silent
from lacunet.wording import counted


def read_table(
    data: Any,
    network: Network,
    *,
    weight: str | ArrayLike | None = None,
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
    if isinstance(data, EncodedTable):
        return _accepted(data, network, weight, latent)
    reading = plan_reading(
        data, network, weight=weight, missing=missing, unknown=unknown, latent=latent
    )
    encoders = encoders_of(reading)
    table = _collected(network, batches(reading, encoders, progress), reading.source.label)
    notes = (*reading.notes, *remarks(reading, encoders))
    for note in notes:  # not that rows of weight zero are left out: that was asked for
        warn(note, DataWarning)
    return replace(table, notes=(*notes, *table.notes))


def _accepted(
    table: EncodedTable, network: Network, weight: object, latent: Sequence[str]
) -> EncodedTable:
    for option, is_given in (("weight", weight is not None), ("latent", bool(latent))):
        if is_given:
            raise DataError(
                f"{option}= has no meaning for a table that is already encoded.",
                f"give {option}= when the data are read.",
            )
    own = {name: network.cardinality(name) for name in network.variables}
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


def _collected(network: Network, rows: Iterable[EncodedBatch], label: str) -> EncodedTable:
    """All batches together."""
    cardinality_of = {name: network.cardinality(name) for name in network.variables}
    columns = {name: Growing(code_type(states)) for name, states in cardinality_of.items()}
    weights, numbers = Growing(np.float64), Growing(np.int64)
    given = 0
    for batch in rows:
        given += batch.given
        for name, codes in batch.columns.items():
            columns[name].append(codes, batch.expected)
        if batch.weights is not None and batch.row_numbers is not None:
            weights.append(batch.weights, batch.expected)
            numbers.append(batch.row_numbers, batch.expected)
    if not given:
        raise DataError(f"{label} has no rows.")
    whole = {name: column.whole for name, column in columns.items()}
    if not weights.length and next(iter(whole.values())).size:
        return EncodedTable.of(cardinality_of, whole)
    return _weighted(EncodedTable.of(cardinality_of, whole, weights.whole), given, numbers.whole)


def _weighted(table: EncodedTable, given: int, numbers: NDArray[np.int64]) -> EncodedTable:
    """The table, with the numbers of its rows if some were of weight zero."""
    if not table.rows:
        raise WeightError(
            "every row has the weight zero.", "give at least one row a weight above 0."
        )
    if table.rows == given:
        return table
    left_out = given - table.rows
    note = f"left out {left_out} of {counted(given, 'row')}: their weight is zero."
    return replace(table, notes=(note,), row_numbers=numbers)


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
