"""Random models of missingness graphs, and what of them can be observed, by enumeration.

Nothing here uses the code under test but the graph's own edges: the joint of a model is the
product of its CPTs, row by row, and the manifest law hides what its mechanisms hide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Network
from lacunet.model.nodes import Mechanism, Node


@dataclass(frozen=True)
class Model:
    """The joint of a missingness graph's variables and mechanisms, hidden causes summed out."""

    graph: MissingnessGraph
    nodes: tuple[Node, ...]
    joint: np.ndarray

    def truth(self, target: Sequence[str], given: Sequence[str] = ()) -> np.ndarray:
        """P(target | given), axes given... then target..."""
        axes = [self.nodes.index(name) for name in (*given, *target)]
        gone = tuple(at for at in range(self.joint.ndim) if at not in axes)
        kept = sorted(axes)
        table = self.joint.sum(axis=gone).transpose([kept.index(axis) for axis in axes])
        return table / table.sum(axis=tuple(range(len(given), table.ndim)), keepdims=True)

    def manifest(self) -> EncodedTable:
        """Every row that can be observed, weighted by its probability."""
        law: dict[tuple[int, ...], float] = {}
        sizes = dict(zip(self.nodes, self.joint.shape, strict=True))
        for values in product(*map(range, self.joint.shape)):
            at = dict(zip(self.nodes, values, strict=True))
            row = tuple(
                at[name] if at.get(Mechanism(name), 1) == 1 else sizes[name]
                for name in self.graph.network.variables
            )
            law[row] = law.get(row, 0.0) + float(self.joint[values])
        codes = np.array(list(law), dtype=np.uint8)
        columns = {name: codes[:, k] for k, name in enumerate(self.graph.network.variables)}
        sizes_of = {name: sizes[name] for name in self.graph.network.variables}
        return EncodedTable.of(sizes_of, columns, np.array(list(law.values())))


def random_model(
    graph: MissingnessGraph,
    rng: np.random.Generator,
    known: Mapping[Node, np.ndarray] | None = None,
) -> Model:
    """A model with random positive CPTs but for the known ones; hidden causes have two states."""
    hidden = [("hidden", pair) for pair in graph.hidden]
    parents: dict[Any, list[Any]] = {node: [] for node in hidden}
    for name in graph.network.variables:
        parents[name] = list(graph.network.parents(name))
    for name, causes in graph.causes.items():
        parents[Mechanism(name)] = list(causes)
    for cause in hidden:
        for child in cause[1]:
            parents[child].append(cause)
    tables = {
        node: random_cpt(rng, [states(graph, other) for other in [*above, node]])
        for node, above in parents.items()
    } | dict(known or {})
    joint = joint_of(parents, tables)
    nodes = tuple(node for node in parents if node not in hidden)
    return Model(graph, nodes, joint.sum(axis=tuple(range(len(hidden)))))


def states(graph: MissingnessGraph, node: object) -> int:
    """Two states for mechanisms and hidden causes."""
    return graph.network.cardinality(node) if isinstance(node, str) else 2


def random_cpt(rng: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
    table = rng.uniform(0.15, 1.0, shape)
    return table / table.sum(axis=-1, keepdims=True)


def joint_of(parents: Mapping[Any, Sequence[Any]], tables: Mapping[Any, np.ndarray]) -> np.ndarray:
    """The product of CPTs, axes parents... then child, over all nodes in the mapping's order."""
    nodes = list(parents)
    operands: list[object] = []
    for node in nodes:
        operands += [tables[node], [nodes.index(other) for other in [*parents[node], node]]]
    return np.einsum(*operands, list(range(len(nodes))))


def two_variable_graphs() -> list[MissingnessGraph]:
    """All 96 graphs over X and Y, both partially observed, without hidden causes."""
    graphs = []
    edges = ["X -> R[X]", "X -> R[Y]", "Y -> R[X]", "Y -> R[Y]"]
    for joined in (False, True):
        for between in ("", "R[X] -> R[Y]", "R[Y] -> R[X]"):
            for used in product((False, True), repeat=4):
                network = Network(
                    {"X": ["0", "1"], "Y": ["0", "1", "2"]}, {"Y": ["X"]} if joined else {}
                )
                chosen = [edge for edge, is_used in zip(edges, used, strict=True) if is_used]
                text = "; ".join(["R[X]", "R[Y]", *chosen, *([between] if between else [])])
                graphs.append(MissingnessGraph.parse(text, network))
    return graphs


def random_graph(
    rng: np.random.Generator, variables: int = 3, hidden_share: float = 0.0
) -> MissingnessGraph:
    """A random missingness graph, with edges among mechanisms and perhaps hidden causes."""
    names = [f"V{at}" for at in range(variables)]
    network = Network(
        {name: [str(k) for k in range(int(rng.integers(2, 4)))] for name in names},
        {
            name: [other for other in names[:at] if rng.random() < 0.55]
            for at, name in enumerate(names)
        },
    )
    partial = [name for name in names if rng.random() < 0.75]
    causes: dict[str, list[Node]] = {
        name: [v for v in names if rng.random() < (0.1 if v == name else 0.4)] for name in partial
    }
    order = [str(name) for name in rng.permutation(partial)]
    for one, two in combinations(order, 2):
        if rng.random() < 0.3:
            causes[two].append(Mechanism(one))
    nodes: list[Node] = [*names, *map(Mechanism, partial)]
    hidden = [
        (one, two)
        for one, two in combinations(nodes, 2)
        if rng.random() < hidden_share and two != Mechanism(str(one))
    ]
    return MissingnessGraph(network, causes, hidden)


def all_queries(names: Sequence[str]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every P(A | B) over the names."""
    found = []
    for role in product((0, 1, 2), repeat=len(names)):
        target = tuple(n for n, r in zip(names, role, strict=True) if r == 1)
        given = tuple(n for n, r in zip(names, role, strict=True) if r == 2)
        if target:
            found.append((target, given))
    return found
