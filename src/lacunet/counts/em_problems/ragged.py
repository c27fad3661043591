"""Rows of unequal length, laid end to end in one array.

The components of thousands of patterns, their boundaries and the values of these are all
lists of unequal length. Kept end to end they can be gathered, compared and made distinct by
whole-array operations, without a Python loop over the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import ascending, number_distinct, stable_order

Integers = NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.float64)
DENSE = 32  # cells of a matrix for each item: filling them takes less time than sorting it


@dataclass(frozen=True)
class Ragged:
    """Row ``i`` is ``items[starts[i]:starts[i + 1]]``."""

    starts: Integers
    items: Integers

    @classmethod
    def of_lengths(cls, lengths: Integers, items: Integers) -> Ragged:
        """Rows of the given lengths."""
        starts = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        return cls(starts, items)

    @classmethod
    def of_pairs(cls, rows: int, owners: Integers, items: Integers) -> Ragged:
        """Row ``i`` lists the distinct items that ``i`` owns, ascending.

        Examples
        --------
        >>> Ragged.of_pairs(2, np.array([1, 0, 1, 1]), np.array([7, 3, 2, 7])).items.tolist()
        [3, 2, 7]
        """
        width = 1 + int(items.max(initial=0))
        if rows * width <= DENSE * (rows + len(items)):
            holds = np.zeros(rows * width, dtype=bool)
            holds[owners * width + items] = True
            places = np.flatnonzero(holds)
            row = places // width
            return cls.of_lengths(np.bincount(row, minlength=rows), places - row * width)
        keys = ascending(owners * width + items)
        return cls.of_lengths(np.bincount(keys // width, minlength=rows), keys % width)

    @classmethod
    def of_owners(cls, rows: int, owners: Integers, items: Integers | None = None) -> Ragged:
        """Row ``i`` lists the items that ``i`` owns, in their order; without items their places.

        Examples
        --------
        >>> Ragged.of_owners(2, np.array([1, 0, 1]), np.array([7, 3, 2])).items.tolist()
        [3, 7, 2]
        """
        order = stable_order(owners, rows)
        lengths = np.bincount(owners, minlength=rows)
        return cls.of_lengths(lengths, order if items is None else items[order])

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Integers:
        """The length of each row."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def owners(self) -> Integers:
        """The row that each item is in."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def sums(self) -> Integers:
        """The sum of each row.

        Examples
        --------
        >>> Ragged.of_lengths(np.array([2, 0, 1]), np.array([5, 6, 7])).sums.tolist()
        [11, 0, 7]
        """
        before = np.zeros(1 + len(self.items), dtype=np.int64)
        np.cumsum(self.items, out=before[1:])
        return np.diff(before[self.starts])

    def places(self, rows: Integers) -> Integers:
        """Where the items of the given rows are, row after row."""
        return ranges(self.starts[rows], self.lengths_of(rows))

    def items_of(self, rows: Integers) -> Integers:
        """The items of the given rows, row after row."""
        return self.items[self.places(rows)]

    def lengths_of(self, rows: Integers) -> Integers:
        """The lengths of the given rows."""
        if 2 * len(rows) > len(self):
            return self.lengths.take(rows)
        return self.starts[rows + 1] - self.starts[rows]

    def row(self, row: int) -> Integers:
        """One row."""
        return self.items[self.starts[row] : self.starts[row + 1]]

    def between(self, start: int, stop: int) -> Integers:
        """The items of the rows from one to before another."""
        return self.items[self.starts[start] : self.starts[stop]]

    def matrix(self, start: int, stop: int) -> Integers:
        """The rows from one to before another, which have one length."""
        return self.between(start, stop).reshape(stop - start, -1)

    def take(self, rows: Integers) -> Ragged:
        """The given rows, in the given order, with repetition."""
        lengths = self.lengths_of(rows)
        return Ragged.of_lengths(lengths, self.items[ranges(self.starts[rows], lengths)])

    def strides(self, sizes: NDArray[Number]) -> tuple[NDArray[Number], NDArray[Number]]:
        """Where each row lists the axes of a table: the stride of each, and each table's cells.

        ``sizes`` are those of the axes; the last one of a table is the fastest.

        Examples
        --------
        >>> axes = Ragged.of_lengths(np.array([2, 1]), np.array([9, 5, 9]))
        >>> strides, cells = axes.strides(np.array([2, 3, 4]))
        >>> strides.tolist(), cells.tolist()
        ([3, 1, 1], [6, 4])
        """
        strides = np.ones_like(sizes)
        cells = np.ones(len(self), sizes.dtype)
        for back in range(1, 1 + int(self.lengths.max(initial=0))):
            rows = np.flatnonzero(self.lengths >= back)
            places = self.starts[rows + 1] - back
            strides[places] = cells[rows]
            cells[rows] *= sizes[places]
        return strides, cells

    def find(self, rows: Integers, items: Integers) -> Integers:
        """Where each item stands in its row, among the items of all rows; -1 where it does not.

        Examples
        --------
        >>> rows = Ragged.of_lengths(np.array([2, 1]), np.array([9, 5, 9]))
        >>> rows.find(np.array([0, 1, 1]), np.array([5, 9, 5])).tolist()
        [1, 2, -1]
        """
        if not len(self.items) or not len(items):
            return np.full(len(items), -1)
        width = 1 + max(int(self.items.max()), int(items.max()))
        if len(self) * width <= DENSE * (len(self.items) + len(items)):
            index = np.full(len(self) * width, -1, dtype=np.int32)
            index[self.owners * width + self.items] = np.arange(len(self.items))
            return index.take(rows * width + items).astype(np.int64)
        keys = self.owners * width + self.items
        order = stable_order(keys, len(self) * width)
        wanted = rows * width + items
        candidate = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
        return np.where(keys[candidate] == wanted, candidate, -1)


def concatenate_rows(parts: Sequence[Ragged]) -> Ragged:
    """The rows of all parts, one part after the other."""
    return Ragged.of_lengths(
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.items for part in parts]),
    )


def concatenated(left: Ragged, right: Ragged) -> Ragged:
    """Each row of one followed by the same row of the other.

    Examples
    --------
    >>> one = Ragged.of_lengths(np.array([1, 2]), np.array([5, 6, 7]))
    >>> concatenated(one, one).items.tolist()
    [5, 5, 6, 7, 6, 7]
    """
    starts = left.starts + right.starts
    items = np.empty(starts[-1], dtype=np.int64)
    items[np.arange(len(left.items)) + np.repeat(right.starts[:-1], left.lengths)] = left.items
    items[np.arange(len(right.items)) + np.repeat(left.starts[1:], right.lengths)] = right.items
    return Ragged(starts, items)


def ranges(starts: Integers, lengths: Integers) -> Integers:
    """The numbers ``start, start + 1, ...`` of each range, range after range.

    Examples
    --------
    >>> ranges(np.array([7, 3]), np.array([2, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    if not lengths.all():
        starts, lengths = starts[lengths != 0], lengths[lengths != 0]
    if not len(lengths):
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(lengths)
    steps = np.ones(ends[-1], dtype=np.int64)  # each number as its step from the one before
    steps[0] = starts[0]
    steps[ends[:-1]] = starts[1:] - starts[:-1] - lengths[:-1] + 1
    return np.cumsum(steps, out=steps)


def runs(numbers: Integers) -> list[tuple[int, int]]:
    """Where runs of equal numbers begin and end.

    Examples
    --------
    >>> runs(np.array([0, 0, 1]))
    [(0, 2), (2, 3)]
    """
    begins = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    if begins:
        return list(zip(begins, [*begins[1:], len(numbers)], strict=True))
    return []


def in_runs(items: Integers, numbers: Integers | NDArray[np.float64]) -> list[Integers]:
    """The items in runs that have equal numbers.

    Examples
    --------
    >>> [run.tolist() for run in in_runs(np.array([7, 3, 5]), np.array([0, 0, 1]))]
    [[7, 3], [5]]
    """
    if len(items):
        return np.split(items, np.flatnonzero(np.diff(numbers)) + 1)
    return []


def hash64(numbers: Integers | NDArray[np.uint64], salt: int = 0) -> NDArray[np.uint64]:
    """Scramble integers to 64 bits: the finaliser of Steele, Lea and Flood's SplitMix."""
    bits = numbers.astype(np.uint64)
    bits += np.uint64((0x9E3779B97F4A7C15 * (salt + 1)) % 2**64)
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


def hash_text(text: str) -> int:
    """A number of 64 bits for a string, always the same."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def group_equal_rows(rows: Ragged, labels: Integers | None = None) -> tuple[Integers, Integers]:
    """The first of each group of equal rows, and the group of each row.

    Rows are equal if they hold the same items in the same order and have the same label.
    Each row is hashed to 64 bits, equal hashes are then compared item by item; should two
    unequal rows ever share a hash, all are hashed anew with another salt. The order of the
    groups depends on what the rows hold, not on where they stand.

    Examples
    --------
    >>> rows = Ragged.of_lengths(np.array([2, 1, 2]), np.array([4, 5, 4, 4, 5]))
    >>> first, group = group_equal_rows(rows)
    >>> sorted(first.tolist()), (group[0] == group[2]).item()
    ([0, 1], True)
    """
    labels = np.zeros(len(rows), dtype=np.int64) if labels is None else labels
    return distinct_by_hash(
        lambda salt: _hashes(rows, labels, salt), lambda others: _are_equal(rows, labels, others)
    )


def distinct_by_hash(
    hashes: Callable[[int], NDArray[np.uint64]], are_equal: Callable[[Integers], bool]
) -> tuple[Integers, Integers]:
    """Where each of some things occurs first, and which of these each of them is.

    Parameters
    ----------
    hashes
        A hash of each thing, by a salt.
    are_equal
        Whether each thing is equal to another, by the places of the others.
    """
    for salt in count():
        _, first, group = number_distinct(hashes(salt))
        if are_equal(first[group]):
            return first, group
    raise AssertionError  # count() does not end


def _hashes(rows: Ragged, labels: Integers, salt: int) -> NDArray[np.uint64]:
    lengths = rows.lengths
    turn = hash64(np.arange(1 + int(lengths.max(initial=0))), salt + 1)
    items = turn.take(ranges(np.zeros_like(lengths), lengths))
    items += rows.items.view(np.uint64)
    sums = np.zeros(1 + len(items), dtype=np.uint64)
    np.cumsum(hash64(items, salt), out=sums[1:])
    whole: NDArray[np.uint64] = sums[rows.starts[1:]] - sums[rows.starts[:-1]]  # modulo 2^64
    return whole + hash64(labels.astype(np.uint64) + turn[lengths], salt + 2)


def _are_equal(rows: Ragged, labels: Integers, others: Integers) -> bool:
    same_heads = np.array_equal(labels, labels[others]) and np.array_equal(
        rows.lengths, rows.lengths[others]
    )
    return same_heads and np.array_equal(rows.items, rows.items_of(others))
