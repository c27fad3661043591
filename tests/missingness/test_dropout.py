"""Dropout: missing at random by what is shown, though what decides is hidden at times."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lacunet as lc
from lacunet.ask.diagnose.em_on_learned_graph import try_learned_graph
from lacunet.ask.sensitivity.sensitivity import sensitivity
from lacunet.counts.missing_values import PatternCounts
from lacunet.data.table import EncodedTable
from lacunet.limits import Deadline
from lacunet.missingness.augmented_network import augment
from lacunet.missingness.learned.from_rows import LearnedGraph, learned_graph, monotone_pairs
from lacunet.network.nodes import Mechanism

ROWS = 12_000
NO_YES = ["no", "yes"]
TRIAL = lc.Network(
    dict.fromkeys(("Base", "V1", "V2", "V3"), NO_YES),
    {"V1": ["Base"], "V2": ["V1"], "V3": ["V2"]},
)
REVERSED = lc.Network(
    dict.fromkeys(("V3", "V2", "V1", "Base"), NO_YES),
    {"V1": ["Base"], "V2": ["V1"], "V3": ["V2"]},
)


def visits(seed: int, *, comes_back: bool = False, rows: int = ROWS) -> tuple[EncodedTable, float]:
    """Three visits; a bad value keeps people from the next one. And the true share of bad ends.

    Those who come back have missed a visit by chance, whatever they would have said.
    """
    rng = np.random.default_rng(seed)

    def coin(yes: object) -> np.ndarray:
        return rng.random(rows) < np.asarray(yes)

    base = coin(np.full(rows, 0.45))
    first = coin(np.where(base, 0.7, 0.25))
    second = coin(np.where(first, 0.75, 0.2))
    third = coin(np.where(second, 0.8, 0.3))
    gone = {"V1": coin(np.where(base, 0.3, 0.1))}
    for before, value, name in (("V1", first, "V2"), ("V2", second, "V3")):
        leaves = np.where(value, 0.5, 0.05)
        always = coin(np.full(rows, 0.4)) if comes_back else np.ones(rows, dtype=bool)
        gone[name] = np.where(gone[before], always, coin(leaves))
    values = {"Base": base, "V1": first, "V2": second, "V3": third}
    columns = {
        name: np.where(gone[name], 2, codes).astype(np.uint8) if name in gone else codes
        for name, codes in values.items()
    }
    table = EncodedTable(
        dict.fromkeys(values, 2), {name: codes.astype(np.uint8) for name, codes in columns.items()}
    )
    return table, float(third.mean())


@pytest.mark.parametrize("network", [TRIAL, REVERSED])
def test_dropout_is_learned_as_an_order_of_mechanisms(network: lc.Network) -> None:
    table, _ = visits(21)
    graph = lc.learn_missingness(table, network)
    assert {*graph.monotone} == {("V2", "V1"), ("V3", "V2")}
    assert {*graph.causes["V1"]} == {"Base"}
    assert {*graph.causes["V2"]} == {"V1", Mechanism("V1")}
    assert {*graph.causes["V3"]} == {"V2", Mechanism("V2")}
    assert graph.doubt == ""
    again = lc.MissingnessGraph.parse(str(graph), network)
    assert again.monotone == graph.monotone
    assert again.causes == graph.causes


def test_a_mechanism_is_found_among_rows_that_hide_the_other_cause() -> None:
    table, _ = visits(22, comes_back=True)
    graph = lc.learn_missingness(table, TRIAL)
    assert {*graph.causes["V2"]} == {"V1", Mechanism("V1")}
    assert {*graph.causes["V3"]} == {"V2", Mechanism("V2")}
    assert graph.monotone == ()


def test_values_that_decide_on_each_other_are_no_sign_of_an_edge_between_mechanisms() -> None:
    pair = lc.Network(
        {"A": NO_YES, "B": NO_YES}, {"B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.8, 0.2], [0.3, 0.7]]}
    )
    truth = lc.MissingnessGraph.parse("A -> R[B]; B -> R[A]", pair)
    for seed in range(4):
        hides = lc.MissingByGraph(truth, {"A": [0.1, 0.5], "B": [0.4, 0.15]})
        table = lc.simulate(pair, 20_000, hides, rng=seed).table
        assert lc.learn_missingness(table, pair).causes == truth.causes


def test_few_rows_without_a_variable_are_no_order() -> None:
    columns = {"A": np.repeat([0, 2], [997, 3]), "B": np.repeat([0, 2], [300, 700])}
    table = EncodedTable({"A": 2, "B": 2}, columns)
    assert monotone_pairs(PatternCounts.of(table), ["A", "B"]) == []


def test_em_on_the_learned_graph_is_em_under_mar() -> None:
    table, truth = visits(23)
    graph = lc.learn_missingness(table, TRIAL)
    assert augment(graph, table.partially_observed).name_of == {}
    plain = float(lc.learn(TRIAL, table, "em").query("P(V3=yes)"))
    on_graph = lc.learn(TRIAL, table, "em", missingness=graph)
    assert float(on_graph.query("P(V3=yes)")) == pytest.approx(plain, abs=1e-12)
    assert plain == pytest.approx(truth, abs=0.02)  # about three standard errors
    # Who misses V1 never comes back, whatever V1 would have been.
    hides = on_graph.mechanisms["V2"]
    axis = hides.parents.index("R[V1]")
    missing = np.moveaxis(hides.table, axis, 0)[0]
    np.testing.assert_array_equal(missing, np.broadcast_to([1.0, 0.0], missing.shape))


def test_dropout_is_not_called_missing_not_at_random() -> None:
    table, _ = visits(24)
    diagnosis = lc.diagnose(table, TRIAL, try_graph=True)
    assert not any(test.adjusted < 0.05 for test in diagnosis.mar)
    assert diagnosis.trial is None
    assert "always at random:" not in str(diagnosis)
    (words,) = [words for words in diagnosis.conclusions if words.startswith("As after dropout")]
    assert "V2 on V1" in words
    trial = try_learned_graph(TRIAL, table)
    assert trial.refusal
    assert not trial.is_recommended


def test_a_graph_that_its_rows_refute_is_used_with_a_warning_and_not_recommended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, _ = visits(25)
    learned = learned_graph(TRIAL, table)
    wrong = LearnedGraph(
        network=TRIAL, causes={"V1": ["Base"], "V2": ["V1"], "V3": ["V2"]}, origin_of={}
    ).tested_on(table)
    assert "R[V1] ⊥ R[V2]" in wrong.doubt
    assert wrong.doubt in str(wrong)
    for method in ("em", "mgraph"):
        assert wrong.doubt in lc.learn(TRIAL, table, method, missingness=wrong).warnings
        assert not lc.learn(TRIAL, table, method, missingness=learned).warnings
    monkeypatch.setattr("lacunet.ask.diagnose.em_on_learned_graph.learned_graph", lambda *_: wrong)
    trial = try_learned_graph(TRIAL, table)
    assert wrong.doubt in trial.refusal
    assert not trial.is_recommended


def test_what_a_graph_implies_is_tested_without_the_edges_of_the_network() -> None:
    table, _ = visits(26)
    apart = lc.Network(TRIAL.states_of)  # as of learn_missingness(data)
    assert learned_graph(apart, table).tested_on(table).doubt == ""


@pytest.mark.parametrize("comes_back", [False, True])
@pytest.mark.parametrize("mechanism", ["V1", "V2", "V3"])
def test_sensitivity_at_no_tilt_says_what_learn_says(comes_back: bool, mechanism: str) -> None:
    table, _ = visits(27, comes_back=comes_back, rows=6_000)
    graph = lc.learn_missingness(table, TRIAL)
    options = {"mechanism": mechanism, "deltas": 0, "groups": 2}
    for target in ("V1", "V3"):
        query = f"P({target}=yes)"
        plain = lc.learn(TRIAL, table, lc.EM(tolerance=1e-6))
        on_graph = lc.learn(TRIAL, table, lc.EM(missingness=graph, tolerance=1e-6))
        by_rows = sensitivity(TRIAL, table, query, method="em", **options)
        by_graph = sensitivity(TRIAL, table, query, missingness=graph, **options)
        assert by_rows.answers[0] == pytest.approx(float(plain.query(query)), abs=2e-4)
        assert by_graph.answers[0] == pytest.approx(float(on_graph.query(query)), abs=2e-3)


def test_a_tilt_moves_those_who_left_at_that_visit() -> None:
    table, _ = visits(28, rows=6_000)
    found = sensitivity(TRIAL, table, "P(V3=yes)", mechanism="V3", deltas=[-1, 1], groups=2)
    assert (np.diff(found.answers) > 0.02).all()
    gone = {name: ~table.is_shown([name]) for name in ("V2", "V3")}
    share = gone["V2"].sum() / gone["V3"].sum()
    assert any(words.startswith(f"{share:.1%}") for words in found.words)
    assert any("all fit the data" in words for words in found.words)
    earlier = sensitivity(TRIAL, table, "P(V2=yes)", mechanism="V3", deltas=[-1, 1], groups=2)
    assert np.ptp(earlier.answers) < 1e-3


def test_a_graph_in_place_of_groups() -> None:
    table, _ = visits(29, rows=2_000)
    text = "Base -> R[V1]; V1, V3 -> R[V2]; V3, V2 -> R[V3]"
    ask = {"query": "P(V3=yes)"}
    with pytest.raises(lc.LacunetError, match="missingness"):
        sensitivity(TRIAL, table, ask["query"], mechanism="V3", within=["Base"], missingness=text)
    with pytest.raises(lc.LacunetError, match=re.escape("R[*]")):
        sensitivity(TRIAL, table, ask["query"], mechanism="V3", missingness=f"{text}; Base -> R[*]")
    found = sensitivity(
        TRIAL, table, ask["query"], mechanism="V3", missingness=text, deltas=0, groups=2
    )
    assert found.within == ("V2",)  # what V3 itself does, the tilt says
    assert "P(V3=yes) is " in found.words[0]


def test_a_time_limit_ends_the_tests_of_a_learned_graph_too() -> None:
    rng = np.random.default_rng(3)
    names = [f"V{number}" for number in range(6)]
    network = lc.Network({name: ["0", "1"] for name in names})
    columns = {name: rng.integers(0, 3, 500).astype(np.uint8) for name in names}
    table = EncodedTable(network.cardinality_of, columns)
    graph = learned_graph(network, table)
    assert graph.tested_on(table).doubt == ""
    assert "time limit" in graph.tested_on(table, Deadline.within(-1.0)).doubt
