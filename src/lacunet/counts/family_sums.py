r"""What groups of rows say about a family, in all rows and in samples of them.

Groups are estimated apart from each other, so the groups that some samples change are laid side
by side and estimated in one go; in every sample the others say what they say in all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod

import numpy as np

from lacunet.counts.counts import added_up
from lacunet.counts.distinct import Index, Keys
from lacunet.counts.em_problems.ragged import Ragged
from lacunet.counts.groups import FoldedGroups, GroupedCounts
from lacunet.network.network import FloatArray, Scope

MAX_CELLS_SIDE_BY_SIDE = 2**17  # in all samples of a batch, unless one sample changes more


@dataclass(frozen=True)
class Reduced:
    r"""What the groups of rows say about one family :math:`Y`, added up over the groups.

    A group is :math:`g = (y_o, x'_o)`; a cell :math:`(y_o, y_m)` adds up those with its
    :math:`y_o`. All tables have an axis for the samples of the rows, then one for each variable of
    the family, of length one where it does not matter.
    """

    inside: FloatArray  # the sum of n_g P_g(y_m) over the groups with y_o, for each cell
    observed: FloatArray  # the weight of all groups with y_o
    reached: FloatArray  # the weight of those groups in which the cell is estimable
    shown: FloatArray  # the weight of those groups with a row that shows all of Y_m

    @property
    def tables(self) -> tuple[FloatArray, ...]:
        """The sums, in their order."""
        return self.inside, self.observed, self.reached, self.shown

    def __add__(self, other: Reduced) -> Reduced:
        return Reduced(*map(np.add, self.tables, other.tables))

    def __len__(self) -> int:
        return len(self.inside)

    def __getitem__(self, samples: int | slice) -> Reduced:
        """The same in some samples, or in one of them, without an axis for samples."""
        return Reduced(*(table[samples] for table in self.tables))


@dataclass(frozen=True, eq=False)
class Summands:
    """What adds up to a table, entry by entry."""

    weights: FloatArray
    index: Keys  # the cell of the table that each entry is added to
    group: Index  # the group that it is of
    groups: int  # how many groups there are
    shape: tuple[int, ...]  # of the table

    @cached_property
    def table(self) -> FloatArray:
        """All of them added up."""
        return added_up(self.index, self.weights, prod(self.shape)).reshape(self.shape)

    def by_sample(self, sample: Index, samples: int) -> FloatArray:
        """A table for each sample; ``sample`` is that of each group."""
        size = prod(self.shape)
        index = sample[self.group] * size + self.index
        return added_up(index, self.weights, samples * size).reshape(samples, *self.shape)

    def without(self, groups: Sequence[Index]) -> FloatArray:
        """A table for each sample, in which some groups are left out.

        What is left out is taken off, so that the work is that of few groups; where nothing is
        left, the table has exact zeros.
        """
        entries = self._by_group.items_of(np.concatenate(groups))
        of_sample = [self._by_group.lengths_of(chosen).sum() for chosen in groups]
        size = prod(self.shape)
        shape = (len(groups), *self.shape)
        sample = np.repeat(np.arange(len(groups)), of_sample)
        index = sample * size + self.index[entries]
        weights_out = added_up(index, self.weights[entries], len(groups) * size).reshape(shape)
        entries_out = added_up(index, None, len(groups) * size).reshape(shape)
        entries_left = added_up(self.index, None, size).reshape(self.shape) - entries_out
        return np.where(entries_left > 0, np.maximum(self.table - weights_out, 0.0), 0.0)

    @cached_property
    def _by_group(self) -> Ragged:
        return Ragged.of_owners(self.groups, self.group)


@dataclass(frozen=True)
class Solved:
    r"""What each group says about the hidden part of families, :math:`Y_m`."""

    inside: GroupedCounts  # weights are n_g P_g(y_m), for each cell that occurs
    # Weights are n_g, for each cell that a group can estimate; None where a group with any cell
    # can estimate all.
    reached: GroupedCounts | None

    def summands(self, family: Scope, sizes: tuple[int, ...]) -> tuple[Summands, ...]:
        """What adds up to the tables of `Reduced`, in their order."""
        cells = self.inside
        groups = cells.groups
        inside = _of_cells(cells, family, sizes)

        # One entry for each group: all cells of it that differ in Y_m alone have the same weight.
        number = len(groups.weights)
        every = np.arange(number)
        shape = tuple(1 if v in cells.scope else n for v, n in zip(family, sizes, strict=True))
        index = groups.in_table([name for name in family if name not in cells.scope])
        observed = Summands(
            weights=groups.weights, index=index, group=every, groups=number, shape=shape
        )
        has_rows = np.zeros(number, dtype=bool)
        has_rows[cells.group] = True
        shown = Summands(
            weights=np.where(has_rows, groups.weights, 0.0),
            index=index,
            group=every,
            groups=number,
            shape=shape,
        )

        if self.reached is None:
            return inside, observed, shown, shown
        return inside, observed, _of_cells(self.reached, family, sizes), shown


def _of_cells(cells: GroupedCounts, family: Scope, sizes: tuple[int, ...]) -> Summands:
    """The cells of all groups, each in its place in the table of a family."""
    index = cells.in_family(family, sizes)
    return Summands(
        weights=cells.tally.weights,
        index=index,
        group=cells.group,
        groups=len(cells.groups.weights),
        shape=sizes,
    )


@dataclass(frozen=True)
class SolvedSamples:
    """What the groups say in all rows, and in samples of them."""

    whole: Solved
    # For each batch of samples: the groups that each sample changes, and what they say then, side
    # by side, sample after sample.
    others: Sequence[tuple[Sequence[Index], Solved]] = ()

    def about(self, family: Scope, sizes: tuple[int, ...]) -> Reduced:
        """What the groups add up to for one family in each sample."""
        whole = self.whole.summands(family, sizes)
        tables = [[summands.table[None] for summands in whole]]
        for groups, solved in self.others:
            tables.append([*_replaced(whole, groups, solved.summands(family, sizes))])
        return Reduced(*map(np.concatenate, zip(*tables, strict=True)))


def _replaced(
    whole: Sequence[Summands], groups: Sequence[Index], changed: Sequence[Summands]
) -> Iterator[FloatArray]:
    """What all add up to in each sample, where some of its groups are changed."""
    samples = len(groups)
    sample = np.repeat(np.arange(samples), [len(chosen) for chosen in groups])

    @cache  # the third and the fourth may be the same
    def table(same: Summands, new: Summands) -> FloatArray:
        return same.without(groups) + new.by_sample(sample, samples)

    return map(table, whole, changed)


def solved_samples(
    within: Callable[[GroupedCounts], Solved],
    cells: FoldedGroups,
    samples: FloatArray,
) -> SolvedSamples:
    """What the groups say in each sample, a line of how many times each fold counts.

    The first sample is of all rows.
    """
    whole, _ = cells.whole
    cells_of = whole.entries[1]
    batches = []
    batch: list[Index] = []  # the groups that each of its samples changes
    size = 0
    for end, times in enumerate(samples[1:], start=2):
        changed = cells.in_folds(times != 1)
        batch.append(changed)
        size += int(cells_of[changed].sum())
        if size > MAX_CELLS_SIDE_BY_SIDE or end == len(samples):
            in_batch = samples[end - len(batch) : end]
            batches.append((batch, within(cells.side_by_side(batch, in_batch))))
            batch = []
            size = 0
    return SolvedSamples(within(whole), batches)
