r"""The variance of EM's estimate from EM's own steps, without the rows.

One EM step maps parameters to parameters, :math:`\theta' = M(\theta)`, and where EM has
converged the observed information is the complete one times what a step leaves over,

.. math::
    I_\mathrm{obs} = I_\mathrm{com} (I - \partial M), \qquad V = I_\mathrm{obs}^{-1},

(X.-L. Meng and D. B. Rubin 1991; D. Oakes 1999). :math:`I_\mathrm{com}` is block-diagonal, one
block for each row of a CPT. :math:`\partial M` takes one EM step for each free parameter, and
fewer where parameters do not meet: those of families that share no problem are moved at once.

The step is that of the posterior mode, so the prior counts as data here; its pseudo-counts are
taken off the effective sizes again. All of this holds where EM has arrived. A negative eigenvalue
of the observed information, an entry that is surer than complete rows would make it, or a Newton
step, :math:`I_\mathrm{obs}^{-1} I_\mathrm{com} (M(\theta) - \theta)`, that is not short beside a
standard error say that it has not. Directions in which the prior tells more than the rows are
named. Where no single row says anything about a direction, :math:`\sum_r w_r (\partial \log
\Pr(r))^2 = 0`, the data do not identify it, however many rows there are. (The observed information
does not tell that: at the mode it is of the order of the prior's in either case.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.counts.distinct import begins_of
from lacunet.counts.em_problems.cell_layout import Layout, layout_of
from lacunet.counts.em_problems.compile import Problems
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.delta import (
    JEFFREYS_PSEUDO_COUNT,
    AnsweredQuery,
    lacking,
    pseudo_variances,
    without_prior,
)
from lacunet.network.network import FloatArray
from lacunet.network.waves import copied_from
from lacunet.progress import Progress

RANK = 1e-4  # rows that say less than this share of what complete rows would say nothing
MOST_DIRECTIONS = 30  # that are asked whether rows identify them

EmStep = Callable[[FloatArray], FloatArray]
RowInformation = Callable[[FloatArray], FloatArray]
Integers = NDArray[np.integer]
SMALLEST_ROOM = 1e-6  # for a parameter of a shape: less is at a bound
MOVE = 1e-5  # how far a parameter is moved, relative to itself and its row's reference state
ARRIVED = 0.2  # standard errors from the maximum
DOWNWARD = 1e-5  # of the complete rows' information: less is rounding where there is a ridge
FEWEST = 1e-6  # rows expected in a cell: with fewer it is on its way to zero
SURER = 1.5  # times as sure as complete rows would make an entry, which nothing is
SINGULAR = 1e-8  # less information than this share of the complete rows' is none


@dataclass(frozen=True)
class Direction:
    """A combination of parameters about which the prior tells more than the rows."""

    families: tuple[str, ...]  # the variables whose CPTs it moves most
    information: float  # the share of complete data's information about it that the rows hold
    is_identified: bool = False  # False where no number of such rows would tell more

    def __str__(self) -> str:
        named = ", ".join(self.families)
        if not self.is_identified:
            return named
        return f"{named} (these rows hold {self.information:.1%} of what complete rows would)"


@dataclass(frozen=True)
class FreeShape:
    """The free parameters of a CPT that is no full table.

    ``begin`` is where its cells begin, ``is_free`` says it of each of its parameters, and
    ``jacobian`` has a row for each that is free: how it moves the cells.
    """

    variable: str
    begin: int
    is_free: NDArray[np.bool_]
    jacobian: FloatArray

    @property
    def cells(self) -> slice:
        """Where its cells are."""
        return slice(self.begin, self.begin + self.jacobian.shape[1])


@dataclass(frozen=True)
class Free:
    """The free parameters: every cell but one reference, the likeliest, in each CPT row.

    Cells of probability zero, or on their way there, are not free: EM never moves them away; nor
    are rows about which nothing is expected.
    """

    cell: Integers  # where each free parameter lies
    reference: Integers  # the cell that makes up for it
    row: Integers  # its CPT row
    shapes: tuple[FreeShape, ...] = ()  # those of CPTs that are no full tables come behind

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.cell) + sum(len(shape.jacobian) for shape in self.shapes)

    @property
    def parts(self) -> tuple[slice, ...]:
        """Where the parameters of each of the ``shapes`` are."""
        ends = np.cumsum([len(self.cell), *(len(shape.jacobian) for shape in self.shapes)])
        return tuple(slice(int(begin), int(end)) for begin, end in pairwise(ends))

    def spread_out(self, move: FloatArray, size: int) -> FloatArray:
        """A move of the free parameters as a move of all cells."""
        of_tables = move[: len(self.cell)]
        cells = (
            np.bincount(self.cell, of_tables, size) - np.bincount(self.reference, of_tables, size)
        ).astype(np.float64)
        for shape, part in zip(self.shapes, self.parts, strict=True):
            cells[shape.cells] += move[part] @ shape.jacobian
        return cells

    def gathered(self, slopes: FloatArray) -> FloatArray:
        """Derivatives by all cells as derivatives by the free parameters."""
        of_tables = slopes[self.cell] - slopes[self.reference]
        of_shapes = [shape.jacobian @ slopes[shape.cells] for shape in self.shapes]
        return np.concatenate([of_tables, *of_shapes])


@dataclass(frozen=True)
class Curvature:
    """Where EM has converged: the step, the cells, and what is expected of every row."""

    layout: Layout
    step: EmStep
    expect: EmStep  # the expected counts at some cells, without pseudo-counts
    cells: FloatArray  # of all CPTs, end to end
    pseudo: FloatArray  # their pseudo-counts
    expected: FloatArray  # their expected counts, with these
    begins: Integers  # of each CPT row among the cells
    lengths: Integers  # of each CPT row

    @cached_property
    def free(self) -> Free:
        """The free parameters."""
        row = np.repeat(np.arange(len(self.begins)), self.lengths)
        reference = np.lexsort((-self.cells, row))[self.begins][row]
        is_free = (np.arange(len(row)) != reference) & (self.expected > FEWEST)
        shapes = []
        for name, cells in self.shaped.items():
            is_free[cells] = False
            shapes.append(self._free_shape(name, cells))
        free = np.flatnonzero(is_free)
        return Free(free, reference[free], row[free], tuple(shapes))

    @cached_property
    def shaped(self) -> Mapping[str, slice]:
        """The CPTs that are no full tables, each tied group by its head, and where they are."""
        layout = self.layout
        where = {}
        for head in layout.heads.tolist():
            name = layout.network.variables[head]
            if name in layout.network.shaped_of:
                begin = int(layout.offsets[head])
                where[name] = slice(begin, begin + int(layout.sizes[head]))
        return where

    def _free_shape(self, name: str, cells: slice) -> FreeShape:
        """The free parameters of a shape: those that move what is expected at all, and smoothly.

        A link that is zero is free beside a leak: the rows would move it, if they could.
        """
        shaped = self.layout.network.shaped_of[name]
        parameters = shaped.parameters(self.cells[cells].reshape(shaped.shape))
        jacobian = shaped.derivative(parameters).reshape(len(parameters), len(self.cells[cells]))
        of_logs = np.abs(quotient(jacobian, self.cells[cells], np.inf))
        of_logs = np.where(jacobian == 0, 0.0, of_logs).max(axis=1, initial=0.0)
        tells = np.square(jacobian) @ quotient(self.totals[cells], self.cells[cells])
        is_free = (of_logs < 1 / SMALLEST_ROOM) & (tells > FEWEST)
        return FreeShape(name, cells.start, is_free, jacobian[is_free])

    @cached_property
    def totals(self) -> FloatArray:
        """For every cell, what is expected of its CPT row, pseudo-counts included."""
        return self.in_row(self.expected)

    def complete(self, move: FloatArray) -> FloatArray:
        r"""Complete information times a move: :math:`n_u (\delta_x/\theta_x + \delta/\theta_0)`.

        :math:`\delta` is what the whole row moves by, :math:`\theta_0` its reference.
        """
        free = self.free
        of_tables = move[: len(free.cell)]
        in_row = np.bincount(free.row, of_tables, len(self.begins))[free.row]
        scaled = of_tables / self.cells[free.cell] + in_row / self.cells[free.reference]
        terms = [self.totals[free.cell] * scaled]
        for part, square in zip(free.parts, self.squares, strict=True):
            terms.append(square @ move[part])
        return np.concatenate(terms)

    @cached_property
    def squares(self) -> list[FloatArray]:
        r"""What complete rows tell of the parameters of each shape: :math:`J n_u / \theta J'`."""
        weights = quotient(self.totals, self.cells)
        return [(s.jacobian * weights[s.cells]) @ s.jacobian.T for s in self.free.shapes]

    def complete_of_each(self, moves: FloatArray) -> FloatArray:
        """Complete information times each of some moves, a column each."""
        free = self.free
        terms: list[FloatArray] = []
        if len(free.cell):
            of_tables = moves[: len(free.cell)]
            begins = np.flatnonzero(begins_of(free.row))
            sums = np.add.reduceat(of_tables, begins, axis=0)
            in_row = np.repeat(sums, np.diff(begins, append=len(free.row)), axis=0)
            reference = self.cells[free.reference, None]
            scaled = of_tables / self.cells[free.cell, None] + in_row / reference
            terms.append(self.totals[free.cell, None] * scaled)
        for part, square in zip(free.parts, self.squares, strict=True):
            terms.append(square @ moves[part])
        return np.concatenate(terms)

    def in_row(self, values: FloatArray) -> FloatArray:
        """For every cell, the sum over its CPT row."""
        return np.repeat(np.add.reduceat(values, self.begins), self.lengths)

    @property
    def family(self) -> Integers:
        """The family of each free parameter; of those that are tied, the head."""
        layout = self.layout
        begins = [shape.begin for shape in self.free.shapes]
        repeats = [len(shape.jacobian) for shape in self.free.shapes]
        cell = np.concatenate([self.free.cell, np.repeat(begins, repeats).astype(np.int64)])
        family = np.searchsorted(layout.offsets[layout.heads], cell, side="right") - 1
        return layout.heads[family]

    def moved(self, direction: FloatArray, parts: Integers) -> FloatArray:
        r"""How a step moves along a direction: :math:`\partial M \, \delta`, for the free cells.

        ``parts`` numbers the free parameters by parts that do not meet: each part of the direction
        is scaled by itself.
        """
        free = self.free
        room = np.minimum(self.cells[free.cell], self.cells[free.reference])
        speed = np.zeros(int(parts.max(initial=0)) + 1)
        np.maximum.at(speed, parts, np.abs(direction) / room)
        scale = quotient(MOVE, speed)[parts]
        move = free.spread_out(direction * scale, len(self.cells))
        change = (self.step(self.cells + move) - self.step(self.cells - move))[free.cell] / 2
        return quotient(change, scale)


def information(curvature: Curvature, parts: Integers, progress: Progress) -> FloatArray:
    """The observed information of the free parameters, prior included.

    Parameters
    ----------
    parts
        For each free parameter the part it belongs to: parameters of different parts do not
        meet in any problem. Part -1 meets no problem at all.
    """
    number = len(parts)
    rates = np.zeros((number, number))
    members = [np.flatnonzero(parts == part) for part in range(int(parts.max(initial=-1)) + 1)]
    turns = max(map(len, members), default=0)
    for turn in range(turns):
        progress("intervals", turn, turns, "EM steps there and back")
        chosen = np.array([block[turn] for block in members if turn < len(block)])
        direction = np.zeros(number)
        direction[chosen] = 1.0
        change = curvature.moved(direction, np.maximum(parts, 0))
        for index in chosen:
            block = members[parts[index]]
            rates[block, index] = change[block]
    kept = np.eye(number) - rates  # I - dM, one column for each direction
    whole = curvature.complete_of_each(kept) if number else kept
    return np.asarray((whole + whole.T) / 2)


def parts_of_parameters(problems: Problems, curvature: Curvature) -> Integers:
    """The part of each free parameter: families that share a problem are of one part."""
    from networkx.utils import UnionFind

    layout = curvature.layout
    families_of = layout.families_of()
    position_of = {name: position for position, name in enumerate(layout.network.variables)}
    head = np.array([position_of[layout.network.head_of[name]] for name in position_of])
    together: UnionFind[int] = UnionFind()
    for component in np.unique(problems.component):
        members = problems.members.row(int(component))
        together.union(*np.unique(head[families_of.take(members).items]).tolist())
    label = np.full(len(layout.cardinalities), -1)
    for part, families in enumerate(together.to_sets()):
        label[[*families]] = part
    return np.asarray(label[curvature.family])


@dataclass(frozen=True)
class EmSpreads:
    """The spread of every CPT that EM gave, and the directions that the rows hardly identify."""

    spread_of: Mapping[str, Spread]
    covariance: FloatArray  # of the free parameters, without the lost directions
    # A column for each direction about which neither the rows nor the prior say anything.
    lost: FloatArray
    rows: FloatArray  # for every cell, those expected in its CPT row
    free: Free
    layout: Layout
    pseudo: FloatArray  # the pseudo-counts of every cell
    weak_directions: tuple[Direction, ...]
    is_at_maximum: bool  # unless the curvature contradicts it
    doubts: tuple[str, ...] = ()  # what to know where it did
    degrees: ClassVar[float] = np.inf

    def unrolled(self, waves: int) -> EmSpreads:
        """The same over so many waves of a panel: tied CPTs have the same cells."""
        network = self.layout.network.unroll(waves)
        like = copied_from(self.layout.network, network)
        copies = {new: self.spread_of[old] for new, old in like.items()}
        layout = layout_of(network.with_tables(None))
        return replace(self, spread_of={**self.spread_of, **copies}, layout=layout)

    def variances(self, asked: AnsweredQuery, _: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer; infinite if a lost direction moves it.

        Rows are those expected, not effective ones: what one CPT row lacks others may make up for,
        and the covariance knows. EM does not move what less than half a row speaks for.
        """
        nothing = {name: np.zeros(s.table.shape) for name, s in self.spread_of.items()}
        variances = np.zeros(len(asked.gradients))
        for index, gradient_of in enumerate(asked.gradients):
            cells = self.layout.added({**nothing, **gradient_of})
            moved = self.free.gathered(cells)
            variances[index] = moved @ self.covariance @ moved
            if (np.abs(moved @ self.lost) > SINGULAR).any():
                variances[index] = np.inf
        rows_of = {v: table[..., :1] for v, table in self.layout.tables(self.rows).items()}
        pseudo_of = self.layout.tables(self.pseudo)
        shaped = self.layout.network.shaped_of
        for name in shaped:  # no row of their CPTs is by itself
            rows_of[name] = np.full_like(rows_of[name], np.inf)
            pseudo_of[name] = np.zeros_like(pseudo_of[name])
        lacks_of = lacking(asked.network, pseudo_of, rows_of)
        if self.pseudo.any():
            lacks_of = {name: lacks * (rows_of[name] > 0) for name, lacks in lacks_of.items()}
        variances = variances + pseudo_variances(asked, rows_of, lacks_of)
        if not self.pseudo.any():  # only where there are no rows, something else is known
            rows_of = {name: np.where(rows > 0, np.inf, 0.0) for name, rows in rows_of.items()}
        half = {
            name: pseudo if name in shaped else np.maximum(pseudo, JEFFREYS_PSEUDO_COUNT)
            for name, pseudo in pseudo_of.items()
        }
        return without_prior(asked, variances, rows_of, half)


def em_spreads(
    curvature: Curvature, observed: FloatArray, row_information: RowInformation | None
) -> EmSpreads:
    r"""The spread of every CPT from the observed information.

    The prior's pseudo-counts of a CPT row are taken off the effective size, so that it tells what
    the rows know.

    Parameters
    ----------
    observed
        The information of the free parameters, prior included.
    row_information
        What single rows say about each of some moves of all cells, :math:`\sum_r w_r (\partial \log
        \Pr(r))^2`; None where that cannot be had.
    """
    cells, free = curvature.cells, curvature.free
    of_complete = curvature.totals[free.cell] * (1 / cells[free.cell] + 1 / cells[free.reference])
    of_complete = np.concatenate([of_complete, *map(np.diag, curvature.squares)])
    root = np.sqrt(np.maximum(np.diag(observed), SINGULAR * of_complete))
    values, vectors = np.linalg.eigh(observed / root / root[:, None])
    known = values > SINGULAR
    curved = np.abs(values) > SINGULAR  # up or down: what curves down tells at most as much
    inverse = (vectors[:, curved] / np.abs(values[curved])) @ vectors[:, curved].T
    covariance = inverse / root / root[:, None]
    lost = np.square(vectors[:, ~known]).sum(axis=1) > 1e-3  # cells in a direction without end
    pseudo = curvature.pseudo
    moves = vectors / root[:, None]
    is_at_maximum = not _curves_down(curvature, values, moves) and _has_arrived(
        curvature, covariance, lost
    )
    return EmSpreads(
        spread_of=_spreads(curvature, covariance, lost),
        covariance=covariance,
        lost=moves[:, ~known],
        rows=np.maximum(curvature.totals - curvature.in_row(pseudo), 0.0),
        free=curvature.free,
        layout=curvature.layout,
        pseudo=pseudo,
        weak_directions=_weak_directions(curvature, observed, row_information),
        is_at_maximum=is_at_maximum,
    )


def _curves_down(curvature: Curvature, values: FloatArray, moves: FloatArray) -> bool:
    """Whether the log-posterior has a valley, and no top, along one of some moves."""
    downward = zip(values[values < 0], moves[:, values < 0].T, strict=True)
    return any(value < -DOWNWARD * (move @ curvature.complete(move)) for value, move in downward)


def _has_arrived(curvature: Curvature, covariance: FloatArray, lost: NDArray[np.bool_]) -> bool:
    """Whether a Newton step is short, and no entry surer than complete rows would make it."""
    free, cells = curvature.free, curvature.cells
    if free.shapes:
        slope = free.gathered(quotient(curvature.expected, cells))
        slope = np.where(_is_held(curvature, slope), 0.0, slope)
    else:
        slope = curvature.complete((curvature.step(cells) - cells)[free.cell])
    number = len(free.cell)
    theta = cells[free.cell]
    variance = np.diag(covariance)[:number]
    surest = theta * (1 - theta) / (SURER * curvature.totals[free.cell])
    is_sure = (variance < surest)[~lost[:number]]
    return bool(slope @ covariance @ slope < ARRIVED**2 and not is_sure.any())


def _is_held(curvature: Curvature, slope: FloatArray) -> NDArray[np.bool_]:
    """Whether each free parameter is at a bound of its shape, and would go on beyond."""
    free = curvature.free
    is_held = np.zeros(free.number, dtype=bool)
    for shape, part in zip(free.shapes, free.parts, strict=True):
        shaped = curvature.layout.network.shaped_of[shape.variable]
        cells = curvature.cells[shape.cells].reshape(shaped.shape)
        is_held[part] = ~shaped.is_inside(shaped.parameters(cells))[shape.is_free]
    return np.asarray(is_held & (slope != 0))


def _spreads(
    curvature: Curvature, covariance: FloatArray, lost: NDArray[np.bool_]
) -> dict[str, Spread]:
    """Variances of posterior modes as spreads that rest on the rows alone.

    The variance of a row's reference is that of the sum of its other cells.
    """
    theta = curvature.cells
    pseudo = curvature.pseudo
    free = curvature.free
    variance = np.zeros(len(theta))
    number = len(free.cell)
    variance[free.cell] = np.where(lost, np.inf, np.diag(covariance))[:number]
    for row in np.unique(free.row):
        members = np.flatnonzero(free.row == row)
        total = np.inf if lost[members].any() else covariance[np.ix_(members, members)].sum()
        variance[free.reference[members[0]]] = total
    in_row = curvature.in_row(pseudo)
    totals = curvature.totals - in_row  # E n(u)
    counts = curvature.expected - pseudo
    rates = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 1e-9)
    sizes = np.divide(theta * (1 - theta), variance, out=totals + in_row, where=variance > 0)
    sizes = np.clip(sizes - in_row, 0.0, totals.clip(0.0))  # complete rows would tell no more
    for shape, part in zip(free.shapes, free.parts, strict=True):
        where = shape.cells
        shaped = curvature.layout.network.shaped_of[shape.variable]
        known = np.where(lost[part], 0.0, 1.0)[:, None] * shape.jacobian
        of_cells = ((covariance[part, part] @ known) * known).sum(axis=0)
        unknown = (np.abs(shape.jacobian[lost[part]]) > SINGULAR).any(axis=0)
        of_cells = np.where(unknown, np.inf, of_cells)
        size = quotient(theta[where] * (1 - theta[where]), of_cells, np.inf)
        # An entry is known from other CPT rows too, but no better than if all were its own.
        every = totals[where].reshape(-1, shaped.shape[-1])[:, 0].sum()
        is_known = not shaped.parameter_names
        sizes[where] = np.clip(size - in_row[where], 0.0, np.inf if is_known else every)
        by_rows = shaped.fit(
            np.maximum(counts[where], 0.0).reshape(shaped.shape),
            theta[where].reshape(shaped.shape),
        )
        rates[where] = np.ravel(by_rows)
    tables, rates_of, sizes_of = map(curvature.layout.tables, (theta, np.clip(rates, 0, 1), sizes))
    return {name: Spread(tables[name], rates_of[name], sizes_of[name]) for name in tables}


def _prior_information(curvature: Curvature) -> FloatArray:
    r"""What pseudo-counts tell of the free parameters: :math:`\sum a / \theta^2` over the cells.

    A free entry of a CPT row moves the row's reference entry by as much the other way.
    """
    free = curvature.free
    pseudo = curvature.pseudo
    squares = np.maximum(curvature.cells**2, np.finfo(float).tiny)
    information = np.zeros((free.number, free.number))
    of_tables = slice(len(free.cell))
    information[of_tables, of_tables] = np.diag(pseudo[free.cell] / squares[free.cell])
    same_row = free.row[:, None] == free.row
    in_reference = pseudo[free.reference] / squares[free.reference]
    information[of_tables, of_tables] += same_row * in_reference[:, None]
    for shape, part in zip(free.shapes, free.parts, strict=True):
        terms = shape.jacobian * (pseudo[shape.cells] / squares[shape.cells])
        information[part, part] = terms @ shape.jacobian.T
    return information


def _weak_directions(
    curvature: Curvature, observed: FloatArray, row_information: RowInformation | None
) -> tuple[Direction, ...]:
    r"""The directions about which the prior knows more than the rows, the weakest first.

    What rows and prior know is compared in the metric of complete rows: with
    :math:`I_\mathrm{com} = L L'`, the directions are the eigenvectors of
    :math:`L^{-1} (I_\mathrm{obs} - I_\mathrm{prior}) L'^{-1}`, and their eigenvalues the share of
    the information that the rows bring.
    """
    free = curvature.free
    layout = curvature.layout
    if not free.number:
        return ()
    complete = curvature.complete_of_each(np.eye(free.number))
    for part in free.parts:
        complete[part, part] += SINGULAR * np.diag(np.diag(complete[part, part]))
    prior_part = _prior_information(curvature)
    root = np.linalg.cholesky(complete)
    inverse = np.linalg.inv(root)
    values, vectors = np.linalg.eigh(inverse @ (observed - prior_part) @ inverse.T)
    by_prior = np.einsum("ij,ij->j", vectors, inverse @ prior_part @ inverse.T @ vectors)

    # Where the prior holds half of all information there are few rows, which is another matter.
    weak = np.flatnonzero((values < np.maximum(by_prior, SINGULAR)) & (by_prior < 0.5))
    is_identified = values[weak] > SINGULAR
    if row_information is not None and len(weak):
        moves = (inverse.T @ vectors[:, weak[:MOST_DIRECTIONS]]).T
        cells = [free.spread_out(move, len(curvature.cells)) for move in moves]
        is_identified[:MOST_DIRECTIONS] = row_information(np.array(cells)) > RANK

    directions = []
    for index, known in zip(weak, is_identified, strict=True):
        weight = np.bincount(
            curvature.family, np.square(vectors[:, index]), len(layout.cardinalities)
        )
        most = [layout.network.variables[v] for v in np.argsort(-weight) if weight[v] > 0.05]
        directions.append(Direction(tuple(most), max(float(values[index]), 0.0), bool(known)))
    return tuple(directions)
