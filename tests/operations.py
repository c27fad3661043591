"""Counting what a piece of work does, where others would stop the time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_in(work: Callable[[], object]) -> int:
    """How many functions the work calls, of Python and of C."""
    number = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return number


class Counted(str):
    """A text that counts how often any of its kind is compared or hashed."""

    __slots__ = ()
    operations = 0

    def __eq__(self, other: object) -> bool:
        Counted.operations += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        Counted.operations += 1
        return str.__hash__(self)
