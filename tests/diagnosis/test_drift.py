"""What changed between two parts of the data, and what did not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import lacunet as lc
from lacunet.cli import main
from lacunet.statistics.errors import StatisticsError

CHAIN = lc.Network(
    {name: ["0", "1"] for name in "ABC"},
    {"B": ["A"], "C": ["B"]},
    {"A": [0.5, 0.5], "B": [[0.8, 0.2], [0.3, 0.7]], "C": [[0.9, 0.1], [0.2, 0.8]]},
)
OTHER = CHAIN.with_tables(
    {"A": [0.5, 0.5], "B": [[0.6, 0.4], [0.1, 0.9]], "C": [[0.9, 0.1], [0.2, 0.8]]}
)


def counted(network: lc.Network, seed: int, method: str, rate: float = 0.2) -> lc.Statistics:
    hidden = lc.simulate(network, 4000, lc.MCAR(1.0, rate), rng=seed)
    return lc.count(CHAIN, hidden.frame("pyarrow"), method)


@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_a_changed_cpt_is_found_and_what_follows_from_it_is_told_apart(method: str) -> None:
    found = lc.drift(counted(CHAIN, 1, method), counted(OTHER, 2, method))
    assert found.changed == ("B", "C")
    assert found.variables["B"].given_parents.is_clear
    assert found.variables["C"].values.is_clear  # it follows B,
    assert not found.variables["C"].given_parents.is_clear  # and its CPT is the same
    assert found.variables["B"].given_parents.distance == pytest.approx(0.2, abs=0.04)


def test_rows_in_place_of_statistics_are_answered_with_the_way_to_count_them() -> None:
    rows = lc.sample(CHAIN, 20, rng=1)
    with pytest.raises(StatisticsError, match=r"not DataFrame(?s:.)*count\(network, before"):
        lc.drift(rows, rows)  # type: ignore[arg-type]


def test_where_nothing_has_changed_it_says_so() -> None:
    same = counted(CHAIN, 1, "em")
    assert str(lc.drift(same, same)).splitlines()[0].endswith("after; nothing has clearly changed")


def test_missing_more_often_is_a_change() -> None:
    found = lc.drift(counted(CHAIN, 1, "em"), counted(CHAIN, 2, "em", rate=0.3))
    assert found.changed == ("A", "B", "C")
    own = found.variables["A"]
    assert own.missing == pytest.approx((0.2, 0.3), abs=4 * 0.007)
    assert own.missingness.is_clear
    assert not own.values.is_clear


def test_parts_of_one_kind_seldom_seem_to_change() -> None:
    changed = [
        bool(
            lc.drift(
                counted(CHAIN, seed, "direct-mcar"), counted(CHAIN, seed + 50, "direct-mcar")
            ).changed
        )
        for seed in range(40)
    ]
    assert sum(changed) <= 7  # of 40 at a level of 5%: more have the probability 0.1%


def test_p_values_are_those_of_scipy() -> None:
    before, after = {"A": ["0"] * 300 + ["1"] * 200}, {"A": ["0"] * 240 + ["1"] * 260}
    network = lc.Network({"A": ["0", "1"]})
    found = lc.drift(lc.count(network, before, "em"), lc.count(network, after, "em"))
    expected = chi2_contingency(np.array([[300, 200], [240, 260]]), correction=False).pvalue
    # Three tests, of which two (being shown, given no parents: the same) have p-values.
    assert found.variables["A"].values.p_value == pytest.approx(min(1, 3 * expected), rel=1e-9)
    assert found.variables["A"].values.distance == pytest.approx(0.12)


def test_weights_without_information_change_no_p_value() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.choice(["0", "1"], 500).tolist() for name in "ABC"}
    others = {name: rng.choice(["0", "1"], 500, p=[0.4, 0.6]).tolist() for name in "ABC"}
    plain = lc.drift(lc.count(CHAIN, rows, "direct-mcar"), lc.count(CHAIN, others, "direct-mcar"))
    tenfold = lc.drift(
        lc.count(CHAIN, {**rows, "w": [10.0] * 500}, "direct-mcar", weight="w"),
        lc.count(CHAIN, {**others, "w": [10.0] * 500}, "direct-mcar", weight="w"),
    )
    for name, own in plain.variables.items():
        assert tenfold.variables[name].values.p_value == pytest.approx(own.values.p_value, rel=1e-6)


def test_the_shares_of_missing_values_are_of_the_weight_that_is_tested() -> None:
    coin = lc.Network({"Coin": ["head", "tail"]})
    rows = {"Coin": ["head", "tail", None, None] * 50}
    before = lc.count(coin, lc.Data(rows, weight=[3, 3, 1, 1] * 50), "direct-mcar")
    after = lc.count(coin, lc.Data(rows, weight=[1, 1, 3, 3] * 50), "direct-mcar")
    found = lc.drift(before, after).variables["Coin"]
    assert found.missing == pytest.approx((0.25, 0.75))
    assert found.missingness.distance == pytest.approx(0.5)


def test_the_command_compares_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = str(tmp_path / "one.stats"), str(tmp_path / "two.stats")
    counted(CHAIN, 1, "em").write(one)
    counted(OTHER, 2, "em").write(two)
    assert main(["drift", one, two, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["changed"] == ["B", "C"]
    assert main(["drift", one, two]) == 0
    out = capsys.readouterr().out
    assert "4,000 rows before, 4,000 rows after; 2 variables have" in out
    assert "total variation" in out


def test_statistics_of_other_networks_are_not_compared() -> None:
    other = lc.count(lc.Network({"A": ["0", "1"]}), {"A": ["0"]}, "em")
    with pytest.raises(StatisticsError, match="another network"):
        lc.drift(counted(CHAIN, 1, "em"), other)
