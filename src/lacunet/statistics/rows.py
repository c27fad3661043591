"""The distinct rows over a few variables: what every estimand is computed from.

They come from a table, or from counts (missing as a state), and add up: the rows of two parts
of the data, added, are the rows of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Copies, EncodedTable, SetsOf, code_type, renumbered, sets_of_both
from lacunet.model.network import FloatArray, Scope
from lacunet.model.nodes import SELECTION, Mechanism
from lacunet.model.table import Table
from lacunet.statistics.counts import Counts, Tally, add_on_top, added_up
from lacunet.statistics.distinct import Keys, grouped, pack

Where = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Distinct rows over ``scope``; a code equal to the cardinality means not shown.

    Codes above it are those of cells that are one of several states, as in a table.

    ``tally`` adds up the weights of the equal rows, their number and their squared weights.
    """

    scope: Scope
    cardinalities: tuple[int, ...]
    columns: tuple[NDArray[np.integer], ...]
    tally: Tally
    sets_of: SetsOf = field(default_factory=dict)

    @classmethod
    def of(cls, counts: Counts) -> Rows:
        """The rows that counts hold."""
        columns = tuple(counts.columns().values())
        return cls(counts.scope, counts.cardinalities, columns, counts.tally)

    def __add__(self, other: Rows) -> Rows:
        sets_of = sets_of_both(self.sets_of, other.sets_of)
        columns = [
            np.concatenate(pair)
            for pair in zip(self._numbered(sets_of), other._numbered(sets_of), strict=True)
        ]
        tally = self.tally.joined(other.tally)
        return Rows(self.scope, self.cardinalities, tuple(columns), tally, sets_of).distinct()

    def sampled(self, multiples: FloatArray) -> Rows:
        """The rows over all columns but the last, each state of which counts so many times.

        Equal rows that differed in the last column stay apart.
        """
        times = multiples[self.columns[-1]]
        chosen = np.flatnonzero(times > 0)
        tally = self.tally.take(chosen).sampled(times[chosen], np.arange(len(chosen)))
        columns = tuple(column[chosen] for column in self.columns[:-1])
        return Rows(self.scope[:-1], self.cardinalities[:-1], columns, tally, self.sets_of)

    def numbered(self) -> Rows:
        """The distinct rows over all columns but the last, which numbers them instead."""
        scope, sizes, columns = self.scope[:-1], self.cardinalities[:-1], self.columns[:-1]
        rows = Rows(scope, sizes, columns, self.tally, self.sets_of).distinct()
        numbers = np.arange(len(rows.weights))
        return replace(
            rows,
            scope=self.scope,
            cardinalities=(*sizes, len(numbers)),
            columns=(*rows.columns, numbers),
        )

    def distinct(self) -> Rows:
        """The same where rows may be equal: each of them once."""
        sizes = _codes_of(self.scope, self.cardinalities, self.sets_of)
        group, member = grouped(self.columns, sizes, len(self.weights))
        columns = tuple(column[member] for column in self.columns)
        return replace(self, columns=columns, tally=self.tally.gathered(group, len(member)))

    def _numbered(self, sets_of: SetsOf) -> Iterator[NDArray[np.integer]]:
        """The columns, with sets numbered as among others."""
        for name, size, column in zip(self.scope, self.cardinalities, self.columns, strict=True):
            yield renumbered(column, size, self.sets_of.get(name, ()), sets_of.get(name, ()))

    def table(self) -> EncodedTable:
        """The distinct rows as a table, each standing for its copies."""
        sizes = dict(zip(self.scope, self.cardinalities, strict=True))
        columns: dict[str, Any] = {
            name: column.astype(code_type(sizes[name], len(self.sets_of.get(name, ()))))
            for name, column in zip(self.scope, self.columns, strict=True)
        }
        copies = Copies(self.tally.rows, self.tally.squares)
        return EncodedTable.of(
            sizes, columns, self.tally.weights, copies=copies, sets_of=self.sets_of
        )

    @property
    def weights(self) -> FloatArray:
        """The weight of each distinct row."""
        return self.tally.weights

    @property
    def counts(self) -> FloatArray:
        """How many rows each distinct row stands for."""
        return self.tally.rows

    @property
    def size_in_bytes(self) -> int:
        """What the rows take in memory."""
        each = sum(column.itemsize for column in self.columns) + 24  # and the tally
        return each * len(self.weights)

    def size(self, name: str) -> int:
        """The number of states of a variable."""
        return self.cardinalities[self.scope.index(name)]

    def column(self, name: str) -> NDArray[np.integer]:
        """The code of a variable in each row."""
        return self.columns[self.scope.index(name)].astype(np.int64, copy=False)

    def is_shown(self, names: Sequence[str]) -> Where:
        """Whether each row shows all the variables."""
        shown = np.ones(len(self.weights), dtype=bool)
        for name in names:
            shown &= self.column(name) < self.size(name)
        return shown

    def shows(self, mechanisms: Sequence[Mechanism]) -> Where:
        """Whether each row shows the variables of all the mechanisms: R = 1.

        R[*] is 1 in every row that there is.
        """
        return self.is_shown(
            [mechanism.variable for mechanism in mechanisms if mechanism != SELECTION]
        )

    def shape(self, scope: Sequence[str]) -> tuple[int, ...]:
        """The shape of a table over the states of ``scope``."""
        return tuple(map(self.size, scope))

    def cells(self, scope: Sequence[str], where: Where, free: Sequence[Mechanism] = ()) -> Keys:
        """The cell of a table over ``scope``, then mechanisms (0, 1), of each chosen row."""
        columns = [self.column(name)[where] for name in scope]
        columns += [self.shows([m])[where].astype(np.int64) for m in free]
        return pack(columns, (*self.shape(scope), *(2,) * len(free)), int(where.sum()))

    def tabled(self, scope: Scope, where: Where, weights: FloatArray) -> Table:
        """Add up the weights of the chosen rows in a table over ``scope``."""
        shape = self.shape(scope)
        sums = added_up(self.cells(scope, where), weights, int(np.prod(shape, dtype=np.int64)))
        return Table(scope, sums.reshape(shape))


def rows_in_parts(
    tables: Iterable[EncodedTable], names: Sequence[str], most_bytes: float
) -> Iterator[Rows]:
    """The distinct rows of many tables, made one where they are held together.

    They are added up two by two, and handed on whenever they take so many bytes.
    """
    held: list[tuple[int, Rows]] = []
    for table in tables:
        add_on_top(held, distinct_rows(table, names))
        if sum(rows.size_in_bytes for _, rows in held) > most_bytes:
            yield reduce(add, (rows for _, rows in held))
            held = []
    if held:
        yield reduce(add, (rows for _, rows in held))


def distinct_rows(table: EncodedTable, names: Sequence[str]) -> Rows:
    """The distinct rows of a table over ``names``, with their weights added up."""
    columns = [table.columns[name] for name in names]
    sizes = tuple(table.cardinality_of[name] for name in names)
    sets_of = {name: sets for name, sets in table.sets_of.items() if name in names}
    group, member = grouped(columns, _codes_of(names, sizes, sets_of), table.rows)
    chosen = tuple(column[member] for column in columns)
    tally = Tally.of(table, group, len(member))
    return Rows(tuple(names), sizes, chosen, tally, sets_of)


def _codes_of(names: Sequence[str], sizes: Sequence[int], sets_of: SetsOf) -> list[int]:
    """How many codes each variable has: its states, missing, and its sets."""
    return [size + 1 + len(sets_of.get(name, ())) for name, size in zip(names, sizes, strict=True)]
