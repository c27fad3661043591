"""The in-memory engine: one pass over the codes, all families at once.

Superfamilies: count a few unions of families instead of every family.

Reading a column and looking up a cell is what counting costs; a union of families is read
once, and each family is then summed out of it, which costs nothing. A union may have at
most ``limit`` cells, so that its table stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.counts import Counts, Tally, added_by_key, summed
from lacunet.statistics.distinct import pack, unpack

# Rows are taken in blocks whose keys and columns stay in the processor's cache.
BLOCK_ROWS = 2**15
# Above this many cells a table is not laid out: only the configurations that occur are kept.
DENSE_CELLS = 2**22
SPARSE_BLOCK_ROWS = 2**20


def count(
    table: EncodedTable, scopes: Sequence[Scope], progress: Progress = silent
) -> dict[Scope, Counts]:
    """Count every scope: the weight of each configuration, missing as a state.

    Examples
    --------
    >>> codes = {"A": np.array([0, 1, 2, 1], np.uint8), "B": np.array([0, 0, 1, 2], np.uint8)}
    >>> counts = count(EncodedTable({"A": 2, "B": 2}, codes), [("A", "B")])[("A", "B")]
    >>> counts.dense().tolist()  # the third row hides A, the fourth B
    [[1.0, 0.0], [1.0, 0.0]]
    >>> counts.marginal(("A",)).dense().tolist()
    [1.0, 2.0]
    """
    radix_of = {v: table.cardinality_of[v] + (table.missing_of[v] > 0) for v in table.variables}
    unions = superfamilies(list(dict.fromkeys(scopes)), radix_of)
    counts_of: dict[Scope, Counts] = {}
    for done, (union, families) in enumerate(unions):
        progress("counting", done, len(unions))
        radices = tuple(radix_of[name] for name in union)
        whole = _count_union(table, union, radices)
        smaller = whole.marginals(family for family in families if family != union)
        for family in families:
            counts_of[family] = whole if family == union else next(smaller)
    progress("counting", len(unions), len(unions))
    return counts_of


def _count_union(table: EncodedTable, union: Scope, radices: tuple[int, ...]) -> Counts:
    cardinalities = tuple(table.cardinality_of[name] for name in union)
    if prod(radices) > DENSE_CELLS:
        return _count_sparsely(table, union, cardinalities)
    tally = _histogram(table, union, radices)
    occurs = np.flatnonzero(tally.rows)
    full = [size + 1 for size in cardinalities]
    keys = pack(unpack(occurs, radices), full, len(occurs))
    return Counts(union, cardinalities, keys, tally.take(occurs))


def _histogram(table: EncodedTable, union: Scope, radices: tuple[int, ...]) -> Tally:
    cells = prod(radices)
    key_type = np.uint16 if cells <= 2**16 else np.uint32
    sums = np.zeros((3 if table.is_weighted else 1, cells))
    columns = [table.columns[name] for name in union]
    for start in range(0, table.rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        keys: NDArray[np.integer] = columns[0][block].astype(key_type)
        for column, radix in zip(columns[1:], radices[1:], strict=True):
            np.multiply(keys, key_type(radix), out=keys)
            np.add(keys, column[block], out=keys)
        tally = Tally.of(table, keys, cells, block)
        for whole, part in zip(sums, (tally.weights, tally.rows, tally.squares), strict=False):
            np.add(whole, part, out=whole)
    weights, rows, squares = sums if len(sums) > 1 else (sums[0],) * 3
    return Tally(weights, rows, squares)


def _count_sparsely(table: EncodedTable, union: Scope, cardinalities: tuple[int, ...]) -> Counts:
    radices = [size + 1 for size in cardinalities]

    def counted(start: int) -> Counts:
        block = slice(start, start + SPARSE_BLOCK_ROWS)
        columns = [table.columns[name][block] for name in union]
        keys = pack(columns, radices, len(columns[0]))
        add = partial(Tally.of, table, rows=block)
        return Counts(union, cardinalities, *added_by_key(keys, prod(radices), add))

    return summed(map(counted, range(0, max(table.rows, 1), SPARSE_BLOCK_ROWS)))


UNION_CELLS = 2**14
LATEST = 16  # unions that a family without a variable of theirs may join


def superfamilies(
    families: Sequence[Scope], radix_of: Mapping[str, int], limit: int = UNION_CELLS
) -> list[tuple[Scope, list[Scope]]]:
    """Unions of the families, with the families to be summed out of each.

    Each family, largest first, joins the union that grows least by it: one that shares a variable
    with it, other than the one that most unions have, or one of the latest. A family larger than
    the limit stays alone.

    Examples
    --------
    >>> radix_of = {"A": 3, "B": 3, "C": 3}
    >>> superfamilies([("A",), ("A", "B"), ("B", "C")], radix_of, limit=9)
    [(('A', 'B'), [('A', 'B'), ('A',)]), (('B', 'C'), [('B', 'C')])]
    """
    size_of = {family: prod(radix_of[name] for name in family) for family in families}
    unions: list[tuple[dict[str, None], list[Scope]]] = []
    cells: list[int] = []
    holding: dict[str, set[int]] = {}
    for family in sorted(families, key=lambda scope: (-size_of[scope], scope)):
        near = set(range(max(0, len(unions) - LATEST), len(unions)))
        rare = sorted(family, key=lambda name: len(holding.get(name, ())))[:-1] or family
        growth = {
            index: prod(radix_of[name] for name in family if name not in unions[index][0])
            for index in near.union(*(holding.get(name, ()) for name in rare))
        }
        fits = [i for i, factor in growth.items() if factor == 1 or cells[i] * factor <= limit]
        index = min(fits, key=lambda index: (growth[index], index), default=len(unions))
        if index == len(unions):
            unions.append(({}, []))
            cells.append(1)
        union, members = unions[index]
        cells[index] *= growth.get(index, size_of[family])
        union.update(dict.fromkeys(family))
        members.append(family)
        for name in family:
            holding.setdefault(name, set()).add(index)
    return [(tuple(union), members) for union, members in unions]
