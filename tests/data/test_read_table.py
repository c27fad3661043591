"""The door: names, weights, latent variables, tables that are encoded already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import APPENDIX, appendix_rows, appendix_table
from lacunet.data import frames, source_parts
from lacunet.data.batches import Door
from lacunet.data.column_rules import plan_reading, source_from
from lacunet.data.data import Data
from lacunet.data.errors import DataError, UnknownStateError, WeightError
from lacunet.data.read import ReadReport, read_table, rows_with_codes
from lacunet.data.table import EncodedTable
from lacunet.network.network import Network

PAIR = Network({"A": ["no", "yes"], "B": ["0", "1"]}, {"B": ["A"]})
ROWS = {"A": ["yes", None, "no", "no"], "B": [0, 1, None, 1]}


def test_the_table_of_the_appendix_is_read_as_it_is_printed() -> None:
    rows = dict(zip("XYWZ", zip(*appendix_rows(), strict=True), strict=True))
    read, expected = read_table(rows, APPENDIX), appendix_table()
    for name in "XYWZ":
        assert np.array_equal(read.columns[name], expected.columns[name])
    assert read.missing_of == expected.missing_of
    assert read.weights is None
    assert read.row_numbers is None


def test_codes_are_as_narrow_as_the_states_allow() -> None:
    wide = [f"s{at}" for at in range(300)]
    network = Network({"narrow": wide[:254], "wide": wide[:255], "wider": wide})
    rows = {"narrow": ["s253", None], "wide": ["s254", None], "wider": ["s299", None]}
    read = read_table(rows, network)
    assert [own.dtype.itemsize for own in read.columns.values()] == [1, 2, 2]
    assert [own.tolist() for own in read.columns.values()] == [[253, 254], [254, 255], [299, 300]]


def test_too_many_states_are_refused() -> None:
    network = Network({"A": [str(at) for at in range(65536)]})
    with pytest.raises(DataError, match="65536"):
        read_table({"A": ["0"]}, network)


def test_variables_come_in_the_order_of_the_network() -> None:
    assert read_table({"B": [0], "A": ["no"]}, PAIR).variables == ("A", "B")


def test_input_is_not_modified() -> None:
    frame = pd.DataFrame({0: ["no", None], "B": [1.0, np.nan]})
    before = frame.copy(deep=True)
    weights = np.array([0.0, 2.0])
    read_table(Data(frame, weight=weights), Network({"0": ["no"], "B": ["1"]}))
    pd.testing.assert_frame_equal(frame, before)
    assert weights.tolist() == [0.0, 2.0]


def test_columns_with_names_that_are_no_texts_are_found_by_their_texts() -> None:
    network = Network({"0": ["no"], "1": ["1"]})
    assert read_table(pd.DataFrame([["no", 1]]), network).columns["0"].tolist() == [0]
    assert read_table({0: ["no"], 1: [1]}, network).columns["1"].tolist() == [0]


def test_columns_of_the_same_name_are_refused() -> None:
    frames_with_twins = [
        pd.DataFrame([["no", 1, 1]], columns=["A", "B", "B"]),
        pa.table([["no"], ["1"], ["0"]], names=["A", "B", "B"]),
    ]
    for frame in frames_with_twins:
        with pytest.raises(DataError, match=r"\['B'\]"):
            read_table(frame, PAIR)


def test_a_mixture_of_types_is_matched_cell_by_cell() -> None:
    mixed = [1, "1", 1.0, np.float32(1), np.int8(1), "1.0", b"1", None, np.nan, pd.NA, pd.NaT, "?"]
    network = Network({"A": ["0", "1"]})
    expected = [1] * 7 + [2] * 5
    for data in ({"A": mixed}, pd.DataFrame({"A": pd.Series(mixed, dtype=object)})):
        assert read_table(data, network).columns["A"].tolist() == expected
    as_objects = pl.DataFrame({"A": pl.Series([1, "1", None], dtype=pl.Object)})
    assert read_table(as_objects, network).columns["A"].tolist() == [1, 1, 2]


def test_values_of_types_that_are_no_states_are_named() -> None:
    for column in ([[1], [2]], [{"a": 1}, None], pd.to_datetime(["2020-01-01", None])):
        with pytest.raises(UnknownStateError, match="'A'"):
            read_table({"A": column}, Network({"A": ["1"]}))


def test_categories_that_no_row_uses_need_not_be_states() -> None:
    column = pd.Categorical(["no", "no"], categories=["maybe", "no", " yes"])
    read = read_table({"A": pd.Series(column), "B": [1, 1]}, PAIR)
    assert read.columns["A"].tolist() == [0, 0]
    assert read.notes == ()


def test_a_number_that_equals_two_states_is_refused_as_such() -> None:
    with pytest.raises(UnknownStateError, match=r"1\.0"):
        read_table({"A": [1.0, np.nan]}, Network({"A": ["1", "1.0"]}))


def test_a_column_of_many_unknown_values_is_summed_up() -> None:
    many = [f"v{at}" for at in range(10_000)]
    with pytest.raises(UnknownStateError, match=r"10\)|and \d+ more.* row 1"):
        read_table({"A": many, "B": [1] * 10_000}, PAIR)
    read = read_table(Data({"A": many, "B": [1] * 10_000}, unknown="missing"), PAIR)
    assert read.missing_of["A"] == 10_000
    assert "10,000" in read.notes[0]


def test_a_lone_text_of_missing_or_latent_is_one_name() -> None:
    read = read_table(Data({"A": ["n/k", "yes"]}, missing="n/k", latent="B"), PAIR)
    assert read.columns["A"].tolist() == [2, 1]


def test_a_missing_token_that_is_a_state_stays_one_with_a_note() -> None:
    read = read_table(Data({"A": ["no"], "B": ["0"]}, missing=["0", "9"]), PAIR)
    assert read.columns["B"].tolist() == [0]
    assert read.notes == ("'0' is a state of ['B'], so there it does not mean missing.",)


def test_a_latent_variable_is_missing_in_every_row() -> None:
    read = read_table(Data({"A": ["no", "yes"]}, latent=["B"]), PAIR)
    assert read.columns["B"].tolist() == [2, 2]
    assert read.partially_observed == ("B",)


def test_latent_variables_must_be_of_the_network_and_not_in_the_data() -> None:
    for latent, message in [
        (["C"], r"\['C'\], which the network does not have"),
        (["B"], r"\['B'\] are declared latent, but the dict has columns"),
        (["A", "B"], "every variable is declared latent"),
    ]:
        with pytest.raises(DataError, match=message):
            read_table(Data(ROWS, latent=latent), PAIR)


def test_data_without_rows_are_refused() -> None:
    for empty in ({"A": [], "B": []}, pl.DataFrame({"A": [], "B": []}), pa.table(ROWS)[:0]):
        with pytest.raises(DataError, match="rows"):
            read_table(empty, PAIR)


def test_a_dict_must_hold_columns_of_one_length() -> None:
    for wrong in ({"A": "no", "B": ["0"]}, {"A": ["no"], "B": 0}):
        with pytest.raises(DataError, match="dict"):
            read_table(wrong, PAIR)
    with pytest.raises(DataError, match="'A' has 1 value, 'B' has 2"):
        read_table({"A": ["no"], "B": [0, 1]}, PAIR)


def test_rows_of_weight_zero_are_left_out_and_the_others_keep_their_numbers() -> None:
    read = read_table(Data(ROWS, weight=[0, 0.5, 0, 2]), PAIR)
    assert read.columns["A"].tolist() == [2, 0]
    assert read.columns["B"].tolist() == [1, 1]
    assert read.weights is not None
    assert read.weights.tolist() == [0.5, 2.0]
    assert read.row_numbers is not None
    assert read.row_numbers.tolist() == [2, 4]
    assert (read.rows, read.missing_of["A"]) == (2, 1)
    assert read.notes == ("left out 2 of 4 rows: their weight is zero.",)
    read = read_table(Data(ROWS, weight=[1, 0.5, 3, 2], counts=[1, 0, 1, 1]), PAIR)
    assert read.notes == ("left out 1 of 4 rows: its weight or count is zero.",)
    with pytest.raises(WeightError, match="count"):
        read_table(Data(ROWS, counts=[0] * 4), PAIR)


@pytest.mark.parametrize("column", [[1, 0, 3, 2], [1.0, 0.0, 3.0, 2.0], ["1", "0.0", " 3", "2e0"]])
def test_weights_may_be_a_column_of_numbers_or_of_their_texts(
    column: list[object], tmp_path: Path
) -> None:
    pd.DataFrame(ROWS | {"w": column}).to_csv(tmp_path / "rows.csv", index=False)
    data = [ROWS | {"w": column}, pl.DataFrame(ROWS | {"w": column}), tmp_path / "rows.csv"]
    for one in data:
        read = read_table(Data(one, counts="w"), PAIR)
        assert read.weights is not None
        assert read.weights.tolist() == [1.0, 3.0, 2.0]
        assert read.columns["B"].tolist() == [0, 2, 1]
        assert len(read.notes) == 1  # the column of weights is not ignored


def test_weights_given_beside_the_data_may_be_any_array() -> None:
    for weight in ([1, 2, 3, 4], np.arange(1, 5), pd.Series([1, 2, 3, 4]), pl.Series([1, 2, 3, 4])):
        read = read_table(Data(ROWS, weight=weight), PAIR)
        assert read.weights is not None
        assert read.weights.tolist() == [1, 2, 3, 4]
        assert read.row_numbers is None
        assert read.total == 10


@pytest.mark.parametrize("bad", [None, np.nan, -1, np.inf, "x", "", "1_0", True, "nan"])
def test_a_weight_that_is_no_number_from_zero_upwards_is_named_with_its_place(
    bad: object, tmp_path: Path
) -> None:
    weights = pd.Series([1, 1, bad, 1], dtype=object)
    frame = pd.DataFrame(ROWS | {"w": weights})
    with pytest.raises(WeightError, match="DataFrame, row 3, column 'w'"):
        read_table(Data(frame, weight="w"), PAIR)
    if bad is not True:  # a text file says "True", which is no number either
        frame.to_csv(tmp_path / "rows.csv", index=False)
    else:
        (tmp_path / "rows.csv").write_text("A,B,w\nno,1,1\nno,1,1\nno,1,True\n")
    with pytest.raises(WeightError, match=r"rows\.csv', line 4, column 'w'"):
        read_table(Data(tmp_path / "rows.csv", weight="w"), PAIR)


def test_what_is_wrong_with_a_weight_is_said_in_its_own_words() -> None:
    for bad, message in [
        (
            None,
            r"is missing\.\nHint: .* not negative, infinite or missing\. Rows are counted from 1",
        ),
        (np.nan, "is missing"),
        (-1, "is -1.*\nHint: .*not negative"),
        (1e-150, "is 1e-150.*\nHint: .*between 1e-100 and 1e100"),
        (True, "is True.*\nHint: weights must be numbers"),
    ]:
        rows = ROWS | {"w": [1, 1, bad, 1]}
        with pytest.raises(WeightError, match=message):
            read_table(Data(rows, weight="w"), PAIR)


def test_wrong_weights_are_refused() -> None:
    reader = pa.table(ROWS).to_reader
    weight: Any
    for data, weight, message in [
        (ROWS, "A", "weight='A' names a variable"),
        (ROWS | {"weight": [1] * 4}, "wieght", "did you mean 'weight'"),
        (ROWS, [1, 2], "weight= has 2 values for 4 rows"),
        (reader(), [1, 2], "weight= has 2 values for 4 or more rows"),
        (reader(), [1] * 6, "weight= has 6 values for 4 rows"),
        (ROWS, [0] * 4, "every row has weight zero"),
        (ROWS, [1, 1, -2, 1], r"the weight in row 3 is -2\.0"),
        (ROWS, [1, None, 1, 1], "the weight in row 2 is missing"),
        (ROWS, [["a"]], "one-dimensional array of numbers"),
        (ROWS, [[1, 1, 1, 1]], "one-dimensional array of numbers"),
        (ROWS, 1.0, "one-dimensional array of numbers"),
    ]:
        with pytest.raises(WeightError, match=message):
            read_table(Data(data, weight=weight), PAIR)


def test_an_encoded_table_passes_through_if_it_fits() -> None:
    table = read_table(Data(ROWS, weight=[1, 2, 0, 3]), PAIR)
    assert read_table(table, PAIR) is table
    turned = Network({"B": ["0", "1"], "A": ["no", "yes"]})
    again = read_table(table, turned)
    assert again.variables == ("B", "A")
    assert again.columns["A"] is table.columns["A"]
    assert again.row_numbers is table.row_numbers
    with pytest.raises(DataError, match=r"\['B', 'C'\]"):
        read_table(table, Network({"A": ["no", "yes"], "C": ["0"]}))
    with pytest.raises(DataError, match=r"\['B'\]"):
        read_table(table, Network({"A": ["no", "yes"], "B": ["0", "1", "2"]}))
    wrong: list[dict[str, Any]] = [{"weight": [1, 1, 1]}, {"latent": ["B"]}]
    for options in wrong:
        with pytest.raises(DataError, match="already encoded"):
            read_table(Data(table, **options), PAIR)


@given(st.lists(st.sampled_from(["no", "yes", "maybe", None]), min_size=1, max_size=30), st.data())
def test_the_batches_of_any_split_are_the_whole(
    column: list[str | None], data: st.DataObject
) -> None:
    network = Network({"A": ["no", "yes", "maybe"]})
    weight = data.draw(
        st.lists(st.sampled_from([0, 1, 2.5]), min_size=len(column), max_size=len(column))
    )
    with pytest.MonkeyPatch.context() as patch:
        size = data.draw(st.integers(1, 7))
        patch.setattr(frames, "PIECE_ROWS", size)
        patch.setattr(source_parts, "PIECE_ROWS", size)
        texts = pa.array(column, pa.string())
        kinds = [{"A": column}, pa.table({"A": texts}), pl.DataFrame({"A": column})]
        for rows in (*kinds, pa.record_batch({"A": texts.dictionary_encode()})):
            reading = plan_reading(Data(rows, weight=weight), network)
            parts = list(Door(reading, ReadReport()).batches())
            kept = [at for at, own in enumerate(weight) if own]
            whole = [("no", "yes", "maybe", None).index(column[at]) for at in kept]
            assert [code for part in parts for code in part.columns["A"]] == whole
            assert [at for part in parts for at in part.numbers - 1] == kept
            assert [own for part in parts for own in part.row_weights] == [
                weight[at] for at in kept
            ]


def test_an_interrupt_passes_through() -> None:
    def interrupt(stage: str, done: float, total: float | None, note: str = "") -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_table(ROWS, PAIR, progress=interrupt)


def test_libraries_of_data_frames_are_imported_only_with_their_frames(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"A": ["no", None]}), tmp_path / "rows.parquet")
    pa.feather.write_feather(pa.table({"A": ["no", None]}), tmp_path / "rows.feather")
    (tmp_path / "rows.csv").write_text("A\nyes\n\n no\n")
    code = (
        "import sys\n"
        "import pyarrow.dataset, pyarrow.feather\n"
        "before = set(sys.modules)\n"  # the dataset of Arrow 18 imports pandas
        "from lacunet.data.read import read_table\n"
        "from lacunet.network.network import Network\n"
        "network = Network({'A': ['no', 'yes']})\n"
        f"assert read_table({str(tmp_path)!r}, network).rows == 7\n"
        "after = set(sys.modules) - before\n"
        "assert not {'narwhals', 'pandas', 'polars', 'duckdb'} & after, 'imported'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_the_door_does_not_import_arrow() -> None:
    code = "import sys, lacunet.data.read\nassert 'pyarrow' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_encoded_table_takes_rows_with_their_numbers() -> None:
    table = read_table(Data(ROWS, weight=[0, 1, 2, 3]), PAIR)
    taken = table.take(np.array([False, True, True]))
    assert isinstance(taken, EncodedTable)
    assert taken.numbers.tolist() == [3, 4]


def test_rows_come_in_pieces_that_are_the_table(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    for path in paths:
        pyarrow.parquet.write_table(pa.table({**ROWS, "B": ["0", "1", None, "1"]}), path)
    pieces = [table for _, table, _ in rows_with_codes(source_from(paths), Data(paths), PAIR)]
    whole = read_table(paths, PAIR)
    assert len(pieces) == len(paths)
    for name in PAIR.variables:
        codes = np.concatenate([piece.columns[name] for piece in pieces])
        np.testing.assert_array_equal(codes, whole.columns[name])


def test_no_rows_are_no_pieces() -> None:
    empty: dict[str, list[str]] = {"A": [], "B": []}
    with pytest.raises(DataError, match="rows"):
        list(rows_with_codes(source_from(empty), Data(empty), PAIR))


@pytest.mark.parametrize("value", [np.int64(-7), np.float64(-7), np.int16(-7), -7])
def test_a_refused_weight_is_shown_as_a_plain_number(value: Any) -> None:
    rows = {"A": ["n", "y"], "w": [value, "1"]}  # of several types: the cells stay as they are
    with pytest.raises(WeightError, match=r"'w' is -7(\.0)?\.\n"):
        read_table(Data(rows, weight="w"), Network({"A": ["n", "y"]}))
