"""The columns of a Spark data frame on their way to Python: several texts in one cell.

Spark hands rows to Python cell by cell, which takes far longer than the bytes of a short text do.
So the texts of a row travel together: one after the other, with bytes between them that no UTF-8
text has. Most combinations of a few texts occur many times: each is taken apart once in a batch,
and what comes out is a dictionary of texts again, as if it had never been together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lacunet.data.encode import array_of, text_array, values_of

BETWEEN, NULL = b"\xfe", b"\xff"  # what no text in UTF-8 has
COMBINATIONS = 2**12  # of texts that travel together, if all of them occur
LARGER_BATCH = 2**16  # rows that are taken apart at once


@dataclass(frozen=True)
class TravellingColumns:
    """Which columns of a frame travel together, by their places, and which alone."""

    columns: tuple[str, ...]  # all of them, by names that Spark can parse
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, frame: Any, values_of_column: Mapping[int, int]) -> TravellingColumns:
        """From the types of a frame's columns, and how many values are expected of some of them."""
        columns = tuple(frame.columns)
        groups: list[list[int]] = []
        combinations = 0
        for position, (_, kind) in enumerate(frame.dtypes):
            if kind != "string" or position not in values_of_column:
                continue
            values = values_of_column[position] + 1  # or null
            if not groups or combinations * values > COMBINATIONS:
                groups.append([])
                combinations = 1
            groups[-1].append(position)
            combinations *= values
        return cls(columns, tuple(tuple(group) for group in groups if len(group) > 1))

    @property
    def alone(self) -> tuple[int, ...]:
        """The places of the columns that travel as they are."""
        grouped = {position for group in self.groups for position in group}
        return tuple(position for position in range(len(self.columns)) if position not in grouped)

    @property
    def expressions(self) -> list[str]:
        """The columns that travel, in the words of Spark."""
        between, null = (f"cast(X'{byte.hex()}' as string)" for byte in (BETWEEN, NULL))
        cells = []
        for number, group in enumerate(self.groups):
            texts = [f"coalesce({self.columns[position]}, {null})" for position in group]
            joined = f"concat_ws({between}, {', '.join(texts)})"
            cells.append(f"cast({joined} as binary) as together{number}")
        return [*cells, *(self.columns[position] for position in self.alone)]

    def apart(self, batch: Any, names: Iterable[str]) -> Any:
        """The columns as they were, under other names."""
        import pyarrow as pa

        columns: dict[int, Any] = {}
        for number, group in enumerate(self.groups):
            columns |= zip(group, _texts(batch.column(number), len(group)), strict=True)
        for index, position in enumerate(self.alone, start=len(self.groups)):
            columns[position] = batch.column(index)
        ordered = [columns[position] for position in range(len(self.columns))]
        return pa.RecordBatch.from_arrays(ordered, names=list(names))


def _texts(cells: Any, number: int) -> Iterator[Any]:
    """The columns of texts of which each cell has one each, as dictionaries."""
    import pyarrow as pa

    combinations = cells.dictionary_encode()
    rows = [cell.split(BETWEEN) for cell in combinations.dictionary.to_pylist()]
    if any(len(row) != number for row in rows):
        raise pa.ArrowInvalid("a text is not in UTF-8")
    combination = values_of(combinations.indices)
    for texts in zip(*rows, strict=True) if rows else [()] * number:
        number_of = {text: index for index, text in enumerate(dict.fromkeys((NULL, *texts)))}
        places = np.array([number_of[text] for text in texts], np.int32)
        known = [text.decode("utf-8", "surrogatepass") for text in list(number_of)[1:]]
        dictionary = pa.concat_arrays([pa.nulls(1, pa.string()), text_array(known)])
        indices = array_of(places.take(combination))
        yield pa.DictionaryArray.from_arrays(indices, dictionary)


def in_larger_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in fewer record batches."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= LARGER_BATCH:
            yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]
