"""Work in several processes: in order, never hanging, and clear about what went wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lacunet.errors import LacunetError
from pieces import holds_back_interrupts, killed, refusing, squared
from studies.comparison.parallel import parallel_map

A_LONG_TIME = 120.0  # seconds after which a test hangs


def test_results_come_in_the_order_of_the_pieces() -> None:
    assert list(parallel_map(squared, range(11), 3)) == [n**2 for n in range(11)]


def test_an_error_of_the_work_is_raised_here() -> None:
    with pytest.raises(LacunetError, match="three is not taken") as raised:
        list(parallel_map(refusing, range(6), 2))
    assert raised.value.hint == "give another."


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_process_that_iskilled_is_reported() -> None:
    with pytest.raises(LacunetError, match="was stopped"):
        list(parallel_map(killed, range(6), 2))


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_ctrl_c_never_reaches_the_processes() -> None:
    assert all(parallel_map(holds_back_interrupts, range(4), 2))


def _run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "script.py"
    path.write_text(textwrap.dedent(script))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    words = [sys.executable, str(path)]
    return subprocess.run(
        words, capture_output=True, text=True, env=environment, timeout=A_LONG_TIME, check=False
    )


def test_an_interruption_in_the_middle_of_alarge_result_ends_all(tmp_path: Path) -> None:
    script = """
        from studies.comparison.parallel import parallel_map
        from pieces import large

        if __name__ == "__main__":
            results = parallel_map(large, range(12), 2)
            next(results)  # the other processes are writing theirs
            try:
                results.throw(KeyboardInterrupt)
            except KeyboardInterrupt:
                print("interrupted")
    """
    done = _run(script, tmp_path)
    assert done.stdout.strip() == "interrupted", done.stderr
