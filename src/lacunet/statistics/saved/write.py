"""Statistics into files, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.encode import array_of
from lacunet.data.errors import listed
from lacunet.data.table import EncodedTable, SetsOf, code_type, renumbered, sets_of_both
from lacunet.data.write import to_arrow
from lacunet.formats.endings import STATISTICS
from lacunet.model.network import Network
from lacunet.output import writing_to
from lacunet.statistics.errors import StatisticsError
from lacunet.statistics.rows import Rows
from lacunet.statistics.saved.header import (
    FAMILIES,
    KEY,
    NUMBERS,
    OWN,
    PART,
    ROWS,
    Header,
    header_of,
)
from lacunet.statistics.saved.parts import Block, CountedPart, Fingerprint
from lacunet.statistics.saved.soundness import Digest

if TYPE_CHECKING:  # statistics write themselves by what is here
    from lacunet.statistics.gather import Statistics


def write_statistics(statistics: Statistics, path: str | PathLike[str]) -> None:
    """Write statistics to a file, whole or not at all."""
    header = header_of(statistics)
    (block,) = header.blocks
    if header.kind == FAMILIES:
        write_families(header, [(statistics, block)], path)
    else:
        rows = RowsToWrite(statistics.distinct.values(), block)
        write_rows([rows], header.network, header.method, path)


@dataclass(frozen=True)
class RowsToWrite:
    """Distinct rows to be written, of parts that are known, or of one that is still to be named.

    ``name`` is None where the parts are known; ``described`` says of the other what is not kept
    of its data, once all its rows were read.
    """

    rows: Iterable[Rows]
    block: Block = ()
    name: str | None = None
    is_named: bool = False
    described: Callable[[CountedPart], CountedPart] = lambda part: part


def write_rows(
    sources: Sequence[RowsToWrite], network: Network, method: str, path: str | PathLike[str]
) -> Header:
    """Write distinct rows, as they come; equal rows of two blocks stay apart."""
    rows, total, missing_of = 0, 0.0, dict.fromkeys(network.variables, 0)
    blocks: list[Block] = []
    with writing(path, network) as file:
        for source in sources:
            before, weight, fingerprint = rows, 0.0, Fingerprint()
            for part in source.rows:
                table = part.table
                file.append_rows(part, len(blocks))
                fingerprint.add(table.columns.values(), part.counts)
                rows, weight = rows + table.row_count, weight + table.total
                missing_of = {name: n + table.missing_of[name] for name, n in missing_of.items()}
            total += weight
            block = source.block
            if source.name is not None:
                named = fingerprint.part(
                    source.name, rows=rows - before, total=weight, is_named=source.is_named
                )
                block = (source.described(named),)
            blocks.append(block)
        header = Header(ROWS, network, method, rows, total, missing_of, None, tuple(blocks))
        return file.finish(header)


def write_families(
    whole: Header, sources: Sequence[tuple[Statistics, Block]], path: str | PathLike[str]
) -> Header:
    """Write counts of families, those of each block apart; ``whole`` is the header of their sum."""
    with writing(path, whole.network) as file:
        for number, (statistics, _) in enumerate(sources):
            file.append_families(statistics, number)
        return file.finish(replace(whole, blocks=tuple(block for _, block in sources)))


def families_part(statistics: Statistics, name: str, *, is_named: bool) -> CountedPart:
    """What a part of which families were counted is called."""
    fingerprint = Fingerprint()
    for number, counts in enumerate(statistics.counts.values()):
        family = np.full(len(counts.keys), number)
        fingerprint.add([family, counts.keys], counts.tally.rows)
    return fingerprint.part(name, rows=statistics.rows, total=statistics.total, is_named=is_named)


class StatisticsWriter:
    """Writes entries to a file of statistics, then its header."""

    def __init__(self, file: Any, network: Network) -> None:
        self._file = file
        self._network = network
        self._writer: Any = None
        self._digest = Digest()
        self._sets: SetsOf = {}  # those of the rows written so far

    def append_rows(self, distinct: Rows, block: int) -> None:
        """Write distinct rows of one block: a column for each variable, then the numbers."""
        names, table, tally = self._network.variables, distinct.table, distinct.tally
        states = [state for name in table.sets_of for state in self._network.states(name)]
        if reserved := [name for name in (*names, *states) if name.startswith(OWN)]:
            raise StatisticsError(
                f"{listed(reserved)} cannot be written: in files of statistics what begins with "
                f"{OWN!r} are not variables, and not states where cells are one of several.",
                "rename them.",
            )
        self._sets = sets_of_both(self._sets, table.sets_of)
        codes = {name: self._codes(table, name) for name in names}
        rows = to_arrow(replace(table.without_sets(), weights=None), self._network)
        columns = dict(zip(rows.column_names, rows.columns, strict=True))
        columns |= {name: self._words(codes[name], name) for name in self._sets}
        self._append(codes, columns, (tally.rows, tally.weights, tally.squares), block)

    def _codes(self, table: EncodedTable, name: str) -> NDArray[Any]:
        """The codes of a variable, sets numbered as in this file."""
        size, sets = self._network.cardinality(name), self._sets.get(name, ())
        kind = code_type(size)
        if size + len(sets) > min(
            np.iinfo(dtype).max for dtype in (kind, np.min_scalar_type(-size))
        ):
            raise StatisticsError(f"{name!r} has too many different sets of states to be written.")
        codes = renumbered(table.columns[name], size, table.sets_of.get(name, ()), sets)
        return codes.astype(kind)

    def _words(self, codes: NDArray[Any], name: str) -> Any:
        """States and sets of a variable as strings; null where nothing is known."""
        import pyarrow as pa

        states, sets = self._network.states(name), self._sets[name]
        words = [*states, *(f"{OWN}{number}" for number in range(len(sets)))]
        size, kind = len(states), np.min_scalar_type(-len(states))  # as without sets
        signed = np.where(codes > size, codes - 1, codes).astype(kind)
        indices = pa.array(signed, mask=codes == size)
        return pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))

    def append_families(self, statistics: Statistics, block: int) -> None:
        """Write counts of families of one block: an entry for each cell that occurs."""
        import pyarrow as pa

        every = [(False, counts) for counts in statistics.counts.values()]
        every += [(True, counts) for counts in statistics.complete.values()]
        lengths = [len(counts.keys) for _, counts in every]
        names = np.array(self._network.variables, dtype=object)
        places = [self._network.variables.index(counts.scope[-1]) for _, counts in every]
        family = np.repeat(np.array(places, dtype=np.int32), lengths)
        sides = np.repeat(np.array([side for side, _ in every]), lengths)
        cells = np.concatenate([counts.keys for _, counts in every])
        numbers = [
            np.concatenate([getattr(counts.tally, kind) for _, counts in every])
            for kind in ("rows", "weights", "squares")
        ]
        columns = {
            "family": pa.array(names[family], pa.string()),
            "complete": pa.array(sides),
            "cell": array_of(cells),
        }
        self._append({"family": family, "complete": sides, "cell": cells}, columns, numbers, block)

    def _append(
        self,
        codes: Mapping[str, NDArray[Any]],
        columns: Mapping[str, Any],
        numbers: Sequence[NDArray[Any]],
        block: int,
    ) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        rows, weights, squares = numbers
        extras: dict[str, NDArray[Any]] = {
            NUMBERS[0]: rows.astype(np.int64),
            NUMBERS[1]: weights.astype(np.float64),
            NUMBERS[2]: squares.astype(np.float64),
            PART: np.full(len(rows), block, dtype=np.int32),
        }
        self._digest.add({**codes, **extras})
        table = pa.table({**columns, **{name: array_of(values) for name, values in extras.items()}})
        if self._writer is None:
            self._writer = parquet.ParquetWriter(
                self._file, table.schema, write_page_checksum=True, compression="zstd"
            )
        self._writer.write_table(table)

    def finish(self, header: Header) -> Header:
        """Write the header, without which the file is invalid; as it was written."""
        assert self._writer is not None  # no statistics are without rows
        header = replace(header, data=self._digest.text(), sets_of=self._sets)
        self._writer.add_key_value_metadata({KEY: json.dumps(header.as_data())})
        self._writer.close()
        return header


@contextmanager
def writing(path: str | PathLike[str], network: Network) -> Iterator[StatisticsWriter]:
    """A writer to a file that is there when all is written, and not before."""
    if not str(path).endswith(STATISTICS):
        raise StatisticsError(
            f"the name {str(path)!r} does not say that it holds statistics.",
            f"end it in {STATISTICS}.",
        )
    with writing_to(path, StatisticsError) as file:
        yield StatisticsWriter(file, network)
