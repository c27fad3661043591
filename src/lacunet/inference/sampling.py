r"""Rows drawn from a network, variable by variable, parents first.

Each row is an independent draw from :math:`\prod_X \theta_{x \mid u}`. For one variable, all
rows are drawn at once: with the cumulative sums :math:`F_j = \sum_{i \le j} \theta_{i \mid u}`
and a uniform number :math:`t \in [0, 1)`, the state is the number of sums that are at most
:math:`t`. The sums are searched by halving, the same few steps for every row, so there is
neither a branch nor a loop over rows.

Exact to the last bit that matters: uniform numbers are multiples of :math:`2^{-53}`, so a
probability is met within that much, and a state of probability zero is never drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, EncodedTable, code_type
from lacunet.errors import LacunetError
from lacunet.network.cpt import Cpt
from lacunet.network.network import FloatArray, Network


class SimulationError(LacunetError):
    """The data asked for cannot be made."""


def check_share(what: str, value: float) -> None:
    """Refuse what is not a share."""
    if not (_is_number(value) and 0 <= value <= 1):
        raise SimulationError(f"{what} must be a number between 0 and 1, not {value!r}.")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_whole(what: str, value: int, *, least: int = 0, hint: str = "") -> None:
    """Refuse what is not a whole number, or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SimulationError(f"{what} must be a whole number, not {value!r}.", hint)
    if value < least:
        raise SimulationError(f"{what} must be at least {least}, not {value}.", hint)


def check_beta(shapes: tuple[float, float]) -> None:
    """Refuse shape parameters that no Beta distribution has."""
    is_pair = isinstance(shapes, Sequence | np.ndarray) and len(shapes) == 2
    if not is_pair or not all(map(_is_number, shapes)):
        raise SimulationError(
            f"beta must be the two shape parameters of a Beta distribution, not {shapes!r}.",
            "as in beta=(3, 7), where 30% of the values are missing on average.",
        )
    for shape in shapes:
        if not 0 < shape < inf:
            raise SimulationError(
                f"a shape parameter of the Beta must be above zero, not {shape!r}."
            )


# Rows drawn at a time: the intermediate arrays stay in the processor's cache.
DRAWN_AT_A_TIME = 32_768


def sample_codes(network: Network, rows: int, rng: np.random.Generator) -> EncodedTable:
    """The codes of complete rows drawn from a network, its variables in their order.

    Raises
    ------
    NetworkError
        The network has no CPTs.

    Examples
    --------
    >>> coin = Network({"Coin": ["head", "tail"]}, {}, {"Coin": [0.0, 1.0]})
    >>> sample_codes(coin, 3, np.random.default_rng(0)).columns["Coin"].tolist()
    [1, 1, 1]
    """
    check_whole("the number of rows", rows, hint="give how many to draw, such as 1000.")
    cpts = [network.cpt(name) for name in network.order]
    columns = draw_columns(cpts, {}, rows, rng)
    in_order = {name: columns[name] for name in network.variables}
    return EncodedTable(network.cardinality_of, in_order)


def draw_columns(
    cpts: Sequence[Cpt], given: Mapping[str, Codes], rows: int, rng: np.random.Generator
) -> dict[str, Codes]:
    """Draw the child of each CPT, one after the other.

    Parameters
    ----------
    cpts
        Parents before children: a parent is in ``given`` or a child further to the left.
    given
        The columns that are there already.
    rows
        The length of every column.
    rng
        Where the randomness comes from.

    Returns
    -------
    The columns drawn, in the order of ``cpts``.
    """
    sampler_of = {cpt.child: _sampler(cpt) for cpt in cpts}
    kinds = {cpt.child: code_type(cpt.table.shape[-1]) for cpt in cpts}
    drawn: dict[str, Any] = {child: np.empty(rows, kind) for child, kind in kinds.items()}
    columns = {**given, **drawn}
    for start in range(0, rows, DRAWN_AT_A_TIME):
        block = slice(start, min(start + DRAWN_AT_A_TIME, rows))
        for child, states in sampler_of.items():
            uniform = rng.random(block.stop - block.start)
            drawn[child][block] = states(columns, block, uniform)
    return drawn


# The states that uniform numbers give some rows, by the columns of the parents.
Sampler = Callable[[Mapping[str, Codes], slice, FloatArray], NDArray[np.intp]]


def _sampler(cpt: Cpt) -> Sampler:
    """A CPT made ready: row after row of cumulative sums, as wide as a power of two.

    The row of a parent configuration starts at the sum of ``code * stride`` over the parents.
    """
    size = cpt.table.shape[-1]
    steps = (size - 1).bit_length()  # halvings until one state is left
    rows = cpt.table.reshape(-1, size)
    sums = np.full((len(rows), 1 << steps), np.inf)  # what no number reaches is never passed
    sums[:, :size] = np.cumsum(rows, axis=1)
    # The sum at the last state of positive probability is one, whatever rounding made of it:
    # no number may pass it and fall on a state of probability zero.
    last = size - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)
    sums[np.arange(sums.shape[1]) >= last[:, None]] = np.inf
    widths = [*cpt.table.shape[1:-1], 1 << steps]
    stride_of = {v: int(np.prod(widths[axis:])) for axis, v in enumerate(cpt.parents)}
    end_to_end = sums.ravel()

    def states(columns: Mapping[str, Codes], block: slice, uniform: FloatArray) -> NDArray[np.intp]:
        """The number of sums that are at most the uniform number, by halving."""
        offsets = np.zeros(len(uniform), np.intp)  # where the row of the parents' states starts
        for parent, stride in stride_of.items():
            offsets += np.multiply(columns[parent][block], stride, dtype=np.intp)
        state = np.zeros(len(uniform), np.intp)
        for step in reversed(range(steps)):
            middle = offsets + state
            middle += (1 << step) - 1
            passed = uniform >= end_to_end[middle]
            state += np.multiply(passed, 1 << step, dtype=np.intp)
        return state

    return states
