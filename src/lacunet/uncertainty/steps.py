r"""Groups that never show a family, and what stands in for them when intervals are made.

The methods for MAR data give the rows of such groups the estimate without groups (see
`lacunet.estimate.deletion.by_groups`). Where values are missing at random that is biased, and an
interval around it would know nothing of the bias. So intervals are made around an estimate that
settles the rows in steps: by the groups of the method; what these leave open by the variables
that seem to decide on being missing, :math:`Y_o \cup W`, learned from the data; and what is
open even then by :math:`Y_o`:

.. math::
    T(y) = \sum_{\text{steps}} \sum_g n_g \Pr_D(y_m \mid g, R_{Y_m} = \mathsf{ob}),

with the weight :math:`n_g` of those rows of a group that no step before has settled. Where every
group shows the family there is one step, and the estimate is that of the method.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.missingness.fitted import observed_parents
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.counts import Tally, added_up
from lacunet.statistics.distinct import Index
from lacunet.statistics.groups import GroupedCounts, Groups, count_in_groups
from lacunet.uncertainty.spread import are_rows, rows_per_weight

ENOUGH_ROWS = 20_000  # or a tenth of all: W is chosen from so many
GroupRows = Callable[[Scope], tuple[Groups, Index]]


def step_scopes(
    network: Network,
    table: EncodedTable,
    given_of: Mapping[str, Scope],
    fell_back: Collection[str],
) -> dict[str, tuple[Scope, ...]]:
    """For each variable what the rows are grouped by for its family, step by step.

    Parameters
    ----------
    given_of
        What the method groups by.
    fell_back
        The variables some of whose rows are in groups that do not tell.
    """
    found: dict[str, tuple[Scope, ...]] = {name: (given,) for name, given in given_of.items()}
    known = [name for name in given_of if name in fell_back]
    parents_of = observed_parents(network, _some_rows(table)) if known else {}
    for name in known:
        family = network.family(name)
        causes = {one for member in family for one in parents_of.get(member, ())}
        observed = tuple(one for one in table.fully_observed if one in family)
        wider = tuple(one for one in table.fully_observed if one in causes.union(family))
        found[name] = tuple(dict.fromkeys((given_of[name], wider, observed)))
    return found


def _some_rows(table: EncodedTable) -> EncodedTable:
    """Rows enough to choose W from, where all would take longer than the fit."""
    every = max(1, table.rows // max(ENOUGH_ROWS, table.rows // 10))
    some = replace(table.take(slice(None, None, every)), missing_of=table.missing_of)
    if some.weights is None:
        return some
    return replace(some, weights=some.weights * rows_per_weight(some.weights))


@dataclass(frozen=True)
class Step:
    """Some groups of rows, and what they say about the hidden part of a family.

    ``shown`` are the counts of the rows that show it; its groups weigh what no step before has
    settled, which is ``left`` of each row. ``squares`` are the squared weights of each group's
    open rows, added up; None if weights are rows. ``group`` is that of each row.
    """

    shown: GroupedCounts
    group: Index
    left: FloatArray
    squares: FloatArray | None

    @property
    def share(self) -> FloatArray:
        """The share of each cell among its group's rows that show the family."""
        number = len(self.shown.groups.weights)
        entered = added_up(self.shown.group, self.shown.tally.weights, number)
        return np.asarray(self.shown.tally.weights / entered[self.shown.group])

    def settled(self, family: Scope, sizes: tuple[int, ...]) -> FloatArray:
        """What the step adds to the cells of the family."""
        mass = self.shown.groups.weights[self.shown.group]
        return self.shown.weighing(mass * self.share).tabled(family, sizes)


def steps(
    table: EncodedTable, hidden: Scope, scopes: tuple[Scope, ...], group_rows: GroupRows
) -> list[Step]:
    """The steps in which the rows of a family are settled.

    Parameters
    ----------
    hidden
        The family's partially observed part.
    scopes
        What rows are grouped by in each step.
    group_rows
        Groups the rows of the table.

    Examples
    --------
    Two of four groups show B; the rows of the others are settled by A alone.

    >>> from functools import partial
    >>> from lacunet.statistics.groups import group_rows
    >>> codes = {"A": [0, 0, 1, 1], "B": [0, 2, 1, 2], "C": [0, 1, 0, 1]}
    >>> columns = {name: np.array(own, np.uint8) for name, own in codes.items()}
    >>> table = EncodedTable.of({"A": 2, "B": 2, "C": 2}, columns)
    >>> found = steps(table, ("B",), (("A", "C"), ("A",)), partial(group_rows, table))
    >>> [step.settled(("A", "B"), (2, 2)).tolist() for step in found]
    [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]
    """
    left = np.ones(table.rows) if table.weights is None else table.weights
    whole, found = are_rows(table.weights), []
    for scope in scopes:
        groups, group = group_rows(scope)
        number = len(groups.weights)
        shown = count_in_groups(table, groups, group, hidden, whole=True)
        tally = shown.tally
        tally = Tally(tally.weights, tally.weights, tally.weights) if whole else tally
        open_groups = replace(groups, weights=added_up(group, left, number))
        squares = None if whole else added_up(group, left**2, number)
        found.append(Step(replace(shown, groups=open_groups, tally=tally), group, left, squares))
        tells = np.zeros(number, dtype=bool)
        tells[shown.group] = True
        left = np.where(tells[group], 0.0, left)
        if not left.any():
            break
    return found
