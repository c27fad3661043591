"""A command in a process of its own, which can be killed; importable by that process."""

from __future__ import annotations

import os
from multiprocessing.synchronize import Event

from lacunet.cli import main


def quietly(arguments: list[str], began: Event | None = None) -> None:
    """Run a command and say nothing."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if began is not None:
        began.set()
    os._exit(main(arguments))
