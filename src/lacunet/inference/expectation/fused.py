"""The two loops of an E-step compiled by Numba, where it is installed and where that pays.

NumPy reads all values of an input, then multiplies, then sums: three passes over memory. Compiled,
each value is read once. Sums and products are made in the same order, so that results are the
same bits. To load Numba and to compile takes a second or two: as long as reading `PAYS_FROM`
values by NumPy, after which it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from lacunet.counts.em_problems.ragged import Integers
from lacunet.network.network import FloatArray

PAYS_FROM = 3e8  # values read or written in this process, some 5 ns each


@dataclass(frozen=True)
class CompiledLoops:
    """The compiled loops: `multiplied` and `scattered`."""

    multiply: Callable[[FloatArray, Integers, FloatArray, FloatArray], None]
    scatter: Callable[[FloatArray, Integers, FloatArray, FloatArray], None]


READ = SimpleNamespace(values=0.0)  # in this process so far: the one thing here that changes


def kernels(values: int) -> CompiledLoops | None:
    """The compiled loops for reading so many more values; None if they do not pay, or not yet."""
    READ.values += values
    return _compiled() if READ.values >= PAYS_FROM else None


@cache
def _compiled() -> CompiledLoops | None:
    try:
        import numba

        compiled: Any = numba.njit
        return CompiledLoops(compiled(multiplied), compiled(scattered))
    except Exception:  # not there, or not fit for this NumPy: which does the same
        return None


def multiplied(
    values: FloatArray, index: Integers, product: FloatArray, message: FloatArray
) -> None:
    """The products of the inputs, and their sums over the first axis."""
    inputs, states, cells = index.shape
    for state in range(states):
        for cell in range(cells):
            term = values[index[0, state, cell]]
            for number in range(1, inputs):
                term *= values[index[number, state, cell]]
            product[state, cell] = term
            message[cell] = term if state == 0 else message[cell] + term


def scattered(mass: FloatArray, index: Integers, product: FloatArray, share: FloatArray) -> None:
    """Add each product's share of the mass to what it was made of, one input after the other."""
    inputs, states, cells = index.shape
    for number in range(inputs):
        for state in range(states):
            for cell in range(cells):
                if number == 0:
                    product[state, cell] *= share[cell]
                mass[index[number, state, cell]] += product[state, cell]
