"""What is missing, and with what: the patterns of missing values, and the families' counts.

A pattern is the set of variables that a row does not show. Patterns add up like counts do:
summaries of batches give that of the whole with ``+``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.count import count
from lacunet.counts.counts import Counts, quotient, summed
from lacunet.data.table import EncodedTable
from lacunet.network.network import FloatArray, Scope

PATTERN_ROWS_AT_A_TIME = 2**18
BLOCK_CELLS = 2**20
WORD_BITS = 64


@dataclass(frozen=True)
class PatternCounts:
    """The patterns of missing values that occur, and how many rows have each.

    There may be as many patterns as rows, so a pattern takes one bit for each variable: 1 where it
    is missing. The first variable has the highest bit of the first word, so that the order of the
    patterns is that of their words. Counts of two parts of the data add up to those of both.
    """

    variables: Scope
    words: NDArray[np.uint64]  # a row of words for each pattern, in lexicographic order
    rows: FloatArray  # how many rows have the pattern

    @classmethod
    def of(cls, table: EncodedTable) -> PatternCounts:
        """The patterns of a table; a row counts as its copies, whatever it weighs."""
        names = table.variables
        words = np.zeros((table.rows, -(-len(names) // WORD_BITS) or 1), dtype=np.uint64)
        for index, name in enumerate(names):
            word = words[:, index // WORD_BITS]
            bit = _bit(names, index)
            word |= (table.columns[name] >= table.cardinality_of[name]).astype(np.uint64) << bit
        return cls._added_up(names, words, _copies(table))

    @classmethod
    def _added_up(cls, names: Scope, words: NDArray[np.uint64], rows: FloatArray) -> PatternCounts:
        """Make equal patterns one."""
        if words.shape[1] == 1:
            order = np.argsort(words[:, 0], kind="stable")
        else:
            order = np.lexsort(words.T[::-1])  # whose last key is the slowest
        words, rows = words[order], rows[order]
        is_new = np.ones(len(words), dtype=bool)
        is_new[1:] = (words[1:] != words[:-1]).any(axis=1)
        starts = np.flatnonzero(is_new)
        sums = np.add.reduceat(rows, starts) if len(starts) else rows
        return cls(names, words[starts], sums)

    def __add__(self, other: PatternCounts) -> PatternCounts:
        words = np.concatenate([self.words, other.words])
        return self._added_up(self.variables, words, np.concatenate([self.rows, other.rows]))

    @property
    def number(self) -> int:
        """How many patterns occur."""
        return len(self.rows)

    def commonest(self, most: int) -> NDArray[np.intp]:
        """The patterns that most rows have; of equally common ones the last in their order."""
        backwards = np.argsort(-self.rows[::-1], kind="stable")[:most]
        commonest: NDArray[np.intp] = self.number - 1 - backwards
        return commonest

    def is_missing(self, names: Scope, which: Any = slice(None)) -> NDArray[np.bool_]:
        """Whether some patterns miss some variables: a row for each pattern."""
        words = self.words[which]
        gone = np.empty((len(words), len(names)), dtype=bool)
        for column, name in enumerate(names):
            index = self.variables.index(name)
            bit = _bit(self.variables, index)
            gone[:, column] = words[:, index // WORD_BITS] >> bit & np.uint64(1)
        return gone

    def showing(self, names: Scope) -> float:
        """How many rows show all of some variables."""
        mask = np.zeros(self.words.shape[1], dtype=np.uint64)
        for index in map(self.variables.index, names):
            mask[index // WORD_BITS] |= np.uint64(1) << _bit(self.variables, index)
        shows = np.ones(self.number, dtype=bool)
        for word, bits in zip(self.words.T, mask, strict=True):
            shows &= word & bits == 0
        return float(self.rows[shows].sum())

    def shown_together(self, names: Scope) -> FloatArray:
        """How many rows show, or miss, both variables of each pair.

        The axes are the left variable, the right one, whether the left is shown, and the right.
        """
        counts = np.zeros((len(names), len(names), 2, 2))
        is_whole = bool((self.rows % 1 == 0).all())  # then differences are exact
        step = max(BLOCK_CELLS // len(names), 1) if names else 1
        for start in range(0, self.number, step):  # as numbers they take 64 times the room
            block = slice(start, start + step)
            gone = self.is_missing(names, block).astype(np.float64)
            rows = self.rows[block, None]
            missing = gone.T @ (gone * rows)
            if is_whole:
                alone = np.diagonal(missing)
                both_shown = rows.sum() - alone[:, None] - alone + missing
                shown_left, shown_right = alone - missing, alone[:, None] - missing
            else:
                shown = 1.0 - gone
                both_shown = shown.T @ (shown * rows)
                shown_left, shown_right = shown.T @ (gone * rows), gone.T @ (shown * rows)
            counts[:, :, 0, 0] += missing
            counts[:, :, 1, 0] += shown_left
            counts[:, :, 0, 1] += shown_right
            counts[:, :, 1, 1] += both_shown
        return counts


def _copies(table: EncodedTable) -> FloatArray:
    """How many rows each row of a table stands for."""
    return np.ones(table.rows) if table.copies is None else table.copies.rows


def _bit(names: Scope, index: int) -> np.uint64:
    """The place of a variable in its word, from its lowest bit."""
    in_word = min(len(names) - index // WORD_BITS * WORD_BITS, WORD_BITS)
    return np.uint64(in_word - 1 - index % WORD_BITS)


@dataclass(frozen=True)
class MissingSummary:
    """The patterns of missing values with their rows, and the counts of each family."""

    patterns: PatternCounts  # which variables rows miss together
    shown: Mapping[Scope, Counts]  # counts of each family, over all rows
    # Counts of each family, over the rows that show every variable.
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
        return self.patterns.variables

    @cached_property
    def rows(self) -> float:
        """How many rows there are."""
        return float(self.patterns.rows.sum())

    @cached_property
    def missing_together(self) -> FloatArray:
        """How many rows hide both variables of each pair."""
        together: FloatArray = self.patterns.shown_together(self.variables)[:, :, 0, 0]
        return together

    @property
    def missing_rows(self) -> FloatArray:
        """How many rows do not show each variable."""
        return np.diagonal(self.missing_together)

    @property
    def expected_together(self) -> FloatArray:
        """How many rows would hide both, if one had nothing to do with the other."""
        missing = self.missing_rows
        return np.outer(missing, missing) / max(self.rows, 1.0)

    @property
    def phi(self) -> FloatArray:
        """The correlation of going missing, for each pair; 0 where one is always or never."""
        missing, rows = self.missing_rows, self.rows
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
        return self.patterns.showing(self.variables)


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
    blocks = range(0, max(table.rows, 1), PATTERN_ROWS_AT_A_TIME)
    patterns = summed(
        PatternCounts.of(table.take(slice(k, k + PATTERN_ROWS_AT_A_TIME))) for k in blocks
    )
    return MissingSummary(patterns, count(table, families), count(complete, families))


def is_missing(table: EncodedTable, names: Scope) -> NDArray[np.bool_]:
    """Whether each row misses each of the variables: one column for each."""
    gone = np.empty((table.rows, len(names)), dtype=bool)
    for column, name in enumerate(names):
        gone[:, column] = table.columns[name] >= table.cardinality_of[name]
    return gone
