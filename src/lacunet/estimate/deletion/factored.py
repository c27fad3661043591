r"""Factored deletion, for MCAR data and, within groups of rows, for MAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Factored Deletion for MCAR": every row
that shows at least one variable of the family takes part. Appendix "Factored deletion for MAR":
the factorisation lattice of `lacunet.estimate.deletion.lattice`, run over :math:`Y_m` within each
group of rows that agree on :math:`X_o` (or on a separator of it).

No table is laid out for a group. Within group :math:`g` let :math:`K_g` be the cells of
:math:`Y_m` in rows that show all of it. A cell of :math:`K_g` is always estimable, from the
counts of its own sub-cells. A cell outside is estimable exactly if for every :math:`i` some
cell of :math:`K_g` differs from it in coordinate :math:`i` alone, and its estimate is then
zero. So the work is proportional to the rows, never to groups times cells.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod

import numpy as np

from lacunet.estimate.deletion.lattice import Axes, lattice
from lacunet.estimate.method import Aggregation
from lacunet.model.network import FloatArray
from lacunet.statistics.counts import Counts, Tally, added_up
from lacunet.statistics.distinct import Index, Keys, distinct, pack, placed
from lacunet.statistics.groups import GroupedCounts
from lacunet.statistics.solved import Solved


def factored_mcar(counts: Counts, aggregation: Aggregation = "inverse-variance") -> FloatArray:
    r"""Estimate the joint of a family by all its factorisations at once.

    .. math::
        \Pr(y) = \prod_i \Pr(y_i \mid y_{i+1}, \dots, y_n)
        \approx \prod_i \Pr_D(y_i \mid y_{i+1}, \dots, y_n, R_{Y_i, \dots, Y_n} = \mathsf{ob})

    for every order of the variables, merged on the lattice of their subsets
    (`lacunet.estimate.deletion.lattice`). The result need not sum to one.
    """
    return lattice(counts.cardinalities, rows_in_table(counts), aggregation)


def rows_in_table(counts: Counts) -> Callable[[Axes, Axes], FloatArray]:
    """What `lattice` asks for, in every cell of the table of a family."""
    sizes, columns = counts.cardinalities, tuple(counts.columns().values())

    @lru_cache(maxsize=1)  # the numbers of one subset are asked for one after the other
    def table(shown: Axes) -> FloatArray:
        radices = [sizes[axis] + 1 for axis in shown]  # the last value: missing
        keys = pack([columns[axis] for axis in shown], radices, len(counts.keys))
        cells = added_up(keys, counts.tally.weights, prod(radices)).reshape(radices)
        shape = [size if axis in shown else 1 for axis, size in enumerate(sizes)]
        return cells[tuple(slice(-1) for _ in shown)].reshape(shape)

    def number(shown: Axes, agree: Axes) -> FloatArray:
        free = tuple(axis for axis in shown if axis not in agree)
        return table(shown).sum(axis=free, keepdims=True) if free else table(shown)

    return number


def factored_mar(cells: GroupedCounts, aggregation: Aggregation = "inverse-variance") -> Solved:
    r"""What the groups say about a family, by all factorisations of its hidden part.

    .. math::
        \Pr(y) \approx \sum_{x_o} \Pr_D(x_o)
        \prod_i \Pr_D(y_m^i \mid y_m^{i+1}, \dots, y_m^n, x_o, R = \mathsf{ob})

    Parameters
    ----------
    cells
        Counts of :math:`Y_m` within each group, among the rows that show any of it.
    """
    whole = cells.showing_all()  # the cells of all K_g
    joint = lattice(cells.cardinalities, rows_in_groups(cells), aggregation)  # P_g(y_m) on K_g
    inside = whole.weighing(cells.groups.weights[whole.group] * joint)
    # With one variable a group with any cell can estimate all.
    return Solved(inside, reached=None if len(cells.scope) == 1 else _estimable(whole))


def rows_in_groups(cells: GroupedCounts) -> Callable[[Axes, Axes], FloatArray]:
    """What `lattice` asks for, within the group of each cell that shows all variables."""
    columns = cells.columns()
    shows = [column < size for column, size in zip(columns, cells.cardinalities, strict=True)]

    @lru_cache(maxsize=1)
    def rows_showing(shown: Axes) -> tuple[Index, Index]:
        rows = np.flatnonzero(np.logical_and.reduce([shows[axis] for axis in shown]))
        return rows, np.flatnonzero(np.logical_and.reduce(shows)[rows])

    def number(shown: Axes, agree: Axes) -> FloatArray:
        rows, in_whole = rows_showing(shown)
        sub_cell, number = _sub_cells(cells, columns, agree, rows)
        return added_up(sub_cell, cells.tally.weights[rows], number)[sub_cell[in_whole]]

    return number


def _sub_cells(
    cells: GroupedCounts, columns: list[Keys], axes: tuple[int, ...], rows: Index
) -> tuple[Index, int]:
    """An index for each (group, values on some axes) among some rows of the counts."""
    sizes = [cells.cardinalities[axis] for axis in axes]
    keys = pack([columns[axis][rows] for axis in axes], sizes, len(rows))
    return _within_group(cells.group[rows], keys, len(cells.groups.weights), prod(sizes))


def _within_group(group: Index, keys: Keys, groups: int, size: int) -> tuple[Index, int]:
    if groups * size >= 2**62:
        occurring, keys = distinct(keys, size)
        size = len(occurring)
    return placed(group * size + keys, groups * size)


def _estimable(shown: GroupedCounts) -> GroupedCounts:
    """Every (group, cell) all of whose projections along one axis are those of a cell seen.

    From each cell seen the axis with the fewest values is varied; what remains is checked
    along the other axes.
    """
    columns, sizes = shown.columns(), shown.cardinalities
    varied = int(np.argmin(sizes))
    axes = [axis for axis in range(len(sizes)) if axis != varied]
    every = np.arange(len(shown.cells))
    sub_cell, number = _sub_cells(shown, columns, tuple(axes), every)
    first = np.full(number, -1, dtype=np.intp)
    first[sub_cell] = every
    line = first[first >= 0]  # one cell of each line along the axis that is varied
    group = np.repeat(shown.group[line], sizes[varied])
    reached = [np.repeat(column[line], sizes[varied]) for column in columns]
    reached[varied] = np.tile(np.arange(sizes[varied]), len(line))
    keep, seen = np.ones(len(group), dtype=bool), len(shown.group)
    groups = np.concatenate([shown.group, group])
    for axis in axes:  # whether the values on all others occur in the group
        others = [other for other in range(len(sizes)) if other != axis]
        radices = [sizes[other] for other in others]
        both = [np.concatenate([columns[other], reached[other]]) for other in others]
        keys = pack(both, radices, len(groups))
        sub_cell, number = _within_group(groups, keys, len(shown.groups.weights), prod(radices))
        occurs = np.zeros(number, dtype=bool)
        occurs[sub_cell[:seen]] = True
        keep &= occurs[sub_cell[seen:]]
    cells = pack([column[keep] for column in reached], [size + 1 for size in sizes], keep.sum())
    weights = shown.groups.weights[group[keep]]
    tally = Tally(weights, weights, weights)
    return GroupedCounts(shown.groups, shown.scope, sizes, group[keep], cells, tally)
