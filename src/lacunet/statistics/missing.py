"""What is missing, and with what: the patterns of missing values, and the families' counts.

A pattern is the set of variables that a row does not show. Patterns add up like counts do:
summaries of batches give that of the whole with ``+``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts, added_up, quotient
from lacunet.statistics.distinct import grouped

BLOCK_ROWS = 2**18


@dataclass(frozen=True)
class MissingSummary:
    """The patterns of missing values with their rows, and the counts of each family.

    ``is_missing`` has one row for each pattern and one column for each variable; patterns
    are distinct, in a fixed order. ``rows`` and ``weights`` are those of each pattern.
    ``shown`` counts each family over all rows, ``complete`` over the rows that show every
    variable.
    """

    variables: Scope
    is_missing: NDArray[np.bool_]
    rows: FloatArray
    weights: FloatArray
    shown: Mapping[Scope, Counts]
    complete: Mapping[Scope, Counts]

    def __add__(self, other: MissingSummary) -> MissingSummary:
        return MissingSummary(
            self.variables,
            *_gathered(
                np.concatenate([self.is_missing, other.is_missing]),
                np.concatenate([self.rows, other.rows]),
                np.concatenate([self.weights, other.weights]),
            ),
            {family: counts + other.shown[family] for family, counts in self.shown.items()},
            {family: counts + other.complete[family] for family, counts in self.complete.items()},
        )

    @property
    def missing_rows(self) -> FloatArray:
        """How many rows do not show each variable."""
        missing: FloatArray = self.rows @ self.is_missing
        return missing

    @property
    def missing_together(self) -> FloatArray:
        """How many rows hide both variables of each pair."""
        patterns = self.is_missing.astype(np.float64)
        together: FloatArray = patterns.T @ (patterns * self.rows[:, None])
        return together

    @property
    def expected_together(self) -> FloatArray:
        """How many rows would hide both, if one had nothing to do with the other."""
        missing = self.missing_rows
        return np.outer(missing, missing) / max(float(self.rows.sum()), 1.0)

    @property
    def phi(self) -> FloatArray:
        """The correlation of going missing, for each pair; 0 where one is always or never."""
        missing, rows = self.missing_rows, float(self.rows.sum())
        spread = np.sqrt(np.outer(missing * (rows - missing), missing * (rows - missing)))
        apart = rows * (self.missing_together - self.expected_together)
        return quotient(apart, spread)

    def strongest_pairs(self, among: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
        """The pairs of some variables whose going missing is correlated most, in size."""
        chosen = np.flatnonzero(among)
        left, right = (chosen[index] for index in np.triu_indices(len(chosen), 1))
        strongest = np.argsort(-np.abs(self.phi[left, right]), kind="stable")[:most]
        return [*zip(left[strongest].tolist(), right[strongest].tolist(), strict=True)]

    @property
    def complete_rows(self) -> float:
        """How many rows show every variable."""
        return float(self.rows[~self.is_missing.any(axis=1)].sum())


def missing_summary(table: EncodedTable, families: Sequence[Scope]) -> MissingSummary:
    """Summarise what a table does not show, and count the families in what it does.

    Examples
    --------
    >>> codes = {"A": np.array([0, 1, 2, 2], np.uint8), "B": np.array([0, 2, 1, 2], np.uint8)}
    >>> summary = missing_summary(EncodedTable.of({"A": 2, "B": 2}, codes), [("A", "B")])
    >>> summary.missing_together.tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    >>> summary.complete_rows
    1.0
    """
    complete = table.take(table.is_shown(table.variables))
    parts = [
        _patterns(table.take(slice(start, start + BLOCK_ROWS)))
        for start in range(0, max(table.rows, 1), BLOCK_ROWS)
    ]
    shown, whole = count(table, families), count(complete, families)
    return replace(reduce(add, parts), shown=shown, complete=whole)


def is_missing(table: EncodedTable, names: Scope) -> NDArray[np.bool_]:
    """Whether each row misses each of the variables: one column for each."""
    gone = np.empty((table.rows, len(names)), dtype=bool)
    for column, name in enumerate(names):
        gone[:, column] = table.columns[name] >= table.cardinality_of[name]
    return gone


def _patterns(table: EncodedTable) -> MissingSummary:
    gone, ones = is_missing(table, table.variables), np.ones(table.rows)
    rows = ones if table.copies is None else table.copies.rows
    weights = ones if table.weights is None else table.weights
    return MissingSummary(table.variables, *_gathered(gone, rows, weights), {}, {})


def _gathered(
    is_missing: NDArray[np.bool_], rows: FloatArray, weights: FloatArray
) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    """Each pattern once, with the rows and weights of all its occurrences."""
    columns = list(is_missing.T.view(np.uint8))
    group, member = grouped(columns, [2] * len(columns), len(rows))
    size = len(member)
    return is_missing[member], added_up(group, rows, size), added_up(group, weights, size)
