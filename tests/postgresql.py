"""A PostgreSQL server of its own, in a temporary folder, for as long as a test needs it."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest


@dataclass(frozen=True)
class PostgreSQL:
    """A running server."""

    address: str

    def run(self, statement: str) -> None:
        """Carry out a statement."""
        import adbc_driver_postgresql.dbapi

        with adbc_driver_postgresql.dbapi.connect(self.address) as connection:
            with connection.cursor() as cursor:
                cursor.execute(statement)
            connection.commit()

    def ingest(self, name: str, rows: pa.Table) -> None:
        """Make a table of rows."""
        import adbc_driver_postgresql.dbapi

        texts = [
            f.with_type(pa.string()) if pa.types.is_dictionary(f.type) else f for f in rows.schema
        ]
        with adbc_driver_postgresql.dbapi.connect(self.address) as connection:
            with connection.cursor() as cursor:
                cursor.adbc_ingest(name, rows.cast(pa.schema(texts)))
            connection.commit()


@contextmanager
def started() -> Iterator[PostgreSQL]:
    """A server that is stopped and deleted afterwards; skips the test where there is none."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb") or (str(programs[-1] / "initdb") if programs else "")
    if not found or not Path(found).exists():
        pytest.skip("no PostgreSQL: install the package postgresql")
    initdb, control = Path(found), str(Path(found).with_name("pg_ctl"))
    user = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="lacunet-postgresql-"))
    if user:
        os.chown(folder, user.pw_uid, user.pw_gid)

    def run(*command: object) -> None:
        as_user = {"user": user.pw_uid, "group": user.pw_gid} if user else {}
        quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "timeout": 120}
        subprocess.run(command, check=True, **quiet, **as_user)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = str(folder / "data")
    try:
        run(initdb, "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -F"
        run(control, "-D", data, "-w", "-l", str(folder / "log"), "-o", settings, "start")
        try:
            yield PostgreSQL(f"postgresql://postgres@127.0.0.1:{port}/postgres")
        finally:
            run(control, "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom to run the server as: it refuses to run as root."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.skip("no user but root, as whom PostgreSQL does not run")
