"""Messages over large cliques, each computed with whole tables.

The axes of a clique that the same inputs have are merged into one, the longest last: tables
with ten or more axes of a few states each become tables with three or four long ones, which
multiply and add up at the speed of memory, and without any index.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.estep_groups import SMALLEST_SUM, Recipe, shares
from lacunet.inference.estep_structure import INPUTS_BEFORE_SCALING
from lacunet.model.network import FloatArray
from lacunet.statistics.problem_ragged import Integers


@dataclass(frozen=True)
class Dense:
    """Messages with the same strides over a large clique, computed one after the other.

    ``begins[i, q]`` is where input ``q`` of message ``i`` begins, ``places[q]`` where its
    cells are from there, shaped to multiply the others. ``sizes`` and ``order`` are the
    message's axes in that shape, and the way back to their own order. ``mass`` is the weight
    of the problems each message serves, None where the messages are not scaled.
    """

    start: int
    stop: int
    begins: Integers
    places: tuple[Integers, ...]
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    mass: FloatArray | None

    def forward(self, values: FloatArray) -> tuple[list[FloatArray], float]:
        """Write the messages; the products behind them, and the log-likelihood's part."""
        products, logs = [], 0.0
        messages = values[self.start : self.stop].reshape(len(self.begins), -1)
        for row, (begins, message) in enumerate(zip(self.begins, messages, strict=True)):
            weight = None if self.mass is None else float(self.mass[row])
            product, scaled = self._product(begins, values, weight)
            whole = np.add.reduce(product, axis=0, keepdims=True)
            logs += scaled + _scaled(product, whole, weight)
            message[:] = whole.reshape(self.sizes).transpose(self.order).reshape(-1)
            products.append(product)
        return products, logs

    def _product(
        self, begins: Integers, values: FloatArray, weight: float | None
    ) -> tuple[FloatArray, float]:
        product = values.take(begins[0] + self.places[0])
        logs = 0.0
        for done in range(1, len(begins)):
            if done % INPUTS_BEFORE_SCALING == 0:
                logs += _scaled(product, product, weight)
            product = product * values.take(begins[done] + self.places[done])
        return product, logs

    def backward(self, products: list[FloatArray], values: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the messages on to what they were made of."""
        share = shares(values[self.start : self.stop], mass[self.start : self.stop])
        back = tuple(np.argsort(self.order))
        own = tuple(self.sizes[axis] for axis in self.order)
        for begins, product, part in zip(
            self.begins, products, share.reshape(len(self.begins), *own), strict=True
        ):
            cells = product * part.transpose(back).reshape(product.shape[1:])
            for begin, places in zip(begins, self.places, strict=True):
                summed = tuple(
                    axis for axis, size in enumerate(places.shape) if size < cells.shape[axis]
                )
                mass[begin + places] += np.add.reduce(cells, axis=summed, keepdims=True)


def _scaled(product: FloatArray, message: FloatArray, weight: float | None) -> float:
    """Divide a product and its message by the message's sum, if it is to be scaled."""
    if weight is None:
        return 0.0
    total = float(message.sum())
    if total < SMALLEST_SUM:
        product[...] = message[...] = 0
        return -np.inf
    product /= total
    if message is not product:
        message /= total
    return weight * float(np.log(total))


def dense_of(start: int, stop: int, recipe: Recipe, mass: FloatArray | None) -> Dense:
    """Merge the axes of messages whose strides are all those of the first."""
    strides, sizes = recipe.strides[0], recipe.sizes
    holds = strides != 0  # input, axis
    axes = _merged(holds, sizes)
    order = [axis for block in axes[1:] for axis in block]  # the first is the eliminated one
    places = tuple(
        _places(own, sizes, [block if held[block[0]] else [] for block in axes])
        for own, held in zip(strides, holds, strict=True)
    )
    return Dense(
        start,
        stop,
        recipe.begins,
        places,
        tuple(sizes[axis] for axis in order),
        tuple(np.argsort(order).tolist()),
        mass,
    )


def _merged(holds: NDArray[np.bool_], sizes: tuple[int, ...]) -> list[list[int]]:
    """The axes in blocks held by the same inputs, the eliminated one alone, the longest last."""
    blocks: dict[bytes, list[int]] = {}
    for axis in range(1, len(sizes)):
        blocks.setdefault(holds[:, axis].tobytes(), []).append(axis)
    found = sorted(blocks.values(), key=lambda block: np.prod([sizes[axis] for axis in block]))
    return [[0], *found]


def _places(strides: Integers, sizes: tuple[int, ...], blocks: list[list[int]]) -> Integers:
    """Where the cells of one input are from its beginning, an axis for each block."""
    places = np.zeros(1, dtype=np.int64)
    for block in blocks:
        places = places[..., None]
        for axis in block:
            places = (places[..., None] + strides[axis] * np.arange(sizes[axis])).reshape(
                *places.shape[:-1], -1
            )
    from_begin: Integers = places[0]
    return from_begin
