"""Columns keep their name and their way of writing states, wherever the rows come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.write import write_arrow

CHAIN = lc.Network(
    {"7": ["1", "2", "3"], "Ill": ["no", "yes"]},
    {"Ill": ["7"]},
    {"7": [0.2, 0.3, 0.5], "Ill": [[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]]},
)
FRAMES: dict[str, Any] = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


def columns_of(frame: Any) -> dict[Any, list[Any]]:
    """The columns of a frame of any kind as lists."""
    if isinstance(frame, pd.DataFrame):
        return {key: frame[key].tolist() for key in frame.columns}
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    return frame if isinstance(frame, dict) else frame.to_dict(as_series=False)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.filterwarnings("ignore:read the columns")
def test_a_column_with_spaces_around_its_name_is_filled_in_itself(kind: str) -> None:
    frame = FRAMES[kind]({" 7 ": [1, None, 2], "Ill": ["no", None, "yes"]})
    assert columns_of(lc.impute(CHAIN, frame)) == {" 7 ": [1, 3, 2], "Ill": ["no", "no", "yes"]}
    states = columns_of(lc.predict(CHAIN, frame, "7", give="states"))
    assert states == {"7": [3, 3, 2]}


def test_a_column_whose_name_is_a_number_is_filled_in_itself() -> None:
    frame = pd.DataFrame({7: [1, None, 2], "Ill": ["no", None, "yes"]})
    assert columns_of(lc.impute(CHAIN, frame)) == {7: [1, 3, 2], "Ill": ["no", "no", "yes"]}


@pytest.mark.filterwarnings("ignore:read the columns")
def test_a_target_with_spaces_around_its_name_is_evidence_where_it_is_shown() -> None:
    rows = {" 7 ": [1], "Ill": ["no"]}
    shown = lc.predict(CHAIN, rows, "7", given_targets=True)
    assert columns_of(shown) == {"7=1": [1.0], "7=2": [0.0], "7=3": [0.0]}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_of_nothing_but_nulls_gets_the_states(kind: str) -> None:
    frame = FRAMES[kind]({"7": [None, None], "Ill": ["no", "yes"]})
    assert columns_of(lc.impute(CHAIN, frame)) == {"7": ["3", "2"], "Ill": ["no", "yes"]}


def test_columns_of_a_dict_stay_of_their_kind_and_rows_keep_labels_that_occur_twice() -> None:
    columns = {"7": [1, None, 2, 3], "Ill": ["no", None, "yes", "yes"]}
    frame = pd.DataFrame(columns, index=[5, 5, 6, 7])
    completed = lc.impute(CHAIN, frame)
    assert completed.index.tolist() == [5, 5, 6, 7]
    series = lc.impute(CHAIN, {name: frame[name] for name in frame})
    assert all(isinstance(column, pd.Series) for column in series.values())
    assert columns_of(completed) == {name: column.tolist() for name, column in series.items()}
    assert columns_of(completed) == {"7": [1, 3, 2, 3], "Ill": ["no", "no", "yes", "yes"]}


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_a_column_whose_type_cannot_hold_a_state_gets_the_names_of_states(kind: str) -> None:
    network = lc.Network({"X": ["1", "300"]}, {}, {"X": [0.2, 0.8]})
    table = pa.table({"X": pa.array([1, None], pa.int8())})
    frame = table if kind == "arrow" else pl.from_arrow(table)
    assert columns_of(lc.impute(network, frame)) == {"X": ["1", "300"]}


@pytest.mark.parametrize("endings", [(".csv", ".parquet"), (".parquet", ".csv")])
def test_parts_of_different_formats_are_completed_as_texts(
    tmp_path: Path, endings: tuple[str, str]
) -> None:
    parts = [{"7": [1, None], "Ill": ["no", "yes"]}, {"7": [2, 3], "Ill": ["yes", None]}]
    paths = [tmp_path / f"part{ending}" for ending in endings]
    for path, part in zip(paths, parts, strict=True):
        write_arrow(pa.table({**part, "Note": [1.5, 2.0]}), path)
    completed = {"7": ["1", "2", "2", "3"], "Ill": ["no", "yes", "yes", "no"]}
    expected = {**completed, "Note": ["1.5", "2", "1.5", "2"]}
    assert lc.impute(CHAIN, paths).to_pydict() == expected
    kept = lc.predict(CHAIN, paths, "7", give="states", keep="Note").to_pydict()
    assert kept == {"Note": expected["Note"], "7": ["3", "2", "2", "3"]}
    lc.write_network(CHAIN, tmp_path / "chain.json")
    out = tmp_path / "out.csv"
    main(["impute", str(tmp_path / "chain.json"), *map(str, paths), "-o", str(out)])
    assert pd.read_csv(out, dtype=str).to_dict("list") == expected
