"""Progress is an argument: long work reports to whoever asked for it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

from lacunet.errors import LacunetError
from lacunet.limits import Deadline


class Progress(Protocol):
    """What long work calls as it goes on."""

    def __call__(self, stage: str, done: float, total: float | None, note: str = "") -> None:
        """Tell that ``done`` of ``total`` (None: not known) units of ``stage`` are finished."""


def silent(stage: str, done: float, total: float | None, note: str = "") -> None:
    """Report to nobody."""


@dataclass
class TimedProgress:
    """Reports that end the work once time is up, as `Deadline` does.

    Long work reports between its parts, which is where it can be ended. One stage is ended as soon
    as it is clear that it will take too long.
    """

    progress: Progress
    deadline: Deadline
    paced: str  # the stage that does as much as it says it will
    left_before: float = 0.0  # seconds when that stage began

    def __call__(self, stage: str, done: float, total: float | None, note: str = "") -> None:
        """Report, unless time is up."""
        self.deadline.check()
        if stage == self.paced and total:
            if not done:
                self.left_before = self.deadline.left
            taken = self.left_before - self.deadline.left
            if taken > PACE_IS_KNOWN * self.left_before:
                self.deadline.check_pace(self.left_before, done / total)
        self.progress(stage, done, total, note)


PACE_IS_KNOWN = 0.05  # of the time that there is: what the first parts took may be chance

AskedProgress = Progress | bool | None


def as_progress(asked: AskedProgress) -> Progress:
    """What to report to: True is a bar, in notebooks too; False and None are nobody.

    Examples
    --------
    >>> as_progress(False) is silent, as_progress(print) is print
    (True, True)
    """
    if asked is True:
        return Bar()
    if asked is None or asked is False:
        return silent
    if not callable(asked):
        raise LacunetError(
            f"progress is {asked!r}, but must be True, False or a function.",
            "True shows a bar; a function is called with stage, done, total and note.",
        )
    return asked


WITHOUT_SIZE = 80  # columns of a terminal that does not say how many it has


def _is_without_size(stream: TextIO) -> bool:
    """Whether it is a terminal of no columns: then no bar would fit."""
    try:
        return os.get_terminal_size(stream.fileno()).columns == 0
    except (OSError, ValueError, AttributeError):
        return False  # not a terminal


class Bar:
    """One bar of tqdm for all stages of some work; it goes when the work ends.

    Parameters
    ----------
    file
        Where it is drawn; standard error, or the notebook, by default.
    delay
        Seconds before it appears.
    """

    def __init__(self, file: TextIO | None = None, delay: float = 0.5) -> None:
        from tqdm import tqdm
        from tqdm.auto import tqdm as fitting  # a widget in notebooks

        kind: Any = fitting if file is None else tqdm
        columns = WITHOUT_SIZE if _is_without_size(file or sys.stderr) else None
        # miniters=1: a stage of slow steps must not inherit the pace of the one before.
        self.bar: Any = kind(
            file=file,
            leave=False,
            delay=delay,
            unit_scale=True,
            ncols=columns,
            dynamic_ncols=columns is None,
            miniters=1,
        )
        self.stage = ""

    def __call__(self, stage: str, done: float, total: float | None, note: str = "") -> None:
        """Show how far the work is."""
        bar = self.bar
        if stage != self.stage:
            self.stage = stage
            bar.set_description(stage, refresh=False)
            bar.reset(total)
        bar.total = total
        bar.set_postfix_str(note, refresh=False)
        bar.update(done - bar.n)

    def close(self) -> None:
        """Take the bar away."""
        self.bar.close()

    def __del__(self) -> None:
        if hasattr(self, "bar"):
            self.bar.close()
