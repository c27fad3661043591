"""Rows by index: what structures are counted from.

Inside this room a variable is its index among the columns. Rows are put in the order of what
they hold, so that nothing depends on the order in which they came, or in how many parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import LARGEST_KEY, group_equal, pack_keys
from lacunet.data.table import Codes, EncodedTable
from lacunet.network.network import FloatArray, Mask, Scope

BLOCK_ROWS = 2**14
BLOCK_CELLS = 2**23
PAIR_CELLS = 2**22  # of the tables of pairs that are counted at once
SAMPLE = 1_000  # rows that are looked at to see whether many are equal
LOG_FLOOR = 1e-300  # only so that zero times its logarithm is zero
MAX_INDEXED_CELLS = 2**24  # cells of all rows and states

Integers = NDArray[np.int64]


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
    def of(cls, table: EncodedTable, variables: Scope | None = None) -> CodedRows:
        """The rows of a table, with some of its variables or all."""
        names = table.variables if variables is None else variables
        columns = tuple(table.columns[name] for name in names)
        sizes = tuple(table.cardinality_of[name] for name in names)
        return cls(names, columns, sizes, table.weights, table.total)

    @classmethod
    def stacked(cls, parts: Sequence[CodedRows]) -> CodedRows:
        """Several completions of the same rows, as rows that share the weight of one."""
        first = parts[0]
        if len(parts) == 1:
            return first
        row_weights = np.ones(first.rows) if first.weights is None else first.weights
        columns = map(np.concatenate, zip(*(part.columns for part in parts), strict=True))
        weights = np.tile(row_weights / len(parts), len(parts))
        return replace(first, columns=tuple(columns), weights=weights)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def weigh_the_same(self) -> bool:
        """Whether all rows have the same weight."""
        return self.weights is None or bool((self.weights == self.weights[0]).all())

    @property
    def exact(self) -> type[np.floating]:
        """What sums of weights are exact in: single precision where rows are counted."""
        return np.float32 if self.weights is None and self.rows < 2**24 else np.float64

    @cached_property
    def starts(self) -> Integers:
        """Where the states of each variable begin, those of all variables in one line."""
        sizes = np.array(self.sizes, np.int64)
        return np.cumsum(sizes) - sizes

    @cached_property
    def pairs(self) -> Pairs:
        """What the variables of all pairs tell of each other."""
        return Pairs(self)

    @cached_property
    def frequencies(self) -> list[FloatArray]:
        """The weight of the rows that show each state, variable by variable."""
        return [
            np.bincount(column, self.weights, size + 1)[:size].astype(np.float64)
            for column, size in zip(self.columns, self.sizes, strict=True)
        ]

    @cached_property
    def varies(self) -> Mask:
        """Whether rows show more than one state of each variable."""
        return np.array([np.count_nonzero(counts) > 1 for counts in self.frequencies], bool)

    @cached_property
    def states(self) -> NDArray[np.floating] | None:
        """A row of ones and zeros for each row, which states it shows, those of all variables.

        None where it would take too much memory.
        """
        if self.rows * sum(self.sizes) > MAX_INDEXED_CELLS:
            return None
        states = np.zeros((self.rows, sum(self.sizes)), self.exact)
        for start, size, column in zip(self.starts, self.sizes, self.columns, strict=True):
            shown = np.flatnonzero(column < size)
            states[shown, start + column[shown]] = 1.0
        return states

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
        return pack_keys(columns, radices, self.rows), radices

    def count(self, scope: Sequence[int]) -> FloatArray:
        """The weights of the configurations among the rows that show all of the scope."""
        keys, radices = self.keys(scope)
        shown = tuple(slice(self.sizes[node]) for node in scope)
        counts = np.bincount(keys, self.weights, prod(radices))
        return counts.astype(np.float64).reshape(radices)[shown]

    def distinct(self, scope: Sequence[int]) -> tuple[list[Codes], Integers]:
        """The distinct configurations of some variables, and the index of each row's."""
        columns = [self.columns[node] for node in scope]
        index, member = group_equal(columns, [self.sizes[node] for node in scope], self.rows)
        return [column[member] for column in columns], index

    def differ_in(self, scope: Sequence[int]) -> bool:
        """Whether most of a sample of the rows are different in some variables."""
        some = self.sample
        return some is not self and len(some.distinct(scope)[0][0]) > some.rows / 2

    @cached_property
    def sample(self) -> CodedRows:
        """Some of the rows, or all."""
        return self.thinned(SAMPLE)

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
            some = []
            taken = 0
        some.append(node)
        taken += size
    if some:
        yield some


def nlogn(counts: FloatArray) -> FloatArray:
    r""":math:`n \log n` of each count, zero at zero."""
    products: FloatArray = counts * np.log(np.maximum(counts, LOG_FLOOR))
    return products


class Pairs:
    r"""What the variables of all pairs tell of each other in some rows, and what BIC takes for it.

    .. math:: \sum_{x,y} n \log n - \sum_x n \log n - \sum_y n \log n + n \log n

    ``information`` is minus infinity for a variable with itself, and for what fewer than two rows
    show. ``determines[x, y]`` says that of the rows that show both, those with the same state of x
    have the same state of y. They are counted for as many variables at once as there is room for.
    """

    def __init__(self, rows: CodedRows) -> None:
        number = len(rows)
        starts = rows.starts
        states = sum(rows.sizes)
        # Of [x, y]: the sums of n log n over the states of both, and over those of x among the
        # rows that show y; and how many rows show both.
        both, marginal, totals = np.empty((3, number, number))
        self.determines = np.empty((number, number), bool)
        for some in within(range(number), [states * size for size in rows.sizes], PAIR_CELLS):
            nodes = slice(some[0], some[-1] + 1)
            counts = _pair_counts(rows, nodes)
            first = starts[nodes] - starts[nodes.start]
            margins = np.add.reduceat(counts, starts, axis=1)  # among the rows that show another
            totals[nodes] = np.add.reduceat(margins, first)
            marginal[nodes] = np.add.reduceat(nlogn(margins), first)
            both[nodes] = np.add.reduceat(np.add.reduceat(nlogn(counts), first), starts, axis=1)
            is_seen = (counts > 0).astype(np.int32)
            states_of_y = np.add.reduceat(is_seen, starts, axis=1)  # with each state of x
            self.determines[nodes] = np.maximum.reduceat(states_of_y, first) == 1
        free = np.array(rows.sizes) - 1
        self.information: FloatArray = both - marginal - marginal.T + nlogn(totals)
        self.information[(totals < 2) | np.eye(number, dtype=bool)] = -np.inf
        self.cost: FloatArray = np.log(np.maximum(totals, 2)) / 2 * np.outer(free, free)


def _pair_counts(rows: CodedRows, nodes: slice) -> FloatArray:
    """The tables of some variables with all, side by side, from one product.

    With a column of zeros and ones for each state of each variable, and zeros where a row does not
    show it, the matrix times its transpose holds every pair's counts. Products of row blocks add
    up.
    """
    states = sum(rows.sizes)
    begin = rows.starts[nodes.start]
    first = slice(begin, begin + sum(rows.sizes[nodes]))
    counts = np.zeros((first.stop - first.start, states))
    kind = np.float32 if rows.weights is None else np.float64  # a block's counts are exact
    block_rows = min(BLOCK_ROWS, max(BLOCK_CELLS // states, 1))
    for start in range(0, rows.rows, block_rows):
        block = slice(start, start + block_rows)
        shows = np.zeros((states, len(rows.columns[0][block])), kind)
        for row, size, column in zip(rows.starts, rows.sizes, rows.columns, strict=True):
            shows[row : row + size] = column[block] == np.arange(size)[:, None]
        weighted = shows[first]
        if rows.weights is not None:
            weighted = weighted * rows.weights[block]
        counts += weighted @ shows.T
    return counts


def in_order_of_content(table: EncodedTable) -> EncodedTable:
    """The rows, sorted by what they hold: by the first variable, then the next, then weights."""
    # As many variables as fit are packed into one key.
    keys: list[NDArray[np.generic]] = [] if table.weights is None else [table.weights]
    key = np.zeros(table.rows, np.int64)
    bound = 1
    for name in reversed(table.variables):
        size = table.cardinality_of[name] + 1
        if bound * size > LARGEST_KEY:
            keys.append(key)
            key = np.zeros(table.rows, np.int64)
            bound = 1
        key = key * size + table.columns[name]
        bound *= size
    return table.take(np.lexsort([*keys, key]))
