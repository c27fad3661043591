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

    Tied families have the same address: their cells are those of the first of them, which is a
    *head*. So whatever arrives at the cells of one of them is added to what is there of the others.
    """

    network: Network
    cardinalities: Integers
    offsets: Integers  # where each family begins
    sizes: Integers  # how many cells it has
    heads: Integers  # the families that have cells of their own, in the order of these
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
        head = _heads(network, len(axes))
        heads = np.flatnonzero(head == np.arange(len(axes)))
        ends = np.cumsum(sizes[heads])
        begins = np.zeros(len(axes), dtype=np.int64)
        begins[heads] = ends - sizes[heads]
        return cls(
            network=network,
            cardinalities=cardinalities,
            offsets=begins[head],
            sizes=sizes,
            heads=heads,
            axes=axes,
            strides=strides,
            children=Ragged.of_pairs(len(axes), parent, child),
        )

    @property
    def cells(self) -> int:
        """The number of cells of all CPTs."""
        return int(self.sizes[self.heads].sum())

    def flat(self, tables: Mapping[str, FloatArray]) -> FloatArray:
        """The cells of all tables, end to end; those of heads stand for all that are tied."""
        names = self.network.heads
        return np.concatenate([np.ravel(tables[name]) for name in names])

    def added(self, tables: Mapping[str, FloatArray]) -> FloatArray:
        """The cells of all tables, where those that are tied are added up."""
        if not self.network.tied:
            return self.flat(tables)
        cells = np.zeros(self.cells)
        for index, name in enumerate(self.network.variables):
            start = self.offsets[index]
            cells[start : start + self.sizes[index]] += np.ravel(tables[name])
        return cells

    def tables(self, cells: FloatArray) -> dict[str, FloatArray]:
        """The table of every family, as views: the reverse of `flat`."""
        tables = {}
        for index, name in enumerate(self.network.variables):
            start = self.offsets[index]
            part = cells[start : start + self.sizes[index]]
            tables[name] = part.reshape(self.network.shape(self.network.family(name)))
        return tables

    def families_of(self) -> Ragged:
        """The families that each variable is in, ascending."""
        return Ragged.of_pairs(len(self.cardinalities), self.axes.items, self.axes.owners)


def _heads(network: Network, families: int) -> Integers:
    """For each family, the one whose cells are its own; those behind the network are untied."""
    head = np.arange(families)
    if network.tied:
        place_of = {name: position for position, name in enumerate(network.variables)}
        places = [place_of[network.head_of[name]] for name in network.variables]
        head[: len(places)] = places
    return head


@lru_cache(maxsize=8)
def layout_of(network: Network) -> Layout:
    """The layout of a network without CPTs."""
    index_of = {name: index for index, name in enumerate(network.variables)}
    families = [[index_of[name] for name in family] for family in network.families]
    lengths = np.array([len(family) for family in families])
    cardinalities = np.array(network.shape(network.variables), dtype=np.int64)
    axes = Ragged.of_lengths(lengths, np.concatenate(families, dtype=np.int64))
    return Layout.of(network, cardinalities, axes)
