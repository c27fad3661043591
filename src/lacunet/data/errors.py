"""What the door refuses: data that cannot be read, or do not fit the network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from lacunet.errors import LacunetError

SUFFIXES = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow, .feather"
SHOWN_VALUES = 10
SHOWN_TEXT = 60


def listed(values: Sequence[object]) -> str:
    """The values as a short list: long texts and long lists are cut, and say so."""
    shown = [clipped(value) for value in values[:SHOWN_VALUES]]
    more = len(values) - len(shown)
    return "[" + ", ".join(shown) + (f", and {more} more]" if more else "]")


def clipped(value: object) -> str:
    """A value as it would be written in code, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + "..."


class DataError(LacunetError):
    """The data cannot be read, or do not fit the network."""

    @classmethod
    def no_such_file(cls, path: str) -> DataError:
        return cls(f"there is no file or folder {path!r}.\nHint: check the path.")

    @classmethod
    def nothing_matches(cls, pattern: str) -> DataError:
        return cls(f"no file matches {pattern!r}.\nHint: check the pattern and the folder.")

    @classmethod
    def no_parts(cls, folder: str) -> DataError:
        return cls(
            f"the folder {folder!r} holds no data file.\nHint: data files end in {SUFFIXES}."
        )

    @classmethod
    def no_paths(cls) -> DataError:
        return cls("the list of data files is empty.\nHint: give at least one path.")

    @classmethod
    def named_twice(cls, paths: Sequence[str]) -> DataError:
        return cls(
            f"the data name {listed(paths)} more than once: its rows would count twice.\n"
            "Hint: name each file once, by itself or by its folder or pattern."
        )

    @classmethod
    def unknown_option(cls, value: object) -> DataError:
        return cls(f"unknown= is {value!r}, but must be 'error' or 'missing'.")

    @classmethod
    def unknown_suffix(cls, path: str) -> DataError:
        return cls(
            f"the name of {path!r} does not say what kind of data it holds.\n"
            f"Hint: rename it to end in one of {SUFFIXES}."
        )

    @classmethod
    def unreadable(cls, label: str, reason: object) -> DataError:
        return cls(f"{label} cannot be read: {reason}.")

    @classmethod
    def unknown_kind(cls, data: object) -> DataError:
        kind = f"{type(data).__module__}.{type(data).__qualname__}"
        return cls(
            f"data of the type {kind} cannot be read.\n"
            "Hint: give a path, a list of paths, a dict of lists, or a table of pandas, Polars, "
            "PyArrow, DuckDB or any other library that Narwhals takes."
        )

    @classmethod
    def not_utf8(cls, label: str) -> DataError:
        return cls(f"{label} is not UTF-8 text.\nHint: save it again in the encoding UTF-8.")

    @classmethod
    def no_header(cls, label: str) -> DataError:
        return cls(
            f"{label} is empty: it has no header.\nHint: the first line must name the columns."
        )

    @classmethod
    def ragged(cls, label: str, line: int | None, expected: int, found: int) -> DataError:
        where = label if line is None else f"{label}, line {line}"
        return cls(
            f"{where}: the row has {found} cells, but the header names {expected} columns.\n"
            "Hint: quote cells that hold the separator."
        )

    @classmethod
    def unclosed_quote(cls, label: str, line: int) -> DataError:
        return cls(
            f"{label}, line {line}: the row does not end; it seems to open a quote that is never "
            "closed.\nHint: close the quote, or write a quote inside a cell twice."
        )

    @classmethod
    def duplicate_columns(cls, label: str, names: Iterable[str]) -> DataError:
        return cls(
            f"{label} names columns more than once: {listed(sorted(names))}.\n"
            "Hint: rename or drop them."
        )

    @classmethod
    def different_columns(
        cls, first: str, other: str, lacking: Iterable[str], extra: Iterable[str]
    ) -> DataError:
        return cls(
            f"the parts have different columns: {other} lacks {listed(sorted(lacking))} and adds "
            f"{listed(sorted(extra))} compared with {first}.\n"
            "Hint: read them apart, or give all parts the same columns (in any order)."
        )

    @classmethod
    def absent_variables(
        cls, label: str, variables: Sequence[str], columns: Sequence[str]
    ) -> DataError:
        lower = {column.lower(): column for column in columns}
        close = {name: get_close_matches(name.lower(), lower, 1) for name in variables}
        meant = [f"{lower[own[0]]!r} for {name!r}" for name, own in close.items() if own]
        separator = _other_separator(columns)
        hints = [
            f"did you mean the column {', '.join(meant[:SHOWN_VALUES])}?" if meant else "",
            f"the columns seem to be separated by {separator!r}: separate them by ',' (.csv) "
            "or by a tab (.tsv)."
            if separator
            else "",
            "rename the columns, or declare what was never observed in latent=[...] (--latent).",
        ]
        return cls(
            f"{label} has no column for the variables {listed(variables)}.\n"
            f"Hint: {' Or: '.join(filter(None, hints))}"
        )

    @classmethod
    def latent_in_data(cls, label: str, variables: Sequence[str]) -> DataError:
        return cls(
            f"{listed(variables)} are declared latent, but {label} has columns of these names.\n"
            "Hint: take them out of latent=[...] (--latent), or drop the columns."
        )

    @classmethod
    def latent_unknown(cls, names: Sequence[str]) -> DataError:
        return cls(f"latent=[...] names {listed(names)}, which are no variables of the network.")

    @classmethod
    def nothing_observed(cls) -> DataError:
        return cls("every variable is declared latent: there is nothing to learn from.")

    @classmethod
    def no_rows(cls, label: str) -> DataError:
        return cls(f"{label} has no rows.")

    @classmethod
    def too_many_states(cls, variable: str, states: int) -> DataError:
        return cls(f"variable {variable!r} has {states} states; 65535 is the most that fit.")

    @classmethod
    def table_of_other_network(cls, variables: Sequence[str]) -> DataError:
        return cls(
            "the table was encoded for another network: the variables (or their numbers of "
            f"states) differ in {listed(variables)}.\nHint: read the data again with this network."
        )

    @classmethod
    def already_encoded(cls, option: str) -> DataError:
        return cls(
            f"{option}= has no meaning for a table that is already encoded.\n"
            f"Hint: give {option}= when the data are read."
        )


class WeightError(DataError):
    """The row weights are not numbers from zero upwards."""

    @classmethod
    def no_column(cls, label: str, name: str, columns: Sequence[str]) -> WeightError:
        close = get_close_matches(name, columns, 1)
        hint = f"\nHint: did you mean {close[0]!r}?" if close else ""
        return cls(f"{label} has no column {name!r} to take the row weights from.{hint}")

    @classmethod
    def is_variable(cls, name: str) -> WeightError:
        return cls(
            f"the weight column {name!r} is a variable of the network.\n"
            "Hint: rename the column that holds the weights."
        )

    @classmethod
    def value(cls, where: str, value: object) -> WeightError:
        return cls(
            f"the weight in {where} is {clipped(value)}.\n"
            "Hint: a weight is zero or a number between 1e-100 and 1e100, and never missing."
        )

    @classmethod
    def not_numbers(cls) -> WeightError:
        return cls(
            "weight= must be the name of a column or a one-dimensional array of numbers, "
            "one for each row."
        )

    @classmethod
    def length(cls, weights: int, rows: int | str) -> WeightError:
        return cls(f"{weights} weights are given for {rows} rows.\nHint: give one for each row.")

    @classmethod
    def all_zero(cls) -> WeightError:
        return cls("every row has the weight zero.\nHint: give at least one row a weight above 0.")


class UnknownStateError(DataError):
    """The data hold a value that the network does not know."""

    @classmethod
    def in_columns(cls, columns: Sequence[str]) -> UnknownStateError:
        """From one sentence a column, each made by `unknown_values`."""
        return cls(
            "\n".join(columns[:SHOWN_VALUES])
            + (f"\nand {len(columns) - SHOWN_VALUES} more columns." * (len(columns) > SHOWN_VALUES))
            + "\nHint: rename the values, add the states to the network, name them in "
            'missing=[...] (--missing) if they mean "not observed", or read every unknown value '
            'as missing with unknown="missing" (--unknown missing).'
        )


def unknown_values(
    column: str,
    where: str,
    counts: Mapping[object, int],
    ambiguous: Iterable[object],
    states: Sequence[str],
) -> str:
    """One sentence on the unknown values of a column."""
    values = ", ".join(
        f"{clipped(value)} ({count} {'row' if count == 1 else 'rows'})"
        for value, count in sorted(counts.items(), key=lambda item: -item[1])[:SHOWN_VALUES]
    )
    more = f" and {len(counts) - SHOWN_VALUES} more" if len(counts) > SHOWN_VALUES else ""
    alike = sorted(map(clipped, ambiguous))
    several = f" More than one of them equals {', '.join(alike[:SHOWN_VALUES])}." if alike else ""
    return (
        f"column {column!r} holds {values}{more}, first in {where}, "
        f"but the network gives {column!r} the states {listed(states)}.{several}"
    )


def _other_separator(columns: Sequence[str]) -> str | None:
    if len(columns) != 1:
        return None
    return next((mark for mark in ("\t", ";", "|", ",") if mark in columns[0]), None)
