"""CPT rows without data behind them are counted, named and warned about, by every method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.data.errors import DataWarning
from lacunet.data.table import EncodedTable
from lacunet.learning.methods import METHODS

SKIP = lc.Network(
    {"Group": ["a", "b", "c"], "Sex": ["f", "m"], "Edu": ["low", "high"], "Job": ["no", "yes"]},
    {"Edu": ["Group", "Sex"], "Job": ["Edu"]},
)


def skip_pattern(rows: int = 900) -> EncodedTable:
    """Edu was never asked in group c, and now and then refused elsewhere."""
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1, 2], rows // 3).astype(np.uint8)
    sex = rng.integers(0, 2, rows).astype(np.uint8)
    edu = (rng.random(rows) < 0.3 + 0.2 * group).astype(np.uint8)
    job = (rng.random(rows) < 0.2 + 0.6 * edu).astype(np.uint8)
    edu[(group == 2) | (rng.random(rows) < 0.1)] = 2
    columns = {"Group": group, "Sex": sex, "Edu": edu, "Job": job}
    return EncodedTable({"Group": 3, "Sex": 2, "Edu": 2, "Job": 2}, columns)


def learned(name: str) -> lc.Result:
    options: dict[str, Any] = {}
    if name.startswith("informed"):
        options["groups"] = ["Group", "Sex", "Job"]
    if name == "mgraph":
        options["missingness"] = "Group, Sex -> R[Edu]"
    return lc.learn(SKIP, skip_pattern(), name, **options)


@pytest.mark.parametrize("name", METHODS)
def test_a_question_never_asked_in_one_group_is_told_by_every_method(name: str) -> None:
    report = learned(name).families["Edu"]
    table = skip_pattern()
    shown = table.columns["Edu"] < 2
    expected = np.zeros((3, 2))
    np.add.at(expected, (table.columns["Group"][shown], table.columns["Sex"][shown]), 1)
    np.testing.assert_array_equal(report.support, expected)
    assert report.unsupported == 2
    told = "no row shows Edu where Group=c (Sex any): 2 of 6 CPT rows rest on the model alone"
    assert told in report.warnings


@pytest.mark.parametrize("name", ["direct-mar", "factored-mar", "informed-direct"])
def test_the_mass_that_falls_back_is_the_share_of_the_rows(name: str) -> None:
    assert learned(name).families["Edu"].fallback_mass == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", ["direct-mcar", "em", "auto"])
def test_rows_that_are_mostly_prior_are_told(name: str) -> None:
    rows = {"Group": ["a"] * 9 + ["b"], "Sex": ["f"] * 10, "Edu": ["low"] * 10, "Job": ["no"] * 10}
    report = lc.learn(SKIP, rows, name, pseudo_counts=2.0).families["Edu"]
    assert any("1 of 6 CPT rows" in w for w in report.warnings)


@pytest.mark.parametrize("name", ["em", "auto", "direct-mar", "factored-mcar"])
def test_a_column_without_any_value_supports_nothing(name: str) -> None:
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": ["0"] * 4 + ["1"] * 6, "B": [None] * 10}
    result = lc.learn(network, rows, name)
    answer = result.query("B", unsupported="bounds")
    assert answer.unsupported == 1
    assert answer.bounds.low.tolist() == [0, 0]
    assert answer.bounds.high.tolist() == [1, 1]
    assert result.query("A").unsupported == 0


def test_what_em_learns_of_a_hidden_variable_from_its_children_is_supported() -> None:
    network = lc.Network(
        {"H": ["0", "1"], "A": ["0", "1"], "B": ["0", "1"], "L": ["0", "1"]},
        {"A": ["H"], "B": ["H"], "L": ["A"]},
    )
    rows = {"A": ["0", "1"] * 20, "B": ["0", "1", "1", "1"] * 10}
    result = lc.learn(network, lc.Data(rows, latent=["H", "L"]), "em")
    assert result.query("A").unsupported == 0
    assert result.query("L", unsupported="ignore").unsupported == 1  # nothing follows from it
    closed = lc.learn(network, lc.Data(rows, latent=["H", "L"]), "direct-mar")
    assert closed.query("A", unsupported="ignore").unsupported == 1  # H tells it nothing


def test_what_em_learns_of_a_variable_from_sets_of_states_is_supported() -> None:
    codes = {"Age": {"<50": ["<40", "40-49"], "40+": ["40-49", "50+"]}}
    network = lc.Network({"Age": ["<40", "40-49", "50+"], "Sex": ["f", "m"]}, codes=codes)
    rows = {"Age": ["<50"] * 30 + ["40+"] * 20, "Sex": ["f", "m"] * 25}  # all may be 40 to 49
    result = lc.learn(network, rows, "em", pseudo_counts=0)
    np.testing.assert_allclose(result.cpt("Age").table, [0, 1, 0], atol=1e-3)
    assert result.query("Age").unsupported == 0
    assert result.ended
    assert not any("arbitrary" in note for note in result.ended.notes)
    with pytest.warns(DataWarning, match="'Age'"):  # sets are missing to it
        closed = lc.learn(network, rows, "direct-mar")
    assert closed.query("Age", unsupported="ignore").unsupported == 1


CLASSES = lc.Network(
    {"A": ["0", "1", "2"], "H": ["0", "1"], "B": ["0", "1"], "C": ["0", "1"], "D": ["0", "1"]},
    {"H": ["A"], "B": ["H"], "C": ["H", "A"], "D": ["H"]},
)


def classes(rows: int = 600) -> dict[str, list[Any]]:
    """Rows of two classes that no column tells; none has the third state of A."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, rows)
    hidden = rng.random(rows) < 0.2 + 0.6 * group
    columns = {name: (rng.random(rows) < 0.15 + 0.7 * hidden).astype(int) for name in "BCD"}
    named = {name: own.astype(str).tolist() for name, own in {"A": group, **columns}.items()}
    return {**named, "Weight": rng.choice([1.0, 2.5], rows).tolist()}


def test_a_hidden_variable_is_backed_by_rows_that_show_the_rest_of_its_families() -> None:
    rows = classes()
    del rows["Weight"]
    result = lc.learn(CLASSES, lc.Data(rows, latent=["H"]), "em")
    assert [result.families[name].unsupported for name in "AHBCD"] == [0, 1, 0, 2, 0]
    assert result.families["H"].warnings[0].startswith("no row has A=2: 1 of 3")
    assert result.families["C"].warnings[0].startswith("no row shows C where A=2 (H any): 2 of 6")
    answer = result.query("B", {"A": "2"}, unsupported="ignore")
    assert answer.unsupported == 1  # the class of A=2 is the prior's
    assert result.query("B", {"A": "1"}).unsupported == 0


def test_answers_about_families_that_all_hold_a_hidden_variable_know_their_share() -> None:
    network = lc.Network({"H": ["0", "1"], "B": ["0", "1"]}, {"B": ["H"]})
    result = lc.learn(network, lc.Data({"B": classes()["B"]}, latent=["H"]), "em")
    assert result.query("B").unsupported == 0
    assert result.families["H"].unsupported == result.families["B"].unsupported == 0


def test_intervals_of_a_hidden_variable_are_known_by_the_jackknife_too() -> None:
    network = lc.Network(
        {"H": ["0", "1"], "B": ["0", "1"], "C": ["0", "1"], "D": ["0", "1"]},
        {"B": ["H"], "C": ["H"], "D": ["H"]},
    )
    rows = {name: own for name, own in classes().items() if name != "A"}
    data = lc.Data(rows, latent=["H"], weight="Weight")
    result = lc.learn(network, data, "em", intervals=True)
    assert np.isfinite(result.standard_error("B")).all()
    assert (np.ptp(result.interval("B"), axis=-1) < 0.3).all()


def test_variables_of_one_state_are_counted_however_many_there_are() -> None:
    names = [f"X{number}" for number in range(80)]
    states = {name: ["only"] for name in names}
    result = lc.learn(lc.Network(states), states)
    assert {report.rows_shown for report in result.families.values()} == {1}


def test_reports_of_other_rows_are_other_reports() -> None:
    network = lc.Network({"A": ["x", "y"]})
    few, many = (lc.learn(network, {"A": ["x", "y"] * times}).families["A"] for times in (2, 9))
    assert few != many
    assert len({few, many}) == 2
