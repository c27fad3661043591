"""Messages of one level that are computed together, by a few operations on whole arrays.

All values are in one array: the cells of the CPTs first, then those of the messages, group
after group. A group reads its inputs through an *index*: for input ``q``, state ``x`` of the
eliminated variable and cell ``s`` of the messages, ``index[q, x, s]`` is where the value is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.problem_ragged import Integers

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


@dataclass(frozen=True)
class Group:
    """Messages computed together: where they go, how they read, how they are scaled.

    ``kept`` is the index, or None where it is made anew each time from the recipe.
    """

    start: int
    stop: int
    recipes: tuple[Recipe, ...]
    kept: Integers | None
    scaling: Scaling | None

    def index(self) -> Integers:
        """Where the values of the inputs are."""
        return self.recipes[0].index() if self.kept is None else self.kept
