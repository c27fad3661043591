"""What is missing, and with what: the patterns of missing values, and the families' counts.

A pattern is the set of variables that a row does not show. Patterns add up like counts do:
summaries of batches give that of the whole with ``+``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, EncodedTable
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts, quotient, summed
from lacunet.statistics.rows import Rows, distinct_rows

BLOCK_ROWS = 2**18


@dataclass(frozen=True)
class MissingSummary:
    """The patterns of missing values with their rows, and the counts of each family.

    ``patterns`` are rows in which every variable has one state, or is missing. ``shown`` counts
    each family over all rows, ``complete`` over the rows that show every variable.
    """

    patterns: Rows
    shown: Mapping[Scope, Counts]
    complete: Mapping[Scope, Counts]

    def __add__(self, other: MissingSummary) -> MissingSummary:
        return MissingSummary(
            self.patterns + other.patterns,
            {family: counts + other.shown[family] for family, counts in self.shown.items()},
            {family: counts + other.complete[family] for family, counts in self.complete.items()},
        )

    @property
    def variables(self) -> Scope:
        """The variables."""
        return self.patterns.scope

    @property
    def rows(self) -> FloatArray:
        """How many rows have each pattern."""
        return self.patterns.counts

    @cached_property
    def is_missing(self) -> NDArray[np.bool_]:
        """Whether each pattern misses each variable: a row for each pattern, in a fixed order."""
        return is_missing(self.patterns.table, self.variables)

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
    >>> summary = missing_summary(EncodedTable({"A": 2, "B": 2}, codes), [("A", "B")])
    >>> summary.missing_together.tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    >>> summary.complete_rows
    1.0
    """
    complete = table.take(table.is_shown(table.variables))
    blocks = range(0, max(table.rows, 1), BLOCK_ROWS)
    patterns = summed(patterns_of(table.take(slice(start, start + BLOCK_ROWS))) for start in blocks)
    return MissingSummary(patterns, count(table, families), count(complete, families))


def is_missing(table: EncodedTable, names: Scope) -> NDArray[np.bool_]:
    """Whether each row misses each of the variables: one column for each."""
    gone = np.empty((table.rows, len(names)), dtype=bool)
    for column, name in enumerate(names):
        gone[:, column] = table.columns[name] >= table.cardinality_of[name]
    return gone


def patterns_of(table: EncodedTable) -> Rows:
    """The patterns of missing values of a table, with their rows."""
    missing: dict[str, Codes] = {
        name: (codes >= table.cardinality_of[name]).view(np.uint8)
        for name, codes in table.columns.items()
    }
    return distinct_rows(table.with_columns(dict.fromkeys(missing, 1), missing), table.variables)
