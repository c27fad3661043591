"""What the MAR methods share: groups of rows, counted once, one family after the other.

What informed deletion groups rows by: a family's observed part and a separator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.estimands.deletion import Estimand
from lacunet.estimate.cpts import Joint, learn_families
from lacunet.estimate.deletion.direct_mcar import direct_mcar
from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Learned, Task
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separation.separator import separator as smallest_separator
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts, Tally, added_up
from lacunet.statistics.distinct import Index, Keys
from lacunet.statistics.groups import GroupedCounts, Groups, count_in_groups, group_rows


@dataclass(frozen=True)
class GroupedJoint:
    """The estimate of a family's joint, the weights behind it, and the mass that fell back."""

    table: FloatArray
    entering: Tally
    fallback_mass: float


Estimator = Callable[[GroupedCounts, Counts], GroupedJoint]


def learn_by_groups(
    task: Task,
    estimand_of: Callable[[Scope, Scope, Scope], Estimand],
    estimator: Estimator,
    whole: bool,
) -> Learned:
    """Learn every family within the groups of rows that its estimand conditions on.

    The counts within groups are made, used and let go family by family: together they could
    be many times the size of the data.
    """
    table = task.table
    counted = count(table, [task.network.family(v) for v in task.network.variables], task.progress)
    grouped: dict[Scope, tuple[Groups, Index]] = {}

    def joint(family: Scope) -> Joint:
        counts = counted[family]
        shown = counts.showing(family).tally
        hidden = tuple(name for name in family if table.missing_of[name])
        estimand = estimand_of(family, *table.observed_or_not)
        rows = int(shown.rows.sum())
        if not hidden:
            return Joint(direct_mcar(counts), rows, rows, shown, estimand)
        if estimand.given not in grouped:
            grouped[estimand.given] = group_rows(table, estimand.given)
        cells = count_in_groups(table, *grouped[estimand.given], hidden, whole)
        found = estimator(cells, counts)
        fallback = "the estimate without groups"
        return Joint(
            found.table, rows, table.rows, found.entering, estimand, found.fallback_mass, fallback
        )

    return learn_families(task, joint)


def family_place(cells: GroupedCounts, counts: Counts) -> Keys:
    """Where each (group, cell) lies in the family's table; the cells show all of it."""
    columns = dict(zip(cells.scope, cells.columns(), strict=True))
    place = np.zeros(len(cells.cells), dtype=np.int64)
    for name, size in zip(counts.scope, counts.cardinalities, strict=True):
        place *= size
        if name in columns:
            place += columns[name]
        else:
            groups = cells.groups
            place += groups.configs[groups.scope.index(name)][cells.group]
    return place


def over_observed(cells: GroupedCounts, counts: Counts, weights: FloatArray) -> FloatArray:
    """Weights of the groups, summed over the family's observed part.

    The table has an axis of length one for each partially observed variable, so that it
    multiplies the family's table.
    """
    observed = [name for name in counts.scope if name not in cells.scope]
    shape = [
        1 if name in cells.scope else size
        for name, size in zip(counts.scope, counts.cardinalities, strict=True)
    ]
    place = cells.groups.place(observed)
    return added_up(place, weights, int(np.prod(shape))).reshape(shape)


def informed_grouping(
    left: Scope, observed: Scope, separator: Scope, missingness: MissingnessGraph | None
) -> Scope:
    r"""The variables :math:`Y_o \cup W`: W as given, or the smallest that the graph allows."""
    if missingness is not None:
        separator = smallest_separator(missingness, left, observed)
    return tuple(name for name in observed if name in left or name in separator)


def check_graph(missingness: object) -> None:
    """Refuse what is no missingness graph, such as its text or its path."""
    if not isinstance(missingness, MissingnessGraph):
        raise MethodError.not_a_graph(missingness)


def check_separator(
    task: Task, separator: Sequence[str], missingness: MissingnessGraph | None
) -> None:
    """Refuse a separator that the data do not always show, or a graph that is not theirs."""
    if missingness is not None:
        if separator:
            raise MethodError.separator_and_graph()
        check_graph(missingness)
        missingness.check_network(task.network)
        missingness.check_data(task.table)
    for name in separator:
        missing = task.table.missing_of[task.network.known(name)]
        if missing:
            raise MethodError.separator_not_observed(name, missing)
