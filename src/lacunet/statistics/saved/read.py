"""Statistics out of files again; nothing in a file is believed before it is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.data.encode import filled, values_of
from lacunet.data.read import ReadReport
from lacunet.data.table import EncodedTable, SetsOf, code_type, renumbered, sets_of_both, shared
from lacunet.model.network import Network, Scope
from lacunet.statistics.counts import Counts, Tally
from lacunet.statistics.errors import StatisticsError
from lacunet.statistics.rows import Rows
from lacunet.statistics.saved.header import (
    FAMILIES,
    NUMBERS,
    OWN,
    PART,
    REMAKE,
    Header,
    believed,
)
from lacunet.statistics.saved.parts import Block
from lacunet.statistics.saved.soundness import (
    CLOSE,
    Digest,
    Numbers,
    check_entries,
    check_families,
    refuse,
)

MOST_ROWS = 2**18  # read at a time


class SavedCounts(NamedTuple):
    """The counts of all families in one block of a file, and of its complete rows if it has them.

    ``missing_of`` says in how many of its rows each variable is missing.
    """

    counts: Mapping[Scope, Counts]
    complete: Mapping[Scope, Counts]
    missing_of: Mapping[str, int]
    complete_rows: int


def entries_in(path: Path) -> int:
    """The number of distinct rows, or of cells, in a file."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return int(file.metadata.num_rows)


@dataclass(frozen=True)
class SavedRows:
    """The distinct rows in a file of statistics; they can be read again and again.

    ``block`` chooses those of one block of parts. ``sets_of`` are the sets of states that the rows
    of several files are one of: tables number them alike, whichever file they come from.
    """

    network: Network
    path: Path
    block: int | None = None
    sets_of: SetsOf = field(default_factory=dict)

    def tables(self, most: int, read_report: ReadReport | None = None) -> Iterator[EncodedTable]:
        """The rows, at most so many at a time.

        Raises
        ------
        StatisticsError
            The file is damaged; it may be raised after the last rows.
        """
        header = Header.read(self.path)
        names, sizes = self.network.variables, self.network.cardinality_of
        sets_of = sets_of_both(self.sets_of, header.sets_of)
        missing = np.zeros(len(names), dtype=np.int64)

        def coded(batch: Any) -> dict[str, Any]:
            return {name: self._codes(batch, name, header.sets_of.get(name, ())) for name in names}

        with believed(self.path):
            entries = _entries(self.path, header, dict.fromkeys(names, "string"), coded, most)
            for codes, numbers, block in entries:
                missing += [int(numbers[0][codes[v] >= sizes[v]].sum()) for v in names]
                for name, sets in sets_of.items():  # in all files the same type
                    here, kind = header.sets_of.get(name, ()), code_type(sizes[name], len(sets))
                    codes[name] = renumbered(codes[name], sizes[name], here, sets).astype(kind)
                table = Rows.tallied(sizes, codes, _tally(*numbers), sets_of).table
                if self.block is not None:
                    table = table.take(block == self.block)
                if read_report is not None:
                    read_report.add(ReadReport(given=table.rows, kept=table.rows))
                if table.rows:
                    yield table
            if dict(zip(names, missing.tolist(), strict=True)) != header.missing_of:
                refuse("variables are not missing as often as it says")

    def _codes(self, batch: Any, name: str, sets: Sequence[tuple[int, ...]]) -> NDArray[Any]:
        column, states = batch.column(name), self.network.states(name)
        words = column.dictionary.to_pylist()
        code_of = {state: code for code, state in enumerate(states)}
        code_of |= {f"{OWN}{number}": len(states) + 1 + number for number in range(len(sets))}
        if not set(words) <= set(code_of):
            refuse(f"{name!r} has a state that its network does not have")
        codes = np.array([*map(code_of.get, words), len(states)], dtype=code_type(len(states)))
        return codes[filled(column.indices, len(words))]


# Of each family, among all rows or the complete ones: keys, rows, weights and squares of cells.
Families = dict[tuple[str, bool], list[list[NDArray[Any]]]]


def saved_counts(path: str | PathLike[str], header: Header) -> list[SavedCounts]:
    """The counts of families in a file, block by block.

    Raises
    ------
    StatisticsError
        The file is damaged.
    """
    with believed(path):
        families = _families(path, header)
        blocks = [_of_block(*pair, header) for pair in zip(families, header.blocks, strict=True)]
        lacking = {v: sum(block.missing_of[v] for block in blocks) for v in header.missing_of}
        complete = sum(block.complete_rows for block in blocks)
        if lacking != header.missing_of or complete != (header.complete_rows or 0):
            refuse("variables are not missing as often as it says")
    return blocks


def _families(path: str | PathLike[str], header: Header) -> list[Families]:
    """The cells of each family, block by block."""
    network = header.network
    blocks: list[Families] = [{} for _ in header.blocks]

    def coded(batch: Any) -> dict[str, Any]:
        names = batch.column("family").dictionary.to_pylist()
        if batch.column("family").null_count or not set(names) <= set(network.variables):
            refuse("it has the counts of a family that its network does not have")
        index = np.array([network.variables.index(name) for name in names], dtype=np.int32)
        return {
            "family": index[values_of(batch.column("family").indices)],
            "complete": np.array(batch.column("complete"), dtype=bool),
            "cell": values_of(batch.column("cell")),
        }

    kinds = {"family": "string", "complete": "bool", "cell": "int64"}
    for codes, numbers, block in _entries(path, header, kinds, coded):
        family, sides, cells = codes.values()
        for child, side, where in sorted(
            set(zip(family.tolist(), sides.tolist(), block.tolist(), strict=True))
        ):
            chosen = (family == child) & (sides == side) & (block == where)
            parts = blocks[where].setdefault((network.variables[child], side), [])
            parts.append([column[chosen] for column in (cells, *numbers)])
    return blocks


def _of_block(families: Families, parts: Block, header: Header) -> SavedCounts:
    """The counts of one block, if they can be."""
    network = header.network
    sides: tuple[dict[str, Counts], ...] = ({}, {})  # all rows, and the complete ones
    for (name, side), cells in families.items():
        keys, *numbers = map(np.concatenate, zip(*cells, strict=True))
        scope = network.family(name)
        sides[side][name] = Counts(scope, network.shape(scope), keys, _tally(*numbers))
    every, complete = sides
    checked = check_families(every, complete, network, sum(part.rows for part in parts))
    if header.complete_rows is not None and not complete:  # there were no such rows
        complete = {name: counts.take(slice(0)) for name, counts in every.items()}
    counts, whole = (
        {scope: side[scope[-1]] for scope in network.families if side} for side in (every, complete)
    )
    return SavedCounts(counts, whole, *checked)


def _tally(rows: NDArray[Any], weights: NDArray[Any], squares: NDArray[Any]) -> Tally:
    return Tally(*shared(weights, rows.astype(np.float64), squares))


def _entries(
    path: str | PathLike[str],
    header: Header,
    kinds: Mapping[str, str],
    coded: Callable[[Any], dict[str, Any]],
    most: int = MOST_ROWS,
) -> Iterator[tuple[dict[str, Any], Numbers, NDArray[np.int32]]]:
    """The entries of a file as codes, the numbers beside them, and the block of each.

    After the last ones it is checked that they add up to what the header says.
    """
    rows_of, total, digest = np.zeros(len(header.blocks)), 0.0, Digest()
    for batch in _batches(path, kinds, most):
        codes = coded(batch)
        if any(batch.column(name).null_count for name in (*NUMBERS, PART)):
            refuse("a number is missing")
        *numbers, block = (values_of(batch.column(name)) for name in (*NUMBERS, PART))
        rows, weights, squares = numbers
        check_entries(rows, weights, squares)
        if not 0 <= block.min() <= block.max() < len(rows_of):
            refuse("an entry belongs to none of its parts")
        digest.add({**codes, **dict(zip(NUMBERS, numbers, strict=True)), PART: block})
        where: Any = slice(None)
        if header.kind == FAMILIES:  # every family counts all rows
            where = (codes["family"] == 0) & ~codes["complete"]
        rows_of += np.bincount(block[where], rows[where], minlength=len(rows_of))
        total += float(weights[where].sum())
        yield codes, (rows, weights, squares), block
    if rows_of.tolist() != [sum(part.rows for part in block) for block in header.blocks]:
        refuse(f"its entries have {rows_of.sum():,.0f} rows, and {header.rows:,} were counted")
    if not isclose(total, header.total, rel_tol=CLOSE, abs_tol=CLOSE):
        refuse(f"its entries weigh {total!r}, and {header.total!r} was counted")
    if header.data and digest.text() != header.data:
        refuse("its contents were changed")


def _batches(path: str | PathLike[str], kinds: Mapping[str, str], most: int) -> Iterator[Any]:
    """The record batches of a file with columns of these kinds, and the numbers; no empty ones.

    Columns of strings come as dictionaries. In files of the first version all is one part.
    """
    import pyarrow as pa
    from pyarrow import parquet

    texts = [name for name, kind in kinds.items() if kind == "string"]
    expected = {**kinds, **dict(zip(NUMBERS, ("int64", "double", "double"), strict=True))}
    try:
        schema = parquet.read_schema(path)
        if PART in schema.names:
            expected[PART] = "int32"
        types = {field.name: str(getattr(field.type, "value_type", field.type)) for field in schema}
        if types != expected or len(schema.names) != len(expected):
            refuse("it does not have the columns that its kind has")
        with parquet.ParquetFile(
            path, read_dictionary=texts, page_checksum_verification=True
        ) as file:
            for batch in file.iter_batches(min(most, MOST_ROWS), columns=list(expected)):
                batch.validate(full=True)  # indices within their dictionaries
                if batch.num_rows:
                    zeros = pa.array(np.zeros(batch.num_rows, np.int32))
                    yield batch if PART in expected else batch.append_column(PART, zeros)
    except (pa.ArrowException, OSError) as error:
        raise StatisticsError(f"{str(path)!r} is damaged: {error}.", REMAKE) from None
