"""Time limits on whatever clock is asked for."""

from __future__ import annotations

import pytest

from lacunet.deadline import NEVER, Deadline, OutOfTimeError, timed_by


class Hand:
    """A clock that is moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_limit_that_is_set_within_a_clock_is_kept_by_that_clock() -> None:
    hand = Hand()
    with timed_by(hand):
        deadline = Deadline.within(5)
        assert Deadline.within(None) == NEVER
    assert deadline.left == 5
    hand.now = 105
    deadline.check()
    hand.now = 105.1
    with pytest.raises(OutOfTimeError):
        deadline.check()


def test_a_limit_that_is_set_afterwards_is_on_the_usual_clock() -> None:
    with timed_by(Hand()):
        pass
    assert Deadline.within(60).clock is NEVER.clock
