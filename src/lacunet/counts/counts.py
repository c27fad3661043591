"""Counts: a weight for each configuration that occurs, missing being one more state.

Counts of one scope add up, in any order and grouping: batches, files and machines need
nothing more than ``+``. Because "missing" is a value like any other, the counts of a family
hold those of each of its subsets among the rows that show it, which is all that direct and
factored deletion ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import Index, Keys, are_places, are_shown, distinct, pack_keys, unpack
from lacunet.counts.errors import ScopeError
from lacunet.data.table import EncodedTable
from lacunet.network.network import FloatArray, Scope

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")
Summand = TypeVar("Summand", bound=Any)
RowsOfTable = slice | NDArray[np.bool_] | NDArray[np.intp]
# A table of so many cells, missing included, is laid out sooner than its keys are unpacked.
MAX_LAID_OUT_CELLS = 2**12


def added_up(index: NDArray[np.integer], weights: FloatArray | None, size: int) -> FloatArray:
    """The sum of the weights (None: of ones) at each index."""
    return np.bincount(index, weights, minlength=size).astype(np.float64, copy=False)


def quotient(part: FloatArray | float, whole: FloatArray, otherwise: float = 0.0) -> FloatArray:
    """Each part divided by its whole; ``otherwise`` where that is zero.

    Examples
    --------
    >>> quotient(np.array([3.0, 1.0]), np.array([4.0, 0.0])).tolist()
    [0.75, 0.0]
    """
    out = np.full(np.broadcast(part, whole).shape, otherwise)
    return np.asarray(np.divide(part, whole, out=out, where=whole > 0))


def added_fields(left: Value, right: Value) -> Value:
    """A value whose fields are those of two values of its class, added."""
    names = [field.name for field in fields(left)]
    return type(left)(*(getattr(left, name) + getattr(right, name) for name in names))


def summed(parts: Iterable[Summand]) -> Summand:
    r"""All parts added up, two by two.

    Adding merges sorted keys, which costs as much as both parts are long. One after the other,
    the first of :math:`n` parts would be merged :math:`n` times; so it is :math:`\log n` times.
    """
    pile: list[tuple[int, Summand]] = []
    for part in parts:
        add_on_top(pile, part)
    # What is left, smallest first, is added in the order of the parts.
    sums = [part for _, part in reversed(pile)]
    whole: Summand = reduce(lambda after, before: before + after, sums)
    return whole


def add_on_top(pile: list[tuple[int, Summand]], part: Summand) -> None:
    """Put a part on a pile of sums, and add up those on top that hold equally many parts.

    With each sum comes its level: that of level :math:`k` holds :math:`2^k` parts. Levels fall
    from the bottom of the pile to its top, like the digits of a binary number.
    """
    level = 0
    while pile and pile[-1][0] == level:
        _, before = pile.pop()
        part = before + part
        level += 1
    pile.append((level, part))


@dataclass(frozen=True)
class Tally:
    """What is added up for each configuration: weight, number of rows, squared weights.

    Where every row weighs one, the three are one array, and are added up only once.
    """

    weights: FloatArray
    rows: FloatArray  # their number, whatever they weigh
    squares: FloatArray  # squared weights, for the effective sample size

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        index: NDArray[np.integer],
        size: int,
        rows: RowsOfTable = slice(None),
    ) -> Tally:
        """Add up some rows of a table, each at its index."""
        copies = table.copies
        number = added_up(index, None if copies is None else copies.rows[rows], size)
        if table.weights is None or not table.is_weighted:
            return cls(number, number, number)
        row_weights = table.weights[rows]
        squares = row_weights * row_weights if copies is None else copies.squares[rows]
        return cls(added_up(index, row_weights, size), number, added_up(index, squares, size))

    @classmethod
    def all_of(cls, table: EncodedTable) -> Tally:
        """Add up all rows of a table."""
        copies = table.copies
        weights = table.weights
        number = np.array([table.rows if copies is None else copies.rows.sum()], np.float64)
        if weights is None or not table.is_weighted:
            return cls(number, number, number)
        squares = weights**2 if copies is None else copies.squares
        return cls(np.array([weights.sum()]), number, np.array([squares.sum()]))

    @classmethod
    def _each(cls, make: Callable[..., FloatArray], *tallies: Tally) -> Tally:
        """What is made of the weights, of the rows and of the squares of some tallies."""
        weights = make(*(tally.weights for tally in tallies))
        if all(tally.rows is tally.weights for tally in tallies):
            return cls(weights, weights, weights)
        rows = make(*(tally.rows for tally in tallies))
        squares = make(*(tally.squares for tally in tallies))
        return cls(weights, rows, squares)

    @property
    def scale(self) -> float:
        """What makes weights add up to the weighted sample size."""
        squares = float(self.squares.sum())
        return float(self.weights.sum()) / squares if squares > 0 else 1.0

    @property
    def worth(self) -> float:
        r"""The weighted sample size (Kish), :math:`(\sum w)^2 / \sum w^2`."""
        return float(self.weights.sum()) * self.scale

    @property
    def all_rows(self) -> Tally:
        """All rows added up."""
        return self.gathered(np.zeros(len(self.weights), np.intp), 1)

    def gathered(self, index: NDArray[np.intp], size: int) -> Tally:
        """Add up again what belongs to one index."""
        return self._each(lambda values: added_up(index, values, size), self)

    def take(self, which: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Tally:
        """The tally of some configurations."""
        return self._each(lambda values: values[which], self)

    def sampled(self, multiples: FloatArray, starts: Index) -> Tally:
        """Each configuration as many times as said, runs of them from each start on added up."""
        weights = np.add.reduceat(self.weights * multiples, starts)
        if self.rows is self.weights and _are_all_or_nothing(multiples):
            return Tally(weights, weights, weights)
        # A row that counts twice weighs twice as much, but is still one row.
        rows = np.add.reduceat(self.rows * (multiples > 0), starts)
        squares = np.add.reduceat(self.squares * multiples**2, starts)
        return Tally(weights, rows, squares)

    def changed(self, index: Index, parts: Tally, times: FloatArray) -> Tally:
        """The same where parts of it, at their indices, count so many times instead of once."""
        size = len(self.weights)
        weights = self.weights + added_up(index, parts.weights * (times - 1), size)
        if self.rows is self.weights and _are_all_or_nothing(times):
            return Tally(weights, weights, weights)
        rows = self.rows - added_up(index, parts.rows * (times <= 0), size)
        squares = self.squares + added_up(index, parts.squares * (times**2 - 1), size)
        return Tally(weights, rows, squares)

    def scaled(self, factor: float) -> Tally:
        """The same where every weight is so many times as large."""
        return Tally(self.weights * factor, self.rows, self.squares * factor**2)

    def __add__(self, other: Tally) -> Tally:
        return self._each(np.add, self, other)

    def joined(self, other: Tally) -> Tally:
        """The configurations of the one, then of the other."""
        return self._each(lambda *both: np.concatenate(both), self, other)


def _are_all_or_nothing(multiples: FloatArray) -> bool:
    """Whether everything counts once or not at all: then rows that weigh one still do."""
    return bool(((multiples == 0) | (multiples == 1)).all())


@dataclass(frozen=True)
class Counts:
    """A weight for each configuration of ``scope`` that occurs; every other weighs zero."""

    scope: Scope
    cardinalities: tuple[int, ...]
    # The configurations, packed with `cardinality + 1` values an axis (the last one: missing), in
    # ascending, that is lexicographic, order.
    keys: Keys
    tally: Tally  # of each

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of values of each axis, missing included."""
        return tuple([size + 1 for size in self.cardinalities])

    def __add__(self, other: Counts) -> Counts:
        if (self.scope, self.cardinalities) != (other.scope, other.cardinalities):
            scopes = f"{list(self.scope)} and over {list(other.scope)}"
            raise ScopeError(f"counts over {scopes} do not add up.")
        return gathered(
            self.scope,
            self.cardinalities,
            np.concatenate([self.keys, other.keys]),
            self.tally.joined(other.tally),
        )

    def columns(self) -> dict[str, Keys]:
        """The value of each variable in each configuration."""
        return dict(zip(self.scope, unpack(self.keys, self.radices), strict=True))

    def marginal(self, subset: Sequence[str]) -> Counts:
        """The counts over some of the variables, in the order given."""
        (counts,) = self.marginals([subset])
        return counts

    def marginals(self, subsets: Iterable[Sequence[str]]) -> Iterator[Counts]:
        """The counts over each of several subsets of the variables."""
        columns = self.columns()
        cardinality_of = dict(zip(self.scope, self.cardinalities, strict=True))
        for subset in subsets:
            sizes = tuple([cardinality_of[name] for name in subset])
            keys = pack_keys(
                [columns[name] for name in subset], [s + 1 for s in sizes], len(self.keys)
            )
            yield gathered(tuple(subset), sizes, keys, self.tally)

    def sampled(self, multiples: FloatArray) -> Counts:
        """The counts over all variables but the last, each state of which counts so many times.

        Examples
        --------
        >>> ones = np.ones(3)
        >>> both = Counts(("A", "fold"), (2, 2), np.array([0, 1, 3]), Tally(ones, ones, ones))
        >>> both.sampled(np.array([1.0, 2.0])).dense().tolist()  # A=0 in both folds, A=1 in one
        [3.0, 1.0]
        """
        keys, state = np.divmod(self.keys, self.radices[-1])
        # Keys are ascending and the last variable is the fastest: equal ones lie side by side.
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        tally = self.tally.sampled(multiples[state], starts)
        counts = Counts(self.scope[:-1], self.cardinalities[:-1], keys[starts], tally)
        return counts.take(np.flatnonzero(tally.rows > 0))

    def take(self, which: Index | slice) -> Counts:
        """Some of the configurations, in their order."""
        return replace(self, keys=self.keys[which], tally=self.tally.take(which))

    def scaled(self, factor: float) -> Counts:
        """The same where every weight is so many times as large."""
        return Counts(self.scope, self.cardinalities, self.keys, self.tally.scaled(factor))

    @property
    def is_whole(self) -> bool:
        """Whether every row shows the whole scope."""
        return bool(self._shown().all())

    def dense(self) -> FloatArray:
        """The weights of the rows that show the whole scope, one axis per variable."""
        return self._dense(self.tally.weights)

    def squares(self) -> FloatArray:
        """The squared weights of these rows."""
        return self._dense(self.tally.squares)

    def row_counts(self) -> FloatArray:
        """The number of these rows, whatever they weigh."""
        return self._dense(self.tally.rows)

    def backing(self, hidden: Sequence[str]) -> FloatArray:
        """The rows that show all but some variables, for each state of all variables but the last.

        Examples
        --------
        >>> ones = np.ones(2)
        >>> both = Counts(("H", "A"), (2, 2), np.array([6, 7]), Tally(ones, ones, ones))
        >>> both.backing(["H"]).tolist(), both.backing(["A"]).tolist()  # no row shows H
        ([2.0, 2.0], [0.0, 0.0])
        """
        shown = [name for name in self.scope if name not in hidden]
        sizes = zip(self.scope, self.cardinalities, strict=True)
        rows = self.marginal(shown).row_counts()
        # An axis of length one for each hidden variable, along which all states are alike.
        wide = rows.reshape([1 if name in hidden else size for name, size in sizes])
        return np.broadcast_to(wide.sum(axis=-1), self.cardinalities[:-1])

    def _dense(self, values: FloatArray) -> FloatArray:
        """The values of the configurations that show the whole scope, laid out; zero elsewhere."""
        radices = self.radices
        if prod(radices) <= MAX_LAID_OUT_CELLS:
            cells = np.zeros(radices)
            np.put(cells, self.keys, values)
            # Without the last value of each axis, which is "missing".
            return np.ascontiguousarray(cells[tuple(map(slice, self.cardinalities))])
        columns = self.columns().values()
        shown = np.flatnonzero(self._shown())
        index = pack_keys([column[shown] for column in columns], self.cardinalities, len(shown))
        table = np.zeros(prod(self.cardinalities))
        table[index] = values[shown]
        return table.reshape(self.cardinalities)

    def _shown(self) -> NDArray[np.bool_]:
        """Whether each configuration shows the whole scope."""
        radices = self.radices
        if prod(radices) <= MAX_LAID_OUT_CELLS:
            cells = np.zeros(radices, dtype=bool)
            cells[tuple(map(slice, self.cardinalities))] = True
            return cells.ravel()[self.keys]
        return are_shown([*self.columns().values()], self.cardinalities)

    @property
    def total(self) -> float:
        """The weight of all rows counted."""
        return float(self.tally.weights.sum())


def gathered(scope: Scope, cardinalities: tuple[int, ...], keys: Keys, tally: Tally) -> Counts:
    """Counts from keys that may repeat."""
    bound = prod(size + 1 for size in cardinalities)
    return Counts(scope, cardinalities, *added_by_key(keys, bound, tally.gathered))


def added_by_key(keys: Keys, bound: int, add: Callable[[Index, int], Tally]) -> tuple[Keys, Tally]:
    """The distinct keys, ascending, and the tally of each; ``add`` adds up at indices."""
    if are_places(bound, len(keys)):  # a table of all keys costs less than to number them
        tally = add(keys, bound)
        uniques = np.flatnonzero(tally.rows > 0)
        return uniques, tally.take(uniques)
    uniques, index = distinct(keys, bound)
    return uniques, add(index, len(uniques))
