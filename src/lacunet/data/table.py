"""The encoded table: what every statistic is counted from.

Each column holds the index of the state, and *missing is one more state*: the code
``cardinality`` stands for "not observed". So one table of counts with one more value an
axis holds the counts of every subset of its variables at once.

A cell may also be one of several states: a *set*. The sets that a variable may have are
numbered, and their codes come behind that for missing. What counts with missing as a state
takes such a cell as missing (`EncodedTable.without_sets`); likelihoods use all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lacunet.network.network import FloatArray, Mask, Scope
from lacunet.text import counted, first_of

Codes = NDArray[np.uint8] | NDArray[np.uint16]
Columns = Mapping[str, Codes]
Sets = Sequence[tuple[int, ...]]  # of states, ascending
T = TypeVar("T")
ROW_PARTS_ROUNDING = 1e-6  # of a sum of parts of rows
MOST_NAMED = 5  # columns, in one line


# The states of each set of each variable that has any, ascending: neither one nor all of them.
SetsOf = Mapping[str, tuple[tuple[int, ...], ...]]


def code_type(cardinality: int, sets: int = 0) -> type[np.uint8] | type[np.uint16]:
    """The narrowest type that holds the states, the code for missing and those of sets."""
    return np.uint8 if cardinality + sets <= 254 else np.uint16


def sets_of_both(left: SetsOf, right: SetsOf) -> SetsOf:
    """The sets of two tables: those of the first as they are numbered, then the others."""
    return {
        name: tuple(dict.fromkeys((*left.get(name, ()), *right.get(name, ()))))
        for name in {**left, **right}
    }


def allowed_states(states: int, sets: Sets) -> Mask:
    """Whether each code (a state, missing, sets) allows each state."""
    in_sets = [np.isin(np.arange(states), members)[None] for members in sets]
    plain = np.eye(states, dtype=bool), np.ones((1, states), dtype=bool)
    return np.concatenate([*plain, *in_sets])


def renumbered(codes: NDArray[Any], size: int, sets: Sets, among: Sets) -> NDArray[Any]:
    """The codes of a column whose sets are numbered in another way.

    Examples
    --------
    >>> renumbered(np.array([0, 3, 4]), 3, [(0, 1)], [(1, 2), (0, 1)]).tolist()
    [0, 3, 5]
    """
    if tuple(sets) == tuple(among[: len(sets)]):
        return codes
    numbers = np.array([*range(size + 1), *(size + 1 + among.index(members) for members in sets)])
    return np.asarray(numbers[codes], code_type(size, len(among)))


RowsOfUnits = Mapping[tuple[str, str], float]  # by stratum and cluster
NO_LABEL = ""


def added_rows(left: RowsOfUnits, right: RowsOfUnits) -> RowsOfUnits:
    """The rows of the units in two parts of the data."""
    return {unit: left.get(unit, 0) + right.get(unit, 0) for unit in {**left, **right}}


@dataclass(frozen=True)
class Copies:
    """How many rows of the data each row of a table stands for, and their squared weights."""

    rows: FloatArray
    squares: FloatArray

    def take(self, rows: Any) -> Copies:
        """The copies of some of the rows."""
        taken = self.rows[rows]
        return Copies(taken, taken if self.squares is self.rows else self.squares[rows])

    @classmethod
    def joined(cls, parts: Sequence[Copies]) -> Copies:
        """The copies of all rows, part after part."""
        rows = np.concatenate([part.rows for part in parts])
        if all(part.squares is part.rows for part in parts):
            return cls(rows, rows)
        return cls(rows, np.concatenate([part.squares for part in parts]))


def share_equal_arrays(
    weights: FloatArray, rows: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, numbers of copies and squared weights: one array where every copy weighs one."""
    if np.array_equal(weights, rows) and np.array_equal(squares, rows):
        return rows, rows, rows
    return weights, rows, squares


@dataclass(frozen=True)
class Labels:
    """A label for each row: ``labels[codes[row]]``. Those of several tables can be joined."""

    labels: tuple[str, ...]
    codes: NDArray[np.int32]

    def take(self, rows: Any) -> Labels:
        """The labels of some of the rows."""
        return Labels(self.labels, self.codes[rows])

    def among(self, labels: dict[str, int]) -> NDArray[np.int32]:
        """The codes by another numbering, which takes in the labels that it does not have."""
        number_of = [labels.setdefault(label, len(labels)) for label in self.labels]
        return np.array(number_of, np.int32)[self.codes]

    @classmethod
    def joined(cls, parts: Sequence[Labels]) -> Labels:
        """The labels of all rows, part after part.

        Examples
        --------
        >>> one = Labels(("a", "b"), np.array([1, 0], np.int32))
        >>> two = Labels(("c", "a"), np.array([0, 1], np.int32))
        >>> Labels.joined([one, two]).codes.tolist()
        [1, 0, 2, 0]
        """
        labels: dict[str, int] = {}
        codes = [part.among(labels) for part in parts]
        return cls(tuple(labels), np.concatenate(codes))


@dataclass(frozen=True)
class Design:
    """How the rows were sampled, as far as it is told."""

    strata: Labels | None = None
    clusters: Labels | None = None  # within strata: of two strata, one label names two clusters
    replicates: FloatArray | None = None  # replicate weights, a row of them for each of the table
    factors: FloatArray | None = None  # of each replicate's squared deviation, in a variance
    # How many rows of weight zero are of each stratum and cluster: sampled, but not in the table.
    unweighted: RowsOfUnits = field(default_factory=dict)

    def take(self, rows: Any) -> Design:
        """The design of some of the rows."""
        return replace(
            self,
            strata=self.strata and self.strata.take(rows),
            clusters=self.clusters and self.clusters.take(rows),
            replicates=None if self.replicates is None else self.replicates[rows],
        )

    def units(self) -> tuple[list[tuple[str, str]], NDArray[np.intp]]:
        """The labels of the strata and clusters that rows have, and which pair each row has."""
        some = self.strata or self.clusters
        assert some is not None
        none = Labels((NO_LABEL,), np.zeros(len(some.codes), np.int32))
        strata, clusters = self.strata or none, self.clusters or none
        keys = strata.codes.astype(np.intp) * len(clusters.labels) + clusters.codes
        pairs, pair_of_row = np.unique(keys, return_inverse=True)
        both = zip(*np.divmod(pairs, len(clusters.labels)), strict=True)
        labels = [(strata.labels[stratum], clusters.labels[cluster]) for stratum, cluster in both]
        return labels, pair_of_row

    @classmethod
    def joined(cls, parts: Sequence[Design]) -> Design:
        """The design of all rows, part after part; the parts are of one sample.

        It has no ``unweighted``: they are those of the whole sample, of which parts do not know.
        What read the parts adds them up, and gives them to the table of all rows.
        """
        return cls(
            strata=_joined(Labels.joined, [part.strata for part in parts]),
            clusters=_joined(Labels.joined, [part.clusters for part in parts]),
            replicates=_joined(np.concatenate, [part.replicates for part in parts]),
            factors=parts[0].factors,
        )


def _joined(join: Callable[[list[T]], T], parts: Iterable[T | None]) -> T | None:
    """What parts have together, None where they have none."""
    held = [part for part in parts if part is not None]
    return join(held) if held else None


def whole_rows(number: float) -> int:
    """A number of rows, counts of parts of rows added up, as a whole number; some are one."""
    return round(number) or int(number > 0)


def _row_count(where: NDArray[np.bool_], copies: Copies | None) -> int:
    """How many rows are chosen, copies of one row included; the last may be a part of a row."""
    rows = np.count_nonzero(where) if copies is None else copies.rows[where].sum()
    return ceil(rows - ROW_PARTS_ROUNDING)


@dataclass(frozen=True, repr=False)
class EncodedTable:
    """Rows over the network's variables, one column of codes each.

    ``columns[v][row]`` is the index of the state, or ``cardinality_of[v]`` where the row
    does not show ``v``. The code ``cardinality_of[v] + 1 + i`` says that the cell is one of the
    states ``sets_of[v][i]``, and no more; ``missing_of`` counts it as missing. Rows of weight zero
    are dropped at the door, so no statistic ever meets one.
    """

    cardinality_of: Mapping[str, int]
    columns: Columns
    weights: FloatArray | None = None  # None: every row weighs one
    notes: tuple[str, ...] = ()  # what the user should know of how they were read
    row_numbers: NDArray[np.int64] | None = None  # in the data, from 1; None: none was dropped
    copies: Copies | None = None  # where a row stands for several, whose weight it then has
    design: Design | None = None  # where they have strata, clusters or replicate weights
    sets_of: SetsOf = field(default_factory=dict)
    # What the rows that these were chosen from do not all show: `missing_of` counts it as missing.
    hidden_elsewhere: Scope = ()

    def __repr__(self) -> str:
        names = first_of(list(self.columns), MOST_NAMED)
        return f"<EncodedTable: {counted(self.rows, 'row')} of {names}>"

    @property
    def rows(self) -> int:
        """The number of rows, each counted once."""
        return len(next(iter(self.columns.values())) if self.weights is None else self.weights)

    @classmethod
    def joined(
        cls, cardinality_of: Mapping[str, int], parts: Iterable[EncodedTable]
    ) -> EncodedTable:
        """All rows, part after part; all parts have weights, copies and a design if one has.

        Of parts that nobody else holds, only one column at a time is held twice.
        """
        pieces_of: dict[str, list[NDArray[Any]]] = {name: [] for name in cardinality_of}
        bare_parts: list[EncodedTable] = []  # without columns, which are let go one by one
        sets_of: SetsOf = {}
        for part in parts:
            for name, codes in part.columns.items():
                pieces_of[name].append(codes)
            bare_parts.append(replace(part, columns={}))
            sets_of = sets_of_both(sets_of, part.sets_of)
        columns: dict[str, Any] = {}
        for name, size in cardinality_of.items():
            sets = sets_of.get(name, ())
            pieces = [np.empty(0, code_type(size, len(sets)))]  # also where there are no parts
            for codes, part in zip(pieces_of.pop(name), bare_parts, strict=True):
                pieces.append(renumbered(codes, size, part.sets_of.get(name, ()), sets))
            columns[name] = np.concatenate(pieces)
        whole = cls(
            cardinality_of,
            columns,
            weights=_joined(np.concatenate, [part.weights for part in bare_parts]),
            row_numbers=_joined(np.concatenate, [part.row_numbers for part in bare_parts]),
            copies=_joined(Copies.joined, [part.copies for part in bare_parts]),
            design=_joined(Design.joined, [part.design for part in bare_parts]),
            sets_of=sets_of,
        )
        if whole.copies is None or any(part.is_weighted for part in bare_parts):
            return whole
        return replace(whole, weights=whole.copies.rows)  # one array, as in the parts

    @cached_property
    def missing_of(self) -> Mapping[str, int]:
        """How many rows do not show each variable."""
        missing_of = {name: int(name in self.hidden_elsewhere) for name in self.columns}
        for name, column in self.columns.items():
            missing = column >= self.cardinality_of[name]
            if missing.any():  # in half a row, too
                missing_of[name] = _row_count(missing, self.copies) or 1
        return missing_of

    @property
    def row_count(self) -> int:
        """The number of rows of the data, copies of one row included."""
        if self.copies is None:
            return self.rows
        return whole_rows(float(self.copies.rows.sum()))

    @property
    def variables(self) -> Scope:
        """The variables, in the network's order."""
        return tuple(self.columns)

    @property
    def partially_observed(self) -> Scope:
        r"""The variables that some row does not show, :math:`X_m`."""
        return tuple(name for name in self.columns if self.missing_of[name])

    @property
    def fully_observed(self) -> Scope:
        r"""The variables that every row shows, :math:`X_o`."""
        return tuple(name for name in self.columns if not self.missing_of[name])

    @property
    def total(self) -> float:
        """The weight of all rows, :math:`N`."""
        return float(self.rows) if self.weights is None else float(self.weights.sum())

    @property
    def is_weighted(self) -> bool:
        """Whether rows weigh other than the number of copies that they stand for."""
        if self.weights is None or self.copies is None:
            return self.weights is not None
        # Where every copy weighs one, the three are one array.
        return not (self.copies.rows is self.weights is self.copies.squares)

    @property
    def scale(self) -> float:
        r"""What makes weights add up to the weighted sample size (Kish).

        .. math::
            n = \frac{(\sum w)^2}{\sum w^2}

        One where rows weigh one each, or say how many they stand for.
        """
        if self.weights is None or not self.is_weighted:
            return 1.0
        squares = self.weights**2 if self.copies is None else self.copies.squares
        return self.total / max(float(squares.sum()), 1e-300)

    def scaled(self, factor: float | None = None) -> EncodedTable:
        """The same rows with weights times a factor, that of `scale` by default."""
        factor = self.scale if factor is None else factor
        if self.weights is None or factor == 1:
            return self
        copies = self.copies
        if copies is not None:
            copies = Copies(copies.rows, copies.squares * factor**2)
        return replace(self, weights=self.weights * factor, copies=copies)

    def replicated(self, replicate: int) -> EncodedTable:
        """The rows with the weights of a replicate, by its number, and without those of none."""
        assert self.design is not None
        assert self.design.replicates is not None
        weights = np.ascontiguousarray(self.design.replicates[:, replicate])
        copies = None
        if self.copies is not None:
            rows = self.copies.rows
            weights, copies = weights * rows, Copies(rows, weights**2 * rows)
        return replace(self, weights=weights, copies=copies).take(weights > 0)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each row in the data as given, from 1."""
        if self.row_numbers is None:
            return np.arange(1, self.rows + 1)
        return self.row_numbers

    @property
    def row_weights(self) -> FloatArray:
        """The weight of each row."""
        return np.ones(self.rows) if self.weights is None else self.weights

    def is_shown(self, variables: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each row shows all of the variables."""
        shown = np.ones(self.rows, dtype=bool)
        for name in variables:
            if self.missing_of[name]:
                shown &= self.columns[name] < self.cardinality_of[name]
        return shown

    def shows_any(self, variables: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each row shows at least one of the variables."""
        shown = np.zeros(self.rows, dtype=bool)
        for name in variables:
            shown |= self.columns[name] < self.cardinality_of[name]
        return shown

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64] | slice) -> EncodedTable:
        """The table of some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        copies = None if self.copies is None else self.copies.take(rows)
        if weights is not None and not self.is_weighted:
            copies = Copies(weights, weights)
        return replace(
            self,
            columns={name: column[rows] for name, column in self.columns.items()},
            weights=weights,
            row_numbers=self.numbers[rows],
            copies=copies,
            design=None if self.design is None else self.design.take(rows),
        )

    def with_columns(self, cardinality_of: Mapping[str, int], columns: Columns) -> EncodedTable:
        """The same rows, of the same weights and design, with other columns."""
        return replace(
            self,
            cardinality_of=dict(cardinality_of),
            columns=dict(columns),
            sets_of={name: sets for name, sets in self.sets_of.items() if name in columns},
            hidden_elsewhere=(),
        )

    def hiding(self, names: Container[str]) -> EncodedTable:
        """The table in which some variables are missing in every row."""
        hidden: dict[str, Codes] = {
            name: np.full_like(codes, self.cardinality_of[name]) if name in names else codes
            for name, codes in self.columns.items()
        }
        return self.with_columns(self.cardinality_of, hidden)

    @property
    def cells_of_sets(self) -> dict[str, int]:
        """How many cells of each variable are one of several states, copies of rows included."""
        cells_of = {}
        for name in self.sets_of:
            is_set = self.columns[name] > self.cardinality_of[name]
            cells_of[name] = _row_count(is_set, self.copies)
        return {name: cells for name, cells in cells_of.items() if cells > 0}

    def without_sets(self) -> EncodedTable:
        """The table in which every cell that is one of several states is missing.

        Examples
        --------
        >>> codes = {"A": np.array([0, 3, 4], np.uint8)}
        >>> table = EncodedTable({"A": 3}, codes, sets_of={"A": ((0, 1),)})
        >>> table.without_sets().columns["A"].tolist()
        [0, 3, 3]
        """
        if not self.sets_of:
            return self
        plain: dict[str, Any] = dict(self.columns)
        for name in self.sets_of:
            plain[name] = np.minimum(plain[name], plain[name].dtype.type(self.cardinality_of[name]))
        return replace(self, columns=plain, sets_of={})


def in_tables(batches: Iterable[EncodedTable], most: int) -> Iterator[EncodedTable]:
    """The same rows in tables of at most so many; their numbers, of all rows together, are gone."""

    def joined() -> EncodedTable:
        whole = EncodedTable.joined(held[0].cardinality_of, held)
        return replace(whole, row_numbers=None)

    held: list[EncodedTable] = []
    for batch in batches:
        for start in range(0, batch.rows, most):
            part = batch.take(slice(start, start + most)) if batch.rows > most else batch
            if sum(table.rows for table in (*held, part)) > most:
                yield joined()
                held = []
            held.append(part)
    if held:
        yield joined()
