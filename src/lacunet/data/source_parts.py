"""Where rows come from: one or more parts, each read piece by piece.

Every kind of input becomes a `DataSource`: the rooms behind the door know columns of Arrow
arrays and nothing of files or data frames.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lacunet.data.copies_columns import COUNTED_FROM, VARIABLES_KEY
from lacunet.data.errors import DataError, refuse_duplicates, short_list
from lacunet.text import counted

PIECE_ROWS = 1 << 18  # with 37 columns about 40 MB of dictionary indices: well in bounds

# An Arrow array, or a list of Python objects where Arrow has no type for the mixture.
Column = Any


@dataclass(frozen=True)
class Piece:
    """Some consecutive rows; ``bytes_read`` of the part, where its size is that of a file."""

    columns: Mapping[str, Column]
    rows: int
    bytes_read: int = 0


@dataclass(frozen=True)
class Part:
    """One file or data frame."""

    label: str  # what messages call it
    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[Piece]]  # the rows of some columns, in order
    size: int | None  # the number of rows, if it is known before reading, or of bytes
    unit: str = "rows"  # of the size: "rows" or "bytes"
    # Turns row numbers (from 0) into lines of a text file.
    lines_of: Callable[[Sequence[int]], Mapping[int, int]] | None = None
    is_once: bool = False  # it can be read one time only
    # In how many rows each column holds none of its values, where that is known before reading.
    nulls: Callable[[Sequence[str]], Mapping[str, int | None] | None] | None = None
    # Every value of some columns at least once, where that takes less than reading all rows.
    values: Callable[[Sequence[str]], Iterator[Piece]] | None = None
    # What a table of counted rows says of its columns (`lacunet.data.copies_columns`).
    description: Mapping[str, Any] = field(default_factory=dict)
    # Columns that come as dictionaries of Arrow for speed alone: they declare no categories.
    packed: Collection[str] = ()

    def places(self, rows: Sequence[int]) -> dict[int, str]:
        """The words for where each of the rows (from 0) is found."""
        lines = self.lines_of(rows) if self.lines_of else {}
        return {
            row: f"{self.label}, " + (f"line {lines[row]}" if row in lines else f"row {row + 1}")
            for row in rows
        }


@dataclass(frozen=True)
class DataSource:
    """The parts, in the order of their rows. All have the same columns, in any order."""

    parts: tuple[Part, ...]

    @property
    def label(self) -> str:
        """The data in words, for messages."""
        first = self.parts[0].label
        more = counted(len(self.parts) - 1, "more part")
        return first if len(self.parts) == 1 else f"{first} (and {more})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the first part's order."""
        return self.parts[0].columns

    @property
    def total(self) -> int | None:
        """The size of all parts together, None where it cannot be told before reading."""
        sizes = [part.size for part in self.parts if part.size is not None]
        one_unit = len({part.unit for part in self.parts}) == 1
        return sum(sizes) if one_unit and len(sizes) == len(self.parts) else None

    @property
    def rows(self) -> int | None:
        """The number of rows, None where it cannot be told before reading."""
        return self.total if all(part.unit == "rows" for part in self.parts) else None


def source_of(parts: Sequence[Part]) -> DataSource:
    """The parts together, once they are known to have the same columns."""
    first = parts[0]
    for part in parts:
        refuse_duplicates(part.label, part.columns)
        here = set(part.columns)
        there = set(first.columns)
        if here != there:
            raise DataError(
                f"the parts have different columns: {part.label} lacks "
                f"{short_list(sorted(there - here))} and adds {short_list(sorted(here - there))} "
                f"compared with {first.label}.",
                "read them apart, or give all parts the same columns (in any order).",
            )
        keys = {*part.description, *first.description} - {COUNTED_FROM, VARIABLES_KEY}
        other = [
            key for key in sorted(keys) if part.description.get(key) != first.description.get(key)
        ]
        if other:
            raise DataError(
                f"{part.label} and {first.label} say different things of their columns, in "
                f"{short_list(other)}.",
                "count the data again, all parts with the same network and the same options.",
            )
    return DataSource(tuple(parts))


def with_nulls(source: DataSource, known: Collection[str]) -> DataSource:
    """The same rows, with nulls for the empty cells of text files, but for ``known`` columns.

    Those are read by what the network says of them: an empty cell may be a state.
    """
    parts = []
    for part in source.parts:
        is_text_file = part.lines_of is not None
        if is_text_file:
            parts.append(replace(part, read=partial(_read_with_nulls, part.read, known)))
        else:
            parts.append(part)
    return DataSource(tuple(parts))


def _read_with_nulls(
    read: Callable[[Sequence[str]], Iterator[Piece]], known: Collection[str], wanted: Sequence[str]
) -> Iterator[Piece]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for piece in read(wanted):
        columns = dict(piece.columns)
        for name in wanted:
            if name.strip() not in known:
                texts = columns[name].cast(pa.string())
                columns[name] = pc.if_else(pc.equal(texts, ""), None, texts)
        yield replace(piece, columns=columns)


def pieces_of(batches: Iterator[Any], columns: Sequence[str]) -> Iterator[Piece]:
    """Arrow record batches as pieces, sliced where they are large."""
    for batch in batches:
        held = {name: _column(batch, name) for name in columns}
        for column in held.values():
            validate(column)
        for start in range(0, batch.num_rows, PIECE_ROWS):
            rows = min(PIECE_ROWS, batch.num_rows - start)
            yield Piece({name: column.slice(start, rows) for name, column in held.items()}, rows)


def _column(batch: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        return batch.column(name)
    except KeyError:  # PyArrow reads files with more types than it has arrays for
        raise pa.ArrowNotImplementedError(f"the type of the column {name!r} is not known") from None


def validate(column: Any) -> None:
    """Refuse an index or an offset that points outside of its array.

    Arrow trusts the bytes of a file: such a one would be read as anything, or crash the process.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column.validate(full=True)
        return
    from pyarrow import compute

    column.validate()
    column.dictionary.validate(full=True)
    ends = compute.min_max(column.indices).as_py()  # in half the time of a full validation
    if ends["min"] is not None and not 0 <= ends["min"] <= ends["max"] < len(column.dictionary):
        raise pa.ArrowInvalid(f"dictionary indices {ends['min']} to {ends['max']} out of bounds")
