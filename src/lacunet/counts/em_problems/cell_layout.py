"""Where things are: all CPTs end to end in one array of cells, and the graph beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lacunet.counts.em_problems.ragged import Integers, Ragged
from lacunet.network.network import FloatArray, Network


@dataclass(frozen=True, eq=False)
class Layout:
    """The cells of all CPTs in one array, and the axes of each.

    Variables and families go by their place in ``network.variables``. The cell of family
    ``f`` at states :math:`x` is ``offsets[f] + sum(stride * x)`` over its ``axes`` (parents,
    then the child) with the ``strides`` beside them. ``children`` are those of each variable.
    """

    network: Network
    cardinalities: Integers
    offsets: Integers
    axes: Ragged
    strides: Integers
    children: Ragged

    @classmethod
    def of(cls, network: Network, cardinalities: Integers, axes: Ragged) -> Layout:
        """The layout of families over axes of these cardinalities, the child last."""
        strides, sizes = axes.strides(cardinalities[axes.items])
        is_parent = np.ones(len(axes.items), dtype=bool)
        is_parent[axes.starts[1:] - 1] = False
        parent, child = axes.items[is_parent], axes.owners[is_parent]
        return cls(
            network=network,
            cardinalities=cardinalities,
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            axes=axes,
            strides=strides,
            children=Ragged.of_pairs(len(axes), parent, child),
        )

    @property
    def cells(self) -> int:
        """The number of cells of all CPTs."""
        return int(self.offsets[-1])

    def flat(self, tables: Mapping[str, FloatArray]) -> FloatArray:
        """The cells of all tables, end to end."""
        return np.concatenate([np.ravel(tables[name]) for name in self.network.variables])

    def tables(self, cells: FloatArray) -> dict[str, FloatArray]:
        """The table of every family: the reverse of `flat`, as views."""
        return {
            name: cells[start:stop].reshape(self.network.shape(self.network.family(name)))
            for name, start, stop in zip(
                self.network.variables, self.offsets, self.offsets[1:], strict=False
            )
        }

    def families_of(self) -> Ragged:
        """The families that each variable is in, ascending."""
        return Ragged.of_pairs(len(self.cardinalities), self.axes.items, self.axes.owners)


@lru_cache(maxsize=8)
def layout_of(network: Network) -> Layout:
    """The layout of a network without CPTs."""
    index_of = {name: index for index, name in enumerate(network.variables)}
    families = [[index_of[name] for name in family] for family in network.families]
    lengths = np.array([len(family) for family in families])
    cardinalities = np.array(network.shape(network.variables), dtype=np.int64)
    axes = Ragged.of_lengths(lengths, np.concatenate(families, dtype=np.int64))
    return Layout.of(network, cardinalities, axes)
