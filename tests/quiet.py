"""A command in a process of its own, which can be killed; importable by that process."""

from __future__ import annotations

import os
import tempfile
from multiprocessing.synchronize import Event
from pathlib import Path

from lacunet.cli import main


def quietly(arguments: list[str], temporary: Path, began: Event | None = None) -> None:
    """Run a command and say nothing; its temporary files are in a folder."""
    tempfile.tempdir = str(temporary)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if began is not None:
        began.set()
    os._exit(main(arguments))
