"""Keys and their distinct values: the grouping under every statistic.

A configuration of several columns is packed into one integer, mixed radix, first column
slowest. Distinct keys are then found by direct addressing where the range is small, by
hashing otherwise, and by sorting where most are different; all give the keys in ascending order,
so results do not depend on which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.encode import array_of, values_of

Keys = NDArray[np.int64]
Index = NDArray[np.intp]

LARGEST_KEY = 2**62
LARGEST_SPARSE = 2**23  # a table of so many keys is faster than hashing, even if few occur
PACKED_AT_A_TIME = 2**15
LOOKED_AT = 1000  # keys that are looked at before all are, for being in order already


def distinct(keys: Keys, bound: int) -> tuple[Keys, Index]:
    """The distinct keys, ascending, and the index of each key among them.

    Parameters
    ----------
    keys
        Integers in ``[0, bound)``.

    Examples
    --------
    >>> distinct(np.array([7, 2, 7]), 10)
    (array([2, 7]), array([1, 0, 1]))
    """
    if bound <= max(8 * len(keys) + 2**16, min(32 * len(keys), LARGEST_SPARSE)):
        return _by_address(keys, bound)
    # Few of the keys tell of most arrays that they are not in order; then all need not be read.
    if _ascend(keys[:LOOKED_AT]) and _ascend(keys):
        is_new = begins_of(keys)
        return keys[is_new], np.cumsum(is_new) - 1
    return _by_hash(keys)


def _ascend(keys: Keys) -> bool:
    return bool((keys[1:] >= keys[:-1]).all())


def are_places(bound: int, length: int, most: int = 4) -> bool:
    """Whether keys may be places in a table as they are, without being numbered first."""
    return bound <= most * length + 2**16


def index_keys(keys: Keys, bound: int) -> tuple[Index, int]:
    """An index for each key, the same for equal ones, and the number of indices.

    For keys that are almost in order, so that a table far larger than they are is still fast.
    """
    if are_places(bound, len(keys), most=16):
        return keys, bound
    uniques, index = distinct(keys, bound)
    return index, len(uniques)


def _by_address(keys: Keys, bound: int) -> tuple[Keys, Index]:
    occurs = np.zeros(bound, dtype=bool)
    occurs[keys] = True
    uniques = np.flatnonzero(occurs)
    index_of = np.empty(bound, dtype=np.int32)
    index_of[uniques] = np.arange(len(uniques), dtype=np.int32)
    return uniques, index_of[keys].astype(np.intp)


def _by_hash(keys: Keys) -> tuple[Keys, Index]:
    encoded = array_of(keys).dictionary_encode()
    uniques = values_of(encoded.dictionary)
    indices = values_of(encoded.indices)
    order = np.argsort(uniques)
    rank = np.empty(len(uniques), dtype=np.intp)
    rank[order] = np.arange(len(uniques))
    return uniques[order], rank[indices]


def ascending(keys: Keys) -> Keys:
    """The distinct keys, by sorting: where most are different, `numpy.unique` takes far longer.

    Examples
    --------
    >>> ascending(np.array([7, 2, 7]))
    array([2, 7])
    """
    ordered = np.sort(keys)
    return ordered[begins_of(ordered)]


def number_distinct(keys: NDArray[Any]) -> tuple[NDArray[Any], Index, Index]:
    """The distinct keys, ascending, where each occurs first, and the index of each key among them.

    By sorting: for keys of any range, most of which are different.

    Examples
    --------
    >>> number_distinct(np.array([7, 2, 7]))
    (array([2, 7]), array([1, 0]), array([1, 0, 1]))
    """
    order, ordered = _in_order(keys)
    is_new = begins_of(ordered)
    starts = np.flatnonzero(is_new)
    index = np.empty(len(keys), dtype=np.intp)
    index[order] = np.cumsum(is_new) - 1
    return ordered[starts], order[starts], index


def _in_order(keys: NDArray[Any]) -> tuple[Index, NDArray[Any]]:
    """The places of the keys in their order, equal ones in that of their places; and the keys.

    Wide keys are sorted by half of their bits, in a third to two thirds of the time that
    `numpy.argsort` takes. Should the others be needed, it is asked after all.
    """
    if keys.dtype == np.uint64:
        order = stable_order((keys >> np.uint64(32)).astype(np.int64), 1 << 32)
        ordered = keys[order]
        if (ordered[1:] >= ordered[:-1]).all():
            return order, ordered
        order = order[np.argsort(ordered, kind="stable")]  # fast, as nearly all are in order
        return order, keys[order]
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def stable_order(keys: Keys, bound: int) -> Index:
    """The places of keys from 0 to below ``bound`` in their order, equal ones in that of places.

    What `numpy.argsort` with ``kind="stable"`` gives, in a third of the time: by NumPy's radix sort
    of 16 bits, once for each 16 bits of the keys.

    Examples
    --------
    >>> stable_order(np.array([7, 2, 7]), 8).tolist()
    [1, 0, 2]
    """
    order = np.argsort(keys.astype(np.uint16), kind="stable")  # by the lowest bits, then the next
    for shift in range(16, int(bound - 1).bit_length(), 16):
        order = order[np.argsort((keys >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def begins_of(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a value is another than the one before, and the first."""
    is_new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return is_new


def pack_keys(columns: Sequence[NDArray[np.integer]], radices: Sequence[int], length: int) -> Keys:
    """One key for each row of the columns; the first column is the slowest.

    Examples
    --------
    >>> pack_keys([np.array([0, 1]), np.array([2, 0])], [2, 3], 2)
    array([2, 3])
    """
    keys = np.zeros(length, dtype=np.int64)
    for start in range(0, length, PACKED_AT_A_TIME):  # whose keys stay in the processor's cache
        block = keys[start : start + PACKED_AT_A_TIME]
        for column, radix in zip(columns, radices, strict=True):
            block *= radix
            block += column[start : start + PACKED_AT_A_TIME]
    return keys


def group_equal(
    columns: Sequence[NDArray[np.integer]], radices: Sequence[int], length: int
) -> tuple[Index, Index]:
    """The number of each row's group of equal rows, in lexicographic order, and a row of each.

    Examples
    --------
    >>> group_equal([np.array([1, 0, 1]), np.array([2, 0, 2])], [2, 3], 3)
    (array([1, 0, 1]), array([1, 2]))
    """
    return grouped_keys(*ordered_keys(columns, radices, length))


def grouped_keys(keys: Keys, bound: int) -> tuple[Index, Index]:
    """The number of each key's group of equal keys, in ascending order, and a place of each.

    Examples
    --------
    >>> grouped_keys(np.array([7, 2, 7]), 10)
    (array([1, 0, 1]), array([1, 2]))
    """
    uniques, group = distinct(keys, bound)
    member = np.empty(len(uniques), dtype=np.intp)
    member[group] = np.arange(len(keys))
    return group, member


def ordered_keys(
    columns: Sequence[NDArray[np.integer]], radices: Sequence[int], length: int
) -> tuple[Keys, int]:
    """A key for each row, and a bound of the keys, in lexicographic order.

    As many columns as there may be: the groups so far are numbered before a key overflows.

    Examples
    --------
    >>> ordered_keys([np.array([1, 0]), np.array([2, 0])], [2, 3], 2)
    (array([5, 0]), 6)
    """
    bound = 1
    for index, radix in enumerate(radices):
        if bound * radix >= LARGEST_KEY:
            uniques, group = distinct(pack_keys(columns[:index], radices[:index], length), bound)
            return ordered_keys([group, *columns[index:]], [len(uniques), *radices[index:]], length)
        bound *= radix
    return pack_keys(columns, radices, length), bound


def are_shown(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Whether each row shows a state of every column, which has so many.

    Examples
    --------
    >>> are_shown([np.array([0, 1]), np.array([2, 0])], [2, 2])
    array([False,  True])
    """
    shown = columns[0] < sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        shown &= column < size
    return shown


def unpack(keys: Keys, radices: Sequence[int]) -> list[Keys]:
    """The columns that were packed.

    Examples
    --------
    >>> unpack(np.array([2, 3]), [2, 3])
    [array([0, 1]), array([2, 0])]
    """
    columns = []
    for radix in reversed(radices):
        keys, column = np.divmod(keys, radix)
        columns.append(column)
    return columns[::-1]
