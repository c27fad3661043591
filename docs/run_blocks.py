"""Run every Python block of some pages, and write what it prints or raises below it.

    python docs/run_blocks.py docs/mistakes.md docs/tutorials/*.md

A ``python`` block is run in the namespace of its page; the ``text`` block that follows right
after it shows what was printed, or the error. The tests check that nothing would change.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

from lacunet.errors import LacunetError

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def refreshed(page: str) -> str:
    """The page with what its blocks print now."""
    names: dict[str, object] = {}
    parts, end, said = [], 0, ""
    for match in BLOCK.finditer(page):
        between = page[end : match.start()]
        kind, text = match.groups()
        block = match.group()
        if kind == "text" and said and not between.strip():
            block = f"```text\n{said}```"
        said = _said(text, names) if kind == "python" else ""
        parts += [between, block]
        end = match.end()
    return "".join([*parts, page[end:]])


def _said(code: str, names: dict[str, object]) -> str:
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(code, "a block of the page", "exec"), names)
    except LacunetError as error:
        return f"{type(error).__name__}: {error}\n"
    return out.getvalue()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(refreshed(Path(name).read_text()))
