r"""Messages computed by one compiled loop, where Numba is installed and where that pays.

NumPy reads all values of an input, then multiplies, then sums: three passes over memory for each
group of messages, products kept until the way back. Compiled, a cell of a message is finished
before the next is looked at: the places of its inputs lie side by side, state after state, and on
the way back its products are made again from values that are in the cache still. All messages
between two groups of matrices are one call, which holds no lock of the interpreter: threads that
work on other shards go on.

To load Numba and to compile takes about a second, which only many problems repay
(`PAYS_FROM`). Which loop is used depends on the problems alone: so results are the same bits
whatever was computed before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.ragged import Integers
from lacunet.network.network import FloatArray

PAYS_FROM = 2**19  # steps of all problems: an expectation of some 15 ms by NumPy
MOST_CELLS = 2**31  # of a shard, so that its places are narrow integers

# The columns of a table of blocks.
START, MESSAGES, LENGTH, STATES, INPUTS, PLACE, SCALE = range(7)
SMALLEST_SUM = float(np.finfo(np.float64).tiny)  # of a message: dividing by less may overflow

Narrow = NDArray[np.uint32]


@dataclass(frozen=True)
class Loops:
    """The compiled loops of `lacunet.inference.expectation.compiled_loops`."""

    forward: Callable[[FloatArray, Integers, Narrow, FloatArray, FloatArray], None]
    backward: Callable[[FloatArray, FloatArray, Integers, Narrow, FloatArray], None]
    scatter: Callable[[FloatArray, Integers, FloatArray], None]


@cache
def loops() -> Loops | None:
    """The compiled loops; None where there is no Numba."""
    try:
        from lacunet.inference.expectation.compiled_loops import backward, forward, scatter

        return Loops(forward, backward, scatter)
    except Exception:  # not there, or not fit for this NumPy: which does the same
        return None


def add_at(mass: FloatArray, places: Integers, values: FloatArray) -> None:
    """What `numpy.add.at` does, which holds the lock; compiled if there are compiled loops already.

    Both add in the same order, so it does not matter which.
    """
    compiled = loops() if loops.cache_info().currsize else None
    if compiled is None:
        np.add.at(mass, places, values)
    else:
        compiled.scatter(mass, places, values)


@dataclass(frozen=True)
class Fused:
    """Messages computed one after the other by a compiled loop.

    They are in blocks of one shape, whose cells are side by side from ``START`` on: so many
    ``MESSAGES`` of a ``LENGTH``, with as many ``INPUTS`` for each of the ``STATES`` of what is
    eliminated. Where the values of these are begins at ``PLACE``: cell, then state, then input.
    Those that are divided by their sums have these from ``SCALE`` on, one after every few inputs;
    others, where it is -1, count as one message.
    """

    blocks: Integers
    places: Narrow
    mass: FloatArray  # the weights of the problems that each sum serves, a column for each part
    scratch: int  # cells of the largest clique whose product is scaled on the way

    def forward(self, values: FloatArray, logs: FloatArray) -> list[FloatArray]:
        """Write the messages and add to the log-likelihoods; gives what they were multiplied by."""
        compiled = loops()
        assert compiled is not None
        sums = np.ones(len(self.mass))
        compiled.forward(values, self.blocks, self.places, sums, np.empty(self.scratch))
        is_possible = sums > 0
        logs_of_sums = np.log(np.where(is_possible, sums, 1.0))
        logs += (logs_of_sums[:, None] * self.mass).sum(axis=0)
        if not is_possible.all():
            logs[(self.mass[~is_possible] > 0).any(axis=0)] = -np.inf
        return [is_possible / np.where(is_possible, sums, 1.0)]

    def backward(self, products: list[FloatArray], values: FloatArray, mass: FloatArray) -> None:
        """Pass the mass of the messages on to what they were made of."""
        compiled = loops()
        assert compiled is not None
        compiled.backward(values, mass, self.blocks, self.places, products[0])
