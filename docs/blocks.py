"""The blocks of code on a page: run them, keep what they print up to date, make a notebook of them.

    python docs/blocks.py docs/mistakes.md docs/tutorials/*.md

writes below every ``python`` block what it prints, warns of or raises, into the ``text`` block that
follows it. A ``{code-cell}`` is run when the book is built, which shows what it gives. Blocks of a page share one
namespace. All other blocks of code carry the reason why they are not run, in a comment before them:

    <!-- not run: the table is yours -->
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lacunet.errors import LacunetError, LacunetWarning

FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n)?"
    r"^(?P<ticks>`{3,})(?P<kind>[^\n]*)\n(?P<text>.*?)^(?P=ticks)$",
    re.DOTALL | re.MULTILINE,
)
OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[a-z-]+:[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
HEADER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: ``kind`` is its language or directive, ``reason`` why it is not run."""

    kind: str
    text: str
    reason: str
    start: int
    end: int

    @property
    def is_run(self) -> bool:
        """Whether it is Python that runs on this page."""
        return not self.reason and self.kind in ("python", "{code-cell}")

    @property
    def code(self) -> str:
        """The text without the options of a cell."""
        return OPTIONS.sub("", self.text) if self.kind == "{code-cell}" else self.text


def blocks(page: str) -> Iterator[Block]:
    """All fenced blocks of a page, in order."""
    for match in FENCE.finditer(page):
        kind = match["kind"].split()[0] if match["kind"].split() else ""
        yield Block(kind, match["text"], match["reason"] or "", match.start(), match.end())


def refreshed(page: str) -> str:
    """The page with what its Python blocks print now; every block that is run must run.

    A block may raise a LacunetError where the block below it shows one. Warnings are shown as
    they come, between what is printed.
    """
    names: dict[str, object] = {}
    parts, end = [], 0
    code: Block | None = None
    for block in blocks(page):
        between, text = page[end : block.start], page[block.start : block.end]
        if code is not None:
            shows = block.kind == "text" and not between.strip()
            printed = _printed(code.code, names, raises=shows and _is_error(block))
            if shows and printed:
                text = f"```text\n{printed}```"
            elif not shows:
                between = _below(code, printed) + between
        code = block if block.is_run else None
        parts += [between, text]
        end = block.end
    if code is not None:
        parts.append(_below(code, _printed(code.code, names, raises=False)))
    return "".join([*parts, page[end:]])


def _below(code: Block, printed: str) -> str:
    """What a block prints whose page does not show it yet; the book itself shows that of a cell."""
    return f"\n```text\n{printed}```" if printed and code.kind == "python" else ""


def _is_error(block: Block) -> bool:
    """Whether a block shows what the one before it raises."""
    return "Error: " in block.text.split("\n")[0]


def _printed(code: str, names: dict[str, object], *, raises: bool) -> str:
    out = io.StringIO()

    def show(message: Warning | str, category: type[Warning], *_: object) -> None:
        out.write(f"{category.__name__}: {message}\n")

    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # those of other libraries are theirs
            warnings.simplefilter("always", LacunetWarning)
            warnings.showwarning = show
            exec(compile(code, "a block of the page", "exec"), names)
    except LacunetError as error:
        if not raises:
            raise
        return f"{type(error).__name__}: {error}\n"
    return out.getvalue()


def notebook(page: str) -> dict[str, object]:
    """The page as a Jupyter notebook: what is run as cells of code, all else as Markdown.

    Links to other pages of the book become plain text: they would lead nowhere. A cell whose error
    the page shows is tagged, so that the cells after it run all the same.
    """
    page = HEADER.sub("", page, count=1)
    cells: list[dict[str, object]] = []
    end, output_of_last = 0, False
    for block in blocks(page):
        between = page[end : block.start]
        if block.is_run:
            cells += _markdown(between)
            cells.append(
                {
                    "cell_type": "code",
                    "metadata": {},
                    "execution_count": None,
                    "outputs": [],
                    "source": block.code.rstrip("\n"),
                }
            )
        elif output_of_last and block.kind == "text" and not between.strip():
            if _is_error(block):  # what the cell prints, it prints
                cells[-1]["metadata"] = {"tags": ["raises-exception"]}
        else:
            cells += _markdown(page[end : block.end])
        output_of_last = block.is_run
        end = block.end
    cells += _markdown(page[end:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _markdown(text: str) -> list[dict[str, object]]:
    if not text.strip():
        return []
    text = re.sub(r"!?\[([^]]+)\]\((?!https?:)[^)]+\)", r"\1", text)
    return [{"cell_type": "markdown", "metadata": {}, "source": text.strip("\n")}]


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        # What a page writes goes with the folder.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.write_text(refreshed(page.read_text()))
