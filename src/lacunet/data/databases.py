"""Databases: the rows of a query, streamed as Arrow record batches and never fetched whole.

DuckDB reads its own files and, without any database, files of data; PostgreSQL and SQLite come
through ADBC drivers, and so does any other database whose open ADBC connection is given. What is
opened here is opened for reading only, or never committed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from lacunet.data.errors import DataError
from lacunet.data.select import check_select, secrets_in, without_secrets
from lacunet.data.source_parts import PIECE_ROWS, Part, Piece, pieces_of
from lacunet.text import first_of

POSTGRESQL = ("postgresql", "postgres")
POSTGRESQL_WORDS = {"host", "hostaddr", "dbname", "user", "password", "passfile", "service"}
_KEYWORD = re.compile(r"""(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|([^\s']*))""")
_NO_TABLE = re.compile(r"""(?:Table with name|no such table:|relation) "?([\w.]+)""")
_NAMES = {  # of the tables, by whether it is SQLite that is asked
    True: "select name from sqlite_master where type in ('table', 'view')",
    False: "select table_name from information_schema.tables "
    "where table_schema not in ('information_schema', 'pg_catalog')",
}
DRIVERS = ("duckdb", "_duckdb", "adbc_driver_manager")  # the packages whose errors are told


def query_part(query: str, database: Any) -> Part:
    """The part of a query; each reading runs it again, on a connection of its own."""
    label = "the query" + (f" on {name}" if (name := database_label(database)) else "")
    query = check_select(query, label)

    def read(wanted: Sequence[str]) -> Iterator[Piece]:
        with _in_words(label, database), _opened(database, label) as connection:
            _, batches = _result(connection, query, label)
            yield from pieces_of(batches(wanted), wanted)

    with _in_words(label, database), _opened(database, label) as connection:
        columns, _ = _result(connection, query, label)
    return Part(label, tuple(columns), read, None)


def relation_part(relation: Any) -> Part:
    """The part of a DuckDB relation."""
    label = "the DuckDB relation"

    def read(wanted: Sequence[str]) -> Iterator[Piece]:
        with _in_words(label, None):
            yield from pieces_of(_relation_batches(relation, wanted), wanted)

    return Part(label, tuple(relation.columns), read, None)


def cursor_reader(cursor: Any) -> Any:
    """The record batches of what an ADBC cursor has executed."""
    with _in_words("the database cursor", None):
        return cursor.fetch_record_batch()


def database_label(database: Any) -> str:
    """A database in words, without user, password or token.

    Examples
    --------
    >>> database_label("postgresql://ann:secret@db.example/clinic?sslmode=require")
    'postgresql://db.example/clinic'
    >>> database_label("host=db.example dbname=clinic user=ann password='a secret'")
    'postgresql://db.example/clinic'
    >>> database_label("md:clinic?motherduck_token=xyzzy")
    'md:clinic'
    """
    if not isinstance(database, str | os.PathLike):
        return "" if database is None else "the open database"
    address = os.fspath(database)
    if os.path.exists(address):
        return address
    if (words := _keywords(address)) is not None:
        return f"postgresql://{words.get('host', '')}/{words.get('dbname', '')}"
    if "://" not in address:
        return without_secrets(address.partition("?")[0] if ":" in address else address)
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _keywords(address: str) -> dict[str, str] | None:
    """The words and values of ``host=db password='a secret'``; None if it is not of this form."""
    matches = _KEYWORD.findall(address)
    words = {name.lower(): quoted or plain for name, quoted, plain in matches}
    is_all = not _KEYWORD.sub("", address).strip()
    return words if is_all and not POSTGRESQL_WORDS.isdisjoint(words) else None


@contextmanager
def _in_words(label: str, database: Any) -> Iterator[None]:
    """What a database complains of, without the statement and without the password."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in DRIVERS:
            raise
        reason = str(error).strip().partition("\n")[0]  # then comes the statement
        for secret in _secrets(database):
            reason = reason.replace(secret, "***")
        reason = without_secrets(reason).rstrip(".!")
        hint = ""
        if match := _NO_TABLE.search(reason):
            hint = _without_table(match[1], database, _NAMES["SQLite" in reason])
        raise DataError.unreadable(label, reason, hint) from None


def _without_table(table: str, database: Any, names: str) -> str:
    """What to write in place of a table that is not there; ``names`` asks for those that are."""
    if database is None:
        return (
            f"to read a file, write from '{table}.csv'; to read a database, give it too: "
            "--database FILE (database= in lacunet.Data)."
        )
    if not isinstance(database, str | os.PathLike):
        return ""
    with _opened(database, "") as connection, connection.cursor() as cursor:
        cursor.execute(names)
        return f"its tables are {first_of([row[0] for row in cursor.fetchall()], 10) or 'none'}."


def _secrets(database: Any) -> list[str]:
    """The passwords and tokens in an address, as written and as meant."""
    address = database if isinstance(database, str) else ""
    parts = urlsplit(address if "://" in address else "")
    written = [parts.password or "", *parse_qs(parts.query).get("password", [])]
    written += [(_keywords(address) or {}).get("password", ""), *secrets_in(address)]
    return [secret for text in written for secret in (text, unquote(text)) if secret]


@contextmanager
def _opened(database: Any, label: str) -> Iterator[Any]:
    """A connection that cannot change the database; one that is given stays open."""
    if database is not None and not isinstance(database, str | os.PathLike):
        yield database
        return
    connection = _connected(os.fspath(database) if database is not None else None, label)
    try:
        yield connection
    finally:
        connection.close()


def _connected(database: str | None, label: str) -> Any:
    # Tables are what the query names, never variables of a program that are called the same.
    config = {"python_enable_replacements": "false"}
    if database is None:
        return _driver("duckdb").connect(config=config)
    scheme, _, rest = database.partition(":")
    is_file = os.path.exists(database)
    if not is_file and (scheme in POSTGRESQL or _keywords(database) is not None):
        if scheme in POSTGRESQL:
            _refuse_unreadable(database)
        connection = _driver("adbc_driver_postgresql").connect(database)
        with connection.cursor() as cursor:
            cursor.execute("set transaction read only")
        return connection
    if "://" in database or (not is_file and scheme == "md"):
        raise DataError(
            f"{label}: addresses that begin with {scheme!r} are not supported.",
            "open an ADBC connection to it, and give lacunet.Data(query=..., database=connection).",
        )
    path = rest if scheme in ("sqlite", "duckdb") else database
    if _is_sqlite(path, label):
        uri = f"file:{quote(str(Path(path).absolute()))}?mode=ro"
        return _driver("adbc_driver_sqlite").connect(uri)
    return _driver("duckdb").connect(path, read_only=True, config=config)


def _refuse_unreadable(address: str) -> None:
    """Refuse an address of which PostgreSQL would take, and print, the password for a host."""
    parts = urlsplit(address)
    if "@" in parts.path + parts.query + parts.fragment or parts.netloc.count("@") > 1:
        raise DataError(
            "the address of the database cannot be read: its user or password holds characters "
            "that separate the parts of an address.",
            "write / ? # @ : % in them as %2F %3F %23 %40 %3A %25.",
        )


def _is_sqlite(path: str, label: str) -> bool:
    """Whether a file is SQLite's, and not DuckDB's, by its first bytes."""
    reason = "it is neither a DuckDB nor an SQLite database"
    try:
        with open(path, "rb") as file:
            start = file.read(16)
        if start == b"SQLite format 3\0" or start[8:12] == b"DUCK":
            return start[8:12] != b"DUCK"
    except OSError as error:
        reason = error.strerror or str(error)
    raise DataError(
        f"{label}: the file cannot be opened: {reason}.",
        "name a DuckDB or SQLite file, or an address: postgresql://user@host/name; or no database, "
        "where the query names files of data.",
    )


def _driver(package: str) -> Any:
    try:
        return import_module(package if package == "duckdb" else f"{package}.dbapi")
    except ImportError:
        raise DataError(
            f"the package {package.replace('_', '-')} is not installed.",
            "pip install 'lacunet[databases]'.",
        ) from None


# Reads some columns of what a query gives, as record batches.
Batches = Callable[[Sequence[str]], Iterator[Any]]


def _result(connection: Any, query: str, label: str) -> tuple[Sequence[str], Batches]:
    """The columns and rows that a query gives on a connection of DuckDB or of an ADBC driver."""
    if type(connection).__name__ == "DuckDBPyConnection":
        kinds = [
            str(statement.type).rpartition(".")[2]
            for statement in connection.extract_statements(query)
        ]
        if kinds != ["SELECT"]:
            raise DataError(f"{label} is not one SELECT statement.", "give one.")
        relation = connection.sql(query)
        return relation.columns, partial(_relation_batches, relation)
    if not hasattr(connection, "adbc_get_info"):
        kind = type(connection)
        raise DataError(
            f"connections of the type {kind.__module__}.{kind.__qualname__} do not give Arrow "
            "record batches.",
            "give the database's file or address, or a connection of DuckDB or of an ADBC driver.",
        )
    vendor = connection.adbc_get_info().get("vendor_name", "")
    # SQLite gives columns of a query within a query other names: "true" becomes "column1".
    asked = query if vendor == "SQLite" else f"select * from (\n{query}\n) as these limit 0"
    with connection.cursor() as cursor:
        cursor.execute(asked)
        schema = cursor.fetch_record_batch().schema
    if vendor == "SQLite":
        return schema.names, partial(_sqlite_batches, connection, query, schema.names)
    # Enumerations, among others, would come as bytes.
    opaque = [field.name for field in schema if vendor == "PostgreSQL" and _is_opaque(field.type)]
    return schema.names, partial(_adbc_batches, connection, query, opaque)


def _relation_batches(relation: Any, wanted: Sequence[str]) -> Iterator[Any]:
    """What a relation of DuckDB gives."""
    chosen = relation.project(", ".join(map(_quoted, wanted)))
    # The second is the older name of the first.
    yield from (getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader)(PIECE_ROWS)


def _adbc_batches(
    connection: Any, query: str, as_texts: Sequence[str], wanted: Sequence[str]
) -> Iterator[Any]:
    """What a query gives through an ADBC connection, some columns ``as_texts``."""
    cells = ", ".join(
        f"cast({_quoted(name)} as text) as {_quoted(name)}" if name in as_texts else _quoted(name)
        for name in wanted
    )
    with connection.cursor() as cursor:
        cursor.execute(f"select {cells} from (\n{query}\n) as these")
        yield from cursor.fetch_record_batch()


def _sqlite_batches(
    connection: Any, query: str, columns: Sequence[str], wanted: Sequence[str]
) -> Iterator[Any]:
    """All cells as texts, since any cell may have any type.

    The driver takes the types from the first rows and fails at a later text, so a row of
    texts is put before them and taken away again.
    """
    every = ", ".join(f"c{index}" for index in range(len(columns)))
    first = ", ".join("''" for _ in wanted)
    cells = ", ".join(f"cast(c{columns.index(name)} as text)" for name in wanted)
    with connection.cursor() as cursor:
        rows = {"adbc.sqlite.query.batch_rows": str(SQLITE_ROWS)}
        cursor.adbc_statement.set_options(**rows)
        cursor.execute(
            f"with these({every}) as (\n{query}\n) "
            f"select {first} union all select {cells} from these"
        )
        skipped = 1
        for batch in cursor.fetch_record_batch():
            yield batch.slice(skipped).rename_columns(list(wanted))
            skipped = 0


SQLITE_ROWS = 2**15  # rows per batch: 1,024 unless told


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_opaque(kind: Any) -> bool:
    import pyarrow as pa

    return isinstance(kind, pa.BaseExtensionType) or bool(pa.types.is_binary(kind))
