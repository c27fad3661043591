"""The full law: when variables and mechanisms together are identified, by enumeration."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lacunet.missingness.errors import TooLargeEstimandError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.verdict import Verdict
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from manifest_laws import joint_of, random_graph, random_model, two_variable_graphs


def assert_exact(graph: MissingnessGraph, verdict: Verdict, rng: np.random.Generator) -> None:
    model = random_model(graph, rng)
    axes = [model.nodes.index(node) for node in verdict.target]
    gone = tuple(at for at in range(len(model.nodes)) if at not in axes)
    kept = sorted(axes)
    truth = model.joint.sum(axis=gone).transpose([kept.index(axis) for axis in axes])
    np.testing.assert_allclose(verdict.estimate(model.manifest()), truth, rtol=0, atol=1e-12)


def assert_refuted(verdict: Verdict) -> None:
    """Two models of the graph with one manifest law and two laws of variables and mechanisms."""
    witness, whole = verdict.witness, verdict.graph.mixed
    assert witness is not None
    model = witness.submodel
    for node in model.graph.order:
        assert model.graph.parents[node] <= whole.parents[node]
    assert {*model.graph.hidden} <= {*whole.hidden}
    parents = {node: model.parents(node) for node in model.nodes}
    laws, joints = [], []
    for tables in (witness.one, witness.two):
        joint = joint_of(parents, tables)
        law: dict[tuple[object, ...], float] = {}
        for values in np.ndindex(*joint.shape):
            at = dict(zip(parents, values, strict=True))
            seen = [at[n] if at.get(Mechanism(n), 1) else None for n in at if isinstance(n, str)]
            key = (*seen, *(v for n, v in at.items() if isinstance(n, Mechanism)))
            law[key] = law.get(key, 0.0) + float(joint[values])
        laws.append(list(law.values()))
        joints.append(joint.sum(axis=tuple(range(len(model.graph.hidden)))))
    np.testing.assert_allclose(laws[0], laws[1], rtol=0, atol=1e-12)
    assert np.abs(joints[0] - joints[1]).max() > 1e-6


def has_self_censoring_or_colluder(graph: MissingnessGraph) -> bool:
    """What the theorem names where there are no hidden causes."""
    return any(
        name in causes or any(isinstance(c, Mechanism) and c.variable in causes for c in causes)
        for name, causes in graph.causes.items()
    )


def test_all_graphs_of_two_variables_are_decided_as_the_theorem_says() -> None:
    rng = np.random.default_rng(0)
    counts: Counter[str] = Counter()
    for graph in two_variable_graphs():
        verdict = graph.recover_full_law()
        assert (verdict.status == "recoverable") != has_self_censoring_or_colluder(graph)
        counts[verdict.status] += 1
        if verdict.is_recoverable:
            assert_exact(graph, verdict, rng)
        else:
            assert_refuted(verdict)
    assert counts == {"recoverable": 16, "not recoverable": 80}


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_with_hidden_causes_are_decided_and_soundly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    for _ in range(12):
        graph = random_graph(rng, 3, 0.1)
        if graph.causes:
            verdict = graph.recover_full_law()
            counts[verdict.status] += 1
            if verdict.is_recoverable:
                assert_exact(graph, verdict, rng)
            else:
                assert_refuted(verdict)
    assert len(counts) == 2


def test_the_law_of_the_variables_may_be_recoverable_where_the_full_law_is_not() -> None:
    network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("X, R[X] -> R[Y]", network)
    assert graph.recover(["X", "Y"]).status == "recoverable"
    verdict = graph.recover_full_law()
    assert verdict.status == "not recoverable"
    assert verdict.why.startswith("X -> R[Y] <- R[X]")


def test_the_estimand_has_the_odds_of_each_pattern() -> None:
    network = Network({name: ["0", "1"] for name in "XYZ"}, {"Y": ["X"], "Z": ["Y"]})
    verdict = MissingnessGraph.parse("X -> R[Y]; Y -> R[X]", network).recover_full_law()
    assert verdict.query == "P(X, Y, R[X], R[Y])"  # Z does not depend on the mechanisms
    assert verdict.estimand.startswith(
        "P(X, Y, R[X], R[Y]) = P(X, Y, R[X]=1, R[Y]=1) · product of θ[T]"
    )


def test_a_full_law_of_too_many_variables_names_the_limit_on_them() -> None:
    names = [f"V{index}" for index in range(11)]
    network = Network({key: ["0", "1"] for key in names})
    verdict = MissingnessGraph(network, {name: [] for name in names}).recover_full_law()
    assert (verdict.status, verdict.is_computable) == ("recoverable", False)
    with pytest.raises(TooLargeEstimandError, match=r"11.*10"):
        verdict.estimate({key: ["0", None] for key in names})
