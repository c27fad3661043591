r"""How much each row moves what deletion estimates: influence functions, which add up over rows.

Deletion estimates the weight of each cell of a family, :math:`T_y = N P(y)`, from sums over rows,
so that a row of weight :math:`w` moves it by :math:`w \varphi(y)` with

.. math::
    \varphi(y) = \frac{\partial T_y}{\partial w}, \qquad \sum w \varphi(y) = T_y .

Rows of a group :math:`g` that show the same of :math:`Y_m`, their pattern :math:`z`, move the cells
of the group alike. One row more makes the group larger, and moves what the group says:

.. math::
    \varphi_z(y) = P_g(y) + n_g k_g \frac{\partial P_g(y)}{\partial w_z} .

In direct deletion :math:`\partial P_g(y) / \partial w_z = (1[y = z] - P_g(y)) / m_g`, where
:math:`m_g` is the weight of the rows that show all of :math:`Y_m`; in factored deletion it is
the sum of the slopes of the lattice by all numbers of rows that :math:`z` is counted in. With

.. math::
    k_g^2 = \frac{n_g - 1}{n_g} \frac{m_g}{m_g - 1}

in effective rows, the variance within groups is unbiased. A group with one such row has no
variance of its own: that row then stands for all rows of the group, which overstates.

Where groups do not tell, the estimate without groups stands in for a share of each cell
(`lacunet.learning.closed_forms.by_groups`). A row moves both the one and the other.

Of an answer :math:`q` with the derivatives :math:`\partial q / \partial T_y` in all families, each
row moves :math:`\sum \varphi(y) \, \partial q / \partial T_y`, summed over families before it is
squared: the errors of CPTs that come from the same rows go together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.count import count
from lacunet.counts.counts import Tally, added_up, quotient
from lacunet.counts.distinct import Index, Keys, distinct, group_equal, pack_keys, unpack
from lacunet.counts.em_problems.ragged import Ragged, ranges, runs
from lacunet.counts.family_sums import Reduced, Solved, SolvedSamples
from lacunet.counts.groups import GroupedCounts, Groups, group_rows
from lacunet.data.table import Codes, Copies, EncodedTable, code_type, share_equal_arrays
from lacunet.learning.closed_forms.by_groups import fallen_weight
from lacunet.learning.closed_forms.direct import direct_mar
from lacunet.learning.closed_forms.factored import rows_in_groups, rows_in_table, solve_groups
from lacunet.learning.closed_forms.lattice import Axes, lattice_slopes
from lacunet.learning.plan import Estimated
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.delta import AnsweredQuery, centred, with_pseudo_rows
from lacunet.network.network import FloatArray, Network, Scope, Tables

MAX_PAIRS = 2**22  # of a pattern and a cell of the same group, laid out at a time
LONE_ROWS = 1 + 1e-9  # so many effective rows that tell of a group stand for all of it
NO_INDEX: Index = np.zeros(0, np.intp)

GroupsBy = Callable[[Scope], tuple[Groups, Index]]  # the groups by some variables, and each row's


@dataclass(frozen=True, eq=False)
class Moves:
    r"""What rows of unit weight move the weight of each cell of a family by: :math:`\varphi(y)`.

    Rows of one kind move all cells alike, and few of them. So each kind lists the cells that it
    moves: an entry is an ``owner``, a ``cell`` and a ``value``.

    Where the estimate without groups stands in, rows move every cell, but rows of many kinds move
    them alike: these are a class, and :math:`\varphi` is what the kind moves by plus what its
    class moves by.
    """

    kind: Index  # of each row
    tally: Tally  # of the rows of each kind
    owner: Index  # the kind that each entry is of
    cell: Keys  # the cell of the family's table that it moves
    value: FloatArray  # and by how much
    shape: tuple[int, ...]  # of the table, child last
    class_of: Index | None = None  # the class of each kind, where there are classes
    common: FloatArray | None = None  # what a class moves each cell by: classes times cells

    @property
    def kinds(self) -> int:
        """How many there are."""
        return len(self.tally.weights)

    def along(self, direction: FloatArray) -> FloatArray:
        """What each row moves the sum of all cells by, each times a number of its own."""
        flat = direction.reshape(-1)
        of_kind = added_up(self.owner, self.value * flat[self.cell], self.kinds)
        if self.common is not None:
            of_kind += (self.common @ flat)[self.class_of]
        return of_kind[self.kind]

    def weights(self, rows: FloatArray | None = None) -> FloatArray:
        """The weight of each cell; ``rows`` has that of each row, if it is another."""
        of_kind = self.tally.weights
        if rows is not None:
            of_kind = added_up(self.kind, rows, self.kinds)
        cells = added_up(self.cell, of_kind[self.owner] * self.value, prod(self.shape))
        if self.common is not None:
            cells += self._by_class(of_kind) @ self.common
        return cells.reshape(self.shape)

    def numerator(self, rates: FloatArray) -> FloatArray:
        r"""The variance of each CPT entry times :math:`T_u^2`.

        That is :math:`\sum w^2 (\varphi(x, u) - \theta \varphi(u))^2`, a polynomial in
        :math:`\theta`: the sums of :math:`\varphi(x, u)^2`, of :math:`\varphi(x, u) \varphi(u)` and
        of :math:`\varphi(u)^2` over rows are its coefficients.

        Parameters
        ----------
        rates
            The entries, :math:`\theta`.
        """
        cells = prod(self.shape)
        states = self.shape[-1]
        configurations = cells // states
        of_kind = self.tally.squares  # the sum of w^2 over its rows

        # First what kinds move by themselves. In the names, `squares_of_cells` is the sum of
        # phi(x, u)^2, `cross` that of phi(x, u) phi(u), and `squares_of_rows` that of phi(u)^2.
        row = self.cell // states  # u
        owner_of_sum, row_of_sum, sum_of = self._sums_over_states(row, configurations)
        sums = added_up(sum_of, self.value, len(row_of_sum))  # phi(u)
        weighted = of_kind[self.owner] * self.value
        weighted_sums = of_kind[owner_of_sum] * sums
        squares_of_cells = added_up(self.cell, weighted * self.value, cells)
        cross = added_up(self.cell, weighted * sums[sum_of], cells)
        squares_of_rows = added_up(row_of_sum, weighted_sums * sums, configurations)

        # With classes, phi is a + b, of the kind and of its class: each product of two is
        # aa + ab + ba + bb. The first is there; the last is summed over classes, not over kinds.
        if self.common is not None and self.class_of is not None:
            common = self.common
            classes = len(common)
            of_class = self._by_class(of_kind)
            common_rows = common.reshape(classes, configurations, states).sum(axis=-1)
            class_of_entry = self.class_of[self.owner]
            class_of_sum = self.class_of[owner_of_sum]

            both = weighted * common[class_of_entry, self.cell]
            squares_of_cells += 2 * added_up(self.cell, both, cells)
            squares_of_cells += of_class @ common**2

            cross += added_up(self.cell, weighted * common_rows[class_of_entry, row], cells)
            places = class_of_sum * configurations + row_of_sum
            by_class = added_up(places, weighted_sums, classes * configurations)
            by_class = by_class.reshape(classes, configurations) + of_class[:, None] * common_rows
            cross += (common * np.repeat(by_class, states, axis=1)).sum(axis=0)

            both_rows = weighted_sums * common_rows[class_of_sum, row_of_sum]
            squares_of_rows += 2 * added_up(row_of_sum, both_rows, configurations)
            squares_of_rows += of_class @ common_rows**2

        theta = rates.reshape(configurations, states)
        polynomial = (
            squares_of_cells.reshape(theta.shape)
            - 2 * theta * cross.reshape(theta.shape)
            + theta**2 * squares_of_rows[:, None]
        )
        # A sum of squares; the polynomial may miss zero by a rounding error.
        return np.maximum(polynomial, 0.0).reshape(self.shape)

    def _sums_over_states(self, row: Keys, configurations: int) -> tuple[Index, Keys, Index]:
        """Each kind and CPT row with a cell that moves, and the index among these of each cell."""
        # Most kinds move one cell: what is summed is that cell, and need not be looked for.
        is_alone = np.bincount(self.owner, minlength=self.kinds)[self.owner] == 1
        alone = np.flatnonzero(is_alone)
        others = np.flatnonzero(~is_alone)
        keys, places = distinct(
            self.owner[others] * configurations + row[others], self.kinds * configurations
        )
        owner_of_others, row_of_others = np.divmod(keys, configurations)
        index = np.empty(len(row), np.intp)
        index[alone] = np.arange(len(alone))
        index[others] = len(alone) + places
        return (
            np.concatenate([self.owner[alone], owner_of_others]),
            np.concatenate([row[alone], row_of_others]),
            index,
        )

    def _by_class(self, of_kind: FloatArray) -> FloatArray:
        """Values of kinds, added up over those of each class."""
        assert self.class_of is not None
        assert self.common is not None
        return added_up(self.class_of, of_kind, len(self.common))

    def dense(self) -> FloatArray:
        """What each kind moves each cell by, where there is nothing common."""
        cells = prod(self.shape)
        table = added_up(self.owner * cells + self.cell, self.value, self.kinds * cells)
        return table.reshape(self.kinds, cells)


def moves_of(
    rows: EncodedTable,
    network: Network,
    estimated: Estimated,
    groups_by: GroupsBy | None = None,
) -> Moves:
    """How much each row moves the weight of each cell of a family.

    Parameters
    ----------
    groups_by
        Groups the rows, if that is remembered from one family to the next.
    """
    family = estimated.family
    hidden = estimated.hidden
    shape = network.shape(family)
    if not hidden:  # each row is in its cell, and moves no other
        columns = [rows.columns[name] for name in family]
        cell = pack_keys(columns, shape, rows.rows)
        every = np.arange(prod(shape))
        tally = Tally.of(rows, cell, len(every))
        return Moves(
            kind=cell, tally=tally, owner=every, cell=every, value=np.ones(len(every)), shape=shape
        )
    if not estimated.is_grouped:
        return _moves_everywhere(rows, network, estimated)

    if groups_by is None:
        groups_by = partial(group_rows, rows)
    patterns = _patterns(rows, network, hidden, groups_by(estimated.given))
    within = _within_groups(patterns, estimated)
    moves = _moves_within(patterns, within, family, shape)
    groups = within.solved.about(family, shape)[0]
    if not fallen_weight(groups).any():
        return moves
    # Rows of a kind are alike in all variables of the family.
    stand_in = _stand_in(patterns.table(network, family), network, estimated)
    return _with_stand_in(
        moves=moves,
        family=family,
        patterns=patterns,
        within=within,
        stand_in=stand_in,
        groups=groups,
    )


def _stand_in(rows: EncodedTable, network: Network, estimated: Estimated) -> Moves:
    """What rows move the estimate by that knows no groups."""
    if estimated.form == "factored":
        return _moves_everywhere(rows, network, estimated)
    family = estimated.family
    patterns = _patterns(rows, network, family, group_rows(rows, ()))
    within = _within_groups(patterns, replace(estimated, hidden=family, given=()))
    return _moves_within(patterns, within, family, network.shape(family))


def _with_stand_in(
    moves: Moves,
    family: Scope,
    patterns: RowPatterns,
    within: Within,
    stand_in: Moves,
    groups: Reduced,
) -> Moves:
    r"""What rows move by where the estimate without groups, :math:`F`, stands in for some.

    It adds :math:`N F(y) s_y` to each cell, with :math:`s_y = \sum_g n_g f_g(y) / \sum_g n_g` over
    the groups that agree with the cell in what all rows show, :math:`f_g(y)` being 1 where group
    :math:`g` does not tell. A row moves :math:`F`, and :math:`s_y` by
    :math:`(f_g(y) - s_y) / \sum_g n_g`. What is a row to ``stand_in`` is a kind of ``moves``.
    """
    shape = moves.shape
    size = prod(shape)
    solved = within.solved.whole
    cells = patterns.cells

    # s_y of each cell, and N F(y) over the sum of n_g, where s_y is not zero.
    share = np.broadcast_to(quotient(fallen_weight(groups), groups.observed), shape).reshape(-1)
    weights = stand_in.weights()  # N F(y)
    observed_weights = np.broadcast_to(groups.observed, shape)
    each = quotient(weights, observed_weights).reshape(-1)
    each = np.where(share > 0, each, 0.0)

    # A class: rows of one kind for the estimate without groups, and of groups that tell of every
    # cell or of groups that tell of none. Rows of a kind are of one group, so of one class.
    tells = np.zeros(len(cells.groups.weights), np.intp)
    if solved.reached is None:
        tells[within.shown.group] = 1
    keys = stand_in.kind * 2 + tells[cells.group]
    classes, class_of = distinct(keys, stand_in.kinds * 2)
    kind_of_stand_in, class_tells = np.divmod(classes, 2)

    # What a class moves each cell by: F, everywhere; s_y, in the cells that agree with its group
    # in what all rows show.
    observed = [axis for axis, name in enumerate(family) if name not in cells.scope]
    columns = unpack(np.arange(size), shape)
    sizes = [shape[axis] for axis in observed]
    place_of_cell = pack_keys([columns[axis] for axis in observed], sizes, size)
    place_of_kind = cells.groups.in_table([family[axis] for axis in observed])[cells.group]
    place_of_class = np.empty(len(classes), np.int64)
    place_of_class[class_of] = place_of_kind
    is_own = place_of_class[:, None] == place_of_cell
    common = stand_in.dense()[kind_of_stand_in] * share
    common += np.where(is_own, each * (1.0 - class_tells[:, None] - share), 0.0)
    if solved.reached is None:
        return replace(moves, class_of=class_of, common=common)

    # Some groups tell of some cells: there f_g(y) is 0, though the class has taken it as 1.
    reached = solved.reached.in_family(family, shape)
    kept = np.flatnonzero(each[reached] > 0)
    by_group = Ragged.of_owners(len(cells.groups.weights), solved.reached.group[kept], kept)
    lengths = by_group.lengths[cells.group]
    item = by_group.items[ranges(by_group.starts[cells.group], lengths)]
    owners = np.concatenate([moves.owner, np.repeat(np.arange(moves.kinds), lengths)])
    moved_cells = np.concatenate([moves.cell, reached[item]])
    values = np.concatenate([moves.value, -each[reached[item]]])
    keys, index = distinct(owners * size + moved_cells, moves.kinds * size)
    owner, cell = np.divmod(keys, size)
    value = added_up(index, values, len(keys))
    return Moves(
        kind=moves.kind,
        tally=moves.tally,
        owner=owner,
        cell=cell,
        value=value,
        shape=shape,
        class_of=class_of,
        common=common,
    )


@dataclass(frozen=True, eq=False)
class RowPatterns:
    """What the rows of each group show of some variables, if only nothing."""

    cells: GroupedCounts  # one entry for each pattern of each group
    kind: Index  # the entry of each row
    columns: Sequence[NDArray[np.integer]]  # the value of each variable in each pattern

    def table(self, network: Network, family: Scope) -> EncodedTable:
        """A row for each pattern, which stands for all its rows."""
        cells = self.cells
        groups = cells.groups
        values: dict[str, NDArray[np.integer]] = dict(zip(cells.scope, self.columns, strict=True))
        for name, column in zip(groups.scope, groups.configs, strict=True):
            if name in family:
                values[name] = column[cells.group]
        sizes = {name: network.cardinality(name) for name in family}
        codes: dict[str, Any] = {v: values[v].astype(code_type(sizes[v])) for v in family}
        tally = cells.tally
        return EncodedTable(sizes, codes, tally.weights, copies=Copies(tally.rows, tally.squares))


def _patterns(
    rows: EncodedTable, network: Network, hidden: Scope, grouping: tuple[Groups, Index]
) -> RowPatterns:
    """The patterns of ``hidden`` in groups of rows."""
    groups, group = grouping
    sizes = network.shape(hidden)
    columns: list[NDArray[np.integer]] = [rows.columns[name] for name in hidden]
    values = [size + 1 for size in sizes]  # the last one: missing
    kind, member = group_equal([group, *columns], [len(groups.weights), *values], rows.rows)
    keys = pack_keys([column[member] for column in columns], values, len(member))
    tally = Tally.of(rows, kind, len(member))
    cells = GroupedCounts(
        groups=groups,
        scope=hidden,
        cardinalities=sizes,
        group=group[member],
        cells=keys,
        tally=tally,
    )
    return RowPatterns(cells, kind, [column[member] for column in columns])


@dataclass(frozen=True, eq=False)
class Within:
    """What groups say of the cells that some of their rows show."""

    shown: GroupedCounts  # these cells
    columns: Sequence[NDArray[np.integer]]  # the value of each variable in each
    joint: FloatArray  # P_g(y) of each
    # The derivative of `joint` by the weight of the rows that show some variables and agree with
    # the cell on others.
    slopes: Mapping[tuple[Axes, Axes], FloatArray]
    tells: NDArray[np.bool_]  # the patterns that say anything
    solved: SolvedSamples  # what the groups add up to


def _within_groups(patterns: RowPatterns, estimated: Estimated) -> Within:
    """What the groups say by direct or by factored deletion."""
    cells = patterns.cells
    is_shown = [c < size for c, size in zip(patterns.columns, cells.cardinalities, strict=True)]
    shows_all = np.flatnonzero(np.logical_and.reduce(is_shown))
    shown = cells.take(shows_all)
    columns = [column[shows_all] for column in patterns.columns]
    if estimated.form == "direct":
        # P_g(y) is n(y) over m_g, the rows that show all.
        solved = direct_mar(shown)
        tells = np.logical_and.reduce(is_shown)
        shown_weights = added_up(shown.group, shown.tally.weights, len(shown.groups.weights))
        by_cell = 1 / shown_weights[shown.group]
        joint = shown.tally.weights * by_cell
        every = tuple(range(len(cells.scope)))
        slopes = {(every, every): by_cell, (every, ()): -by_cell * joint}
    else:
        tells = np.logical_or.reduce(is_shown)
        number = rows_in_groups(cells)
        joint, slopes = lattice_slopes(cells.cardinalities, number, estimated.aggregation)
        solved = solve_groups(shown, joint)
    return Within(
        shown=shown,
        columns=columns,
        joint=joint,
        slopes=slopes,
        tells=tells,
        solved=SolvedSamples(solved),
    )


def _moves_within(
    patterns: RowPatterns, within: Within, family: Scope, shape: tuple[int, ...]
) -> Moves:
    r"""What rows move the cells of their groups by.

    .. math::
        \varphi_z(y) = P_g(y) + n_g k_g \frac{\partial P_g(y)}{\partial w_z}
    """
    cells = patterns.cells
    shown = within.shown
    index = shown.in_family(family, shape)
    group_weights = cells.groups.weights  # n_g
    factor, is_lone = _spread_up(cells, within.tells)  # k_g
    owners = [NO_INDEX]
    places = [NO_INDEX]
    values = [np.zeros(0)]
    for pattern, cell, slope in _pairs(patterns, within):
        group = cells.group[pattern]
        value = within.joint[cell] + group_weights[group] * factor[group] * slope
        # One row tells of its group: it stands for all of it.
        is_own = cells.cells[pattern] == shown.cells[cell]
        all_of_group = is_own * group_weights[group] / shown.tally.weights[cell]
        value = np.where(is_lone[group], all_of_group, value)
        kept = np.flatnonzero(value)
        owners.append(pattern[kept])
        places.append(index[cell[kept]])
        values.append(value[kept])
    return Moves(
        patterns.kind,
        tally=cells.tally,
        owner=np.concatenate(owners),
        cell=np.concatenate(places),
        value=np.concatenate(values),
        shape=shape,
    )


def _spread_up(
    cells: GroupedCounts, tells: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    r"""The factor :math:`k_g` of each group, and whether one row alone tells of it.

    .. math::
        k_g^2 = \frac{n_g - 1}{n_g} \frac{m_g}{m_g - 1}

    in effective rows, :math:`(\sum w)^2 / \sum w^2`.
    """
    groups = len(cells.groups.weights)
    tally = cells.tally

    def effective(chosen: NDArray[np.bool_] | slice) -> FloatArray:
        weights = added_up(cells.group[chosen], tally.weights[chosen], groups)
        if tally.squares is tally.weights:  # each row weighs one
            return weights
        squares = added_up(cells.group[chosen], tally.squares[chosen], groups)
        return quotient(weights**2, squares)

    rows = effective(slice(None))  # n_g
    telling = effective(tells)  # m_g
    squared = quotient((rows - 1).clip(0) * telling, rows * (telling - 1).clip(0))
    return np.sqrt(squared), telling <= LONE_ROWS


def _pairs(patterns: RowPatterns, within: Within) -> Iterator[tuple[Index, Index, FloatArray]]:
    r"""Every pattern with every cell of its group, and :math:`\partial P_g(y) / \partial w_z`."""
    group = patterns.cells.group
    sizes = patterns.cells.cardinalities
    starts, lengths = within.shown.entries
    length = lengths[group]  # the cells that each pattern is paired with
    for begin, end in runs(np.cumsum(length) // MAX_PAIRS):
        pattern = np.repeat(np.arange(begin, end), length[begin:end])
        cell = ranges(starts[group[begin:end]], length[begin:end])
        shows = []
        agrees = []
        for in_pattern, in_cell, size in zip(patterns.columns, within.columns, sizes, strict=True):
            value = in_pattern[pattern]
            shows.append(value < size)
            agrees.append(value == in_cell[cell])
        # A pattern is counted in all numbers of rows that show no more than it does.
        slope = np.zeros(len(pattern))
        for (show, agree), by_cell in within.slopes.items():
            tests = [agrees[axis] if axis in agree else shows[axis] for axis in show]
            slope += np.logical_and.reduce(tests) * by_cell[cell]
        yield pattern, cell, slope


def _moves_everywhere(rows: EncodedTable, network: Network, estimated: Estimated) -> Moves:
    """What rows move the factored estimate by that knows no groups: it has every cell."""
    family = estimated.family
    shape = network.shape(family)
    patterns = _patterns(rows, network, family, group_rows(rows, ()))
    (counts,) = count(rows, [family]).values()
    number = rows_in_table(counts)
    joint, slopes = lattice_slopes(shape, number, estimated.aggregation)
    slopes = {key: np.broadcast_to(slope, shape).reshape(-1) for key, slope in slopes.items()}

    # All cells of the table, as if rows of one group showed each.
    cells = prod(shape)
    radices = [size + 1 for size in shape]
    columns = unpack(np.arange(cells), shape)
    keys = pack_keys(columns, radices, cells)
    ones = np.ones(cells)
    group = np.zeros(cells, np.intp)
    shown = GroupedCounts(
        groups=patterns.cells.groups,
        scope=family,
        cardinalities=shape,
        group=group,
        cells=keys,
        tally=Tally(ones, ones, ones),
    )
    all_missing = prod(radices) - 1
    tells = patterns.cells.cells < all_missing
    solved = SolvedSamples(Solved(shown, None))
    within = Within(
        shown=shown,
        columns=columns,
        joint=np.ravel(joint),
        slopes=slopes,
        tells=tells,
        solved=solved,
    )
    return _moves_within(patterns, within, family, shape)


@dataclass(frozen=True, eq=False)
class RowInfluence:
    """How the entries of CPTs vary together, by what each row moves them by."""

    network: Network
    columns: Mapping[str, Codes]  # the distinct rows
    weights: FloatArray  # of the copies of each, added up
    squares: FloatArray  # their squared weights, added up
    estimated_of: Mapping[str, Estimated]  # how each CPT is estimated
    pseudo_of: Tables  # the pseudo-counts of its cells
    degrees: ClassVar[float] = np.inf  # of freedom: the variances are taken as known

    @classmethod
    def of(
        cls,
        network: Network,
        rows: EncodedTable,
        estimated_of: Mapping[str, Estimated],
        pseudo_of: Tables,
    ) -> RowInfluence:
        """That of the distinct rows of a table."""
        squares = rows.row_weights**2 if rows.copies is None else rows.copies.squares
        return cls(network, rows.columns, rows.row_weights, squares, estimated_of, pseudo_of)

    @property
    def rows(self) -> EncodedTable:
        """The distinct rows."""
        weights, _, squares = share_equal_arrays(self.weights, self.weights, self.squares)
        sizes = {name: self.network.cardinality(name) for name in self.columns}
        return EncodedTable(sizes, self.columns, weights, copies=Copies(weights, squares))

    def moves(self, names: Iterable[str]) -> Iterator[tuple[str, Moves]]:
        """What the rows move the weights of some families by, one after the other."""
        rows = self.rows
        # Families that are grouped by the same variables come one after the other.
        groups_by = lru_cache(maxsize=1)(partial(group_rows, rows))
        for name in sorted(names, key=lambda name: self.estimated_of[name].given):
            yield name, moves_of(rows, self.network, self.estimated_of[name], groups_by)

    def spreads(self, names: Iterable[str]) -> Iterator[tuple[str, Spread]]:
        """How sure some CPTs are."""
        for name, moves in self.moves(names):
            weights = moves.weights()
            total = weights.sum(axis=-1, keepdims=True)  # T_u
            rates = quotient(weights, total)
            variance = quotient(moves.numerator(rates), total**2, np.inf)
            table = self.network.cpt(name).table
            yield name, Spread.of_variance(table, rates, variance, total)

    def steps(self, number: int, rng: np.random.Generator) -> Iterator[tuple[str, FloatArray]]:
        """Draws of how far the entries of each CPT are from the truth, all CPTs together.

        A draw is one of how many copies of each row there might have been: it has the covariance
        of the entries.
        """
        rows = rng.standard_normal((number, len(self.weights))) * np.sqrt(self.squares)
        for name, moves in self.moves(self.network.variables):
            table = self.network.cpt(name).table
            pseudo = self.pseudo_of[name]
            total = moves.weights().sum(axis=-1) + pseudo.sum(axis=-1)
            moved = np.stack([moves.weights(draw) for draw in rows])
            apart = moved - table * moved.sum(axis=-1, keepdims=True)
            yield name, quotient(apart, np.broadcast_to(total[..., None], apart.shape))

    def variances(self, asked: AnsweredQuery, spread_of: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer."""
        names = dict.fromkeys(name for gradient_of in asked.gradients for name in gradient_of)
        moved = np.zeros((len(asked.gradients), len(self.weights)))  # the answers by each row
        weight_of = {}
        sizes_of = {}
        for name, moves in self.moves(names):
            weight = moves.weights().sum(axis=-1, keepdims=True)
            total = weight + self.pseudo_of[name].sum(axis=-1, keepdims=True)
            weight_of[name] = weight
            sizes_of[name] = spread_of[name].row_sizes[..., None]
            for answer, gradient_of in enumerate(asked.gradients):
                if name in gradient_of:
                    cpt = asked.network.cpt(name).table
                    direction = quotient(centred(gradient_of[name], cpt), total)
                    moved[answer] += moves.along(direction)
        mean = moved @ self.weights / self.weights.sum()
        moved -= mean[:, None]
        variances = np.square(moved) @ self.squares
        return with_pseudo_rows(asked, variances, self.pseudo_of, sizes_of, weight_of)
