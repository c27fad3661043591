"""A studio in a folder, served to tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

from lacunet.show.studio.folder import Folder
from lacunet.show.studio.runs import Runs
from lacunet.show.studio.server import SECONDS_OF_SILENCE, Server, Studio


@contextmanager
def served(folder: Path, patience: float = SECONDS_OF_SILENCE) -> Iterator[Server]:
    """A server for the studio of a folder, on a free port."""
    server = Server(Studio(Folder(folder.resolve())), patience=patience)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(
    server: Server,
    path: str,
    body: Any = None,
    *,
    token: str | None = None,
    headers: dict[str, str] | None = None,
    data: bytes | None = None,
) -> tuple[int, Any]:
    """The status and the body of an answer; the token is the right one unless given."""
    port = server.server_address[1]
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    given = {"X-Studio-Token": server.token if token is None else token, **(headers or {})}
    content = data if data is not None else None if body is None else json.dumps(body).encode()
    try:
        connection.request("GET" if content is None else "POST", path, content, given)
        response = connection.getresponse()
        text = response.read()
        is_json = (response.getheader("Content-Type") or "").startswith("application/json")
        return response.status, json.loads(text) if is_json else text.decode()
    finally:
        connection.close()


def wait(runs: Runs, seconds: float) -> None:
    """Wait until a run has ended."""
    assert runs._thread is not None
    runs._thread.join(seconds)


def keep(server: Server, **said: Any) -> None:
    """Change the project as the page does."""
    _, state = answer(server, "/state")
    project = {**state["project"], **said}
    status, found = answer(server, "/project", {"project": project, "version": state["version"]})
    assert status == 200, found


def finish(server: Server, kind: str = "learn", **more: Any) -> dict[str, Any]:
    """Run something, wait for its end, and give what the page is told of it."""
    _, state = answer(server, "/state")
    status, found = answer(server, "/run", {"kind": kind, "version": state["version"], **more})
    assert status == 200, found
    wait(server.studio.runs, 120)
    _, job = answer(server, "/job")
    assert isinstance(job, dict)
    return job


def exported(server: Server) -> list[dict[str, Any]]:
    """The codes that the last step offers: of the run that is shown, then of the settings."""
    status, found = answer(server, "/export")
    assert status == 200, found
    codes = found["codes"]
    assert isinstance(codes, list)
    return codes
