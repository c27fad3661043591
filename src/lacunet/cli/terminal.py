"""What only a terminal gets: colour, and a live bar.

Warnings, errors and verdicts stand out; a pipe gets plain text. ``NO_COLOR`` set, or a terminal
called "dumb", means no colour.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import Any, TextIO, cast

from lacunet.progress import Bar, Progress, silent
from lacunet.text_tables import fitting

DELAY = 1.0  # seconds before the bar appears
SECONDS_BETWEEN_LINES = 1.0
RED = "31"
GREEN = "32"
YELLOW = "33"
DIM = "2"
COLOURS_OF_TEXT = (  # compiled where they are first used: most output is not painted
    (r"^! .*$", YELLOW),
    (r"^lacunet: note:", DIM),
    (r"^lacunet:(?! note:)", RED),
    (r"(?<=: )RECOVERABLE$|^(?:all \d+|\d+ of \d+) can be recovered$", GREEN),
    (r"(?<=: )NOT RECOVERABLE$|\bREFUTED$", RED),
    (r"(?<=: )(?:UNDECIDED$|[A-Z ]+, BUT IDENTIFIED.*)", YELLOW),
)


def paint(text: str) -> str:
    r"""The text with the colours of a terminal.

    Examples
    --------
    >>> paint("P(X): RECOVERABLE")
    'P(X): \x1b[32mRECOVERABLE\x1b[0m'
    """
    for rule, colour in COLOURS_OF_TEXT:
        text = re.sub(rule, f"\x1b[{colour}m\\g<0>\x1b[0m", text, flags=re.MULTILINE)
    return text


@dataclass
class _Printed:
    """A standard stream: what is written to it is not mixed with the bar, and may be painted."""

    stream: TextIO
    paints: bool

    def write(self, text: str) -> int:
        if _shown is not None:
            _shown.clear()
        return self.stream.write(paint(text) if self.paints else text)

    def flush(self) -> None:
        if _shown is not None:
            _shown.clear()  # what comes next may pass by this stream
        self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@dataclass
class _MayBeLost:
    """Standard error: a reader that has gone, or a full disk, must not cost what was learned."""

    target: TextIO

    def write(self, text: str) -> int:
        try:
            return self.target.write(text)
        except OSError:
            self._to_nowhere()
            return len(text)

    def flush(self) -> None:
        try:
            self.target.flush()
        except OSError:
            self._to_nowhere()

    def _to_nowhere(self) -> None:
        with suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), self.target.fileno())  # what is still buffered goes there too

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


@contextmanager
def streams() -> Iterator[None]:
    """Paint what is printed meanwhile on terminals; lose notes that cannot be written.

    Streams that are closed get a place to go, characters that a terminal lacks a spelling.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or stream.closed:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    _said.clear()
    kept = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    paints = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    sys.stderr = cast(TextIO, _MayBeLost(sys.stderr))
    for name, stream in kept.items():
        shown = _Printed(getattr(sys, name), paints and stream.isatty())
        setattr(sys, name, cast(TextIO, shown))
    try:
        yield
    finally:
        for name, stream in kept.items():
            if isinstance(getattr(sys, name), _Printed | _MayBeLost):
                setattr(sys, name, stream)


class LiveBar:
    """A bar on the terminal, for what takes more than a moment."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.bar: Bar | None = None
        self.began = monotonic()

    def __call__(self, stage: str, done: float, total: float | None, note: str = "") -> None:
        """Show how far the work is."""
        if self.bar is None:
            left = max(0.0, DELAY - (monotonic() - self.began))
            self.bar = Bar(self.stream, left)
        self.bar(stage, done, total, note)

    def beat(self) -> None:
        """Show that the work goes on: called every half second, for what reports nothing."""
        if monotonic() - self.began >= DELAY:
            if self.bar is None:
                self("working", 0, None)
            assert self.bar is not None
            self.bar.bar.refresh()

    def clear(self) -> None:
        """Take the bar away until there is more to show."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class JsonLines:
    """Lines of JSON on stderr: for stages, at most one per second within each, notes and errors."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.began = monotonic()
        self.stage = ""
        self.last = -inf

    def __call__(self, stage: str, done: float, total: float | None, note: str = "") -> None:
        """Write a line, unless the last one was a moment ago."""
        is_over = total is not None and done >= total
        is_recent = not is_over and monotonic() - self.last < SECONDS_BETWEEN_LINES
        if stage == self.stage and (is_recent or self.last == inf):
            return  # a moment ago, or when the last line said that it is over
        self.stage = stage
        self.last = inf if is_over else monotonic()
        seconds = round(monotonic() - self.began, 3)
        self.write(stage=stage, done=done, total=total, note=note, seconds=seconds)

    def write(self, **line: Any) -> None:
        """Write a line, without more ado."""
        print(json.dumps(line), file=self.stream, flush=True)

    def beat(self) -> None:
        """Nothing: what reports nothing has nothing to log."""

    def clear(self) -> None:
        """Lines stay."""


_shown: LiveBar | JsonLines | None = None  # that of the command that runs
_said: set[str] = set()  # its notes


@contextmanager
def display(mode: str) -> Iterator[None]:
    """Show meanwhile how far the work is: "bar", "json", "none", or "auto" for what fits."""
    global _shown  # noqa: PLW0603 - as there is one standard error
    if mode == "auto":
        mode = "bar" if sys.stderr.isatty() else "none"
    if mode == "none":
        yield
        return
    stream = getattr(sys.stderr, "stream", sys.stderr)
    shown = LiveBar(stream) if mode == "bar" else JsonLines(stream)
    before = _shown
    _shown = shown
    ended = Event()

    def keep_beating() -> None:
        while not ended.wait(0.5):
            with suppress(Exception):  # the work must not fail for its bar
                shown.beat()

    Thread(target=keep_beating, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        shown.clear()
        _shown = before


def note(*texts: str) -> None:
    """Say what is not the result, each text once: what is noted may have been a warning before."""
    for text in texts:
        if text not in _said:
            _said.add(text)
            say(text)


def say(text: str) -> None:
    """Say something on a line of stderr, of JSON if the progress is."""
    if isinstance(_shown, JsonLines):
        _shown.write(note=text)
    else:
        print(fitting(f"lacunet: note: {text}"), file=sys.stderr)


def say_error(message: str, hint: str = "", text: str = "") -> None:
    """Say why a command ends: a text on stderr, or message and hint as JSON if the progress is."""
    if isinstance(_shown, JsonLines):
        _shown.write(error=message, hint=hint)
    else:
        print(text or f"lacunet: {message}", file=sys.stderr)


def progress_bar() -> Progress:
    """What shows each stage of long work, as the user asked for."""
    return silent if _shown is None else _shown
