r"""Groups of rows that agree on fully observed variables, and counts within each.

Under MAR the data are *locally* MCAR: within the rows that agree on all of :math:`X_o` (or
on a separator of it), what is shown is a fair sample. So the statistics of every MAR method
are the weight of each group, and for each family the counts of its partially observed part
within each group. Both add up. Only groups and cells that occur are kept: the work is
proportional to the rows, never to groups times cells. Where rows are divided into folds, the
fold is kept beside each cell until a sample is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import Tally, added_by_key, added_up
from lacunet.counts.distinct import (
    LARGEST_KEY,
    Index,
    Keys,
    are_shown,
    begins_of,
    distinct,
    group_equal,
    pack_keys,
    unpack,
)
from lacunet.counts.em_problems.ragged import Ragged, ranges
from lacunet.data.table import EncodedTable
from lacunet.network.network import FloatArray, Scope


@dataclass(frozen=True)
class Groups:
    """The distinct configurations of ``scope`` and the weight of each."""

    scope: Scope
    cardinalities: tuple[int, ...]
    configs: tuple[NDArray[np.integer], ...]  # one column for each variable of the scope
    weights: FloatArray  # of all rows of each group

    def in_table(self, subset: Sequence[str]) -> Keys:
        """Where each group lies in a table over ``subset``, a part of the scope."""
        axes = [self.scope.index(name) for name in subset]
        return pack_keys(
            [self.configs[i] for i in axes],
            [self.cardinalities[i] for i in axes],
            len(self.weights),
        )


@dataclass(frozen=True)
class GroupedCounts:
    """For each group, the weight of each configuration of ``scope`` among its rows.

    One entry for each configuration that occurs in a group, by group, then by configuration.
    Configurations that show nothing are left out.
    """

    groups: Groups
    scope: Scope
    cardinalities: tuple[int, ...]
    group: Index  # the group of each entry
    cells: Keys  # its configuration, packed with missing as one more state
    tally: Tally  # of the rows of the group that have it

    def columns(self) -> list[Keys]:
        """The value of each variable in each configuration."""
        return unpack(self.cells, [size + 1 for size in self.cardinalities])

    def in_family(self, family: Scope, sizes: Sequence[int]) -> Keys:
        """Where each (group, cell) lies in the table of a family; the cells show all of it."""
        hidden = dict(zip(self.scope, self.columns(), strict=True))
        index_of = {name: index for index, name in enumerate(self.groups.scope)}
        columns: list[NDArray[np.integer]] = []
        for name in family:
            if name in hidden:
                columns.append(hidden[name])
            else:  # a variable that rows are grouped by
                columns.append(self.groups.configs[index_of[name]][self.group])
        return pack_keys(columns, sizes, len(self.cells))

    def weighing(self, weights: FloatArray) -> GroupedCounts:
        """The same cells with other weights, which are not weights of rows."""
        return replace(self, tally=Tally(weights, weights, weights))

    @cached_property
    def entries(self) -> tuple[Index, Index]:
        """Where the cells of each group begin, and how many there are."""
        lengths = np.bincount(self.group, minlength=len(self.groups.weights))
        return np.cumsum(lengths) - lengths, lengths

    def of_groups(self, chosen: Index, groups: Groups) -> GroupedCounts:
        """The cells of some groups, which are ``groups`` by themselves; one may come twice."""
        starts, lengths = self.entries
        starts = starts[chosen]
        lengths = lengths[chosen]
        kept = ranges(starts, lengths)
        return replace(
            self,
            groups=groups,
            group=np.repeat(np.arange(len(chosen)), lengths),
            cells=self.cells[kept],
            tally=self.tally.take(kept),
        )

    def showing_all(self) -> GroupedCounts:
        """The counts of the rows that show the whole scope."""
        return self.take(are_shown(self.columns(), self.cardinalities))

    def take(self, entries: NDArray[np.bool_] | Index) -> GroupedCounts:
        """Some of the cells, in the same groups."""
        group, cells = self.group[entries], self.cells[entries]
        return replace(self, group=group, cells=cells, tally=self.tally.take(entries))

    def __add__(self, other: GroupedCounts) -> GroupedCounts:
        # Groups of both parts are found by their configurations, then renumbered.
        left = self.groups
        right = other.groups
        columns = [np.concatenate(pair) for pair in zip(left.configs, right.configs, strict=True)]
        weights = np.concatenate([left.weights, right.weights])
        groups, index = _groups(left.scope, left.cardinalities, columns, weights, len(weights))
        moved = np.concatenate([self.group, other.group + len(left.weights)])
        cells = np.concatenate([self.cells, other.cells])
        add = self.tally.joined(other.tally).gathered
        return _gathered(
            groups=groups,
            scope=self.scope,
            cardinalities=self.cardinalities,
            group=index[moved],
            cells=cells,
            add=add,
        )


@dataclass(frozen=True)
class FoldedGroups:
    """Groups of rows that are divided into folds."""

    mass: GroupedCounts  # the weight of each fold in each group: the fold is the only variable
    cells: GroupedCounts  # the fold is the last variable

    def __add__(self, other: FoldedGroups) -> FoldedGroups:
        return FoldedGroups(self.mass + other.mass, self.cells + other.cells)

    @cached_property
    def _runs(self) -> tuple[Index, Keys, Keys]:
        """Where the folds of each (group, cell) begin; the cell and the fold of each entry."""
        cells, fold = np.divmod(self.cells.cells, self.cells.cardinalities[-1] + 1)
        starts = np.flatnonzero(begins_of(self.cells.group) | begins_of(cells))
        return starts, cells, fold

    @property
    def fold(self) -> Keys:
        """The fold of each entry of ``cells``."""
        return self._runs[2]

    @cached_property
    def whole(self) -> tuple[GroupedCounts, Index]:
        """The cells of all folds together, and the index among them of each entry of ``cells``."""
        starts, _, fold = self._runs
        index = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(fold)))
        return self.sampled(np.ones(self.cells.cardinalities[-1])), index

    @cached_property
    def _mass_by_fold(self) -> Ragged:
        return Ragged.of_owners(self.mass.cardinalities[-1], self.mass.cells)

    @cached_property
    def _cells_by_fold(self) -> Ragged:
        return Ragged.of_owners(self.cells.cardinalities[-1], self.fold)

    @cached_property
    def _tally_of_groups(self) -> Tally:
        """All rows of each group."""
        return self.mass.tally.gathered(self.mass.group, len(self.mass.groups.weights))

    def side_by_side(self, chosen: Sequence[Index], samples: FloatArray) -> GroupedCounts:
        """The groups that each sample changes, as groups of their own, sample after sample.

        They are those of all rows with what the changed folds add or take away.
        """
        whole, index = self.whole
        mass = self.mass
        every = np.concatenate(chosen)
        starts, lengths = whole.entries
        begins = np.cumsum(lengths[every]) - lengths[every]  # where the cells of each will be

        # What changes, sample after sample: entries of `mass` and of `cells`, and their places
        # among all groups and all cells that lie side by side.
        in_mass: list[_Changes] = []
        in_cells: list[_Changes] = []
        number = np.empty(len(starts), dtype=np.intp)  # of each group in the sample at hand
        before = 0
        for some, times in zip(chosen, samples, strict=True):
            number[some] = np.arange(before, before + len(some))
            before += len(some)
            folds = np.flatnonzero(times != 1)
            entry = self._mass_by_fold.items_of(folds)
            in_mass.append((entry, number[mass.group[entry]], times[mass.cells[entry]]))
            entry = self._cells_by_fold.items_of(folds)
            group = self.cells.group[entry]
            cell = begins[number[group]] + index[entry] - starts[group]
            in_cells.append((entry, cell, times[self.fold[entry]]))

        of_groups = _changed(self._tally_of_groups.take(every), mass.tally, in_mass)
        groups = Groups(
            whole.groups.scope,
            whole.groups.cardinalities,
            configs=tuple(column[every] for column in whole.groups.configs),
            # Without rows nothing is left but a rounding error.
            weights=np.where(of_groups.rows > 0, of_groups.weights, 0.0),
        )
        cells = whole.of_groups(every, groups)
        tally = _changed(cells.tally, self.cells.tally, in_cells)
        return replace(cells, tally=tally).take(np.flatnonzero(tally.rows > 0))

    def in_folds(self, is_meant: NDArray[np.bool_]) -> Index:
        """The groups with rows in some of the folds."""
        has_rows = np.zeros(len(self.cells.groups.weights), dtype=bool)
        has_rows[self.mass.group[self._mass_by_fold.items_of(np.flatnonzero(is_meant))]] = True
        return np.flatnonzero(has_rows)

    def sampled(self, multiples: FloatArray) -> GroupedCounts:
        """Groups and cells of a sample in which each fold counts so many times."""
        starts, cells, fold = self._runs
        mass = self.mass
        weights = mass.tally.weights * multiples[mass.cells]
        groups = self.cells.groups
        groups = replace(groups, weights=added_up(mass.group, weights, len(groups.weights)))
        tally = self.cells.tally
        if len(starts):  # `reduceat` needs a run
            tally = tally.sampled(multiples[fold], starts)
        counts = GroupedCounts(
            groups,
            scope=self.cells.scope[:-1],
            cardinalities=self.cells.cardinalities[:-1],
            group=self.cells.group[starts],
            cells=cells[starts],
            tally=tally,
        )
        return counts.take(np.flatnonzero(tally.rows > 0))


# Entries of folds that count otherwise in a sample: which, where, and how many times.
_Changes = tuple[Index, Index, FloatArray]


def _changed(whole: Tally, tally: Tally, changes: Sequence[_Changes]) -> Tally:
    """The tally of all rows with the changes of all samples; ``tally`` is that of the entries."""
    entries, places, times = map(np.concatenate, zip(*changes, strict=True))
    return whole.changed(places, tally.take(entries), times)


def group_rows(table: EncodedTable, scope: Scope) -> tuple[Groups, Index]:
    """The groups of rows that agree on ``scope``, and the group of each row.

    Examples
    --------
    >>> codes = {"A": np.array([1, 0, 1], np.uint8), "B": np.array([0, 0, 0], np.uint8)}
    >>> groups, group = group_rows(EncodedTable({"A": 2, "B": 2}, codes), ("A", "B"))
    >>> groups.weights, group
    (array([1., 2.]), array([1, 0, 1]))
    """
    cardinalities = tuple(table.cardinality_of[name] for name in scope)
    columns = [table.columns[name] for name in scope]
    return _groups(scope, cardinalities, columns, table.weights, table.rows)


def count_in_groups(
    table: EncodedTable,
    groups: Groups,
    group: Index,
    hidden: Scope,
    whole: bool,
    fold: Scope = (),
) -> GroupedCounts:
    """Count the configurations of ``hidden`` within each group, then of ``fold`` if it is there.

    Only the rows that show all of these variables (``whole``) or at least one of them are
    looked at: the others say nothing about them beyond their group.
    """
    rows = np.flatnonzero(table.is_shown(hidden) if whole else table.shows_any(hidden))
    scope = hidden + fold
    cardinalities = tuple(table.cardinality_of[name] for name in scope)
    cells = pack_keys(
        [table.columns[name][rows] for name in scope],
        [size + 1 for size in cardinalities],
        len(rows),
    )
    add = partial(Tally.of, table, rows=rows)
    return _gathered(
        groups=groups,
        scope=scope,
        cardinalities=cardinalities,
        group=group[rows],
        cells=cells,
        add=add,
    )


def _groups(
    scope: Scope,
    cardinalities: tuple[int, ...],
    columns: Sequence[NDArray[np.integer]],
    weights: FloatArray | None,
    length: int,
) -> tuple[Groups, Index]:
    """The groups of rows with equal columns, and the group of each row."""
    group, member = group_equal(columns, cardinalities, length)
    configs = tuple(column[member] for column in columns)
    return Groups(scope, cardinalities, configs, added_up(group, weights, len(member))), group


def _gathered(
    groups: Groups,
    scope: Scope,
    cardinalities: tuple[int, ...],
    group: Index,
    cells: Keys,
    add: Callable[[Index, int], Tally],
) -> GroupedCounts:
    """Each cell of each group once; ``add`` adds up at indices.

    ``group``, the caller's own copy, becomes the keys: another array of a million costs more.
    """
    number = len(groups.weights)
    size = prod(size + 1 for size in cardinalities)
    uniques = None
    if number * size >= LARGEST_KEY:  # a pair would overflow: number the cells that occur
        uniques, cells = distinct(cells, size)
        size = len(uniques)
    group *= size
    group += cells
    pairs, tally = added_by_key(group, number * size, add)
    in_group, in_cell = np.divmod(pairs, size)
    cells = in_cell if uniques is None else uniques[in_cell]
    return GroupedCounts(
        groups=groups,
        scope=scope,
        cardinalities=cardinalities,
        group=in_group,
        cells=cells,
        tally=tally,
    )
