r"""Where counts become CPTs: each row divided by its sum, or the likeliest table of a shape.

.. math::
    \theta(x \mid u) = \frac{n(u, x)}{n(u)}, \qquad
    \text{or} \quad \arg\max_{\theta \in \text{shape}} \sum_{u, x} n(u, x) \log \theta(x \mid u)

All methods learn by this file: closed forms a family at a time (`lacunet.learning.cpts`), EM all
CPTs at once (`lacunet.learning.em.start`). Counts of what is no full table go to its shape
(`lacunet.network.shapes`). Only the judge of structures has its own division
(`lacunet.structure.judge_by_em`): it knows tables alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.counts.em_problems.ragged import Integers
from lacunet.network.network import FloatArray, Mask
from lacunet.network.shapes.newton import LAST_GAIN, LAST_GAIN_OF_MANY
from lacunet.network.shapes.shape import Shaped


@dataclass(frozen=True)
class CptRows:
    """The rows of all CPTs, laid end to end."""

    begins: Integers  # where each begins
    lengths: Integers  # how long it is
    possible: NDArray[np.bool_] | None = None  # cells that are not structural zeros; None: all
    shaped: tuple[tuple[slice, Shaped], ...] = ()  # the cells of CPTs that are no full tables
    width: int = 0  # of all rows, where they are of one CPT

    @classmethod
    def of(cls, layout: Layout) -> CptRows:
        """The rows of a layout's CPTs."""
        heads = layout.heads
        states = layout.cardinalities[heads]
        lengths = np.repeat(states, layout.sizes[heads] // states)
        possible = None
        possible_of = layout.network.possible_of
        if possible_of:
            possible = np.ones(layout.cells, dtype=bool)
            tables = layout.tables(possible)  # views: what is written there is written here
            for name in possible_of:
                tables[name][...] = possible_of[name]
        shaped = []
        for head in heads.tolist():
            name = layout.network.variables[head]
            if name in layout.network.shaped_of:
                begin = int(layout.offsets[head])
                cells = slice(begin, begin + int(layout.sizes[head]))
                shaped.append((cells, layout.network.shaped_of[name]))
        return cls(np.cumsum(lengths) - lengths, lengths, possible, tuple(shaped))

    @classmethod
    def of_family(
        cls, shape: tuple[int, ...], possible: Mask | None = None, shaped: Shaped | None = None
    ) -> CptRows:
        """The rows of one CPT, the child on the last axis.

        Parameters
        ----------
        possible
            Which cells are not structural zeros. It may have fewer axes in front.
        shaped
            The shape of the CPT; None for a full table.
        """
        size = prod(shape)
        begins = np.arange(0, size, shape[-1])
        mask = None if possible is None else np.ravel(np.broadcast_to(possible, shape))
        of_shape = () if shaped is None else ((slice(0, size), shaped),)
        return cls(begins, np.full(len(begins), shape[-1]), mask, of_shape, shape[-1])

    def likeliest(self, counts: FloatArray, near: FloatArray | None = None) -> FloatArray:
        """The CPTs under which counts are likeliest: each row divided by its sum, or by its shape.

        Parameters
        ----------
        near
            Cells that cannot be far, those before a step: where the shapes begin to look.
        """
        last_gain = LAST_GAIN if near is None else LAST_GAIN_OF_MANY
        cells = self.normalised(counts)
        for where, shaped in self.shaped:
            begin = None if near is None else near[where].reshape(shaped.shape)
            table = shaped.fit(counts[where].reshape(shaped.shape), begin, last_gain)
            cells[where] = np.ravel(table)
        return cells

    def shaped_near(self, cells: FloatArray, weights: FloatArray) -> FloatArray:
        """Cells with each CPT that is no full table moved to the nearest one of its shape.

        The nearest is the likeliest, where each CPT row has the weight that is expected there.
        """
        if not self.shaped:
            return cells
        in_rows = np.repeat(np.add.reduceat(weights, self.begins), self.lengths)
        moved = cells.copy()
        for where, shaped in self.shaped:
            counts = (cells[where] * in_rows[where]).reshape(shaped.shape)
            table = shaped.fit(counts, cells[where].reshape(shaped.shape), LAST_GAIN_OF_MANY)
            moved[where] = np.ravel(table)
        return moved

    def normalised(self, weights: FloatArray) -> FloatArray:
        """Each row divided by its sum; a row of zeros becomes uniform.

        What is in cells that are structural zeros is left out.
        """
        if self.possible is not None:
            weights = np.where(self.possible, weights, 0.0)
        sums = self._sums(weights)
        is_empty = sums == 0
        if is_empty.any():
            uniform = 1.0 if self.possible is None else self.possible
            weights = np.where(is_empty, uniform, weights)
            sums = self._sums(weights)
        rows: FloatArray = weights / sums
        return rows

    def _sums(self, weights: FloatArray) -> FloatArray:
        """For each cell the sum of its row."""
        if self.width:
            return np.repeat(weights.reshape(-1, self.width).sum(axis=1), self.width)
        return np.repeat(np.add.reduceat(weights, self.begins), self.lengths)
