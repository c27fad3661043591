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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
from lacunet.statistics.groups import GroupedCounts, group_rows
from lacunet.statistics.problems.ragged import Ragged, ranges, runs
from lacunet.statistics.solved import Reduced, Solved, SolvedSamples
from lacunet.uncertainty.delta import AnsweredQuery, centred, with_pseudo_rows
from lacunet.uncertainty.spread import Spread

PAIRS_AT_A_TIME = 2**22  # of a pattern and a cell of the same group
NOTHING: Index = np.zeros(0, np.intp)
LONE = 1 + 1e-9  # effective rows that tell of a group, at most: they stand for all of it


@dataclass(frozen=True, eq=False)
class Moves:
    r"""What rows of unit weight move the weight of each cell of a family by: :math:`\varphi(y)`.

    Rows of one kind move all cells alike. ``kind`` is that of each row, of so many ``kinds``;
    ``value`` is what the rows of the kind ``owner`` move a ``cell`` of the family's table by.
    """

    kind: Index
    kinds: int
    owner: Index
    cell: Keys
    value: FloatArray
    shape: tuple[int, ...]

    def along(self, direction: FloatArray) -> FloatArray:
        """What each row moves the sum of all cells by, each times a number of its own."""
        by_pair = self.value * direction.reshape(-1)[self.cell]
        return added_up(self.owner, by_pair, self.kinds)[self.kind]

    def weights(self, rows: FloatArray) -> FloatArray:
        """The weight of each cell; ``rows`` has that of each row."""
        of_kind = added_up(self.kind, rows, self.kinds)
        cells = added_up(self.cell, of_kind[self.owner] * self.value, prod(self.shape))
        return cells.reshape(self.shape)

    def numerator(self, squares: FloatArray, rates: FloatArray) -> FloatArray:
        r"""The variance of each CPT entry times :math:`T_u^2`.

        That is :math:`\sum w^2 (\varphi(x, u) - \theta \varphi(u))^2`.

        Parameters
        ----------
        squares
            The squared weights of the rows.
        rates
            The entries, :math:`\theta`.
        """
        states, configurations = self.shape[-1], prod(self.shape[:-1])
        of_kind = added_up(self.kind, squares, self.kinds)
        row, row_of_pair = distinct(
            self.owner * configurations + self.cell // states, self.kinds * configurations
        )
        by_row = added_up(row_of_pair, self.value, len(row))  # of kinds and CPT rows
        owner, configuration = np.divmod(row, configurations)
        weighed = of_kind[self.owner] * self.value
        cells = added_up(self.cell, weighed * self.value, prod(self.shape))
        cross = added_up(self.cell, weighed * by_row[row_of_pair], prod(self.shape))
        rows = added_up(configuration, of_kind[owner] * by_row**2, configurations)
        flat = rates.reshape(configurations, states)
        sums = cells.reshape(flat.shape) - 2 * flat * cross.reshape(flat.shape)
        return np.maximum(sums + flat**2 * rows[:, None], 0.0).reshape(self.shape)

    def times(self, share: FloatArray) -> Moves:
        """What they move a share of each cell by."""
        return replace(self, value=self.value * share.reshape(-1)[self.cell])

    def __add__(self, other: Moves) -> Moves:
        """What rows move by both."""
        kind, member = grouped([self.kind, other.kind], [self.kinds, other.kinds], len(self.kind))
        cells, keys, values = prod(self.shape), [], []
        for moves in (self, other):
            by_kind, own = Ragged.of_owners(moves.kinds, moves.owner), moves.kind[member]
            length = by_kind.lengths[own]
            pair = by_kind.items[ranges(by_kind.starts[own], length)]
            keys.append(np.repeat(np.arange(len(member)), length) * cells + moves.cell[pair])
            values.append(moves.value[pair])
        key, index = distinct(np.concatenate(keys), len(member) * cells)
        owner, cell = np.divmod(key, cells)
        value = added_up(index, np.concatenate(values), len(key))
        return Moves(kind, len(member), owner, cell, value, self.shape)


def moves_of(rows: EncodedTable, network: Network, estimated: Estimated) -> Moves:
    """How much each row moves the weight of each cell of a family."""
    family, hidden = estimated.family, estimated.hidden
    shape = network.shape(family)
    if not estimated.is_grouped:
        return _moves_everywhere(rows, network, estimated)
    if not hidden:  # each row is in its cell, and moves no other
        patterns = _patterns(rows, network, family, ())
        cells = patterns.cells.in_family(family, shape)
        ones = np.ones(len(cells))
        return Moves(patterns.kind, len(cells), np.arange(len(cells)), cells, ones, shape)

    patterns = _patterns(rows, network, hidden, estimated.given)
    within = _within_groups(patterns, estimated)
    moves = _moves_within(patterns, within, family, shape)
    groups = within.solved.about(family, shape)[0]
    fallen = fallen_weight(groups)
    if not fallen.any():
        return moves

    if estimated.form == "direct":
        alone = replace(estimated, hidden=family, given=())
        every = _patterns(rows, network, family, ())
        stand_in = _moves_within(every, _within_groups(every, alone), family, shape)
    else:
        stand_in = _moves_everywhere(rows, network, estimated)
    share = np.broadcast_to(quotient(fallen, groups.observed), shape)
    weights = stand_in.weights(rows.row_weights)  # N F(y)
    shares = _moves_of_shares(patterns, within, family, weights, groups, share)
    return moves + stand_in.times(share) + shares


class Patterns(NamedTuple):
    """What the rows of each group show of some variables, if only nothing; and that of each row."""

    cells: GroupedCounts
    kind: Index


def _patterns(rows: EncodedTable, network: Network, hidden: Scope, given: Scope) -> Patterns:
    """The patterns of ``hidden`` in groups of rows that agree on ``given``."""
    groups, group = group_rows(rows, given)
    sizes = network.shape(hidden)
    columns = [rows.columns[name] for name in hidden]
    values = [size + 1 for size in sizes]  # the last one: missing
    kind, member = grouped([group, *columns], [len(groups.weights), *values], rows.rows)
    keys = pack([column[member] for column in columns], values, len(member))
    tally = Tally.of(rows, kind, len(member))
    return Patterns(GroupedCounts(groups, hidden, sizes, group[member], keys, tally), kind)


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


def _within_groups(patterns: Patterns, estimated: Estimated) -> Within:
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
    patterns: Patterns, within: Within, family: Scope, shape: tuple[int, ...]
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
    owner, place = np.concatenate([NOTHING, *owners]), np.concatenate([NOTHING, *places])
    value = np.concatenate([np.zeros(0), *values])
    return Moves(patterns.kind, len(cells.cells), owner, place, value, shape)


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
    patterns = _patterns(rows, network, family, ())
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


def _moves_of_shares(
    patterns: Patterns,
    within: Within,
    family: Scope,
    weights: FloatArray,
    groups: Reduced,
    share: FloatArray,
) -> Moves:
    r"""What rows move the shares by for which the estimate without groups stands in.

    Of :math:`F_y s_y` with :math:`s_y = \sum_g n_g f_g(y) / \sum_g n_g`, where :math:`f_g(y)` says
    whether group :math:`g` falls back, a row moves :math:`F_y (f_g(y) - s_y) / \sum_g n_g`.
    """
    shape = share.shape
    solved, cells = within.solved.whole, patterns.cells
    number = len(cells.groups.weights)
    each = quotient(weights, np.broadcast_to(groups.observed, shape)).reshape(-1)
    falls = np.ones(number)
    if solved.reached is None:
        falls[within.shown.group] = 0.0

    # The cells with a share, by what all rows show of them, for each group those of its own.
    observed = [axis for axis, name in enumerate(family) if name not in cells.scope]
    sizes = [shape[axis] for axis in observed]
    with_share = np.flatnonzero(share.reshape(-1) > 0)
    columns = unpack(with_share, shape)
    shown_of_cell = pack([columns[axis] for axis in observed], sizes, len(with_share))
    by_shown = Ragged.of_owners(prod(sizes), shown_of_cell, with_share)
    own = cells.groups.in_table([family[axis] for axis in observed])
    length = by_shown.lengths[own]
    owner, cell = np.repeat(np.arange(number), length), ranges(by_shown.starts[own], length)
    cell = by_shown.items[cell]
    value = each[cell] * (falls[owner] - share.reshape(-1)[cell])

    if solved.reached is not None:
        reached = solved.reached.in_family(family, shape)
        has_share = share.reshape(-1)[reached] > 0
        owner = np.concatenate([owner, solved.reached.group[has_share]])
        cell = np.concatenate([cell, reached[has_share]])
        value = np.concatenate([value, -each[reached[has_share]]])
    keys, index = distinct(owner * prod(shape) + cell, number * prod(shape))
    owner, cell = np.divmod(keys, prod(shape))
    group_of_row = cells.group[patterns.kind]
    return Moves(group_of_row, number, owner, cell, added_up(index, value, len(keys)), shape)


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
        tally = Tally.all_of(rows) if rows.copies is None else rows.copies
        squares = rows.row_weights if rows.copies is None else tally.squares
        return cls(network, rows.columns, rows.row_weights, squares, estimated_of, pseudo_of)

    @property
    def rows(self) -> EncodedTable:
        """The distinct rows."""
        weights, _, squares = shared(self.weights, self.weights, self.squares)
        sizes = {name: self.network.cardinality(name) for name in self.columns}
        return EncodedTable(sizes, self.columns, weights, copies=Copies(weights, squares))

    def spread(self, variable: str) -> Spread:
        """How sure a CPT is."""
        rows, table = self.rows, self.network.cpt(variable).table
        moves = moves_of(rows, self.network, self.estimated_of[variable])
        weights = moves.weights(rows.row_weights)
        total = weights.sum(axis=-1, keepdims=True)  # T_u
        rates = quotient(weights, total)
        variance = quotient(moves.numerator(self.squares, rates), total**2, np.inf)
        return Spread.of_variance(table, rates, variance, total)

    def variances(self, asked: AnsweredQuery, spread_of: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer."""
        rows = self.rows
        names = dict.fromkeys(name for gradient_of in asked.gradients for name in gradient_of)
        moved = np.zeros((len(asked.gradients), rows.rows))  # the answers by each row
        weight_of, sizes_of = {}, {}
        for name in names:
            moves = moves_of(rows, self.network, self.estimated_of[name])
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
