"""What the command line itself refuses."""

from __future__ import annotations

import os
from collections.abc import Iterable

from lacunet.errors import LacunetError


class OutputError(LacunetError):
    """The result cannot be put where it should go."""


def refuse_overwriting(targets: Iterable[str | None], read: Iterable[str | None]) -> None:
    """Refuse to write over a file that the command reads, or where nothing can be written."""
    sources = [name for name in read if name and os.path.exists(name)]
    for target in filter(None, targets):
        if os.path.exists(target) and any(os.path.samefile(target, name) for name in sources):
            raise OutputError(f"{target} is a file that is read.", "write to another file.")
        folder = os.path.dirname(os.path.realpath(target))
        if not os.access(folder, os.W_OK):
            raise OutputError(
                f"{target} cannot be written: there is no folder {folder} to write into.",
                "name another.",
            )


class OptionError(LacunetError):
    """An option has a value that means nothing."""
