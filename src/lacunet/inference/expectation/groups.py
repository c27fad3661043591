"""Messages of one level that are computed together, by a few operations on whole arrays.

All values are in one array: the cells of the CPTs first, then those of the messages, group
after group. A gathered group reads its inputs through an *index*: for input ``q``, state ``x``
of the eliminated variable and cell ``s`` of the messages, ``index[q, x, s]`` is where the value
is. The tables of small cliques, thousands of them, are multiplied in one go.

Messages over large cliques, each computed with whole tables.

The axes of a clique that the same inputs have are merged into one, the longest last: tables
with ten or more axes of a few states each become tables with three or four long ones, which
multiply and add up at the speed of memory. Inputs are read through strided views, without any
index.
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
    after axes are merged, with length one along the axes that the input does not have.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    merged: tuple[int, ...]

    def of(self, values: FloatArray, begin: int) -> FloatArray:
        """The cells, not copied."""
        offset = begin * values.itemsize
        return np.ndarray(self.shape, values.dtype, values, offset, self.strides)


@dataclass(frozen=True)
class Dense:
    """Messages with the same strides over a large clique, computed one after the other.

    ``begins[i, q]`` is where input ``q`` of message ``i`` begins, ``views[q]`` how its cells
    are read from there. ``sizes`` and ``order`` are the message's axes in the merged shape,
    and the way back to their own order. ``mass`` has the weights of the problems each message
    serves, None where the messages are not scaled. If ``is_lean``, products are not kept but
    made anew on the way back.
    """

    start: int
    stop: int
    begins: Integers
    views: tuple[View, ...]
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    mass: FloatArray | None
    is_lean: bool

    def forward(self, values: FloatArray, logs: FloatArray) -> list[FloatArray]:
        """Write the messages and add to the log-likelihoods; the products, if they are kept."""
        products = []
        messages = values[self.start : self.stop].reshape(len(self.begins), -1)
        for row, message in enumerate(messages):
            product, whole = self._multiplied(row, values, logs)
            message[:] = whole.reshape(self.sizes).transpose(self.order).reshape(-1)
            if not self.is_lean:
                products.append(product)
        return products

    def _multiplied(
        self, row: int, values: FloatArray, logs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The product of the inputs of one message, and the message, both scaled."""
        begins = self.begins[row].tolist()
        weights = None if self.mass is None else self.mass[row]
        first = np.array(self.views[0].of(values, begins[0]), order="C")
        product = first.reshape(self.views[0].merged)
        for done in range(1, len(begins)):
            if weights is not None and done % INPUTS_BEFORE_SCALING == 0:
                logs += _scaled(product, product, weights)
            view = self.views[done]
            table = view.of(values, begins[done]).reshape(view.merged)
            fits = np.broadcast_shapes(product.shape, table.shape) == product.shape
            product = np.multiply(product, table, out=product if fits else None)
        whole = np.add.reduce(product, axis=0, keepdims=True)
        if weights is not None:
            logs += _scaled(product, whole, weights)
        return product, whole

    def backward(self, products: list[FloatArray], values: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the messages on to what they were made of."""
        share = shares(values[self.start : self.stop], mass[self.start : self.stop])
        back = tuple(np.argsort(self.order))
        own = tuple(self.sizes[axis] for axis in self.order)
        told = np.zeros(0 if self.mass is None else self.mass.shape[1])  # the logarithms, again
        for row, part in enumerate(share.reshape(len(self.begins), *own)):
            cells = self._multiplied(row, values, told)[0] if self.is_lean else products[row]
            cells *= part.transpose(back).reshape(cells.shape[1:])
            for begin, view in zip(self.begins[row].tolist(), self.views, strict=True):
                summed = tuple(
                    axis for axis, size in enumerate(view.merged) if size < cells.shape[axis]
                )
                target = view.of(mass, begin)
                target += np.add.reduce(cells, axis=summed).reshape(view.shape)


def _scaled(product: FloatArray, message: FloatArray, weights: FloatArray) -> FloatArray:
    """Divide a product and its message by the message's sum."""
    total = float(message.sum())
    if total < SMALLEST_SUM:
        product[...] = message[...] = 0
        return np.where(weights > 0, -np.inf, 0.0)
    product /= total
    if message is not product:
        message /= total
    logs: FloatArray = weights * np.log(total)
    return logs


def dense_of(
    start: int, stop: int, recipe: Recipe, mass: FloatArray | None, is_lean: bool
) -> Dense:
    """Merge the axes of messages whose strides are all those of the first."""
    strides, sizes = recipe.strides[0], recipe.sizes
    holds = strides != 0  # input, axis
    blocks = _merged(holds, sizes)
    order = [axis for block in blocks[1:] for axis in block]  # the first is the eliminated one
    views = tuple(
        _view(own, sizes, [block if held[block[0]] else [] for block in blocks])
        for own, held in zip(strides, holds, strict=True)
    )
    return Dense(
        start,
        stop,
        recipe.begins,
        views,
        tuple(sizes[axis] for axis in order),
        tuple(np.argsort(order).tolist()),
        mass,
        is_lean,
    )


def _merged(holds: NDArray[np.bool_], sizes: tuple[int, ...]) -> list[list[int]]:
    """The axes in blocks held by the same inputs, the eliminated one alone, the longest last."""
    blocks: dict[bytes, list[int]] = {}
    for axis in range(1, len(sizes)):
        blocks.setdefault(holds[:, axis].tobytes(), []).append(axis)
    found = sorted(blocks.values(), key=lambda block: np.prod([sizes[axis] for axis in block]))
    return [[0], *found]


def _view(strides: Integers, sizes: tuple[int, ...], blocks: list[list[int]]) -> View:
    axes = [axis for block in blocks for axis in block]
    return View(
        tuple(sizes[axis] for axis in axes),
        tuple(int(strides[axis]) * BYTES for axis in axes),
        tuple(prod(sizes[axis] for axis in block) for block in blocks),
    )
