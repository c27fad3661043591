"""Networks from data and edges: which states are found, and what is refused."""

from __future__ import annotations

import re
import warnings
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.data.bins import BinsError
from lacunet.data.errors import UnknownStateError
from lacunet.data.network_from_data import find_network
from lacunet.data.states import (
    DatesError,
    IdentifierError,
    NestedError,
    NumbersError,
    SpellingsError,
    StatesError,
)
from lacunet.data.write import write_arrow
from lacunet.errors import LacunetError
from lacunet.network.edges import EdgesError
from lacunet.network.errors import NetworkError

FRAME = pd.DataFrame(
    {
        "Id": [f"p{row}" for row in range(30)],
        "Age": np.arange(30) % 12 + 1,
        "Grade": pd.Categorical(["mid", None, "low"] * 10, ["low", "mid", "high"], ordered=True),
        "Ill": ["yes", "no", "?"] * 10,
        "Same": ["x"] * 30,
        "Empty": [None] * 30,
        "Height": np.linspace(1.5, 2.0, 30),
    }
)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_numbers_and_ordered_categories_keep_their_order_and_texts_are_sorted() -> None:
    network = lc.Network.from_data(FRAME, "Age -> Grade -> Ill")
    assert network.variables == ("Age", "Grade", "Ill")
    assert network.states("Age") == tuple(map(str, range(1, 13)))
    assert network.states("Grade") == ("low", "mid", "high")
    assert network.states("Ill") == ("no", "yes")
    assert network.edges == (("Age", "Grade"), ("Grade", "Ill"))
    assert not network.has_cpts
    assert lc.learn(network, FRAME, "factored-mar").network.cpt("Ill").table.shape == (3, 2)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["mid", None, "low"], ["low", "mid", "high"]),
        pl.Series(["mid", None, "low"], dtype=pl.Enum(["low", "mid", "high"])),
        pa.DictionaryArray.from_arrays([1, None, 0], ["low", "mid", "high"], ordered=True),
    ],
)
def test_categories_are_the_states_in_their_order(column: object) -> None:
    network = lc.Network.from_data({"Grade": column}, "Grade")
    assert network.states("Grade") == ("low", "mid", "high")


def test_numbers_in_categories_sorted_as_texts_are_in_order() -> None:
    frame = pd.DataFrame({"Age": ["9", "10", "11"]}).astype("category")
    assert lc.Network.from_data(frame, "Age").states("Age") == ("9", "10", "11")


def test_an_identifier_in_categories_is_refused() -> None:
    frame = pd.DataFrame({"Id": [f"p{row}" for row in range(500)]}).astype("category")
    with pytest.raises(LacunetError, match="identifier"):
        lc.Network.from_data(frame, "Id")


def test_what_may_surprise_is_said() -> None:
    found = find_network(FRAME, "Age -> Grade -> Ill")
    assert found.summary.startswith("found 17 states in 3 columns")
    assert any("10 cells with '?'" in remark for remark in found.remarks)
    assert any("['high']" in remark for remark in found.remarks)
    way_out = "if it is a state, name it with all others: states={'Ill': ['no', 'yes', '?']}"
    assert any(way_out in remark for remark in found.remarks)
    with pytest.warns(lc.LacunetWarning, match="missing"):
        lc.Network.from_data(FRAME, "Age -> Ill")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("Id -> Age", "'Id'"),
        ("Same -> Age", "'Same'.*'x'"),
        ("Empty -> Age", "'Empty'"),
        ("Agee -> Ill", r"'Age' for 'Agee'"),
    ],
)
def test_columns_that_are_no_variables_are_refused_with_the_way_out(
    edges: str, message: str
) -> None:
    rows = pd.concat([FRAME] * 1)
    if "Id" in edges:
        rows = pd.DataFrame({"Id": np.arange(60), "Age": np.arange(60) % 3})
    with pytest.raises(StatesError, match=message) as refusal:
        find_network(rows, edges)
    assert refusal.value.hint


def test_only_a_name_unlike_every_column_is_taken_for_a_hidden_variable() -> None:
    for edges, hint in [
        ("Agee -> Ill", r"did you mean 'Age' for 'Agee'\?$"),
        (
            "Cause -> Ill",
            r"^if 'Cause' is hidden, say how many states it has: .*latent={'Cause': 2}",
        ),
        ("Cause -> Agee", r"did you mean 'Age' for 'Agee'\? Or: if 'Cause' is hidden"),
    ]:
        with pytest.raises(StatesError) as refusal:
            find_network(FRAME, edges)
        assert re.search(hint, refusal.value.hint)


def test_all_columns_that_cannot_be_variables_are_named_at_once() -> None:
    numbers = np.linspace(1.5, 2.0, 200).tolist()
    rows = {"Height": numbers, "Id": [*range(200)], "Size": numbers, "Ill": ["yes", "no"] * 100}
    with pytest.raises(StatesError, match=r"(?s)'Id'.*'Height'.*'Size'") as refusal:
        find_network(rows, "Height, Id, Size -> Ill")
    assert "bins={'Height': 5, 'Size': 5}) (--bins Height=5 --bins Size=5)" in refusal.value.hint


def test_numbers_outside_of_all_intervals_are_named_with_bins_to_copy() -> None:
    rows = {"Age": [20, 30, 70, 80], "Ill": ["yes", "no"] * 2}
    (remark,) = find_network(lc.Data(rows, bins={"Age": [18, 25, 65]}), "Age -> Ill").remarks
    assert "70, 80 (2 rows)" in remark
    bins = re.search(r"bins=(\{.*\}) \(--bins Age=-inf,18,25,65,inf\)", remark)
    assert bins is not None
    assert not find_network(lc.Data(rows, bins=eval(bins[1])), "Age -> Ill").remarks


def test_a_column_with_too_many_values_is_sent_to_be_cut() -> None:
    rows = {"Height": np.linspace(1.5, 2.0, 200).tolist(), "Ill": ["yes", "no"] * 100}
    with pytest.raises(StatesError, match="200") as refusal:
        find_network(rows, "Height -> Ill")
    assert "(--bins Height=5)" in refusal.value.hint


def test_a_name_with_an_arrow_is_answered_with_quotes() -> None:
    rows = {"a->b": ["x", "y"], "c, d": ["0", "1"], "e": ["0", "1"]}
    for edges, column in (("a->b -> e", "a->b"), ("c, d -> e", "c, d")):
        with pytest.raises(StatesError) as refusal:
            find_network(rows, edges)
        assert f"{column!r}" in refusal.value.hint
    assert find_network(rows, '"a->b" -> e').network.parents("e") == ("a->b",)


def test_the_hints_on_columns_without_states_are_calls_that_work() -> None:
    rows = {"Same": ["x"] * 4, "Empty": [None] * 4, "Ill": ["no", "yes"] * 2}
    for edges in ("Same -> Ill", "Empty -> Ill", "Cause -> Ill"):
        with pytest.raises(StatesError) as refusal:
            lc.learn(edges, rows)
        name = edges.partition(" ")[0]
        if name == "Cause":
            assert "lacunet.Data(data, latent={'Cause': 2})" in refusal.value.hint
            lc.learn(edges, lc.Data(rows, latent={"Cause": 2}))
        else:
            assert f"lacunet.Data(data, states={{{name!r}: [" in refusal.value.hint
            lc.learn(edges, lc.Data(rows, states={name: ["x", "y"]}))


def test_a_cycle_is_named() -> None:
    with pytest.raises(NetworkError, match="cycle"):
        find_network({"A": [0, 1], "B": [0, 1]}, "A -> B -> A")


def test_states_may_be_given_in_part_as_strings_or_numbers_also_for_hidden_variables() -> None:
    rows = {"A": [1, 2, 2], "B": ["u", "v", None]}
    network = lc.Network.from_data(
        lc.Data(rows, states={"A": [1, 2, 3.0], "H": ["0", "1"]}), "H -> A -> B"
    )
    assert network.states("A") == ("1", "2", "3")
    assert network.states("H") == ("0", "1")
    result = lc.learn(network, lc.Data(rows, latent=["H"]), "em")
    assert result.network.cpt("A").table.shape == (2, 3)
    with pytest.raises(LacunetError, match=r"\['C'\]"):
        lc.Network.from_data(lc.Data(rows, states={"C": ["0", "1"]}), "A -> B")
    with pytest.raises(LacunetError, match=r"\['Size'\]"):
        lc.Network.from_data(lc.Data(rows, bins={"Size": 2}), "A -> B")
    wider = lc.Data({**rows, "Size": [1, 2, 3]}, bins={"Size": 2})  # for other edges, too
    assert lc.Network.from_data(wider, "A -> B").variables == ("A", "B")


def test_spellings_of_one_truth_value_are_one_state(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("A,B,C\n1,true, x\n1,TRUE,x\n10,False,y\n9,False,NA\n")
    found = find_network(path, "A -> B; C")
    assert found.network.states_of == {
        "A": ("1", "9", "10"),
        "B": ("False", "TRUE"),
        "C": ("x", "y"),
    }
    table = lc.learn(found.network, path, "factored-mar").missing
    assert table == {"A": 0, "B": 0, "C": 1}


CODES = {"Code": ["414.1", "414.10", "414.2", "V12"] * 4, "Dose": ["1E2", "5", "100", "5"] * 4}
KEPT_APART = {"Code": ("414.1", "414.10", "414.2", "V12"), "Dose": ("5", "100", "1E2")}
ANSWERS = {"Ill": ["a", "b", "c", "d"] * 4}


def in_columns(line: str, option: str) -> Any:
    """What a hint gives an option, as Python reads it."""
    found = re.search(rf"{option}=(\{{.*?\}}+)[ .;]", line)
    assert found is not None
    return eval(found[1])


def test_texts_that_differ_in_how_a_number_is_written_are_refused_in_one_error() -> None:
    rows = CODES | ANSWERS
    with pytest.raises(SpellingsError) as refused:
        lc.Network.from_data(rows, "Code, Dose -> Ill")
    for text in ("'414.1' and '414.10'", "'100' and '1E2'"):
        assert text in refused.value.message
    states = in_columns(refused.value.hint, "states")
    network = lc.Network.from_data(lc.Data(rows, states=states), "Code -> Ill; Dose")
    assert {name: network.states(name) for name in states} == KEPT_APART
    learned = lc.learn(network, rows, "direct-mcar", pseudo_counts=0).network
    assert learned.cpt("Ill").table.max(axis=-1).tolist() == [1.0] * 4  # each code has one answer
    merged = lc.Data(rows, codes=in_columns(refused.value.hint, "codes"))
    network = lc.Network.from_data(merged, "Code -> Ill; Dose")
    assert sorted(network.states("Code")) == ["414.1", "414.2", "V12"]
    assert lc.learn(network, merged, "direct-mcar").missing == {"Code": 0, "Ill": 0, "Dose": 0}


def test_states_that_keep_texts_apart_are_the_network_s_own() -> None:
    states = ["250.0", "250.00", "V12"]  # of which none is the shortest numeral
    named = lc.Data({"Code": states * 4, "Ill": ["a", "b", "c"] * 4}, states={"Code": states})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = lc.learn("Code -> Ill", named, "direct-mcar", pseudo_counts=0)
    assert learned.network.states("Code") == tuple(states)


@pytest.mark.parametrize("read", [lc.learn_structure, lc.diagnose, lc.learn_missingness])
def test_columns_without_edges_are_not_merged_either(read: Any) -> None:
    with pytest.raises(LacunetError, match=r"'414\.1' and '414\.10'(?s:.*)--states Code="):
        read(CODES | ANSWERS)
    with pytest.raises(LacunetError, match=r"'1' and '1\.0'"):  # nor to one state
        read({"A": ["1", "1.0"] * 4, **{name: cells[:8] for name, cells in ANSWERS.items()}})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_files_that_write_a_number_otherwise_are_refused(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{part}.{ending}" for part in range(2)]
    for path, cells in zip(paths, (["1", "2", "2"], ["1.0", "2.0", ""]), strict=True):
        write_arrow(pa.table({"A": cells, "B": ["x", "y", "x"]}), path)
    with pytest.raises(SpellingsError, match=r"'1' and '1\.0'"):
        lc.Network.from_data(paths, "A -> B")


def test_numbers_are_one_by_their_value_and_codes_by_theirs() -> None:
    assert find_network({"A": [1, 1.0, 2.50, "2.5", None]}, "A").network.states("A") == ("1", "2.5")
    rows = lc.Data({"A": ["9", "9.0", "1", "2"]}, missing=9)
    assert find_network(rows, "A").network.states("A") == ("1", "2")
    halves = {"A": [f"{number}{zero}" for number in (0.5, 1.5, 2.5, 3.5) for zero in ("", "0")]}
    cut = lc.Network.from_data(lc.Data(halves, bins={"A": 2}), "A")
    assert cut.cardinality("A") == 2


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_declared_categories_are_kept_apart(kind: str) -> None:
    cells, declared = ["7.20", "7.2", " a", "a"] * 3, ["7.20", "a", "7.2", " a"]
    column: Any = {
        "pandas": lambda: pd.Categorical(cells, declared),
        "polars": lambda: pl.Series(cells, dtype=pl.Enum(declared)),
        "arrow": lambda: pa.DictionaryArray.from_arrays(
            [declared.index(cell) for cell in cells], declared, ordered=True
        ),
    }[kind]()
    rows = {"Code": column, "Ill": ["p", "q", "r", "s"] * 3}
    network = lc.Network.from_data(rows, "Code -> Ill")
    assert network.states("Code") == tuple(declared)
    learned = lc.learn(network, rows, "direct-mcar", pseudo_counts=0).network
    assert learned.cpt("Ill").table.argmax(axis=-1).tolist() == [0, 3, 1, 2]
    assert learned.cpt("Ill").table.max(axis=-1).tolist() == [1.0] * 4


@pytest.mark.parametrize(
    "column",
    [
        pd.cut(pd.Series([1, 5, 9, np.nan, 2]), [0, 4, 10]),
        pd.Series(pd.cut(np.array([1.0, 5, 9, 2, 3]), [0, 4, 10]).astype("interval")),
        pd.Series(pd.period_range("2020", "2024", freq="Y")),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", None, "2020-01-01", None])),
        pd.Series([True, False, None, True, False], dtype="boolean"),
        pd.Series([1, 2, None, 2, 1]),
        pd.Series([1.5, 2.25, None, 1.5, 10]),
        pl.Series(["lo", "hi", None, "lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"])),
        pl.Series([1, 2, None, 2, 1], dtype=pl.Int8),
    ],
    ids=lambda column: str(column.dtype),
)
def test_the_states_found_are_those_that_the_same_column_is_read_with(
    column: pd.Series | pl.Series,
) -> None:
    rows = (
        pd.DataFrame({"A": column})
        if isinstance(column, pd.Series)
        else pl.DataFrame({"A": column})
    )
    network = find_network(rows, "A").network
    result = lc.learn(network, rows, "direct-mcar", pseudo_counts=0)
    missing = int(column.isna().sum()) if isinstance(column, pd.Series) else column.null_count()
    assert result.missing == {"A": missing}
    # Every state that occurs has its share; a category that does not occur has none.
    shares = [share for share in result.network.cpt("A").table if share]
    assert len(shares) == (column.dropna().nunique() if isinstance(column, pd.Series) else 2)


def test_intervals_of_pandas_cut_are_in_order() -> None:
    rows = pd.DataFrame({"A": pd.cut(pd.Series([1, 50, 9, np.nan]), [0, 8, 10, 100])})
    assert find_network(rows, "A").network.states("A") == ("(0, 8]", "(8, 10]", "(10, 100]")


@pytest.mark.parametrize("edges", [[], (), {}], ids=str)
def test_an_empty_list_of_edges_makes_a_variable_of_every_column(edges: Any) -> None:
    rows = {"Wt": [1.5, 2.5, 3.5] * 8, "B": ["u", "v", None] * 8, "A": [3, 1, 2] * 8}
    network = lc.Network.from_data(lc.Data(rows, weight="Wt"), edges)
    assert network.states_of == {"B": ("u", "v"), "A": ("1", "2", "3")}
    assert network.edges == ()
    assert lc.learn(edges, rows, "direct-mcar").network.variables == ("Wt", "B", "A")
    with pytest.raises(IdentifierError, match="'Id'"):
        lc.Network.from_data({"Id": [*range(60)], "B": ["u", "v"] * 30}, edges)


def test_edges_that_cannot_be_read_are_refused_before_the_states_are_looked_for() -> None:
    with pytest.raises(EdgesError):
        lc.Network.from_data(FRAME, "A <-> B")


def test_a_table_with_another_delimiter_is_told_how_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A;B\n1;0\n0;1\n")
    with pytest.raises(lc.LacunetError, match="--delimiter ';'"):
        lc.Network.from_data(tmp_path / "rows.csv", "A -> B")


def test_a_name_in_other_letters_is_recognised() -> None:
    with pytest.raises(lc.LacunetError, match="'age' for 'Age'"):
        lc.Network.from_data({"age": [1, 2], "ill": [0, 1]}, "Age -> ill")


@pytest.mark.parametrize(
    "options",
    [
        {"states": {"A": []}},
        {"states": {"A": 3}},
        {"states": {"A": "xy"}},
        {"bins": 1},
        {"bins": "quartiles"},
        {"bins": {"B": "month"}},
        {"bins": {"B": 2.5}},
        {"bins": {"B": ["low", "high"]}},
        {"bins": {"C": 2}},
    ],
    ids=str,
)
def test_what_is_not_states_or_bins_is_refused_in_words(options: dict[str, Any]) -> None:
    rows = {"A": ["x", "y"] * 3, "B": [1.5, 2.5, 3.5] * 2, "C": [10**400, 1, 2] * 2}
    with pytest.raises(LacunetError):
        lc.Network.from_data(lc.Data(rows, **options), "A -> B; C")


def test_a_number_of_intervals_may_come_from_numpy() -> None:
    rows = {"A": ["x", "y"] * 3, "B": [1.5, 2.5, 3.5] * 2}
    one, two = (
        lc.Network.from_data(lc.Data(rows, bins={"B": n}), "A -> B") for n in (2, np.int64(2))
    )
    assert one == two


def test_states_that_are_numbers_keep_their_digits() -> None:
    states: list[object] = [0.12345678, 0.12345679, np.float64(0.1), 1.0, 2]
    network = lc.Network.from_data(lc.Data({"A": [1, 2]}, states={"A": states}), "A")
    assert network.states("A") == ("0.12345678", "0.12345679", "0.1", "1", "2")


def test_intervals_of_times_in_milliseconds_have_different_names() -> None:
    times = [1_700_000_000_000 + 7 * at for at in range(50)]
    network = lc.Network.from_data(lc.Data({"T": times}, bins={"T": 5}), "T")
    assert len(set(network.states("T"))) == 5
    assert network.states("T")[0] == f"<{int(network.cuts_of['T'][1])}"


def test_states_that_differ_in_case_alone_are_named_with_the_codes_that_join_them() -> None:
    rows = {"Smokes": ["yes", "Yes", "no", "yes", "no"], "Gene": ["AA", "Aa", "aa", "AA", "Aa"]}
    (note,) = find_network(rows, "Gene -> Smokes").remarks
    assert "codes={'Smokes': {'Yes': 'yes'}}" in note
    joined = find_network(lc.Data(rows, codes={"Smokes": {"Yes": "yes"}}), "Gene -> Smokes")
    assert joined.network.states("Smokes") == ("no", "yes")
    assert not joined.remarks


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_a_column_of_lists_is_not_a_variable(ending: str, tmp_path: Path) -> None:
    tags = pa.array([["a"], ["b", "c"], None, ["a"]], pa.list_(pa.string()))
    place = pa.array([{"x": 1}] * 4)
    rows = pa.table({"A": ["0", "1", "0", "1"], "tags": tags, "place": place})
    path = tmp_path / f"rows{ending}"
    write_arrow(rows, path)
    for data in (path, rows):
        with pytest.raises(NestedError, match="'tags'"):
            lc.Network.from_data(data, "A -> tags")
        with pytest.raises(LacunetError, match="--without"):
            lc.learn_structure(data)
        with pytest.raises(UnknownStateError, match="'tags'"):
            lc.learn(lc.Network({"A": ["0", "1"], "tags": ["a", "b"]}), data, "em")
        assert lc.learn(lc.Network.from_data(data, "A"), data, "em").rows == 4


@pytest.mark.parametrize("rows", [{"A": [], "B": []}, pd.DataFrame({"A": ["a"], "B": ["b"]})[:0]])
def test_data_without_rows_are_said_to_have_none(rows: Any) -> None:
    for ask in (lambda: lc.learn("A -> B", rows), lambda: lc.diagnose(rows)):
        with pytest.raises(lc.LacunetError, match="rows"):
            ask()
    with pytest.raises(lc.LacunetError, match="rows"):
        lc.learn_structure(rows)


def test_values_taken_as_missing_are_named_in_one_line_for_all_columns() -> None:
    rows = {"A": ["0", "1", "NA", "NA"], "B": ["0", "1", "NA", "0"], "C": ["?", "1", "0", "0"]}
    with pytest.warns(lc.LacunetWarning) as told:
        lc.Network.from_data(rows, "A -> B -> C")
    (text,) = [str(own.message) for own in told]
    assert text == (
        "4 cells with 'NA', '?' taken as missing, in the columns 'A' (2), 'B' (1), 'C' (1); if it "
        "is a state, name it with all others: states={'A': ['0', '1', 'NA']} (--states A=0,1,NA)."
    )


def test_an_identifier_of_many_rows_is_one() -> None:
    rows = {"Id": [f"M{number:05}" for number in range(5000)], "Ill": ["no", "yes"] * 2500}
    with pytest.raises(StatesError, match="'Id'"):
        lc.Network.from_data(rows, "Id -> Ill")
    with pytest.raises(LacunetError, match="'Id'"):
        lc.learn_structure(rows | {"Id": [*range(5000, 10000)]})


def test_numbers_with_words_or_commas_among_them_are_to_be_cut() -> None:
    ages = [*map(str, range(60)), "unknown"] * 3
    halves = [f"{number},5" for number in range(60)] * 3
    for column in (ages, halves):
        rows = {"X": column, "Ill": (["no", "yes"] * 99)[: len(column)]}
        with pytest.raises(NumbersError, match="'X'"):
            lc.Network.from_data(rows, "X -> Ill")
    whole = {"X": [*range(4097), *[7] * 9], "Ill": ["no", "yes"] * 2053}
    with pytest.raises(StatesError) as refused:
        lc.Network.from_data(whole, "X -> Ill")
    assert "identifier" not in str(refused.value)
    with pytest.raises(StatesError, match="identifier"):
        lc.Network.from_data(whole | {"X": range(4106)}, "X -> Ill")


def test_what_is_no_column_of_numbers_is_not_to_be_cut() -> None:
    visits = [date(2023, 1, 1) + timedelta(days=number % 300) for number in range(600)]
    rows = {"Visit": visits, "Ill": ["no", "yes"] * 300}
    with pytest.raises(DatesError, match="'Visit'"):
        lc.Network.from_data(rows, "Visit -> Ill")
    with pytest.raises(BinsError, match="dates"):
        lc.Network.from_data(lc.Data(rows, bins={"Visit": 4}), "Visit -> Ill")
    with pytest.raises(LacunetError) as several:
        lc.learn_structure(rows | {"Age": [number % 90 + 0.5 for number in range(600)]})
    assert "bins={'Visit': 'month', 'Age': 5})" in str(several.value)


def test_a_formula_is_answered_with_edges() -> None:
    rows = {"Age": ["old", "young"], "Sex": ["f", "m"], "Ill": ["no", "yes"]}
    for formula in ("Ill ~ Age + Sex", "Ill~Age*Sex"):
        with pytest.raises(StatesError, match="'Age, Sex -> Ill'"):
            lc.Network.from_data(rows, formula)
    for text in ("~Age", "~"):
        with pytest.raises(StatesError) as refused:
            lc.Network.from_data(rows, text)
        assert "arrows" not in str(refused.value)


def categories_in(kind: str, folder: Path) -> Any:
    """Codes of which two are one number, declared as categories without an order."""
    codes, ill = ["3.50", "3.5", "12", "3.50"] * 5, ["p", "q", "r", "p"] * 5
    arrow = pa.table({"Code": pa.array(codes).dictionary_encode(), "Ill": ill})
    pandas = pd.DataFrame({"Code": pd.Categorical(codes), "Ill": ill})
    polars = pl.DataFrame({"Code": pl.Series(codes, dtype=pl.Categorical), "Ill": ill})
    file = folder / f"rows.{kind.rpartition(' ')[2]}"
    if kind == "arrow":
        return arrow
    if kind == "polars":
        return polars
    if kind == "pandas parquet":
        pandas.to_parquet(file)
    elif kind == "polars parquet":
        polars.write_parquet(file)
    else:
        pandas.to_feather(file)
    return file


@pytest.mark.parametrize(
    "kind", ["arrow", "polars", "pandas parquet", "polars parquet", "pandas feather"]
)
def test_categories_without_an_order_are_kept_apart_too(kind: str, tmp_path: Path) -> None:
    rows = categories_in(kind, tmp_path)
    network = lc.Network.from_data(rows, "Code -> Ill")
    assert network.states("Code") == ("3.5", "3.50", "12")
    table = lc.learn(network, rows, "direct-mcar", pseudo_counts=0).network.cpt("Ill").table
    assert table.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_texts_that_a_file_stores_as_dictionaries_declare_nothing(tmp_path: Path) -> None:
    texts, declared = tmp_path / "texts.parquet", categories_in("pandas parquet", tmp_path)
    pd.read_parquet(declared).astype(str).to_parquet(texts)
    for rows in (texts, [declared, texts], [texts, declared]):
        with pytest.raises(SpellingsError, match=r"'3\.5' and '3\.50'"):
            lc.Network.from_data(rows, "Code -> Ill")


@pytest.mark.parametrize("states", [["250.0", "250.00", "250.10"], ["3", "2", "1"]])
def test_states_that_are_named_for_their_column_need_no_note(states: list[str]) -> None:
    rows = {"Code": states * 5, "Ill": ["no", "yes", "no"] * 5}
    network = lc.Network.from_data(lc.Data(rows, states={"Code": states}), "Code -> Ill")
    assert network.states("Code") == tuple(states)
    assert not lc.learn(network, lc.Data(rows, states={"Code": states})).notes
    (note,) = lc.learn(network, lc.Data(rows, states={"Code": [*states, "x"]})).notes
    assert "Code" in note
