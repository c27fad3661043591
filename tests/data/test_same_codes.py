"""The same table in every container gives the same codes."""

from __future__ import annotations

import csv
import gzip
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lacunet.data.data import Data
from lacunet.data.matching import MISSING_TOKENS
from lacunet.data.read import read_table
from lacunet.network.network import Network

Cells = Mapping[str, list[str | None]]

HOSTILE = [
    *filter(None, MISSING_TOKENS),
    *("0", "1", "01", "1.0", "1.00", "-1", "0.5", "1e3", "true", "True", "TRUE", "false"),
    *("a", "A", " a", "a ", "a,b", 'a"b', '"a"', "a\nb", "a\r\nb", "a\tb", "ß", "日本", "\\N", ";"),
]
LETTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff")


@st.composite
def tables(draw: st.DrawFn, states: st.SearchStrategy[str]) -> tuple[Network, Cells]:
    """A network without edges, and rows over it as texts and None."""
    names = draw(st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=3))
    names = list(dict.fromkeys(name.strip() or "X" for name in names))
    # DuckDB does not tell names apart by case.
    assume(len({name.lower() for name in names}) == len(names))
    network = Network(
        {name: draw(st.lists(states, min_size=1, max_size=5, unique=True)) for name in names}
    )
    rows = draw(st.integers(1, 8))
    cell = {name: st.sampled_from([*network.states(name), None]) for name in names}
    column = {name: st.lists(cell[name], min_size=rows, max_size=rows) for name in names}
    return network, {name: draw(column[name]) for name in names}


def codes_of(network: Network, cells: Cells) -> dict[str, list[int]]:
    """The codes by the definition: the place among the states, or one past them."""
    return {
        name: [
            len(network.states(name)) if cell is None else network.states(name).index(cell)
            for cell in column
        ]
        for name, column in cells.items()
    }


def arrow(cells: Cells) -> pa.Table:
    return pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()})


def dictionary(cells: Cells) -> pa.Table:
    table = arrow(cells)
    return pa.table({name: table[name].dictionary_encode() for name in cells})


def pandas_as(kind: Any) -> Callable[[Cells, Path], object]:
    def made(cells: Cells, _: Path) -> object:
        return pd.DataFrame({name: pd.Series(column, dtype=kind) for name, column in cells.items()})

    return made


def polars_as(kind: Any) -> Callable[[Cells, Path], object]:
    return lambda cells, _: pl.DataFrame(cells, schema=dict.fromkeys(cells, kind))


def polars_enum(cells: Cells, _: Path) -> object:
    series = [
        pl.Series(name, column, pl.Enum(sorted({*filter(None, column)})))
        for name, column in cells.items()
    ]
    return pl.DataFrame(series)


def text_file(
    suffix: str, separator: str = ",", end: str = "\n", mark: bytes = b""
) -> Callable[[Cells, Path], object]:
    def written(cells: Cells, folder: Path) -> object:
        path = folder / f"rows{suffix}"
        opened = gzip.open if suffix.endswith(".gz") else open
        with opened(path, "wb") as raw:
            raw.write(mark)
        with opened(path, "at", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator=end)
            writer.writerow(cells)
            writer.writerows(zip(*cells.values(), strict=True))
        return path

    return written


def parquet(cells: Cells, folder: Path) -> object:
    pa.parquet.write_table(arrow(cells), folder / "rows.parquet", row_group_size=3)
    return str(folder / "rows.parquet")


def feather(cells: Cells, folder: Path) -> object:
    pa.feather.write_feather(dictionary(cells), folder / "rows.feather", chunksize=3)
    return folder / "rows.feather"


def stream(cells: Cells, folder: Path) -> object:
    with pa.ipc.new_stream(folder / "rows.arrow", arrow(cells).schema) as file:
        file.write_table(arrow(cells), max_chunksize=2)
    return folder / "rows.arrow"


class Streamed:
    """What knows how to give an Arrow stream, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return self.table.__arrow_c_stream__(schema)


def relation(cells: Cells, _: Path) -> object:
    return duckdb.from_arrow(arrow(cells))


def sqlite_file(cells: Cells, folder: Path) -> object:
    (folder / "rows.db").unlink(missing_ok=True)
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in cells)
    with closing(sqlite3.connect(folder / "rows.db")) as connection:
        connection.execute("pragma synchronous = off")
        connection.execute(f"create table rows ({columns})")
        places = ", ".join("?" * len(cells))
        connection.executemany(
            f"insert into rows values ({places})", list(zip(*cells.values(), strict=True))
        )
        connection.commit()
    return Data(
        query="select * from rows -- in the order written\n;",
        database=f"sqlite:{folder / 'rows.db'}",
    )


CONTAINERS: dict[str, Callable[[Cells, Path], object]] = {
    "a dict": lambda cells, _: cells,
    "CSV": text_file(".csv"),
    "CSV with a mark and CRLF": text_file(".csv", end="\r\n", mark=b"\xef\xbb\xbf"),
    "CSV, gzipped": text_file(".csv.gz"),
    "TSV": text_file(".tsv", "\t"),
    "TSV, gzipped": text_file(".tsv.gz", "\t"),
    "Parquet": parquet,
    "Feather": feather,
    "an Arrow stream file": stream,
    "pandas objects": pandas_as(object),
    "pandas strings": pandas_as("string"),
    "pandas str": pandas_as("str"),
    "pandas categories": pandas_as("category"),
    "pandas Arrow strings": pandas_as(pd.ArrowDtype(pa.string())),
    "Polars": polars_as(pl.String),
    "Polars categories": polars_as(pl.Categorical),
    "Polars enums": polars_enum,
    "a Polars lazy frame": lambda cells, _: pl.LazyFrame(
        cells, schema=dict.fromkeys(cells, pl.String)
    ),
    "Arrow": lambda cells, _: arrow(cells),
    "Arrow in chunks": lambda cells, _: pa.concat_tables([arrow(cells)[:2], arrow(cells)[2:]]),
    "Arrow dictionaries": lambda cells, _: dictionary(cells),
    "a slice of Arrow dictionaries": lambda cells, _: dictionary(
        {name: [None, "not a state", *column] for name, column in cells.items()}
    ).slice(2),
    "Arrow string views": lambda cells, _: arrow(cells).cast(
        pa.schema([(name, pa.string_view()) for name in cells])
    ),
    "a record batch": lambda cells, _: arrow(cells).combine_chunks().to_batches()[0],
    "a reader of record batches": lambda cells, _: arrow(cells).to_reader(max_chunksize=2),
    "an Arrow dataset": lambda cells, _: pa.dataset.dataset(arrow(cells)),
    "a DuckDB relation": relation,
    "an SQLite file": sqlite_file,
    "anything with an Arrow stream": lambda cells, _: Streamed(arrow(cells)),
}


@pytest.mark.parametrize("container", CONTAINERS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(table=tables(st.sampled_from(HOSTILE)) | tables(st.text(LETTERS, min_size=1, max_size=3)))
def test_texts_get_the_same_codes_in_every_container(
    container: str, table: tuple[Network, Cells], tmp_path: Path
) -> None:
    network, cells = table
    read = read_table(CONTAINERS[container](cells, tmp_path), network)
    found = {name: column.tolist() for name, column in read.columns.items()}
    assert found == codes_of(network, cells)
    assert read.notes == ()


def floats(column: list[str | None]) -> list[float]:
    return [np.nan if cell is None else float(cell) for cell in column]


def integers(column: list[str | None]) -> list[int | None]:
    return [None if cell is None else int(float(cell)) for cell in column]


NUMBER_CONTAINERS: dict[str, Callable[[Cells], object]] = {
    "pandas floats": lambda cells: pd.DataFrame({n: floats(c) for n, c in cells.items()}),
    "pandas Int64": lambda cells: pd.DataFrame(
        {n: pd.Series(integers(c), dtype="Int64") for n, c in cells.items()}
    ),
    "pandas mixed objects": lambda cells: pd.DataFrame(
        {
            n: pd.Series([1.0 if x == 1 else x for x in integers(c)], dtype=object)
            for n, c in cells.items()
        }
    ),
    "pandas categories of numbers": lambda cells: pd.DataFrame(
        {n: pd.Categorical(floats(c)) for n, c in cells.items()}
    ),
    "Polars integers": lambda cells: pl.DataFrame(
        {n: pl.Series(integers(c), dtype=pl.Int16) for n, c in cells.items()}
    ),
    "Polars floats with NaN": lambda cells: pl.DataFrame({n: floats(c) for n, c in cells.items()}),
    "Arrow narrow floats": lambda cells: pa.table(
        {n: pa.array(floats(c), pa.float32()) for n, c in cells.items()}
    ),
    "Arrow half floats": lambda cells: pa.table(
        {n: pa.array(np.array(floats(c), np.float16)) for n, c in cells.items()}
    ),
    "Arrow decimals": lambda cells: pa.table(
        {n: pa.array(integers(c), pa.decimal128(6, 2)) for n, c in cells.items()}
    ),
    "a dict of NumPy arrays": lambda cells: {n: np.array(floats(c)) for n, c in cells.items()},
    "a dict of integers": lambda cells: {n: integers(c) for n, c in cells.items()},
    "a dict of pandas series": lambda cells: {
        n: pd.Series(floats(c), index=np.arange(len(c))[::-1] * 0.5) for n, c in cells.items()
    },
}


@pytest.mark.parametrize("container", NUMBER_CONTAINERS)
@settings(max_examples=60, deadline=None)
@given(table=tables(st.sampled_from(["0", "1", "2.0", "-3", "40"])))
def test_numbers_get_the_codes_of_their_texts(container: str, table: tuple[Network, Cells]) -> None:
    network, cells = table
    read = read_table(NUMBER_CONTAINERS[container](cells), network)
    assert {n: c.tolist() for n, c in read.columns.items()} == codes_of(network, cells)


def test_truth_values_of_every_library_match_true_and_false() -> None:
    network = Network({"A": ["TRUE", "FALSE"]})
    column = [True, None, False]
    frames = [
        pd.DataFrame({"A": pd.Series(column, dtype="boolean")}),
        pd.DataFrame({"A": pd.Series(column, dtype=object)}),
        pl.DataFrame({"A": column}),
        pa.table({"A": column}),
        {"A": column},
        {"A": ["True", "", "false"]},
        {"A": [np.True_, np.nan, np.False_]},
    ]
    for frame in frames:
        assert read_table(frame, network).columns["A"].tolist() == [0, 2, 1]


def test_a_narrow_float_means_the_number_it_was_written_as() -> None:
    network = Network({"A": ["0.1", "2.7"]})
    for kind in (np.float32, np.float64):
        column = np.array([2.7, 0.1, np.nan], kind)
        assert read_table({"A": column}, network).columns["A"].tolist() == [1, 0, 2]
        assert read_table({"A": [*column, "?"]}, network).columns["A"].tolist() == [1, 0, 2, 2]


def test_names_that_polars_takes_for_patterns_are_names() -> None:
    columns = {"0": ["a", None], "*": ["x", "y"], "^a.*$": ["u", "u"]}
    network = Network({"0": ["a"], "*": ["x", "y"], "^a.*$": ["u"]})
    found = read_table(pl.DataFrame(columns).lazy(), network)
    assert found.columns["*"].tolist() == [0, 1]
    assert found.missing_of == {"0": 1, "*": 0, "^a.*$": 0}
