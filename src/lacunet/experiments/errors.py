"""What an experiment refuses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lacunet.errors import LacunetError


class ExperimentError(LacunetError):
    """The experiment cannot be run as asked."""

    @classmethod
    def unknown_study(cls, name: str, known: Iterable[str]) -> ExperimentError:
        return cls(f"there is no experiment {name!r}.\nHint: choose one of {', '.join(known)}.")

    @classmethod
    def unknown_learner(cls, name: str, known: Iterable[str]) -> ExperimentError:
        return cls(f"there is no method {name!r} here.\nHint: choose among {', '.join(known)}.")

    @classmethod
    def unknown_setting(cls, name: str, known: Iterable[str]) -> ExperimentError:
        return cls(
            f"this experiment has no setting {name!r}.\nHint: choose among {', '.join(known)}."
        )

    @classmethod
    def no_separator(cls, name: str, setting: str) -> ExperimentError:
        return cls(f"{name} needs a separator, and the setting {setting!r} promises none.")

    @classmethod
    def setting_of_another_network(cls, setting: str, network: str) -> ExperimentError:
        return cls(
            f"the setting {setting!r} names variables that {network!r} does not have.\n"
            "Hint: leave --networks out, or choose another setting."
        )

    @classmethod
    def nothing_to_run(cls) -> ExperimentError:
        return cls("there is nothing to run: no network, setting, size, repetition or method.")

    @classmethod
    def another_network(cls, folder: Path, name: str) -> ExperimentError:
        return cls(
            f"two different networks are called {name!r} here or in {folder}: their results would "
            "be averaged.\nHint: rename one of the files, or name another folder with -o."
        )

    @classmethod
    def another_purpose(
        cls, folder: Path, what: str, kept: object, wanted: object
    ) -> ExperimentError:
        return cls(
            f"{folder} keeps results with {what.replace('_', ' ')} {kept!r}, not {wanted!r}: they "
            "would be averaged.\nHint: name another folder with -o."
        )

    @classmethod
    def in_use(cls, folder: Path) -> ExperimentError:
        return cls(
            f"another run is writing to {folder}.\nHint: wait for it, or name another folder."
        )

    @classmethod
    def folder(cls, folder: Path, error: OSError) -> ExperimentError:
        return cls(f"{folder}: the results cannot be kept there: {error.strerror or error}.")

    @classmethod
    def broken_line(cls, path: Path, number: int) -> ExperimentError:
        return cls(
            f"{path}, line {number}: this is no result.\n"
            "Hint: only the last line of a run that was killed may be torn; something else "
            "has changed this file."
        )

    @classmethod
    def no_rows(cls) -> ExperimentError:
        return cls("the data have no rows: there is no pattern of missing values to copy.")

    @classmethod
    def nobody_learned(cls, messages: Iterable[str]) -> ExperimentError:
        reasons = "\n".join(f"  {message}" for message in messages)
        return cls(f"no method gave a network on the simulated data:\n{reasons}")

    @classmethod
    def no_results(cls, folder: Path) -> ExperimentError:
        return cls(f"{folder} holds no results to report.\nHint: run the experiment first.")
