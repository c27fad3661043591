r"""Messages of one level that are computed together, by a few operations on whole arrays.

They are laid out in one of two ways: through an index, or as products of matrices.

All values are in one array: the cells of the CPTs first, then those of the messages, group
after group. A gathered group reads its inputs through an *index*: for input ``q``, state ``x``
of the eliminated variable and cell ``s`` of the messages, ``index[q, x, s]`` is where the value
is. The tables of small cliques, thousands of them, are multiplied in one go.

Messages over larger cliques of one shape are each a product of matrices. The inputs are multiplied
in two sides, and the axes that only one side has are never laid out against each other: with
:math:`b` the axes of both, :math:`p` and :math:`t` those of one side,

.. math:: m(b, p, t) = \sum_v P(b, v, p) \, T(b, v, t)

Each input is read, and its mass added, once for each of its own cells, not for each cell of the
clique. The axes that the same inputs have are merged into one, the longest last: tables with ten
or more axes of a few states each become tables with three or four long ones, which multiply and
add up at the speed of memory. Messages whose inputs have the same axes are computed together; one
that is alone is so large that its inputs are read through strided views, without any index.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.ragged import Integers
from lacunet.inference.elimination.junction_tree import BYTES_OF_CELL
from lacunet.inference.expectation.fused import SMALLEST_SUM, add_at
from lacunet.inference.expectation.steps import INPUTS_BEFORE_SCALING
from lacunet.network.network import FloatArray

MAX_INPUTS_DIVIDED = 8  # of so many inputs all divisions in two sides are tried
CELLS_OF_A_TAIL = 64  # the inner loop of making an index is at least this long


@dataclass(frozen=True)
class Recipe:
    """How to make the index of messages of one shape."""

    begins: Integers  # `begins[i, q]` is where input `q` of message `i` begins
    # `strides[i, q]` is how far each axis of the clique moves in it; zero along one it has not.
    strides: Integers
    sizes: tuple[int, ...]  # of the eliminated variable, then the message's axes

    def index(self) -> Integers:
        """The index of these messages: input, eliminated state, cell of message."""
        begins = self.begins.T  # input, message
        moves = self.strides.transpose(1, 0, 2)  # input, message, axis
        # Where a cell is, is a sum over axes. That over the first axes and that over the last are
        # made apart, and added for all pairs: one long loop instead of one for each axis.
        head, tail = _halves(self.sizes)
        eliminated = moves[:, None, :, 0, None] * np.arange(self.sizes[0])[None, :, None, None]
        first = eliminated + cells_along(begins, moves, self.sizes, head)[:, None]
        last = cells_along(np.zeros_like(begins), moves, self.sizes, tail)
        whole = first[..., None] + last[:, None, :, None, :]
        return whole.reshape(len(begins), self.sizes[0], -1)


def _halves(sizes: tuple[int, ...]) -> tuple[range, range]:
    """Split the message's axes so that the second part is long enough to loop over."""
    cut = len(sizes)
    cells = 1
    while cut > 1 and cells < CELLS_OF_A_TAIL:
        cut -= 1
        cells *= sizes[cut]
    return range(1, cut), range(cut, len(sizes))


def cells_along(begins: Integers, moves: Integers, sizes: tuple[int, ...], axes: range) -> Integers:
    """Where each cell over some axes is, the first of them where it begins; on a last axis."""
    cells = begins[..., None]
    for axis in axes:
        move = moves[:, :, axis, None] * np.arange(sizes[axis])
        cells = (cells[..., None] + move[:, :, None, :]).reshape(*moves.shape[:2], -1)
    return cells


@dataclass(frozen=True)
class Scaling:
    """Messages of a group that are divided by their sums, so that products never underflow.

    What is divided by is a factor of the probability of every problem that a message serves: the
    sums' logarithms, weighted by these problems, add up to the log-likelihood of each part of the
    data. The last message of a problem is always scaled, so that they are all of it.
    """

    begins: Integers  # of each message within the group's cells
    lengths: Integers
    mass: FloatArray  # the weights of the problems that it serves, a column for each part

    def inverses(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What to multiply each message by, given the sums; the sums' logarithms, weighted.

        A sum too small to divide by counts as zero: the message becomes zero, and so do those
        that read it.
        """
        is_possible = sums >= SMALLEST_SUM
        divisors = np.where(is_possible, sums, 1)
        logs: FloatArray = np.log(divisors) @ self.mass
        if not is_possible.all():
            serves_part = (self.mass[~is_possible] > 0).any(axis=0)
            logs[serves_part] = -np.inf
        return is_possible / divisors, logs

    def scale(self, product: FloatArray, message: FloatArray) -> FloatArray:
        """Divide products and messages by the messages' sums; the sums' logarithms, weighted."""
        inverse, logs = self.inverses(np.add.reduceat(message, self.begins))
        repeated = np.repeat(inverse, self.lengths)
        message *= repeated
        product *= repeated
        return logs


@dataclass(frozen=True)
class Gathered:
    """Messages computed together through an index."""

    start: int  # the messages go to the cells from here ...
    stop: int  # ... to before here
    source: Integers | Recipe  # the index, or how it is made anew each time
    widths: tuple[int, ...]  # only the first so many cells have input `q`: most inputs come first
    scaling: Scaling | None  # of all messages, if one of them is to be scaled

    def index(self) -> Integers:
        """Where the values of the inputs are."""
        return self.source.index() if isinstance(self.source, Recipe) else self.source

    def forward(self, values: FloatArray, logs: FloatArray) -> list[FloatArray]:
        """Write the messages and add to the log-likelihoods; the products behind them."""
        index = self.index()
        message = values[self.start : self.stop]
        # One row for each state of the eliminated variable.
        product = values.take(index[0])
        for done, places in enumerate(index[1:], start=1):
            if done % INPUTS_BEFORE_SCALING == 0 and self.scaling is not None:
                logs += self.scaling.scale(product, np.add.reduce(product, axis=0))
            width = self.widths[done]
            part = product[:, :width]
            part *= values.take(places[:, :width])
        np.add.reduce(product, axis=0, out=message)
        if self.scaling is not None:
            logs += self.scaling.scale(product, message)
        return [product]

    def backward(self, products: list[FloatArray], values: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the messages on to what they were made of."""
        (product,) = products
        share = shares(values[self.start : self.stop], mass[self.start : self.stop])
        index = self.index()
        product *= share  # B(v, s) of each cell of the cliques
        for width, places in zip(self.widths, index, strict=True):
            add_at(mass, places[:, :width].reshape(-1), product[:, :width].reshape(-1))


def shares(message: FloatArray, mass: FloatArray) -> FloatArray:
    """The mass of each cell of a message for one unit of its value; none where that is zero."""
    share = np.zeros_like(message)
    np.divide(mass, message, out=share, where=message > 0)
    return share


@dataclass(frozen=True)
class Tables:
    """One input of the messages of a group: a table for each."""

    begins: Integers  # where the table of each message begins
    strides: Integers  # how each moves along its own axes
    sizes: tuple[int, ...]  # of these axes
    shape: tuple[int, ...]  # of all tables with axes merged, of length one along absent ones
    absent: tuple[int, ...]  # the axes of the shape that this input does not have
    kept: Integers | None = None  # the index of all tables; made anew each time if None

    def read(self, values: FloatArray) -> FloatArray:
        """The tables."""
        if len(self.begins) == 1:
            return self._view(values).reshape(self.shape)
        return values.take(self.index()).reshape(self.shape)

    def add(self, cells: FloatArray, mass: FloatArray) -> None:
        """Add the sums of some cells to the mass of those that they were made of."""
        sums = cells
        if self.absent:
            sums = np.add.reduce(cells, axis=self.absent)
        if len(self.begins) == 1:
            target = self._view(mass)  # no cell occurs twice
            target += sums.reshape(self.sizes)
        else:
            add_at(mass, self.index(), sums.reshape(-1))

    def index(self) -> Integers:
        """Where the cells are: message, then cell."""
        if self.kept is not None:
            return self.kept
        axes = range(len(self.sizes))
        return cells_along(self.begins[None], self.strides[None], self.sizes, axes).reshape(-1)

    def _view(self, values: FloatArray) -> FloatArray:
        """The cells of the only table, not copied."""
        strides = (self.strides[0] * BYTES_OF_CELL).tolist()
        return np.ndarray(self.sizes, np.float64, values, self.begins[0] * BYTES_OF_CELL, strides)


@dataclass(frozen=True)
class Side:
    """Some inputs of messages over larger cliques, whose product is a stack of matrices."""

    inputs: tuple[Tables, ...]  # the smallest first
    # Of the product: the message, the axes that both sides have, the eliminated variable, the axes
    # that this side alone has.
    shape: tuple[int, ...]
    matrix: tuple[int, int, int]  # the same with the first two merged, and the last ones

    def product(self, values: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """The matrices, and the logarithm of what those of each message were divided by."""
        if not self.inputs:
            return np.ones(self.matrix), 0.0
        product = self.inputs[0].read(values)
        logs: FloatArray | float = 0.0
        for done, tables in enumerate(self.inputs[1:], start=1):
            if done % INPUTS_BEFORE_SCALING == 0:  # then the message is scaled too
                sums = product.sum(axis=tuple(range(1, product.ndim)), keepdims=True)
                divisors = np.where(sums >= SMALLEST_SUM, sums, 1)
                product /= divisors
                logs = logs + np.log(divisors.reshape(-1))
            product = product * tables.read(values)
        return product.reshape(self.matrix), logs

    def share_out(self, matrices: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the product on to each input."""
        cells = matrices.reshape(self.shape)
        for tables in self.inputs:
            tables.add(cells, mass)


@dataclass(frozen=True)
class Dense:
    """Messages over larger cliques of one shape, whose inputs have the same axes.

    The inputs are in two sides, so that the products of both have as few cells as may be: the
    messages are products of matrices, and the cliques themselves are never laid out.
    """

    start: int  # the messages go to the cells from here ...
    stop: int  # ... to before here
    left: Side
    right: Side
    sizes: tuple[int, ...]  # the number of messages, then their axes as the matrices give them
    order: tuple[int, ...]  # the way back to the messages' own order of axes
    scaling: Scaling | None
    is_lean: bool  # whether the sides' products are not kept, but made anew on the way back

    def forward(self, values: FloatArray, logs: FloatArray) -> list[FloatArray]:
        """Write the messages and add to the log-likelihoods; their scales and the products."""
        left, left_logs = self.left.product(values)
        right, right_logs = self.right.product(values)
        whole = left.transpose(0, 2, 1) @ right  # the sum over v, for each b
        scales = np.ones(1)
        if self.scaling is not None:
            rows = whole.reshape(self.sizes[0], -1)  # one for each message
            scales, scale_logs = self.scaling.inverses(rows.sum(axis=1))
            side_logs = left_logs + right_logs + np.zeros(len(rows))
            logs += scale_logs + side_logs @ self.scaling.mass
            rows *= scales[:, None]
        message = whole.reshape(self.sizes).transpose(self.order)
        values[self.start : self.stop].reshape(message.shape)[...] = message
        if self.is_lean:
            return [scales]
        return [scales, left, right]

    def backward(self, products: list[FloatArray], values: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the messages on to what they were made of."""
        scales, *kept = products
        if kept:
            left, right = kept
        else:
            left, _ = self.left.product(values)
            right, _ = self.right.product(values)

        # The share of each cell of the messages, with its axes as the matrices have them. The
        # products are those before scaling, so it is scaled in their place.
        unit = np.empty(self.sizes)
        message = unit.transpose(self.order)
        share = shares(values[self.start : self.stop], mass[self.start : self.stop])
        message[...] = share.reshape(message.shape)
        if self.scaling is not None:
            unit.reshape(len(scales), -1)[...] *= scales[:, None]
        unit = unit.reshape(len(left), left.shape[2], right.shape[2])
        # The mass of a side's product is itself times what the other side and the share give it.
        self.left.share_out(left * (right @ unit.transpose(0, 2, 1)), mass)
        self.right.share_out(right * (left @ unit), mass)


def dense_of(
    start: int, stop: int, recipe: Recipe, scaling: Scaling | None, keep: bool, is_lean: bool
) -> Dense:
    """Merge the axes of messages whose inputs have all the same ones."""
    sizes = recipe.sizes
    holds = recipe.strides[0] != 0  # input, axis
    is_left = _left_side(holds, sizes)
    in_left = holds[is_left].any(axis=0)
    in_right = holds[~is_left].any(axis=0)

    # The axes of a block are in the same inputs: the first tells for all.
    both = []
    left_alone = []
    right_alone = []
    for block in _merged(holds, sizes):
        if in_left[block[0]] and in_right[block[0]]:
            both.append(block)
        elif in_left[block[0]]:
            left_alone.append(block)
        elif in_right[block[0]]:
            right_alone.append(block)

    # The matrices give b, then p, then t.
    order = [axis for block in (*both, *left_alone, *right_alone) for axis in block]
    return Dense(
        start,
        stop,
        left=_side(recipe, np.flatnonzero(is_left).tolist(), both, left_alone, keep),
        right=_side(recipe, np.flatnonzero(~is_left).tolist(), both, right_alone, keep),
        sizes=(len(recipe.begins), *(sizes[axis] for axis in order)),
        order=(0, *(1 + np.argsort(order)).tolist()),
        scaling=scaling,
        is_lean=is_lean,
    )


def _left_side(holds: NDArray[np.bool_], sizes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which inputs to multiply first, apart from the others: both products are to be small.

    All ways are tried for a few inputs; of many, the first ones by size are taken together.
    """
    count = len(holds)
    logs = np.log(sizes)
    if count <= MAX_INPUTS_DIVIDED:  # as bits; the last input is on the right in all of them
        ways = (np.arange(2 ** (count - 1))[:, None] >> np.arange(count)) & 1 == 1
    else:
        rank = np.argsort(np.argsort(holds @ logs))
        ways = rank < np.arange(count)[:, None]
    left_cells = np.exp((ways.astype(int) @ holds > 0) @ logs)
    right_cells = np.exp(((~ways).astype(int) @ holds > 0) @ logs)
    best: NDArray[np.bool_] = ways[np.argmin(left_cells + right_cells)]
    return best


def _side(
    recipe: Recipe, inputs: list[int], both: list[list[int]], alone: list[list[int]], keep: bool
) -> Side:
    """One side: the product of some inputs, whose axes are in blocks."""
    blocks = [*both, [0], *alone]  # the eliminated variable is the first axis of the clique
    holds = recipe.strides[0] != 0
    count = len(recipe.begins)
    tables = []
    for q in sorted(inputs, key=lambda q: prod(np.where(holds[q], recipe.sizes, 1).tolist())):
        present = [block if holds[q, block[0]] else [] for block in blocks]
        tables.append(_tables(recipe, q, present, keep))
    return Side(
        tuple(tables),
        shape=(count, *(_cells(recipe, [block]) for block in blocks)),
        matrix=(count * _cells(recipe, both), recipe.sizes[0], _cells(recipe, alone)),
    )


def _cells(recipe: Recipe, blocks: list[list[int]]) -> int:
    """The cells of a table with the axes of some blocks."""
    return prod(recipe.sizes[axis] for block in blocks for axis in block)


def _tables(recipe: Recipe, column: int, blocks: list[list[int]], keep: bool) -> Tables:
    """The tables of one input; an empty block is one that it does not have."""
    axes = [axis for block in blocks for axis in block]
    tables = Tables(
        begins=recipe.begins[:, column],
        strides=recipe.strides[:, column][:, axes],
        sizes=tuple(recipe.sizes[axis] for axis in axes),
        shape=(len(recipe.begins), *(_cells(recipe, [block]) for block in blocks)),
        absent=tuple(1 + axis for axis, block in enumerate(blocks) if not block),
    )
    if not keep or len(recipe.begins) == 1:  # one alone is read through a view
        return tables
    return replace(tables, kept=tables.index())


def _merged(holds: NDArray[np.bool_], sizes: tuple[int, ...]) -> list[list[int]]:
    """The message's axes in blocks held by the same inputs, the longest last."""
    blocks: dict[bytes, list[int]] = {}
    for axis in range(1, len(sizes)):
        blocks.setdefault(holds[:, axis].tobytes(), []).append(axis)
    return sorted(blocks.values(), key=lambda block: prod(sizes[axis] for axis in block))
