"""What the command line itself refuses."""

from __future__ import annotations

import os
from collections.abc import Iterable

from lacunet.errors import LacunetError


class OutputError(LacunetError):
    """The result cannot be put where it should go."""

    @classmethod
    def folder(cls, path: str, error: OSError) -> OutputError:
        return cls(f"{path}: the folder cannot be made: {error.strerror}.\nHint: name another.")

    @classmethod
    def twice(cls, paths: Iterable[str]) -> OutputError:
        return cls(f"two results would go to one file: {', '.join(paths)}.\nHint: name others.")

    @classmethod
    def of_nothing(cls, path: str) -> OutputError:
        return cls(
            f"give a network to write to {path}.\n"
            "Hint: name it, as in: lacunet networks alarm -o alarm.bif"
        )

    @classmethod
    def file(cls, path: str, error: OSError) -> OutputError:
        return cls(f"{path} cannot be written: {error.strerror or error}.")


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
