"""Time limits on whatever clock is asked for."""

from __future__ import annotations

import sys
from itertools import pairwise
from types import FrameType

import numpy as np
import pytest

import lacunet as lc
from lacunet.limits import NEVER, Deadline, OutOfTimeError, timed_by


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


class Work:
    """A clock that goes on as functions are called, of Python and of C: the same on any machine."""

    def __init__(self, seconds_per_call: float) -> None:
        self.seconds_per_call, self.calls = seconds_per_call, 0

    def __call__(self) -> float:
        return self.calls * self.seconds_per_call

    def __enter__(self) -> Work:
        sys.setprofile(self.count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def count(self, _: FrameType, event: str, __: object) -> None:
        self.calls += event in ("call", "c_call")


@pytest.mark.filterwarnings("ignore:EM made no iteration")
def test_the_first_estimate_and_the_report_are_within_the_limit_on_a_long_chain() -> None:
    names, rng = [f"V{at}" for at in range(300)], np.random.default_rng(1)
    chain = lc.Network(
        {name: ["a", "b"] for name in names},
        {child: [parent] for parent, child in pairwise(names)},
    )
    rows = {name: rng.choice(["a", "b", None], 200).tolist() for name in names}
    lc.learn(chain, rows, "em")  # so that nothing is imported while calls are counted
    with timed_by(work := Work(8e-7)):  # about as long as a call takes
        with work:
            least = lc.learn(chain, rows, "em", time_limit=1e-9)  # what has to be done
        limit = 1.1 * work()
        work.calls = 0
        with work:
            lc.learn(chain, rows, "em", time_limit=limit)
    assert least.ended is not None
    assert least.ended.reason == "time limit"
    assert work() < 1.1 * limit
