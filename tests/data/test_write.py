"""Rows come back from Arrow and from every file as they were."""

from __future__ import annotations

import csv
import gzip
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc, parquet

from examples import RAIN
from lacunet.data.errors import DataError, DataWarning
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.data.write import WRITERS, to_arrow, write_arrow, write_table
from lacunet.inference.sampling import sample_codes
from lacunet.network.catalogue import example
from lacunet.network.network import Network
from lacunet.simulation.at_random import MCAR
from lacunet.simulation.simulate import simulate
from strategies import networks, tables

AWKWARD = st.text("aé,\t\"\n\r;' NA?", min_size=1, max_size=3)
Rows = dict[str, list[str | None]]


def spelled(table: EncodedTable, network: Network) -> Rows:
    """The cells as texts, None where missing, one by one."""
    return {
        name: [(*network.states(name), None)[code] for code in column]
        for name, column in table.columns.items()
    }


def read_text(path: Path, delimiter: str) -> Rows:
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    return {name: [row[at] or None for row in rows] for at, name in enumerate(header)}


def read(path: Path) -> Rows:
    if ".csv" in path.name:
        return read_text(path, ",")
    if ".tsv" in path.name:
        return read_text(path, "\t")
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pydict()  # type: ignore[no-any-return]
    return ipc.open_file(path).read_all().to_pydict()  # type: ignore[no-any-return]


@pytest.mark.parametrize("ending", WRITERS)
@settings(deadline=None)
@given(data=st.data())
def test_every_file_gives_back_the_cells_that_were_written(
    ending: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    network = data.draw(networks(names=AWKWARD, states=AWKWARD, max_variables=3))
    table = data.draw(tables(network, max_rows=6))
    path = tmp_path_factory.mktemp("rows") / f"rows{ending}"
    write_table(table, network, path)
    assert read(path) == spelled(table, network)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", ["insurance", "child"])  # both have a state called None
def test_what_is_written_is_read_as_the_same_codes(ending: str, name: str, tmp_path: Path) -> None:
    network = example(name)
    made = simulate(network, 2000, MCAR(0.3, share=0.9), rng=np.random.default_rng(2))
    write_table(made.table, network, tmp_path / f"rows{ending}")
    found = read_table(tmp_path / f"rows{ending}", network)
    assert found.missing_of == made.table.missing_of
    for variable, column in made.table.columns.items():
        np.testing.assert_array_equal(found.columns[variable], column)


@pytest.mark.parametrize("ending", WRITERS)
@settings(deadline=None)
@given(data=st.data())
def test_states_spelled_like_missing_values_are_read_as_states(
    ending: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tokens = st.sampled_from(["NA", "None", "?", "nan", "null", "1", "01", "1.0", "true"])
    network = data.draw(networks(states=tokens, max_variables=3))
    table = data.draw(tables(network, max_rows=6))
    path = tmp_path_factory.mktemp("rows") / f"rows{ending}"
    write_table(table, network, path)
    found = read_table(path, network)
    for variable, column in table.columns.items():
        np.testing.assert_array_equal(found.columns[variable], column)


def test_pandas_polars_and_arrow_see_the_same_cells() -> None:
    table = EncodedTable({"Rain": 2}, {"Rain": np.array([2, 1, 0], np.uint8)})
    arrow = to_arrow(table, RAIN)
    assert arrow.column("Rain").to_pylist() == [None, "yes", "no"]
    assert pl.DataFrame(pl.from_arrow(arrow))["Rain"].to_list() == [None, "yes", "no"]
    frame = arrow.to_pandas()["Rain"]
    assert frame.isna().tolist() == [True, False, False]
    assert frame.dropna().tolist() == ["yes", "no"]
    assert isinstance(frame.dtype, pd.CategoricalDtype)


@pytest.mark.parametrize("size", [127, 128, 129, 254, 255, 300])
def test_the_last_of_many_states_and_a_missing_cell_are_told_apart(size: int) -> None:
    many = Network({"X": [f"s{at}" for at in range(size)]})
    codes = np.array([size - 1, size, 0], np.uint16)
    arrow = to_arrow(EncodedTable({"X": size}, {"X": codes}), many)
    assert arrow.column("X").to_pylist() == [f"s{size - 1}", None, "s0"]


def test_a_plain_csv_has_no_quotes(tmp_path: Path) -> None:
    codes = np.array([0, 2], np.uint8)
    table = EncodedTable({"Rain": 2, "Wet": 2}, {"Rain": codes, "Wet": codes[::-1]})
    write_table(table, RAIN, tmp_path / "rain.csv")
    assert (tmp_path / "rain.csv").read_text() == "Rain,Wet\nno,\n,no\n"


EARLY, LATE = datetime(2020, 1, 1), datetime(2020, 1, 2, 3, 4, 5)
TYPED = {
    "moments": pa.array([EARLY, LATE], pa.timestamp("us")),
    "moments of pandas": pa.array([EARLY, LATE], pa.timestamp("ns")),
    "moments with a zone": pa.array([EARLY, LATE], pa.timestamp("ms", "UTC")),
    "times of day": pa.array([time(13, 1), time(1, 2, 3)]),
    "durations": pa.array([timedelta(days=1), timedelta(seconds=5)], pa.duration("s")),
    "dates": pa.array([EARLY.date(), LATE.date()]),
    "decimals": pa.array([Decimal("1.50"), Decimal("2.00")]),
    "numbers": pa.array([0.5, 1e20]),
    "narrow numbers": pa.array([0.1, 3.0], pa.float32()),
    "truth values": pa.array([False, True]),
    "bytes": pa.array([b"\xff", b"a,b"]),
}


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz"])
@pytest.mark.parametrize("name", TYPED)
def test_values_of_every_type_are_written_as_text_that_reads_as_the_same_state(
    name: str, ending: str, tmp_path: Path
) -> None:
    cells = TYPED[name].take(pa.array([0, 1, None, 1, 0]))
    rows = pa.table({"X": cells, "Row": pa.array(range(5))})
    network = Network.from_data(rows, "X")
    write_arrow(rows, tmp_path / f"rows{ending}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of the other column
        expected = read_table(rows, network).columns["X"]
        found = read_table(tmp_path / f"rows{ending}", network).columns["X"]
    assert found.tolist() == expected.tolist()


def test_lists_are_written_as_they_print(tmp_path: Path) -> None:
    tags = pa.array([["a", "b"], [], None], pa.list_(pa.string()))
    write_arrow(pa.table({"tags": tags, "A": ["1", "2", "3"]}), tmp_path / "rows.csv")
    assert read(tmp_path / "rows.csv")["tags"] == ["['a', 'b']", "[]", None]


def test_many_batches_are_written_in_order(tmp_path: Path) -> None:
    table = sample_codes(RAIN, 150_000, np.random.default_rng(1))
    write_table(table, RAIN, tmp_path / "rain.csv")
    assert read(tmp_path / "rain.csv") == to_arrow(table, RAIN).to_pydict()


def test_the_same_rows_give_the_same_compressed_bytes(tmp_path: Path) -> None:
    table = sample_codes(RAIN, 10, np.random.default_rng(1))
    for name in ("one.csv.gz", "two.csv.gz"):
        write_table(table, RAIN, tmp_path / name)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def failing(file: Any, schema: pa.Schema) -> Iterator[Any]:
        def fail_halfway(rows: pa.Table) -> None:
            file.write(b"half")
            raise OSError("the disk is full")

        yield fail_halfway

    (tmp_path / "rain.csv").write_text("before")
    monkeypatch.setitem(WRITERS, ".csv", failing)
    with pytest.raises(DataError, match=r"rain\.csv"):
        write_table(sample_codes(RAIN, 3, np.random.default_rng(0)), RAIN, tmp_path / "rain.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["rain.csv"]
    assert (tmp_path / "rain.csv").read_text() == "before"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere/rain\.csv"):
        write_table(
            sample_codes(RAIN, 3, np.random.default_rng(0)), RAIN, tmp_path / "nowhere/rain.csv"
        )


def test_what_is_behind_a_link_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "file.csv")
    write_table(sample_codes(RAIN, 3, np.random.default_rng(0)), RAIN, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "file.csv").read_text().startswith("Rain,Sprinkler,Wet\n")


def test_a_name_that_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'rain.xls'"):
        write_table(sample_codes(RAIN, 3, np.random.default_rng(0)), RAIN, tmp_path / "rain.xls")


def test_weights_are_not_dropped_in_silence() -> None:
    table = EncodedTable({"Rain": 2}, {"Rain": np.array([1], np.uint8)}, np.array([2.0]))
    with pytest.raises(DataError, match="weights"):
        to_arrow(table, RAIN)
