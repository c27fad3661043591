"""What the readers and writers of network files refuse, as far as several places refuse it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lacunet.errors import LacunetError
from lacunet.wording import counted, listed


class FormatError(LacunetError):
    """A file is not a network that we can read, or a network does not fit into a format."""

    @classmethod
    def syntax(cls, place: str, found: str | None, expected: str) -> FormatError:
        what = "the file ends" if found is None else f"found {found!r}"
        return cls(f"{place}: {what} where {expected} was expected.")

    @classmethod
    def state_count(
        cls, place: str, name: str, announced: int, states: Sequence[str]
    ) -> FormatError:
        return cls(
            f"{place}: variable {name!r} announces {counted(announced, 'state')} but lists "
            f"{len(states)}: {listed(states, most=5)}.",
            "separate the states by commas and put names with commas in quotes.",
        )

    @classmethod
    def wrong_length(
        cls, place: str, child: str, found: int, expected: int, given: str = ""
    ) -> FormatError:
        where = f" given {given}" if given else ""
        return cls(
            f"{place}: the CPT of {child!r}{where} has {counted(found, 'number')} "
            f"where its states need {expected:,}."
        )

    @classmethod
    def not_a_number(cls, place: str, child: str, text: str) -> FormatError:
        return cls(f"{place}: the CPT of {child!r} holds {text!r}, which is not a number.")

    @classmethod
    def unknown_state(
        cls, place: str, child: str, parent: str, state: str, states: Iterable[str]
    ) -> FormatError:
        return cls(
            f"{place}: a row of {child!r} names the state {state!r}, "
            f"but {parent!r} has only {listed(states, most=5)}.",
            "correct its spelling, or declare it among the states.",
        )

    @classmethod
    def duplicate_row(cls, place: str, child: str, given: str) -> FormatError:
        return cls(
            f"{place}: the CPT of {child!r} has a second row for {given or 'no parents'}.",
            "remove one of the two.",
        )

    @classmethod
    def unsound(cls, place: str, language: str, reason: object) -> FormatError:
        return cls(
            f"{place}: not valid {language}: {reason}.",
            "the file may be cut short or changed by hand; write it again, or mend that line.",
        )

    @classmethod
    def cannot_carry_name(cls, form: str, what: str, others: str) -> FormatError:
        way = "lacunet convert --rename, write_network(..., rename=True), gives it another name"
        return cls(f"{form} cannot carry the {what}.", f"write {others} instead; {way}.")

    @classmethod
    def folder(cls, name: str) -> FormatError:
        return cls(f"{name}: this is a folder.", "name a network file in it.")
