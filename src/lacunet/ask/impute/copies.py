"""Rows that stand for several, each once: a draw is made for every copy.

Copies of a row show the same, and what they miss is drawn for each of them: with one draw for all,
completed tables would differ more than they should.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.data import Data
from lacunet.data.encode import first_wrong, number_column
from lacunet.data.errors import DataError
from lacunet.data.original_tables import repeat_rows
from lacunet.data.source_parts import DataSource
from lacunet.limits import Memory, gibibytes, memory_budget

BYTES_PER_COMPLETED_CELL = 16  # a code and a cell, both of which are held twice
COPIES_AT_ONCE = 65_536  # copies that are made at a time

RowIndices = NDArray[np.int64]


@dataclass(frozen=True)
class CountedRows:
    """Which column, or which numbers beside the data, say how many rows each row stands for."""

    counts: str | NDArray[Any]
    decimal: str

    @classmethod
    def of(cls, data: Data, learned: Any, source: DataSource) -> CountedRows | None:
        """What the data say, or a column that the result was learned with; None if rows are one."""
        named = [*getattr(learned, "beside", {}).get("counts", ())]
        if data.counts is not None:
            return cls(data.counts, data.decimal)
        if named and named[0] in source.columns:
            return cls(named[0], data.decimal)
        return None

    @property
    def column(self) -> str:
        """The column of counts, which becomes one of ones; "" if there is none."""
        return self.counts if isinstance(self.counts, str) else ""

    def whole(self, source: DataSource) -> RowIndices:
        """How many rows each row of data in memory stands for."""
        columns = [self.column] if self.column else [*source.columns][:1]
        parts: list[RowIndices] = [np.zeros(0, np.int64)]
        first = 0
        for part in source.parts:
            for piece in part.read(columns):
                parts.append(self.numbers(piece.columns, first, piece.rows))
                first += piece.rows
        return np.concatenate(parts)

    def numbers(self, columns: Any, first: int, rows: int) -> RowIndices:
        """How many rows each of some rows stands for, of which the ``first`` has that number."""
        if isinstance(self.counts, str):
            column = columns[self.counts]
            if hasattr(column, "combine_chunks"):
                column = column.combine_chunks()
            numbers = number_column(column, self.decimal)
        else:
            numbers = self.counts[first : first + rows]
        wrong = first_wrong(numbers)
        if wrong is None:
            is_part = numbers % 1 != 0
            wrong = int(np.argmax(is_part)) if is_part.any() else None
        if wrong is not None:
            raise DataError(
                f"row {first + wrong + 1} stands for {numbers[wrong]:g} rows: one draw is made "
                "for each row, so that counts have to be whole numbers.",
                "how='most probable' (--most-probable) completes each row once.",
            )
        return np.asarray(numbers, np.int64)

    def expanded(self, frame: Any, source: DataSource, draws: int, memory: Memory) -> Any:
        """A frame in memory in which each copy is a row.

        Raises
        ------
        DataError
            The completed tables would need more than the memory budget.
        """
        copies = self.whole(source)
        budget = memory_budget(memory)
        rows = int(copies.sum())
        needed = float(rows) * len(source.columns) * (draws + 1) * BYTES_PER_COMPLETED_CELL
        if needed > budget:
            raise DataError(
                f"the rows stand for {rows:,}, and {draws} completed tables of so many need about "
                f"{gibibytes(needed)}, over the budget of {gibibytes(budget)}.",
                "raise memory=... (--memory), or write files, which takes some rows at a time: "
                "lacunet impute result.json DATA --draws M -o OUT.",
            )
        return repeat_rows(frame, np.repeat(np.arange(len(copies)), copies), self.column)


def copies_in_parts(copies: RowIndices) -> Iterator[RowIndices]:
    """The place of the row behind each copy, some copies at a time.

    Examples
    --------
    >>> [part.tolist() for part in copies_in_parts(np.array([2, 0, 1]))]
    [[0, 0, 2]]
    """
    ends = np.cumsum(copies)
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, COPIES_AT_ONCE):
        numbers = np.arange(start, min(start + COPIES_AT_ONCE, total))
        yield np.searchsorted(ends, numbers, side="right")
