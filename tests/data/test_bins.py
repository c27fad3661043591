"""Numbers cut into intervals, and cut the same way again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.data.bins import BinsError
from lacunet.data.errors import UnknownStateError, WeightError
from lacunet.data.network_from_data import find_network, network_of_columns
from lacunet.data.read import read_table
from lacunet.network.formats.errors import FormatError

AGES = pd.DataFrame(
    {"Age": [10, 20, 30, 40, 50, 60, 70, 80, np.nan], "Ill": ["no", "yes", "no"] * 3}
)


def test_quantiles_leave_equally_many_rows_in_each_interval() -> None:
    numbers = pd.DataFrame({"X": np.random.default_rng(1).permutation(1000)})
    cut = lc.discretise(numbers, {"X": 4})
    assert cut["X"].value_counts().tolist() == [250] * 4
    assert list(cut["X"].cat.categories) == ["<250", "[250,500)", "[500,750)", ">=750"]


@pytest.mark.parametrize("bins", [2, 4, ("width", 3)])
@pytest.mark.parametrize("is_column", [True, False])
def test_a_row_that_stands_for_many_is_cut_as_many(bins: Any, is_column: bool) -> None:
    table = pd.DataFrame({"X": range(1, 10), "B": list("uv") * 4 + ["u"]})
    number = [50, 1, 1, 1, 1, 1, 1, 44, 0]
    rows = table.loc[table.index.repeat(number)]
    table = table.assign(number=number)
    data = lc.Data(table, counts="number") if is_column else lc.Data(table, counts=number)
    expected = lc.Network.from_data(lc.Data(rows, bins={"X": bins}), "X -> B")
    assert (
        lc.Network.from_data(lc.Data(data, bins={"X": bins}), "X -> B").cuts_of == expected.cuts_of
    )


@pytest.mark.parametrize("counts", ["Age", "nothing", [1] * 8, [-1] * 9])
def test_counts_that_cannot_be_are_refused_where_numbers_are_cut(counts: Any) -> None:
    with pytest.raises(WeightError):
        lc.Network.from_data(lc.Data(AGES, counts=counts, bins={"Age": 2}), "Age -> Ill")


def test_equal_widths_are_equal() -> None:
    cut = lc.discretise(AGES, {"Age": ("width", 2)})
    assert cut["Age"].tolist()[:8] == ["<45"] * 4 + [">=45"] * 4
    assert cut["Age"].isna().tolist() == [False] * 8 + [True]
    assert cut["Ill"].equals(AGES["Ill"])


@pytest.mark.parametrize(
    "frame",
    [AGES, pl.from_pandas(AGES), pa.Table.from_pandas(AGES), AGES.to_dict("list")],
    ids=["pandas", "polars", "pyarrow", "dict"],
)
def test_the_kind_of_frame_is_kept(frame: Any) -> None:
    cut = lc.discretise(frame, {"Age": [0, 18, 65, 120]})
    assert type(cut) is type(frame)
    column = cut["Age"]
    values = column.to_pylist() if isinstance(frame, pa.Table) else list(column)
    assert values[:8] == ["[0,18)"] + ["[18,65)"] * 5 + ["[65,120]"] * 2


def test_what_falls_outside_the_cut_points_is_named() -> None:
    with pytest.raises(BinsError, match=r"'Age': 3.*60.0, 70.0, 80.0"):
        lc.discretise(AGES, {"Age": [0, 30, 55]})
    network = find_network(lc.Data(AGES, bins={"Age": [0, 30, 55]}), "Age -> Ill").network
    with pytest.raises(UnknownStateError, match="'Age'"):
        lc.learn(network, AGES)


def test_numbers_in_no_interval_are_named_where_the_network_is_made() -> None:
    rows = {"Age": [12, 20, 30, 70, 70, 80, None], "Ill": ["no", "yes"] * 3 + ["no"]}
    with pytest.warns(lc.LacunetWarning, match=r"12, 70, 80 \(4 rows\)") as told:
        lc.Network.from_data(lc.Data(rows, bins={"Age": [18, 40, 65]}), "Age -> Ill")
    assert "--bins Age=-inf,18,40,65,inf" in str(told[0].message)
    lc.Network.from_data(lc.Data(rows, bins={"Age": [0, 40, float("inf")]}), "Age -> Ill")


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ([3, 2], "ascend"),
        ([3], "ascend"),
        (1, "1 intervals"),
    ],
)
def test_bins_that_mean_nothing_are_refused(bins: Any, message: str) -> None:
    with pytest.raises(BinsError, match=message):
        lc.discretise(AGES, {"Age": bins})


def test_a_number_of_thousands_of_digits_is_refused_as_any_other() -> None:
    with pytest.raises(BinsError, match="'Age'"):
        lc.discretise({"Age": [1, 2, 10**5000]}, {"Age": 2})


def test_a_column_that_is_not_of_numbers_is_refused() -> None:
    with pytest.raises(BinsError, match="'Ill' holds 'no'"):
        lc.discretise(AGES, {"Ill": 3})
    way = r"leave 'Ill' out of bins.* lacunet.Data\(data, missing=\['no'\]\)"
    with pytest.raises(BinsError, match=way):
        lc.discretise(AGES, {"Ill": 3})
    with pytest.raises(BinsError, match="'Agee'"):
        lc.discretise(AGES, {"Agee": 3})


def test_the_summary_tells_what_is_cut_from_what_is_given() -> None:
    found = find_network(
        lc.Data(AGES, states={"Ward": ["a", "b"]}, bins={"Age": [0, 30, 99]}), "Age -> Ill; Ward"
    )
    cut = "1 variable cut into intervals: Age 2. 1 variable with states given."
    assert cut in found.summary
    assert network_of_columns({"A": ["x"], "B": ["y"]}).summary == "2 variables with one state."


def test_a_network_keeps_its_cut_points_and_cuts_new_data_by_them(tmp_path: Path) -> None:
    network = lc.Network.from_data(lc.Data(AGES, bins={"Age": [0, 30, 60, np.inf]}), "Age -> Ill")
    assert network.states("Age") == ("[0,30)", "[30,60)", ">=60")
    learned = lc.learn(network, AGES, "direct-mcar", pseudo_counts=0).network
    np.testing.assert_allclose(learned.cpt("Age").table, [2 / 8, 3 / 8, 3 / 8])
    learned.write(tmp_path / "net.json")
    again = lc.read_network(tmp_path / "net.json")
    assert again == learned
    assert again.cuts_of["Age"] == (0, 30, 60, np.inf)
    for new in (pd.DataFrame({"Age": [25, 99], "Ill": [None, "yes"]}), None):
        rows = tmp_path / "new.csv"
        rows.write_text("Age,Ill\n25,\n99.5,yes\n")
        counted = lc.learn(again, rows if new is None else new, "direct-mcar", pseudo_counts=0)
        np.testing.assert_allclose(counted.network.cpt("Age").table, [0.5, 0, 0.5])
    np.testing.assert_array_equal(again.query("Ill", {"Age": 45}), again.cpt("Ill").table[1])
    assert lc.discretise(pd.DataFrame({"Age": [29.9, 30]}), again)["Age"].tolist() == [
        "[0,30)",
        "[30,60)",
    ]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict", "file"])
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_discretised_data_are_read_as_the_data_themselves(kind: str, tmp_path: Path) -> None:
    cells = [-9, 10, 20, 30, 40, -9, 50, 60, -7, -7]
    rows: Any = {"Age": cells, "Ill": ["no", "yes"] * 5}
    if kind == "file":
        pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
        rows = tmp_path / "rows.csv"
    elif kind != "dict":
        rows = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[kind](rows)
    codes = {"Age": {-9: None, -7: ["[30,60)", ">=60"]}}
    network = lc.Network.from_data(
        lc.Data(rows, bins={"Age": [0, 30, 60, np.inf]}, codes=codes), "Age -> Ill"
    )
    expected = read_table(rows, network, keep_sets=True).columns["Age"].tolist()
    assert expected == [3, 0, 0, 1, 1, 3, 1, 2, 4, 4]
    cut = lc.discretise(rows, network)
    assert read_table(cut, network, keep_sets=True).columns["Age"].tolist() == expected
    told = lc.discretise(lc.Data(rows, codes=codes), {"Age": [0, 30, 60, np.inf]})
    assert list(told["Age"]) == list(cut["Age"])


@pytest.mark.parametrize(
    "said", [{"codes": {"Age": {-9: None}}}, {"missing": {"Age": [-9]}}, {"missing": -9}]
)
def test_what_the_data_say_of_codes_is_neither_cut_nor_counted(said: dict[str, Any]) -> None:
    ages = [*range(1, 61)]
    rows = pd.DataFrame({"Age": [-9] * 20 + ages})
    found = lc.discretise(lc.Data(rows, **said), {"Age": 3})["Age"]
    expected = lc.discretise(pd.DataFrame({"Age": ages}), {"Age": 3})["Age"]
    assert found[:20].isna().all()
    assert found[20:].tolist() == expected.tolist()
    by_hand = lc.discretise(lc.Data(rows, **said), {"Age": [0, 30, 60]})["Age"]
    assert by_hand.value_counts().to_dict() == {"[0,30)": 29, "[30,60]": 31}


def test_values_outside_the_cut_points_are_missing_where_that_is_asked_for() -> None:
    rows = lc.Data(pd.DataFrame({"Age": [-9, 20, 40]}), unknown="missing")
    with pytest.warns(lc.LacunetWarning, match="1 cell"):
        assert lc.discretise(rows, {"Age": [0, 30, 60]})["Age"].isna().tolist() == [
            True,
            False,
            False,
        ]


def test_cut_points_in_a_file_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    network = lc.Network({"A": ["x", "y"]}, cuts={"A": [0, 1, 2]})
    network.write(tmp_path / "net.json")
    text = (tmp_path / "net.json").read_text()
    (tmp_path / "net.json").write_text(text.replace("[0.0, 1.0, 2.0]", '"none"'))
    with pytest.raises(FormatError, match="points"):
        lc.read_network(tmp_path / "net.json")
    (tmp_path / "net.json").write_text(text.replace("[0.0, 1.0, 2.0]", "[0.0, 1.0]"))
    with pytest.raises(lc.LacunetError, match=r"2 intervals.*\[0.0, 1.0\]"):
        lc.read_network(tmp_path / "net.json")


def test_the_decimal_character_of_a_text_file_is_heeded(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("Age;Ill\n1,5;no\n2,5;yes\n7,5;no\n9,5;yes\n")
    data = lc.Data(tmp_path / "rows.csv", delimiter=";", decimal=",")
    network = lc.Network.from_data(lc.Data(data, bins={"Age": 2}), "Age -> Ill")
    result = lc.learn(network, data, "direct-mcar")
    assert result.families["Age"].rows_shown == 4
