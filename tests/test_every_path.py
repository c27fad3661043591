"""Every way to the data gives the result of rows held in memory: CPTs to 1e-12, intervals 1e-9.

A path is a function from a `Case` to a result; a new one joins by being added to `PATHS`.
"""

from __future__ import annotations

import atexit
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lacunet.counts import count as counts_by_families
from lacunet.counts import gather, observations, spark, streaming
from lacunet.counts.em_problems import compile as compile_problems
from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.data.write import to_arrow, write_arrow
from lacunet.inference import loopy
from lacunet.inference.expectation import expectation_plan, fused
from lacunet.learning.count_rows import count, count_into
from lacunet.learning.learn import learn
from lacunet.learning.methods import METHODS
from lacunet.learning.pseudo_counts import PseudoCounts
from lacunet.learning.result import Result
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network
from postgresql import PostgreSQL, started
from sparked import frame_of

WEIGHT = "the weight"
MEMORY = 2**20
SEEDS = 1


@dataclass(frozen=True)
class Case:
    """What is to be learned; ``rng`` draws batch sizes and splits."""

    network: Network
    table: EncodedTable
    method: str
    folder: Path
    rng: np.random.Generator = field(repr=False)
    pseudo_counts: Any = 1.0

    @property
    def rows(self) -> pa.Table:
        """The rows as an Arrow table, weights in a column of their own."""
        rows = to_arrow(replace(self.table, weights=None), self.network)
        if self.table.weights is None:
            return rows
        return rows.append_column(WEIGHT, pa.array(self.table.weights))

    @property
    def options(self) -> dict[str, Any]:
        """What the method is told."""
        options: dict[str, Any] = {"rng": 3}
        if self.method.startswith("informed"):
            options["groups"] = list(self.table.fully_observed[:1])
        if self.method == "mgraph":
            partially = self.table.partially_observed
            options["missingness"] = MissingnessGraph(self.network, dict.fromkeys(partially, ()))
            options["otherwise"] = "auto"
        return options

    def learned(self, data: Any, *, is_counted: bool = False, threads: int | None = None) -> Result:
        """The result from data in whatever form, with intervals; counted rows name weights."""
        weight = None if self.table.weights is None or is_counted else WEIGHT
        how: Any = {"memory": MEMORY, "intervals": True, "pseudo_counts": self.pseudo_counts}
        how["threads"] = threads
        data = Data(data, weight=weight)
        return learn(self.network, data, self.method, **self.options, **how)

    def parts(self, number: int) -> list[pa.Table]:
        """The rows, cut at random places."""
        cuts = np.sort(self.rng.integers(0, self.table.rows + 1, number - 1))
        edges = [0, *cuts.tolist(), self.table.rows]
        rows = self.rows
        return [rows.slice(a, b - a) for a, b in pairwise(edges)]

    def files(self, suffix: str, number: int) -> list[Path]:
        """The rows in several files."""
        paths = [self.folder / f"{self.rng.integers(2**62)}{suffix}" for _ in range(number)]
        for path, part in zip(paths, self.parts(number), strict=True):
            write_arrow(part, path)
        return paths


@contextmanager
def small_memory(rng: np.random.Generator) -> Iterator[None]:
    """Nothing is held; tables, parts and groups are of random small sizes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observations, "HELD_SHARE", np.inf)
        patch.setattr(streaming, "LEAST_ROWS", int(rng.integers(1, 12)))
        patch.setattr(streaming, "TABLE_SHARE", 2**30)
        patch.setattr(streaming, "PART_SHARE", rng.choice([2**14, 2**30]))
        patch.setattr(streaming, "GROUPS_SHARE", rng.choice([1, 2**30]))
        yield


def streamed_parquet(case: Case) -> Result:
    with small_memory(case.rng):
        return case.learned(case.files(".parquet", 3))


def streamed_text(case: Case) -> Result:
    with small_memory(case.rng):
        return case.learned(case.files(".csv", 2))


def read_once(case: Case) -> Result:
    batches = [batch for part in case.parts(4) for batch in part.to_batches()]
    with small_memory(case.rng):
        return case.learned(pa.RecordBatchReader.from_batches(case.rows.schema, batches))


def arrow_table(case: Case) -> Result:
    with small_memory(case.rng):
        return case.learned(case.rows)


def counted_tables(case: Case) -> Result:
    weight = None if case.table.weights is None else WEIGHT
    parts = [part for part in case.parts(4) if part.num_rows]
    counted = [count(case.network, Data(part, weight=weight)) for part in parts]
    mixed = [counted[at] for at in case.rng.permutation(len(counted))]
    data = mixed if case.rng.random() < 0.5 else pa.concat_tables(mixed)
    return case.learned(data, is_counted=True)


def counted_files(case: Case) -> Result:
    weight = None if case.table.weights is None else WEIGHT
    suffix = case.rng.choice([".parquet", ".csv", ".arrow"])
    paths = [case.folder / f"{case.rng.integers(2**62)}{suffix}" for _ in range(3)]
    for path, part in zip(paths, case.files(".parquet", 3), strict=True):
        if pq.read_metadata(part).num_rows:
            with small_memory(case.rng):
                count_into(path, case.network, Data(part, weight=weight), memory=MEMORY)
    data = Data([path for path in paths if path.exists()])
    if suffix == ".csv":
        data = replace(data, counts="copies", weight=weight)
    with small_memory(case.rng) if case.rng.random() < 0.5 else nullcontext():
        return case.learned(data, is_counted=True)


def duckdb_query(case: Case) -> Result:
    connection = duckdb_connection()
    connection.register("rows", case.rows)
    with small_memory(case.rng):
        return case.learned(Data(query="select * from rows", database=connection))


@cache
def duckdb_connection() -> Any:
    return pytest.importorskip("duckdb").connect()


def sqlite_query(case: Case) -> Result:
    pytest.importorskip("adbc_driver_sqlite")
    path = case.folder / f"{case.rng.integers(2**62)}.db"
    rows = case.rows
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma synchronous = off")
        names = ", ".join(f'"{name}"' for name in rows.column_names)
        connection.execute(f"create table rows ({names})")
        places = ", ".join("?" * rows.num_columns)
        cells = [tuple(row.values()) for row in rows.to_pylist()]
        connection.executemany(f"insert into rows values ({places})", cells)
        connection.commit()
    with small_memory(case.rng):
        return case.learned(Data(query="select * from rows", database=path))


def postgresql_query(case: Case) -> Result:
    server = postgresql()
    table = f"rows{case.rng.integers(2**62)}"
    server.ingest(table, case.rows)
    with small_memory(case.rng):
        return case.learned(Data(query=f"select * from {table}", database=server.address))


@cache
def postgresql() -> PostgreSQL:
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(started())


def on_spark(case: Case) -> Result:
    frame = frame_of(case.rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "LEAST_ROWS", int(case.rng.integers(1, 60)))
        patch.setattr(streaming, "PART_SHARE", case.rng.choice([8, 2**60]))
        patch.setattr(spark, "GROUPS_SHARE", case.rng.choice([1, 2**60]))
        return case.learned(frame)


PATHS: dict[str, Callable[[Case], Result]] = {
    "streamed Parquet": streamed_parquet,
    "streamed text": streamed_text,
    "a reader": read_once,
    "an Arrow table": arrow_table,
    "tables of counted rows": counted_tables,
    "files of counted rows": counted_files,
}
DATABASES: dict[str, Callable[[Case], Result]] = {"DuckDB": duckdb_query, "SQLite": sqlite_query}
SERVERS: dict[str, Callable[[Case], Result]] = {"PostgreSQL": postgresql_query, "Spark": on_spark}


QUICK_PATHS = {**PATHS, **DATABASES}
SLOW_PATHS = {**QUICK_PATHS, **SERVERS}


def assert_same(found: Result, expected: Result) -> None:
    assert (found.rows, found.missing) == (expected.rows, expected.missing)
    assert found.total == pytest.approx(expected.total, rel=1e-12)
    assert found.why == expected.why
    if isinstance(expected.pseudo_counts, PseudoCounts):
        assert isinstance(found.pseudo_counts, PseudoCounts)
        for name, pseudo in expected.pseudo_counts.items():
            np.testing.assert_allclose(found.pseudo_counts[name], pseudo, rtol=1e-9)
    # EM moves freely where no row shows a variable: there rounding grows, and rows in memory in
    # another order give CPTs that differ by some 1e-12 too.
    hides_any = any(missing == expected.rows for missing in expected.missing.values())
    atol = 1e-10 if hides_any and expected.ended else 1e-12
    for name, report in expected.families.items():
        own = found.families[name]
        assert own.estimand == report.estimand
        assert (own.rows_shown, own.rows_used) == (report.rows_shown, report.rows_used)
        np.testing.assert_allclose(own.support, report.support, rtol=1e-12)
        assert (own.counts.keys == report.counts.keys).all()
        np.testing.assert_allclose(own.counts.tally.rows, report.counts.tally.rows, rtol=1e-12)
        np.testing.assert_allclose(own.fallback_mass, report.fallback_mass, 1e-12, 1e-12)
        cpt = expected.network.cpt(name).table
        np.testing.assert_allclose(found.network.cpt(name).table, cpt, rtol=0, atol=atol)
        low, high = np.moveaxis(found.interval(name), -1, 0)
        own_cpt = found.network.cpt(name).table
        assert ((low <= own_cpt) & (own_cpt <= high)).all()
        if not hides_any:  # its states may change places from one replicate to the next
            np.testing.assert_allclose(found.interval(name), expected.interval(name), atol=1e-9)
    assert found.uncertainty.recipe == expected.uncertainty.recipe


def random_case(path: str, method: str, seed: int, folder: Path) -> Case:
    """A network, incomplete rows of it, many of them alike, weights in half of all cases."""
    rng = np.random.default_rng([seed, *path.encode(), *method.encode()])
    names = [f"V{at}" for at in range(rng.integers(2, 6))]
    states = {name: [f"s{state}" for state in range(rng.integers(1, 4))] for name in names}
    parents = {
        name: rng.permutation(names[:at])[: rng.integers(0, 3)].tolist()
        for at, name in enumerate(names)
    }
    number = int(rng.integers(1, 160))
    columns = {}
    for name in names:
        size = len(states[name])
        codes = rng.integers(0, size, number)
        if rng.random() < 0.6:
            codes[rng.random(number) < rng.choice([0.1, 0.5, 1.0], p=[0.5, 0.4, 0.1])] = size
        columns[name] = codes.astype(np.uint8)
    weights = rng.uniform(0.1, 3.0, number) if rng.random() < 0.5 else None
    sizes = {name: len(own) for name, own in states.items()}
    table = EncodedTable(sizes, columns, weights)
    return Case(Network(states, parents), table, method, folder, rng)


@pytest.mark.parametrize("seed", [743, 782, 882, 1321])
def test_another_order_of_rows_chooses_nothing(seed: int, tmp_path: Path) -> None:
    case = random_case("shuffled", "auto", seed, tmp_path)
    mixed = case.table.take(case.rng.permutation(case.table.rows))
    one, two = (
        learn(case.network, rows, "auto", pseudo_counts=1.0) for rows in (case.table, mixed)
    )
    steps = [None if own.ended is None else own.ended.iterations for own in (one, two)]
    assert steps[0] == steps[1]
    for name in case.network.variables:
        np.testing.assert_allclose(
            one.network.cpt(name).table, two.network.cpt(name).table, rtol=0, atol=1e-12
        )


# All rows of one row of a CPT agree, but for rounding, which once moved the end of its interval.
def test_rounding_does_not_say_whether_all_rows_agree(tmp_path: Path) -> None:
    case = replace(random_case("SQLite", "em-bp", 7, tmp_path), pseudo_counts="learn")
    assert_same(SLOW_PATHS["SQLite"](case), case.learned(case.rows))


@pytest.mark.parametrize("path", QUICK_PATHS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pseudo_counts", [1.0, "learn"])
def test_every_path_gives_what_rows_in_memory_give(
    path: str, method: str, pseudo_counts: Any, tmp_path: Path
) -> None:
    for seed in range(SEEDS):
        case = replace(random_case(path, method, seed, tmp_path), pseudo_counts=pseudo_counts)
        assert_same(QUICK_PATHS[path](case), case.learned(case.rows))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pays", [0, np.inf], ids=["compiled", "NumPy"])
def test_any_number_of_threads_gives_the_same_bits(
    method: str, pays: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (counts_by_families, gather, compile_problems):  # few rows are not worth a thread
        monkeypatch.setattr(module, "WORTH_A_THREAD", 0)
    monkeypatch.setattr(expectation_plan, "CELLS_OF_A_SHARD", 16)
    monkeypatch.setattr(expectation_plan, "CELLS_OF_A_COMPILED_SHARD", 16)
    monkeypatch.setattr(expectation_plan, "STEPS_OF_A_RUN", 16)
    monkeypatch.setattr(loopy, "VARIABLES_AT_A_TIME", 8)
    monkeypatch.setattr(fused, "PAYS_FROM", pays)
    for seed in range(2):
        case = random_case("threads", method, seed, tmp_path)
        alone, *others = (case.learned(case.rows, threads=threads) for threads in (1, 2, 8))
        for other in others:
            assert other.why == alone.why
            for name in case.network.variables:
                np.testing.assert_array_equal(
                    other.network.cpt(name).table, alone.network.cpt(name).table
                )
                np.testing.assert_array_equal(other.interval(name), alone.interval(name))


@pytest.mark.slow
@pytest.mark.parametrize("path", SLOW_PATHS)
@pytest.mark.parametrize("method", METHODS)
def test_every_path_gives_what_rows_in_memory_give_in_many_cases(
    path: str, method: str, tmp_path: Path
) -> None:
    for seed in range(SEEDS, 12) if path in QUICK_PATHS else range(2):
        pseudo_counts = (2.0, "learn")[seed % 2]
        case = replace(random_case(path, method, seed, tmp_path), pseudo_counts=pseudo_counts)
        assert_same(SLOW_PATHS[path](case), case.learned(case.rows))
