"""A short run of the fuzzer: ``make fuzz`` runs a long one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "files"), [("networks", 5000), ("data", 1000)])
def test_no_damaged_file_is_read_wrongly(kind: str, files: int) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "fuzz" / "run.py"), kind, f"--files={files}", "--seed=5"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{files:,}" in done.stdout
    assert f"{kind}" in done.stdout


@pytest.mark.slow
def test_the_fuzzer_tells_tracebacks_hangs_crashes_and_wrong_results(tmp_path: Path) -> None:
    for name in ("run.py", "damage.py"):
        (tmp_path / name).write_text(
            (ROOT / "fuzz" / name).read_text().replace("PATIENCE = 60.0", "PATIENCE = 5.0")
        )
    (tmp_path / "networks.py").write_text(
        "import os, time\n"
        "def prepared(seed):\n"
        "    def check(number):\n"
        "        if number == 1: raise KeyError(number)\n"
        "        if number == 3: time.sleep(60)\n"
        "        while number == 4: pass\n"
        "        if number == 5: os.abort()\n"
        "        assert number != 7, 'seven'\n"
        "        return 'read'\n"
        "    return check\n"
    )
    done = subprocess.run(
        [sys.executable, str(tmp_path / "run.py"), "networks", "--files=9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    words = ("1 crash (-6)", "2 hang", "4 read", "1 traceback", "1 wrong")
    assert all(word in done.stdout.splitlines()[-1] for word in words), done.stdout
