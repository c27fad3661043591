"""Rows by index: what structures are counted from.

Inside this room a variable is its index among the columns. Rows are put in the order of what
they hold, so that nothing depends on the order in which they came, or in how many parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, EncodedTable
from lacunet.model.network import FloatArray, Mask, Scope
from lacunet.statistics.distinct import LARGEST_KEY, grouped, pack

BLOCK_ROWS, BLOCK_CELLS = 2**14, 2**23
PAIR_CELLS = 2**22  # of the tables of pairs that are counted at once
SAMPLE = 1_000  # rows that are looked at to see whether many are equal
EXACT_BITS = 52  # of a number, in which whole numbers are added without rounding
MOST_HELD = 2**24  # numbers that stand for the states of all variables in all rows

Integers = NDArray[np.int64]
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


@dataclass(frozen=True, eq=False)
class CodedRows:
    r"""Codes of every variable, ``sizes[v]`` standing for "not observed".

    ``total`` is the weight of all rows, :math:`N`; ``weights`` are the rows' own, None where
    each weighs one.
    """

    variables: Scope
    columns: tuple[Codes, ...]
    sizes: tuple[int, ...]
    weights: FloatArray | None
    total: float

    @classmethod
    def of(cls, table: EncodedTable) -> CodedRows:
        """The rows of a table."""
        return cls(
            table.variables,
            tuple(table.columns.values()),
            tuple(table.cardinality_of[name] for name in table.variables),
            table.weights,
            table.total,
        )

    @classmethod
    def stacked(cls, tables: Sequence[EncodedTable]) -> CodedRows:
        """Several completions of one table, as rows that share the weight of one."""
        first = tables[0]
        if len(tables) == 1:
            return cls.of(first)
        row_weights = np.ones(first.rows) if first.weights is None else first.weights
        columns = tuple(
            np.concatenate([table.columns[name] for table in tables]) for name in first.variables
        )
        sizes = tuple(first.cardinality_of[name] for name in first.variables)
        weights = np.tile(row_weights / len(tables), len(tables))
        return cls(first.variables, columns, sizes, weights, first.total)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def is_partial(self) -> tuple[bool, ...]:
        """Whether some row does not show each variable."""
        return tuple(
            bool((column == size).any())
            for column, size in zip(self.columns, self.sizes, strict=True)
        )

    @cached_property
    def weigh_the_same(self) -> bool:
        """Whether all rows have the same weight."""
        return self.weights is None or bool((self.weights == self.weights[0]).all())

    @cached_property
    def starts(self) -> Integers:
        """Where the states of each variable begin, those of all variables in one line."""
        sizes = np.array(self.sizes, np.int64)
        return np.cumsum(sizes) - sizes

    def pair_tables(self) -> Iterator[PairTables]:
        """The tables of all pairs, of as many variables at once as there is room for."""
        states = sum(self.sizes)
        if states**2 <= PAIR_CELLS:
            yield self._all_pair_tables
            return
        for some in within(range(len(self)), [states * size for size in self.sizes], PAIR_CELLS):
            yield PairTables.of(self, slice(some[0], some[-1] + 1))

    @cached_property
    def _all_pair_tables(self) -> PairTables:
        return PairTables.of(self, slice(0, len(self)))

    @cached_property
    def varies(self) -> Mask:
        """Whether rows show more than one state of each variable."""
        shown = [
            np.bincount(column, self.weights, size + 1)[:size] > 0
            for column, size in zip(self.columns, self.sizes, strict=True)
        ]
        return np.array([np.count_nonzero(states) > 1 for states in shown], bool)

    @cached_property
    def states(self) -> States | None:
        """The states of all variables, None where they would take too much memory."""
        is_small = self.rows * sum(self.sizes) <= MOST_HELD
        return States.of(self) if is_small else None

    def keys(self, scope: Sequence[int]) -> tuple[Integers, list[int]]:
        """The configuration of each row, and how many states each variable has in it.

        One more where some row does not show the variable.
        """
        columns = [self.columns[node] for node in scope]
        sizes = [self.sizes[node] for node in scope]
        radices = [
            size + int(column.max(initial=0) == size)
            for size, column in zip(sizes, columns, strict=True)
        ]
        return pack(columns, radices, self.rows), radices

    def count(self, scope: Sequence[int]) -> FloatArray:
        """The weights of the configurations among the rows that show all of the scope."""
        keys, radices = self.keys(scope)
        shown = tuple(slice(self.sizes[node]) for node in scope)
        counts = np.bincount(keys, self.weights, prod(radices))
        return counts.astype(np.float64).reshape(radices)[shown]

    def distinct(self, scope: Sequence[int]) -> tuple[list[Codes], Integers]:
        """The distinct configurations of some variables, and the index of each row's."""
        columns = [self.columns[node] for node in scope]
        index, member = grouped(columns, [self.sizes[node] for node in scope], self.rows)
        return [column[member] for column in columns], index

    def differ_in(self, scope: Sequence[int]) -> bool:
        """Whether most of a sample of the rows are different in some variables."""
        some = self.thinned(SAMPLE)
        if some is self:
            return False
        return len(some.distinct(scope)[0][0]) > some.rows / 2

    def thinned(self, most: int) -> CodedRows:
        """At most so many rows, evenly spaced, that count for no more than themselves."""
        step = -(-self.rows // most)
        if step == 1:
            return self
        columns = tuple(column[::step] for column in self.columns)
        weights = None if self.weights is None else self.weights[::step]
        total = float(len(columns[0]) if weights is None else weights.sum())
        return replace(self, columns=columns, weights=weights, total=total)


def within(nodes: Sequence[int], cells: Sequence[int], room: int) -> Iterator[list[int]]:
    """The nodes in groups whose tables have no more cells than there is room for."""
    some: list[int] = []
    taken = 0
    for node, size in zip(nodes, cells, strict=True):
        if some and taken + size > room:
            yield some
            some, taken = [], 0
        some.append(node)
        taken += size
    if some:
        yield some


@dataclass(frozen=True, eq=False)
class PairTables:
    """Tables side by side: of a run of variables, ``nodes``, with these and all ``later`` ones.

    ``counts`` has a row for each state of the first and a column for each of the second; ``starts``
    is where the states of each variable begin.
    """

    nodes: slice
    counts: FloatArray
    starts: Integers

    @classmethod
    def of(cls, rows: CodedRows, nodes: slice) -> PairTables:
        """The tables of some variables, from one product.

        With a column of zeros and ones for each state of each variable, and zeros where a row does
        not show it, the matrix times its transpose holds every pair's counts. Products of row
        blocks add up.
        """
        sizes, columns = rows.sizes[nodes.start :], rows.columns[nodes.start :]
        starts = rows.starts[nodes.start :] - rows.starts[nodes.start]
        states, first = sum(sizes), slice(sum(rows.sizes[nodes]))
        counts = np.zeros((first.stop, states))
        kind = np.float32 if rows.weights is None else np.float64  # a block's counts are exact
        block_rows = min(BLOCK_ROWS, max(BLOCK_CELLS // states, 1))
        for begin in range(0, rows.rows, block_rows):
            block = slice(begin, begin + block_rows)
            held = np.zeros((states, len(columns[0][block])), kind)
            for start, size, column in zip(starts, sizes, columns, strict=True):
                held[start : start + size] = column[block] == np.arange(size)[:, None]
            weighted = held[first] if rows.weights is None else held[first] * rows.weights[block]
            counts += weighted @ held.T
        return cls(nodes, counts, starts)

    @property
    def later(self) -> slice:
        """The variables that the first are paired with."""
        return slice(self.nodes.start, None)

    def by_first(self, values: AnyArray, reduced: np.ufunc = np.add) -> AnyArray:
        """Values of the states of each first variable, reduced to one."""
        starts = self.starts[: self.nodes.stop - self.nodes.start]
        return cast(AnyArray, reduced.reduceat(values, starts, axis=0))

    def by_second(self, values: AnyArray, reduced: np.ufunc = np.add) -> AnyArray:
        """Values of the states of each second variable, reduced to one."""
        return cast(AnyArray, reduced.reduceat(values, self.starts, axis=1))


@dataclass(frozen=True, eq=False)
class States:
    """The states of all variables in all rows, as numbers that are added to count them.

    The states of all variables stand in one line, ``nodes`` being the variable of each. The counts
    of ``each`` states share a number, with so many bits as the number of rows has: adding up one
    number counts them all. Where rows have weights, each state has its own number.
    """

    nodes: Integers  # ascending
    each: int
    bits: int
    values: FloatArray  # a row of numbers for each row

    @classmethod
    def of(cls, rows: CodedRows) -> States:
        """The states of all variables; none where a row does not show one."""
        bits = rows.rows.bit_length()
        each = max(EXACT_BITS // bits, 1) if rows.weights is None else 1
        line = [(node, state) for node, size in enumerate(rows.sizes) for state in range(size)]
        values = np.zeros((-(-len(line) // each), rows.rows))
        for index, (node, state) in enumerate(line):
            number, slot = divmod(index, each)
            values[number] += (rows.columns[node] == state) * float(1 << bits * slot)
        of_each = np.array([node for node, _ in line])
        return cls(of_each, each, bits, np.ascontiguousarray(values.T))

    def with_other(self, node: int, where: Mask, before: Codes, after: Codes) -> States:
        """The states after a variable got others in some rows."""
        values, rows = self.values.copy(), np.flatnonzero(where)
        start = np.searchsorted(self.nodes, node)
        for codes, sign in ((before, -1.0), (after, 1.0)):
            number, slot = np.divmod(start + codes[rows], self.each)
            values[rows, number] += sign * (1 << self.bits * slot)
        return replace(self, values=values)

    def count(
        self, nodes: Sequence[int], keys: Integers, cells: int, weights: FloatArray | None
    ) -> FloatArray:
        """For each key, how often it comes with each state of some variables, ascending."""
        from scipy.sparse import csc_array

        is_wanted = np.zeros(self.nodes[-1] + 1, bool)
        is_wanted[list(nodes)] = True
        number, slot = np.divmod(np.flatnonzero(is_wanted[self.nodes]), self.each)
        values = self.values
        if 4 * len(number) < len(self.nodes):
            used, number = np.unique(number, return_inverse=True)
            values = np.take(values, used, axis=1)
        weights = np.ones(len(keys)) if weights is None else weights
        has_key = csc_array((weights, keys, np.arange(len(keys) + 1)), (cells, len(keys)))
        sums: FloatArray = np.take(np.asarray(has_key @ values), number, axis=1)
        if self.each > 1:
            counts = sums.astype(np.int64) >> self.bits * slot & (1 << self.bits) - 1
            sums = counts.astype(np.float64)
        return sums


def in_order_of_content(table: EncodedTable) -> EncodedTable:
    """The rows, sorted by what they hold."""
    keys: list[NDArray[np.generic]] = [] if table.weights is None else [table.weights]
    key, bound = np.zeros(table.rows, np.int64), 1
    for name in reversed(table.variables):
        size = table.cardinality_of[name] + 1
        if bound * size > LARGEST_KEY:
            keys.append(key)
            key, bound = np.zeros(table.rows, np.int64), 1
        key = key * size + table.columns[name]
        bound *= size
    return table.take(np.lexsort([*keys, key]))
