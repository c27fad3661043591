"""Rows from databases: streamed, typed as the network needs them, told in words when they fail."""

from __future__ import annotations

import shlex
import sqlite3
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import adbc_driver_sqlite.dbapi
import duckdb
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.databases import database_label
from lacunet.data.errors import DataError
from lacunet.data.read import read_table
from postgresql import PostgreSQL, started

PAIR = lc.Network({"A": ["x", "y"], "B": ["1", "2.5"]}, {"B": ["A"]})
ROWS: list[tuple[str | None, float | None, float]] = [
    *[(None, None, 1.0)] * 3000,  # more than the rows from which types are guessed
    *[("x", 1, 2.0)] * 5,
    *[("y", 2.5, 0.5)] * 4,
    *[("y", None, 0.0)] * 2,
]
MISSING = {"A": 3000, "B": 3000}
TABLE = "create table visits (A text, B real, weight real)"


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(TABLE)
        connection.executemany("insert into visits values (?, ?, ?)", ROWS)
        connection.commit()
    return path


@pytest.mark.parametrize(
    ("source", "way"),
    [
        ("clinic.db", "Data(query='select ...', database='clinic.db')"),
        ("sqlite:///clinic.db", "Data(query='select ...', database='clinic.db')"),
        ("postgresql://ann:secret@db/clinic", "database='postgresql://***@db/clinic')"),
        ("select * from visits", "Data(query='select * from visits', database=...)"),
    ],
)
def test_a_database_in_place_of_a_file_is_answered_with_the_call_that_reads_it(
    source: str, way: str, sqlite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sqlite.parent)
    with pytest.raises(DataError) as refused:
        lc.learn(PAIR, source)
    assert way in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_database_without_a_query_is_refused() -> None:
    with pytest.raises(DataError, match=r"Data\(query='select ...', database="):
        lc.Data("rows.csv", database="clinic.db")
    with pytest.raises(DataError, match="database="):
        lc.learn(PAIR, "rows.csv", database="clinic.db")  # type: ignore[call-arg]


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(TABLE)
        connection.executemany("insert into visits values (?, ?, ?)", ROWS[-20:])
        connection.execute("insert into visits select null, null, 1 from range(2991)")
    return path


def test_the_types_of_sqlite_do_not_depend_on_the_first_rows(sqlite: Path) -> None:
    data = lc.Data(query="select * from visits", database=sqlite, counts="weight")
    table = read_table(data, PAIR)
    assert table.missing_of == MISSING
    assert table.total == 3000 + 10 + 2
    assert table.notes[-1].startswith("left out 2 of 3,011 rows")


def test_columns_keep_names_that_sqlite_takes_for_values(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "odd.db")) as connection:
        connection.execute('create table rows ("TRUE", "select")')
        connection.executemany("insert into rows values (?, ?)", [("b", "a"), ("a", None)])
        connection.commit()
    odd = lc.Network({"TRUE": ["a", "b"], "select": ["a"]})
    table = read_table(lc.Data(query="select * from rows;", database=tmp_path / "odd.db"), odd)
    assert {name: codes.tolist() for name, codes in table.columns.items()} == {
        "TRUE": [1, 0],
        "select": [0, 1],
    }


def test_duckdb_and_sqlite_files_are_told_apart_by_their_bytes(sqlite: Path, duck: Path) -> None:
    for path, name in ((sqlite, "a"), (duck, "b.db")):
        renamed = path.rename(path.with_name(name))
        table = read_table(
            lc.Data(query="select A, B from visits where weight > 0", database=renamed), PAIR
        )
        assert table.missing_of == MISSING


def test_without_a_database_the_query_names_files(duck: Path, tmp_path: Path) -> None:
    duckdb.connect(duck).execute(f"copy visits to '{tmp_path}/visits.parquet'").close()
    query = f"select A, B from '{tmp_path}/visits.parquet' where weight > 0"
    assert read_table(lc.Data(query=query), PAIR).missing_of == MISSING
    ended_by_a_name = f"select A, B from '{tmp_path}/visits.parquet'"
    assert read_table(lc.Data(query=ended_by_a_name), PAIR).rows > 3000


def test_open_connections_and_cursors_are_read_and_stay_open(sqlite: Path, duck: Path) -> None:
    query = "select A, B from visits where weight > 0"
    with duckdb.connect(duck) as connection:
        for data in (lc.Data(query=query, database=connection), connection.sql(query)):
            assert read_table(data, PAIR).missing_of == MISSING
        assert connection.sql("select 1").fetchall() == [(1,)]
    with adbc_driver_sqlite.dbapi.connect(str(sqlite)) as connection:
        assert read_table(lc.Data(query=query, database=connection), PAIR).missing_of == MISSING
        with connection.cursor() as cursor:
            cursor.execute("select A, B from visits where A is not null and weight > 0")
            assert read_table(cursor, PAIR).rows == 9


def test_a_query_can_be_read_twice_and_changes_nothing(sqlite: Path, duck: Path) -> None:
    for path in (sqlite, duck):
        before = path.read_bytes()
        data = lc.Data(query="select * from visits", database=path)
        one, two = lc.learn(PAIR, data), lc.learn(PAIR, data)
        assert (one.network.cpt("B").table == two.network.cpt("B").table).all()
        with pytest.raises(DataError, match="DROP"):
            read_table(lc.Data(query="drop table visits", database=path), PAIR)
        assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["sqlite", "duck"])
@pytest.mark.parametrize("query", ["select * from nowhere", "select *, from 1 1"])
def test_a_wrong_query_is_told_in_one_line(
    kind: str, query: str, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(kind)
    with pytest.raises(DataError, match=r"cannot be read: .*(nowhere|syntax error)") as told:
        read_table(lc.Data(query=query, database=path), PAIR)
    assert "\n" not in told.value.message


def test_a_table_that_is_not_there_is_answered_with_where_rows_may_be(
    sqlite: Path, tmp_path: Path
) -> None:
    with closing(duckdb.connect(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(TABLE)
    hint_on = {
        None: "from 'visit.csv'; to read a database, give it too: --database FILE",
        str(sqlite): "its tables are visits.",
        str(tmp_path / "clinic.duckdb"): "its tables are visits.",
    }
    for database, hint in hint_on.items():
        with pytest.raises(DataError) as refused:
            read_table(lc.Data(query="select * from visit", database=database), PAIR)
        assert hint in refused.value.hint


def test_an_error_in_the_middle_of_the_rows_is_told_too() -> None:
    query = "select case when i < 500000 then 'x' else error('no more') end as A, '1' as B "
    with pytest.raises(DataError, match="query"):
        read_table(lc.Data(query=f"{query} from range(1000000) as these (i)"), PAIR)


def test_a_program_has_no_tables_that_the_query_does_not_name() -> None:
    with pytest.raises(DataError, match="asked"):
        read_table(lc.Data(query="select * from asked"), PAIR)  # a variable of the code that reads


@pytest.mark.parametrize(
    ("database", "message"),
    [
        ("nowhere.duckdb", "nowhere.duckdb"),
        (__file__, "DuckDB.*SQLite"),
        ("mysql://ann:secret@host/clinic", "mysql://host/clinic: .*'mysql'"),
        ("postgresql://ann:secret@127.0.0.1:1/clinic", "127.0.0.1:1/clinic"),
        ("postgresql://ann:se/secret@host/clinic", "database"),
        ("postgresql://ann@127.0.0.1:1/clinic?password=secret", "read"),
        ("postgresql://ann@127.0.0.1:1/clinic?password=hidden,secret;too", "read"),
        ("host=127.0.0.1 port=1 dbname=clinic password=hidden)secret", "read"),
        ("host=127.0.0.1 port=1 dbname=clinic password=secret", "127.0.0.1/clinic"),
        ("host='127.0.0.1' port=1 user=ann password='my secret'", "read"),
        ("md:clinic?motherduck_token=secret", "md:clinic.*'md'"),
        ("md:?token=secret", "'md'"),
        ("clinic.duckdb?password=secret", "opened"),
        (sqlite3.connect, "Arrow"),
    ],
)
def test_a_database_that_cannot_be_opened_is_told_without_its_password(
    database: object, message: str
) -> None:
    with pytest.raises(DataError, match=message) as told:
        read_table(lc.Data(query="select 1 as A", database=database), PAIR)
    assert "secret" not in str(told.value)
    assert "secret" not in repr(lc.Data(query="select 1", database=database))


WRITING = [
    "copy visits to 'leak.csv'",
    "copy (select 1) to 'leak.csv'",
    "select 1; copy visits to 'leak.csv'",
    "select 1 /* ; */; drop table visits",
    "create table leak as select 1",
    "with these as (select 1) insert into visits select 'x', 1, 1",
    "with these as (select 1) delete from visits",
    "attach 'leak.db' as leak",
    "export database 'leak'",
    "pragma user_version = 7",
    "delete from visits",
    "call checkpoint()",
    "install httpfs",
    "-- nothing",
    "",
]


@pytest.mark.parametrize("query", WRITING)
def test_only_a_select_is_run(
    query: str,
    sqlite: Path,
    duck: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    opened: list[Any] = [duckdb.connect(), adbc_driver_sqlite.dbapi.connect()]
    try:
        for own in opened:
            with own.cursor() as cursor:
                cursor.execute("create table visits (A text, B real, weight real)")
        for database in (sqlite, duck, None, *opened):
            with pytest.raises(DataError, match="SELECT"):
                read_table(lc.Data(query=query, database=database), PAIR)
    finally:
        for own in opened:
            own.close()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


READING = [
    "select * from visits;",
    "  -- of all years\nselect A, B, weight from visits ; -- semicolons; in comments",
    "with these as (select * from visits) select * from these",
    "select A, 'a;b' as \"c;d\", B from visits /* ; drop table visits */",
    "select A, replace(cast(B as text), 'delete', 'insert') as B from visits",
    "(select A, B from visits) union all (select A, B from visits)",
    'select * from "visits"',
    "select A, B from visits where 'x' = 'x' -- the end",
]


@pytest.mark.parametrize("query", READING)
@pytest.mark.parametrize("kind", ["sqlite", "duck"])
def test_what_only_reads_is_run(kind: str, query: str, request: pytest.FixtureRequest) -> None:
    if kind == "sqlite" and query.startswith("("):
        pytest.skip("not in its language")
    assert (
        read_table(lc.Data(query=query, database=request.getfixturevalue(kind)), PAIR).rows > 3000
    )


def test_secrets_in_a_query_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from lacunet.cli.output import page_source

    query = "select * from postgres_scan('host=db password=xyzzy', 'public', 'visits')"
    assert "xyzzy" not in repr(lc.Data(query=query))
    monkeypatch.setattr(sys, "argv", ["lacunet", "learn", "net.bif", "--sql", query])
    assert "xyzzy" not in page_source(Namespace(sql=query)).command


def test_a_driver_that_is_not_installed_is_named(
    sqlite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite.dbapi", None)
    with pytest.raises(DataError, match=r"adbc-driver-sqlite is not .*\n.*lacunet\[databases\]"):
        read_table(lc.Data(query="select * from visits", database=sqlite), PAIR)


@pytest.fixture
def pair_file(tmp_path: Path) -> str:
    PAIR.write(tmp_path / "pair.json")
    return str(tmp_path / "pair.json")


def test_the_command_line_learns_from_a_query(
    sqlite: Path, pair_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--sql", "select * from visits", "--database", str(sqlite)]
    assert main(["learn", pair_file, *asked, "--weight", "weight", "--json"]) == 0
    assert '"rows": 3009' in capsys.readouterr().out
    assert main(["diagnose", pair_file, *asked]) == 0
    assert main(["explain", pair_file, *asked]) == 0
    assert main(["evaluate", pair_file, pair_file, *asked]) == 1  # it has no CPTs
    assert main(["learn", "A -> B", *asked, "--states", "B=1,2.5"]) == 0
    assert main(["structure", *asked[:1], "select A, B from visits", *asked[2:]]) == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["rows.csv", "--sql", "select 1"], "--sql"),
        (["rows.csv", "--database", "clinic.db"], "--database needs"),
        ([], "network"),
    ],
)
def test_data_are_given_once(
    given: list[str], message: str, pair_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["learn", pair_file, *given])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_the_page_shows_the_command_without_the_password(
    duck: Path, pair_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lacunet.cli.output import page_source

    address = "postgresql://ann:secret@host/clinic"
    typed = ["learn", "pair.json", "--sql", "select 1", f"--database={address}"]
    monkeypatch.setattr(sys, "argv", ["lacunet", *typed])
    words = ["lacunet", *typed[:-1], f"--database={database_label(address)}"]
    assert page_source(Namespace(database=address)).command == shlex.join(words)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    with started() as running:
        yield running


@pytest.mark.slow
def test_postgresql_gives_the_rows_with_its_own_types(server: PostgreSQL) -> None:
    server.run("create type level as enum ('x', 'y')")
    server.run("create table visits (A level, B numeric(3, 1), weight real, seen bool, note date)")
    server.run(
        "insert into visits "
        "select null::level, null::numeric, 1, true, null::date from generate_series(1, 300000) "
        "union all "
        "select 'x', 1, 2, true, null from generate_series(1, 5) union all "
        "select 'y', 2.5, 0.5, false, '2024-02-29' from generate_series(1, 4)"
    )
    network = lc.Network(
        {"a": ["x", "y"], "b": ["1", "2.5"], "seen": ["False", "True"], "note": ["2024-02-29"]},
        {"b": ["a"]},
    )
    data = lc.Data(query="select * from visits;", database=server.address, weight="weight")
    table = read_table(data, network)
    assert table.missing_of == {"a": 300000, "b": 300000, "seen": 0, "note": 300005}
    assert table.total == 300000 + 10 + 2
    with pytest.raises(DataError, match='"nowhere"'):
        read_table(lc.Data(query="select * from nowhere", database=server.address), network)
    with pytest.raises(DataError, match="DELETE"):
        read_table(
            lc.Data(query="delete from visits returning *", database=server.address), network
        )
    server.run(
        "create function emptied() returns bigint language sql as "
        "'with gone as (delete from visits returning 1) select count(*) from gone'"
    )
    with pytest.raises(DataError, match="read-only transaction"):
        read_table(
            lc.Data(query="select *, emptied() from visits", database=server.address), network
        )
    words = server.address.replace("postgresql://", "host=").replace("postgres@", "")
    host, _, port = words.removesuffix("/postgres").partition(":")
    spelled = f"{host} port={port} user=postgres dbname=postgres"
    assert (
        read_table(lc.Data(query="select * from visits", database=spelled), network).rows == 300009
    )
    assert read_table(data, network).rows == 300009


@pytest.mark.slow
def test_postgresql_refuses_a_password_without_printing_it(server: PostgreSQL) -> None:
    address = server.address.replace("postgres@", "nobody:secret@")
    with pytest.raises(DataError, match=r'role "nobody" does not exist|failed for user') as told:
        read_table(lc.Data(query="select 1", database=address), PAIR)
    assert "secret" not in str(told.value)
