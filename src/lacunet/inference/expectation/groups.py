r"""Messages of one level that are computed together, by a few operations on whole arrays.

All values are in one array: the cells of the CPTs first, then those of the messages, group
after group. A gathered group reads its inputs through an *index*: for input ``q``, state ``x``
of the eliminated variable and cell ``s`` of the messages, ``index[q, x, s]`` is where the value
is. The tables of small cliques, thousands of them, are multiplied in one go.

Messages over large cliques, each a product of matrices.

The inputs are multiplied in two sides, and the axes that only one side has are never laid out
against each other: with :math:`b` the axes of both, :math:`p` and :math:`t` those of one side,

.. math:: m(b, p, t) = \sum_v P(b, p, v) \, T(b, t, v)

The axes that the same inputs have are merged into one, the longest last: tables with ten or more
axes of a few states each become tables with three or four long ones, which multiply and add up
at the speed of memory. Inputs are read through strided views, without any index.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.expectation.structure import INPUTS_BEFORE_SCALING
from lacunet.model.network import FloatArray
from lacunet.statistics.problems.ragged import Integers

SMALLEST_SUM = float(np.finfo(np.float64).tiny)
BYTES = np.dtype(np.float64).itemsize
MOST_INPUTS = 8  # of which all divisions in two are tried
CELLS_OF_A_TAIL = 64  # the inner loop of making an index is at least this long


@dataclass(frozen=True)
class Recipe:
    """How to make the index of messages of one shape.

    ``begins[i, q]`` is where input ``q`` of message ``i`` begins, ``strides[i, q]`` how far
    each axis of the clique moves in it (zero for an axis that it does not have).
    """

    begins: Integers
    strides: Integers
    sizes: tuple[int, ...]  # of the eliminated variable, then the message's axes

    def index(self) -> Integers:
        """The index of these messages: input, eliminated state, cell of message."""
        begins = self.begins.T[:, None, :, None]
        moves = np.moveaxis(self.strides, 0, 1)  # input, message, axis
        head, tail = _halves(self.sizes)
        eliminated = moves[:, None, :, 0, None] * np.arange(self.sizes[0])[None, :, None, None]
        first = begins + eliminated + _steps(moves, self.sizes, head)[:, None]
        last = _steps(moves, self.sizes, tail)
        whole = first[..., None] + last[:, None, :, None, :]
        return whole.reshape(len(begins), self.sizes[0], -1)


def _halves(sizes: tuple[int, ...]) -> tuple[range, range]:
    """Split the message's axes so that the second part is long enough to loop over."""
    cut, cells = len(sizes), 1
    while cut > 1 and cells < CELLS_OF_A_TAIL:
        cut -= 1
        cells *= sizes[cut]
    return range(1, cut), range(cut, len(sizes))


def _steps(moves: Integers, sizes: tuple[int, ...], axes: range) -> Integers:
    """How far each cell over some axes is from the first: input, message, cell."""
    found = np.zeros((*moves.shape[:2], 1), dtype=np.int64)
    for axis in axes:
        move = moves[:, :, axis, None] * np.arange(sizes[axis])
        found = (found[..., None] + move[:, :, None, :]).reshape(*moves.shape[:2], -1)
    return found


@dataclass(frozen=True)
class Scaling:
    """Messages of a group that are divided by their sums, so that products never underflow.

    ``begins`` and ``lengths`` are those of each message within the group's cells, ``mass`` has
    the weights of the problems that it serves: the sums' logarithms, weighted by it, add up to
    the log-likelihood of each part of the data.
    """

    begins: Integers
    lengths: Integers
    mass: FloatArray

    def scale(self, product: FloatArray, message: FloatArray) -> FloatArray:
        """Divide products and messages by the messages' sums; the sums' logarithms, weighted.

        A sum too small to divide by counts as zero: the message becomes zero, and so do those
        that read it.
        """
        sums = np.add.reduceat(message, self.begins)
        possible = sums >= SMALLEST_SUM
        inverse = np.repeat(possible / np.where(possible, sums, 1), self.lengths)
        message *= inverse
        product *= inverse
        logs: FloatArray = np.log(np.where(possible, sums, 1)) @ self.mass
        if not possible.all():
            logs[(self.mass[~possible] > 0).any(axis=0)] = -np.inf
        return logs


@dataclass(frozen=True)
class Gathered:
    """Messages computed together through an index.

    The messages go to the cells from ``start`` to ``stop``. ``source`` is the index, or the
    recipe by which it is made anew each time.
    """

    start: int
    stop: int
    source: Integers | Recipe
    scaling: Scaling | None

    def index(self) -> Integers:
        """Where the values of the inputs are."""
        return self.source.index() if isinstance(self.source, Recipe) else self.source

    def forward(self, values: FloatArray, logs: FloatArray) -> list[FloatArray]:
        """Write the messages and add to the log-likelihoods; the products behind them."""
        index = self.index()
        product: FloatArray = values.take(index[0])
        for done, places in enumerate(index[1:], start=1):
            if done % INPUTS_BEFORE_SCALING == 0 and self.scaling is not None:
                logs += self.scaling.scale(product, np.add.reduce(product, axis=0))
            product *= values.take(places)
        message = values[self.start : self.stop]
        np.add.reduce(product, axis=0, out=message)
        if self.scaling is not None:
            logs += self.scaling.scale(product, message)
        return [product]

    def backward(self, products: list[FloatArray], values: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the messages on to what they were made of."""
        (product,) = products
        product *= shares(values[self.start : self.stop], mass[self.start : self.stop])
        for places in self.index():
            np.add.at(mass, places.reshape(-1), product.reshape(-1))


def shares(message: FloatArray, mass: FloatArray) -> FloatArray:
    """The mass of each cell of a message for one unit of its value; none where that is zero."""
    found = np.zeros_like(message)
    np.divide(mass, message, out=found, where=message > 0)
    return found


@dataclass(frozen=True)
class View:
    """How one input of a large clique is read: a view of its cells, shaped to multiply others.

    ``shape`` and ``strides`` (in bytes) are those of its own axes, ``merged`` is the shape
    after axes are merged, with length one along the ``absent`` axes that the input does not have.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    merged: tuple[int, ...]
    absent: tuple[int, ...]

    def of(self, values: FloatArray, begin: int) -> FloatArray:
        """The cells, not copied."""
        offset = begin * values.itemsize
        return np.ndarray(self.shape, values.dtype, values, offset, self.strides)


@dataclass(frozen=True)
class Side:
    """Some inputs of a large clique, whose product is a stack of matrices.

    ``inputs`` are their columns, ``views`` how they are read. The product has the axes of
    ``shape``, merged, the eliminated one first; ``turn`` and ``matrix`` make of it, for each cell
    of the axes that both sides have, a matrix of the axes of this side alone and the eliminated
    one; ``turned`` and ``back`` are the way back.
    """

    inputs: tuple[int, ...]
    views: tuple[View, ...]
    shape: tuple[int, ...]
    turn: tuple[int, ...]
    turned: tuple[int, ...]
    back: tuple[int, ...]
    matrix: tuple[int, int, int]

    def product(self, begins: list[int], values: FloatArray) -> tuple[FloatArray, float]:
        """The matrices of one message, and the logarithm of what they were divided by."""
        product, log = np.ones((1,) * len(self.shape)), 0.0
        for done, (input_, view) in enumerate(zip(self.inputs, self.views, strict=True)):
            table = view.of(values, begins[input_]).reshape(view.merged)
            if done and done % INPUTS_BEFORE_SCALING == 0:  # then the message is scaled too
                total = float(product.sum())
                if total >= SMALLEST_SUM:
                    product /= total
                    log += float(np.log(total))
            product = product * table if done else table
        if product.shape != self.shape:
            product = np.broadcast_to(product, self.shape)
        return product.transpose(self.turn).reshape(self.matrix), log

    def share_out(self, begins: list[int], matrices: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the product on to each input."""
        cells = matrices.reshape(self.turned).transpose(self.back)
        for input_, view in zip(self.inputs, self.views, strict=True):
            target = view.of(mass, begins[input_])
            target += np.add.reduce(cells, axis=view.absent).reshape(view.shape)


@dataclass(frozen=True)
class Dense:
    """Messages with the same strides over a large clique, computed one after the other.

    The inputs are in two sides, so that the products of both have as few cells as may be: the
    message is a product of matrices, and the clique itself is never laid out.

    ``begins[i, q]`` is where input ``q`` of message ``i`` begins. ``sizes`` and ``order`` are the
    message's axes as the matrices give them, and the way back to their own order. ``mass`` has
    the weights of the problems each message serves, None where the messages are not scaled.
    If ``is_lean``, the sides' products are not kept but made anew on the way back.
    """

    start: int
    stop: int
    begins: Integers
    left: Side
    right: Side
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    mass: FloatArray | None
    is_lean: bool

    def forward(self, values: FloatArray, logs: FloatArray) -> list[FloatArray]:
        """Write the messages and add to the log-likelihoods; their sums and the products."""
        sums = np.ones(len(self.begins))
        found = [sums]
        messages = values[self.start : self.stop].reshape(len(self.begins), -1)
        for row, message in enumerate(messages):
            left, right, log = self._sides(row, values)
            whole = left @ right.transpose(0, 2, 1)
            if self.mass is not None:
                sums[row] = _scaled(whole, self.mass[row], logs)
                logs += log * self.mass[row]
            message[:] = whole.reshape(self.sizes).transpose(self.order).reshape(-1)
            if not self.is_lean:
                found += (left, right)
        return found

    def _sides(self, row: int, values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        begins = self.begins[row].tolist()
        left, log = self.left.product(begins, values)
        right, other_log = self.right.product(begins, values)
        return left, right, log + other_log

    def backward(self, products: list[FloatArray], values: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the messages on to what they were made of."""
        sums, *kept = products
        share = shares(values[self.start : self.stop], mass[self.start : self.stop])
        back = tuple(np.argsort(self.order))
        own = tuple(self.sizes[axis] for axis in self.order)
        for row, part in enumerate(share.reshape(len(self.begins), *own)):
            left, right = (
                self._sides(row, values)[:2] if self.is_lean else kept[2 * row : 2 * row + 2]
            )
            whole = part.transpose(back).reshape(len(left), left.shape[1], right.shape[1])
            unit = whole / sums[row]
            begins = self.begins[row].tolist()
            self.left.share_out(begins, left * (unit @ right), mass)
            self.right.share_out(begins, right * (unit.transpose(0, 2, 1) @ left), mass)


def _scaled(message: FloatArray, weights: FloatArray, logs: FloatArray) -> float:
    """Divide a message by its sum, which is returned; its logarithm, weighted, is added."""
    total = float(message.sum())
    if total < SMALLEST_SUM:
        message[...] = 0
        logs += np.where(weights > 0, -np.inf, 0.0)
        return 1.0
    message /= total
    logs += weights * np.log(total)
    return total


def dense_of(
    start: int, stop: int, recipe: Recipe, mass: FloatArray | None, is_lean: bool
) -> Dense:
    """Merge the axes of messages whose strides are all those of the first."""
    strides, sizes = recipe.strides[0], recipe.sizes
    holds = strides != 0  # input, axis
    chosen = _left_side(holds, sizes)
    blocks = _merged(holds, sizes)
    in_left, in_right = (holds[side].any(axis=0) for side in (chosen, ~chosen))
    both = [block for block in blocks if in_left[block[0]] and in_right[block[0]]]
    sides, order = [], [axis for block in both for axis in block]
    for inside, other, inputs in ((in_left, in_right, chosen), (in_right, in_left, ~chosen)):
        alone = [block for block in blocks if inside[block[0]] and not other[block[0]]]
        order += [axis for block in alone for axis in block]
        sides.append(_side(strides, sizes, np.flatnonzero(inputs).tolist(), both, alone))
    return Dense(
        start,
        stop,
        recipe.begins,
        sides[0],
        sides[1],
        tuple(sizes[axis] for axis in order),
        tuple(np.argsort(order).tolist()),
        mass,
        is_lean,
    )


def _left_side(holds: NDArray[np.bool_], sizes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which inputs to multiply first, apart from the others: both products are to be small.

    All ways are tried for a few inputs; of many, the first ones by size are taken together.
    """
    count = len(holds)
    logs = np.log(sizes)
    if count <= MOST_INPUTS:
        ways = (np.arange(2 ** (count - 1))[:, None] >> np.arange(count)) & 1 == 1
    else:
        rank = np.argsort(np.argsort(holds @ logs))
        ways = rank < np.arange(count)[:, None]
    cells = [np.exp((side.astype(int) @ holds > 0) @ logs) for side in (ways, ~ways)]
    found: NDArray[np.bool_] = ways[np.argmin(cells[0] + cells[1])]
    return found


def _side(
    strides: Integers,
    sizes: tuple[int, ...],
    inputs: list[int],
    both: list[list[int]],
    alone: list[list[int]],
) -> Side:
    cells = {id(block): prod(sizes[axis] for axis in block) for block in both + alone}
    blocks = [[0], *sorted(both + alone, key=lambda block: cells[id(block)])]  # the longest last
    place = {id(block): axis for axis, block in enumerate(blocks)}
    holds = strides != 0
    inputs = sorted(inputs, key=lambda q: prod(np.where(holds[q], sizes, 1).tolist()))
    shape = tuple(prod(sizes[axis] for axis in block) for block in blocks)
    turn = (*(place[id(block)] for block in both + alone), 0)
    return Side(
        tuple(inputs),
        tuple(
            _view(strides[q], sizes, [block if holds[q, block[0]] else [] for block in blocks])
            for q in inputs
        ),
        shape,
        turn,
        tuple(shape[axis] for axis in turn),
        tuple(np.argsort(turn).tolist()),
        (prod(cells[id(b)] for b in both), prod(cells[id(b)] for b in alone), sizes[0]),
    )


def _merged(holds: NDArray[np.bool_], sizes: tuple[int, ...]) -> list[list[int]]:
    """The message's axes in blocks held by the same inputs, the longest last."""
    blocks: dict[bytes, list[int]] = {}
    for axis in range(1, len(sizes)):
        blocks.setdefault(holds[:, axis].tobytes(), []).append(axis)
    return sorted(blocks.values(), key=lambda block: prod(sizes[axis] for axis in block))


def _view(strides: Integers, sizes: tuple[int, ...], blocks: list[list[int]]) -> View:
    axes = [axis for block in blocks for axis in block]
    return View(
        tuple(sizes[axis] for axis in axes),
        tuple(int(strides[axis]) * BYTES for axis in axes),
        tuple(prod(sizes[axis] for axis in block) for block in blocks),
        tuple(place for place, block in enumerate(blocks) if not block),
    )
