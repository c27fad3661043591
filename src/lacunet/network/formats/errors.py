"""What the readers and writers of network files refuse, as far as several places refuse it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lacunet.errors import LacunetError
from lacunet.text import counted, listed


class FormatError(LacunetError):
    """A file is not a network that we can read, or a network does not fit into a format."""

    @classmethod
    def syntax(cls, location: str, text: str | None, expected: str) -> FormatError:
        what = "the file ends" if text is None else f"found {text!r}"
        return cls(f"{location}: {what} where {expected} was expected.")

    @classmethod
    def state_count(
        cls, location: str, name: str, announced: int, states: Sequence[str]
    ) -> FormatError:
        return cls(
            f"{location}: variable {name!r} announces {counted(announced, 'state')} but lists "
            f"{len(states)}: {listed(states, most=5)}.",
            "separate the states by commas and put names with commas in quotes.",
        )

    @classmethod
    def wrong_length(
        cls, location: str, child: str, length: int, expected: int, given: str = ""
    ) -> FormatError:
        where = f" given {given}" if given else ""
        return cls(
            f"{location}: the CPT of {child!r}{where} has {counted(length, 'number')} "
            f"where its states need {expected:,}."
        )

    @classmethod
    def not_a_number(cls, location: str, child: str, text: str) -> FormatError:
        return cls(f"{location}: the CPT of {child!r} holds {text!r}, which is not a number.")

    @classmethod
    def unknown_state(
        cls, location: str, child: str, parent: str, state: str, states: Iterable[str]
    ) -> FormatError:
        return cls(
            f"{location}: a row of {child!r} names the state {state!r}, "
            f"but {parent!r} has only {listed(states, most=5)}.",
            "correct its spelling, or declare it among the states.",
        )

    @classmethod
    def duplicate_row(cls, location: str, child: str, given: str) -> FormatError:
        return cls(
            f"{location}: the CPT of {child!r} has a second row for {given or 'no parents'}.",
            "remove one of the two.",
        )

    @classmethod
    def unsound(cls, location: str, language: str, reason: object) -> FormatError:
        return cls(
            f"{location}: not valid {language}: {reason}.",
            "the file may be cut short or changed by hand; write it again, or mend that line.",
        )

    @classmethod
    def cannot_carry_name(cls, form: str, what: str, others: str) -> FormatError:
        way = "network.write(path, rename=True) (lacunet convert --rename)"
        hint = f"give it another name: {way}; or write {others} instead."
        return cls(f"{form} cannot carry the {what}.", hint)

    @classmethod
    def folder(cls, name: str) -> FormatError:
        return cls(f"{name}: this is a folder.", "name a network file in it.")
