"""Rows by place: what structures are counted from.

Inside this room a variable is its place among the columns. Rows are put in the order of what
they hold, so that nothing depends on the order in which they came, or in how many parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, EncodedTable
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.distinct import LARGEST_KEY, distinct

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    r"""Codes of every variable, ``sizes[v]`` standing for "not observed".

    ``total`` is the weight of all rows, :math:`N`; ``weights`` are the rows' own, None where
    each weighs one. ``inverse`` holds for each variable the inverse of the probability that a
    row shows it, None where that is the same for all rows.
    """

    variables: Scope
    columns: tuple[Codes, ...]
    sizes: tuple[int, ...]
    weights: FloatArray | None
    total: float
    inverse: tuple[FloatArray | None, ...]

    @classmethod
    def of(cls, table: EncodedTable, inverse: Sequence[FloatArray | None] | None = None) -> Rows:
        """The rows of a table."""
        return cls(
            table.variables,
            tuple(table.columns.values()),
            tuple(table.cardinality_of[name] for name in table.variables),
            table.weights,
            table.total,
            tuple(inverse) if inverse else (None,) * len(table.variables),
        )

    @classmethod
    def stacked(cls, tables: Sequence[EncodedTable]) -> Rows:
        """Several completions of one table, as rows that share the weight of one."""
        first = tables[0]
        if len(tables) == 1:
            return cls.of(first)
        own = np.ones(first.rows) if first.weights is None else first.weights
        columns = tuple(
            np.concatenate([table.columns[name] for table in tables]) for name in first.variables
        )
        sizes = tuple(first.cardinality_of[name] for name in first.variables)
        weights = np.tile(own / len(tables), len(tables))
        none = (None,) * len(sizes)
        return cls(first.variables, columns, sizes, weights, first.total, none)

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

    def weights_of(self, scope: Sequence[int]) -> FloatArray | None:
        """The weight of each row that shows the scope; None where each weighs one."""
        weights = self.weights
        for node in scope:
            inverse = self.inverse[node]
            if inverse is not None:
                weights = inverse if weights is None else weights * inverse
        return weights

    def count(self, scope: Sequence[int]) -> tuple[FloatArray, float]:
        r"""The weights of the configurations among the rows that show all of the scope.

        Returns
        -------
        The table, and Kish's effective number of rows, :math:`(\sum w)^2 / \sum w^2`.
        """
        radices = [self.sizes[node] + self.is_partial[node] for node in scope]
        keys = self.columns[scope[0]].astype(np.int64)
        for node, radix in zip(scope[1:], radices[1:], strict=True):
            keys *= radix
            keys += self.columns[node]
        cells = int(np.prod(radices))
        shown = tuple(slice(self.sizes[node]) for node in scope)
        weights = self.weights_of(scope)
        table = np.bincount(keys, weights, cells).astype(np.float64).reshape(radices)[shown]
        whole = float(table.sum())
        if weights is None or weights is self.weights:  # they are numbers of equal rows
            return table, whole
        squares = np.bincount(keys, weights * weights, cells).reshape(radices)[shown].sum()
        return table, whole**2 / float(squares) if squares else 0.0

    def configurations(self, scope: Sequence[int]) -> tuple[list[Integers], FloatArray]:
        """The distinct configurations of some variables, with their weights."""
        keys, bound = np.zeros(self.rows, np.int64), 1
        for node in scope:
            size = self.sizes[node]
            if bound * size > LARGEST_KEY:
                found, keys = distinct(keys, bound)
                bound = len(found)
            keys = keys * size + self.columns[node]
            bound *= size
        found, place = distinct(keys, bound)
        first = np.empty(len(found), np.int64)
        first[place[::-1]] = np.arange(self.rows)[::-1]
        weights = np.bincount(place, self.weights, len(found)).astype(np.float64)
        return [self.columns[node][first].astype(np.int64) for node in scope], weights

    def thinned(self, most: int) -> Rows:
        """At most so many rows, evenly spaced, that stand for all."""
        step = -(-self.rows // most)
        if step == 1:
            return self
        columns = tuple(column[::step] for column in self.columns)
        scale = self.rows / len(columns[0])
        weights = None if self.weights is None else self.weights[::step] * scale
        inverse = tuple(None if one is None else one[::step] for one in self.inverse)
        total = self.total / scale if weights is None else float(weights.sum())
        return Rows(self.variables, columns, self.sizes, weights, total, inverse)


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
