from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.counts.observations import Held
from lacunet.data.table import Copies, EncodedTable
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.learn import gathering
from lacunet.learning.mgraph import MGraph
from lacunet.learning.plan import MethodError, Setting, make_plan, run
from lacunet.learning.pseudo_counts import PseudoCounts
from lacunet.learning.result import Interrupted
from lacunet.missingness.errors import MissingnessGraphError, NotRecoverableError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from manifest_laws import random_cpt, random_model
from road import Task, learned_by

CHAIN = Network(
    {"X": ["0", "1"], "Y": ["0", "1", "2"], "Z": ["0", "1"]}, {"Y": ["X"], "Z": ["X", "Y"]}
)


@pytest.mark.parametrize(
    "text",
    [
        "R[Y]",
        "X -> R[Y]",
        "X -> R[Y]; Y -> R[X]",
        "Y -> R[X]; R[X] -> R[Y]",
        "X -> R[Y]; Y -> R[Z]; Z -> R[X]",
        "X <-> R[Y]; R[Z]",
    ],
)
def test_every_family_of_an_exact_law_is_recovered(text: str) -> None:
    graph = MissingnessGraph.parse(text, CHAIN)
    model = random_model(graph, np.random.default_rng(8))
    learned = learned_by(MGraph(graph), Task(CHAIN, model.manifest(), pseudo_counts=0.0))
    for name in CHAIN.variables:
        truth = model.truth([name], CHAIN.parents(name))
        np.testing.assert_allclose(learned.tables[name], truth, rtol=0, atol=1e-9)
        assert learned.families[name].estimand.startswith("P(")


def test_complete_data_give_the_plain_frequencies_under_the_prior() -> None:
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, CHAIN.cardinality(name), 200).astype(np.uint8) for name in "XYZ"}
    table = EncodedTable({name: CHAIN.cardinality(name) for name in "XYZ"}, codes)
    learned = learned_by(MGraph(MissingnessGraph(CHAIN, {})), Task(CHAIN, table, pseudo_counts=1.0))
    counts = np.ones((2, 3, 2))  # one pseudo-count a cell
    np.add.at(counts, (codes["X"], codes["Y"], codes["Z"]), 1)
    expected = counts / counts.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(learned.tables["Z"], expected, rtol=1e-12)


@pytest.mark.parametrize("otherwise", ["auto", "em", "factored-mar"])
def test_a_replicate_is_learned_by_what_stood_in_for_all_rows(otherwise: str) -> None:
    graph = MissingnessGraph.parse("Y -> R[Y]; X -> R[Z]", CHAIN)
    drawn = random_model(graph, np.random.default_rng(8)).manifest()
    counts = np.rint(2000 * drawn.row_weights / drawn.total)
    table = EncodedTable(drawn.cardinality_of, drawn.columns, counts, copies=Copies(counts, counts))
    rows, setting = Held(table), Setting(1.0)
    plan = make_plan(MGraph(graph, otherwise=otherwise), CHAIN, rows.look(), 2.0)
    statistics = rows.gather(gathering(plan, setting, None, seed=1))
    whole = run(plan, statistics, setting)
    assert whole.families["Y"].fallback.startswith(otherwise)
    again = run(plan, statistics.sample(0), replace(setting, whole=whole))  # leaves out no row
    for name, expected in whole.tables.items():
        np.testing.assert_allclose(again.tables[name], expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("otherwise", ["auto", "em"])
def test_an_interrupt_of_what_stands_in_ends_learning(otherwise: str) -> None:
    graph = "Y -> R[Y]; R[Z]"
    rows = {"X": ["0", "1"] * 60, "Y": ["0", "1", "2", None] * 30, "Z": ["0", None, "1"] * 40}

    def progress(stage: str, *_: object) -> None:
        if stage == "em":
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="best") as caught:
        lc.learn(CHAIN, rows, missingness=graph, otherwise=otherwise, progress=progress)
    assert caught.value.result.families["Y"].fallback.startswith(otherwise)


def test_pseudo_counts_go_on_the_effective_size() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    graph = MissingnessGraph.parse("B -> R[A]", network)
    rows = np.array([[0, 0]] * 6 + [[1, 0]] * 2 + [[0, 1]] + [[1, 1]] * 3 + [[2, 1]] * 4)
    columns = {"A": rows[:, 0].astype(np.uint8), "B": rows[:, 1].astype(np.uint8)}
    table = EncodedTable({"A": 2, "B": 2}, columns)
    learned = learned_by(MGraph(graph), Task(network, table, pseudo_counts=1.0))
    # P(A) = (6 + 2 * 1, 2 + 2 * 3) / 16 on an effective size of 16^2 / (8 + 4 * 4).
    size = 16**2 / 24
    expected = (size * np.array([0.5, 0.5]) + 1) / (size + 2)
    np.testing.assert_allclose(learned.tables["A"], expected)
    assert learned.families["A"].rows_shown == 12


@pytest.mark.parametrize("pseudo_counts", [1.0, 7.0, "learn"])
def test_intervals_are_of_what_the_rows_say_without_pseudo_counts(pseudo_counts: Any) -> None:
    rng = np.random.default_rng(4)
    drawn = {name: rng.integers(0, CHAIN.cardinality(name), 400) for name in "XYZ"}
    rows = {name: codes.astype(str).astype(object) for name, codes in drawn.items()}
    rows["Y"][rng.random(400) < 0.3 * drawn["X"]] = None
    rows["Z"][rng.random(400) < 0.4 * drawn["Y"]] = None  # where Y is 2, a fifth is left
    graph = MissingnessGraph.parse("X -> R[Y]; Y -> R[Z]", CHAIN)
    alone, with_prior = (
        lc.learn(
            CHAIN, rows, "mgraph", pseudo_counts=given, missingness=graph, intervals=True
        ).uncertainty
        for given in (0.0, pseudo_counts)
    )
    assert alone is not None
    assert with_prior is not None
    for name in CHAIN.variables:
        rates, by_rows = with_prior.spread_of[name].rates, alone.spread_of[name].rates
        np.testing.assert_allclose(rates, by_rows, rtol=1e-9)


def test_formulas_that_weigh_rows_unevenly_are_warned_of() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": ["0", "1"] * 105 + [None] * 190, "B": ["0"] * 200 + ["1"] * 200}
    result = lc.learn(network, rows, "mgraph", missingness="B -> R[A]")
    # Ten rows with B=1 show A, and stand for 200: 400^2 / (200 * 1 + 10 * 20^2) rows.
    assert any("20 times" in own and "38 of 210 rows" in own for own in result.warnings)


CENSORED = MissingnessGraph.parse("Y -> R[Y]", CHAIN)


def censored_task() -> Task:
    return Task(
        CHAIN, random_model(CENSORED, np.random.default_rng(1)).manifest(), pseudo_counts=0.0
    )


def test_a_family_that_is_not_recoverable_is_refused_with_its_reason() -> None:
    with pytest.raises(NotRecoverableError, match=r"CPT of 'Y'.*-> R\[Y\]"):
        learned_by(MGraph(CENSORED), censored_task())


def test_it_may_be_left_at_the_prior_and_is_marked() -> None:
    learned = learned_by(MGraph(CENSORED, otherwise="prior"), censored_task())
    np.testing.assert_array_equal(learned.tables["Y"], np.full((2, 3), 1 / 3))
    assert learned.families["Y"].fallback == "prior"
    assert learned.families["Y"].fallback_mass == 1
    assert "not recoverable" in learned.families["Y"].warnings[0]
    assert learned.families["X"].fallback == ""


def test_what_is_left_at_the_prior_holds_pseudo_counts_that_were_given() -> None:
    rows = {"A": ["0", "1"] * 50, "B": ["0", "1", None, "1"] * 25}
    given = {"B": [[18, 2], [12, 8]]}
    graph = {"missingness": "B -> R[B]", "otherwise": "prior"}
    result = lc.learn("A -> B", rows, "mgraph", pseudo_counts=given, **graph)
    np.testing.assert_allclose(result.network.cpt("B").table, [[0.9, 0.1], [0.6, 0.4]])
    assert isinstance(result.pseudo_counts, PseudoCounts)
    np.testing.assert_array_equal(result.pseudo_counts["B"], given["B"])
    assert result.families["B"].fallback == "prior"
    uniform = lc.learn("A -> B", rows, "mgraph", pseudo_counts="learn", **graph)
    np.testing.assert_array_equal(uniform.network.cpt("B").table, 0.5)
    assert isinstance(uniform.pseudo_counts, PseudoCounts)
    assert uniform.pseudo_counts.kept == ("B",)


def test_it_may_be_learned_by_another_method_and_is_marked() -> None:
    task = censored_task()
    learned = learned_by(MGraph(CENSORED, otherwise="direct-mcar"), task)
    assert learned.families["Y"].fallback == "direct-mcar"
    assert "not recoverable" in learned.families["Y"].warnings[0]
    shown = task.table.columns["Y"] != 3
    counts = np.zeros((2, 3))
    assert task.table.weights is not None
    np.add.at(
        counts,
        (task.table.columns["X"][shown], task.table.columns["Y"][shown]),
        task.table.weights[shown],
    )
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learned.tables["Y"], expected, rtol=1e-9)


def test_data_that_the_graph_does_not_explain_are_refused() -> None:
    graph = MissingnessGraph.parse("R[X]", CHAIN)
    with pytest.raises(MissingnessGraphError, match="'Y'"):
        learned_by(MGraph(graph), censored_task())


def test_a_graph_in_place_of_the_network_is_used_or_refused() -> None:
    graph = MissingnessGraph.parse("X -> R[Y]", CHAIN)
    rows = {
        "X": ["0", "1"] * 50,
        "Y": ["0", "1", "2", None, "1"] * 20,
        "Z": ["0"] * 60 + ["1"] * 40,
    }
    result = lc.learn(graph, rows)
    assert result.method == "mgraph"
    assert result.why.startswith("mgraph: ")
    assert result.network == lc.learn(CHAIN, rows, missingness=graph).network
    assert lc.explain(graph, rows).plan.graph == graph
    with pytest.raises(MissingnessGraphError, match="missingness"):
        lc.learn(graph, rows, missingness="R[Y]")
    learned = MissingnessGraph.parse("X -> R[Y]", result)
    for refused in (
        lambda: lc.worst_case(learned, rows, "X"),
        lambda: lc.diagnose(rows, graph),
        lambda: lc.learn_missingness(rows, graph),
        lambda: lc.count(graph, rows),
    ):
        with pytest.raises(NetworkError, match="missingness graph"):
            refused()


def test_a_graph_for_another_network_is_refused() -> None:
    other = Network({name: ["0", "1"] for name in "XYZ"}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("Y -> R[Y]", other)
    with pytest.raises(MissingnessGraphError, match="'Y'"):
        learned_by(MGraph(graph), censored_task())


@pytest.mark.parametrize("kind", ["direct", "factored"])
def test_informed_deletion_refuses_the_graph_of_another_network(
    kind: Any,
) -> None:
    graph = MissingnessGraph.parse("X -> R[Y]", CHAIN)
    table = random_model(graph, np.random.default_rng(8)).manifest()
    other = Network(CHAIN.states_of, {"Y": ["X"], "Z": ["Y"]})
    with pytest.raises(MissingnessGraphError, match="'Z'"):
        learned_by(Deletion(kind, missingness=graph), Task(other, table, pseudo_counts=0.0))


@pytest.mark.parametrize("kind", ["direct", "factored"])
def test_informed_deletion_takes_groups_or_a_graph_not_both(
    kind: Any,
) -> None:
    graph = MissingnessGraph.parse("X -> R[Y]", CHAIN)
    with pytest.raises(MethodError, match="missingness"):
        Deletion(kind, groups=("X",), missingness=graph)


def test_a_text_is_no_missingness_graph() -> None:
    graph = MissingnessGraph.parse("X -> R[Y]", CHAIN)
    task = Task(CHAIN, random_model(graph, np.random.default_rng(8)).manifest(), pseudo_counts=0.0)
    with pytest.raises(MethodError, match=r"'X -> R\[Y\]'"):
        MGraph("X -> R[Y]")  # type: ignore[arg-type]
    with pytest.raises(MethodError, match=r"'g.txt'"):
        learned_by(Deletion("direct", missingness="g.txt"), task)  # type: ignore[arg-type]


def test_an_unknown_stand_in_is_refused_at_once() -> None:
    with pytest.raises(MethodError, match="'emm'"):
        MGraph(MissingnessGraph.parse("X -> R[Y]", CHAIN), otherwise="emm")


GRAPH_EM = "em on the missingness graph"


def test_another_method_stands_in_where_an_estimand_finds_no_rows() -> None:
    network = Network({"X": ["0", "1"], "Y": ["0", "1"]}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("R[X]; R[Y]", network)
    columns = {"X": np.array([0, 1, 2, 2], np.uint8), "Y": np.array([2, 2, 0, 1], np.uint8)}
    task = Task(network, EncodedTable({"X": 2, "Y": 2}, columns), pseudo_counts=1.0)
    for otherwise, marked in (("em", GRAPH_EM), ("prior", "prior"), ("refuse", "prior")):
        learned = learned_by(MGraph(graph, otherwise=otherwise), task)
        assert learned.families["Y"].fallback == marked
        assert "'X', 'Y'" in learned.families["Y"].warnings[0]
        assert learned.families["X"].fallback == ""


def test_another_method_stands_in_where_the_data_contradict_the_estimand() -> None:
    names = ("X1", "X2", "X3")
    network = Network({name: ["0", "1"] for name in names}, {"X2": ["X1"], "X3": ["X2"]})
    text = "X2, R[X3] -> R[X1]; X1 -> R[X2]; X1, R[X2] -> R[X3]"
    graph = MissingnessGraph.parse(text, network)
    rng = np.random.default_rng(0)
    shown = random_cpt(rng, [2, 2, 2])
    shown[:, 1] = [0, 1]  # R[X3] = 1 implies R[X1] = 1
    law = random_model(graph, rng, {Mechanism("X1"): shown}).manifest()
    learned = learned_by(
        MGraph(graph, otherwise="direct-mcar"), Task(network, law, pseudo_counts=0.0)
    )
    assert learned.families["X1"].fallback == "direct-mcar"
    assert "X1 alone" in learned.families["X1"].warnings[0]
    assert learned.families["X2"].fallback == ""


def test_a_variable_that_happens_to_have_no_gap_is_learned_all_the_same() -> None:
    graph = MissingnessGraph.parse("R[X]; R[Y]", CHAIN)
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, CHAIN.cardinality(name), 50).astype(np.uint8) for name in "XYZ"}
    codes["Y"][:5] = 3
    table = EncodedTable({name: CHAIN.cardinality(name) for name in "XYZ"}, codes)
    learned = learned_by(MGraph(graph), Task(CHAIN, table, pseudo_counts=0.0))
    np.testing.assert_allclose(learned.tables["X"], np.bincount(codes["X"]) / 50)


def test_a_doubt_that_graph_and_stand_in_share_is_warned_of_once() -> None:
    rows = {"X": ["0", "1"] * 60, "Y": ["0", "1", None, "0", "1", "1"] * 20}
    result = lc.learn("X -> Y", rows, missingness="Y -> R[Y]", otherwise="em")
    assert "Y -> R[Y]" in result.warnings[0]
    assert len(set(result.warnings)) == len(result.warnings)
    assert "CPTs" not in result.warnings_by_kind[0]


# Of the ill 60 of 100 are missing, of the well 10. No mechanism that looks at Job alone does that:
# the best model records some job always and another hardly ever, and it is the only best one.
EDGE = {"no": (20, 40, 30, 10), "yes": (25, 10, 5, 60)}
AT_EDGE = [
    (ill, job)
    for ill, numbers in EDGE.items()
    for job, number in zip(("a", "b", "c", None), numbers, strict=True)
    for _ in range(number)
]


def test_a_range_at_the_edge_of_the_graph_is_not_called_anywhere_and_is_said_once() -> None:
    rows = {"Ill": [ill for ill, _ in AT_EDGE], "Job": [job for _, job in AT_EDGE]}
    result = lc.learn("Ill -> Job", rows, missingness="Job -> R[Job]", otherwise="em")
    (told,) = [text for text in result.families["Job"].warnings if "not recoverable" in text]
    assert "anywhere" not in told

    graph = MissingnessGraph.parse("Job -> R[Job]", "Ill -> Job", data=rows)
    found = graph.recover("P(Job | Ill)").identified_set(rows)
    assert found.width < 1e-6
    assert found.is_narrow
    assert (found.interval()[..., 1] - found.interval()[..., 0]).max() > 0.1


def test_a_range_that_is_wide_is_not_called_narrow() -> None:
    jobs = ["a", "a", "b", "c", "c", "c", "a", "b", None]
    rows = {"Ill": ["no", "yes"] * 225, "Job": jobs * 50}
    result = lc.learn("Ill -> Job", rows, missingness="Job -> R[Job]", otherwise="em")
    (told,) = [text for text in result.families["Job"].warnings if "not recoverable" in text]
    assert "anywhere between" in told
    assert "narrower" not in told


@pytest.mark.parametrize("method", ["em", "mgraph", lc.EM()])
def test_a_graph_hides_what_is_latent_in_the_data(method: Any) -> None:
    network = lc.Network({v: ["0", "1"] for v in "HXY"}, {"X": ["H"], "Y": ["H"]})
    data = lc.Data({"X": list("0110010"), "Y": ["0", "1", None, "0", None, "1", "1"]}, latent="H")
    graph = "X -> R[Y]"
    options: dict[str, Any] = {"missingness": graph}
    if method == "mgraph":
        options["otherwise"] = "em"
    if isinstance(method, lc.EM):
        method = lc.EM(missingness=lc.MissingnessGraph.parse(graph, network))
        options = {}
    result = lc.learn(network, data, method, **options)
    planned = lc.explain(network, data, method, **options)
    for name in "HXY":
        assert planned.families[name].estimand == result.families[name].estimand
    counted = lc.learn(network, lc.count(network, data), method, **options)
    assert counted.network == result.network


def test_a_hidden_cause_of_selection_leaves_em_without_the_graph() -> None:
    pair = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("X <-> R[*]; X -> R[X]; R[Y]", pair)
    rows = {"X": ["0", "1", None, "1"], "Y": ["0", "1", "1", None]}
    result = lc.learn(pair, rows, "mgraph", missingness=graph, otherwise="em")
    assert result.families["X"].fallback == "em"
