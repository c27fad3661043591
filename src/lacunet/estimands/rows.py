"""The distinct rows of a table over a few variables: what every estimand is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray
from lacunet.model.nodes import Mechanism

Codes = NDArray[np.int64]
LARGEST_KEY = 2**62
DENSE_KEYS = 2**22  # up to this many keys are marked in an array instead of sorted


@dataclass(frozen=True)
class Rows:
    """Distinct rows over some variables; a code equal to the cardinality means not shown.

    ``weights`` adds up the weights of the equal rows, ``counts`` their number. A weight says
    how often a row counts.
    """

    cardinality_of: Mapping[str, int]
    codes: Mapping[str, Codes]
    weights: FloatArray
    counts: FloatArray

    def shows(self, mechanisms: Sequence[Mechanism]) -> NDArray[np.bool_]:
        """Whether each row shows the variables of all the mechanisms: R = 1."""
        shown = np.ones(len(self.weights), dtype=bool)
        for mechanism in mechanisms:
            name = mechanism.variable
            shown &= self.codes[name] != self.cardinality_of[name]
        return shown

    def shape(self, scope: Sequence[str]) -> tuple[int, ...]:
        """The shape of a table over the states of ``scope``."""
        return tuple(self.cardinality_of[name] for name in scope)

    def cells(self, scope: Sequence[str], where: NDArray[np.bool_]) -> Codes:
        """The cell of a table over ``scope`` that each chosen row falls in."""
        index = np.zeros(int(np.count_nonzero(where)), dtype=np.int64)
        for name in scope:
            index = index * self.cardinality_of[name] + self.codes[name][where]
        return index

    def tally(
        self, scope: Sequence[str], where: NDArray[np.bool_], weights: FloatArray
    ) -> FloatArray:
        """Add up the weights of the chosen rows in a table over ``scope``."""
        shape = self.shape(scope)
        size = int(np.prod(shape, dtype=np.int64))
        return added_up(self.cells(scope, where), weights, size).reshape(shape)


def added_up(cells: Codes, weights: FloatArray, size: int) -> FloatArray:
    """Add up the weights cell by cell."""
    return np.bincount(cells, weights, size).astype(np.float64, copy=False)


def distinct_rows(table: EncodedTable, variables: Sequence[str]) -> Rows:
    """The distinct rows of a table over ``variables``, with their weights added up."""
    columns = [table.columns[name].astype(np.int64) for name in variables]
    groups, first = _groups(columns, [table.cardinality_of[name] + 1 for name in variables], table)
    size = len(first)
    weights = np.ones(table.rows) if table.weights is None else table.weights
    return Rows(
        {name: table.cardinality_of[name] for name in variables},
        {name: column[first] for name, column in zip(variables, columns, strict=True)},
        added_up(groups, weights, size),
        added_up(groups, np.ones(table.rows), size),
    )


def _groups(columns: list[Codes], sizes: list[int], table: EncodedTable) -> tuple[Codes, Codes]:
    """The number of each row's group, and a row of each; packed anew before it would overflow."""
    key = np.zeros(table.rows, dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            span = len(distinct)
        key = key * size + column
        span *= size
    if span > DENSE_KEYS:
        _, first, groups = np.unique(key, return_index=True, return_inverse=True)
        return groups.astype(np.int64), first.astype(np.int64)
    present = np.zeros(span, dtype=bool)
    present[key] = True
    number = np.cumsum(present) - 1
    groups = number[key]
    first = np.empty(int(present.sum()), dtype=np.int64)
    first[groups[::-1]] = np.arange(table.rows)[::-1]
    return groups, first
