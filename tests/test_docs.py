"""Every Python block of the docs runs, and prints what the block below it shows."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "```python" in page.read_text()
]
refreshed = runpy.run_path(str(ROOT / "docs" / "run_blocks.py"))["refreshed"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    now = refreshed(text)
    assert now == text, "python docs/run_blocks.py brings the page up to date"


def test_each_of_the_twenty_mistakes_is_answered_with_an_error_and_a_way_out() -> None:
    text = (ROOT / "docs" / "mistakes.md").read_text()
    answers = [block.split("```")[0] for block in text.split("```text\n")[1:]]
    assert len(answers) == 20
    for answer in answers:
        assert "Error: " in answer
        assert "\nHint: " in answer
