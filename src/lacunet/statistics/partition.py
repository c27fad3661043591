"""Rows spread over files by a hash of some of their values, so that equal ones are together."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from lacunet.data.coded import Coded, CodeWriter
from lacunet.data.read import Told
from lacunet.data.stream import Stretch
from lacunet.data.table import EncodedTable
from lacunet.model.network import Scope
from lacunet.statistics.problems.ragged import mixed

MOST_PARTS = 256  # files that are open at once, and values of the narrowest integer


def spread(
    stretch: Stretch, *, key: Scope, parts: int, folder: Path, most: int, salt: int = 0
) -> tuple[list[Coded], Told]:
    """Write the rows to one file for each part, and say what was met while reading them.

    Parameters
    ----------
    key
        Rows that agree on these variables go to the same part.
    parts
        The number of parts, at most 256.
    folder
        The files go to a new folder within it.
    most
        Rows that are held at a time.
    salt
        Another one spreads the rows of one part again.
    """
    folder = folder / uuid4().hex
    folder.mkdir()
    told = Told()
    with ExitStack() as stack:
        writers: list[CodeWriter] = []
        for table in stretch.tables(most, told):
            writers = writers or [
                stack.enter_context(CodeWriter(folder / str(part), table.cardinality_of))
                for part in range(parts)
            ]
            place = part_of(table, key, parts, salt)
            order = np.argsort(place, kind="stable")
            ends = np.cumsum(np.bincount(place, minlength=parts))
            sorted_rows = table.take(order)
            for part, (start, stop) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
                if stop > start:
                    writers[part].append(_slice(sorted_rows, start, stop))
        return [writer.finished() for writer in writers], told


def part_of(table: EncodedTable, key: Scope, parts: int, salt: int = 0) -> NDArray[np.uint8]:
    """The part of each row, by a hash of its values of ``key``.

    Examples
    --------
    >>> codes = {"A": np.array([0, 1, 0, 1], np.uint8), "B": np.array([0, 0, 1, 1], np.uint8)}
    >>> part = part_of(EncodedTable.of({"A": 2, "B": 2}, codes), ("A",), 256)
    >>> bool(part[0] == part[2]), bool(part[1] == part[3])
    (True, True)
    """
    return ((stirred(table, key, salt) * np.uint64(parts)) >> np.uint64(32)).astype(np.uint8)


def stirred(table: EncodedTable, key: Scope, salt: int) -> NDArray[np.uint64]:
    """A number of 32 bits for each row, by its values of ``key``."""
    hashes = np.zeros(table.rows, dtype=np.uint64)
    for place, name in enumerate(key):
        codes = np.arange(table.cardinality_of[name] + 1)
        hashes += mixed(codes, place)[table.columns[name]]
    return mixed(hashes, salt) >> np.uint64(32)


def _slice(table: EncodedTable, start: int, stop: int) -> EncodedTable:
    """Some rows, without counting again what they miss."""
    rows = slice(start, stop)
    return EncodedTable(
        table.cardinality_of,
        {name: column[rows] for name, column in table.columns.items()},
        None if table.weights is None else table.weights[rows],
        stop - start,
        table.missing_of,
        copies=None if table.copies is None else table.copies.take(rows),
    )
