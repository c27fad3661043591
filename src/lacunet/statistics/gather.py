"""Everything that a method asks of the data, counted part by part and added up.

`Needs` say what is to be counted, before any row is read; `gather` counts it; `Statistics` are
all that an estimate ever sees of the data. Statistics of two parts add up with ``+``. Family
counts and problems do so for any parts. What was reduced within groups does so as long as no
group of rows is split between two parts: parts are made by the values that rows are grouped by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from math import inf
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts
from lacunet.statistics.groups import GroupedCounts, Groups, count_in_groups, group_rows
from lacunet.statistics.problems.compile import Problems, compile_problems
from lacunet.statistics.rows import Rows, distinct_rows
from lacunet.statistics.split import split_weights


@dataclass(frozen=True)
class Reduced:
    r"""What the groups of rows say about one family :math:`Y`, added up over the groups.

    ``inside`` is :math:`\sum_g n_g P_g(y_m)` over the family's cells; ``observed`` the weight of
    all groups by :math:`y_o`; ``reached`` the weight of the groups in which a cell is estimable,
    ``shown`` that of the groups with a row that shows all of :math:`Y_m`. All have an axis for
    each variable of the family, of length one where it does not matter.
    """

    inside: FloatArray
    observed: FloatArray
    reached: FloatArray
    shown: FloatArray

    def __add__(self, other: Reduced) -> Reduced:
        return Reduced(
            self.inside + other.inside,
            self.observed + other.observed,
            self.reached + other.reached,
            self.shown + other.shown,
        )


@dataclass(frozen=True)
class Grouping:
    """What is asked of the groups of rows for one family.

    Rows are grouped by ``given``; ``hidden`` is the partially observed part of the ``family``;
    ``whole`` if only rows that show all of it matter. ``within`` turns the counts within groups
    into their sum.
    """

    family: Scope
    hidden: Scope
    given: Scope
    whole: bool
    within: Callable[[GroupedCounts, Scope, tuple[int, ...]], Reduced]


@dataclass(frozen=True)
class Needs:
    """What a method asks of the data.

    ``families`` are counted with missing as a state; ``complete`` asks for the same among the
    rows without any gap. ``groupings`` are reduced within groups; ``problems`` asks for compiled
    problems; ``rows`` for the distinct rows over some columns, which formulas of graphs use.
    ``heldout`` is the share of the rows that is put aside.
    """

    families: tuple[Scope, ...]
    complete: bool = False
    groupings: tuple[Grouping, ...] = ()
    problems: bool = False
    rows: tuple[Scope, ...] = ()
    heldout: float | None = None


@dataclass(frozen=True)
class Statistics:
    """What was counted; see `Needs`.

    ``learning`` are those of what is learned from, where a share is put aside; the problems
    then have two weights, of what is learned from and of what is put aside. ``cut`` says why
    problems were not compiled, where they should have been.
    """

    rows: int
    total: float
    missing_of: Mapping[str, int]
    counts: Mapping[Scope, Counts]
    complete: Mapping[Scope, Counts] = field(default_factory=dict)
    complete_rows: int = 0
    reduced: Mapping[Scope, Reduced] = field(default_factory=dict)
    problems: Problems | None = None
    distinct: Mapping[Scope, Rows] = field(default_factory=dict)
    learning: Statistics | None = None
    cut: str = ""

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            rows=self.rows + other.rows,
            total=self.total + other.total,
            missing_of={v: n + other.missing_of[v] for v, n in self.missing_of.items()},
            counts=_added(self.counts, other.counts),
            complete=_added(self.complete, other.complete),
            complete_rows=self.complete_rows + other.complete_rows,
            reduced=_added(self.reduced, other.reduced),
            distinct=_added(self.distinct, other.distinct),
            problems=_both(self.problems, other.problems),
            learning=_both(self.learning, other.learning),
            cut=self.cut or other.cut,
        )

    @property
    def never_shown(self) -> Scope:
        """The variables that no row shows."""
        return tuple(name for name, missing in self.missing_of.items() if missing == self.rows)


def gather(
    needs: Needs,
    network: Network,
    parts: Iterable[EncodedTable],
    *,
    progress: Progress = silent,
    deadline: Deadline = NEVER,
    memory: float = inf,
    seed: int = 0,
) -> Statistics:
    """Count what is needed, part by part, and add it up.

    Parameters
    ----------
    deadline
        When to leave problems uncompiled; all else is counted whatever the time.
    memory
        The bytes that compiling problems may take beside its result.
    seed
        Chooses what is put aside.
    """
    count_part = partial(_of_part, needs, network, progress, deadline, memory, seed)
    return reduce(add, map(count_part, parts))


def _of_part(
    needs: Needs,
    network: Network,
    progress: Progress,
    deadline: Deadline,
    memory: float,
    seed: int,
    table: EncodedTable,
) -> Statistics:
    whole = table.take(table.is_shown(table.variables)) if needs.complete else None
    found = Statistics(
        rows=table.rows,
        total=table.total,
        missing_of=table.missing_of,
        counts=count(table, needs.families, progress),
        complete={} if whole is None else count(whole, needs.families, progress),
        complete_rows=0 if whole is None else whole.rows,
        reduced=_reduced(needs, network, table, progress),
        distinct={columns: distinct_rows(table, columns) for columns in needs.rows},
    )
    if not needs.problems:
        return found
    try:
        deadline.check()
        weights = None
        if needs.heldout is not None:
            shares = np.array([1 - needs.heldout, needs.heldout])
            weights = split_weights(network, table, shares, seed)
            if weights.any(axis=0).all():
                rest = replace(table, weights=weights[:, 0]).take(weights[:, 0] > 0)
                without = replace(needs, problems=False, heldout=None)
                learning = _of_part(without, network, silent, deadline, memory, seed, rest)
                found = replace(found, learning=learning)
        problems = compile_problems(network, table, weights, memory=memory, deadline=deadline)
        return replace(found, problems=problems)
    except OutOfTimeError:
        return replace(found, cut="time limit")
    except KeyboardInterrupt:
        return replace(found, cut="interrupted")


def _reduced(
    needs: Needs, network: Network, table: EncodedTable, progress: Progress
) -> dict[Scope, Reduced]:
    groups: dict[Scope, tuple[Groups, NDArray[np.intp]]] = {}
    reduced: dict[Scope, Reduced] = {}
    for done, asked in enumerate(needs.groupings):
        progress("grouping", done, len(needs.groupings), asked.family[-1])
        if asked.given not in groups:
            groups[asked.given] = group_rows(table, asked.given)
        cells = count_in_groups(table, *groups[asked.given], asked.hidden, asked.whole)
        reduced[asked.family] = asked.within(cells, asked.family, network.shape(asked.family))
    return reduced


def _added(one: Mapping[Scope, Any], two: Mapping[Scope, Any]) -> dict[Scope, Any]:
    return {scope: value + two[scope] for scope, value in one.items()}


def _both(one: Any, two: Any) -> Any:
    return None if one is None or two is None else one + two
