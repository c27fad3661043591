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
(`lacunet.estimate.deletion.by_groups`). A row moves both the one and the other.

Of an answer :math:`q` with the derivatives :math:`\partial q / \partial T_y` in all families, each
row moves :math:`\sum \varphi(y) \, \partial q / \partial T_y`, summed over families before it is
squared: the errors of CPTs that come from the same rows go together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import prod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, Copies, EncodedTable, shared
from lacunet.estimate.deletion.by_groups import fallen_weight
from lacunet.estimate.deletion.direct import direct_mar
from lacunet.estimate.deletion.factored import factored_mar, rows_in_groups, rows_in_table
from lacunet.estimate.deletion.lattice import Axes, lattice, lattice_slopes
from lacunet.estimate.method import Estimated
from lacunet.model.network import FloatArray, Network, Scope, Tables
from lacunet.statistics.count import count
from lacunet.statistics.counts import Tally, added_up, quotient
from lacunet.statistics.distinct import Index, Keys, distinct, grouped, pack, unpack
from lacunet.statistics.groups import GroupedCounts, Groups, group_rows
from lacunet.statistics.problems.ragged import Ragged, ranges, runs
from lacunet.statistics.solved import Reduced, Solved, SolvedSamples
from lacunet.uncertainty.delta import AnsweredQuery, centred, with_pseudo_rows
from lacunet.uncertainty.spread import Spread

PAIRS_AT_A_TIME = 2**22  # of a pattern and a cell of the same group
NOTHING: Index = np.zeros(0, np.intp)
LONE = 1 + 1e-9  # effective rows that tell of a group, at most: they stand for all of it


GroupsBy = Callable[[Scope], tuple[Groups, Index]]  # the groups by some variables, and each row's


@dataclass(frozen=True, eq=False)
class Moves:
    r"""What rows of unit weight move the weight of each cell of a family by: :math:`\varphi(y)`.

    Rows of one kind move all cells alike, and rows of many kinds move most cells alike: so a kind
    moves cells by what its class does, and some of them besides.
    """

    kind: Index  # of each row
    kinds: int
    owner: Index  # a kind that moves
    cell: Keys  # a cell of the family's table
    value: FloatArray  # by so much
    shape: tuple[int, ...]  # of the table
    class_of: Index | None = None  # of each kind
    common: FloatArray | None = None  # what a class moves each cell by

    def along(self, direction: FloatArray) -> FloatArray:
        """What each row moves the sum of all cells by, each times a number of its own."""
        flat = direction.reshape(-1)
        of_kind = added_up(self.owner, self.value * flat[self.cell], self.kinds)
        if self.common is not None:
            of_kind += (self.common @ flat)[self.class_of]
        return of_kind[self.kind]

    def weights(self, rows: FloatArray) -> FloatArray:
        """The weight of each cell; ``rows`` has that of each row."""
        of_kind = added_up(self.kind, rows, self.kinds)
        cells = added_up(self.cell, of_kind[self.owner] * self.value, prod(self.shape))
        if self.common is not None:
            cells += self._by_class(of_kind) @ self.common
        return cells.reshape(self.shape)

    def numerator(self, squares: FloatArray, rates: FloatArray) -> FloatArray:
        r"""The variance of each CPT entry times :math:`T_u^2`.

        That is :math:`\sum w^2 (\varphi(x, u) - \theta \varphi(u))^2`, a polynomial in
        :math:`\theta`: the sums of :math:`\varphi(x, u)^2`, of :math:`\varphi(x, u) \varphi(u)` and
        of :math:`\varphi(u)^2` over rows are its coefficients.

        Parameters
        ----------
        squares
            The squared weights of the rows.
        rates
            The entries, :math:`\theta`.
        """
        states, configurations = self.shape[-1], prod(self.shape[:-1])
        of_kind = added_up(self.kind, squares, self.kinds)
        row = self.cell // states
        owner_of_sum, row_of_sum, index = self._sums_over_states(row, configurations)
        by_row = added_up(index, self.value, len(row_of_sum))  # phi(u)
        weighed, weighed_sums = of_kind[self.owner] * self.value, of_kind[owner_of_sum] * by_row
        cells = added_up(self.cell, weighed * self.value, prod(self.shape))
        cross = added_up(self.cell, weighed * by_row[index], prod(self.shape))
        rows = added_up(row_of_sum, weighed_sums * by_row, configurations)

        if self.common is not None and self.class_of is not None:
            classes, common = len(self.common), self.common
            of_class = self._by_class(of_kind)
            common_rows = common.reshape(classes, configurations, states).sum(axis=-1)
            owner_class = self.class_of[self.owner]
            cells += 2 * added_up(
                self.cell, weighed * common[owner_class, self.cell], prod(self.shape)
            )
            cells += of_class @ common**2
            cross += added_up(self.cell, weighed * common_rows[owner_class, row], prod(self.shape))
            places = self.class_of[owner_of_sum] * configurations + row_of_sum
            sums = added_up(places, weighed_sums, classes * configurations)
            sums = sums.reshape(classes, configurations) + of_class[:, None] * common_rows
            cross += (common * np.repeat(sums, states, axis=1)).sum(axis=0)
            own_rows = common_rows[self.class_of[owner_of_sum], row_of_sum]
            rows += 2 * added_up(row_of_sum, weighed_sums * own_rows, configurations)
            rows += of_class @ common_rows**2

        theta = rates.reshape(configurations, states)
        sums_of_squares = cells.reshape(theta.shape) - 2 * theta * cross.reshape(theta.shape)
        return np.maximum(sums_of_squares + theta**2 * rows[:, None], 0.0).reshape(self.shape)

    def _sums_over_states(self, row: Keys, configurations: int) -> tuple[Index, Keys, Index]:
        """Each kind and CPT row with a cell that moves, and the index among these of each cell."""
        is_alone = np.bincount(self.owner, minlength=self.kinds)[self.owner] == 1
        alone, others = np.flatnonzero(is_alone), np.flatnonzero(~is_alone)
        keys, places = distinct(
            self.owner[others] * configurations + row[others], self.kinds * configurations
        )
        owner, configuration = np.divmod(keys, configurations)
        index = np.empty(len(row), np.intp)
        index[alone] = np.arange(len(alone))
        index[others] = len(alone) + places
        return (
            np.concatenate([self.owner[alone], owner]),
            np.concatenate([row[alone], configuration]),
            index,
        )

    def _by_class(self, of_kind: FloatArray) -> FloatArray:
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
    family, hidden = estimated.family, estimated.hidden
    shape, groups_by = network.shape(family), groups_by or partial(group_rows, rows)
    if not hidden:  # each row is in its cell, and moves no other
        columns = [rows.columns[name] for name in family]
        cell = pack(columns, shape, rows.rows)
        every = np.arange(prod(shape))
        return Moves(cell, len(every), every, every, np.ones(len(every)), shape)
    if not estimated.is_grouped:
        return _moves_everywhere(rows, network, estimated)

    patterns = _patterns(rows, network, hidden, groups_by(estimated.given))
    within = _within_groups(patterns, estimated)
    moves = _moves_within(patterns, within, family, shape)
    groups = within.solved.about(family, shape)[0]
    if not fallen_weight(groups).any():
        return moves
    stand_in = _stand_in(rows, network, estimated)
    return _with_stand_in(moves, family, patterns, within, stand_in, groups, rows.row_weights)


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
    row_weights: FloatArray,
) -> Moves:
    r"""What rows move by where the estimate without groups, :math:`F`, stands in for some.

    It adds :math:`N F(y) s_y` to each cell, with :math:`s_y = \sum_g n_g f_g(y) / \sum_g n_g` over
    the groups that agree with the cell in what all rows show, :math:`f_g(y)` being 1 where group
    :math:`g` does not tell. A row moves :math:`F`, and :math:`s_y` by
    :math:`(f_g(y) - s_y) / \sum_g n_g`.
    """
    shape, solved, cells = moves.shape, within.solved.whole, patterns.cells
    size = prod(shape)
    share = np.broadcast_to(quotient(fallen_weight(groups), groups.observed), shape).reshape(-1)
    weights = stand_in.weights(row_weights)  # N F(y)
    each = quotient(weights, np.broadcast_to(groups.observed, shape)).reshape(-1)
    each = np.where(share > 0, each, 0.0)

    # Rows of a kind are of one group, and of one kind of the estimate without groups.
    member = np.empty(moves.kinds, np.intp)
    member[patterns.kind] = np.arange(len(patterns.kind))
    tells = np.zeros(len(cells.groups.weights), np.intp)
    if solved.reached is None:
        tells[within.shown.group] = 1
    keys = stand_in.kind[member] * 2 + tells[cells.group]
    classes, class_of = distinct(keys, stand_in.kinds * 2)
    of_stand_in, tell = np.divmod(classes, 2)

    observed = [axis for axis, name in enumerate(family) if name not in cells.scope]
    columns, sizes = unpack(np.arange(size), shape), [shape[axis] for axis in observed]
    place_of_cell = pack([columns[axis] for axis in observed], sizes, size)
    place_of_kind = cells.groups.in_table([family[axis] for axis in observed])[cells.group]
    place_of_class = np.empty(len(classes), np.int64)
    place_of_class[class_of] = place_of_kind
    common = stand_in.dense()[of_stand_in] * share
    is_own = place_of_class[:, None] == place_of_cell
    common += np.where(is_own, each * (1.0 - tell[:, None] - share), 0.0)
    moves = replace(moves, class_of=class_of, common=common)
    if solved.reached is None:
        return moves

    # The cells that a group does tell of, though others fall back.
    reached = solved.reached.in_family(family, shape)
    kept = np.flatnonzero(each[reached] > 0)
    by_group = Ragged.of_owners(len(cells.groups.weights), solved.reached.group[kept], kept)
    lengths = by_group.lengths[cells.group]
    item = by_group.items[ranges(by_group.starts[cells.group], lengths)]
    owners = np.concatenate([moves.owner, np.repeat(np.arange(moves.kinds), lengths)])
    values = np.concatenate([moves.value, -each[reached[item]]])
    keys, index = distinct(
        owners * size + np.concatenate([moves.cell, reached[item]]), moves.kinds * size
    )
    owner, cell = np.divmod(keys, size)
    return replace(moves, owner=owner, cell=cell, value=added_up(index, values, len(keys)))


class RowPatterns(NamedTuple):
    """What the rows of each group show of some variables, if only nothing; and that of each row."""

    cells: GroupedCounts
    kind: Index


def _patterns(
    rows: EncodedTable, network: Network, hidden: Scope, grouping: tuple[Groups, Index]
) -> RowPatterns:
    """The patterns of ``hidden`` in groups of rows."""
    groups, group = grouping
    sizes = network.shape(hidden)
    columns = [rows.columns[name] for name in hidden]
    values = [size + 1 for size in sizes]  # the last one: missing
    kind, member = grouped([group, *columns], [len(groups.weights), *values], rows.rows)
    keys = pack([column[member] for column in columns], values, len(member))
    tally = Tally.of(rows, kind, len(member))
    return RowPatterns(GroupedCounts(groups, hidden, sizes, group[member], keys, tally), kind)


class Within(NamedTuple):
    r"""What groups say of the cells that some of their rows show.

    ``joint`` is :math:`P_g(y)` of each cell, ``slopes`` its derivative by the weight of the rows
    that show some variables and agree with the cell on others. ``tells`` are the patterns that say
    anything.
    """

    shown: GroupedCounts
    joint: FloatArray
    slopes: Mapping[tuple[Axes, Axes], FloatArray]
    tells: NDArray[np.bool_]
    solved: SolvedSamples


def _within_groups(patterns: RowPatterns, estimated: Estimated) -> Within:
    cells = patterns.cells
    is_shown = [c < size for c, size in zip(cells.columns(), cells.cardinalities, strict=True)]
    shown, every = cells.showing_all(), tuple(range(len(cells.scope)))
    if estimated.form == "direct":
        solved, tells = direct_mar(shown), np.logical_and.reduce(is_shown)
        known = added_up(shown.group, shown.tally.weights, len(shown.groups.weights))
        by_cell = 1 / known[shown.group]
        joint = shown.tally.weights * by_cell
        slopes = {(every, every): by_cell, (every, ()): -by_cell * joint}
    else:
        solved, tells = factored_mar(cells, estimated.aggregation), np.logical_or.reduce(is_shown)
        joint = solved.inside.tally.weights / cells.groups.weights[shown.group]
        number = rows_in_groups(cells)
        slopes = lattice_slopes(cells.cardinalities, number, estimated.aggregation)
    return Within(shown, joint, slopes, tells, SolvedSamples(solved))


def _moves_within(
    patterns: RowPatterns, within: Within, family: Scope, shape: tuple[int, ...]
) -> Moves:
    """What rows move the cells of their groups by."""
    cells, shown = patterns.cells, within.shown
    index = shown.in_family(family, shape)
    mass = cells.groups.weights
    factor, is_lone = _spread_up(cells, within.tells)
    owners, places, values = [], [], []
    for pattern, cell, slope in _pairs(cells, shown, within.slopes):
        group = cells.group[pattern]
        value = within.joint[cell] + mass[group] * factor[group] * slope
        # One row tells of its group: it stands for all of it.
        is_own = cells.cells[pattern] == shown.cells[cell]
        value = np.where(is_lone[group], is_own * mass[group] / shown.tally.weights[cell], value)
        kept = np.flatnonzero(value)
        owners.append(pattern[kept])
        places.append(index[cell[kept]])
        values.append(value[kept])
    owner = np.concatenate([NOTHING, *owners])
    cell_index = np.concatenate([NOTHING, *places])
    value = np.concatenate([np.zeros(0), *values])
    return Moves(patterns.kind, len(cells.cells), owner, cell_index, value, shape)


def _spread_up(
    cells: GroupedCounts, tells: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The factor :math:`k_g` of each group, and whether one row alone tells of it."""
    groups, tally = len(cells.groups.weights), cells.tally

    def effective(chosen: NDArray[np.bool_] | slice) -> FloatArray:
        weights = added_up(cells.group[chosen], tally.weights[chosen], groups)
        return quotient(weights**2, added_up(cells.group[chosen], tally.squares[chosen], groups))

    number, telling = effective(slice(None)), effective(tells)
    squared = quotient((number - 1).clip(0) * telling, number * (telling - 1).clip(0))
    return np.sqrt(squared), telling <= LONE


def _pairs(
    cells: GroupedCounts, shown: GroupedCounts, slopes: Mapping[tuple[Axes, Axes], FloatArray]
) -> Iterator[tuple[Index, Index, FloatArray]]:
    r"""Every pattern with every cell of its group, and :math:`\partial P_g(y) / \partial w_z`."""
    starts, lengths = shown.entries
    length = lengths[cells.group]
    of_patterns, of_cells = cells.columns(), shown.columns()
    for begin, end in runs(np.cumsum(length) // PAIRS_AT_A_TIME):
        pattern = np.repeat(np.arange(begin, end), length[begin:end])
        cell = ranges(starts[cells.group[begin:end]], length[begin:end])
        both = zip(of_patterns, of_cells, cells.cardinalities, strict=True)
        shows, agrees = [], []
        for in_pattern, in_cell, size in both:
            shows.append(in_pattern[pattern] < size)
            agrees.append(in_pattern[pattern] == in_cell[cell])
        slope = np.zeros(len(pattern))
        for (show, agree), by_cell in slopes.items():
            tests = [agrees[axis] if axis in agree else shows[axis] for axis in show]
            slope += np.logical_and.reduce(tests) * by_cell[cell]
        yield pattern, cell, slope


def _moves_everywhere(rows: EncodedTable, network: Network, estimated: Estimated) -> Moves:
    """What rows move the factored estimate by that knows no groups: it has every cell."""
    family, shape = estimated.family, network.shape(estimated.family)
    patterns = _patterns(rows, network, family, group_rows(rows, ()))
    (counts,) = count(rows, [family]).values()
    number, cells = rows_in_table(counts), np.arange(prod(shape))
    joint = lattice(shape, number, estimated.aggregation)
    slopes = {
        key: np.broadcast_to(slope, shape).reshape(-1)
        for key, slope in lattice_slopes(shape, number, estimated.aggregation).items()
    }
    keys = pack(unpack(cells, shape), [size + 1 for size in shape], len(cells))
    ones, group = np.ones(len(cells)), np.zeros(len(cells), np.intp)
    shown = GroupedCounts(
        patterns.cells.groups, family, shape, group, keys, Tally(ones, ones, ones)
    )
    shows_any = patterns.cells.cells < prod(size + 1 for size in shape) - 1
    within = Within(shown, np.ravel(joint), slopes, shows_any, SolvedSamples(Solved(shown, None)))
    return _moves_within(patterns, within, family, shape)


@dataclass(frozen=True, eq=False)
class RowInfluence:
    """How the entries of CPTs vary together, by what each row moves them by.

    ``columns`` are the distinct rows, with the ``weights`` and the squared weights of their copies
    added up. ``estimated_of`` says how each CPT is estimated, ``pseudo_of`` the pseudo-counts of
    its cells.
    """

    network: Network
    columns: Mapping[str, Codes]
    weights: FloatArray
    squares: FloatArray
    estimated_of: Mapping[str, Estimated]
    pseudo_of: Tables
    degrees: ClassVar[float] = np.inf

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
        weights, _, squares = shared(self.weights, self.weights, self.squares)
        sizes = {name: self.network.cardinality(name) for name in self.columns}
        return EncodedTable(sizes, self.columns, weights, copies=Copies(weights, squares))

    def moves(self, names: Iterable[str]) -> Iterator[tuple[str, Moves]]:
        """What the rows move the weights of some families by, one after the other."""
        rows = self.rows
        groups_by = lru_cache(maxsize=1)(partial(group_rows, rows))
        for name in sorted(names, key=lambda name: self.estimated_of[name].given):
            yield name, moves_of(rows, self.network, self.estimated_of[name], groups_by)

    def spreads(self, names: Iterable[str]) -> Iterator[tuple[str, Spread]]:
        """How sure some CPTs are."""
        for name, moves in self.moves(names):
            weights = moves.weights(self.weights)
            total = weights.sum(axis=-1, keepdims=True)  # T_u
            rates = quotient(weights, total)
            variance = quotient(moves.numerator(self.squares, rates), total**2, np.inf)
            table = self.network.cpt(name).table
            yield name, Spread.of_variance(table, rates, variance, total)

    def steps(self, number: int, rng: np.random.Generator) -> Iterator[tuple[str, FloatArray]]:
        """Draws of how far the entries of each CPT are from the truth, all CPTs together.

        A draw is one of how many copies of each row there might have been: it has the covariance
        of the entries.
        """
        rows = rng.standard_normal((number, len(self.weights))) * np.sqrt(self.squares)
        for name, moves in self.moves(self.network.variables):
            table, pseudo = self.network.cpt(name).table, self.pseudo_of[name]
            total = moves.weights(self.weights).sum(axis=-1) + pseudo.sum(axis=-1)
            moved = np.stack([moves.weights(draw) for draw in rows])
            apart = moved - table * moved.sum(axis=-1, keepdims=True)
            yield name, quotient(apart, np.broadcast_to(total[..., None], apart.shape))

    def variances(self, asked: AnsweredQuery, spread_of: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer."""
        names = dict.fromkeys(name for gradient_of in asked.gradients for name in gradient_of)
        moved = np.zeros((len(asked.gradients), len(self.weights)))  # the answers by each row
        weight_of, sizes_of = {}, {}
        for name, moves in self.moves(names):
            weight = moves.weights(self.weights).sum(axis=-1, keepdims=True)
            total = weight + self.pseudo_of[name].sum(axis=-1, keepdims=True)
            weight_of[name], sizes_of[name] = weight, spread_of[name].row_sizes[..., None]
            for answer, gradient_of in enumerate(asked.gradients):
                if name in gradient_of:
                    cpt = asked.network.cpt(name).table
                    moved[answer] += moves.along(quotient(centred(gradient_of[name], cpt), total))
        moved -= (moved @ self.weights / self.weights.sum())[:, None]
        variances = np.square(moved) @ self.squares
        return with_pseudo_rows(asked, variances, self.pseudo_of, sizes_of, weight_of)
