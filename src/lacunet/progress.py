"""Progress is an argument: long work reports to whoever asked for it."""

from typing import Protocol


class Progress(Protocol):
    """What long work calls as it goes on."""

    def __call__(self, stage: str, done: float, total: float | None, note: str = "") -> None:
        """Tell that ``done`` of ``total`` (None: not known) units of ``stage`` are finished."""


def silent(stage: str, done: float, total: float | None, note: str = "") -> None:
    """Report to nobody."""
