"""Being told to stop: SIGTERM and SIGHUP end a command as Ctrl-C does.

Batch systems, service managers, containers and ``timeout`` send SIGTERM. Left alone it ends the
process at once, with scratch files, unfinished results and rows from standard input still on the
disk. As an exception it runs every ``finally`` on the way out, and EM keeps its best so far.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

SIGNALS = ("SIGTERM", "SIGHUP")


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end; its number is the argument."""


class Signals:
    """The first signal to stop that came, if any; ``status`` is the exit status that tells it."""

    first: int | None = None

    @property
    def status(self) -> int:
        """As shells count it; that of Ctrl-C if no other signal came."""
        return 128 + (self.first or signal.SIGINT)

    @property
    def name(self) -> str:
        """The signal's name; empty for Ctrl-C."""
        return signal.Signals(self.first).name if self.first else ""

    def receive(self, number: int, _: FrameType | None) -> None:
        """Stop at the first; later ones must not disturb the tidying up."""
        if self.first is None:
            self.first = number
            raise Stopped(number)


@contextmanager
def stopping() -> Iterator[Signals]:
    """Meanwhile signals to stop are exceptions; those that are ignored (nohup) stay ignored."""
    signals = Signals()
    kept = {}
    if current_thread() is main_thread():
        for number in (getattr(signal, name) for name in SIGNALS if hasattr(signal, name)):
            if signal.getsignal(number) is signal.SIG_DFL:
                kept[number] = signal.signal(number, signals.receive)
    try:
        yield signals
    finally:
        for number, before in kept.items():
            signal.signal(number, before)
