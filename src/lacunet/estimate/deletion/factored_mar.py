r"""Factored deletion for MAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), appendix "Factored deletion for MAR":
the factorisation lattice of `lacunet.estimate.deletion.lattice`, run over :math:`Y_m` within each
group of rows that agree on :math:`X_o` (or on a separator of it).

No table is laid out for a group. Within group :math:`g` let :math:`K_g` be the cells of
:math:`Y_m` in rows that show all of it. A cell of :math:`K_g` is always estimable, from the
counts of its own sub-cells. A cell outside is estimable exactly if for every :math:`i` some
cell of :math:`K_g` differs from it in coordinate :math:`i` alone, and its estimate is then
zero. So the work is proportional to the rows, never to groups times cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import ClassVar

import numpy as np

from lacunet.estimands.deletion import Estimand, factored_mar_estimand
from lacunet.estimate.deletion.by_groups import (
    GroupedJoint,
    check_separator,
    family_place,
    informed_grouping,
    learn_by_groups,
    over_observed,
)
from lacunet.estimate.deletion.factored_mcar import factored_mcar
from lacunet.estimate.deletion.lattice import (
    CERTAIN,
    Aggregation,
    Estimate,
    candidate,
    conditional,
    merged,
    subsets,
)
from lacunet.estimate.method import Learned, Task
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import Counts, Tally, added_up
from lacunet.statistics.distinct import Index, Keys, distinct, pack
from lacunet.statistics.groups import GroupedCounts


def factored_mar(
    cells: GroupedCounts, counts: Counts, aggregation: Aggregation = "inverse-variance"
) -> GroupedJoint:
    r"""Estimate the joint of one family by all factorisations of its partially observed part.

    .. math::
        \Pr(y) \approx \sum_{x_o} \Pr_D(x_o)
        \prod_i \Pr_D(y_m^i \mid y_m^{i+1}, \dots, y_m^n, x_o, R = \mathsf{ob})

    A cell that is not estimable within a group takes :math:`F(y_o, y_m) / F(y_o)` there,
    :math:`F` being the factored-mcar estimate.

    Parameters
    ----------
    cells
        Counts of :math:`Y_m` within each group, among the rows that show any of it.
    counts
        Counts over the whole family :math:`Y`, child last, missing as a state.
    """
    shown = cells.showing_all()  # the cells of all K_g
    mass = cells.groups.weights  # n_g
    total = mass.sum()
    size = prod(counts.cardinalities)
    inside = mass[shown.group] * _lattice(cells, aggregation)
    table = added_up(family_place(shown, counts), inside, size).reshape(counts.cardinalities)

    reached = _estimable(shown)
    estimable = added_up(family_place(reached, counts), mass[reached.group], size)
    observed = over_observed(cells, counts, mass)  # N F(y_o)
    fallen = observed - estimable.reshape(counts.cardinalities)
    # Real weights summed in another order differ in their last digits: that is no mass.
    fallen[fallen <= 1e-12 * np.broadcast_to(observed, fallen.shape)] = 0
    fallback_mass = 0.0
    if fallen.any():
        share = np.divide(fallen, observed, out=np.zeros_like(fallen), where=observed > 0)
        fallback = total * factored_mcar(counts, aggregation) * share
        table += fallback
        fallback_mass = float(fallback.sum() / total)
    return GroupedJoint(table / total, _entering(shown, mass), fallback_mass)


def _lattice(cells: GroupedCounts, aggregation: Aggregation) -> FloatArray:
    """The lattice's estimate of each cell of each K_g, within its group."""
    columns, sizes = cells.columns(), cells.cardinalities
    shows = [column < size for column, size in zip(columns, sizes, strict=True)]
    estimate_of: dict[tuple[int, ...], Estimate] = {(): CERTAIN}
    for subset in subsets(len(sizes)):
        rows = np.flatnonzero(np.logical_and.reduce([shows[axis] for axis in subset]))
        whole_family = np.logical_and.reduce(shows)[rows]
        weights = cells.tally.weights[rows]

        def total(axes: tuple[int, ...], rows: Index, weights: FloatArray) -> FloatArray:
            """The weight of the rows of a cell's group that agree with it on some axes."""
            place, number = _sub_cells(cells, columns, axes, rows)
            return added_up(place, weights, number)[place]

        part = total(subset, rows, weights)[whole_family]  # n(s)
        candidates = []
        for axis in subset:
            others = tuple(other for other in subset if other != axis)
            whole = total(others, rows, weights)[whole_family]
            factor = conditional(part, whole, sizes[axis])
            candidates.append(candidate(factor, estimate_of[others]))
        estimate_of[subset] = merged(iter(candidates), aggregation)
    return estimate_of[tuple(range(len(sizes)))].mean


def _sub_cells(
    cells: GroupedCounts, columns: list[Keys], axes: tuple[int, ...], rows: Index
) -> tuple[Index, int]:
    """Number the (group, values on some axes) among some rows of the counts."""
    sizes = [cells.cardinalities[axis] for axis in axes]
    keys = pack([columns[axis][rows] for axis in axes], sizes, len(rows))
    return _within_group(cells.group[rows], keys, len(cells.groups.weights), prod(sizes))


def _within_group(group: Index, keys: Keys, groups: int, size: int) -> tuple[Index, int]:
    if groups * size >= 2**62:
        occurring, keys = distinct(keys, size)
        size = len(occurring)
    found, place = distinct(group * size + keys, groups * size)
    return place, len(found)


def _estimable(shown: GroupedCounts) -> GroupedCounts:
    """Every (group, cell) all of whose projections along one axis are those of a cell seen.

    From each cell seen the axis with the fewest values is varied; what remains is checked
    along the other axes.
    """
    columns, sizes = shown.columns(), shown.cardinalities
    varied = int(np.argmin(sizes))
    axes = [axis for axis in range(len(sizes)) if axis != varied]
    line = _first_of_each(shown, columns, tuple(axes))
    group = np.repeat(shown.group[line], sizes[varied])
    reached = [np.repeat(column[line], sizes[varied]) for column in columns]
    reached[varied] = np.tile(np.arange(sizes[varied]), len(line))
    keep = np.ones(len(group), dtype=bool)
    for axis in axes:
        others = tuple(other for other in range(len(sizes)) if other != axis)
        keep &= _is_projection_of(shown, columns, group, reached, others)
    cells = pack([column[keep] for column in reached], [size + 1 for size in sizes], keep.sum())
    ones = np.ones(len(cells))
    return GroupedCounts(
        shown.groups, shown.scope, sizes, group[keep], cells, Tally(ones, ones, ones)
    )


def _first_of_each(shown: GroupedCounts, columns: list[Keys], axes: tuple[int, ...]) -> Index:
    every = np.arange(len(shown.cells))
    place, number = _sub_cells(shown, columns, axes, every)
    first = np.zeros(number, dtype=np.intp)
    first[place] = every
    return first


def _is_projection_of(
    shown: GroupedCounts,
    columns: list[Keys],
    group: Index,
    reached: list[Keys],
    axes: tuple[int, ...],
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether the values of each cell reached, on some axes, occur in its group."""
    both = [np.concatenate([columns[axis], reached[axis]]) for axis in axes]
    sizes = [shown.cardinalities[axis] for axis in axes]
    groups = np.concatenate([shown.group, group])
    keys = pack(both, sizes, len(groups))
    place, number = _within_group(groups, keys, len(shown.groups.weights), prod(sizes))
    occurs = np.zeros(number, dtype=bool)
    occurs[place[: len(shown.group)]] = True
    return np.asarray(occurs[place[len(shown.group) :]])


def _entering(shown: GroupedCounts, mass: FloatArray) -> Tally:
    known = added_up(shown.group, shown.tally.weights, len(mass))
    scale = np.divide(mass, known, out=np.zeros_like(mass), where=known > 0)[shown.group]
    return Tally(shown.tally.weights * scale, shown.tally.rows, shown.tally.squares * scale**2)


@dataclass(frozen=True)
class FactoredMar:
    """Factored deletion under MAR."""

    name: ClassVar[str] = "factored-mar"
    aggregation: Aggregation = "inverse-variance"

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:
        """What is estimated of the joint of ``left``."""
        return factored_mar_estimand(left, partially, observed)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT within the groups that agree on all fully observed variables."""
        estimator = partial(factored_mar, aggregation=self.aggregation)
        return learn_by_groups(task, self.estimand, estimator, False)


@dataclass(frozen=True)
class InformedFactored:
    """Factored deletion under MAR, knowing what separates values from their mechanisms."""

    name: ClassVar[str] = "informed-factored"
    separator: Scope = ()
    missingness: MissingnessGraph | None = None
    aggregation: Aggregation = "inverse-variance"

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:
        """What is estimated of the joint of ``left``."""
        given = informed_grouping(left, observed, self.separator, self.missingness)
        return factored_mar_estimand(left, partially, given)

    def learn(self, task: Task) -> Learned:
        """Learn every CPT within the groups that agree on its observed part and W."""
        check_separator(task, self.separator, self.missingness)
        estimator = partial(factored_mar, aggregation=self.aggregation)
        return learn_by_groups(task, self.estimand, estimator, False)
