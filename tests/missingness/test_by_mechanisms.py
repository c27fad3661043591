"""Estimands in which mechanisms are variables: against formulas by hand and exact laws."""

from __future__ import annotations

import numpy as np
import pytest

import lacunet as lc
from lacunet.missingness.formulas.notation import LATEX, MATHML
from lacunet.missingness.formulas.pattern_shares import PatternShare
from lacunet.missingness.formulas.samples import parts_of_term
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.decide import recover
from lacunet.missingness.verdict import Verdict
from lacunet.network.network import Network
from manifest_laws import Model, random_graph, random_model


def graph_of(edges: str, text: str, states: int = 2) -> MissingnessGraph:
    """A graph over A, B and C, of which C has three states."""
    parents: dict[str, list[str]] = {name: [] for name in "ABC"}
    for edge in edges.split():
        parents[edge[1]].append(edge[0])
    names = {name: [str(k) for k in range(states + (name == "C"))] for name in "ABC"}
    return MissingnessGraph.parse(text, Network(names, parents))


def takes_mechanisms(verdict: Verdict) -> bool:
    return any(isinstance(part, PatternShare) for part in parts_of_term(verdict.term))


def assert_exact(graph: MissingnessGraph, verdict: Verdict, seeds: int = 3) -> None:
    for seed in range(seeds):
        model = random_model(graph, np.random.default_rng(seed))
        estimate = verdict.estimate(model.manifest())
        truth = model.truth(verdict.target, verdict.given, verdict.do)
        np.testing.assert_allclose(estimate, truth, rtol=0, atol=1e-12)


# A -> B -> R[C]; C and R[C] share hidden causes with A.
NAPKIN = graph_of("AB", "B -> R[C]; A <-> C; A <-> R[C]")
# A is hidden by B and R[B]; C and R[B] share a hidden cause.
SUM = graph_of("AB AC", "B, R[B] -> R[A]; C <-> R[B]; R[B]")


def test_the_napkin_of_a_mechanism_is_its_formula() -> None:
    verdict = NAPKIN.recover("P(C)")
    assert verdict.status == "recoverable"
    assert takes_mechanisms(verdict)
    assert_exact(NAPKIN, verdict)
    # P(c) = sum_a P(a) P(c, R=1 | a, b) / sum_a P(a) P(R=1 | a, b), for any b.
    model = random_model(NAPKIN, np.random.default_rng(8))
    joint = model.joint
    assert [*map(str, model.nodes)] == ["A", "B", "C", "R[C]"]
    shown = joint[..., 1]
    law_of_a = joint.sum(axis=(1, 2, 3))
    for state in range(2):
        above = law_of_a @ (shown[:, state] / joint.sum(axis=(2, 3))[:, state, None])
        np.testing.assert_allclose(above / above.sum(), model.truth(["C"]), atol=1e-12)
    np.testing.assert_allclose(verdict.estimate(model.manifest()), model.truth(["C"]), atol=1e-12)


def test_a_sum_over_a_mechanism_is_found() -> None:
    verdict = SUM.recover("P(C | A)")
    assert verdict.estimand == "P(C | A) = sum over R[B] of P(C | A, R[B], R[A]=1) P(R[B])"
    assert "mechanisms" in verdict.why
    assert_exact(SUM, verdict)


@pytest.mark.parametrize(
    ("edges", "text", "query"),
    [
        ("AB AC", "B, R[B] -> R[A]; C <-> R[B]; R[B]; R[C]", "P(A, B, C)"),
        ("AB", "B -> R[C]; A -> R[B]; R[C] -> R[B]; A <-> C; A <-> R[C]; R[A] <-> R[C]", "P(C)"),
        (
            "AB",
            "B -> R[C]; A -> R[B]; R[C] -> R[B]; A <-> C; A <-> R[C]; R[A] <-> R[C]",
            "P(C | do(A))",
        ),
        ("BA", "A, R[B] -> R[C]; C -> R[B]; A <-> R[C]; B <-> R[C]", "P(C | A)"),
        # C decides on R[C]; what C tells of A does not depend on it.
        (
            "AC BC",
            "A -> R[B]; C -> R[C]; A <-> R[B]; B <-> R[A]; R[A] <-> R[B]",
            "P(A | B, C)",
        ),
    ],
)
def test_what_needs_mechanisms_as_variables_is_recovered_exactly(
    edges: str, text: str, query: str
) -> None:
    graph = graph_of(edges, text)
    verdict = graph.recover(query)
    assert verdict.status == "recoverable"
    assert takes_mechanisms(verdict)
    assert_exact(graph, verdict)


def rows_of(model: Model, number: int, rng: np.random.Generator) -> dict[str, list[str | None]]:
    law = model.manifest()
    counts = rng.multinomial(number, law.row_weights / law.row_weights.sum())
    return {
        name: [
            str(code) if code < law.cardinality_of[name] else None
            for code in np.repeat(column, counts).tolist()
        ]
        for name, column in law.columns.items()
    }


def test_intervals_from_rows_hold_the_truth_as_often_as_they_say() -> None:
    verdict, holds = NAPKIN.recover("P(C)"), []
    for seed in range(40):
        rng = np.random.default_rng([17, seed])
        model = random_model(NAPKIN, rng)
        answer = verdict.estimate(lc.Data(rows_of(model, 3_000, rng)), intervals=True)
        assert answer.interval is not None
        low, high = np.moveaxis(answer.interval, -1, 0)
        truth = model.truth(["C"])
        holds += ((low <= truth) & (truth <= high)).tolist()
    assert np.mean(holds) > 0.95 - 3 * np.sqrt(
        0.95 * 0.05 / 40
    )  # cells of one answer are not apart


@pytest.mark.parametrize("graph", [NAPKIN, SUM], ids=["napkin", "sum"])
def test_every_notation_writes_mechanisms(graph: MissingnessGraph) -> None:
    verdict = graph.recover("P(C)" if graph is NAPKIN else "P(C | A)")
    assert verdict.term is not None
    assert "R_{" in verdict.term.equation(LATEX)
    assert "<msub><mi>R</mi>" in verdict.term.equation(MATHML)


def test_a_variable_with_the_name_of_a_mechanism_does_no_harm() -> None:
    network = Network({name: ["0", "1"] for name in ("A", "R[C]", "C")}, {"R[C]": ["A"]})
    text = '"R[C]" -> R[C]; A <-> C; A <-> R[C]'
    verdict = MissingnessGraph.parse(text, network).recover(["C"])
    assert verdict.status == "undecided"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_estimands_of_random_graphs_with_many_hidden_causes_are_exact(seed: int) -> None:
    number = 0
    for index in range(120):
        rng = np.random.default_rng([seed, index])
        graph = random_graph(rng, 3, 0.22)
        names = graph.network.variables
        if len(graph.hidden) > 6:
            continue
        verdict = recover(graph, [names[2]], [names[0]] if index % 2 else [])
        if verdict.is_recoverable:
            assert_exact(graph, verdict, seeds=1)
            number += 1
    assert number > 30
