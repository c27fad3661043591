"""If values are not missing at random: laws with a known tilt give their truth back."""

from __future__ import annotations

import json
import re
from math import exp, inf, log
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from scipy.special import betaincinv

import lacunet
from lacunet.ask.sensitivity.sensitivity import sensitivity
from lacunet.ask.sensitivity.tilt import Question, tilted_shares
from lacunet.ask.sensitivity.tilted_em import TiltedRows, tilted_model
from lacunet.ask.worst_case import bounds
from lacunet.cli import main
from lacunet.counts.count import count
from lacunet.counts.distinct_rows import Rows
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.counts.gather import with_node_columns
from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.engine import engine_of
from lacunet.learning.em.em import EM
from lacunet.learning.learn import learn
from lacunet.network.network import Network

CLINIC = Network(
    {"Age": ["young", "old"], "Ill": ["no", "yes", "very"], "Pain": ["no", "yes"]},
    {"Ill": ["Age"], "Pain": ["Ill"]},
)


def tilted_law(delta: float) -> tuple[EncodedTable, np.ndarray]:
    """Rows weighted by a law whose hidden Ill=yes has e^delta times the odds; and the truth.

    The truth is the joint of Age, Ill and Pain; Ill is hidden more often for the old.
    """
    rng = np.random.default_rng(4)
    age, hides = np.array([0.3, 0.7]), np.array([0.2, 0.5])
    rows, weights = [], []
    truth = np.zeros((2, 3, 2))
    for a in range(2):
        shown = rng.dirichlet(np.ones(6)).reshape(3, 2)  # P(Ill, Pain | shown, Age)
        hidden = shown * np.array([1, exp(delta), 1])[:, None]
        hidden /= hidden.sum()
        truth[a] = age[a] * ((1 - hides[a]) * shown + hides[a] * hidden)
        for ill in range(3):
            for pain in range(2):
                rows.append([a, ill, pain])
                weights.append(age[a] * (1 - hides[a]) * shown[ill, pain])
        rows.append([a, 3, 2])  # Pain is hidden with it
        weights.append(age[a] * hides[a])
    codes = np.array(rows, np.uint8).T
    columns = dict(zip(("Age", "Ill", "Pain"), codes, strict=True))
    return EncodedTable({"Age": 2, "Ill": 3, "Pain": 2}, columns, np.array(weights)), truth


@pytest.mark.parametrize("delta", [-1.5, 0.0, 2.0])
def test_the_right_tilt_gives_the_truth_back(delta: float) -> None:
    table, truth = tilted_law(delta)
    for evidence, expected in (
        ({}, truth[:, 1].sum()),
        ({"Age": "old"}, truth[1, 1].sum() / truth[1].sum()),
        ({"Pain": "yes"}, truth[:, 1, 1].sum() / truth[:, :, 1].sum()),
    ):
        question = Question("Ill", "yes", evidence, "Ill", "yes")
        shares = tilted_shares(CLINIC, table, question, ("Age",))
        assert shares.answer(delta) == pytest.approx(expected, rel=1e-12)


def test_no_tilt_is_direct_deletion_for_mar() -> None:
    table, _ = tilted_law(1.0)
    shares = tilted_shares(CLINIC, table, Question("Ill", "yes", {}, "Ill", "yes"), ("Age",))
    # Within the groups of Age; direct-mar groups by all that is always shown, which is Age.
    learned = learn(CLINIC, table, "direct-mar", pseudo_counts=0).network
    by_age = learned.cpt("Age").table @ learned.cpt("Ill").table
    assert shares.answer(0.0) == pytest.approx(by_age[1], rel=1e-12)


def test_infinite_tilts_are_the_bounds_of_a_variable_without_parents() -> None:
    table = EncodedTable({"X": 2}, {"X": np.array([0] * 30 + [1] * 10 + [2] * 20, np.uint8)})
    coin = Network({"X": ["no", "yes"]})
    shares = tilted_shares(coin, table, Question("X", "yes", {}, "X", "yes"), ())
    low, high = bounds(Rows.of(count(table, [("X",)])[("X",)]), coin, ("X",))
    assert shares.answer(-inf) == pytest.approx(low[1])
    assert shares.answer(inf) == pytest.approx(high[1])


def test_the_tipping_point_by_hand() -> None:
    # 40 of 60 rows are shown, 10 of them yes: MAR says 1/4. At odds of k times 1/3 the hidden
    # 20 hold 20k/(3+k): the answer is 1/3 where 10 + 20k/(3+k) = 20, at k = 3.
    rows = {"X": ["no"] * 30 + ["yes"] * 10 + [None] * 20}
    coin = Network({"X": ["no", "yes"]})
    found = sensitivity(coin, rows, "X=yes", "X", threshold=1 / 3)
    assert found.tipping_point == pytest.approx(log(3))
    assert found.answers[found.deltas.index(0.0)] == pytest.approx(0.25)
    assert "3 times" in found.words[1]
    beyond = sensitivity(coin, rows, "X=yes", "X", threshold=0.9)
    assert beyond.tipping_point is None
    assert "0.167 and 0.5" in beyond.words[1]


def test_intervals_widen_with_what_is_hidden_and_hold_the_answer() -> None:
    rows = {"X": ["no"] * 300 + ["yes"] * 100 + [None] * 200}
    found = sensitivity(Network({"X": ["no", "yes"]}), rows, "X=yes", "X")
    low, high = found.intervals.T
    assert ((low < found.answers) & (found.answers < high)).all()
    at = found.deltas.index(0.0)
    # 400 rows say a quarter: a standard error of 0.0217; the jackknife has 30 groups (13%).
    assert (high - low)[at] == pytest.approx(2 * 1.96 * 0.0217, rel=0.4)


@pytest.mark.parametrize("delta", [-1.5, 0.0, 2.0])
def test_em_with_the_right_tilt_gives_the_truth_back(delta: float) -> None:
    table, truth = tilted_law(delta)
    network = Network(CLINIC.states_of, {"Ill": ["Age"], "Pain": ["Ill", "Age"]})  # any law
    to_the_end = EM(tolerance=1e-12, max_iterations=20_000)
    plain = learn(network, table, to_the_end, pseudo_counts=0).network
    question = Question("Ill", "yes", {"Pain": "yes"}, "Ill", "yes")
    model = tilted_model(network, question, ("Age",), partially=("Ill",), never_without=())
    problems = compile_problems(model.compiling.network, with_node_columns(table, model.compiling))
    rows = TiltedRows(engine_of(problems, 2**30), plain, question, 0.0, model)
    found = rows.network(rows.cells(delta, 1e-12, 20_000))
    np.testing.assert_allclose(
        found.cpt("Ill").table, truth.sum(axis=2) / truth.sum(axis=(1, 2))[:, None], atol=1e-8
    )
    expected = truth[:, 1, 1].sum() / truth[:, :, 1].sum()
    assert rows.answer(delta) == pytest.approx(expected, abs=1e-4)
    if not delta:
        np.testing.assert_allclose(found.cpt("Pain").table, plain.cpt("Pain").table, atol=1e-9)


@pytest.mark.parametrize("delta", [-1.0, 0.0, 1.0])
def test_what_decides_on_being_hidden_may_have_missing_values_itself(delta: float) -> None:
    """Ill -> Pain; Pain and a tilt of Ill decide whether Ill is hidden, a tenth of Pain is lost."""
    ill, pain = np.array([0.7, 0.3]), np.array([[0.8, 0.2], [0.3, 0.7]])
    odds = np.array([0.2, 1.5])[None, :] * np.array([1.0, exp(delta)])[:, None]  # Ill, Pain
    hides = odds / (1 + odds)
    law = np.zeros((3, 3))
    for seen, share in ((ill[:, None] * pain * (1 - hides), 1), (ill[:, None] * pain * hides, 0)):
        for pain_shown, rate in ((1, 0.9), (0, 0.1)):
            at_ill, at_pain = ([0, 1] if share else [2, 2]), ([0, 1] if pain_shown else [2, 2])
            np.add.at(law, (np.repeat(at_ill, 2), np.tile(at_pain, 2)), rate * seen.ravel())
    told = np.array(["no", "yes", None])[np.indices(law.shape).reshape(2, -1)]
    counts = np.rint(1e7 * law.ravel()).astype(int)
    rows = Data({"Ill": told[0], "Pain": told[1], "Rows": counts}, counts="Rows")
    network = Network({"Ill": ["no", "yes"], "Pain": ["no", "yes"]}, {"Pain": ["Ill"]})
    found = sensitivity(
        network,
        rows,
        "P(Ill=yes)",
        mechanism="Ill",
        missingness="Pain -> R[Ill]; R[Pain]",
        deltas=[delta],
        pseudo_counts=0,
    )
    assert found.method == "em"
    assert found.within == ("Pain",)
    assert found.answers[found.deltas.index(delta)] == pytest.approx(0.3, abs=1e-4)
    best = max(found.log_likelihoods)
    assert found.log_likelihoods[found.deltas.index(delta)] > best - 1e-3


def test_em_and_shares_have_the_same_tipping_point_where_nothing_else_speaks() -> None:
    rows = {"X": ["no"] * 300 + ["yes"] * 100 + [None] * 200}
    coin = Network({"X": ["no", "yes"]})
    em = sensitivity(coin, rows, "X=yes", "X", threshold=1 / 3, method="em", pseudo_counts=0)
    by_shares = sensitivity(coin, rows, "X=yes", "X", threshold=1 / 3)
    assert em.tipping_point == pytest.approx(log(3), abs=1e-4)
    np.testing.assert_allclose(em.answers, by_shares.answers, atol=1e-5)
    np.testing.assert_allclose(em.intervals, by_shares.intervals, atol=1e-4)
    assert "3 times" in em.words[1]
    # Any tilt fits a variable by itself; by shares nothing is said of it.
    assert np.ptp(em.log_likelihoods) < 1e-3
    assert "tilts" in em.words[-1]
    assert by_shares.log_likelihoods == ()


def _clinic_with_tests(weight: float) -> Data:
    """Age -> Ill -> Test; Sex decides whether Ill is shown, Age too little to be learned."""
    rng = np.random.default_rng(4)
    old, man = rng.random((2, 1500)) < 0.5
    ill = rng.random(1500) < np.where(old, 0.6, 0.1)
    hides = rng.random(1500) < 0.1 + 0.3 * man + 0.02 * old
    fails = rng.random(1500) < 0.2
    test = rng.random(1500) < np.where(ill, 0.9, 0.1)
    yes_no = np.array(["no", "yes"], object)
    columns = {"Age": np.where(old, "old", "young"), "Sex": np.where(man, "m", "f")}
    columns |= {"Ill": np.where(hides, None, yes_no[ill.astype(int)])}
    columns |= {"Test": np.where(fails, None, yes_no[test.astype(int)])}
    return Data(columns | {"wt": 1 + weight * rng.random(1500)}, weight="wt")


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_what_is_compared_by_default_is_what_learn_would_answer_and_is_said(weight: float) -> None:
    rows, edges = _clinic_with_tests(weight), "Age -> Ill -> Test; Sex"
    tilted = sensitivity(edges, rows, "P(Ill=yes)", mechanism="Ill", groups=2, deltas=0)
    # The parent is among the groups, and EM is taken because a child has missing values.
    assert tilted.within == ("Age", "Sex")
    assert tilted.method == "em"
    learned = lacunet.learn(edges, rows).query("P(Ill=yes)")
    assert tilted.answers[0] == pytest.approx(float(learned), abs=1e-4)
    assert "Ill is" in tilted.words[-3]
    assert "of Ill" in tilted.words[-3]
    assert tilted.words[-2].startswith("Method em, since Test")
    assert "P(Ill=yes) is " in tilted.words[0]
    by_test = sensitivity(
        edges, rows, "P(Ill=yes)", mechanism="Ill", within=["Age", "Test"], groups=2, deltas=0
    )
    # Rows that miss Test are a group of their own: nothing hidden decides, whatever is given.
    assert by_test.answers[0] == pytest.approx(float(learned), abs=1e-4)
    # What is asked for needs no reason; the last sentence begins alike.
    asked = sensitivity(
        edges,
        rows,
        "P(Ill=yes)",
        mechanism="Ill",
        within="Sex",
        method="direct-mar",
        groups=2,
    )
    assert not any(words.startswith(("Groups", "Method")) for words in asked.words)
    assert "Sex (direct-mar)" in str(asked)
    assert tilted.words[-1].startswith(asked.words[-1])


def test_what_else_a_row_shows_speaks_by_em_alone() -> None:
    # Ill goes with Pain; those whose Ill is hidden all have Pain.
    rows = {
        "Ill": ["no"] * 90 + ["yes"] * 10 + ["no"] * 10 + ["yes"] * 90 + [None] * 200,
        "Pain": ["no"] * 100 + ["yes"] * 300,
    }
    network = Network({"Ill": ["no", "yes"], "Pain": ["no", "yes"]}, {"Pain": ["Ill"]})
    em = sensitivity(network, rows, "Ill=yes", "Ill", within=[], method="em", pseudo_counts=0)
    by_shares = sensitivity(network, rows, "Ill=yes", "Ill", within=[])
    at = em.deltas.index(0.0)
    assert em.answers[at] == pytest.approx((100 + 0.9 * 200) / 400, abs=1e-4)
    assert by_shares.answers[at] == pytest.approx(0.5)
    assert "shows" in str(em)


def test_the_independences_of_a_network_may_speak_against_a_tilt() -> None:
    # X has two children that are always shown: they tell the share of X among those who hide it.
    rng = np.random.default_rng(0)
    x = rng.random(4_000) < 0.4
    columns = {"X": np.where(rng.random(4_000) < 0.5, 2, x).astype(np.uint8)}
    columns |= {name: (rng.random(4_000) < np.where(x, 0.9, 0.2)).astype(np.uint8) for name in "YZ"}
    table = EncodedTable({"X": 2, "Y": 2, "Z": 2}, columns)
    network = Network({n: ["no", "yes"] for n in "XYZ"}, {"Y": ["X"], "Z": ["X"]})
    found = sensitivity(network, table, "X=yes", "X", within=[], method="em", groups=2)
    assert found.deltas[int(np.argmax(found.log_likelihoods))] == 0
    assert "delta = 0" in found.words[-1]


def test_a_tipping_point_between_tilts_is_found_where_the_answer_turns_back() -> None:
    # Given A, half of whose values hide: how likely B is among A = 1 falls, and rises again.
    rows = {
        "A": ["0"] * 50 + ["1"] * 50 + [None] * 100,
        "B": ["0"] * 40 + ["1"] * 10 + ["0"] * 10 + ["1"] * 40 + ["0"] * 20 + ["1"] * 80,
    }
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    found = sensitivity(network, rows, "B=0 | A=0", "A", within=[])
    assert found.deltas == tuple(sorted(found.deltas))
    assert f"{found.answers.min():.3g} and {found.answers.max():.3g}" in found.words[1]
    inside = (found.answers[3] + found.answers[4]) / 2
    again = sensitivity(network, rows, "B=0 | A=0", "A", within=[], threshold=inside)
    assert again.tipping_point is not None
    assert found.deltas[3] < again.tipping_point < found.deltas[4]


def test_a_tilt_of_odds_of_zero_points_to_the_bounds() -> None:
    rows: dict[str, list[str | None]] = {
        "Drug": ["new"] * 10 + ["old"] * 200,
        "Died": ["no"] * 6 + [None] * 4 + ["yes"] * 94 + ["no"] * 100 + [None] * 6,
    }
    network = Network({"Drug": ["new", "old"], "Died": ["no", "yes"]}, {"Died": ["Drug"]})
    found = sensitivity(network, rows, "Died=yes | Drug=new", "Died")
    assert not found.answers.any()
    assert found.tipping_point is None
    assert "none or all are yes" in found.words[1]
    assert "worst_case" in found.words[1]
    both = sensitivity(network, rows, "Died=yes", "Died")  # four of ten are stuck
    assert np.ptp(both.answers) == pytest.approx(6 / 210)
    assert "40.0%" in both.words[2]
    old = sensitivity(network, rows, "Died=yes | Drug=old", "Died")
    assert "worst_case" not in str(old)


def test_infinite_tilts_are_the_bounds_where_a_group_shows_nothing() -> None:
    rows: dict[str, list[str | None]] = {
        "Age": ["kid"] * 400 + ["adult"] * 600,
        "MI": [None] * 400 + ["no"] * 570 + ["yes"] * 30,
    }
    network = Network({"Age": ["kid", "adult"], "MI": ["no", "yes"]}, {"MI": ["Age"]})
    by_shares = sensitivity(network, rows, "MI=yes", "MI", within=["Age"])
    em = sensitivity(network, rows, "MI=yes", "MI", within=["Age"], method="em", pseudo_counts=0)
    for found in (by_shares, em):
        np.testing.assert_allclose(found.answers[[0, -1]], [0.03, 0.43], atol=1e-6)
    # Nobody speaks for kids: each state is as likely, and three times as likely if tilted so.
    tilted = sensitivity(
        network,
        rows,
        "MI=yes",
        "MI",
        within=["Age"],
        method="em",
        deltas=[log(3)],
        pseudo_counts=1,
    )
    adults = 0.6 * 31 / 602
    expected = [adults + 0.4 / 2, adults + 0.4 * 3 / 4]
    np.testing.assert_allclose(tilted.answers, expected, atol=1e-3)  # Age has a prior too
    assert "40.0%" in " ".join(em.words)
    assert any("40.0% of the rows" in word for word in by_shares.words)


@pytest.mark.parametrize("seed", range(4))
def test_infinite_tilts_by_em_fill_all_hidden_values_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ill = rng.random(200) < 0.2
    of_ill = {name: np.where(rng.random(200) < 0.1, ~ill, ill) for name in ("T", "U")}
    rows = {name: np.where(own, "yes", "no").astype(object) for name, own in of_ill.items()}
    shown = np.where(ill, "yes", "no").astype(object)
    is_hidden = rng.random(200) < np.where(ill, 0.2, 0.5)
    network = Network(
        {name: ["no", "yes"] for name in ("Ill", "T", "U")}, {"T": ["Ill"], "U": ["Ill"]}
    )
    rows["Ill"] = np.where(is_hidden, None, shown)
    found = sensitivity(network, rows, "P(Ill=yes)", mechanism="Ill", method="em", pseudo_counts=0)
    filled = [np.mean(np.where(is_hidden, state, shown) == "yes") for state in ("no", "yes")]
    np.testing.assert_allclose(found.answers[[0, -1]], filled, atol=1e-5)


def test_rows_that_hide_the_evidence_too_are_said_to_be_lost_to_shares() -> None:
    rows = {
        "A": ["y"] * 20 + ["n"] * 30 + ["y"] * 10 + ["n"] * 30 + [None] * 10,
        "Ill": ["yes"] * 15 + ["no"] * 5 + ["yes"] * 3 + ["no"] * 27 + [None] * 40 + ["no"] * 10,
    }
    network = Network({"A": ["n", "y"], "Ill": ["no", "yes"]}, {"Ill": ["A"]})
    asked: Any = {"query": "P(Ill=yes | A=y)", "mechanism": "Ill"}
    shares = sensitivity(network, rows, **asked, method="direct-mar")
    assert "Ill, A" in str(shares)
    em = sensitivity(network, rows, "P(Ill=yes | A=y)", mechanism="Ill", method="em")
    assert "rows that hide" not in str(em)


def test_hiding_one_cell_of_the_evidence_hardly_moves_the_answers() -> None:
    rows: dict[str, Any] = {
        "Smokes": ["yes"] * 200 + ["no"] * 600,
        "Cough": ["yes"] * 60
        + ["no"] * 80
        + [None] * 60
        + ["yes"] * 50
        + ["no"] * 500
        + [None] * 50,
    }
    network = Network({"Smokes": ["no", "yes"], "Cough": ["no", "yes"]}, {"Cough": ["Smokes"]})
    asked: Any = {"query": "P(Cough=yes | Smokes=yes)", "mechanism": "Cough", "groups": 2}
    whole = sensitivity(network, rows, **asked, within=["Smokes"])
    np.testing.assert_allclose(whole.answers[[0, -1]], [60 / 200, 120 / 200])
    rows["Smokes"][0] = None
    one_less = sensitivity(network, rows, **asked, pseudo_counts=0)
    assert one_less.method == "em"
    # One row of 200 moves an answer by half a percent at most; between these the models differ.
    np.testing.assert_allclose(one_less.answers[[0, 5, -1]], whole.answers[[0, 5, -1]], atol=0.005)


def test_em_answers_about_states_that_read_as_truth_values() -> None:
    rows = {"X": ["TRUE"] * 3 + ["FALSE"] * 5 + [None] * 2}
    coin = Network({"X": ["TRUE", "FALSE"]})
    found = sensitivity(coin, rows, "X=TRUE", "X", method="em", pseudo_counts=0, groups=2)
    np.testing.assert_allclose(found.answers[[0, -1]], [3 / 10, 5 / 10], atol=1e-4)


def test_the_share_of_rows_that_hide_a_variable_counts_rows() -> None:
    rows = {"X": ["no", "yes", None, None], "w": [5, 5, 1, 1]}
    found = sensitivity(Network({"X": ["no", "yes"]}), Data(rows, weight="w"), "X=yes", "X")
    assert found.hidden_share == 0.5


SURVEY = Network(
    {
        "Age": ["young", "middle", "old"],
        "Smoked": ["no", "yes"],
        "Now": ["no", "yes", "not_asked"],
    },
    {"Smoked": ["Age"], "Now": ["Smoked"]},
    codes={"Age": {"40+": ["middle", "old"]}},
    not_asked={"Now": "Smoked=no"},
)
ANSWERS = {
    "Age": ["young", "middle", "old", "40+", None] * 8,
    "Smoked": ["no", "yes", "yes", None, "yes"] * 8,
    "Now": [None, "yes", "no", None, None] * 8,
}


@pytest.mark.parametrize(
    ("state", "smoked"), [("yes", "no"), ("not_asked", "yes"), ("not_asked", "no")]
)
@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_what_a_rule_decides_is_refused(state: str, smoked: str, method: str) -> None:
    with pytest.raises(LacunetError, match="question"):
        sensitivity(SURVEY, ANSWERS, f"Now={state} | Smoked={smoked}", "Now", method=method)


def test_em_under_a_tilt_obeys_rules() -> None:
    options: dict[str, Any] = {
        "tilted_state": "yes",
        "method": "em",
        "pseudo_counts": 3,
        "groups": 2,
    }
    skipped = sensitivity(SURVEY, ANSWERS, "Now=not_asked", "Now", **options)
    smoked = sensitivity(SURVEY, ANSWERS, "Smoked=no", "Now", **options)
    np.testing.assert_allclose(skipped.answers, smoked.answers, rtol=1e-12)


def test_likelihoods_weigh_the_rows_of_each_state() -> None:
    rows = {
        "Test": ["neg"] * 50 + ["pos"] * 50,
        "Ill": ["no"] * 40 + ["yes"] * 8 + [None] * 2 + ["no"] * 15 + ["yes"] * 25 + [None] * 10,
    }
    network = Network({"Test": ["neg", "pos"], "Ill": ["no", "yes"]}, {"Ill": ["Test"]})
    query = "Ill=yes | Test ~ {neg: 0.1, pos: 0.7}"
    result = sensitivity(network, rows, query, "Ill", deltas=[0, 1])
    shares = np.array([0.1, 0.7]) / 0.8  # as many have each result
    ill = np.array([8 / 48, 25 / 40])
    assert result.answers[0] == pytest.approx(shares @ ill)
    shown = np.array([0.96, 0.8])
    odds = np.e * ill / (1 - ill + np.e * ill)
    assert result.answers[1] == pytest.approx(shares @ (shown * ill + (1 - shown) * odds))
    several = sensitivity(network, rows, "Ill=yes | Test in {neg, pos}", "Ill", deltas=[0])
    assert several.answers[0] == pytest.approx(ill.mean())


SMOKERS = {  # 40 were not asked, 60 were; of these 20 say no, 30 yes
    "Old": (["no", "yes"] * 50),
    "Smoked": ["no"] * 40 + ["yes"] * 60,
    "Now": [None] * 40 + ["no"] * 20 + ["yes"] * 30 + [None] * 10,
}
ASKED = Network(
    {"Old": ["no", "yes"], "Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]},
    {"Smoked": ["Old"], "Now": ["Smoked"]},
)


@pytest.mark.parametrize("within", [None, [], ["Old"]])
@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_hidden_answers_are_compared_among_those_who_were_asked(
    within: list[str] | None, method: Literal["direct-mar", "em"]
) -> None:
    data = Data(SMOKERS, not_asked={"Now": "Smoked=no"})
    found = sensitivity(
        ASKED,
        data,
        "Now=yes",
        mechanism="Now",
        within=within,
        method=method,
        pseudo_counts=0,
        groups=2,
    )
    # Of 60 who were asked 30 say yes; of 10 who do not say, 3 : 2 do, or 3e : 2.
    mar, one = found.deltas.index(0.0), found.deltas.index(1.0)
    np.testing.assert_allclose(found.answers[mar], 0.36, rtol=1e-5)
    tilted = 3 * np.e / (3 * np.e + 2)
    np.testing.assert_allclose(found.answers[one], 0.3 + 0.1 * tilted, rtol=1e-5)
    with pytest.raises(LacunetError, match="question"):
        sensitivity(ASKED, data, "Now=yes | Smoked=no", "Now", method=method)


def test_the_state_for_what_was_not_asked_is_not_tilted_unless_that_is_asked_for() -> None:
    data = Data(SMOKERS, not_asked={"Now": "Smoked=no"})
    found = sensitivity(ASKED, data, "Smoked=yes", mechanism="Now", groups=2)
    assert found.question.tilted_state == "yes"


def test_a_tilt_says_where_rows_miss_whether_a_question_was_asked() -> None:
    for mechanism in ("Smoked", "Now"):  # EM allows for the rule of what is tilted
        found = sensitivity(SURVEY, ANSWERS, "Now=yes", mechanism, method="em", groups=2)
        is_said = any("rows miss Smoked" in own for own in found.words)
        assert is_said == (mechanism == "Smoked")


def test_cells_of_several_states_are_said_to_be_taken_as_missing() -> None:
    found = sensitivity(SURVEY, ANSWERS, "Age=old", "Age", method="direct-mar")
    assert "Age 8" in " ".join(found.words)
    em = sensitivity(SURVEY, ANSWERS, "Age=old", "Age", method="em", groups=2)
    assert "several states" not in str(em)


def test_states_are_read_as_in_queries_and_names_are_of_one_variable() -> None:
    network = Network({"Old": ["0", "1"], "Ill": ["0", "1"]}, {"Ill": ["Old"]})
    rows = {"Old": ["1"] * 80, "Ill": ["0"] * 20 + ["1"] * 20 + [None] * 40}
    asked = sensitivity(network, rows, "Ill=1 | Old=1", "Ill", tilted_state="0")
    same = sensitivity(network, rows, "Ill=1 | Old=1.0", "Ill", tilted_state=0)
    assert str(same) == str(asked)
    wrong: list[tuple[Any, ...]] = [("Ill=1", ["Ill", "Old"]), (["Ill"], "Ill"), ("Ill", "Ill")]
    for question in wrong:
        with pytest.raises(LacunetError):
            sensitivity(network, rows, *question)


def test_a_query_is_one_state_with_or_without_its_p() -> None:
    network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    rows = {"Age": ["old"] * 80, "Ill": ["no"] * 20 + ["yes"] * 20 + [None] * 40}
    plain = sensitivity(network, rows, "Ill=yes | Age=old", "Ill")
    written = sensitivity(network, rows, "P(Ill=yes|Age=old)", "Ill")
    assert written.question == plain.question
    np.testing.assert_array_equal(written.answers, plain.answers)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"query": ["Ill"]}, "Ill"),
        ({"query": "Ill"}, "names no state of 'Ill'"),
        ({"query": "P(Ill=yes, Age=old)"}, "asks for 2 states"),
        ({"query": "P(Ill=yes | do(Age=old), Age=old)"}, "Age' is set by do"),
        ({"query": "P(Ill=yes | do(Age=old))", "method": "direct-mar"}, "shares of rows"),
    ]
    for asked, message in wrong:
        with pytest.raises(LacunetError, match=message):
            sensitivity(network, rows, mechanism="Ill", **asked)


def test_what_is_never_missing_is_refused() -> None:
    with pytest.raises(LacunetError, match="'Age'"):
        sensitivity(CLINIC, tilted_law(0)[0], "Ill=yes", "Age")


@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_what_is_never_shown_is_refused(method: str) -> None:
    rows = {"Age": ["old"] * 20, "Ill": [None] * 20, "Pain": ["no"] * 20}
    with pytest.raises(LacunetError, match="'Ill'"):
        sensitivity(CLINIC, rows, "Ill=yes", "Ill", method=method)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"method": "mice"}, "must be one of direct-mar, em"),
        ({"threshold": 3}, "not a probability"),
        ({"groups": 1}, "two at least"),
        ({"deltas": [float("nan")]}, "not a number"),
    ]
    for options, says in refused:
        with pytest.raises(LacunetError, match=says):
            sensitivity(CLINIC, rows, "Ill=yes", "Ill", **options)


def test_open_intervals_are_written_without_a_second_sign() -> None:
    network = Network({"Age": ["young", "old"], "bmi": ["<25", ">=25"]}, {"bmi": ["Age"]})
    rows = {"Age": ["young", "old"] * 30, "bmi": ["<25", ">=25", ">=25", "<25", None, None] * 10}
    found = sensitivity(network, rows, "bmi>=25 | Age=old", "bmi")
    assert "P(bmi>=25 | Age=old)" in str(found)
    assert "bmi=" not in str(found)


def test_the_command_prints_a_table_and_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from lacunet.network.formats.files import write_network

    network = CLINIC.with_tables(
        {
            "Age": [0.5, 0.5],
            "Ill": [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3]],
            "Pain": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]],
        }
    )
    write_network(network, tmp_path / "net.bif")
    cells = ["old,yes,yes", "old,no,yes", "old,,yes", "young,no,no", "young,yes,no"] * 40
    (tmp_path / "rows.csv").write_text("\n".join(["Age,Ill,Pain", *cells]) + "\n")
    arguments = ["sensitivity", str(tmp_path / "net.bif"), str(tmp_path / "rows.csv")]
    arguments += ["--query", "Ill=yes|Age=old", "--mechanism", "Ill", "--threshold", "0.6"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "P(Ill=yes | Age=old)" in out
    assert "0.6" in out
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"][5] == pytest.approx(0.5)
    assert main([*arguments[:4], "Ill|Age=old", "--mechanism", "Ill"]) == 1


def test_the_command_asks_by_em(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lacunet.network.formats.files import write_network

    write_network(Network({"X": ["no", "yes"]}, {}, {"X": [0.5, 0.5]}), tmp_path / "net.bif")
    cells = ["no"] * 30 + ["yes"] * 10 + ["?"] * 20
    (tmp_path / "rows.csv").write_text("\n".join(["X", *cells]) + "\n")
    arguments = ["sensitivity", str(tmp_path / "net.bif"), str(tmp_path / "rows.csv")]
    arguments += ["--query", "X=yes", "--mechanism", "X", "--threshold", str(1 / 3)]
    assert main([*arguments, "--method", "em", "--pseudo-counts", "0", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["method"] == "em"
    assert told["tipping_point"] == pytest.approx(log(3), abs=1e-4)
    assert len(told["log_likelihoods"]) == len(told["deltas"])


def test_a_mechanism_is_one_that_has_missing_values() -> None:
    rows = {"Age": ["old", "young", None] * 4, "Ill": ["no", "yes", "no"] * 4}
    with pytest.raises(LacunetError, match=r"mechanism='Age' \(--mechanism\)"):
        sensitivity("Age -> Ill", rows, "Ill=yes | Age=old", "Ill")


@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_one_of_several_states_is_evidence_for_a_tilt_as_all_of_them(method: Any) -> None:
    network = Network(
        {"Age": ["kid", "adult", "old"], "Ill": ["no", "yes"]},
        {"Ill": ["Age"]},
        codes={"Age": {"18+": ["adult", "old"]}},
    )
    shown = {"kid": (9, 1, 4), "adult": (12, 4, 8), "old": (6, 6, 20)}  # no, yes, hidden
    cells = [
        (age, ill)
        for age, numbers in shown.items()
        for ill, number in zip(("no", "yes", None), numbers, strict=True)
        for _ in range(number)
    ]
    rows = dict(zip(("Age", "Ill"), map(list, zip(*cells, strict=True)), strict=True))
    found = sensitivity(
        network,
        rows,
        "P(Ill=yes | Age=18+)",
        mechanism="Ill",
        method=method,
        pseudo_counts=0,
        deltas=[1.0],
    )
    for delta, answer in zip(found.deltas, found.answers, strict=True):
        odds = {age: np.exp(delta) * yes / no for age, (no, yes, _) in shown.items()}
        ill = [shown[age][1] + shown[age][2] * odds[age] / (1 + odds[age]) for age in odds]
        assert answer == pytest.approx(sum(ill[1:]) / 56, rel=1e-4)  # EM stops within 1e-6 a step
    assert "Age=18+" in str(found)


def test_one_tilt_and_one_variable_need_no_list() -> None:
    rows = {
        "Age": ["old"] * 40 + ["young"] * 40,
        "Ill": (["no"] * 10 + ["yes"] * 10 + [None] * 20) * 2,
    }
    network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    asked: Any = {"query": "P(Ill=yes)", "mechanism": "Ill"}
    one = sensitivity(network, rows, **asked, within="Age", deltas=1.0)
    two = sensitivity(network, rows, **asked, within=["Age"], deltas=[0.0, 1.0])
    assert one.deltas == two.deltas == (0.0, 1.0)
    assert one.within == two.within == ("Age",)
    np.testing.assert_array_equal(one.answers, two.answers)


@pytest.mark.parametrize(
    "wrong", [{"threshold": "a"}, {"groups": "ten"}, {"groups": 2.5}, {"deltas": ["far"]}]
)
def test_options_of_another_kind_are_named(wrong: dict[str, Any]) -> None:
    network = Network({"Ill": ["no", "yes"]})
    rows = {"Ill": ["no", "yes", None] * 10}
    value = re.escape(repr(next(iter(wrong.values()))))
    with pytest.raises(LacunetError, match=value):
        sensitivity(network, rows, "P(Ill=yes)", mechanism="Ill", **wrong)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_without_a_tilt_intervals_by_em_are_those_of_the_learned_network() -> None:
    """The learned prior pulls 27 thin CPT rows together; how sure the rows are it does not say."""
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(["a", "b", "c"], 400).astype(object) for name in "ABC"}
    is_ill = rng.random(400) < 0.2 + 0.1 * (columns["A"] == "a") + 0.15 * (columns["B"] == "b")
    columns["D"] = np.where(is_ill, "yes", "no").astype(object)
    for name, share in (("D", 0.3), ("B", 0.1)):
        columns[name][rng.random(400) < share] = None
    rows = {name: column.tolist() for name, column in columns.items()}
    tilted = sensitivity("A, B, C -> D", rows, "P(D=yes | A=a)", mechanism="D", deltas=[0])
    learned = learn("A, B, C -> D", rows, "em", intervals=True)
    answer = learned.query("P(D=yes | A=a)")
    assert tilted.method == "em"
    assert tilted.answers[0] == pytest.approx(float(answer), abs=1e-3)
    width, expected = np.diff(tilted.intervals[0]).item(), np.diff(answer.interval).item()
    assert 0.75 < width / expected < 1.33  # thirty groups of rows against the rates of EM


NEVER_ILL = {
    "Age": ["old", "young"] * 60,
    "Sex": ["f", "m", "m", None] * 30,
    "Ill": ["no", "yes", "no", "no", "no", "no", None, "yes"] * 15,
}


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_a_state_that_no_row_shows_is_as_sure_as_the_rows_are_many() -> None:
    found = sensitivity(
        "Age, Sex -> Ill", NEVER_ILL, "P(Ill=yes | Age=old)", mechanism="Ill", deltas=[0]
    )
    assert found.method == "em"
    low, high = found.intervals[0]
    assert low == 0.0
    expected = betaincinv(0.5, 45.5, 0.975)  # of 45 old people who are not ill
    assert high == pytest.approx(expected, rel=0.1)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_an_end_that_is_stretched_to_the_answer_is_no_threshold() -> None:
    query = "P(Ill=yes | Age=old)"
    found = sensitivity("Age, Sex -> Ill", NEVER_ILL, query, mechanism="Ill", pseudo_counts=29)
    assert found.threshold != pytest.approx(found.answers[found.deltas.index(0.0)], abs=1e-6)
    assert found.tipping_point != 0.0


def test_states_are_not_given_as_groups() -> None:
    network = Network({"Arm": ["none", "drug"], "Ill": ["no", "yes"]}, {"Ill": ["Arm"]})
    rows = {"Arm": ["none", "drug"] * 4, "Ill": ["no", "yes", "yes", "no", "no", "yes", None, None]}
    with pytest.raises(LacunetError, match=r"Arm(?s:.)*behind the bar.*\| Arm=drug"):
        sensitivity(network, rows, "Ill=yes", "Ill", within={"Arm": "drug"})  # type: ignore[arg-type]
