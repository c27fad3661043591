"""Killing a run at a random moment and resuming gives the table of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from studies.runner.journal import NAME, read_journal
from studies.runner.outcomes import Outcome

COMMAND = (
    "from studies.command import main; import sys; sys.exit(main(sys.argv[1:]))",
    *("table-mcar", "--networks", "asia", "--sizes", "50,200", "--repetitions", "20"),
    *("--methods", "direct-mcar,factored-mar,em-1,em", "--test-rows", "50", "--processes", "2"),
)
ROOT = Path(__file__).parents[2]
CELLS = 20 * 2 * 4  # far more than are finished between two kills


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", *COMMAND, "-o", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def status(pid: int) -> tuple[str, int]:
    """The state of a process, and its parent."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return "gone", 0
    return fields[0], int(fields[1])


def children(pid: int) -> list[int]:
    everyone = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return [one for one in everyone if status(one)[1] == pid]


def is_running(pid: int) -> bool:
    return status(pid)[0] not in ("gone", "Z")


def wait_until(is_so: object, seconds: float) -> bool:
    until = monotonic() + seconds
    while monotonic() < until:
        if is_so():  # type: ignore[operator]
            return True
        sleep(0.02)
    return False


def without_times(found: dict[str, Outcome]) -> dict[str, Outcome]:
    return {
        key: replace(one, seconds=None, whole_seconds=None) for key, one in sorted(found.items())
    }


def lines(folder: Path) -> list[bytes]:
    path = folder / NAME
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for orphans in /proc")
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_killing_and_resuming_gives_the_table_of_an_undisturbed_run(
    tmp_path: Path, seed: int
) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    assert start(undisturbed).wait() == 0
    rng = np.random.default_rng(seed)
    before: list[bytes] = []
    for _ in range(4):
        process = start(disturbed)
        wanted = len(before) + int(rng.integers(1, 7))
        assert wait_until(lambda wanted=wanted: len(lines(disturbed)) >= wanted, 60)
        sleep(float(rng.random()) * 0.05)
        workers = children(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert wait_until(lambda workers=workers: not any(map(is_running, workers)), 10)
        now = lines(disturbed)
        kept = [line for line in now if line.endswith(b"\n")]
        assert kept[: len(before)] == before  # nothing finished was lost or written anew
        before = kept
    assert len(before) < CELLS  # the kills did interrupt it
    assert start(disturbed).wait() == 0
    final = lines(disturbed)
    assert final[: len(before)] == before
    assert len(final) == CELLS  # nothing finished was run again
    assert without_times(read_journal(disturbed)) == without_times(read_journal(undisturbed))
