"""What is asked of the data, and what was counted: `Needs` in, `Statistics` out.

`Needs` say what is to be counted, before any row is read; `gather` counts it; `Statistics` are
all that an estimate ever sees of the data. Statistics of two parts add up with ``+``. Family
counts, problems and distinct rows do so for any parts. What was reduced within groups does so as
long as no group of rows is split between two parts: parts are made by the values that rows are
grouped by. Where groups are few they may be split: their counts are kept until all parts are
added (`Gathering.shared`), and reduced then.

Several samples of the rows (all of them, and replicates) are counted in one
pass: rows are divided into folds, and the fold is one more variable of every count
(`lacunet.counts.folds`).

All of it can be pickled: `of_part` may run in any process, on any machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np

from lacunet.counts.count import WORTH_A_THREAD, count
from lacunet.counts.counts import Counts, Tally, summed
from lacunet.counts.distinct_rows import Rows, distinct_rows
from lacunet.counts.em_problems.compile import Problems, compile_problems
from lacunet.counts.family_sums import Reduced, Solved, SolvedSamples, solved_samples
from lacunet.counts.folds import FOLD, Dealing, Folds, deal_groups, divide_rows
from lacunet.counts.groups import FoldedGroups, GroupedCounts, count_in_groups, group_rows
from lacunet.counts.units import Units
from lacunet.data.table import EncodedTable, whole_rows
from lacunet.limits import NEVER, Deadline, OutOfTimeError
from lacunet.network.network import Network, Scope
from lacunet.progress import Progress, silent
from lacunet.text import counted
from lacunet.threads import in_threads

WORK_BYTES = 40  # while rows are counted in groups, for each row: keys, groups and places
GRACE = 0.05  # seconds after the deadline for what a closed form needs
SHARE_OF_GROUPS = 0.5  # of the time left when rows are read; the rest is for EM, and to estimate


@dataclass(frozen=True)
class Grouping:
    """What is asked of the groups of rows for one family."""

    family: Scope
    hidden: Scope  # the partially observed part of the family
    given: Scope  # what rows are grouped by
    whole: bool  # whether only rows that show all of the hidden part matter
    within: Callable[[GroupedCounts], Solved]  # estimates it from the counts within groups
    replicated: bool = True  # whether replicates of the rows are estimated so too


@dataclass(frozen=True)
class Compiling:
    """The network that rows are compiled for, and what its nodes are in the rows."""

    network: Network
    # The nodes that say whether a row shows a variable, with that variable.
    mechanism_of: Mapping[str, str] = field(default_factory=dict)
    recorded: str = ""  # the node that is 1 in every row, if any is
    # The nodes that say what a row shows of a variable: its state or, one state more, that it is
    # missing.
    as_shown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Needs:
    """What a plan asks of the data."""

    families: tuple[Scope, ...]  # counted with missing as a state
    complete: bool = False  # whether they are also counted among the rows without any gap
    groupings: tuple[Grouping, ...] = ()  # reduced within groups
    problems: Compiling | None = None  # what EM learns from
    rows: tuple[Scope, ...] = ()  # columns of distinct rows, which formulas of graphs use
    folds: Folds | None = None  # how rows are divided, where there are several samples of them


@dataclass(frozen=True, repr=False)
class Statistics:
    """What was counted from some rows, all that a method needs of them.

    Statistics of other rows are added with ``+``. Where rows are divided into folds, the fold is
    one more variable of all counts; `sample` gives the statistics of one sample.
    """

    tally: Tally  # of all rows, fold by fold
    missing_of: Mapping[str, int]  # rows in which each variable is missing
    counts: Mapping[Scope, Counts]
    complete: Mapping[Scope, Counts] = field(default_factory=dict)  # among rows without any gap
    complete_rows: int = 0
    # Without the families whose groups there was no time for; with an axis for the samples.
    reduced: Mapping[Scope, Reduced] = field(default_factory=dict)
    problems: Problems | None = None
    distinct: Mapping[Scope, Rows] = field(default_factory=dict)  # over some columns
    folds: Folds | None = None
    units: Units | None = None  # those of a survey, if it is one
    stopped_by: str = ""  # why problems were not compiled, where they should have been
    # What waits to be reduced, once all parts are added.
    grouped: Mapping[Scope, GroupedCounts | FoldedGroups] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what the user should know of how the rows were read
    cells_of_sets: Mapping[str, int] = field(default_factory=dict)  # that are one of several states
    dealing: Dealing | None = None  # all that there is where folds are to be dealt first

    def __repr__(self) -> str:
        return f"<Statistics of {counted(self.rows, 'row')}>"

    def __add__(self, other: Statistics) -> Statistics:
        if not isinstance(other, Statistics):
            return NotImplemented
        return Statistics(
            tally=self.tally + other.tally,
            missing_of=_added(self.missing_of, other.missing_of),
            counts=_added(self.counts, other.counts),
            complete=_added(self.complete, other.complete),
            complete_rows=self.complete_rows + other.complete_rows,
            reduced=_in_both(self.reduced, other.reduced),
            distinct=_added(self.distinct, other.distinct),
            problems=_both(self.problems, other.problems),
            folds=self.folds,
            units=_both(self.units, other.units),
            stopped_by=self.stopped_by or other.stopped_by,
            grouped=_in_both(self.grouped, other.grouped),
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
            cells_of_sets=Counter(self.cells_of_sets) + Counter(other.cells_of_sets),
            dealing=_both(self.dealing, other.dealing),
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return whole_rows(float(self.tally.rows.sum()))

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.tally.weights.sum())

    @property
    def never_shown(self) -> Scope:
        """The variables that no row shows."""
        rows = self.rows
        return tuple(name for name, missing in self.missing_of.items() if missing == rows)

    def counts_in_sample(self, family: Scope, number: int) -> Counts:
        """The counts of one family in one sample: 0 for all rows."""
        counts = self.counts[family]
        if self.folds is None:
            return counts
        return counts.sampled(self.folds.samples[number])

    def sample(self, number: int) -> Statistics:
        """What was counted in one sample: 0 for all rows.

        The number of rows, and what is missing of them, are those of all rows still.
        """
        if self.folds is None:
            return self
        multiples = self.folds.samples[number]
        tally = Tally(
            np.array([self.tally.weights @ multiples]),
            np.array([self.tally.rows.sum()]),
            np.array([self.tally.squares @ multiples**2]),
        )
        problems = self.problems
        return replace(
            self,
            tally=tally,
            counts={scope: self.counts_in_sample(scope, number) for scope in self.counts},
            complete={scope: counts.sampled(multiples) for scope, counts in self.complete.items()},
            reduced={
                family: reduced[number : number + 1]
                for family, reduced in self.reduced.items()
                if number < len(reduced)
            },
            problems=None if problems is None else problems.sampled(multiples[None]),
            distinct={scope: rows.sampled(multiples) for scope, rows in self.distinct.items()},
            folds=None,
        )

    def pooled(self, network: Network) -> Statistics:
        """The same where the counts of families whose CPTs are one are added up, for each."""
        if not network.tied:
            return self
        return replace(
            self,
            counts=pooled_counts(self.counts, network),
            complete=pooled_counts(self.complete, network),
        )

    def scaled(self) -> Statistics:
        """Counts of families with weights that add up to the weighted sample size."""
        factor = self.tally.scale
        if factor == 1:
            return self
        return replace(
            self,
            tally=self.tally.scaled(factor),
            counts={scope: counts.scaled(factor) for scope, counts in self.counts.items()},
            complete={scope: counts.scaled(factor) for scope, counts in self.complete.items()},
        )


def pooled_counts(counts_of: Mapping[Scope, Counts], network: Network) -> dict[Scope, Counts]:
    """The counts of each family with those of all that are tied to it, under its own scope."""
    pooled = dict(counts_of)
    for group in network.tied:
        families = [network.family(name) for name in group]
        families = [family for family in families if family in counts_of]
        if not families:
            continue
        behind = counts_of[families[0]].scope[len(families[0]) :]  # the fold, where there is one
        first = families[0] + behind
        whole = summed(replace(counts_of[family], scope=first) for family in families)
        for family in families:
            pooled[family] = replace(whole, scope=family + behind)
    return pooled


@dataclass(frozen=True)
class Gathering:
    """What is asked of the rows, and within which limits."""

    needs: Needs
    network: Network
    # Problems that cannot be compiled before it are left, and so are groups that half of the time
    # was not enough for; all else is counted whatever the time.
    deadline: Deadline = NEVER
    memory: float = inf  # bytes that compiling problems may take beside its result
    shared: frozenset[Scope] = frozenset()  # families whose groups may be split between parts
    # For the others, rows that agree on these must be in one part.
    together: Scope | None = None
    scale: float = 1.0  # all weights are multiplied by it
    replicate: int | None = None  # the number of the replicate weights to use, if any


def gather(
    gathering: Gathering, parts: Iterable[EncodedTable], progress: Progress = silent
) -> Statistics:
    """Count what is needed, part by part, and add it up; no part splits a group of rows."""
    return with_reduced(summed(of_part(gathering, part, progress) for part in parts), gathering)


def with_dealt(gathering: Gathering, count: Callable[[Gathering], Statistics]) -> Statistics:
    """What is counted once rows can be divided into folds: dealt to groups where they have to be.

    Parameters
    ----------
    count
        Counts what is asked among all rows.
    """
    folds = gathering.needs.folds
    if folds is None or not folds.is_to_deal:
        return count(gathering)
    dealing = count(replace(gathering, needs=Needs((), folds=folds))).dealing
    assert dealing is not None
    needs = replace(gathering.needs, folds=deal_groups(folds, dealing))
    return count(replace(gathering, needs=needs))


def of_part(gathering: Gathering, table: EncodedTable, progress: Progress = silent) -> Statistics:
    """What one part of the rows says, to be added to that of the other parts.

    Where rows are divided into folds, no two parts may have equal rows.
    """
    needs = gathering.needs
    network = gathering.network
    # What is said of the rows as they are, before they are divided or made distinct.
    units = None if table.design is None else Units.of(table.design)
    notes = table.notes
    missing_of = table.missing_of
    cells_of_sets = table.cells_of_sets
    if gathering.replicate is not None:
        table = table.replicated(gathering.replicate)
    table = table.scaled(gathering.scale)

    if needs.folds is not None and needs.folds.is_to_deal:
        dealing = Dealing.of(network, table, needs.folds)
        return Statistics(_all_rows(table), missing_of, {}, notes=notes, dealing=dealing)
    fold: Scope = ()
    if needs.folds is not None:
        fold = (FOLD,)
        table = divide_rows(network, table, needs.folds)

    with_sets = table
    table = table.without_sets()  # what counts takes one of several states as missing
    reduced, grouped = _in_groups(gathering, table, progress)
    counts = _counted(table, needs.families, fold, progress)
    complete: dict[Scope, Counts] = {}
    complete_rows = 0
    if needs.complete:
        complete_table = table.take(table.is_shown(network.variables))
        complete = _counted(complete_table, needs.families, fold, progress)
        complete_rows = complete_table.row_count
    statistics = Statistics(
        tally=_all_rows(table),
        missing_of=missing_of,
        counts=counts,
        complete=complete,
        complete_rows=complete_rows,
        reduced=reduced,
        distinct={columns: distinct_rows(with_sets, columns + fold) for columns in needs.rows},
        folds=needs.folds,
        units=units,
        grouped=grouped,
        notes=notes,
        cells_of_sets=cells_of_sets,
    )
    if needs.problems is None:
        return statistics

    # What is counted until then stands where there is no time to compile the rows for EM.
    try:
        gathering.deadline.check()
        problems = compile_problems(
            needs.problems.network,
            with_node_columns(with_sets, needs.problems),
            memory=gathering.memory,
            deadline=gathering.deadline,
        )
        return replace(statistics, problems=problems)
    except OutOfTimeError:
        return replace(statistics, stopped_by="time limit")
    except KeyboardInterrupt:
        return replace(statistics, stopped_by="interrupted")


def with_node_columns(table: EncodedTable, compiling: Compiling) -> EncodedTable:
    """The rows with a column for each node that is made from another column."""
    table = with_mechanism_columns(table, compiling.mechanism_of, compiling.recorded)
    if not compiling.as_shown:
        return table
    columns = {**table.columns}
    sizes = {**table.cardinality_of}
    for name, variable in compiling.as_shown.items():
        missing = table.cardinality_of[variable]
        columns[name] = np.minimum(table.columns[variable], missing)
        sizes[name] = missing + 1
    return table.with_columns(sizes, columns)


def with_mechanism_columns(
    table: EncodedTable, variable_of: Mapping[str, str], recorded: str = ""
) -> EncodedTable:
    """The rows with a column for each mechanism: 1 where a row shows its variable.

    In that of ``recorded``, if it is named, every row has a 1.
    """
    if not variable_of and not recorded:
        return table
    columns = {
        name: (table.columns[variable] < table.cardinality_of[variable]).astype(np.uint8)
        for name, variable in variable_of.items()
    }
    if recorded:
        columns[recorded] = np.ones(table.rows, dtype=np.uint8)
    sizes = {**table.cardinality_of, **dict.fromkeys(columns, 2)}
    return table.with_columns(sizes, {**table.columns, **columns})


def _all_rows(table: EncodedTable) -> Tally:
    """All rows added up, fold by fold."""
    if FOLD not in table.columns:
        return Tally.all_of(table)
    return Tally.of(table, table.columns[FOLD], table.cardinality_of[FOLD])


def _counted(
    table: EncodedTable, families: Sequence[Scope], fold: Scope, progress: Progress
) -> dict[Scope, Counts]:
    """The counts of families, the fold being one more variable of each."""
    counts = count(table, [family + fold for family in families], progress)
    return {family: counts[family + fold] for family in families}


def with_reduced(
    statistics: Statistics, gathering: Gathering, shared: frozenset[Scope] = frozenset()
) -> Statistics:
    """The statistics with all groups reduced but those that other parts share still."""
    reduced = dict(statistics.reduced)
    for asked in gathering.needs.groupings:
        if asked.family in statistics.grouped and asked.family not in shared:
            reduced |= _reduced_groups(statistics.grouped[asked.family], [asked], gathering)
    waiting = {scope: cells for scope, cells in statistics.grouped.items() if scope not in reduced}
    return replace(statistics, reduced=reduced, grouped=waiting)


def _reduced_groups(
    cells: GroupedCounts | FoldedGroups, alike: Sequence[Grouping], gathering: Gathering
) -> dict[Scope, Reduced]:
    """What the cells of groups say of families with one hidden part."""
    first = alike[0]  # the others ask the same of another family
    folds = gathering.needs.folds
    if isinstance(cells, GroupedCounts):
        solved = SolvedSamples(first.within(cells))
    else:
        assert folds is not None
        samples = folds.samples if first.replicated else folds.samples[:1]
        solved = solved_samples(first.within, cells, samples)
    families = [asked.family for asked in alike]
    return {family: solved.about(family, gathering.network.shape(family)) for family in families}


def _in_groups(
    gathering: Gathering, table: EncodedTable, progress: Progress
) -> tuple[dict[Scope, Reduced], dict[Scope, GroupedCounts | FoldedGroups]]:
    """What the groups of rows say of each family; of those that parts share, the counts."""
    fold: Scope = () if gathering.needs.folds is None else (FOLD,)
    hidden_part = attrgetter("given", "hidden", "whole")
    hidden_parts = sorted(gathering.needs.groupings, key=hidden_part)
    least = (1 - SHARE_OF_GROUPS) * max(gathering.deadline.left, 0.0) - GRACE

    def of_groups(
        together: list[Grouping],
    ) -> tuple[dict[Scope, Reduced], dict[Scope, GroupedCounts | FoldedGroups]]:
        """What the groups of rows by some variables say; nothing once there is no time."""
        reduced: dict[Scope, Reduced] = {}
        grouped: dict[Scope, GroupedCounts | FoldedGroups] = {}
        if gathering.deadline.left < least:  # a closed form alone has none: it is the start of EM
            return reduced, grouped
        groups, group = group_rows(table, together[0].given)
        mass = None
        if fold:
            mass = count_in_groups(table, groups, group, fold, whole=True)
        for (_, hidden, whole), families in groupby(together, key=hidden_part):
            if gathering.deadline.left < least:
                break
            counts = count_in_groups(
                table=table, groups=groups, group=group, hidden=hidden, whole=whole, fold=fold
            )
            cells = counts if mass is None else FoldedGroups(mass, counts)
            here = []
            for asked in families:
                if asked.family in gathering.shared:  # other parts have rows of these groups too
                    grouped[asked.family] = cells
                else:
                    here.append(asked)
            if here:
                reduced |= _reduced_groups(cells, here, gathering)
        return reduced, grouped

    reduced: dict[Scope, Reduced] = {}
    grouped: dict[Scope, GroupedCounts | FoldedGroups] = {}
    by_given = [list(together) for _, together in groupby(hidden_parts, key=attrgetter("given"))]
    most = gathering.memory / (WORK_BYTES * max(table.rows, 1))
    is_worth = table.rows >= WORTH_A_THREAD
    for reduced_here, waiting in in_threads(of_groups, by_given, most, is_worth=is_worth):
        reduced |= reduced_here
        grouped |= waiting
        progress("grouping", len(reduced) + len(grouped), len(hidden_parts))
    return reduced, grouped


def _added(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value + right[key] for key, value in left.items()}


def _in_both(left: Mapping[Scope, Any], right: Mapping[Scope, Any]) -> dict[Scope, Any]:
    return {scope: value + right[scope] for scope, value in left.items() if scope in right}


def _both(left: Any, right: Any) -> Any:
    return None if left is None or right is None else left + right
