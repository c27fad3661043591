"""Time as an argument: long work asks, between its parts, whether it may go on."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import monotonic


class OutOfTimeError(Exception):
    """Raised within long work whose time is up, and caught by whoever set the limit."""


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock."""

    at: float = inf

    @classmethod
    def within(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; None for never."""
        return cls(inf if seconds is None else monotonic() + seconds)

    def check(self) -> None:
        """Raise `OutOfTimeError` once the moment has passed."""
        if monotonic() > self.at:
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

    @property
    def left(self) -> float:
        """The seconds that remain."""
        return self.at - monotonic()


NEVER = Deadline()
