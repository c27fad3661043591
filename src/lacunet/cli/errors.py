"""What the command line itself refuses."""

from __future__ import annotations

from lacunet.errors import LacunetError


class OutputError(LacunetError):
    """The result cannot be put where it should go."""

    @classmethod
    def folder(cls, path: str, error: OSError) -> OutputError:
        return cls(f"{path}: the folder cannot be made: {error.strerror}.\nHint: name another.")
