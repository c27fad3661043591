"""Codes and rules at the door: labels, sets of states, questions that were not asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lacunet as lc
from lacunet.data.column_rules import plan_reading, with_data_codes
from lacunet.data.data import Data
from lacunet.data.errors import DataError, DataWarning
from lacunet.data.read import ReadReport, read_table
from lacunet.data.stream import Unread

AGES = lc.Network(
    {"Age": ["0-39", "40-49", "50+"], "Sex": ["male", "female"]},
    codes={
        "Age": {
            "40+": ["40-49", "50+"],
            "<50": ["0-39", "40-49"],
            "-9": None,
            "any": ["0-39", "40-49", "50+"],
        },
        "Sex": {1: "male", 2: "female", 9: None},
    },
)
ROWS = {"Age": ["0-39", "40+", "<50", "any", None, "-9", "50+"], "Sex": [1, 2, 9, 1, 2, None, 1]}

SMOKERS = lc.Network(
    {"Age": ["young", "old"], "Ever": ["no", "yes"], "Now": ["no", "yes", "not_asked"]},
    {"Now": ["Ever", "Age"], "Ever": ["Age"]},
    not_asked={"Now": "Ever=no or Age=young"},
)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pa.table, "file"])
def test_codes_mean_states_sets_or_nothing_whatever_holds_them(kind: Any, tmp_path: Path) -> None:
    data = ROWS if kind == "file" else kind(ROWS)
    if kind == "file":
        data = tmp_path / "rows.csv"
        pd.DataFrame(ROWS).to_csv(data, index=False)  # 1.0, 2.0, 9.0
    table = read_table(data, AGES, keep_sets=True)
    sets = table.sets_of["Age"]
    assert sets == ((0, 1), (1, 2))
    assert table.columns["Age"].tolist() == [0, 5, 4, 3, 3, 3, 2]
    assert table.columns["Sex"].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert table.missing_of == {"Age": 5, "Sex": 2}
    assert table.cells_of_sets == {"Age": 2}


def test_cells_of_several_states_are_missing_where_nobody_uses_them_and_that_is_said() -> None:
    table = read_table(ROWS, AGES)
    assert not table.sets_of
    assert table.columns["Age"].tolist() == [0, 3, 3, 3, 3, 3, 2]
    assert any(
        "one of several states were taken as missing here: Age 2" in note for note in table.notes
    )


def test_what_the_data_say_of_codes_comes_before_the_network() -> None:
    with pytest.warns(lc.LacunetWarning, match=r"the data say what \['9'\] mean"):
        table = read_table(Data(ROWS, codes={"Sex": {9: "female"}}), AGES)
    assert table.columns["Sex"].tolist() == [0, 1, 1, 0, 1, 2, 0]
    more = Data({"Age": ["old"], "Sex": [3]}, codes={"Sex": {3: None}, "Age": {"old": "50+"}})
    assert read_table(more, AGES).columns["Age"].tolist() == [2]
    assert with_data_codes(AGES, more).codes_of["Sex"] == {
        "1": "male",
        "2": "female",
        "9": None,
        "3": None,
    }
    assert with_data_codes(AGES, Data(ROWS)) is AGES
    with pytest.warns(lc.LacunetWarning, match=r"the data say what \['9'\] mean"):
        result = lc.learn(AGES, Data(ROWS, codes={"Sex": {9: "female"}}), "direct-mcar")
    assert any("in place of the network" in note for note in result.notes)
    with pytest.raises(DataError, match=r"codes= .* names \['Sux'\]"):
        read_table(Data(ROWS, codes={"Sux": {9: None}}), AGES)


@pytest.mark.parametrize("missing", [[9], 9.0, ["9"], {"A": [9]}, {None: ["9.0"]}])
def test_a_value_that_is_missing_anywhere_wins_over_its_label_with_a_note(missing: object) -> None:
    network = lc.Network(
        {"A": ["one", "nine"], "B": ["1", "9"]}, codes={"A": {1: "one", 9: "nine"}}
    )
    rows = {"A": [1, 9, 9, 1], "B": [1, 9, 1, 9]}
    with pytest.warns(DataWarning, match=r"'A': the data say what \['9'\] mean, in place of"):
        table = read_table(Data({**rows, "B": [1] * 4}, missing=missing), network)
    assert table.columns["A"].tolist() == [0, 2, 2, 0]
    with pytest.warns(DataWarning):
        table = read_table(Data(rows, missing=missing), network)
    assert table.columns["B"].tolist() == [0, 1, 0, 1]  # a state


def test_a_learned_network_reads_later_data_as_it_was_told_once() -> None:
    rows = {"Age": ["0-39", "50+", "old", "0-39"] * 5, "Sex": [1, 2, 1, 7] * 5}
    data = Data(rows, codes={"Age": {"old": ["40-49", "50+"]}}, missing={"Sex": [7]})
    result = lc.learn(AGES, data, "em")
    assert result.network.codes_of["Age"]["old"] == ("40-49", "50+")
    assert result.network.codes_of["Sex"]["7"] is None
    assert np.isfinite(result.log_likelihood(rows))
    predicted = result.network.predict(
        {"Age": ["old", "<50"], "Sex": [7, 1]}, "Age", given_targets=True
    )
    assert predicted["Age=0-39"][0] == 0
    assert predicted["Age=50+"][1] == 0
    completed = result.network.impute({"Age": ["old", "<50", None], "Sex": [7, 1, 9]})
    assert completed["Age"][0] in ("40-49", "50+")
    assert completed["Age"][1] in ("0-39", "40-49")
    assert None not in completed["Sex"]


def test_empty_cells_under_a_rule_were_not_asked() -> None:
    rows = {
        "Age": ["old", "old", "young", None, "old", None, "young"],
        "Ever": ["no", "yes", "yes", "no", None, "yes", None],
        "Now": [None, "yes", None, None, "no", None, "not_asked"],
    }
    table = read_table(rows, SMOKERS)
    # Not asked, shown, not asked, not asked whatever the age, shown, open, not asked.
    assert table.columns["Now"].tolist() == [2, 1, 2, 2, 0, 3, 2]
    assert table.missing_of["Now"] == 1


def test_rules_look_at_what_other_rules_and_codes_gave() -> None:
    network = lc.Network(
        {
            "A": ["0", "1"],
            "B": ["0", "1", "not_asked"],
            "C": ["0", "1", "not_asked"],
            "D": ["x", "y", "z"],
            "E": ["0", "1", "not_asked"],
        },
        {"B": ["A"], "C": ["B"], "E": ["D"]},
        codes={"D": {"xy": ["x", "y"], "yz": ["y", "z"]}},
        not_asked={"C": "B=not_asked", "B": "A=0", "E": "D=x or D=y"},
    )
    rows = {
        "A": ["0", "1", None],
        "B": [None, None, None],
        "C": [None] * 3,
        "D": ["xy", "yz", "z"],
        "E": [None] * 3,
    }
    table = read_table(rows, network)
    assert table.columns["B"].tolist() == [2, 3, 3]
    assert table.columns["C"].tolist() == [2, 3, 3]
    assert table.columns["E"].tolist() == [2, 3, 3]


def test_what_contradicts_a_rule_is_told_with_its_row(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {"Age": ["old"] * 3, "Ever": ["yes", "no", "no"], "Now": ["yes", "yes", None]}
    )
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(DataError, match=r"'Now' contradicts its rule in 1 row, first in .*line 3"):
        read_table(tmp_path / "rows.csv", SMOKERS)
    with pytest.warns(lc.LacunetWarning, match=r"1 row contradicts its rule .*, and was read as"):
        table = read_table(Data(rows, unknown="missing"), SMOKERS)
    assert table.columns["Now"].tolist() == [1, 2, 2]
    asked = {"Age": ["old"], "Ever": ["yes"], "Now": ["not_asked"]}
    with pytest.raises(DataError, match="contradicts"):
        read_table(asked, SMOKERS)
    with pytest.warns(lc.LacunetWarning, match="contradict"):
        assert read_table(Data(asked, unknown="missing"), SMOKERS).columns["Now"].tolist() == [3]


def test_a_rule_may_come_with_the_data() -> None:
    bare = SMOKERS.with_codes()
    rows = {"Age": ["old", "old"], "Ever": ["no", "yes"], "Now": [None, None]}
    assert read_table(rows, bare).missing_of["Now"] == 2
    told = Data(rows, not_asked={"Now": "Ever=no"})
    assert read_table(told, bare).columns["Now"].tolist() == [2, 3]
    assert [*with_data_codes(bare, told).possible_of] == ["Now"]


def test_a_latent_variable_is_known_where_it_was_not_asked() -> None:
    table = read_table(
        Data({"Age": ["old", "young"], "Ever": ["yes", "no"]}, latent=["Now"]), SMOKERS
    )
    assert table.columns["Now"].tolist() == [3, 2]


def test_sets_are_read_the_same_in_pieces_and_from_the_disk(tmp_path: Path) -> None:
    for part in "ab":
        pd.DataFrame(ROWS).to_csv(tmp_path / f"{part}.csv", index=False)
    whole = read_table(tmp_path, AGES, keep_sets=True)
    parts = list(Unread(plan_reading(Data(tmp_path), AGES)).tables(4, ReadReport()))
    codes = np.concatenate([part.columns["Age"] for part in parts])
    assert (codes == whole.columns["Age"]).all()
    assert all(part.sets_of == whole.sets_of for part in parts)


@pytest.mark.parametrize("method", ["em", "factored-mar", "direct-mar", "listwise", "auto"])
def test_sets_are_learned_from_in_memory_streamed_and_counted(method: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    network = lc.Network(AGES.states_of, {"Sex": ["Age"]}, codes=AGES.codes_of)
    ages = rng.choice(["0-39", "40-49", "50+", "40+", "<50", ""], 400)
    rows = pd.DataFrame({"Age": ages, "Sex": rng.choice(["1", "2", "9"], 400)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    held = lc.learn(network, rows, method)
    streamed = lc.learn(network, tmp_path / "rows.csv", method, memory=2**20)
    parts = [lc.count(network, own) for own in (rows[:150], rows[150:])]
    for part, name in zip(parts, "ab", strict=True):
        pq.write_table(part, tmp_path / f"{name}.parquet")
    for name in network.variables:
        expected = held.network.cpt(name).table
        np.testing.assert_allclose(streamed.network.cpt(name).table, expected, atol=1e-9)
        for data in (parts, [tmp_path / "a.parquet", tmp_path / "b.parquet"]):
            learned = lc.learn(network, data, method).network.cpt(name).table
            np.testing.assert_allclose(learned, expected, atol=1e-9)


@pytest.mark.parametrize("method", ["direct-mcar", "factored-mar", "em"])
def test_closed_forms_say_how_many_cells_of_several_states_they_take_as_missing(
    method: str, tmp_path: Path
) -> None:
    rows = {"Age": ["0-39", "50+", "<50", None] * 5, "Sex": [1, 2, 1, 1] * 5}
    for part in "ab":
        pd.DataFrame(rows).to_csv(tmp_path / f"{part}.csv", index=False)
    result = lc.learn(AGES, tmp_path, method)
    said = [note for note in result.notes if "taken as missing" in note]
    expected = "cells that are one of several states were taken as missing here: Age 10."
    assert said == ([] if method == "em" else [expected])


def test_em_learns_from_sets_what_the_likelihood_says() -> None:
    """Three states; 30 rows are the first, 20 the second, 50 the second or the third.

    Maximum likelihood: the third has nothing of its own, so all 50 go to the second.
    """
    network = lc.Network({"A": ["a", "b", "c"]}, codes={"A": {"b or c": ["b", "c"]}})
    rows = {"A": ["a"] * 30 + ["b"] * 20 + ["b or c"] * 50}
    result = lc.learn(network, rows, lc.EM(tolerance=1e-10, start="random"), pseudo_counts=0)
    np.testing.assert_allclose(result.network.cpt("A").table[0], 0.3, atol=1e-9)
    assert (
        result.log_likelihood(rows) >= 30 * np.log(0.3) + 20 * np.log(0.7) + 50 * np.log(0.7) - 1e-6
    )
