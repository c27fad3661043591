"""SIGTERM ends a command as Ctrl-C does: nothing is left behind, and EM keeps its best so far."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples import RAIN
from lacunet.network.formats.files import read_network, write_network

# Whatever runs the tests may ignore signals; a command that is started by hand does not.
SCRIPT = """import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from lacunet.cli import main
sys.exit(main(sys.argv[1:]))"""
LACUNET = [sys.executable, "-c", SCRIPT]
A_LONG_TIME = 120.0

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM")


def _environment(folder: Path) -> dict[str, str]:
    (folder / "tmp").mkdir()
    return {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": os.pathsep.join(sys.path)}


def _wait_for(pattern: str, folder: Path) -> None:
    for _ in range(int(A_LONG_TIME * 20)):
        if any(path.is_dir() or path.stat().st_size for path in folder.rglob(pattern)):
            return
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} appeared")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_rows_from_standard_input_are_not_left_behind(
    number: signal.Signals, tmp_path: Path
) -> None:
    write_network(RAIN, tmp_path / "rain.bif")
    running = subprocess.Popen(
        [*LACUNET, "learn", str(tmp_path / "rain.bif"), "-", "-o", str(tmp_path / "out.bif")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(tmp_path),
    )
    assert running.stdin is not None
    assert running.stderr is not None
    running.stdin.write("Rain,Sprinkler,Wet\n" + "no,off,no\n" * 10_000)  # and more would come
    running.stdin.flush()
    _wait_for("rows.csv", tmp_path / "tmp")
    running.send_signal(number)
    assert running.wait(A_LONG_TIME) == 128 + number
    assert "Traceback" not in running.stderr.read()
    running.stdin.close()
    running.stderr.close()
    assert not list((tmp_path / "tmp").iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {"rain.bif", "tmp"}


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    script = (
        "import os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from lacunet.cli.signals import stopping\n"
        "with stopping():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "print('went on')"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(
        words, capture_output=True, text=True, env=_environment(tmp_path), check=False
    )
    assert done.stdout.strip() == "went on"


def test_em_keeps_its_best_so_far(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from lacunet.cli import main\n"
        "from lacunet.inference.engine import Engine\n"
        "Engine.expect = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    write_network(RAIN, tmp_path / "rain.bif")
    (tmp_path / "rain.csv").write_text("Rain,Sprinkler,Wet\nno,off,no\nyes,,yes\nno,on,\n")
    out = tmp_path / "best.bif"
    files = [str(tmp_path / name) for name in ("rain.bif", "rain.csv")]
    words = [sys.executable, "-c", script, "learn", *files, "--method", "em", "-o", str(out)]
    done = subprocess.run(words, capture_output=True, env=_environment(tmp_path), check=False)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert read_network(str(out)).has_cpts
