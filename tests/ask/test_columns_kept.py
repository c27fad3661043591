"""Columns keep their name and their way of writing states, wherever the rows come from."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import lacunet as lc
from lacunet.ask.impute.pieces import completed_pieces
from lacunet.ask.predict.missingness_assumptions import AssumptionWarning
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
    assert columns_of(CHAIN.impute(frame, how="most probable")) == {
        " 7 ": [1, 3, 2],
        "Ill": ["no", "no", "yes"],
    }
    states = columns_of(CHAIN.predict(frame, "7", give="states"))
    assert states == {"7": [3, 3, 2]}


def test_a_column_whose_name_is_a_number_is_filled_in_itself() -> None:
    frame = pd.DataFrame({7: [1, None, 2], "Ill": ["no", None, "yes"]})
    assert columns_of(CHAIN.impute(frame, how="most probable")) == {
        7: [1, 3, 2],
        "Ill": ["no", "no", "yes"],
    }


@pytest.mark.filterwarnings("ignore:read the columns")
def test_a_target_with_spaces_around_its_name_is_evidence_where_it_is_shown() -> None:
    rows = {" 7 ": [1], "Ill": ["no"]}
    shown = CHAIN.predict(rows, "7", given_targets=True)
    assert columns_of(shown) == {"7=1": [1.0], "7=2": [0.0], "7=3": [0.0]}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_of_nothing_but_nulls_gets_the_states(kind: str) -> None:
    frame = FRAMES[kind]({"7": [None, None], "Ill": ["no", "yes"]})
    assert columns_of(CHAIN.impute(frame, how="most probable")) == {
        "7": ["3", "2"],
        "Ill": ["no", "yes"],
    }


def test_columns_of_a_dict_stay_of_their_kind_and_rows_keep_labels_that_occur_twice() -> None:
    columns = {"7": [1, None, 2, 3], "Ill": ["no", None, "yes", "yes"]}
    frame = pd.DataFrame(columns, index=[5, 5, 6, 7])
    completed = CHAIN.impute(frame, how="most probable")
    assert completed.index.tolist() == [5, 5, 6, 7]
    series = CHAIN.impute({name: frame[name] for name in frame}, how="most probable")
    assert all(isinstance(column, pd.Series) for column in series.values())
    assert columns_of(completed) == {name: column.tolist() for name, column in series.items()}
    assert columns_of(completed) == {"7": [1, 3, 2, 3], "Ill": ["no", "no", "yes", "yes"]}


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_a_type_too_narrow_for_a_state_is_widened(kind: str) -> None:
    network = lc.Network({"X": ["1", "300"]}, {}, {"X": [0.2, 0.8]})
    table = pa.table({"X": pa.array([1, None], pa.int8())})
    frame = table if kind == "arrow" else pl.from_arrow(table)
    assert columns_of(network.impute(frame, how="most probable")) == {"X": [1, 300]}


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
    assert CHAIN.impute(paths, how="most probable").to_pydict() == expected
    kept = CHAIN.predict(paths, "7", give="states", keep="Note").to_pydict()
    assert kept == {"Note": expected["Note"], "7": ["3", "2", "2", "3"]}
    CHAIN.write(tmp_path / "chain.json")
    out = tmp_path / "out.csv"
    main(["impute", str(tmp_path / "chain.json"), *map(str, paths), "-o", str(out)])
    assert pd.read_csv(out, dtype=str).to_dict("list") == expected


NOW = datetime(2024, 2, 29, 13, 45)
SEVERAL: dict[str, list[Any]] = {  # columns that show all their states but the last one
    "Flag": [True, False, None, True, None, True],
    "Yes": [True, True, None, True, None, True],
    "Day": [date(2024, 1, 31), date(2024, 2, 29), None, date(2024, 1, 31), None, None],
    "At": [NOW, NOW, None, NOW, None, datetime(2024, 3, 1)],
    "Hour": [time(8, 30), time(8, 30), None, time(8, 30), None, time(9)],
    "Price": [Decimal("1.50"), Decimal("2.25"), None, Decimal("1.50"), None, None],
    "Dose": [1, 2, None, 2, None, 1],
    "Rate": [0.5, 0.25, None, 0.5, None, 0.5],
    "Code": ["01", "1.0", None, "01", None, "01"],
    "Raw": [b"a", b"b", None, b"a", None, b"a"],
    "Age": [31, 35, None, 64, None, 70],
}
STATES = {
    "Flag": ["False", "True"],
    "Yes": ["True", "False"],
    "Day": ["2024-01-31", "2024-02-29", "2024-12-24"],
    "At": ["2024-02-29 13:45:00", "2024-03-01 00:00:00", "2024-04-01 10:00:00"],
    "Hour": ["08:30:00", "09:00:00", "10:15:00"],
    "Price": ["1.5", "2.25", "3"],
    "Dose": ["1", "2", "30"],
    "Rate": ["0.25", "0.5", "0.75"],
    "Code": ["01", "1.0", "11"],
    "Raw": ["a", "b", "c"],
    "Age": ["<40", "[40,65)", ">=65"],
}
LIKELIEST = {
    "Flag": True,
    "Yes": False,
    "Day": date(2024, 12, 24),
    "At": datetime(2024, 4, 1, 10),
    "Hour": time(10, 15),
    "Price": Decimal("3.00"),
    "Dose": 30,
    "Rate": 0.75,
    "Code": "11",
    "Raw": b"c",
    "Age": 70,
}
MANY = lc.Network(
    STATES,
    tables={name: [*[0.1] * (len(s) - 1), 1.1 - 0.1 * len(s)] for name, s in STATES.items()},
    cuts={"Age": [0, 40, 65, 99]},
)


def typed_frames() -> dict[str, Any]:
    """The same columns in frames of every kind, with the types that such columns have there."""
    table = pa.table({name: pa.array(cells) for name, cells in SEVERAL.items()})
    views = table.set_column(8, "Code", table["Code"].cast(pa.string_view()))
    views = views.set_column(9, "Raw", table["Raw"].cast(pa.binary_view()))
    narrow = table.set_column(6, "Dose", table["Dose"].cast(pa.int8()))
    narrow = narrow.set_column(7, "Rate", table["Rate"].cast(pa.float32()))
    chunks = pa.concat_tables([narrow[:2], narrow[2:3], narrow[3:]])
    categories = chunks.set_column(8, "Code", chunks["Code"].dictionary_encode())
    objects = pd.DataFrame(SEVERAL)
    nullable = {"Flag": "boolean", "Yes": "boolean", "Dose": "Int8", "Rate": "Float32"}
    polars = pl.DataFrame(SEVERAL)
    codes = pl.Enum(["11", "1.0", "01"])
    return {
        "dict": dict(SEVERAL),
        "arrow": table,
        "views": views,
        "chunks": chunks,
        "categories": categories,
        "pandas": objects,
        "nullable": objects.astype(nullable | {"Code": "category", "At": "datetime64[ns]"}),
        "pandas on arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": polars,
        "narrow polars": polars.with_columns(
            pl.col("Dose").cast(pl.Int8),
            pl.col("Rate").cast(pl.Float32),
            pl.col("Code").cast(codes),
            pl.col("At").cast(pl.Datetime("ms")),
        ),
        "categorical polars": polars.with_columns(pl.col("Code").cast(pl.Categorical)),
    }


def types_of(frame: Any) -> dict[str, Any]:
    """The type of each column but for the categories of pandas, to which one may be added."""
    if isinstance(frame, pd.DataFrame):
        return {str(name): str(kind) for name, kind in frame.dtypes.items()}
    if isinstance(frame, pa.Table):
        return {field.name: field.type for field in frame.schema}
    return {} if isinstance(frame, dict) else dict(frame.schema)


def is_same(one: Any, other: Any) -> bool:
    """Whether two cells are of one value and type, or both missing."""
    return (
        (one is None and other is None)
        or (type(one) is type(other) and one == other)
        or (pd.isna(one) and pd.isna(other))
    )


@pytest.mark.filterwarnings("ignore:missing numbers of 'Age'")
@pytest.mark.parametrize("kind", typed_frames())
@pytest.mark.parametrize("hidden", [[], [0], [5, 3], [0, 1, 3, 5]], ids=str)
def test_observed_cells_keep_value_and_type(kind: str, hidden: list[int]) -> None:
    frame = typed_frames()[kind]
    keep = [row for row in range(6) if row not in hidden]
    if kind == "dict":
        frame = {name: [cells[row] for row in keep] for name, cells in frame.items()}
    elif isinstance(frame, pd.DataFrame):
        frame = frame.iloc[keep]
    elif isinstance(frame, pa.Table):
        frame = pa.concat_tables([frame[row : row + 1] for row in keep])
    else:
        frame = frame[keep]
    before = columns_of(frame)
    for whole in (
        MANY.impute(frame, how="most probable"),
        *MANY.impute(frame, 3, proper=False, rng=4),
    ):
        assert types_of(whole) == types_of(frame)
        after = columns_of(whole)
        for name, cells in before.items():
            for row, cell in enumerate(cells):
                if cell is not None and not pd.isna(cell):
                    assert is_same(cell, after[name][row]), name
                else:
                    assert not pd.isna(after[name][row]), name
        reread = lc.learn(MANY, whole, "direct-mcar")
        assert not any(reread.missing.values())
    likeliest = columns_of(MANY.impute(frame, how="most probable"))
    for name, value in LIKELIEST.items():
        expected = 82 if name == "Age" and 5 in hidden else value  # the middle of its interval
        is_blank = all(cell is None or pd.isna(cell) for cell in before[name])
        # Of a column without a type, in which nothing is shown, nobody knows how it writes states.
        assert is_blank or likeliest[name][keep.index(2)] == expected, name


@pytest.mark.filterwarnings("ignore:missing numbers of 'Age'")
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
def test_observed_cells_of_files_keep_value_and_type(tmp_path: Path, ending: str) -> None:
    table = typed_frames()["chunks" if ending == ".parquet" else "views"]
    network = MANY
    if ending == ".csv":  # where no bytes are
        table = table.drop_columns(["Raw"])
        network = lc.Network(
            {name: states for name, states in STATES.items() if name != "Raw"},
            tables={name: MANY.cpt(name).table for name in STATES if name != "Raw"},
            cuts=MANY.cuts_of,
        )
    paths = [tmp_path / f"{part}{ending}" for part in "ab"]
    for path, rows in zip(paths, (table[:3], table[3:]), strict=True):
        write_arrow(rows, path)
    together = network.impute(paths, how="most probable")
    pieces = [
        piece
        for _, piece in completed_pieces(
            network, paths, how="most probable", rng=np.random.default_rng(0)
        )
    ]
    joined = pa.concat_tables(pieces)
    assert joined.to_pydict() == together.to_pydict()
    if ending != ".csv":
        assert joined.schema.types == [
            pa.string() if str(kind) == "string_view" and ending == ".parquet" else kind
            for kind in table.schema.types
        ]
        for name, cells in table.to_pydict().items():
            for row, cell in enumerate(cells):
                assert cell is None or is_same(cell, joined[name][row].as_py()), name


@pytest.mark.filterwarnings("ignore:missing numbers of 'Packs'")
@pytest.mark.parametrize("kind", [*FRAMES, "commas"])
def test_a_mean_is_written_as_its_column_writes_numbers(kind: str) -> None:
    network = lc.Network(
        {"Smokes": ["no", "yes"], "Packs": ["[0,10)", "[10,20]", "not_asked"]},
        {"Packs": ["Smokes"]},
        {"Smokes": [0.5, 0.5], "Packs": np.array([[0, 0, 1], [0.9, 0.1, 0]])},
        cuts={"Packs": [0, 10, 20]},
        not_asked={"Packs": "Smokes=no"},
    )
    smokes = ["yes", "yes", "yes", "yes", "no"]
    make: Any = FRAMES.get(kind, dict)
    whole = columns_of(
        network.impute(
            make({"Smokes": smokes, "Packs": [3, 4, 12, None, None]}), how="most probable"
        )
    )
    # Whole numbers stay whole; pandas has none among missing ones.
    assert whole["Packs"][:4] == [3, 4, 12, 3.5 if kind == "pandas" else 3]
    empty = whole["Packs"][4]
    assert empty == "not_asked" if make is dict else pd.isna(empty)
    texts = ["3,25", "4", "12", "", ""] if kind == "commas" else ["3.25", "4", "12", "", ""]
    rows = lc.Data(
        make({"Smokes": smokes, "Packs": texts}), decimal="," if "," in texts[0] else "."
    )
    mean = "3,625" if kind == "commas" else "3.625"
    assert columns_of(network.impute(rows, how="most probable"))["Packs"] == [
        *texts[:3],
        mean,
        "not_asked",
    ]
    labels = ["[0,10)", "[0,10)", "[10,20]", None, None]
    whole = columns_of(
        network.impute(make({"Smokes": smokes, "Packs": labels}), how="most probable")
    )
    assert whole["Packs"] == [*labels[:3], "[0,10)", "not_asked"]


@pytest.mark.parametrize("by", ["counts", "counted"])
def test_rows_that_stand_for_several_are_drawn_for_each(by: str) -> None:
    network = lc.Network({"A": ["no", "yes"]})
    rows: Any = lc.Data({"A": ["no", "yes", None], "n": [40, 30, 20]}, counts="n")
    if by == "counted":
        rows = lc.count(network, rows)
    result = lc.learn(network, rows, intervals=True)
    with pytest.warns(AssumptionWarning):
        one, two = result.impute(rows, draws=2, rng=0)
    for frame in (one, two):
        assert len(frame["A"]) == 90
        column = frame["n"]
        assert {*map(int, [*column])} == {1}


def test_empty_cells_of_a_text_file_beside_the_network_are_nulls(tmp_path: Path) -> None:
    rain = lc.Network({"Rain": ["no", "yes"]}, tables={"Rain": [0.25, 0.75]})
    (tmp_path / "rows.csv").write_text('Rain,Id,Note\n,1,\nno,,NA\nyes,3,""\n')
    kept = {"Id": ["1", None, "3"], "Note": [None, "NA", None]}
    assert rain.impute(tmp_path / "rows.csv", how="most probable").to_pydict() == {
        "Rain": ["yes", "no", "yes"],
        **kept,
    }
    network, rows, out = (str(tmp_path / name) for name in ("r.json", "rows.csv", "out.parquet"))
    rain.write(network)
    assert main(["impute", network, rows, "-o", out]) == 0
    assert parquet.read_table(out).select(["Id", "Note"]).to_pydict() == kept
