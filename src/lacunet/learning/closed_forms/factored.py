r"""Factored deletion, for MCAR data and, within groups of rows, for MAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Factored Deletion for MCAR": every row
that shows at least one variable of the family takes part. Appendix "Factored deletion for MAR":
the factorisation lattice of `lacunet.learning.closed_forms.lattice`, run over :math:`Y_m` within
each group of rows that agree on :math:`X_o` (informed: on a separator :math:`W_o` and
:math:`Y_o`).

No table is laid out for a group. Within group :math:`g = (y_o, x'_o)` let :math:`K_g` be the cells
of :math:`Y_m` in rows that show all of it. A cell of :math:`K_g` is always estimable, from the
counts of its own sub-cells. A cell outside is estimable exactly if for every :math:`i` some
cell of :math:`K_g` differs from it in coordinate :math:`i` alone, and its estimate is then
zero. So the work is proportional to the rows, never to groups times cells.

Each of the two methods is `lattice` with its own answer to the one question that the lattice
asks: how many rows show some variables and agree with a cell on others? Where a family has many
variables, the same is done in batches (`lacunet.learning.closed_forms.batched_lattice`).

The names of the formulas are in `lacunet.learning.closed_forms.direct`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod

import numpy as np

from lacunet.counts.counts import Counts, Tally, added_up
from lacunet.counts.distinct import LARGEST_KEY, Index, Keys, distinct, index_keys, pack_keys
from lacunet.counts.family_sums import Solved
from lacunet.counts.groups import GroupedCounts
from lacunet.learning.closed_forms import batched_lattice
from lacunet.learning.closed_forms.lattice import Axes, lattice
from lacunet.learning.plan import Aggregation
from lacunet.network.network import FloatArray


def factored_mcar(counts: Counts, aggregation: Aggregation = "inverse-variance") -> FloatArray:
    r"""Estimate the joint of a family by all its factorisations at once.

    .. math::
        \Pr(y) = \prod_{i=1}^n \Pr(y^i \mid y^{i+1}, \dots, y^n)
        \approx \prod_{i=1}^n \Pr_D(y^i \mid y^{i+1}, \dots, y^n, R_{Z^i} = \mathsf{ob})

    for every order :math:`Y^1, \dots, Y^n` of the family, merged on the lattice of its subsets
    (`lacunet.learning.closed_forms.lattice`). :math:`Z^i` are the partially observed variables of
    the factor, those among :math:`Y^i, \dots, Y^n`. The result need not sum to one.

    Examples
    --------
    Two rows show A and B, the third only A. Of A=0, B=0 the one order says
    P(A) P(B | A) = 2/3 * 1, the other P(B) P(A | B) = 1/2 * 1; their mean is 7/12.

    >>> import numpy as np
    >>> from lacunet.data.table import EncodedTable
    >>> from lacunet.counts.count import count
    >>> a, b = np.array([0, 1, 0], np.uint8), np.array([0, 1, 2], np.uint8)  # 2: missing
    >>> table = EncodedTable({"A": 2, "B": 2}, {"A": a, "B": b})
    >>> counts = count(table, [("A", "B")])["A", "B"]
    >>> (12 * factored_mcar(counts, "mean")).round(9).tolist()
    [[7.0, 0.0], [0.0, 5.0]]
    """
    sizes = counts.cardinalities
    if batched_lattice.pays_in_a_table(len(sizes), prod(counts.radices)):
        return batched_lattice.lattice_table(counts, aggregation)
    return lattice(sizes, rows_in_table(counts), aggregation)


def rows_in_table(counts: Counts) -> Callable[[Axes, Axes], FloatArray]:
    """What `lattice` asks for, in every cell of the table of a family."""
    sizes = counts.cardinalities
    columns = tuple(counts.columns().values())

    @lru_cache(maxsize=1)  # the numbers of one subset are asked for one after the other
    def table(shown: Axes) -> FloatArray:
        """The weight of each cell of ``shown``, with an axis of length one for every other."""
        radices = [sizes[axis] + 1 for axis in shown]  # the last value: missing
        keys = pack_keys([columns[axis] for axis in shown], radices, len(counts.keys))
        cells = added_up(keys, counts.tally.weights, prod(radices)).reshape(radices)
        without_missing = cells[tuple(slice(-1) for _ in shown)]
        shape = [size if axis in shown else 1 for axis, size in enumerate(sizes)]
        return without_missing.reshape(shape)

    def number(shown: Axes, agree: Axes) -> FloatArray:
        free = tuple(axis for axis in shown if axis not in agree)
        if not free:
            return table(shown)
        weights: FloatArray = table(shown).sum(axis=free, keepdims=True)
        return weights

    return number


def factored_mar(cells: GroupedCounts, aggregation: Aggregation = "inverse-variance") -> Solved:
    r"""What the groups say about a family, by all factorisations of its hidden part.

    .. math::
        \Pr(y_o, y_m) \approx \sum_{x'_o} \Pr_D(y_o, x'_o)
        \prod_{i=1}^n \Pr_D(y_m^{i,\star} \mid z_m^{i+1,\star}, y_o, x'_o, R_{Z_m^i} = \mathsf{ob})

    for every order :math:`Y_m^1, \dots, Y_m^n` of :math:`Y_m`, merged within each group, with
    :math:`Z_m^i = \{Y_m^j \mid i \le j \le n\}`. As in direct deletion the sum runs over
    :math:`X'_o = X_o \setminus Y_o`, the fully observed variables outside of the family, and
    :math:`(y_o, x'_o)` is one group of rows. The terms of the sum are given, times the weight of
    all rows; `Solved` adds them up.

    Parameters
    ----------
    cells
        Counts of :math:`Y_m` within each group, among the rows that show any of it.
    """
    return solve_groups(cells.showing_all(), lattice_in_groups(cells, aggregation))


def solve_groups(shown: GroupedCounts, joint: FloatArray) -> Solved:
    """What groups say that have a joint :math:`P_g(y_m)` on the cells shown, all of :math:`K_g`."""
    group_weights = shown.groups.weights  # N Pr_D(y_o, x'_o), for each group
    terms = shown.weighing(group_weights[shown.group] * joint)
    if len(shown.scope) == 1:  # a group with any cell can estimate all
        return Solved(terms, reached=None)
    return Solved(terms, reached=_estimable(shown))


def lattice_in_groups(cells: GroupedCounts, aggregation: Aggregation) -> FloatArray:
    """The merged estimate of each cell that some row of its group shows."""
    if len(cells.scope) > 2 and batched_lattice.pays_in_groups(cells):
        return batched_lattice.in_groups(cells, aggregation)
    return lattice(cells.cardinalities, rows_in_groups(cells), aggregation)


def rows_in_groups(cells: GroupedCounts) -> Callable[[Axes, Axes], FloatArray]:
    """What `lattice` asks for, within the group of each cell that shows all variables."""
    columns = cells.columns()
    shows = [column < size for column, size in zip(columns, cells.cardinalities, strict=True)]
    shows_all = np.logical_and.reduce(shows)

    @lru_cache(maxsize=1)  # the numbers of one subset are asked for one after the other
    def rows_showing(shown: Axes) -> tuple[Index, Index]:
        """The entries that show some variables, and which of these show all."""
        rows = np.flatnonzero(np.logical_and.reduce([shows[axis] for axis in shown]))
        return rows, np.flatnonzero(shows_all[rows])

    def number(shown: Axes, agree: Axes) -> FloatArray:
        rows, in_whole = rows_showing(shown)
        sub_cell, size = _sub_cells(cells, columns, agree, rows)
        weights = added_up(sub_cell, cells.tally.weights[rows], size)
        return weights[sub_cell[in_whole]]

    return number


def _sub_cells(
    cells: GroupedCounts, columns: list[Keys], axes: tuple[int, ...], rows: Index
) -> tuple[Index, int]:
    """An index for each (group, values on some axes) among some rows of the counts."""
    sizes = [cells.cardinalities[axis] for axis in axes]
    keys = pack_keys([columns[axis][rows] for axis in axes], sizes, len(rows))
    return _within_group(cells.group[rows], keys, len(cells.groups.weights), prod(sizes))


def _within_group(group: Index, keys: Keys, groups: int, size: int) -> tuple[Index, int]:
    """An index for each (group, key), and the number of indices; keys are below ``size``."""
    if groups * size >= LARGEST_KEY:  # a pair would overflow: number the keys that occur
        occurring, keys = distinct(keys, size)
        size = len(occurring)
    return index_keys(group * size + keys, groups * size)


def _estimable(shown: GroupedCounts) -> GroupedCounts:
    """Every (group, cell) all of whose projections along one axis are those of a cell seen.

    Two cells have one projection along an axis if they agree on all other axes. To look at every
    cell of every group would be far more than the rows: only those are looked at that share a
    projection with a cell seen along the axis with the fewest values, which is varied. Their
    projections along the other axes are then checked.
    """
    columns = shown.columns()
    sizes = shown.cardinalities
    varied = int(np.argmin(sizes))
    other_axes = [axis for axis in range(len(sizes)) if axis != varied]

    # One cell of each line along the varied axis...
    entries = np.arange(len(shown.cells))
    line_of, lines = _sub_cells(shown, columns, tuple(other_axes), entries)
    entry_of_line = np.full(lines, -1, dtype=np.intp)
    entry_of_line[line_of] = entries
    entry = entry_of_line[entry_of_line >= 0]

    # ... gives all cells of the line.
    group = np.repeat(shown.group[entry], sizes[varied])
    reached = [np.repeat(column[entry], sizes[varied]) for column in columns]
    reached[varied] = np.tile(np.arange(sizes[varied]), len(entry))

    # Along each other axis, the projections of the cells seen and of those reached are numbered
    # together; a cell stays if its number is also that of a cell seen.
    is_estimable = np.ones(len(group), dtype=bool)
    both_groups = np.concatenate([shown.group, group])
    number_seen = len(shown.group)
    for axis in other_axes:
        kept_axes = [kept for kept in range(len(sizes)) if kept != axis]
        radices = [sizes[kept] for kept in kept_axes]
        both = [np.concatenate([columns[kept], reached[kept]]) for kept in kept_axes]
        keys = pack_keys(both, radices, len(both_groups))
        projection, projections = _within_group(
            both_groups, keys, len(shown.groups.weights), prod(radices)
        )
        is_seen = np.zeros(projections, dtype=bool)
        is_seen[projection[:number_seen]] = True
        is_estimable &= is_seen[projection[number_seen:]]

    group = group[is_estimable]
    radices = [size + 1 for size in sizes]
    cells = pack_keys([column[is_estimable] for column in reached], radices, len(group))
    weights = shown.groups.weights[group]
    tally = Tally(weights, weights, weights)
    return GroupedCounts(
        groups=shown.groups,
        scope=shown.scope,
        cardinalities=sizes,
        group=group,
        cells=cells,
        tally=tally,
    )
