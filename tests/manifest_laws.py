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
from lacunet.missingness.verdict import Verdict
from lacunet.network.network import Network
from lacunet.network.nodes import SELECTION, Mechanism, Node


@dataclass(frozen=True)
class Model:
    """The CPTs of a missingness graph's variables, mechanisms and hidden causes."""

    graph: MissingnessGraph
    parents: Mapping[Any, Sequence[Any]]
    tables: Mapping[Any, np.ndarray]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The variables and the mechanisms."""
        return tuple(node for node in self.parents if not _is_hidden(node))

    @property
    def joint(self) -> np.ndarray:
        """The law of variables and mechanisms, hidden causes summed out."""
        whole = joint_of(self.parents, self.tables)
        return whole.sum(axis=tuple(range(len(self.parents) - len(self.nodes))))

    def truth(
        self, target: Sequence[str], given: Sequence[str] = (), do: Sequence[str] = ()
    ) -> np.ndarray:
        """P(target | given, do(do)), axes do..., given..., target...

        What is intervened on has no parents, and each of its values its own world.
        """
        nodes = list(self.parents)
        operands: list[object] = []
        for node, above in self.parents.items():
            if node in do:
                operands += [np.ones(len(self.graph.network.states(node))), [nodes.index(node)]]
            else:
                operands += [self.tables[node], [nodes.index(other) for other in [*above, node]]]
        axes = [nodes.index(name) for name in (*do, *given, *target)]
        table = np.einsum(*operands, axes, optimize=True)
        seen = tuple(range(len(do) + len(given), table.ndim))
        return table / table.sum(axis=seen, keepdims=True)

    def manifest(self) -> EncodedTable:
        """Every row that can be observed, weighted by its probability."""
        law: dict[tuple[int, ...], float] = {}
        joint, nodes = self.joint, self.nodes
        sizes = dict(zip(nodes, joint.shape, strict=True))
        for values in product(*map(range, joint.shape)):
            at = dict(zip(nodes, values, strict=True))
            if at.get(SELECTION) == 0:
                continue  # not recorded
            row = tuple(
                at[name] if at.get(Mechanism(name), 1) == 1 else sizes[name]
                for name in self.graph.network.variables
            )
            law[row] = law.get(row, 0.0) + float(joint[values])
        codes = np.array(list(law), dtype=np.uint8)
        columns = {name: codes[:, k] for k, name in enumerate(self.graph.network.variables)}
        sizes_of = {name: sizes[name] for name in self.graph.network.variables}
        return EncodedTable(sizes_of, columns, np.array(list(law.values())))


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
    if graph.selection is not None:
        parents[SELECTION] = list(graph.selection)
    for cause in hidden:
        for child in cause[1]:
            parents[child].append(cause)
    tables = {
        node: random_cpt(rng, [states(graph, other) for other in [*above, node]])
        for node, above in parents.items()
    } | dict(known or {})
    for later, earlier in graph.monotone:
        own = Mechanism(later)
        axis = parents[own].index(Mechanism(earlier))
        np.moveaxis(tables[own], axis, 0)[0] = [1.0, 0.0]  # missing for sure
    return Model(graph, parents, tables)


def _is_hidden(node: object) -> bool:
    return not isinstance(node, str | Mechanism)


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
    rng: np.random.Generator,
    variables: int = 3,
    hidden_share: float = 0.0,
    selects: bool = False,
) -> MissingnessGraph:
    """A random missingness graph, with edges among mechanisms and perhaps hidden causes.

    ``selects`` adds R[*], with one or two causes.
    """
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
    selection = None
    if selects:
        selection = [str(name) for name in rng.choice(names, int(rng.integers(1, 3)), False)]
    return MissingnessGraph(network, causes, hidden, selection=selection)


def all_queries(names: Sequence[str]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every P(A | B) over the names."""
    found = []
    for role in product((0, 1, 2), repeat=len(names)):
        target = tuple(n for n, r in zip(names, role, strict=True) if r == 1)
        given = tuple(n for n, r in zip(names, role, strict=True) if r == 2)
        if target:
            found.append((target, given))
    return found


def assert_two_models_look_the_same(verdict: Verdict) -> None:
    """Both models of a witness are models of the graph, with one manifest law and two answers.

    By enumeration, without the code that made them.
    """
    witness = verdict.witness
    assert witness is not None
    model, whole = witness.submodel, verdict.graph.mixed
    assert {*model.graph.order} <= {*whole.order, *verdict.graph.latent}
    for node in model.graph.order:
        assert model.graph.parents[node] <= whole.parents.get(node, frozenset())
    assert {*model.graph.hidden} <= {*whole.hidden}
    parents: dict[Any, Sequence[Any]] = {node: model.parents(node) for node in model.nodes}
    laws, answers = [], []
    for tables in (witness.one, witness.two):
        for table in tables.values():
            assert (table > 0).all()
            np.testing.assert_allclose(table.sum(axis=-1), 1, atol=1e-12)
        laws.append(_manifest(verdict, parents, joint_of(parents, tables)))
        answers.append(_answer(verdict, parents, tables))
    np.testing.assert_allclose(laws[0], laws[1], rtol=0, atol=1e-12)
    assert np.abs(answers[0] - answers[1]).max() > 1e-7


def _manifest(verdict: Verdict, parents: Mapping[Any, Any], joint: np.ndarray) -> np.ndarray:
    latent = {*verdict.graph.latent}
    law: dict[tuple[object, ...], float] = {}
    for values in np.ndindex(*joint.shape):
        at = dict(zip(parents, values, strict=True))
        seen = [
            at[node] if at.get(Mechanism(node), 1) == 1 and node not in latent else None
            for node in at
            if isinstance(node, str)
        ]
        key = (*seen, *(value for node, value in at.items() if isinstance(node, Mechanism)))
        if at.get(SELECTION) != 0:
            law[key] = law.get(key, 0.0) + float(joint[values])
    found = np.array(list(law.values()))
    return found / found.sum()


def _answer(
    verdict: Verdict, parents: Mapping[Any, Sequence[Any]], tables: Mapping[Any, np.ndarray]
) -> np.ndarray:
    """The query as it was asked; variables outside the models are independent of them."""
    nodes = list(parents)
    do, given, target = (
        [name for name in names if name in nodes]
        for names in (verdict.do, verdict.given, verdict.target)
    )
    operands: list[object] = []
    for node, above in parents.items():
        if node in do:
            operands += [np.ones(tables[node].shape[-1]), [nodes.index(node)]]
        else:
            operands += [tables[node], [nodes.index(other) for other in [*above, node]]]
    table = np.einsum(*operands, [nodes.index(name) for name in (*do, *given, *target)])
    axes = tuple(range(len(do) + len(given), table.ndim))
    return table / table.sum(axis=axes, keepdims=True)
