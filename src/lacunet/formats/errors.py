"""What the readers and writers of network files refuse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lacunet.errors import LacunetError


def _some(names: Iterable[str]) -> str:
    shown = list(names)
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return ", ".join(map(repr, shown[:5])) + more


class FormatError(LacunetError):
    """A file is no network that we can read, or a network does not fit into a format."""

    @classmethod
    def syntax(cls, place: str, found: str | None, expected: str) -> FormatError:
        what = "the file ends" if found is None else f"found {found!r}"
        return cls(f"{place}: {what} where {expected} was expected.")

    @classmethod
    def unsupported(cls, place: str, what: str, hint: str) -> FormatError:
        return cls(f"{place}: {what}.\nHint: {hint}")

    @classmethod
    def no_network(cls, name: str, reason: object) -> FormatError:
        return cls(f"{name}: {reason}")

    @classmethod
    def no_variables(cls, name: str) -> FormatError:
        return cls(f"{name}: the file declares no variable.")

    @classmethod
    def nameless(cls, place: str, what: str) -> FormatError:
        return cls(f"{place}: {what} has an empty name.")

    @classmethod
    def duplicate_variable(cls, place: str, name: str) -> FormatError:
        return cls(f"{place}: variable {name!r} is declared more than once.\nHint: rename one.")

    @classmethod
    def no_states(cls, place: str, name: str) -> FormatError:
        return cls(f"{place}: variable {name!r} has no states.")

    @classmethod
    def duplicate_state(cls, place: str, name: str, state: str) -> FormatError:
        return cls(
            f"{place}: variable {name!r} has the state {state!r} more than once.\nHint: rename one."
        )

    @classmethod
    def state_count(
        cls, place: str, name: str, announced: int, states: Sequence[str]
    ) -> FormatError:
        return cls(
            f"{place}: variable {name!r} announces {announced} states but lists "
            f"{len(states)}: {_some(states)}.\n"
            "Hint: separate the states by commas and put names with commas in quotes."
        )

    @classmethod
    def unknown_child(cls, place: str, name: str) -> FormatError:
        return cls(
            f"{place}: a CPT is given for {name!r}, which is no variable of the file.\n"
            "Hint: declare it, or correct its spelling."
        )

    @classmethod
    def unknown_parent(cls, place: str, child: str, parent: str) -> FormatError:
        return cls(
            f"{place}: {child!r} has the parent {parent!r}, which the file does not declare.\n"
            "Hint: declare it, or correct its spelling."
        )

    @classmethod
    def duplicate_parent(cls, place: str, child: str, parent: str) -> FormatError:
        return cls(f"{place}: {child!r} names the parent {parent!r} more than once.")

    @classmethod
    def own_parent(cls, place: str, child: str) -> FormatError:
        return cls(f"{place}: {child!r} is named among its own parents.")

    @classmethod
    def duplicate_cpt(cls, place: str, child: str) -> FormatError:
        return cls(f"{place}: a second CPT is given for {child!r}.\nHint: remove one of the two.")

    @classmethod
    def missing_cpts(cls, name: str, children: Iterable[str]) -> FormatError:
        return cls(
            f"{name}: the parents and CPT of {_some(children)} are not given.\n"
            "Hint: the file may be cut short; fetch it again, or add what is missing."
        )

    @classmethod
    def without_numbers(cls, place: str, child: str) -> FormatError:
        return cls(
            f"{place}: the CPT of {child!r} holds no numbers, though others do.\n"
            "Hint: give numbers for every variable, or for none to have a bare structure."
        )

    @classmethod
    def wrong_length(
        cls, place: str, child: str, found: int, expected: int, given: str = ""
    ) -> FormatError:
        where = f" given {given}" if given else ""
        return cls(
            f"{place}: the CPT of {child!r}{where} has {found} number{'' if found == 1 else 's'} "
            f"where its states need {expected}."
        )

    @classmethod
    def not_a_number(cls, place: str, child: str, text: str) -> FormatError:
        return cls(f"{place}: the CPT of {child!r} holds {text!r}, which is no number.")

    @classmethod
    def key_length(cls, place: str, child: str, key: str, parents: Sequence[str]) -> FormatError:
        return cls(
            f"{place}: the row ({key}) of {child!r} must name one state for each of its "
            f"{len(parents)} parents: {_some(parents) or 'none'}."
        )

    @classmethod
    def unknown_state(
        cls, place: str, child: str, parent: str, state: str, states: Sequence[str]
    ) -> FormatError:
        return cls(
            f"{place}: a row of {child!r} names the state {state!r}, "
            f"but {parent!r} has only {_some(states)}.\n"
            "Hint: correct its spelling, or declare it among the states."
        )

    @classmethod
    def duplicate_row(cls, place: str, child: str, given: str) -> FormatError:
        return cls(
            f"{place}: the CPT of {child!r} has a second row for {given or 'no parents'}.\n"
            "Hint: remove one of the two."
        )

    @classmethod
    def missing_row(cls, place: str, child: str, given: str) -> FormatError:
        return cls(
            f"{place}: the CPT of {child!r} has no row for {given or 'no parents'}.\n"
            "Hint: give a row for every configuration of the parents."
        )

    @classmethod
    def not_a_probability(cls, place: str, child: str, value: float, given: str) -> FormatError:
        where = f" given {given}" if given else ""
        return cls(
            f"{place}: the CPT of {child!r}{where} holds {value!r}, which is no probability."
        )

    @classmethod
    def row_sum(cls, place: str, child: str, given: str, total: float) -> FormatError:
        where = f" given {given}" if given else ""
        return cls(
            f"{place}: the CPT of {child!r}{where} sums to {total!r}, not to 1.\n"
            "Hint: correct the row; only sums within 0.01 of 1 are rescaled."
        )

    @classmethod
    def too_large(cls, place: str, child: str, cells: int, axes: int) -> FormatError:
        return cls(
            f"{place}: the CPT of {child!r} would have {axes} axes and {cells} cells, "
            "which is more than a table can hold."
        )

    @classmethod
    def cannot_carry(cls, form: str, what: str, others: str) -> FormatError:
        return cls(f"{form} cannot carry {what}.\nHint: write {others} instead.")

    @classmethod
    def unknown_suffix(cls, name: str, suffixes: Iterable[str]) -> FormatError:
        return cls(
            f"{name}: the file name does not say which format it has.\n"
            f"Hint: end it with one of {', '.join(suffixes)}, each also with .gz."
        )

    @classmethod
    def missing_file(cls, name: str) -> FormatError:
        return cls(f"{name}: there is no such file.\nHint: check the spelling and the folder.")

    @classmethod
    def directory(cls, name: str) -> FormatError:
        return cls(f"{name}: this is a folder.\nHint: name a network file in it.")

    @classmethod
    def unreadable(cls, name: str, reason: object) -> FormatError:
        return cls(f"{name}: the file cannot be read ({reason}).")

    @classmethod
    def unwritable(cls, name: str, reason: object) -> FormatError:
        return cls(f"{name}: the file cannot be written ({reason}).")

    @classmethod
    def damaged_gzip(cls, name: str, reason: object) -> FormatError:
        return cls(
            f"{name}: the file is not sound gzip ({reason}).\n"
            "Hint: fetch it again, or drop .gz from its name if it is not compressed."
        )

    @classmethod
    def compressed(cls, name: str) -> FormatError:
        return cls(f"{name}: the file is gzip.\nHint: add .gz to its name.")

    @classmethod
    def undecodable(cls, name: str, encoding: str, reason: object) -> FormatError:
        return cls(
            f"{name}: the file is no {encoding} text ({reason}).\nHint: save it as UTF-8 first."
        )

    @classmethod
    def empty(cls, name: str) -> FormatError:
        return cls(f"{name}: the file is empty.")
