r"""Incomplete data, compiled once for EM: fixed counts and the problems that are left.

Fix the pattern of one row: :math:`O` observed, :math:`M` missing. A missing variable without
an observed descendant is *barren*: summed out, its CPT is one, so the row says nothing about
it and it is left out. Given the observed values the posterior over the rest of :math:`M`
factorises over the connected components of its moral graph. A component :math:`c` enters only
the families that touch it, and these mention, besides :math:`c`, only its neighbours in the
moral graph, the observed *boundary* :math:`b(c)`. So the posterior over :math:`c` depends on
nothing but the value of its boundary, and a row adds to EM

- a count for each family that it shows completely, once and for all, and
- its weight for each of its components, at the boundary value that it has.

Equal components with equal boundary values are one problem, whatever rows they come from.
From then on EM never sees a row. Leaving barren variables out changes neither the likelihood
nor its optima, but the way there: EM that fills them in counts what its own CPTs say, and moves
the slower for it.

The components of all patterns are found at once. Sets of up to 62 variables are integers, and a
component grows from its first variable. Of more variables one graph holds all patterns: a node for
each (pattern, missing variable), an edge where two missing variables of one pattern are in one
family whose child is not barren. Its connected components are those of all patterns.

Components that many rows have are counted one by one, like any table of counts. Those that
few rows have may be thousands: all of them are handled at once, their values end to end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.count import WORTH_A_THREAD
from lacunet.counts.counts import added_up
from lacunet.counts.distinct import distinct, group_equal, ordered_keys, pack_keys
from lacunet.counts.em_problems.cell_layout import Layout, layout_of
from lacunet.counts.em_problems.coarsened_cells import Factors, factors_of, with_factors
from lacunet.counts.em_problems.connected import connected_components
from lacunet.counts.em_problems.ragged import (
    Integers,
    Ragged,
    concatenate_rows,
    concatenated,
    distinct_by_hash,
    group_equal_rows,
    hash64,
)
from lacunet.counts.errors import ScopeError
from lacunet.counts.folds import FOLD
from lacunet.data.table import Codes, EncodedTable
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.threads import in_threads

CELLS_AT_A_TIME = 2**22  # rows x partially observed variables compiled in one go
# What compiling takes for each of these cells: 3 to 146 bytes measured from 10^4 rows on, at most
# 164 below (peaks by tracemalloc: six networks, 30% and 90% of the variables incomplete).
BYTES_A_CELL = 160
MIN_ROWS_AT_A_TIME = 256
PARTS_MERGED_AT_ONCE = 8  # what is merged already is small
PACE_KNOWN = 0.1  # share of the rows after which the pace tells how long all will take
FEW_FOLDS = 4  # whose weights take no more room dense than sparse
MAX_VARIABLES_OF_A_MASK = 62  # their set is a non-negative integer
PIECE = 13  # bits of a mask that are looked up at once: the table stays in the processor's cache
ROWS_WITH_OWN_BOUNDARY = 128  # of a component: its boundary values are counted by themselves


@dataclass(frozen=True, eq=False)
class Problems:
    """What EM needs of the data; the problems of batches, files and machines add up.

    The data may be in several *parts*: where rows are divided into folds, the folds are the parts.
    The order of components and problems depends on the data's content, not on the order of the
    rows.
    """

    layout: Layout  # of the cells of all CPTs, end to end
    fixed: FloatArray  # the counts of families that rows show completely, a column for each part
    members: Ragged  # the missing variables of each distinct component ...
    boundaries: Ragged  # ... and the observed ones around it, or numbers of factors behind these
    component: Integers  # of each problem
    states: Ragged  # of its boundary; of a factor, the number of its vector
    # The weight of each problem, a column for each part; sparse if parts are many, as a problem is
    # in few of them, until samples are taken.
    weights: Any
    rows: int
    totals: FloatArray  # the weight of all rows of each part
    factors: Factors  # what is known of hidden cells

    def __add__(self, other: Problems) -> Problems:
        return merge_problems([self, other])

    def __len__(self) -> int:
        return len(self.component)

    def sampled(self, multiples: FloatArray) -> Problems:
        """The same rows in other parts: a line of ``multiples`` says how much each counts there."""
        return replace(
            self,
            fixed=self.fixed @ multiples.T,
            weights=self.weights @ multiples.T,
            totals=self.totals @ multiples.T,
        )

    def members_of(self, problem: int) -> list[str]:
        """The variables that are missing in a problem."""
        members = self.members.row(int(self.component[problem]))
        return [self.layout.network.variables[index] for index in members]

    @property
    def parts(self) -> int:
        """How many parts the data are in."""
        return len(self.totals)


def compile_problems(
    network: Network,
    table: EncodedTable,
    *,
    prune: bool = True,
    memory: float = inf,
    deadline: Deadline = NEVER,
) -> Problems:
    """Read the data once.

    Parameters
    ----------
    network
        The structure; CPTs are not looked at.
    table
        Its columns may be in any order; those that are no variables are not looked at, except
        for the fold of each row.
    prune
        Whether barren variables are left out. With them, EM makes the steps of the textbook.
    memory
        The bytes that compiling may take beside its result; more rows at a time are faster.
    deadline
        When to give up; it is done sooner, as soon as it is clear that the time will not do.

    Examples
    --------
    Of three rows, one misses A and one misses B, which nothing observed depends on: one
    problem, and one complete row.

    >>> chain = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    >>> columns = {"A": np.array([0, 2, 1], np.uint8), "B": np.array([0, 1, 2], np.uint8)}
    >>> problems = compile_problems(chain, EncodedTable({"A": 2, "B": 2}, columns))
    >>> len(problems), problems.layout.tables(problems.fixed[:, 0])["B"].tolist()
    (1, [[1.0, 0.0], [0.0, 0.0]])
    >>> problems.layout.tables(problems.fixed[:, 0])["A"].tolist()
    [1.0, 1.0]
    """
    layout = layout_of(network.with_tables(None))
    weighing = Weighing.of(table)
    table, factors = with_factor_columns(layout, table)
    cells = min(CELLS_AT_A_TIME, memory / BYTES_A_CELL)
    size = max(MIN_ROWS_AT_A_TIME, int(cells // (1 + len(table.partially_observed))))

    def compiled(start: int) -> Problems:
        deadline.check()
        chunk = table if table.rows <= size else table.take(slice(start, start + size))
        chunk_weighing = weighing.take(slice(start, start + size))
        return _compiled(factors, chunk, chunk_weighing, prune, deadline)

    parts: list[Problems] = []
    left = deadline.left
    starts = range(0, max(table.rows, 1), size)
    at_once = memory / (BYTES_A_CELL * max(cells, 1.0))
    for start, part in zip(starts, in_threads(compiled, starts, at_once), strict=True):
        parts.append(part)
        done = start + size
        if PACE_KNOWN * table.rows <= done < table.rows:
            deadline.check_pace(left, done / table.rows)
        if len(parts) == PARTS_MERGED_AT_ONCE:
            parts = [merge_problems(parts)]
    if len(parts) == 1:
        return parts[0]
    return merge_problems(parts)


def counted_problems(network: Network, table_of: Mapping[str, FloatArray], rows: int) -> Problems:
    """What EM needs where every family is counted among the rows that show it: no problems.

    Parameters
    ----------
    table_of
        For each variable the counts of its family, child last.
    """
    layout = layout_of(network.with_tables(None))
    columns = {name: np.zeros(0, np.uint8) for name in network.variables}
    none = compile_problems(network, EncodedTable(network.cardinality_of, columns))
    fixed = layout.added(table_of)[:, None]
    return replace(none, fixed=fixed, rows=rows, totals=np.array([float(rows)]))


@dataclass(frozen=True)
class Weighing:
    """The weight of each row and its fold, where rows are divided into folds."""

    weights: FloatArray | None  # None where each row weighs one
    fold: Codes | None = None  # None where rows are not divided
    folds: int = 1  # how many there are

    @classmethod
    def of(cls, table: EncodedTable) -> Weighing:
        """That of the rows of a table."""
        if FOLD not in table.columns:
            return cls(table.weights)
        return cls(table.weights, table.columns[FOLD], table.cardinality_of[FOLD])

    def take(self, rows: Any) -> Weighing:
        """That of some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        fold = None if self.fold is None else self.fold[rows]
        return Weighing(weights, fold, self.folds)

    def tabled(self, cell: Integers, cells: int) -> FloatArray:
        """The weight of each cell, a column for each fold."""
        if self.fold is not None:
            cell = cell * self.folds + self.fold
        return added_up(cell, self.weights, cells * self.folds).reshape(cells, self.folds)

    def grouped(self, group: Integers, groups: int) -> Any:
        """The same where most groups have few of the folds: sparse if there are many."""
        if self.fold is None or self.folds <= FEW_FOLDS:
            return self.tabled(group, groups)
        from scipy.sparse import coo_array

        weights = np.ones(len(group)) if self.weights is None else self.weights
        return coo_array((weights, (group, self.fold)), shape=(groups, self.folds)).tocsr()


def with_factor_columns(layout: Layout, table: EncodedTable) -> tuple[EncodedTable, Factors]:
    """The rows over the network's variables and behind them the factors, and these."""
    narrow = replace(table, columns={v: table.columns[v] for v in layout.network.variables})
    return with_factors(narrow), factors_of(layout, table.sets_of)


def _compiled(
    factors: Factors, table: EncodedTable, weighing: Weighing, prune: bool, deadline: Deadline
) -> Problems:
    """The problems of some rows."""
    layout = layout_of(factors.layout.network)
    patterns = patterns_of(table)
    deadline.check()
    components = components_of(patterns, factors.layout, prune)
    deadline.check()
    component, states, weights = boundary_values(table, weighing, patterns, components)
    fixed = np.zeros((layout.cells, weighing.folds))
    counted = in_threads(
        partial(_family_counts, table, weighing),
        layout.network.families,
        is_worth=table.rows >= WORTH_A_THREAD,
    )
    for begin, size, counts in zip(layout.offsets, layout.sizes, counted, strict=True):
        fixed[begin : begin + size] += counts
    (totals,) = weighing.tabled(np.zeros(table.rows, np.int64), 1)
    return Problems(
        layout=layout,
        fixed=fixed,
        members=components.members,
        boundaries=components.boundaries,
        component=component,
        states=states,
        weights=weights,
        rows=table.row_count,
        totals=totals,
        factors=factors,
    )


def merge_problems(parts: Sequence[Problems]) -> Problems:
    """The problems of all batches, equal ones made one."""
    factors = parts[0].factors
    if not all(factors.is_same(part.factors) for part in parts[1:]):
        raise ScopeError(
            "rows that were read with different codes cannot be added up.",
            "read all of them with the same codes.",
        )

    # Equal components have one number, then equal problems: one component, one boundary value.
    members = concatenate_rows([part.members for part in parts])
    boundaries = concatenate_rows([part.boundaries for part in parts])
    first, group = group_equal_rows(concatenated(members, boundaries), members.lengths)
    numbers = []
    components_before = 0
    for part in parts:
        numbers.append(components_before + part.component)
        components_before += len(part.members)
    component = group[np.concatenate(numbers)]
    states = concatenate_rows([part.states for part in parts])
    first_value, value = group_equal_rows(states, component)
    weights = _stacked([part.weights for part in parts])
    return Problems(
        layout=parts[0].layout,
        fixed=np.sum([part.fixed for part in parts], axis=0),
        members=members.take(first),
        boundaries=boundaries.take(first),
        component=component[first_value],
        states=states.take(first_value),
        weights=_added(value, weights, len(first_value)),
        rows=sum(part.rows for part in parts),
        totals=np.sum([part.totals for part in parts], axis=0),
        factors=factors,
    )


def _stacked(weights: Sequence[Any]) -> Any:
    """The weights of several parts, one below the other."""
    if isinstance(weights[0], np.ndarray):
        return np.concatenate(weights)
    from scipy.sparse import vstack

    return vstack(weights, format="csr")


def _added(group: Integers, weights: Any, groups: int) -> Any:
    """The weights of each group added up, in every part."""
    if isinstance(weights, np.ndarray):
        sums = [np.bincount(group, column, minlength=groups) for column in weights.T]
        return np.stack(sums, axis=1)
    from scipy.sparse import csr_array

    is_in = (np.ones(len(group)), (group, np.arange(len(group))))
    return csr_array(is_in, shape=(groups, len(group))) @ weights


def _family_counts(table: EncodedTable, weighing: Weighing, family: Scope) -> FloatArray:
    """The counts of a family among the rows that show all of it."""
    sizes = [table.cardinality_of[name] for name in family]
    columns = [table.columns[name] for name in family]
    if any(table.missing_of[name] for name in family):
        shown = np.flatnonzero(table.is_shown(family))
        columns = [column[shown] for column in columns]
        weighing = weighing.take(shown)
    return weighing.tabled(pack_keys(columns, sizes, len(columns[0])), prod(sizes))


@dataclass(frozen=True)
class DistinctPatterns:
    """The distinct patterns."""

    missing: NDArray[np.bool_]  # which variables each misses
    rows: Ragged  # that have it


@dataclass(frozen=True)
class PatternComponents:
    """The distinct components with their boundaries, and every occurrence in a pattern."""

    members: Ragged
    boundaries: Ragged
    component: Integers  # of each occurrence
    pattern: Integers  # in which it occurs


def patterns_of(table: EncodedTable) -> DistinctPatterns:
    """The distinct patterns of missing variables among the rows."""
    index_of = {name: index for index, name in enumerate(table.variables)}
    partial = table.partially_observed
    is_missing = [
        (table.columns[name] == table.cardinality_of[name]).view(np.uint8) for name in partial
    ]
    keys, bound = ordered_keys(is_missing[::-1], [2] * len(partial), table.rows)
    uniques, group = distinct(keys, bound)
    rows = Ragged.of_owners(len(uniques), group)
    first = rows.items[rows.starts[:-1]]  # row of each pattern
    missing = np.zeros((len(first), len(index_of)), dtype=bool, order="F")
    for name, column in zip(partial, is_missing, strict=True):
        missing[:, index_of[name]] = column[first]
    return DistinctPatterns(missing, rows)


def components_of(
    patterns: DistinctPatterns, layout: Layout, prune: bool, asked: Integers | None = None
) -> PatternComponents:
    """The connected components of what each pattern misses, with their boundaries.

    Parameters
    ----------
    prune
        Whether barren variables are left out.
    asked
        Places of variables that something is asked about: they and their ancestors stay.
    """
    barren = _barren(patterns.missing, layout, prune, asked)
    missing = patterns.missing & ~barren
    if len(layout.axes) <= MAX_VARIABLES_OF_A_MASK:
        return _by_masks(missing, barren, layout)
    return _by_nodes(missing, barren, layout)


def _by_masks(
    missing: NDArray[np.bool_], barren: NDArray[np.bool_], layout: Layout
) -> PatternComponents:
    """The components where a set of variables is an integer, one bit for each.

    A component begins with a variable and grows by all that the families of its variables mention,
    in all patterns at once, until none grows; then comes the next one of each pattern.
    """
    hidden = _masks(missing)  # the missing variables of each pattern
    entering = ~_masks(barren)  # the children whose families enter it
    axes = layout.axes
    bits = np.left_shift(1, np.arange(len(axes)))
    mentioned = _unions(np.bitwise_or.reduceat(bits[axes.items], axes.starts[:-1]))
    own_families = np.zeros_like(bits)
    np.bitwise_or.at(own_families, axes.items, bits[axes.owners])
    families = _unions(own_families)

    # The next component of each pattern that has one: the pattern, its variables, its families.
    rounds: list[tuple[Integers, Integers, Integers]] = []
    left = hidden.copy()
    patterns = np.flatnonzero(left)
    while len(patterns):
        rest = left[patterns]
        least = rest & -rest  # the least variable
        whole, touched = _grown(least, hidden[patterns], entering[patterns], families, mentioned)
        rounds.append((patterns, whole, touched))
        rest = rest & ~whole
        left[patterns] = rest
        patterns = patterns[rest != 0]

    # All components, pattern after pattern.
    number = np.zeros(len(hidden), dtype=np.int64)  # of the components of each pattern
    for turn in rounds:
        number[turn[0]] += 1
    starts = np.cumsum(number) - number
    every = np.empty((3, int(number.sum())), dtype=np.int64)
    for before, turn in enumerate(rounds):
        every[:, starts[turn[0]] + before] = turn
    pattern, whole, touched = every

    # The distinct ones: first by the sets as integers, then by what they are.
    chosen, component = distinct_by_hash(
        lambda salt: hash64(hash64(whole, salt) ^ touched.astype(np.uint64), salt),
        lambda others: np.array_equal(every[1:], every[1:, others]),
    )
    whole = whole[chosen]
    touched = touched[chosen]
    members = _listed(whole)
    touching = _touching(members, layout, lambda owner, child: (touched[owner] >> child) & 1)
    first, group = group_equal_rows(concatenated(members, touching), members.lengths)
    boundaries = _listed(_union(touched, mentioned)[first] & ~whole[first])
    return PatternComponents(members.take(first), boundaries, group[component], pattern)


def _grown(
    members: Integers,
    hidden: Integers,
    entering: Integers,
    families: Sequence[Integers],
    mentioned: Sequence[Integers],
) -> tuple[Integers, Integers]:
    """Each set with all that is connected to it, and the families that touch that."""
    members = members.copy()
    touched = np.empty_like(members)
    grows = np.arange(len(members))
    while len(grows):
        before = members[grows]
        touching = _union(before, families) & entering[grows]
        after = _union(touching, mentioned) & hidden[grows]
        touched[grows] = touching
        members[grows] = after
        grows = grows[after != before]
    return members, touched


def _masks(holds: NDArray[np.bool_]) -> Integers:
    """Each row as an integer, one bit for each column."""
    masks = np.zeros(len(holds), dtype=np.int64)
    for bit in range(holds.shape[1]):
        masks |= holds[:, bit].astype(np.int64) << bit
    return masks


def _listed(masks: Integers) -> Ragged:
    """The places of the bits that are set in each integer."""
    bits = np.unpackbits(masks.view(np.uint8).reshape(len(masks), 8), axis=1, bitorder="little")
    places = np.flatnonzero(bits.view(bool)) & 63
    return Ragged.of_lengths(np.bitwise_count(masks).astype(np.int64), places)


def _unions(sets: Integers) -> list[Integers]:
    """Tables of the unions of some sets, by which of them are taken: one for each piece."""
    tables = []
    for start in range(0, len(sets), PIECE):
        table = np.zeros(1, dtype=np.int64)
        for mask in sets[start : start + PIECE]:
            table = np.concatenate([table, table | mask])
        tables.append(table)
    return tables


def _union(taken: Integers, tables: Sequence[Integers]) -> Integers:
    """The union of the sets that are taken."""
    union = np.zeros(len(taken), dtype=np.int64)
    for piece, table in enumerate(tables):
        union |= table.take((taken >> (piece * PIECE)) & (len(table) - 1))
    return union


def _by_nodes(
    missing: NDArray[np.bool_], barren: NDArray[np.bool_], layout: Layout
) -> PatternComponents:
    """The components of any number of variables, in one graph of all patterns."""
    missing = np.asfortranarray(missing)
    pattern, variable = np.nonzero(missing)
    label, labels = _labels(missing, barren, layout)
    pattern_of = np.empty(labels, dtype=np.int64)
    pattern_of[label] = pattern
    members = Ragged.of_owners(labels, label, variable)  # by component; its variables ascending
    touching = _touching(members, layout, lambda owner, child: ~barren[pattern_of[owner], child])
    first, group = group_equal_rows(concatenated(members, touching), members.lengths)
    members = members.take(first)
    families = concatenated(members, touching.take(first))
    return PatternComponents(members, _boundaries(members, families, layout), group, pattern_of)


def _touching(
    members: Ragged, layout: Layout, enters: Callable[[Integers, Integers], NDArray[Any]]
) -> Ragged:
    """The children of each component's variables whose families touch it.

    ``enters`` says of components and children whether the families of these enter.
    """
    children = layout.children.take(members.items)
    owner = np.repeat(members.owners, children.lengths)
    entering = np.flatnonzero(enters(owner, children.items))
    lengths = np.bincount(owner[entering], minlength=len(members))
    return Ragged.of_lengths(lengths, children.items[entering])


def _barren(
    missing: NDArray[np.bool_], layout: Layout, prune: bool, asked: Integers | None = None
) -> NDArray[np.bool_]:
    """Which missing variables have no observed descendant, for each pattern.

    A factor that a row does not have is barren always.
    """
    barren = np.array(missing, order="F")
    variables = len(layout.network.variables)
    if not prune:
        barren[:, :variables] = False
        return barren
    if asked is not None:
        barren[:, asked] = False
    # Children before parents: a variable is barren if it is missing and all its children are.
    for factor in range(variables, len(layout.axes)):
        barren[:, layout.axes.row(factor)[0]] &= barren[:, factor]
    index_of = {name: index for index, name in enumerate(layout.network.variables)}
    for name in reversed(layout.network.order):
        for parent in layout.network.parents(name):
            barren[:, index_of[parent]] &= barren[:, index_of[name]]
    return barren


def _labels(
    missing: NDArray[np.bool_], barren: NDArray[np.bool_], layout: Layout
) -> tuple[Integers, int]:
    """The component of each (pattern, missing variable), and how many there are."""
    nodes = int(np.count_nonzero(missing))
    node = np.zeros(missing.shape, dtype=np.int32 if nodes < 2**31 else np.int64)
    node[missing] = np.arange(nodes)
    sometimes: NDArray[np.bool_] = np.asarray(missing.any(axis=0))
    lefts = [node[:0, 0]]
    rights = [node[:0, 0]]
    for child in range(len(layout.axes)):
        family = layout.axes.row(child)
        for left, right in combinations(np.sort(family[sometimes[family]]), 2):
            both = np.flatnonzero(missing[:, left] & missing[:, right] & ~barren[:, child])
            lefts.append(node[both, left])
            rights.append(node[both, right])
    labels, label = connected_components(nodes, np.concatenate(lefts), np.concatenate(rights))
    return label, labels


def _boundaries(members: Ragged, families: Ragged, layout: Layout) -> Ragged:
    """What the families of each component mention besides it, ascending."""
    mentioned = layout.axes.take(families.items)
    owner = families.owners[mentioned.owners]
    beside = members.find(owner, mentioned.items) < 0
    return Ragged.of_pairs(len(members), owner[beside], mentioned.items[beside])


# Values of the boundaries: whose component each is of, its states, its weight.
Values = tuple[Integers, Ragged, Any]


def boundary_values(
    table: EncodedTable,
    weighing: Weighing,
    patterns: DistinctPatterns,
    components: PatternComponents,
) -> Values:
    """The distinct values of every component's boundary, with their weights."""
    rows_of_pattern = patterns.rows.lengths
    rows_of_component = np.bincount(
        components.component,
        rows_of_pattern[components.pattern],
        minlength=len(components.members),
    )
    has_many = rows_of_component >= ROWS_WITH_OWN_BOUNDARY
    parts = []
    if not has_many.any() or not has_many.all():
        parts.append(_of_rare(table, weighing, patterns, components, ~has_many))
    of_component = Ragged.of_owners(len(has_many), components.component, components.pattern)

    def of_common(component: int) -> Values:
        rows = patterns.rows.take(of_component.row(component)).items
        boundary = components.boundaries.row(component)
        return _of_common(table, weighing.take(rows), component, rows, boundary)

    common = np.flatnonzero(has_many).tolist()
    parts += in_threads(of_common, common, is_worth=table.rows >= WORTH_A_THREAD)
    component_of, states, weights = zip(*parts, strict=True)
    return np.concatenate(component_of), concatenate_rows(states), _stacked(weights)


def _of_common(
    table: EncodedTable,
    weighing: Weighing,
    component: int,
    rows: Integers,
    boundary: Integers,
) -> Values:
    """Count the values of one boundary among the rows that have the component."""
    names = [table.variables[index] for index in boundary]
    columns = [table.columns[name][rows] for name in names]
    group, member = group_equal(columns, [table.cardinality_of[name] for name in names], len(rows))
    states = np.empty((len(member), len(names)), dtype=np.int64)
    for index, column in enumerate(columns):
        states[:, index] = column[member]
    lengths = np.full(len(states), len(names))
    sums = weighing.grouped(group, len(states))
    return np.full(len(states), component), Ragged.of_lengths(lengths, states.ravel()), sums


def _of_rare(
    table: EncodedTable,
    weighing: Weighing,
    patterns: DistinctPatterns,
    components: PatternComponents,
    is_rare: NDArray[np.bool_],
) -> Values:
    """Every row's value of the boundaries of its rare components, made distinct."""
    chosen = np.flatnonzero(is_rare[components.component])
    rows = patterns.rows.take(components.pattern[chosen])
    component = components.component[chosen][rows.owners]
    variables = components.boundaries.take(component)
    codes = np.stack([table.columns[name] for name in table.variables], axis=1)
    values = codes[rows.items[variables.owners], variables.items]
    states = Ragged(variables.starts, values.astype(np.int64))
    first, group = group_equal_rows(states, component)
    sums = weighing.take(rows.items).grouped(group, len(first))
    return component[first], states.take(first), sums
