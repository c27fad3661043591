r"""A number for each parent configuration: a constant, and a part of each parent's state.

.. math::
    \eta(u) = \beta_0 + \sum_i \beta_{i, u_i}

The baseline state of each parent has no part. There may be a million configurations, so the matrix
:math:`X` of this sum is kept as two: one of the first parents' configurations, one of those of the
others. Sums :math:`X^\top v` and products :math:`X^\top \mathrm{diag}(w) X` are made of marginals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.network.errors import NetworkError
from lacunet.network.network import FloatArray
from lacunet.network.shapes.shape import StatesOfAxes

Integers = NDArray[np.integer]
MAX_PARENT_CONFIGURATIONS = 2**20  # of the parents: tables have as many rows


@dataclass(frozen=True)
class MainEffects:
    """The sum over the parents of a family, with its columns: the constant, then those of each.

    ``first`` has a row for each configuration of the first parents, ``second`` for those of the
    rest; the constant is a column of the former.
    """

    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, sizes: Sequence[int], baselines: Sequence[int]) -> MainEffects:
        """From how many states each parent has, and which of them has no part."""
        coded = [
            np.delete(np.eye(size), baseline, axis=1)
            for size, baseline in zip(sizes, baselines, strict=True)
        ]
        ways = [prod(sizes[:count]) for count in range(len(sizes) + 1)]
        split = min(range(len(ways)), key=lambda count: ways[count] + ways[-1] // ways[count])
        first = _side_by_side(coded[:split])
        constant = np.ones((len(first), 1))
        return cls(np.hstack([constant, first]), _side_by_side(coded[split:]))

    @property
    def columns(self) -> int:
        """How many parameters there are, the constant among them."""
        return int(self.first.shape[1] + self.second.shape[1])

    @property
    def matrix(self) -> FloatArray:
        """The whole matrix: a row for each parent configuration."""
        first = np.repeat(self.first, len(self.second), axis=0)
        return np.hstack([first, np.tile(self.second, (len(self.first), 1))])

    @cached_property
    def alone(self) -> Integers:
        """For each column the configuration where it counts alone; first that of none."""
        none, *of_first = _rows_alone(self.first[:, 1:])
        nothing, *of_second = _rows_alone(self.second)
        width = len(self.second)
        rows = [none * width + nothing]
        rows += [row * width + nothing for row in of_first]
        rows += [none * width + row for row in of_second]
        return np.array(rows)

    def values(self, effects: FloatArray) -> FloatArray:
        """The sum for each configuration, on the last axis, where effects have their columns."""
        split = self.first.shape[1]
        by_first = effects[..., :split] @ self.first.T
        by_second = effects[..., split:] @ self.second.T
        summed = by_first[..., :, None] + by_second[..., None, :]
        return np.asarray(summed.reshape(*effects.shape[:-1], -1))

    def sums(self, values: FloatArray) -> FloatArray:
        """What values of configurations add up to in each column."""
        tables = values.reshape(*values.shape[:-1], len(self.first), len(self.second))
        parts = [tables.sum(axis=-1) @ self.first, tables.sum(axis=-2) @ self.second]
        return np.concatenate(parts, axis=-1)

    def products(self, weights: FloatArray) -> FloatArray:
        """The product of each pair of columns, summed with the weights of configurations."""
        table = weights.reshape(len(self.first), len(self.second))
        both = self.first.T @ table @ self.second
        by_first = (self.first.T * table.sum(axis=1)) @ self.first
        by_second = (self.second.T * table.sum(axis=0)) @ self.second
        split = len(by_first)
        products = np.empty((self.columns, self.columns))
        products[:split, :split] = by_first
        products[split:, split:] = by_second
        products[:split, split:] = both
        products[split:, :split] = both.T
        return products


def _side_by_side(coded: Sequence[FloatArray]) -> FloatArray:
    """The columns of some parents, with a row for each of their configurations."""
    matrix = np.zeros((1, 0))
    for columns in coded:
        before = np.repeat(matrix, len(columns), axis=0)
        matrix = np.hstack([before, np.tile(columns, (len(matrix), 1))])
    return matrix


def _rows_alone(columns: FloatArray) -> list[int]:
    """The row in which no column counts, then for each the one in which it does alone."""
    number = columns.sum(axis=1)
    alone = (columns * (number == 1)[:, None]).argmax(axis=0)
    return [int(np.flatnonzero(number == 0)[0]), *alone.tolist()]


def backed_by_states(rows: FloatArray) -> FloatArray:
    """The rows behind each parent configuration, or behind the rarest of its parents' states.

    Examples
    --------
    Nobody shows both causes, but each is there in some rows.

    >>> backed_by_states(np.array([[5.0, 3.0], [2.0, 0.0]])).tolist()
    [[5.0, 3.0], [2.0, 2.0]]
    """
    backing = np.full(rows.shape, rows.sum())
    for axis in range(rows.ndim):
        others = tuple(other for other in range(rows.ndim) if other != axis)
        backing = np.minimum(backing, rows.sum(axis=others, keepdims=True))
    return np.where(rows > 0, rows, backing)


def check_table_rows(name: str, variable: str, states: StatesOfAxes) -> None:
    """Refuse a shape whose table would have too many rows."""
    rows = prod(map(len, states[:-1]))
    if rows > MAX_PARENT_CONFIGURATIONS:
        raise NetworkError(
            f"the CPT of {variable!r} is to be {name!r} with {len(states) - 1} parents, which have "
            f"{rows:,} configurations: there may be {MAX_PARENT_CONFIGURATIONS:,}, those of 20 "
            "parents of two states.",
            "every CPT is written out as a table: give it fewer parents, for instance by groups "
            "of causes with a variable of their own between.",
        )


def effect_names(
    parents: Sequence[str], states: StatesOfAxes, baselines: Sequence[int]
) -> list[str]:
    """``"Fever=yes"`` for each column but the constant."""
    return [
        f"{parent}={state}"
        for parent, of_parent, baseline in zip(parents, states[:-1], baselines, strict=True)
        for index, state in enumerate(of_parent)
        if index != baseline
    ]
