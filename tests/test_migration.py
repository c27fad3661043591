"""The R on the pages for those who come from another program, run where R has the packages."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "migration"
refreshed = runpy.run_path(str(ROOT / "docs" / "blocks.py"))["refreshed"]

pytestmark = pytest.mark.slow


def run_r(page: str, folder: Path) -> str:
    """What the R of a page prints, after its first block of Python, which writes the data."""
    text = (PAGES / page).read_text()
    (script,) = re.findall(r"^```r\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    (package,) = re.findall(r"^library\((\w+)\)", script, flags=re.MULTILINE)
    rscript = shutil.which("Rscript")
    has = f"quit(status = !requireNamespace('{package}', quietly = TRUE))"
    if rscript is None or subprocess.run([rscript, "-e", has], check=False).returncode:
        pytest.skip(f"no R with {package} here")
    refreshed(text[: text.index("```r\n")])
    source = folder / "page.R"
    source.write_text(script)
    environment = {
        **os.environ,
        "RETICULATE_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT / "src"),
    }
    return subprocess.run(
        [rscript, str(source)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_r_asks_the_library_as_its_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run_r("r.md", tmp_path)
    assert f"```text\n{printed}```" in (PAGES / "r.md").read_text()
    assert (tmp_path / "result.json").exists()


def test_mice_pools_what_its_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run_r("mice.md", tmp_path)
    (row,) = re.findall(r"Diseaseyes +(\S+) +(\S+)", printed)
    # mice 3.15 and its seed: another version may draw other numbers.
    assert float(row[0]) == pytest.approx(3.05, abs=0.3)
    assert float(row[1]) == pytest.approx(0.29, abs=0.1)
