"""The in-memory engine: one pass over the codes, all families at once.

Superfamilies: count a few unions of families instead of every family.

Reading a column and looking up a cell is what counting costs; a union of families is read
once, and each family is then summed out of it, which costs nothing. A union may have at
most ``limit`` cells, so that its table stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
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


def superfamilies(
    families: Sequence[Scope], radix_of: Mapping[str, int], limit: int = UNION_CELLS
) -> list[tuple[Scope, list[Scope]]]:
    """Unions of the families, with the families to be summed out of each.

    Each family, largest first, joins the union that grows least by it; a family larger than
    the limit stays alone. A union without room for one more variable is asked only by the
    families that it holds already.

    Examples
    --------
    >>> radix_of = {"A": 3, "B": 3, "C": 3}
    >>> superfamilies([("A",), ("A", "B"), ("B", "C")], radix_of, limit=9)
    [(('A', 'B'), [('A', 'B'), ('A',)]), (('B', 'C'), [('B', 'C')])]
    """
    size_of = {family: prod(radix_of[name] for name in family) for family in families}
    unions: list[tuple[dict[str, None], list[Scope]]] = []
    cells: list[int] = []
    holding: dict[str, list[int]] = {}
    with_room: list[int] = []
    for family in sorted(families, key=lambda scope: (-size_of[scope], scope)):
        rarest = min(family, key=lambda name: len(holding.get(name, ())))
        inside = [
            index for index in holding.get(rarest, ()) if all(v in unions[index][0] for v in family)
        ]
        commonest = max(family, key=lambda name: len(holding.get(name, ())))
        others = [name for name in family if name != commonest]
        sharing = inside[:1] or {index for name in others for index in holding.get(name, ())}
        growth = {
            index: prod(radix_of[name] for name in family if name not in unions[index][0])
            for index in sharing
        }
        if not inside:  # of all that share one name or nothing, the first with room for the family
            size = size_of[family]
            for shared, factor in ((True, size // radix_of[commonest]), (False, size)):
                fits = (
                    index
                    for index in with_room
                    if index not in growth
                    and cells[index] * factor <= limit
                    and (commonest in unions[index][0]) == shared
                )
                growth.update((index, factor) for index in islice(fits, 1))
        fitting = [
            index for index, factor in growth.items() if inside or cells[index] * factor <= limit
        ]
        if fitting:
            index = min(fitting, key=lambda index: (growth[index], index))
        else:
            index = len(unions)
            unions.append(({}, []))
            cells.append(1)
            with_room.append(index)
        for name in family:
            if name not in unions[index][0]:
                unions[index][0][name] = None
                cells[index] *= radix_of[name]
                holding.setdefault(name, []).append(index)
        unions[index][1].append(family)
        if cells[index] * 2 > limit and index in with_room:
            with_room.remove(index)
    return [(tuple(union), members) for union, members in unions]
