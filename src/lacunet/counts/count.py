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

from lacunet.counts.counts import Counts, Tally, added_by_key, summed
from lacunet.counts.distinct import pack_keys, unpack
from lacunet.data.table import EncodedTable
from lacunet.network.network import Scope
from lacunet.progress import Progress, silent
from lacunet.threads import in_threads

WORTH_A_THREAD = 2**16  # rows, whose counting takes longer than passing it on
COUNTED_AT_A_TIME = 2**15  # rows are taken in blocks whose keys and columns stay in the cache
MAX_DENSE_CELLS = 2**22  # beyond, only the configurations that occur are kept
SPARSE_BLOCK_ROWS = 2**20  # then larger blocks pay, as what occurs in them is added up
MAX_UNION_CELLS = 2**14  # of a union of families: its table stays in the cache
LATEST_UNIONS = 16  # that a family may join though it shares no variable with them


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
    # An axis for "missing" only where something is: tables of complete columns are smaller.
    radix_of = {v: table.cardinality_of[v] + (table.missing_of[v] > 0) for v in table.variables}
    unions = superfamilies(list(dict.fromkeys(scopes)), radix_of)

    def count_families(union_and_families: tuple[Scope, list[Scope]]) -> dict[Scope, Counts]:
        union, families = union_and_families
        whole = _count_union(table, union, tuple(radix_of[name] for name in union))
        smaller = whole.marginals(family for family in families if family != union)
        return {family: whole if family == union else next(smaller) for family in families}

    counts_of: dict[Scope, Counts] = {}
    is_worth = table.rows >= WORTH_A_THREAD
    for done, counts in enumerate(in_threads(count_families, unions, is_worth=is_worth)):
        progress("counting", done, len(unions))
        counts_of |= counts
    progress("counting", len(unions), len(unions))
    return counts_of


def _count_union(table: EncodedTable, union: Scope, radices: tuple[int, ...]) -> Counts:
    """The counts of one scope, whose columns have so many different values."""
    cardinalities = tuple(table.cardinality_of[name] for name in union)
    if prod(radices) > MAX_DENSE_CELLS:
        return _count_sparsely(table, union, cardinalities)
    tally = _histogram(table, union, radices)
    occurs = np.flatnonzero(tally.rows)
    full = [size + 1 for size in cardinalities]
    keys = pack_keys(unpack(occurs, radices), full, len(occurs))
    return Counts(union, cardinalities, keys, tally.take(occurs))


def _histogram(table: EncodedTable, union: Scope, radices: tuple[int, ...]) -> Tally:
    """The tally of each cell of a table, whether it occurs or not."""
    cells = prod(radices)
    key_type = np.uint16 if cells <= 2**16 else np.uint32  # narrow keys: twice as many in cache
    columns = [table.columns[name] for name in union]
    weights = np.zeros(cells)
    rows = np.zeros(cells) if table.is_weighted else weights
    squares = np.zeros(cells) if table.is_weighted else weights
    for start in range(0, table.rows, COUNTED_AT_A_TIME):
        block = slice(start, start + COUNTED_AT_A_TIME)
        keys: NDArray[np.integer] = columns[0][block].astype(key_type)
        for column, radix in zip(columns[1:], radices[1:], strict=True):
            np.multiply(keys, key_type(radix), out=keys)
            np.add(keys, column[block], out=keys)
        tally = Tally.of(table, keys, cells, block)
        weights += tally.weights
        if table.is_weighted:
            rows += tally.rows
            squares += tally.squares
    return Tally(weights, rows, squares)


def _count_sparsely(table: EncodedTable, union: Scope, cardinalities: tuple[int, ...]) -> Counts:
    """The counts of one scope by the configurations that occur, block by block."""
    radices = [size + 1 for size in cardinalities]

    def count_block(start: int) -> Counts:
        block = slice(start, start + SPARSE_BLOCK_ROWS)
        columns = [table.columns[name][block] for name in union]
        keys = pack_keys(columns, radices, len(columns[0]))
        add = partial(Tally.of, table, rows=block)
        return Counts(union, cardinalities, *added_by_key(keys, prod(radices), add))

    # Without any row there is one block all the same, of counts that are empty.
    return summed(map(count_block, range(0, max(table.rows, 1), SPARSE_BLOCK_ROWS)))


def superfamilies(
    families: Sequence[Scope], radix_of: Mapping[str, int], limit: int = MAX_UNION_CELLS
) -> list[tuple[Scope, list[Scope]]]:
    """Unions of the families, with the families to be summed out of each.

    Each family, largest first, joins the union that grows least by it. A family larger than the
    limit stays alone. To try all unions would be quadratic in networks of thousands of variables:
    only those are tried that share a variable with the family, other than the one that most unions
    have, and the latest ones.

    Examples
    --------
    >>> radix_of = {"A": 3, "B": 3, "C": 3}
    >>> superfamilies([("A",), ("A", "B"), ("B", "C")], radix_of, limit=9)
    [(('A', 'B'), [('A', 'B'), ('A',)]), (('B', 'C'), [('B', 'C')])]
    """
    size_of = {family: prod(radix_of[name] for name in family) for family in families}
    unions: list[tuple[dict[str, None], list[Scope]]] = []  # variables, and the families inside
    cells: list[int] = []  # of each union
    holding: dict[str, set[int]] = {}  # the unions that have a variable
    for family in sorted(families, key=lambda scope: (-size_of[scope], scope)):
        tried = set(range(max(0, len(unions) - LATEST_UNIONS), len(unions)))
        by_unions = sorted(family, key=lambda name: len(holding.get(name, ())))
        for name in by_unions[:-1] or by_unions:  # a family of one variable has no other
            tried |= holding.get(name, set())

        growth = {}  # the factor by which each union would grow
        for index in tried:
            growth[index] = prod(radix_of[name] for name in family if name not in unions[index][0])
        fits = [i for i, factor in growth.items() if factor == 1 or cells[i] * factor <= limit]
        if fits:
            index = min(fits, key=lambda index: (growth[index], index))
            cells[index] *= growth[index]
        else:
            index = len(unions)
            unions.append(({}, []))
            cells.append(size_of[family])

        union, members = unions[index]
        union.update(dict.fromkeys(family))
        members.append(family)
        for name in family:
            holding.setdefault(name, set()).add(index)
    return [(tuple(union), members) for union, members in unions]
