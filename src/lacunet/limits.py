"""How much time and memory there are to work with: each is an argument.

Long work asks, between its parts, whether it may go on (`Deadline`), and what is laid out in memory
asks first what may be used (`memory_budget`). Threads share both (`lacunet.threads`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from math import inf
from numbers import Real
from pathlib import Path
from time import monotonic

from lacunet.errors import LacunetError

Clock = Callable[[], float]  # seconds since whenever

_clock: ContextVar[Clock] = ContextVar("clock", default=monotonic)


class OutOfTimeError(Exception):
    """Raised within long work whose time is up, and caught by whoever set the limit."""


@contextmanager
def timed_by(clock: Clock) -> Iterator[None]:
    """Let time limits that are set within be those of a clock, such as `time.process_time`."""
    token = _clock.set(clock)
    try:
        yield
    finally:
        _clock.reset(token)


@dataclass(frozen=True)
class Deadline:
    """A moment on a clock."""

    moment: float = inf
    clock: Clock = field(default=monotonic, compare=False)

    @classmethod
    def within(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; None for never."""
        clock = _clock.get()
        return NEVER if seconds is None else cls(clock() + seconds, clock)

    @classmethod
    def asked(cls, time_limit: float | None) -> Deadline:
        """The moment that a user's time limit leads to.

        Raises
        ------
        LacunetError
            The limit is not a positive number.
        """
        if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
            raise LacunetError(
                f"time_limit is {time_limit!r}, not a positive number of seconds.",
                "give a number such as 60, or leave it out.",
            )
        return cls.within(time_limit)

    def check(self) -> None:
        """Raise `OutOfTimeError` once the moment has passed."""
        if self.clock() > self.moment:
            raise OutOfTimeError

    def check_pace(self, left_before: float, done: float) -> None:
        """Raise it once the rest, at the pace until now, will take too long.

        Parameters
        ----------
        left_before
            The seconds that remained when the work began.
        done
            The share of the work that is done.

        Examples
        --------
        >>> Deadline.within(60).check_pace(left_before=70, done=0.5)  # ten seconds for a half
        """
        if (left_before - self.left) * (1 - done) > self.left * done:
            raise OutOfTimeError

    def earlier(self, seconds: float) -> Deadline:
        """So many seconds before it: the time that is kept for what comes after."""
        return Deadline(self.moment - seconds, self.clock)

    def partway(self, share: float) -> Deadline:
        """The moment when such a share of the time that is left has passed."""
        return self if self.moment == inf else self.earlier((1 - share) * self.left)

    @property
    def left(self) -> float:
        """The seconds that remain."""
        return self.moment - self.clock()


NEVER = Deadline()


# Where Linux tells the limit of a container, in bytes; version 2 of control groups, then 1.
CONTROL_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
FALLBACK_BYTES = 4 * 2**30
MEANT_AS_GIBIBYTES = 64  # fewer bytes than any network takes

Memory = float | str | None  # as it is asked for: bytes, a size with its unit, or the default


def memory_budget(memory: Memory = None) -> int:
    """The bytes that work may take: what was asked for, else half of what there is."""
    if memory is None:
        return available() // 2
    try:
        asked = size_in_bytes(memory) if isinstance(memory, str) else memory
    except ValueError:
        asked = float("nan")
    is_size = isinstance(asked, Real) and 0 <= asked < float("inf")
    if not is_size or 0 < asked < MEANT_AS_GIBIBYTES:
        raise LacunetError(
            f"memory is {memory!r}, but must be a number of bytes, or a size with its unit.",
            "memory=2**30 and memory='1GiB' are one GiB.",
        )
    return int(asked)


def size_in_bytes(text: str, unit: str = "") -> float:
    """The bytes of a size; ``unit`` is that of a number alone, which else is a ValueError.

    Examples
    --------
    >>> size_in_bytes("500MB"), size_in_bytes("512 MiB"), size_in_bytes("0.5", "GiB")
    (500000000.0, 536870912.0, 536870912.0)
    """
    parts = re.fullmatch(r"(.*?)\s*([KMGT]i?B?)?", text.strip(), re.IGNORECASE)
    written = (parts[2] or unit).upper() if parts else ""
    if not parts or not written:
        raise ValueError(f"{text!r} has no unit")
    base = 1000.0 if written[1:] == "B" else 1024.0
    return float(parts[1]) * float(base ** (1 + "KMGT".index(written[0])))


@cache
def available() -> int:
    """The memory of this machine in bytes, or of the container if that has less."""
    return min([_of_the_machine(), *_of_the_container()])


def _of_the_machine() -> int:
    import os
    import sys

    if sys.platform == "win32":
        return _of_windows()
    names = getattr(os, "sysconf_names", {})
    if "SC_PAGE_SIZE" in names and "SC_PHYS_PAGES" in names:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return FALLBACK_BYTES


def _of_windows() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", *"abcde")),
        )

    status = Status(length=ctypes.sizeof(Status))
    windows = ctypes.windll  # type: ignore[attr-defined]
    if windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return int(status.total)
    return FALLBACK_BYTES


def _of_the_container() -> list[int]:
    limits = []
    for name in CONTROL_GROUPS:
        try:
            limits.append(int(Path(name).read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return limits


def gibibytes(size: float) -> str:
    """A size for people to read.

    Examples
    --------
    >>> gibibytes(3 * 2**30), gibibytes(700)
    ('3 GiB', '700 bytes')
    """
    for unit, scale in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"
