"""Messages of one level that are computed together, by a few operations on whole arrays.

All values are in one array: the cells of the CPTs first, then those of the messages, group
after group. A gathered group reads its inputs through an *index*: for input ``q``, state ``x``
of the eliminated variable and cell ``s`` of the messages, ``index[q, x, s]`` is where the value
is. The tables of small cliques, thousands of them, are multiplied in one go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.inference.estep_structure import INPUTS_BEFORE_SCALING
from lacunet.model.network import FloatArray
from lacunet.statistics.problem_ragged import Integers

SMALLEST_SUM = float(np.finfo(np.float64).tiny)
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

    ``begins`` and ``lengths`` are those of each message within the group's cells, ``mass`` is
    the weight of the problems that it serves: the sums' logarithms, weighted by it, add up to
    the log-likelihood.
    """

    begins: Integers
    lengths: Integers
    mass: FloatArray

    def scale(self, product: FloatArray, message: FloatArray) -> float:
        """Divide products and messages by the messages' sums; the sums' logarithms, weighted.

        A sum too small to divide by counts as zero: the message becomes zero, and so do those
        that read it.
        """
        sums = np.add.reduceat(message, self.begins)
        possible = sums >= SMALLEST_SUM
        inverse = np.repeat(possible / np.where(possible, sums, 1), self.lengths)
        message *= inverse
        product *= inverse
        return float(self.mass @ np.log(sums)) if possible.all() else -np.inf


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

    def forward(self, values: FloatArray) -> tuple[list[FloatArray], float]:
        """Write the messages; the products behind them, and the log-likelihood's part."""
        index = self.index()
        product: FloatArray = values.take(index[0])
        logs = 0.0
        for done, places in enumerate(index[1:], start=1):
            if done % INPUTS_BEFORE_SCALING == 0 and self.scaling is not None:
                logs += self.scaling.scale(product, np.add.reduce(product, axis=0))
            product *= values.take(places)
        message = values[self.start : self.stop]
        np.add.reduce(product, axis=0, out=message)
        if self.scaling is not None:
            logs += self.scaling.scale(product, message)
        return [product], logs

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
