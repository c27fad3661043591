"""The distinct rows over a few variables: what every estimand is computed from.

They come from a table, or from counts (missing as a state), and add up: the rows of two parts
of the data, added, are the rows of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import Counts, Summand, Tally, add_on_top, added_up
from lacunet.counts.distinct import Keys, group_equal, pack_keys
from lacunet.data.table import Copies, EncodedTable, SetsOf
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import SELECTION, Mechanism, Node

Where = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """A table of distinct rows, each of which stands for its copies, as formulas look at it."""

    table: EncodedTable

    @classmethod
    def of(cls, counts: Counts) -> Rows:
        """The rows that counts hold."""
        sizes = dict(zip(counts.scope, counts.cardinalities, strict=True))
        return cls.tallied(sizes, counts.columns(), counts.tally)

    @classmethod
    def tallied(
        cls,
        cardinality_of: Mapping[str, int],
        columns: Mapping[str, Any],
        tally: Tally,
        sets_of: SetsOf | None = None,
    ) -> Rows:
        """Rows that stand for what was added up."""
        copies = Copies(tally.rows, tally.squares)
        return cls(
            EncodedTable(
                cardinality_of, columns, tally.weights, copies=copies, sets_of=sets_of or {}
            )
        )

    def __add__(self, other: Rows) -> Rows:
        both = EncodedTable.joined(self.table.cardinality_of, [self.table, other.table])
        return distinct_rows(both, self.scope)

    def sampled(self, multiples: FloatArray) -> Rows:
        """The rows over all columns but the last, each state of which counts so many times.

        Equal rows that differed in the last column stay apart.
        """
        *names, last = self.scope
        times = multiples[self.table.columns[last]]
        chosen = np.flatnonzero(times > 0)
        tally = self.tally.take(chosen).sampled(times[chosen], np.arange(len(chosen)))
        columns = {name: self.table.columns[name][chosen] for name in names}
        sizes = {name: self.size(name) for name in names}
        return Rows.tallied(sizes, columns, tally, self.sets_of)

    def numbered(self) -> Rows:
        """The distinct rows over all columns but the last, which numbers them instead."""
        *names, last = self.scope
        table = distinct_rows(self.table, names).table
        numbers: Any = np.arange(table.rows)
        sizes = {**table.cardinality_of, last: table.rows}
        return Rows(table.with_columns(sizes, {**table.columns, last: numbers}))

    @property
    def scope(self) -> Scope:
        """The variables."""
        return self.table.variables

    @property
    def sets_of(self) -> SetsOf:
        """The sets of states that cells may be one of."""
        return self.table.sets_of

    @property
    def tally(self) -> Tally:
        """The weights of the equal rows added up, their number and their squared weights."""
        assert self.table.copies is not None
        return Tally(self.weights, self.table.copies.rows, self.table.copies.squares)

    @property
    def weights(self) -> FloatArray:
        """The weight of each distinct row."""
        return self.table.row_weights

    @property
    def counts(self) -> FloatArray:
        """How many rows each distinct row stands for."""
        return self.tally.rows

    @property
    def size_in_bytes(self) -> int:
        """What the rows take in memory."""
        each = sum(column.itemsize for column in self.table.columns.values()) + 24  # and the tally
        return each * self.table.rows

    def size(self, name: Node) -> int:
        """The number of states of a variable; a mechanism has two."""
        return 2 if isinstance(name, Mechanism) else self.table.cardinality_of[name]

    def column(self, name: Node) -> NDArray[np.integer]:
        """The code of a variable in each row; of a mechanism 1 where its variable is shown."""
        if isinstance(name, Mechanism):
            return self.shows([name]).astype(np.int64)
        return self.table.columns[name].astype(np.int64, copy=False)

    def is_shown(self, names: Sequence[Node]) -> Where:
        """Whether each row shows all the variables; mechanisms are told by every row."""
        return self.table.is_shown([name for name in names if isinstance(name, str)])

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
        return pack_keys(columns, (*self.shape(scope), *(2,) * len(free)), int(where.sum()))

    def tabled(self, scope: Scope, where: Where, weights: FloatArray) -> Table:
        """Add up the weights of the chosen rows in a table over ``scope``."""
        shape = self.shape(scope)
        sums = added_up(self.cells(scope, where), weights, int(np.prod(shape, dtype=np.int64)))
        return Table(scope, sums.reshape(shape))


@dataclass(frozen=True)
class EqualRows:
    """Distinct rows of a sample, which stand for their copies: equal ones agree in its design too.

    In strata and clusters, and in replicate weights.
    """

    table: EncodedTable  # one row for each that differs from all others
    # Whether rows are told apart by what each copy weighs, too: as with replicate weights.
    by_weight: bool = False

    @classmethod
    def of(cls, table: EncodedTable, *, by_weight: bool = False) -> EqualRows:
        """The distinct rows of a table."""
        columns: list[NDArray[Any]] = [*table.columns.values()]
        radices = [
            size + 1 + len(table.sets_of.get(name, ()))
            for name, size in table.cardinality_of.items()
        ]

        # The design, and what a copy weighs, as numbers of the values that occur.
        design = table.design
        numbers = list[FloatArray]()
        if design is not None:
            for labels in (design.strata, design.clusters):
                if labels is not None:
                    columns.append(labels.codes)
                    radices.append(len(labels.labels))
            if design.replicates is not None:
                by_weight = True
                numbers += [*design.replicates.T]
        if by_weight:
            copies = 1.0 if table.copies is None else table.copies.rows
            numbers.append(table.row_weights / copies)
        for each in numbers:
            values, code = np.unique(each, return_inverse=True)
            columns.append(code)
            radices.append(len(values))

        group, member = group_equal(columns, radices, table.rows)
        tally = Tally.of(table, group, len(member))
        distinct = EncodedTable(
            table.cardinality_of,
            {name: column[member] for name, column in table.columns.items()},
            tally.weights,
            copies=Copies(tally.rows, tally.squares),
            design=None if design is None else design.take(member),
            sets_of=table.sets_of,
        )
        return cls(distinct, by_weight)

    def __add__(self, other: EqualRows) -> EqualRows:
        both = EncodedTable.joined(self.table.cardinality_of, [self.table, other.table])
        return EqualRows.of(both, by_weight=self.by_weight)

    @property
    def size_in_bytes(self) -> int:
        """What the rows take in memory."""
        each = sum(column.itemsize for column in self.table.columns.values()) + 24  # and the tally
        design = self.table.design
        if design is not None:
            each += 8 + (0 if design.replicates is None else 8 * design.replicates.shape[1])
        return each * self.table.rows


def in_parts(parts: Iterable[Summand], most_bytes: float) -> Iterator[Summand]:
    """Distinct rows added up two by two, and handed on whenever they take so many bytes."""
    held: list[tuple[int, Summand]] = []
    for part in parts:
        add_on_top(held, part)
        if sum(rows.size_in_bytes for _, rows in held) > most_bytes:
            yield reduce(add, (rows for _, rows in held))
            held = []
    if held:
        yield reduce(add, (rows for _, rows in held))


def rows_in_parts(
    tables: Iterable[EncodedTable], names: Sequence[str], most_bytes: float
) -> Iterator[Rows]:
    """The distinct rows of many tables, made one where they are held together."""
    yield from in_parts((distinct_rows(table, names) for table in tables), most_bytes)


def distinct_rows(table: EncodedTable, names: Sequence[str]) -> Rows:
    """The distinct rows of a table over ``names``, with their weights added up."""
    sizes = {name: table.cardinality_of[name] for name in names}
    columns = {name: table.columns[name] for name in names}
    sets_of = {name: sets for name, sets in table.sets_of.items() if name in sizes}
    codes = [size + 1 + len(sets_of.get(name, ())) for name, size in sizes.items()]
    group, member = group_equal([*columns.values()], codes, table.rows)
    chosen = {name: column[member] for name, column in columns.items()}
    return Rows.tallied(sizes, chosen, Tally.of(table, group, len(member)), sets_of)
