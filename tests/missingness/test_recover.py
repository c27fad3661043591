"""The verdicts: published cases, all two-variable graphs, random graphs; always sound."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lacunet.data.table import EncodedTable
from lacunet.missingness.errors import MissingnessGraphError, TooLargeEstimandError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.decide import _families, recover, recover_families
from lacunet.missingness.refute.models import models_of
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import Submodel
from lacunet.missingness.refute.tangent import ranks
from lacunet.missingness.separation.separator import separator
from lacunet.missingness.verdict import Verdict
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism, Node
from manifest_laws import (
    all_queries,
    assert_two_models_look_the_same,
    joint_of,
    random_graph,
    random_model,
    two_variable_graphs,
)
from operations import calls_in

CASES = json.loads((Path(__file__).parents[1] / "cases" / "mgraph_cases.json").read_text())
QUERIES = [
    pytest.param(case, query, id=f"{case['id']}-{''.join(query['target'])}|{query['given']}")
    for case in CASES
    for query in case["queries"]
]


def graph_of(case: dict, cards: dict[str, int] | None = None) -> MissingnessGraph:
    names = [*case["observed"], *case["missing"]]
    sizes = {name: (cards or case["cards"]).get(name, 2) for name in names}

    def node(text: str) -> Node:
        return text if text in names else Mechanism(text.removeprefix("R_"))

    parents = {name: [a for a, b in case["edges"] if b == name] for name in names}
    network = Network({n: [str(k) for k in range(sizes[n])] for n in names}, parents)
    causes = {n: [node(a) for a, b in case["edges"] if b == f"R_{n}"] for n in case["missing"]}
    return MissingnessGraph(network, causes, [(node(a), node(b)) for a, b in case["bidirected"]])


@pytest.mark.parametrize(("case", "query"), QUERIES)
def test_the_verdict_is_the_published_one_and_the_estimate_exact(case: dict, query: dict) -> None:
    graph = graph_of(case)
    verdict = graph.recover(query["target"], query["given"])
    assert verdict.status == ("recoverable" if query["recoverable"] else "not recoverable")
    if verdict.is_recoverable:
        model = random_model(graph, np.random.default_rng(1))
        estimate = verdict.estimate(model.manifest())
        truth = model.truth(query["target"], query["given"])
        np.testing.assert_allclose(estimate, truth, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_category_is_the_published_one(case: dict) -> None:
    graph = graph_of(case)
    assert graph.category() == case["category"]
    assert graph.why().startswith(f"{case['category']}: ")


@pytest.mark.parametrize(
    "case", [c for c in CASES if "separator" in c], ids=lambda case: case["id"]
)
def test_the_separator_is_the_published_one(case: dict) -> None:
    graph = graph_of(case)
    assert list(separator(graph, case["missing"])) == case["separator"]


def assert_sound(graph: MissingnessGraph, verdict: Verdict, rng: np.random.Generator) -> None:
    """An estimand hits the target of random models; a refusal has a reason that holds."""
    if verdict.is_recoverable:
        model = random_model(graph, rng)
        estimate = verdict.estimate(model.manifest())
        truth = model.truth(verdict.target, verdict.given)
        np.testing.assert_allclose(estimate, truth, rtol=0, atol=1e-9)
    elif verdict.status == "not recoverable":
        assert_two_models_look_the_same(verdict)


def test_all_96_graphs_of_two_variables_are_decided_and_soundly() -> None:
    rng = np.random.default_rng(2)
    counts: Counter[str] = Counter()
    graphs = two_variable_graphs()
    for graph in graphs:
        for target, given in all_queries("XY"):
            verdict = graph.recover(target, given)
            assert_sound(graph, verdict, rng)
            counts[verdict.status] += 1
    assert len(graphs) == 96
    assert counts == {"recoverable": 180, "not recoverable": 300}


@pytest.mark.parametrize("hidden_share", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_verdicts_on_random_graphs_of_three_variables_are_sound(
    seed: int, hidden_share: float
) -> None:
    rng = np.random.default_rng([seed, int(100 * hidden_share)])
    for _ in range(4):
        graph = random_graph(rng, 3, hidden_share)
        for target, given in all_queries(graph.network.variables):
            assert_sound(graph, recover(graph, target, given, effort=0.1), rng)


@pytest.mark.slow
@pytest.mark.parametrize(("variables", "hidden_share"), [(3, 0.0), (3, 0.12), (4, 0.0), (4, 0.05)])
def test_verdicts_on_many_random_graphs_are_sound_and_few_stay_undecided(
    variables: int, hidden_share: float
) -> None:
    rng = np.random.default_rng([7, variables, int(100 * hidden_share)])
    counts: Counter[str] = Counter()
    for _ in range(40 if variables == 3 else 12):
        graph = random_graph(rng, variables, hidden_share)
        for target, given in all_queries(graph.network.variables):
            verdict = recover(graph, target, given, effort=0.2)
            assert_sound(graph, verdict, rng)
            counts[verdict.status] += 1
    assert counts["undecided"] < 0.05 * counts.total(), counts


def moves_unseen(submodel: Submodel, asked: Asked) -> bool:
    """Whether a query changes along models that look the same, at a generic model."""
    observed, with_query = ranks(submodel, asked)
    return with_query > observed


def test_no_recoverable_query_moves_unseen() -> None:
    # The rank argument must agree with the estimands: it is what a refusal rests on.
    rng = np.random.default_rng(3)
    for _ in range(12):
        graph = random_graph(rng, 3, 0.05)
        submodel = Submodel(graph.mixed, dict.fromkeys(graph.network.variables, 2))
        for target, given in all_queries(graph.network.variables):
            if graph.recover(target, given).is_recoverable:
                assert not moves_unseen(submodel, Asked(target, given))


@pytest.mark.parametrize(
    ("text", "target", "given", "do"),
    [
        ("P(Y | X)", ["Y"], ["X"], []),
        ("P(X, Y)", ["X", "Y"], [], []),
        ("Pr(Y | do(X))", ["Y"], [], ["X"]),
        ("Y | X=1", ["Y"], ["X"], []),
        ("Y", ["Y"], [], []),
    ],
)
def test_a_query_may_be_a_text(
    text: str, target: list[str], given: list[str], do: list[str]
) -> None:
    network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("X -> R[Y]", network)
    assert str(graph.recover(text)) == str(graph.recover(target, given, do))
    if len(text) > 1:
        with pytest.raises(MissingnessGraphError, match="or none"):
            graph.recover(text, given=["X"])


def test_self_censoring_moves_unseen() -> None:
    network = Network({"X": ["0", "1"], "Y": ["0", "1", "2"]}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("Y -> R[Y]", network)
    submodel = Submodel(graph.mixed, {"X": 2, "Y": 3})
    assert moves_unseen(submodel, Asked(("Y",)))
    assert not moves_unseen(submodel, Asked(("X",), ("Y",)))
    # With as many states as Y, X is a shadow variable and pins P(Y) down.
    assert not moves_unseen(Submodel(graph.mixed, {"X": 2, "Y": 2}), Asked(("Y",)))


def test_the_published_pairs_of_models_look_the_same_to_our_enumeration() -> None:
    case = next(case for case in CASES if case["id"] == "T08")
    witness = case["queries"][0]["witness"]
    laws = []
    for which in ("model_a", "model_b"):
        model = witness[which]
        parents = {node: model[node]["parents"] for node in ("X", "Y", "R_X", "R_Y")}
        joint = joint_of(parents, {n: np.array(model[n]["table"]) for n in parents})
        laws.append([joint[:, :, 1, 1], joint.sum(1)[:, 1, 0], joint.sum(0)[:, 0, 1]])
    for one, two in zip(*laws, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)


def large_graph(seed: int) -> MissingnessGraph:
    """Thirty variables, ten mechanisms with up to three causes, edges among mechanisms."""
    rng = np.random.default_rng(seed)
    names = [f"V{at}" for at in range(30)]
    parents = {
        name: [str(p) for p in rng.choice(names[:at], min(at, int(rng.integers(0, 4))), False)]
        for at, name in enumerate(names)
        if at
    }
    partial = [str(name) for name in rng.choice(names, 10, replace=False)]
    causes: dict[str, list[Node]] = {}
    for at, name in enumerate(partial):
        others = [other for other in names if other != name]
        causes[name] = [str(c) for c in rng.choice(others, int(rng.integers(0, 4)), False)]
        causes[name] += [Mechanism(other) for other in partial[:at] if rng.random() < 0.2]
        causes[name] += [name] if rng.random() < 0.2 else []
    return MissingnessGraph(Network({n: ["0", "1"] for n in names}, parents), causes)


@pytest.mark.parametrize("seed", range(3))
def test_thirty_variables_with_ten_mechanisms_are_decided_by_a_bounded_search(seed: int) -> None:
    graph = large_graph(seed)
    found: list[dict[str, Verdict]] = []
    assert calls_in(lambda: found.append(recover_families(graph))) < 10_000_000
    (verdicts,) = found
    assert set(verdicts) == set(graph.network.variables)
    counts = Counter(verdict.status for verdict in verdicts.values())
    assert counts["recoverable"] >= 20


def dense_graph(seed: int) -> MissingnessGraph:
    """Thirty variables, ten mechanisms that depend on one another's variables: hard to decide."""
    rng = np.random.default_rng(seed)
    names = [f"V{at}" for at in range(30)]
    parents = {
        name: [str(p) for p in rng.choice(names[:at], min(at, 2), False)]
        for at, name in enumerate(names)
        if at
    }
    partial = [str(name) for name in rng.choice(names, 10, replace=False)]
    causes: dict[str, list[Node]] = {}
    for at, name in enumerate(partial):
        fully = [other for other in names if other not in partial]
        causes[name] = [str(c) for c in rng.choice(fully, 2, False)]
        causes[name] += [other for other in partial if other != name and rng.random() < 0.3]
        causes[name] += [Mechanism(other) for other in partial[:at] if rng.random() < 0.35]
    return MissingnessGraph(Network({n: ["0", "1"] for n in names}, parents), causes)


def circle_graph(size: int) -> MissingnessGraph:
    """A chain; what is shown depends on every later variable and on what is shown before."""
    names = [f"V{at}" for at in range(size)]
    network = Network(
        {name: ["0", "1"] for name in names},
        {two: [one] for one, two in pairwise(names)},
    )
    causes: dict[str, list[Node]] = {}
    for at, name in enumerate(names):
        causes[name] = [*names[at + 1 :], *(Mechanism(other) for other in names[:at])]
    return MissingnessGraph(network, causes)


def test_the_odds_of_patterns_reach_ten_partially_observed_variables() -> None:
    graph = circle_graph(10)
    verdict = graph.recover(["V1"], ["V0"])
    assert verdict.status == "recoverable", verdict.why
    rng = np.random.default_rng(0)
    columns = {n: rng.integers(0, 2, 4000).astype(np.uint8) for n in graph.network.variables}
    columns["V1"] = columns["V0"]
    for name, column in columns.items():
        columns[name] = np.where(rng.random(4000) < 0.02, 2, column).astype(np.uint8)
    table = EncodedTable(dict.fromkeys(columns, 2), columns)
    np.testing.assert_allclose(verdict.estimate_with_report(table).table, np.eye(2), atol=1e-12)


@pytest.mark.slow
def test_where_only_the_size_is_in_the_way_the_reason_says_so() -> None:
    graph = circle_graph(11)
    verdict = graph.recover(
        ["V1"],
        ["V0"],
    )
    assert verdict.status == "recoverable"
    assert not verdict.is_recoverable
    assert "11" in verdict.why
    assert "2^11" in verdict.why
    with pytest.raises(TooLargeEstimandError, match="compute"):
        verdict.estimate({name: ["0"] for name in graph.network.variables})
    known = graph.recover(["V1"], ["V0"], population=["V2"])
    assert (known.is_computable, known.population) == (False, (("V2",),))


@pytest.mark.slow
def test_a_query_over_thirty_variables_ends_and_says_that_it_was_cut_short() -> None:
    graph = dense_graph(0)
    verdict = graph.recover(graph.network.variables)
    assert verdict.status == "undecided"
    assert verdict.why.count("the search was cut short")


def test_a_verdict_does_not_depend_on_what_was_asked_before() -> None:
    first = recover_families(dense_graph(1), effort=0.002)
    _families.cache_clear()
    for name in list(first)[:5]:
        recover(dense_graph(1), [name], first[name].given, effort=0.01)
    again = recover_families(dense_graph(1), effort=0.002)
    assert [v.why for v in first.values()] == [v.why for v in again.values()]


def test_a_query_may_be_asked_by_a_single_name() -> None:
    graph = graph_of(CASES[0])
    assert graph.recover("Y", "X").estimand == "P(Y | X) = P(Y | X, R[Y]=1)"


@pytest.mark.parametrize(
    ("target", "given", "message"),
    [
        ([], ["X"], "variable"),
        (["X"], ["X"], r"\['X'\]"),
        (["Z"], [], "'Z'"),
        (["Y | X"], [], r"'Y \| X'"),
    ],
)
def test_a_query_that_cannot_be_asked_is_refused(
    target: list[str], given: list[str], message: str
) -> None:
    with pytest.raises(MissingnessGraphError, match=message):
        graph_of(CASES[0]).recover(target, given)


def test_the_paper_s_formula_is_what_its_graph_gives() -> None:
    verdict = graph_of(next(case for case in CASES if case["id"] == "T04")).recover(["X", "Y"])
    assert verdict.estimand.splitlines() == [
        "P(X, Y) = P(X, Y, R[X]=1, R[Y]=1) / (π[X] π[Y]), where",
        "  π[X] = P(R[X]=1 | Y, R[Y]=1)",
        "  π[Y] = P(R[Y]=1 | X, R[X]=1)",
    ]
    assert r"\frac{P(\text{X}, \text{Y}, R_{\text{X}}=1, R_{\text{Y}}=1)}" in verdict.latex


def test_a_refusal_names_the_edge_that_forbids_it() -> None:
    case = next(case for case in CASES if case["id"] == "T16")
    assert graph_of(case).recover(["X"]).why.startswith("X <-> R[X]:")
    case = next(case for case in CASES if case["id"] == "T08")
    assert "X -> R[Y] <- R[X]" in graph_of(case).recover(["X"]).why


def test_a_helper_taken_in_and_divided_out_again_recovers_a_censored_parent_s_child() -> None:
    # X censors itself and Z, a child of Y, has a say in it: P(Y | X) ∝ P(Y | X, z) / P(z | Y).
    network = Network(
        {"X": ["0", "1"], "Y": ["0", "1", "2"], "Z": ["0", "1"]}, {"Y": ["X"], "Z": ["Y"]}
    )
    graph = MissingnessGraph.parse("X, Z -> R[X]; X -> R[Y]", network)
    verdict = graph.recover(["Y"], ["X"])
    assert verdict.estimand == "P(Y | X) ∝ P(Y | X, Z, R[X]=1, R[Y]=1) / P(Z | Y, R[Y]=1)"
    assert_sound(graph, verdict, np.random.default_rng(0))


def test_the_work_of_a_search_does_not_depend_on_hashes() -> None:
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from lacunet.missingness.recover.chain import TermSearch, find_term
from lacunet.missingness.recover.queries import Query
from lacunet.missingness.separation.mixed import Meter
from manifest_laws import random_graph
rng = np.random.default_rng(0)
for _ in range(12):
    graph = random_graph(rng, 4, 0.1)
    mixed = graph.mixed.metered(Meter())
    find_term(TermSearch(mixed, ()), Query(frozenset(graph.network.variables)))
    print(mixed.meter.spent)
"""
    tests = str(Path(__file__).parents[1])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, tests],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (0, 1, 2)
    }
    assert len(outputs) == 1


def test_every_family_is_searched_for_as_long_as_a_query_of_its_own() -> None:
    # Nine families that cannot be decided come first; they must not use up the others' share.
    graph = dense_graph(0)
    effort = 0.01
    families = recover_families(graph, effort)
    for name in graph.network.variables[-8:]:
        alone = recover(graph, [name], graph.network.parents(name), effort=effort)
        assert alone.status != "recoverable" or families[name].status == "recoverable"
    assert any(verdict.status == "undecided" for verdict in families.values())


def test_more_effort_never_loses_a_verdict() -> None:
    graph = large_graph(1)
    little, more = (recover_families(graph, effort) for effort in (0.001, 0.02))
    for name, verdict in little.items():
        assert verdict.status in ("undecided", more[name].status)


def test_what_is_hidden_behind_a_latent_variable_is_not_called_observed() -> None:
    network = Network({name: ["0", "1"] for name in "XYZ"}, {"Y": ["X"], "Z": ["X"]})
    graph = MissingnessGraph.parse("X -> R[Y]", network)
    assert graph.category() == "MAR"
    latent = graph.hiding(["X"])
    assert latent.category() == "MNAR"
    assert latent.fully_observed == ("Z",)
    assert latent.recover(["Y"]).status == "not recoverable"
    assert latent.recover(["Z"]).estimand == "P(Z) = P(Z)"
    assert latent.recover(["X"]).why.startswith("X is latent")
    assert latent.recover(["Z"], ["X"]).status == "undecided"
    with pytest.raises(MissingnessGraphError, match="'W'"):
        graph.hiding(["W"])


def test_a_verdict_is_true_where_the_query_is_recoverable() -> None:
    network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    assert MissingnessGraph.parse("X -> R[Y]", network).recover("Y")
    assert not MissingnessGraph.parse("Y -> R[Y]", network).recover("Y")


def test_without_a_target_the_verdicts_are_those_of_all_cpts() -> None:
    network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("X -> R[X]", network)
    assert graph.recover() == graph.recover_families()
    assert [own.status for own in graph.recover().values()] == ["not recoverable", "recoverable"]
    with pytest.raises(MissingnessGraphError, match="variable"):
        graph.recover(do=["X"])  # type: ignore[call-overload]


def test_verdicts_on_all_cpts_print_a_line_each() -> None:
    network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    verdicts = MissingnessGraph.parse("X -> R[X]", network).recover_families()
    assert str(verdicts).splitlines() == [str(verdicts["X"]), str(verdicts["Y"])]
    assert verdicts == dict(verdicts)


def test_models_drawn_modulo_a_prime_add_up_to_one_in_every_cpt_row() -> None:
    network = Network({"A": ["0", "1"], "B": ["x"], "C": ["0", "1", "2"]}, {"B": ["A"], "C": ["B"]})
    graph = MissingnessGraph.parse("A -> R[C]", network)
    models = models_of(Submodel(graph.mixed, {"A": 2, "B": 1, "C": 3}))
    weights = models.drawn_modulo(101, np.random.default_rng(0))
    assert (models.group_sums @ weights % 101 == 1).all()


@pytest.mark.parametrize("name", ["Region_missing", "R_Region", "RRegion", "Missing_Region"])
def test_a_mechanism_under_another_name_is_answered_with_ours(name: str) -> None:
    error = MissingnessGraphError.unknown_variable(name, ["Region", "Age"])
    assert "R[Region]" in str(error)
