r"""Groups of rows that agree on fully observed variables, and counts within each.

Under MAR the data are *locally* MCAR: within the rows that agree on all of :math:`X_o` (or
on a separator of it), what is shown is a fair sample. So the statistics of every MAR method
are the weight of each group, and for each family the counts of its partially observed part
within each group. Both add up. Only groups and cells that occur are kept: the work is
proportional to the rows, never to groups times cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import Tally, added_by_key, added_up
from lacunet.statistics.distinct import LARGEST_KEY, Index, Keys, distinct, grouped, pack, unpack
from lacunet.statistics.errors import ScopeError


@dataclass(frozen=True)
class Groups:
    """The distinct configurations of ``scope`` and the weight of each.

    ``configs`` has one column for each variable of the scope.
    """

    scope: Scope
    cardinalities: tuple[int, ...]
    configs: tuple[NDArray[np.integer], ...]
    weights: FloatArray

    def place(self, subset: Sequence[str]) -> Keys:
        """Where each group lies in a table over ``subset``, a part of the scope."""
        at = [self.scope.index(name) for name in subset]
        return pack(
            [self.configs[i] for i in at],
            [self.cardinalities[i] for i in at],
            len(self.weights),
        )


@dataclass(frozen=True)
class GroupedCounts:
    """For each group, the weight of each configuration of ``scope`` among its rows.

    ``group`` and ``cells`` go together: the number of the group and the configuration,
    packed with missing as one more state. Configurations that show nothing are left out.
    """

    groups: Groups
    scope: Scope
    cardinalities: tuple[int, ...]
    group: Index
    cells: Keys
    tally: Tally

    def columns(self) -> list[Keys]:
        """The value of each variable in each configuration."""
        return unpack(self.cells, [size + 1 for size in self.cardinalities])

    def tabled(self, family: Scope, sizes: Sequence[int]) -> FloatArray:
        """The weights of the cells in the table of a family, all groups added up."""
        place = self.in_family(family, sizes)
        return added_up(place, self.tally.weights, prod(sizes)).reshape(sizes)

    def in_family(self, family: Scope, sizes: Sequence[int]) -> Keys:
        """Where each (group, cell) lies in the table of a family; the cells show all of it."""
        hidden = dict(zip(self.scope, self.columns(), strict=True))
        place_of = {name: place for place, name in enumerate(self.groups.scope)}
        columns = [
            hidden[name] if name in hidden else self.groups.configs[place_of[name]][self.group]
            for name in family
        ]
        return pack(columns, sizes, len(self.cells))

    def weighing(self, weights: FloatArray) -> GroupedCounts:
        """The same cells with other weights."""
        return replace(self, tally=Tally(weights, weights, weights))

    def showing_all(self) -> GroupedCounts:
        """The counts of the rows that show the whole scope."""
        shown = np.ones(len(self.cells), dtype=bool)
        for column, size in zip(self.columns(), self.cardinalities, strict=True):
            shown &= column < size
        return replace(
            self, group=self.group[shown], cells=self.cells[shown], tally=self.tally.take(shown)
        )

    def __add__(self, other: GroupedCounts) -> GroupedCounts:
        if (self.groups.scope, self.scope) != (other.groups.scope, other.scope):
            raise ScopeError.different(
                (*self.groups.scope, *self.scope), (*other.groups.scope, *other.scope)
            )
        groups, place = _merged(self.groups, other.groups)
        moved = np.concatenate([self.group, other.group + len(self.groups.weights)])
        cells = np.concatenate([self.cells, other.cells])
        tally = self.tally.joined(other.tally)
        return _gathered(groups, self.scope, self.cardinalities, place[moved], cells, tally)


def group_rows(table: EncodedTable, scope: Scope) -> tuple[Groups, Index]:
    """The groups of rows that agree on ``scope``, and the group of each row.

    Examples
    --------
    >>> codes = {"A": np.array([1, 0, 1], np.uint8), "B": np.array([0, 0, 0], np.uint8)}
    >>> groups, group = group_rows(EncodedTable.of({"A": 2, "B": 2}, codes), ("A", "B"))
    >>> groups.weights, group
    (array([1., 2.]), array([1, 0, 1]))
    """
    cardinalities = tuple(table.cardinality_of[name] for name in scope)
    columns = [table.columns[name] for name in scope]
    return _groups(scope, cardinalities, columns, table.weights, table.rows)


def count_in_groups(
    table: EncodedTable, groups: Groups, group: Index, scope: Scope, whole: bool
) -> GroupedCounts:
    """Count the configurations of ``scope`` within each group.

    Only the rows that show all of the scope (``whole``) or at least one variable of it are
    looked at: the others say nothing about it beyond their group.
    """
    cardinalities = tuple(table.cardinality_of[name] for name in scope)
    rows = np.flatnonzero(table.is_shown(scope) if whole else table.shows_any(scope))
    cells = pack(
        [table.columns[name][rows] for name in scope],
        [size + 1 for size in cardinalities],
        len(rows),
    )
    size = prod(size + 1 for size in cardinalities)
    weights = None if table.weights is None else table.weights[rows]
    copies = None if table.copies is None else table.copies.take(rows)
    if len(groups.weights) * size < LARGEST_KEY:
        found, tally = added_by_key(
            group[rows] * size + cells,
            len(groups.weights) * size,
            lambda place, places: Tally.of(place, weights, places, copies),
        )
        in_group, in_cell = np.divmod(found, size)
        return GroupedCounts(groups, scope, cardinalities, in_group, in_cell, tally)
    single = Tally.of(np.arange(len(rows)), weights, len(rows), copies)
    return _gathered(groups, scope, cardinalities, group[rows], cells, single)


def _groups(
    scope: Scope,
    cardinalities: tuple[int, ...],
    columns: Sequence[NDArray[np.integer]],
    weights: FloatArray | None,
    length: int,
) -> tuple[Groups, Index]:
    group, member = grouped(columns, cardinalities, length)
    configs = tuple(column[member] for column in columns)
    return Groups(scope, cardinalities, configs, added_up(group, weights, len(member))), group


def _merged(one: Groups, two: Groups) -> tuple[Groups, Index]:
    columns = [np.concatenate(pair) for pair in zip(one.configs, two.configs, strict=True)]
    weights = np.concatenate([one.weights, two.weights])
    return _groups(one.scope, one.cardinalities, columns, weights, len(weights))


def _gathered(
    groups: Groups,
    scope: Scope,
    cardinalities: tuple[int, ...],
    group: Index,
    cells: Keys,
    tally: Tally,
) -> GroupedCounts:
    found, cell = distinct(cells, prod(size + 1 for size in cardinalities))
    bound = len(groups.weights) * len(found)
    pairs, tally = added_by_key(group * len(found) + cell, bound, tally.gathered)
    in_group, in_cell = np.divmod(pairs, max(len(found), 1))
    return GroupedCounts(groups, scope, cardinalities, in_group, found[in_cell], tally)
