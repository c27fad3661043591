"""What a study refuses."""

from __future__ import annotations

from pathlib import Path

from lacunet.errors import LacunetError


class StudyError(LacunetError):
    """The study cannot be run as asked."""

    @classmethod
    def folder(cls, folder: Path, error: OSError) -> StudyError:
        return cls(f"{folder}: the results cannot be kept there: {error.strerror or error}.")

    @classmethod
    def no_results(cls, folder: Path, hint: str = "run the study first.") -> StudyError:
        return cls(f"{folder} holds no results to report.", hint)
