"""Every Python block of the docs runs, and prints what the next block shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[tuple[str, str, bool]]:
    """The language and text of each block, and whether it follows right after another one."""
    text = page.read_text()
    found, end = [], 0
    for match in BLOCK.finditer(text):
        follows = bool(found) and not text[end : match.start()].strip()
        found.append((match.group(1), match.group(2), follows))
        end = match.end()
    return found


WITH_PYTHON = [page for page in PAGES if any(kind == "python" for kind, _, _ in blocks(page))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_every_block_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    for kind, text, follows in blocks(page):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(page), "exec"), names)
            printed = out.getvalue()
        elif kind == "text" and follows and printed:
            assert printed == text
            printed = ""
