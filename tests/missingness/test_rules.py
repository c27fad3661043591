"""Graphs of networks with rules: what decides on whether a question was asked is a cause."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.missingness.implications import check_implications
from lacunet.network.nodes import Mechanism

STATES = {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"], "Ill": ["no", "yes"]}
PARENTS = {"Now": ["Smoked"], "Ill": ["Now"]}
RULE = {"Now": "Smoked=no"}
SMOKED = np.array([0.5, 0.5])
NOW = np.array([[0, 0, 1], [0.4, 0.6, 0]])
ILL = np.array([[0.8, 0.2], [0.3, 0.7], [0.8, 0.2]])
NOW_IS_MISSING = np.array([0.1, 0.5])  # of those who were asked, by Ill
SMOKED_IS_MISSING = 0.2
PLAIN = lc.Network(STATES, PARENTS)
NETWORK = lc.Network(STATES, PARENTS, not_asked=RULE)
MARGINAL = np.array([0.2, 0.3, 0.5])  # P(Now)
EM_TO_THE_END = {"tolerance": 1e-12, "max_iterations": 20_000}


def law(smoked_is_missing: float) -> dict[tuple[str, str, str, bool, bool], float]:
    """The probability of every answer, and of whether Smoked and Now leave an empty cell."""
    found: dict[tuple[str, str, str, bool, bool], float] = {}
    for s, n, i, no_s, no_n in product(range(2), range(3), range(2), range(2), range(2)):
        is_asked = s == 1
        gone = NOW_IS_MISSING[i] if is_asked else 1.0  # what is not asked is empty
        weight = SMOKED[s] * NOW[s, n] * ILL[n, i]
        weight *= smoked_is_missing if no_s else 1 - smoked_is_missing
        weight *= gone if no_n else 1 - gone
        answers = (STATES["Smoked"][s], STATES["Now"][n], STATES["Ill"][i])
        if weight:
            found[(*answers, bool(no_s), bool(no_n))] = float(weight)
    return found


def rows_of(smoked_is_missing: float) -> dict[str, list[Any]]:
    """Every row that a survey can have, weighted by its probability."""
    weights: Counter[tuple[str | None, str | None, str]] = Counter()
    for (smoked, now, ill, no_smoked, no_now), weight in law(smoked_is_missing).items():
        weights[None if no_smoked else smoked, None if no_now else now, ill] += weight  # type: ignore[assignment]
    columns = zip(*weights, strict=True)
    found = {name: list(own) for name, own in zip(STATES, columns, strict=True)}
    return {**found, "w": [1e5 * own for own in weights.values()]}


CASES = [(0.0, "Ill -> R[Now]"), (SMOKED_IS_MISSING, "R[Smoked]; Ill -> R[Now]")]


@pytest.mark.parametrize(("smoked_is_missing", "text"), CASES)
def test_what_a_graph_recovers_is_the_law(smoked_is_missing: float, text: str) -> None:
    rows, graph = rows_of(smoked_is_missing), lc.MissingnessGraph.parse(text, NETWORK)
    now = graph.recover(["Now"]).estimate(lc.Data(rows, weight="w"))
    np.testing.assert_allclose(now, MARGINAL, atol=1e-9)
    ill = graph.recover(["Ill"], ["Now"]).estimate(lc.Data(rows, weight="w"))
    np.testing.assert_allclose(ill, ILL, atol=1e-9)


@pytest.mark.parametrize("network", [PLAIN, NETWORK], ids=["told with the data", "known"])
@pytest.mark.parametrize(("method", "options"), [("em", EM_TO_THE_END), ("mgraph", {})])
@pytest.mark.parametrize(("smoked_is_missing", "text"), CASES)
def test_what_is_learned_with_a_graph_is_the_law(
    smoked_is_missing: float, text: str, method: str, options: dict[str, Any], network: lc.Network
) -> None:
    graph = lc.MissingnessGraph.parse(text, network)
    data = lc.Data(rows_of(smoked_is_missing), weight="w", not_asked=RULE)
    result = lc.learn(network, data, method, pseudo_counts=0.0, missingness=graph, **options)
    for name, table in (("Smoked", SMOKED), ("Now", NOW), ("Ill", ILL)):
        np.testing.assert_allclose(result.cpt(name).table, table, atol=1e-7)


def test_rows_that_miss_what_the_rule_looks_at_are_completed_by_the_law() -> None:
    rows = rows_of(SMOKED_IS_MISSING)
    text = CASES[1][1]
    data = lc.Data(rows, weight="w")
    result = lc.learn(NETWORK, data, "em", pseudo_counts=0.0, missingness=text, **EM_TO_THE_END)
    new = {"Smoked": [None] * 20, "Now": [None] * 20, "Ill": ["yes", "no"] * 10}
    with pytest.warns(lc.LacunetWarning, match="not recoverable"):
        found = result.predict(new, "Smoked")["Smoked=no"]
    predictor = result.compile("Smoked")
    for at, ill in enumerate(["yes", "no"]):
        empty = Counter[str]()
        for (smoked, _, own, no_smoked, no_now), weight in law(SMOKED_IS_MISSING).items():
            if own == ill and no_smoked and no_now:
                empty[smoked] += weight  # type: ignore[assignment]
        expected = empty["no"] / empty.total()
        np.testing.assert_allclose(found[at::2], expected, atol=1e-6)
        row = {"Smoked": None, "Now": None, "Ill": ill}
        np.testing.assert_allclose(predictor(row)["Smoked"].probabilities[0], expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize(("smoked_is_missing", "text"), CASES)
def test_an_empty_cell_is_not_hidden_where_it_may_be_one_that_was_not_asked(
    smoked_is_missing: float, text: str
) -> None:
    data = lc.Data(rows_of(smoked_is_missing), weight="w")
    result = lc.learn(NETWORK, data, "em", pseudo_counts=0.0, missingness=text, **EM_TO_THE_END)
    alone = result.network.query("Smoked", {"Ill": "yes"})
    row = {"Smoked": "no", "Now": None, "Ill": "yes"}  # its target is no evidence
    np.testing.assert_allclose(result.compile("Smoked")(row)["Smoked"], alone, atol=1e-9)
    rows = {name: [value] * 20 for name, value in row.items()}
    found = _smoked(result, rows)
    np.testing.assert_allclose(found, np.broadcast_to(alone, (20, 2)), atol=1e-9)


def _smoked(result: lc.Result, rows: dict[str, list[Any]]) -> np.ndarray:
    found = result.predict(rows, "Smoked")
    return np.stack([found["Smoked=no"], found["Smoked=yes"]], axis=1)


def test_what_a_rule_adds_is_printed_and_read_again() -> None:
    graph = lc.MissingnessGraph.parse("Ill -> R[Now]; R[Smoked]", NETWORK)
    assert str(graph) == "R[Smoked]\nSmoked, Ill, R[Smoked] -> R[Now]"
    assert lc.MissingnessGraph.parse(str(graph), NETWORK) == graph
    assert graph.category() == "MNAR"
    shown = lc.MissingnessGraph.parse("Ill -> R[Now]", NETWORK)
    assert str(shown) == "Smoked, Ill -> R[Now]"
    assert (
        "Smoked" in lc.explain(NETWORK, method="mgraph", missingness=shown).families["Now"].estimand
    )


def test_a_graph_without_rules_has_the_causes_that_were_given() -> None:
    graph = lc.MissingnessGraph.parse("Ill -> R[Now]; R[Smoked]", PLAIN)
    assert dict(graph.causes) == {"Smoked": (), "Now": ("Ill",)}
    assert graph.over(PLAIN) is graph
    assert graph.over(NETWORK).causes["Now"] == ("Smoked", "Ill", Mechanism("Smoked"))


def test_a_rule_makes_no_cycle_of_mechanisms() -> None:
    graph = lc.MissingnessGraph.parse("R[Now] -> R[Ill] -> R[Smoked]", NETWORK)
    assert graph.causes["Now"] == ("Smoked",)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_what_is_learned_under_mar_has_no_causes_by_rule() -> None:
    found = rows_of(SMOKED_IS_MISSING)
    times = [round(own / 100) for own in found["w"]]
    rows = {name: np.repeat(np.array(found[name], object), times).tolist() for name in STATES}
    assert "Now" in str(lc.diagnose(rows, NETWORK))
    result = lc.learn(NETWORK, rows, "informed-direct", groups="learn")
    assert result.families["Now"].rows_used
    drawn = lc.MCAR(0.7).draw(NETWORK, np.random.default_rng(0))
    assert drawn.graph.category() == "MCAR"


def test_a_graph_learned_under_rules_is_printed_read_back_and_copied() -> None:
    data = lc.Data(rows_of(SMOKED_IS_MISSING), weight="w")
    learned = lc.learn_missingness(data, NETWORK)
    assert Mechanism("Smoked") in learned.causes["Now"]  # by the rule, whatever the rows say
    assert lc.MissingnessGraph.parse(str(learned), NETWORK).causes == learned.causes
    assert learned.hiding(["Ill"]).latent == ("Ill",)
    plain = lc.learn_missingness(data, PLAIN)
    assert Mechanism("Smoked") in plain.over(NETWORK).causes["Now"]


def times(smoked_is_missing: float) -> dict[str, list[Any]]:
    """The rows of a survey, each as often as it is to be expected of 10,000."""
    found = rows_of(smoked_is_missing)
    often = [round(own / 10) for own in found["w"]]
    return {name: np.repeat(np.array(found[name], object), often).tolist() for name in STATES}


@pytest.mark.parametrize("network", [PLAIN, NETWORK], ids=["told with the data", "known"])
def test_a_rule_alone_makes_no_value_a_cause(network: lc.Network) -> None:
    graph = lc.learn_missingness(lc.Data(times(SMOKED_IS_MISSING), not_asked=RULE), network)
    assert graph.causes["Smoked"] == ()
    assert graph.causes["Now"] == ("Smoked", "Ill", Mechanism("Smoked"))
    assert graph.recover(["Smoked"]).status == "recoverable"


@pytest.mark.parametrize("smoked_is_missing", [0.0, SMOKED_IS_MISSING])
def test_a_rule_alone_is_not_said_to_hide_values(smoked_is_missing: float) -> None:
    data = lc.Data(times(smoked_is_missing), not_asked=RULE)
    found = lc.diagnose(data, NETWORK)
    dependent = {(own.missing, own.cause) for own in found.mcar if own.adjusted < 0.05}
    assert dependent == {("Now", "Ill")}
    assert not any(own.adjusted < 0.05 for own in found.mar)
    assert any("rows miss Smoked" in own for own in found.conclusions) == (smoked_is_missing > 0)


def test_who_misses_whether_a_question_was_asked_hears_that_it_is_not_missing_at_random() -> None:
    data = lc.Data(rows_of(SMOKED_IS_MISSING), weight="w")
    with pytest.warns(lc.LacunetWarning, match="rows miss Smoked, .* whether Now was asked"):
        result = lc.learn(NETWORK, data, "em", pseudo_counts=0.0)
    assert any("rows miss Smoked" in own for own in result.warnings)
    biased = abs(result.cpt("Smoked").table - SMOKED).max()
    assert biased > 0.03  # the graph of the tests above has 1e-7
    for smoked_is_missing, graph in CASES:
        data = lc.Data(rows_of(smoked_is_missing), weight="w")
        told = lc.learn(NETWORK, data, "em", missingness=graph)
        assert not any("was asked" in own for own in told.warnings)
    whole = lc.learn(NETWORK, lc.Data(rows_of(0.0), weight="w"), "em")
    assert not any("was asked" in own for own in whole.warnings)


def test_a_graph_is_refused_rows_that_come_with_a_rule_which_it_does_not_know() -> None:
    graph = lc.MissingnessGraph.parse("R[Smoked]; Ill -> R[Now]", PLAIN)
    data = lc.Data(rows_of(SMOKED_IS_MISSING), weight="w", not_asked=RULE)
    with pytest.raises(lc.LacunetError, match="rule of when 'Now' was not asked"):
        graph.recover(["Now"]).estimate(data)
    with pytest.raises(lc.LacunetError, match="rule of when 'Now' was not asked"):
        check_implications(graph, data)


def test_an_effect_takes_the_rules_of_its_data() -> None:
    data = lc.Data(rows_of(SMOKED_IS_MISSING), weight="w", not_asked=RULE)
    for network in (PLAIN, NETWORK):
        graph = lc.MissingnessGraph.parse("R[Smoked]; Ill -> R[Now]", network)
        effect = graph.effect("Ill", do="Now", data=data)
        np.testing.assert_allclose(effect.probabilities, ILL, atol=1e-9)


@pytest.mark.parametrize("method", ["em", "direct-mcar"])
def test_counted_rows_keep_the_rules_that_their_rows_were_read_by(
    method: str, tmp_path: Path
) -> None:
    rows = lc.Data(rows_of(0.0), counts="w", not_asked=RULE)
    counted = lc.count(PLAIN, rows)
    pq.write_table(counted, tmp_path / "rows.parquet")
    expected = lc.learn(NETWORK, lc.Data(rows_of(0.0), counts="w"), method).cpt("Now").table
    for data in (counted, tmp_path / "rows.parquet"):
        for network in (PLAIN, NETWORK):
            found = lc.learn(network, data, method)
            np.testing.assert_array_equal(found.cpt("Now").table, expected)
            assert found.network.not_asked_of["Now"].when == RULE["Now"]


def test_the_command_line_knows_rules_in_graphs_that_it_reads_and_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network, rows, graph = (str(tmp_path / name) for name in ("net.json", "rows.csv", "graph.txt"))
    PLAIN.write(network)
    columns = times(SMOKED_IS_MISSING)
    lines = [
        ",".join(columns),
        *(",".join(x or "" for x in row) for row in zip(*columns.values(), strict=True)),
    ]
    Path(rows).write_text("\n".join(lines))
    rule = ["--not-asked", "Now: Smoked=no"]
    assert main(["diagnose", network, rows, *rule, "--missingness-out", graph]) == 0
    assert "R[Smoked] -> R[Now]" in Path(graph).read_text()
    asked = ["recover", network, "R[Smoked]; Ill -> R[Now]", "--query", "Now", "--json", *rule]
    capsys.readouterr()
    assert main([*asked, "--data", rows]) == 0
    (found,) = json.loads(capsys.readouterr().out)["queries"]
    np.testing.assert_allclose(found["estimate"]["table"], MARGINAL, atol=1e-3)


def test_a_graph_read_beside_data_is_told_what_they_know() -> None:
    network = lc.Network(
        {"Hidden": ["0", "1"], "Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]},
        {"Smoked": ["Hidden"], "Now": ["Smoked"]},
    )
    rows = {"Smoked": ["no", "yes", "yes", None], "Now": [None, "no", None, None]}
    data = lc.Data(rows, not_asked={"Now": "Smoked=no"}, latent=["Hidden"])
    with pytest.raises(lc.LacunetError, match=r"missing values of 'Smoked', .*\n.*R\[Smoked\]"):
        lc.MissingnessGraph.parse("R[Now]", network, data=data)
    graph = lc.MissingnessGraph.parse("R[Now]; R[Smoked]", network, data=data)  # nothing to say
    assert graph.latent == ("Hidden",)
    assert str(graph).splitlines() == ["R[Smoked]", "Smoked, R[Smoked] -> R[Now]"]
    np.testing.assert_allclose(graph.recover("P(Smoked)").estimate(data), [1 / 3, 2 / 3])
    with pytest.raises(lc.LacunetError, match=r"missing values of 'B'"):
        lc.MissingnessGraph.parse("R[A]", "A -> B", data={"A": [1, 2, None], "B": [1, None, 2]})
