"""Time as an argument: long work asks, between its parts, whether it may go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from numbers import Real
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

    @property
    def left(self) -> float:
        """The seconds that remain."""
        return self.moment - self.clock()


NEVER = Deadline()
