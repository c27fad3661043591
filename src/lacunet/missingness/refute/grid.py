"""Every configuration of a submodel's nodes, and what can be observed of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import added_up
from lacunet.counts.distinct import pack_keys
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.network.network import FloatArray
from lacunet.network.nodes import Mechanism

Integers = NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Grid:
    """Every configuration of a submodel's nodes, one a column, and what each node does there."""

    submodel: Submodel
    value_of: Mapping[AnyNode, Integers]  # the column of a node's CPT that a configuration takes
    rows: Mapping[AnyNode, Integers]  # and the row
    sizes: Mapping[AnyNode, tuple[int, int]]  # of the CPTs
    manifest: Integers  # the cell of what can be observed; the one after the last: not recorded
    cells: int  # of what can be observed
    codes_of: Mapping[str, Integers]  # of each variable, by cell; missing is one more state
    # For a mechanism with R[later] <= R[earlier]: which rows of its CPT have R[earlier] = 0.
    rows_of_zero: Mapping[AnyNode, NDArray[np.bool_]]

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """The numbers of states of some nodes."""
        return tuple(map(self.submodel.states, names))

    def groups(self, names: Sequence[str]) -> tuple[Integers, int]:
        """The cell of a table over ``names`` for each configuration, and the number of cells."""
        return number_combinations(
            [(self.value_of[n], self.submodel.states(n)) for n in names], self.length
        )

    def law(self, joint: FloatArray) -> FloatArray:
        """The joint added up over what can be observed, of the rows that are recorded."""
        return added_up(self.manifest, joint, self.cells + 1)[: self.cells]

    def by_conditions(self, cells: NDArray[Number], asked: Asked) -> NDArray[Number]:
        """The cells of a query, one a row, with axes for its conditions and for its target."""
        return cells.reshape(prod(self.shape(asked.conditions)), prod(self.shape(asked.target)), -1)

    @property
    def length(self) -> int:
        """The number of configurations."""
        return len(self.manifest)

    @property
    def is_selected(self) -> bool:
        """Whether some rows are not recorded: then only shares among the others are known."""
        return bool(self.submodel.graph.selection)


def number_combinations(
    columns: Sequence[tuple[Integers, int]], length: int
) -> tuple[Integers, int]:
    """Number the combinations of some columns, each with its number of values; how many."""
    sizes = [size for _, size in columns]
    return pack_keys([values for values, _ in columns], sizes, length), prod(sizes)


def grid_of(submodel: Submodel) -> Grid:
    """Lay out the configurations of a submodel."""
    nodes = submodel.nodes
    states = submodel.states
    flat = np.indices([*map(states, nodes)]).reshape(len(nodes), -1)
    length = flat.shape[1]
    values: dict[AnyNode, Integers] = dict(zip(nodes, flat, strict=True))

    # Where each configuration is in the CPT of each node.
    rows = {}
    sizes = {}
    for node in nodes:
        above = [(values[parent], states(parent)) for parent in submodel.parents(node)]
        rows[node], count = number_combinations(above, length)
        sizes[node] = (count, states(node))
    rows_of_zero: dict[AnyNode, NDArray[np.bool_]] = {}
    for later, earlier in submodel.graph.monotone:
        rows_of_zero.setdefault(later, np.zeros(sizes[later][0], dtype=bool))
        rows_of_zero[later][rows[later][values[earlier] == 0]] = True

    # What can be observed of each configuration: the same of those in one cell.
    observed = _observed(submodel, values)
    mechanisms = submodel.graph.mechanisms
    # A mechanism whose variable was projected out is seen all the same.
    alone = [(values[m], 2) for m in mechanisms if m.variable not in submodel.graph.parents]
    index, _ = number_combinations([*observed.values(), *alone], length)
    _, first, cell = np.unique(index, return_index=True, return_inverse=True)
    for node in submodel.graph.selection:
        cell = np.where(values[node] == 1, cell, len(first))
    return Grid(
        submodel=submodel,
        value_of=values,
        rows=rows,
        sizes=sizes,
        manifest=cell.astype(np.int64),
        cells=len(first),
        codes_of={name: column[first] for name, (column, _) in observed.items()},
        rows_of_zero=rows_of_zero,
    )


def _observed(
    submodel: Submodel, values: Mapping[AnyNode, Integers]
) -> dict[str, tuple[Integers, int]]:
    """What a row shows of each variable but latent ones; and how many codes there are for it."""
    graph = submodel.graph
    observed: dict[str, tuple[Integers, int]] = {}
    for name in graph.variables:
        missing = submodel.states(name)  # one more state
        mechanism = Mechanism(name)
        if mechanism in graph.parents:
            observed[name] = np.where(values[mechanism] == 1, values[name], missing), missing + 1
        elif name not in graph.partial:  # else it is latent
            observed[name] = values[name], missing
    return observed
