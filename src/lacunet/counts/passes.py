"""How often rows must be read for what is needed, and which of them must be kept together.

Family counts, problems and distinct rows add up whatever the parts. Groups of rows add up
before they are reduced; where they could be too many to hold, the rows of a group must be in
one part. All rows that agree on some variables are kept together by a hash of these: one such
*key* serves every family whose groups agree on it, and the rows are spread over files by the hash.
Rows are divided into folds by what they hold, so equal rows must be together then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import prod
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.ragged import hash64
from lacunet.counts.gather import Gathering, Grouping, Needs, Statistics, with_dealt, with_reduced
from lacunet.data.scratch_rows import Coded, CodeWriter
from lacunet.data.table import EncodedTable
from lacunet.network.network import Network, Scope

GROUP_BYTES = 48  # of a cell in a group: its numbers, weight, rows and squares
ENOUGH_VALUES = 2**12  # configurations of a key that spread rows over many parts


def passes(gathering: Gathering, most_bytes: float) -> list[Gathering]:
    """What each reading of all rows gathers, holding so many bytes of groups at most."""
    needs, network = gathering.needs, gathering.network
    few, many = _by_size(needs.groupings, network, most_bytes)
    usual = None if needs.folds is None else network.variables  # equal rows have equal folds
    classes: Sequence[tuple[Scope | None, Sequence[Grouping]]] = _classes(many, network)
    (together, members), *later = classes or [(usual, ())]
    first = replace(
        gathering,
        needs=replace(needs, groupings=(*few, *members)),
        shared=frozenset(asked.family for asked in few),
        together=together,
    )
    others = [(Needs((), groupings=tuple(asked), folds=needs.folds), key) for key, asked in later]
    return [first, *(replace(gathering, needs=more, together=key) for more, key in others)]


def in_passes(
    gathering: Gathering, most_bytes: float, count: Callable[[Gathering], Statistics]
) -> Statistics:
    """Count what is needed, reading the rows as often as that takes.

    Parameters
    ----------
    most_bytes
        What groups may take that are held until all rows are read.
    count
        Counts what is asked in one reading.
    """

    def counted(asked: Gathering) -> Statistics:
        gathered = [with_reduced(count(once), once) for once in passes(asked, most_bytes)]
        reduced = {scope: tables for part in gathered for scope, tables in part.reduced.items()}
        return replace(gathered[0], reduced=reduced)

    return with_dealt(gathering, counted)


def _by_size(
    groupings: Sequence[Grouping], network: Network, most_bytes: float
) -> tuple[list[Grouping], list[Grouping]]:
    """Those whose groups fit in memory whatever the rows, smallest first, and the others."""
    few: list[Grouping] = []
    many: list[Grouping] = []
    left = most_bytes
    for asked in sorted(groupings, key=lambda asked: _cells(asked, network)):
        needed = GROUP_BYTES * _cells(asked, network)
        is_few = needed <= left or not asked.given  # all rows are one group: a table of a family
        (few if is_few else many).append(asked)
        left -= needed if is_few else 0
    return few, many


def _cells(asked: Grouping, network: Network) -> int:
    given = prod(network.cardinality(name) for name in asked.given)
    return given * prod(network.cardinality(name) + 1 for name in asked.hidden)


def _classes(groupings: Sequence[Grouping], network: Network) -> list[tuple[Scope, list[Grouping]]]:
    """Groupings that one key serves, with the key."""
    classes: list[tuple[Scope, list[Grouping]]] = []
    for asked in groupings:
        for index, (key, members) in enumerate(classes):
            both = tuple(name for name in key if name in asked.given)
            values = prod(network.cardinality(name) for name in both)
            if both == key or values >= ENOUGH_VALUES:
                classes[index] = both, [*members, asked]
                break
        else:
            classes.append((asked.given, [asked]))
    return classes


MOST_PARTS = 256  # files that are open at once, and values of the narrowest integer


def spread(
    tables: Iterable[EncodedTable], *, key: Scope, parts: int, folder: Path, salt: int = 0
) -> list[Coded]:
    """Write the rows to one file for each part.

    Parameters
    ----------
    key
        Rows that agree on these variables go to the same part.
    parts
        The number of parts, at most 256.
    folder
        The files go to a new folder within it.
    salt
        Another one spreads the rows of one part again.
    """
    folder = folder / uuid4().hex
    folder.mkdir()
    with ExitStack() as stack:
        writers: list[CodeWriter] = []
        for table in tables:
            writers = writers or [
                stack.enter_context(CodeWriter(folder / str(part), table.cardinality_of))
                for part in range(parts)
            ]
            target = part_of(table, key, parts, salt)
            order = np.argsort(target, kind="stable")
            ends = np.cumsum(np.bincount(target, minlength=parts))
            sorted_rows = table.take(order)
            for part, (start, stop) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
                if stop > start:
                    writers[part].append(sorted_rows.take(slice(start, stop)))
        return [writer.finished() for writer in writers]


def part_of(table: EncodedTable, key: Scope, parts: int, salt: int = 0) -> NDArray[np.uint8]:
    """The part of each row, by a hash of its values of ``key``.

    Examples
    --------
    >>> codes = {"A": np.array([0, 1, 0, 1], np.uint8), "B": np.array([0, 0, 1, 1], np.uint8)}
    >>> part = part_of(EncodedTable({"A": 2, "B": 2}, codes), ("A",), 256)
    >>> bool(part[0] == part[2]), bool(part[1] == part[3])
    (True, True)
    """
    return ((hash32(table, key, salt) * np.uint64(parts)) >> np.uint64(32)).astype(np.uint8)


def hash32(table: EncodedTable, key: Scope, salt: int) -> NDArray[np.uint64]:
    """A number of 32 bits for each row, by its values of ``key``."""
    hashes = np.zeros(table.rows, dtype=np.uint64)
    for index, name in enumerate(key):
        codes = np.arange(table.cardinality_of[name] + 1 + len(table.sets_of.get(name, ())))
        hashes += hash64(codes, index)[table.columns[name]]
    return hash64(hashes, salt) >> np.uint64(32)
