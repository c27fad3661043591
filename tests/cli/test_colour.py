"""Colour on a terminal, plain text in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from lacunet.cli.terminal import paint

COMMAND = [sys.executable, "-m", "lacunet", "recover", "asia", "graph.txt", "--progress=none"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "graph.txt").write_text("smoke -> R[lung]; dysp -> R[dysp]\n")
    return tmp_path


def on_a_terminal(folder: Path, **environment: str) -> bytes:
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        COMMAND, cwd=folder, stdout=theirs, stderr=theirs, env={**os.environ, **environment}
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        seen += part
        if not part:
            break
    assert run.wait() == 0
    os.close(ours)
    return seen


def test_verdicts_are_coloured_on_a_terminal_and_nowhere_else(folder: Path) -> None:
    seen = on_a_terminal(folder, TERM="xterm", NO_COLOR="")
    assert b": \x1b[32mRECOVERABLE\x1b[0m" in seen
    assert (
        seen.count(b": \x1b[33mNOT RECOVERABLE IN GENERAL, BUT IDENTIFIED") == 2
    )  # a CPT, the full law
    piped = subprocess.run(COMMAND, cwd=folder, capture_output=True, check=True)
    assert b"\x1b" not in piped.stdout + piped.stderr
    plain = on_a_terminal(folder, TERM="xterm", NO_COLOR="1")
    assert b"\x1b" not in plain
    assert plain.replace(b"\r\n", b"\n") == piped.stdout + piped.stderr


def test_warnings_notes_and_errors_each_have_a_colour() -> None:
    assert paint("! few rows") == "\x1b[33m! few rows\x1b[0m"
    assert paint("lacunet: note: done") == "\x1b[2mlacunet: note:\x1b[0m done"
    assert paint("lacunet: no such file") == "\x1b[31mlacunet:\x1b[0m no such file"
    assert paint("X: NOT RECOVERABLE") == "X: \x1b[31mNOT RECOVERABLE\x1b[0m"
    assert paint("a! b\nX: NOT RECOVERABLE for now") == "a! b\nX: NOT RECOVERABLE for now"
