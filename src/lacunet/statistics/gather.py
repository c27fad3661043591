"""Everything that a method asks of the data, counted part by part and added up.

`Needs` say what is to be counted, before any row is read; `gather` counts it; `Statistics` are
all that an estimate ever sees of the data. Statistics of two parts add up with ``+``. Family
counts and problems do so for any parts. What was reduced within groups does so as long as no
group of rows is split between two parts: parts are made by the values that rows are grouped by.
Where groups are few they may be split: their counts are kept until all parts are added
(``shared``), and reduced by `finished`.

All of it can be pickled: `of_part` may run in any process, on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf, prod
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.count import count
from lacunet.statistics.counts import Counts, added_up
from lacunet.statistics.groups import GroupedCounts, Groups, count_in_groups, group_rows
from lacunet.statistics.problems.compile import Problems, compile_problems
from lacunet.statistics.rows import Rows, distinct_rows
from lacunet.statistics.saved.parts import Part
from lacunet.statistics.split import split_weights
from lacunet.wording import counted

GRACE = 0.1  # seconds after the deadline for what a closed form needs
SHARE_OF_GROUPS = 0.5  # of the time left when rows are read; the rest is for EM, and to estimate


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
class Solved:
    r"""What each group says about the hidden part of families, :math:`Y_m`.

    The weights of ``inside`` are :math:`n_g P_g(y_m)`, those of ``reached`` :math:`n_g` for each
    cell that a group can estimate; None where a group with any cell can estimate all.
    """

    inside: GroupedCounts
    reached: GroupedCounts | None

    def about(self, family: Scope, sizes: tuple[int, ...]) -> Reduced:
        """What the groups add up to for one family that has this hidden part."""
        cells, groups = self.inside, self.inside.groups
        has_rows = np.zeros(len(groups.weights), dtype=bool)
        has_rows[cells.group] = True
        shape = [1 if name in cells.scope else n for name, n in zip(family, sizes, strict=True)]
        place = groups.place([name for name in family if name not in cells.scope])
        shown = added_up(place, np.where(has_rows, groups.weights, 0.0), prod(shape))
        shown = shown.reshape(shape)
        return Reduced(
            cells.tabled(family, sizes),
            added_up(place, groups.weights, prod(shape)).reshape(shape),
            shown if self.reached is None else self.reached.tabled(family, sizes),
            shown,
        )


@dataclass(frozen=True)
class Grouping:
    """What is asked of the groups of rows for one family.

    Rows are grouped by ``given``; ``hidden`` is the partially observed part of the ``family``;
    ``whole`` if only rows that show all of it matter. ``within`` estimates it from the counts
    within groups.
    """

    family: Scope
    hidden: Scope
    given: Scope
    whole: bool
    within: Callable[[GroupedCounts], Solved]


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


@dataclass(frozen=True, repr=False)
class Statistics:
    """What was counted; see `Needs`.

    ``learning`` are those of what is learned from, where a share is put aside; the problems
    then have two weights, of what is learned from and of what is put aside. ``cut`` says why
    problems were not compiled, where they should have been; ``reduced`` lacks the families whose
    groups there was no time for. ``grouped`` waits to be reduced,
    once all parts are added. ``notes`` is what the user should know of how the rows were read.
    ``network`` and ``method`` say what they were counted for, and ``parts`` from which data, if
    `lacunet.count` made them.
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
    grouped: Mapping[Scope, GroupedCounts] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    network: Network | None = None
    method: str = ""
    parts: tuple[Part, ...] = ()

    def __repr__(self) -> str:
        counted_for = f" for {self.method}" if self.method else ""
        return f"<Statistics of {counted(self.rows, 'row')}{counted_for}>"

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Statistics:
        """The statistics in a file that `write` or ``lacunet count`` wrote."""
        from lacunet.statistics.saved.read import read_statistics

        return read_statistics(path)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the statistics to a file, whole or not at all; its name ends in ``.stats``."""
        from lacunet.statistics.saved.write import write_statistics

        write_statistics(self, path)

    def __add__(self, other: Statistics) -> Statistics:
        if self.network is not None and other.network is not None:
            from lacunet.statistics.saved.header import check_summands

            check_summands(self, other)
        return Statistics(
            rows=self.rows + other.rows,
            total=self.total + other.total,
            missing_of={v: n + other.missing_of[v] for v, n in self.missing_of.items()},
            counts=_added(self.counts, other.counts),
            complete=_added(self.complete, other.complete),
            complete_rows=self.complete_rows + other.complete_rows,
            reduced=_in_both(self.reduced, other.reduced),
            distinct=_added(self.distinct, other.distinct),
            problems=_both(self.problems, other.problems),
            learning=_both(self.learning, other.learning),
            cut=self.cut or other.cut,
            grouped=_in_both(self.grouped, other.grouped),
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
            network=self.network,
            method=self.method if self.method == other.method else "",
            parts=(*self.parts, *other.parts),
        )

    @property
    def never_shown(self) -> Scope:
        """The variables that no row shows."""
        return tuple(name for name, missing in self.missing_of.items() if missing == self.rows)


@dataclass(frozen=True)
class Gathering:
    """What is asked of the rows, and within which limits.

    Problems that cannot be compiled before the ``deadline`` are left, and so are groups that half
    of the time was not enough for; all else is counted whatever the time. ``memory`` are the bytes
    that compiling problems may take beside its result, ``seed`` chooses what is put aside.
    ``shared`` are the families whose groups of rows may be split between parts.
    """

    needs: Needs
    network: Network
    deadline: Deadline = NEVER
    memory: float = inf
    seed: int = 0
    shared: frozenset[Scope] = frozenset()


def gather(
    how: Gathering, parts: Iterable[EncodedTable], progress: Progress = silent
) -> Statistics:
    """Count what is needed, part by part, and add it up; no part splits a group of rows."""
    return finished(summed(of_part(how, part, progress) for part in parts), how)


def of_part(how: Gathering, table: EncodedTable, progress: Progress = silent) -> Statistics:
    """What one part of the rows says; to be added to that of the other parts, and `finished`."""
    needs, network = how.needs, how.network
    whole = table.take(table.is_shown(table.variables)) if needs.complete else None
    reduced, grouped = _in_groups(how, table, progress)
    found = Statistics(
        rows=table.stand_for,
        total=table.total,
        missing_of=table.missing_of,
        counts=count(table, needs.families, progress),
        complete={} if whole is None else count(whole, needs.families, progress),
        complete_rows=0 if whole is None else whole.stand_for,
        reduced=reduced,
        distinct={columns: distinct_rows(table, columns) for columns in needs.rows},
        grouped=grouped,
        notes=table.notes,
    )
    if not needs.problems:
        return found
    try:
        how.deadline.check()
        weights = None
        if needs.heldout is not None:
            shares = np.array([1 - needs.heldout, needs.heldout])
            weights = split_weights(network, table, shares, how.seed)
            rest = replace(table, weights=weights[:, 0], copies=None).take(weights[:, 0] > 0)
            without = replace(how, needs=replace(needs, problems=False, heldout=None))
            found = replace(found, learning=of_part(without, rest))
        problems = compile_problems(
            network, table, weights, memory=how.memory, deadline=how.deadline
        )
        return replace(found, problems=problems)
    except OutOfTimeError:
        return replace(found, cut="time limit")
    except KeyboardInterrupt:
        return replace(found, cut="interrupted")


def summed(parts: Iterable[Statistics]) -> Statistics:
    """All parts added up, two by two, so that none is merged more than log times."""
    held: list[tuple[int, Statistics]] = []
    for part in parts:
        level, whole = 0, part
        while held and held[-1][0] == level:
            whole = held.pop()[1] + whole
            level += 1
        held.append((level, whole))
    *earlier, whole = [statistics for _, statistics in held]
    for one in reversed(earlier):
        whole = one + whole
    return whole


def finished(statistics: Statistics, how: Gathering) -> Statistics:
    """The statistics of all parts, with the groups that they share reduced."""
    whole = with_reduced(statistics, how)
    if whole.learning is not None and not 0 < whole.learning.total < whole.total:
        whole = replace(whole, learning=None)  # there is nothing on one of the two sides
    return whole


def of_passes(found: Sequence[Statistics], notes: tuple[str, ...]) -> Statistics:
    """What several readings of the same rows found: the first all, the others groups alone."""
    reduced = {scope: own for one in found for scope, own in one.reduced.items()}
    return replace(found[0], reduced=reduced, notes=notes)


def with_reduced(
    statistics: Statistics, how: Gathering, shared: frozenset[Scope] = frozenset()
) -> Statistics:
    """The statistics with all groups reduced but those that other parts share still."""
    ready = {
        asked.family: asked.within(cells).about(asked.family, how.network.shape(asked.family))
        for asked in how.needs.groupings
        if asked.family not in shared
        if (cells := statistics.grouped.get(asked.family)) is not None
    }
    learning = statistics.learning
    return replace(
        statistics,
        reduced={**statistics.reduced, **ready},
        grouped={scope: own for scope, own in statistics.grouped.items() if scope not in ready},
        learning=None if learning is None else with_reduced(learning, how, shared),
    )


def _in_groups(
    how: Gathering, table: EncodedTable, progress: Progress
) -> tuple[dict[Scope, Reduced], dict[Scope, GroupedCounts]]:
    groups: dict[Scope, tuple[Groups, NDArray[np.intp]]] = {}
    reduced: dict[Scope, Reduced] = {}
    grouped: dict[Scope, GroupedCounts] = {}
    hidden_parts = sorted(how.needs.groupings, key=_hidden_part)
    least = (1 - SHARE_OF_GROUPS) * max(how.deadline.left, 0.0) - GRACE
    for (given, hidden, whole), alike in groupby(hidden_parts, key=_hidden_part):
        if how.deadline.left < least:  # a closed form alone has none: it is the start of EM
            break
        if given not in groups:
            groups[given] = group_rows(table, given)
        cells = count_in_groups(table, *groups[given], hidden, whole)
        solved: Solved | None = None  # the same for all families with this hidden part
        for asked in alike:
            progress("grouping", len(reduced) + len(grouped), len(hidden_parts), asked.family[-1])
            if asked.family in how.shared:
                grouped[asked.family] = cells
            else:
                solved = solved or asked.within(cells)
                reduced[asked.family] = solved.about(asked.family, how.network.shape(asked.family))
    return reduced, grouped


def _hidden_part(asked: Grouping) -> tuple[Scope, Scope, bool]:
    return asked.given, asked.hidden, asked.whole


def _added(one: Mapping[Scope, Any], two: Mapping[Scope, Any]) -> dict[Scope, Any]:
    return {scope: value + two[scope] for scope, value in one.items()}


def _in_both(one: Mapping[Scope, Any], two: Mapping[Scope, Any]) -> dict[Scope, Any]:
    return {scope: value + two[scope] for scope, value in one.items() if scope in two}


def _both(one: Any, two: Any) -> Any:
    return None if one is None or two is None else one + two
