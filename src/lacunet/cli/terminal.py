"""What only a terminal gets: colour, and a live bar.

Warnings, errors and verdicts stand out; a pipe gets plain text. ``NO_COLOR`` set, or a terminal
called "dumb", means no colour.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO, cast

from lacunet.progress import Progress, silent

RED, GREEN, YELLOW, DIM = "31", "32", "33", "2"
RULES = (
    (re.compile(r"^! .*$", re.MULTILINE), YELLOW),
    (re.compile(r"^lacunet: note:", re.MULTILINE), DIM),
    (re.compile(r"^lacunet:(?! note:)", re.MULTILINE), RED),
    (re.compile(r"(?<=: )RECOVERABLE$|^\d+ of \d+ are recoverable$", re.MULTILINE), GREEN),
    (re.compile(r"(?<=: )NOT RECOVERABLE$|\bREFUTED$", re.MULTILINE), RED),
    (re.compile(r"(?<=: )UNDECIDED$", re.MULTILINE), YELLOW),
)


def painted(text: str) -> str:
    r"""The text with the colours of a terminal.

    Examples
    --------
    >>> painted("P(X): RECOVERABLE")
    'P(X): \x1b[32mRECOVERABLE\x1b[0m'
    """
    for rule, colour in RULES:
        text = rule.sub(f"\x1b[{colour}m\\g<0>\x1b[0m", text)
    return text


@dataclass
class _Painted:
    """A stream that paints what is written to it."""

    stream: TextIO

    def write(self, text: str) -> int:
        return self.stream.write(painted(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def colours() -> Iterator[None]:
    """Paint what is printed meanwhile, on those streams that are terminals."""
    kept = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    if not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        for name, stream in kept.items():
            if stream.isatty():
                setattr(sys, name, cast(TextIO, _Painted(stream)))
    try:
        yield
    finally:
        for name, stream in kept.items():
            if isinstance(getattr(sys, name), _Painted):
                setattr(sys, name, stream)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show each stage of long work as a bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from tqdm import tqdm

    # miniters=1: a stage of slow steps must not inherit the pace of the one before.
    bar = tqdm(
        file=sys.stderr, leave=False, delay=0.5, unit_scale=True, dynamic_ncols=True, miniters=1
    )

    def show(stage: str, done: float, total: float | None, note: str = "") -> None:
        if bar.desc != f"{stage}: ":
            bar.set_description(stage, refresh=False)
            bar.reset(total)
        bar.total = total
        bar.set_postfix_str(note, refresh=False)
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        bar.close()
