"""What the command line itself refuses."""

from __future__ import annotations

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


class OptionError(LacunetError):
    """An option has a value that means nothing."""
