"""Sensitivity of interventions and of differences: laws with a known tilt, done by hand."""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from lacunet.ask.sensitivity.tilted_intervals import of_difference
from lacunet.ask.sensitivity.tilted_query import typed_terms
from lacunet.cli import main

TRIAL = lc.Network(
    {"Age": ["y", "o"], "Drug": ["no", "yes"], "Ill": ["no", "yes"]},
    {"Drug": ["Age"], "Ill": ["Age", "Drug"]},
)
AGE = [0.4, 0.6]
DRUG = [0.25, 0.75]  # of the young and the old, those who take it
ILL = [[0.1, 0.2], [0.5, 0.3]]  # among shown ones, by age and drug
HIDDEN = [[0.1, 0.3], [0.4, 0.2]]
ROWS = 40_000
EFFECT = "P(Ill=yes | do(Drug=yes)) - P(Ill=yes | do(Drug=no))"


def trial(rows: int = ROWS) -> dict[str, list[str | None]]:
    """Rows in the exact proportions of the law."""
    columns: dict[str, list[str | None]] = {"Age": [], "Drug": [], "Ill": []}
    for age, drug in np.ndindex(2, 2):
        weight = AGE[age] * (DRUG[age] if drug else 1 - DRUG[age])
        shown = weight * (1 - HIDDEN[age][drug])
        states = [shown * (1 - ILL[age][drug]), shown * ILL[age][drug], weight - shown]
        for ill, share in zip(["no", "yes", None], states, strict=True):
            number = round(rows * share)
            columns["Age"] += ["yo"[age]] * number
            columns["Drug"] += [["no", "yes"][drug]] * number
            columns["Ill"] += [ill] * number
    return columns


def truth(delta: float) -> np.ndarray:
    """P(Ill=yes | Age, Drug) if the odds among hidden ones are e^delta times those among shown."""
    shown, hides = np.array(ILL), np.array(HIDDEN)
    hidden = shown * exp(delta) / (1 - shown + shown * exp(delta))
    return (1 - hides) * shown + hides * hidden


@pytest.mark.parametrize("delta", [0.0, log(3), -1.0])
def test_the_effect_of_an_intervention_under_a_tilt_is_adjusted_for_its_cause(
    delta: float,
) -> None:
    after = np.array(AGE) @ truth(delta)  # by the back door of Age
    tilted = lc.sensitivity(TRIAL, trial(), EFFECT, mechanism="Ill", deltas=delta, pseudo_counts=0)
    index = tilted.deltas.index(delta)
    assert tilted.method == "em"
    assert tilted.answers[index] == pytest.approx(after[1] - after[0], abs=1e-4)
    one = lc.sensitivity(
        TRIAL, trial(), "Ill=yes | do(Drug=yes)", mechanism="Ill", deltas=delta, pseudo_counts=0
    )
    assert one.answers[index] == pytest.approx(after[1], abs=1e-4)
    # What is seen among those who take it is another number.
    seen = lc.sensitivity(TRIAL, trial(), "Ill=yes | Drug=yes", mechanism="Ill", deltas=delta)
    assert abs(seen.answers[index] - after[1]) > 0.01


@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_the_difference_of_two_shares_under_a_tilt_is_that_of_their_truths(method: str) -> None:
    text = "P(Ill=yes | Age=o, Drug=yes) - P(Ill=yes | Age=y, Drug=yes)"
    tilted = lc.sensitivity(
        TRIAL, trial(), text, mechanism="Ill", deltas=log(2), method=method, pseudo_counts=0
    )
    cells = truth(log(2))
    assert tilted.answers[-1] == pytest.approx(cells[1, 1] - cells[0, 1], abs=1e-4)
    assert (tilted.intervals[:, 0] < tilted.answers).all()
    assert (tilted.answers < tilted.intervals[:, 1]).all()


def test_without_a_tilt_an_effect_and_its_interval_are_those_of_learn() -> None:
    rows = trial(2000)
    tilted = lc.sensitivity(TRIAL, rows, EFFECT, mechanism="Ill", deltas=0)
    asked = lc.learn(TRIAL, rows, intervals=True).effect("Ill", do="Drug")
    (contrast,) = [one for one in asked.contrasts if one.outcome == "yes"]
    assert tilted.answers[0] == pytest.approx(contrast.difference.value, abs=2e-3)
    low, high = tilted.intervals[0]
    wide = contrast.difference.high - contrast.difference.low
    assert high - low == pytest.approx(wide, rel=0.25)  # thirty groups: their SE is 13%


@pytest.mark.slow
def test_intervals_of_differences_cover_their_truth() -> None:
    rng = np.random.default_rng(17)
    after = np.array(AGE) @ truth(log(2))
    sets, covered = 60, 0
    for _ in range(sets):
        age = (rng.random(800) < AGE[1]).astype(int)
        drug = (rng.random(800) < np.array(DRUG)[age]).astype(int)
        ill = rng.random(800) < truth(log(2))[age, drug]
        # Bayes' rule: who hides, by what they have
        shown = np.array(ILL)[age, drug]
        shown = np.where(ill, shown, 1 - shown) * (1 - np.array(HIDDEN)[age, drug])
        all_of = truth(log(2))[age, drug]
        is_shown = rng.random(800) < shown / np.where(ill, all_of, 1 - all_of)
        answers = zip(ill, is_shown, strict=True)
        rows = {
            "Age": ["yo"[k] for k in age],
            "Drug": [["no", "yes"][k] for k in drug],
            "Ill": [["no", "yes"][int(k)] if is_seen else None for k, is_seen in answers],
        }
        tilted = lc.sensitivity(TRIAL, rows, EFFECT, mechanism="Ill", deltas=log(2))
        low, high = tilted.intervals[-1]
        covered += low <= after[1] - after[0] <= high
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / sets) <= covered / sets


def test_the_interval_of_a_difference_by_hand() -> None:
    # p = .5 (.4, .7) and q = .3 (.2, .35), independent: .2 - sqrt(.1^2 + .05^2) and so on.
    ends = np.array([[[0.4, 0.7], [0.2, 0.35]]])
    variances = np.array([[0.01, 0.04]])
    apart = of_difference(np.array([[0.5, 0.3]]), ends, variances, np.array([0.05]))
    np.testing.assert_allclose(apart, [[0.2 - np.hypot(0.1, 0.05), 0.2 + np.hypot(0.2, 0.1)]])
    # Two that move as one: the differences of the reaches alone.
    together = of_difference(np.array([[0.5, 0.3]]), ends, variances, np.array([0.01]))
    np.testing.assert_allclose(together, [[0.2 - 0.05, 0.2 + 0.1]])


def test_a_tipping_point_of_a_difference_is_where_it_is_zero() -> None:
    tilted = lc.sensitivity(
        TRIAL,
        trial(),
        "P(Ill=yes | Age=o, Drug=yes) - P(Ill=yes | Age=y, Drug=no)",
        mechanism="Ill",
        threshold=0.17,
        method="direct-mar",
    )
    assert tilted.tipping_point is not None
    cells = truth(tilted.tipping_point)
    assert cells[1, 1] - cells[0, 0] == pytest.approx(0.17, abs=1e-6)
    assert "-1" in str(tilted).splitlines()[2]
    with pytest.raises(lc.LacunetError, match=r"-1\.5"):
        lc.sensitivity(TRIAL, trial(400), EFFECT, mechanism="Ill", threshold=-1.5)


def test_names_with_signs_are_no_differences() -> None:
    odd = lc.Network({"A - B": ["0 - 1", "2"], "C": ["x", "y"]}, {"C": ["A - B"]})
    (term,) = typed_terms("P(C=y | A - B=0 - 1)", odd)
    assert term.evidence == {"A - B": "0 - 1"}
    (bare,) = typed_terms("C=y | A - B=2", odd)
    assert bare.evidence == {"A - B": "2"}
    first, second = typed_terms('C=y | "A - B"=2 - C=x | "A - B"=2', odd)
    assert (first.state, second.state) == ("y", "x")
    assert first.evidence == second.evidence == bare.evidence


def test_the_command_takes_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = trial(200)
    lines = ["Age,Drug,Ill"]
    lines += [",".join(cell or "" for cell in row) for row in zip(*rows.values(), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    path = str(tmp_path / "rows.csv")
    edges = "Age -> Drug; Age -> Ill; Drug -> Ill"
    assert main(["sensitivity", edges, path, "--mechanism", "Ill", "--query", EFFECT]) == 0
    assert "P(Ill=yes | do(Drug=yes)) - P(Ill=yes | do(Drug=no)) is" in capsys.readouterr().out


@pytest.mark.parametrize("sign", ["-", " -", "- ", " - ", "−"])
def test_a_difference_may_be_typed_without_spaces(sign: str) -> None:
    first, second = EFFECT.split(" - ")
    assert typed_terms(f"{first}{sign}{second}", TRIAL) == typed_terms(EFFECT, TRIAL)


def test_a_sign_in_the_name_of_a_state_subtracts_nothing() -> None:
    network = lc.Network({"Dose": ["f(1)-P(2)", "none"], "Ill": ["no", "yes"]})
    (term,) = typed_terms("P(Ill=yes | Dose=f(1)-P(2))", network)
    assert term.evidence == {"Dose": "f(1)-P(2)"}


@pytest.mark.parametrize("prior", [{"pseudo_counts": 0.0}, {"pseudo_counts": 8.0}, {"experts": 40}])
def test_a_result_is_asked_under_the_pseudo_counts_that_it_was_given(
    prior: dict[str, float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = lc.Network(
        {"X": ["a", "b"], "Y": ["u", "v"]},
        {"Y": ["X"]},
        {"X": [0.5, 0.5], "Y": [[0.1, 0.9], [0.9, 0.1]]},
    )
    rows = {
        "X": ["a"] * 40 + ["b"] * 30 + [None] * 10,
        "Y": (["u"] * 3 + ["v"] + [None]) * 8 + (["u"] + ["v"] * 2 + [None]) * 10,
    }
    result = lc.learn(known, rows, "em", **prior)
    learned = float(result.query("P(Y=v)"))
    found = lc.sensitivity(result, rows, "Y=v", "Y", method="em", deltas=[0, 1], groups=5)
    assert found.answers[0] == pytest.approx(learned, abs=1e-5)  # EM's own tolerance
    other = lc.sensitivity(result.network, rows, "Y=v", "Y", method="em", deltas=0, groups=5)
    assert abs(other.answers[0] - learned) > 1e-3

    file, table = tmp_path / "result.json", tmp_path / "rows.csv"
    result.write(file)
    lines = [f"{x or ''},{y or ''}" for x, y in zip(rows["X"], rows["Y"], strict=True)]
    table.write_text("X,Y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    asked = ["--query", "Y=v", "--mechanism", "Y", "--method", "em", "--json"]
    assert main(["sensitivity", str(file), str(table), *asked]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["answers"][said["deltas"].index(0)] == pytest.approx(learned, abs=1e-5)
