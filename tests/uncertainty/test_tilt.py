"""If values are not missing at random: laws with a known tilt give their truth back."""

from __future__ import annotations

import json
from math import exp, inf, log
from pathlib import Path

import numpy as np
import pytest

from lacunet.cli import main
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.estimate.em.method import EM
from lacunet.estimate.em.tilted import tilted_em
from lacunet.estimate.learn import learn
from lacunet.model.network import Network
from lacunet.statistics.count import count
from lacunet.uncertainty.bounds import bounds
from lacunet.uncertainty.sensitivity import sensitivity
from lacunet.uncertainty.tilt import Question, tilted_shares

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
    return EncodedTable.of({"Age": 2, "Ill": 3, "Pain": 2}, columns, np.array(weights)), truth


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
    learned = learn(CLINIC, table, "direct-mar", prior=1).network
    by_age = learned.cpt("Age").table @ learned.cpt("Ill").table
    assert shares.answer(0.0) == pytest.approx(by_age[1], rel=1e-12)


def test_infinite_tilts_are_the_bounds_of_a_variable_without_parents() -> None:
    table = EncodedTable.of({"X": 2}, {"X": np.array([0] * 30 + [1] * 10 + [2] * 20, np.uint8)})
    coin = Network({"X": ["no", "yes"]})
    shares = tilted_shares(coin, table, Question("X", "yes", {}, "X", "yes"), ())
    low, high = bounds(count(table, [("X",)])[("X",)])
    assert shares.answer(-inf) == pytest.approx(low[1])
    assert shares.answer(inf) == pytest.approx(high[1])


def test_the_tipping_point_by_hand() -> None:
    # 40 of 60 rows are shown, 10 of them yes: MAR says 1/4. At odds of k times 1/3 the hidden
    # 20 hold 20k/(3+k): the answer is 1/3 where 10 + 20k/(3+k) = 20, at k = 3.
    rows = {"X": ["no"] * 30 + ["yes"] * 10 + [None] * 20}
    coin = Network({"X": ["no", "yes"]})
    found = sensitivity(coin, rows, "X", "yes", {}, "X", threshold=1 / 3)
    assert found.tipping_point == pytest.approx(log(3))
    assert found.answers[found.deltas.index(0.0)] == pytest.approx(0.25)
    assert "were 3 times those of a shown one" in found.words[1]
    beyond = sensitivity(coin, rows, "X", "yes", {}, "X", threshold=0.9)
    assert beyond.tipping_point is None
    assert "between 0.167 and 0.5" in beyond.words[1]


def test_intervals_widen_with_what_is_hidden_and_hold_the_answer() -> None:
    rows = {"X": ["no"] * 300 + ["yes"] * 100 + [None] * 200}
    found = sensitivity(Network({"X": ["no", "yes"]}), rows, "X", "yes", {}, "X")
    low, high = found.intervals.T
    assert ((low < found.answers) & (found.answers < high)).all()
    at = found.deltas.index(0.0)
    # 400 rows say a quarter: a standard error of 0.0217; the jackknife has 30 groups (13%).
    assert (high - low)[at] == pytest.approx(2 * 1.96 * 0.0217, rel=0.4)


def test_em_without_a_tilt_is_em_and_with_one_a_fixed_point() -> None:
    table = EncodedTable.of({"X": 2}, {"X": np.array([0] * 30 + [1] * 10 + [2] * 20, np.uint8)})
    coin = Network({"X": ["no", "yes"]})
    plain = learn(coin, table, EM(tolerance=1e-12, max_iterations=10_000), prior=1).network
    assert plain.cpt("X").table[1] == pytest.approx(0.25)
    same = tilted_em(plain, table, "X", np.zeros(2), prior=1, tolerance=1e-13)
    np.testing.assert_allclose(same.cpt("X").table, plain.cpt("X").table, atol=1e-10)
    tilted = tilted_em(plain, table, "X", np.array([0.0, 1.0]), prior=1, tolerance=1e-13)
    p = tilted.cpt("X").table[1]
    hidden = p * exp(1) / (1 - p + p * exp(1))
    assert p == pytest.approx((10 + 20 * hidden) / 60, rel=1e-9)


def test_em_with_a_tilt_uses_the_rest_of_the_network() -> None:
    table, _ = tilted_law(0.0)
    plain = learn(CLINIC, table, EM(tolerance=1e-10, max_iterations=20_000), prior=1).network
    up, down = (
        tilted_em(plain, table, "Ill", np.array([0.0, d, 0.0]), prior=1).cpt("Ill").table[:, 1]
        for d in (1.0, -1.0)
    )
    assert (down < plain.cpt("Ill").table[:, 1]).all()
    assert (plain.cpt("Ill").table[:, 1] < up).all()


def test_what_is_never_missing_is_refused() -> None:
    with pytest.raises(LacunetError, match="'Age' is never missing"):
        sensitivity(CLINIC, tilted_law(0)[0], "Ill", "yes", {}, "Age")


def test_the_command_prints_a_table_and_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from lacunet.formats.files import write_network

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
    assert "would cross 0.6" in out
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"][5] == pytest.approx(0.5)
    assert main([*arguments[:4], "Ill|Age=old", "--mechanism", "Ill"]) == 1
