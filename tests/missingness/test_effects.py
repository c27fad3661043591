"""Effects of interventions from incomplete data: known cases, random graphs; always sound."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from lacunet.data.query_text import split_query
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.decide import recover
from lacunet.missingness.recover.effects import is_identified
from lacunet.missingness.recover.queries import Query, simplify
from lacunet.missingness.verdict import Verdict
from lacunet.network.network import Network
from manifest_laws import assert_two_models_look_the_same, random_graph, random_model

CASES = json.loads((Path(__file__).parents[1] / "cases" / "effects.json").read_text())["cases"]


def graph_of(edges: list[str], text: str, variables: str | list[str]) -> MissingnessGraph:
    pairs = [edge.split("->") for edge in edges]
    parents = {name: [a for a, b in pairs if b == name] for name in variables}
    return MissingnessGraph.parse(text, Network({n: ["0", "1"] for n in variables}, parents))


def assert_sound(graph: MissingnessGraph, verdict: Verdict, rng: np.random.Generator) -> None:
    """An estimand gives the interventional law by enumeration; a refusal has two models."""
    if verdict.is_recoverable:
        model = random_model(graph, rng)
        truth = model.truth(verdict.target, verdict.given, verdict.do)
        np.testing.assert_allclose(verdict.estimate(model.manifest()), truth, rtol=0, atol=1e-8)
    elif verdict.status == "not recoverable":
        assert_two_models_look_the_same(verdict)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_no_verdict_contradicts_dosearch(case: dict) -> None:
    graph = graph_of(case["edges"], case["graph"], case["variables"])
    verdict = graph.recover(*split_query(case["query"]))
    if case["known"] == "formula":
        assert verdict.status == "recoverable"
    elif case["known"] != "nothing":
        assert verdict.status == "not recoverable"
    assert_sound(graph, verdict, np.random.default_rng(case["id"]))


def random_query(
    rng: np.random.Generator, names: tuple[str, ...]
) -> tuple[list[str], list[str], list[str]]:
    order = [str(name) for name in rng.permutation(names)]
    target, do = (1 if rng.random() < 0.8 else 2 for _ in range(2))
    given = int(rng.integers(0, 2))
    return order[:target], order[target + do :][:given], order[target : target + do]


def sound_verdicts(variables: int, hidden_share: float, graphs: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for at in range(graphs):
        rng = np.random.default_rng([seed, variables, at])
        graph = random_graph(rng, variables, hidden_share)
        if len(graph.hidden) <= 5:  # more causes make enumeration slow
            verdict = recover(graph, *random_query(rng, graph.network.variables))
            assert_sound(graph, verdict, rng)
            counts[verdict.status] += 1
    return counts


@pytest.mark.parametrize(("variables", "hidden_share"), [(3, 0.15), (4, 0.12)])
def test_effects_in_random_graphs_are_those_of_enumeration(
    variables: int, hidden_share: float
) -> None:
    counts = sound_verdicts(variables, hidden_share, 20, 0)
    assert counts["recoverable"] >= 5
    assert counts["not recoverable"] >= 5


@pytest.mark.slow
@pytest.mark.parametrize(("variables", "hidden_share"), [(3, 0.15), (4, 0.12), (5, 0.08)])
def test_effects_in_many_random_graphs_are_those_of_enumeration(
    variables: int, hidden_share: float
) -> None:
    counts = sound_verdicts(variables, hidden_share, 700, 1)
    assert counts["undecided"] < 0.1 * counts.total(), counts


def test_a_back_door_is_closed_by_adjustment() -> None:
    graph = graph_of(["Z->X", "Z->Y", "X->Y"], "Z -> R[Y]; X -> R[Z]", "XYZ")
    verdict = graph.recover(["Y"], do=["X"])
    assert verdict.estimand.startswith("P(Y | do(X)) = sum over Z of P(Y | X, Z, R[Y]=1, R[Z]=1) ")
    assert verdict.why.startswith("Z blocks")
    assert_sound(graph, verdict, np.random.default_rng(0))


def test_the_front_door_is_found_and_its_inner_sum_is_told_apart() -> None:
    graph = graph_of(["X->Z", "Z->Y"], "X <-> Y", "XZY")
    verdict = graph.recover(["Y"], do=["X"])
    assert verdict.estimand == (
        "P(Y | do(X)) = sum over Z of P(Z | X) [sum over X' of P(X') P(Y | X', Z)]"
    )
    assert r"\sum_{\text{X}'} P(\text{X}')" in verdict.latex
    assert_sound(graph, verdict, np.random.default_rng(0))


@pytest.mark.parametrize("missing", ["", "; Z -> R[Y]", "; W -> R[Z]; Z -> R[W]"])
def test_the_napkin_is_found(missing: str) -> None:
    graph = graph_of(["W->Z", "Z->X", "X->Y"], f"W <-> X; W <-> Y{missing}", "WZXY")
    verdict = graph.recover(["Y"], do=["X"])
    assert verdict.estimand.splitlines()[0].count("for any value of Z") == 1
    assert_sound(graph, verdict, np.random.default_rng(0))


def test_adjusting_is_not_done_where_it_would_bias() -> None:
    # M-bias: Z is a collider of two hidden causes; given it, X and Y are confounded.
    graph = graph_of(["X->Y"], "Z <-> X; Z <-> Y", "ZXY")
    assert graph.recover(["Y"], do=["X"]).estimand == "P(Y | do(X)) = P(Y | X)"
    assert graph.recover(["Y"], ["Z"], ["X"]).status == "not recoverable"


def test_a_bow_is_refused_with_two_models() -> None:
    verdict = graph_of(["X->Y"], "X <-> Y", "XY").recover(["Y"], do=["X"])
    assert verdict.status == "not recoverable"
    assert_two_models_look_the_same(verdict)


def test_a_confounder_that_hides_itself_is_refused_with_more_states_than_its_helpers() -> None:
    # With two states each, the effect is identified: the pair needs a confounder with many.
    graph = graph_of(["Z->X", "Z->Y", "X->Y"], "Z -> R[Z]", "XYZ")
    verdict = graph.recover(["Y"], do=["X"])
    assert verdict.status == "not recoverable"
    assert verdict.witness is not None
    assert verdict.witness.submodel.cardinality_of["Z"] > 2


def test_effects_of_several_variables_have_their_axes_in_order() -> None:
    graph = graph_of(["A->B", "A->Y", "B->Y", "Z->B", "Z->Y"], "Z -> R[A]; A -> R[Z]", "ABYZ")
    verdict = graph.recover(["Y"], ["Z"], ["B", "A"])
    model = random_model(graph, np.random.default_rng(3))
    estimate = verdict.estimate(model.manifest())
    assert estimate.probabilities.shape == (2, 2, 2, 2)  # B, A, Z, Y
    np.testing.assert_allclose(estimate, model.truth(["Y"], ["Z"], ["B", "A"]), atol=1e-12)


def test_an_intervention_is_not_mentioned_where_it_changes_nothing() -> None:
    graph = graph_of(["X->Y"], "R[X]; R[Y]", "XY")
    assert graph.recover(["X"], do=["Y"]).estimand == "P(X | do(Y)) = P(X | R[X]=1)"


def test_what_complete_data_do_not_give_is_known_at_once() -> None:
    def names(text: str) -> frozenset[str]:
        return frozenset(text)

    bow = graph_of(["X->Y"], "X <-> Y", "XY").mixed
    assert not is_identified(bow, Query(names("Y"), do=names("X")))
    assert is_identified(bow, Query(names("X"), do=names("Y")))
    assert simplify(bow, Query(names("X"), do=names("Y"))) == Query(names("X"))


def test_every_notation_writes_every_effect() -> None:
    for case in CASES[:40]:
        graph = graph_of(case["edges"], case["graph"], case["variables"])
        verdict = graph.recover(*split_query(case["query"]))
        if verdict.is_recoverable:
            assert ElementTree.fromstring(verdict.mathml).tag == "math"
            assert verdict.latex.count("{") == verdict.latex.count("}")
