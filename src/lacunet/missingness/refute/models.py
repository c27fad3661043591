"""Models of a graph with all their configurations laid out: small ones only.

What a model says of what can be observed (`manifest`) and of a query, and how both change with
its CPTs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.missingness.refute.asked import Asked
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.missingness.refute.tangent import Grid, gradients, grid_of
from lacunet.model.network import FloatArray
from lacunet.statistics.counts import added_up

LEAST = 0.02  # of a CPT's entries


@dataclass(frozen=True)
class DenseModel:
    """CPTs of a submodel as rows, and what follows from them."""

    grid: Grid
    tables: Mapping[AnyNode, FloatArray]

    def entries(self, node: AnyNode) -> FloatArray:
        """The entry of a CPT that each configuration takes."""
        return self.tables[node][self.grid.rows[node], self.grid.value_of[node]]

    def joint(self, do: Sequence[str] = ()) -> FloatArray:
        """The law of all nodes, the CPTs of what is done left out."""
        joint = np.ones(self.grid.length)
        for node in self.tables:
            if node not in do:
                joint = joint * self.entries(node)
        return joint

    def manifest(self) -> FloatArray:
        """The law of what can be observed, among the rows that are recorded."""
        law = self.grid.law(self.joint())
        known = [added_up(of, self.joint(), count) for of, count in self._known()]
        return np.concatenate([law / law.sum(), *known])

    def _known(self) -> list[tuple[np.ndarray, int]]:
        """The groups of configurations whose probabilities are known from elsewhere."""
        return [self.grid.groups(names) for names in self.grid.submodel.known]

    def query(self, asked: Asked) -> FloatArray:
        """P(target | given, do(do)), the cells in a row."""
        return self.grid.query(self.joint(asked.do), asked)

    def jacobian(self) -> FloatArray:
        """The derivative of the manifest law by the free parameters."""
        cells = self.grid.cells
        slopes = self._gradients(self.grid.manifest, cells + 1, ())[:cells]
        if self.grid.is_selected:
            slopes = self.grid.among_recorded(slopes, self.joint())
        known = [self._gradients(of, count, ()) for of, count in self._known()]
        return np.concatenate([slopes, *known])

    def query_gradients(self, asked: Asked) -> FloatArray:
        """The derivative of P(a | b, do(c)): that of the joint, less that of what is given."""
        both, cells = self.grid.groups(asked.names)
        below, configurations = self.grid.groups(asked.conditions)
        mass = added_up(below, self.joint(asked.do), configurations)
        of = np.arange(cells) // (cells // configurations)
        upper = self._gradients(both, cells, asked.do)
        lower = self._gradients(below, configurations, asked.do)
        return np.asarray((upper - lower[of] * self.query(asked)[:, None]) / mass[of][:, None])

    def _gradients(self, groups: np.ndarray, count: int, do: Sequence[str]) -> FloatArray:
        joint = self.joint(do)

        def weights_of(node: AnyNode) -> FloatArray:
            entries = self.entries(node)
            if node in do:
                return np.zeros_like(joint)
            return np.divide(joint, entries, out=np.zeros_like(joint), where=entries > 0)

        return gradients(self.grid, groups, count, weights_of)

    def moved(self, step: FloatArray) -> DenseModel:
        """The model whose free parameters are so much larger."""
        tables, start = {}, 0
        for node, table in self.tables.items():
            rows, states = table.shape
            size = rows * (states - 1)
            change = step[start : start + size].reshape(rows, states - 1)
            start += size
            if node in self.grid.held:
                change = np.where(self.grid.held[node][:, None], 0.0, change)
            if change.any():
                table = table + np.hstack([change, -change.sum(axis=1, keepdims=True)])  # noqa: PLW2901
            tables[node] = table
        return DenseModel(self.grid, tables)

    def room(self, step: FloatArray) -> float:
        """How far a step can be taken before an entry falls to `LEAST`."""
        moved, room = self.moved(step), np.inf
        for node, table in self.tables.items():
            down = table - moved.tables[node]
            if (down > 0).any():
                room = min(room, float(((table - LEAST)[down > 0] / down[down > 0]).min()))
        return room

    def is_positive(self) -> bool:
        """Whether no entry is near zero."""
        least = LEAST / 2
        held = self.grid.held
        return all(
            (table[~held[node]] > least).all() if node in held else (table > least).all()
            for node, table in self.tables.items()
        )


def random_model(submodel: Submodel, seed: int) -> DenseModel:
    """CPTs drawn at random."""
    grid, rng = grid_of(submodel), np.random.default_rng(seed)
    tables = {n: _random_rows(rng, grid.sizes[n]) for n in submodel.nodes}
    for node, rows in grid.held.items():
        tables[node][rows] = [1.0, 0.0]
    return DenseModel(grid, tables)


def _random_rows(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    """Rows far from uniform, so that what is not seen makes a difference; none near zero."""
    table = rng.uniform(0.0, 1.0, size) ** 2 + 0.1
    return np.asarray(table / table.sum(axis=1, keepdims=True))
