"""What the door refuses: data that cannot be read, or do not fit the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, isnan

from lacunet.errors import LacunetError, LacunetWarning
from lacunet.text import counted, did_you_mean, first_of, flag, in_shell

SHOWN_VALUES = 10
SHOWN_NAMES = 20
SHOWN_TEXT = 60
MOST_COMPARED = 1000  # columns whose names are looked at for a close one


def short_list(values: Sequence[object]) -> str:
    """The values as a short list: long texts and long lists are cut, and say so."""
    shown = [clipped(value) for value in values[:SHOWN_VALUES]]
    more = len(values) - len(shown)
    return "[" + ", ".join(shown) + (f", and {more} more]" if more else "]")


def clipped(value: object) -> str:
    """A value as it would be written in code, cut where it is long, with its last quote.

    >>> clipped("yes"), clipped("a" * 80).endswith("aaa...'")
    ("'yes'", True)
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return "a number of thousands of digits"
    end = f"...{text[-1]}" if text[-1:] in "'\"])}" else "..."
    return text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + end


class DataWarning(LacunetWarning):
    """A note on how data were read; it is also among the notes of the table and the result."""


class DataError(LacunetError):
    """The data cannot be read, or do not fit the network."""

    @classmethod
    def unreadable(cls, label: str, reason: object, hint: str = "") -> DataError:
        words = str(reason).strip().rstrip(".") or type(reason).__name__
        return cls(f"{label} cannot be read: {words}.", hint)

    @classmethod
    def damaged(cls, label: str, reason: object) -> DataError:
        return cls.unreadable(
            label,
            reason,
            "the file may be damaged or cut short, or of another kind than its name says: write or "
            "fetch it again, or correct the ending of its name.",
        )

    @classmethod
    def empty_columns(cls, names: Sequence[str]) -> DataError:
        columns = "columns" if len(names) > 1 else "column"
        return cls(
            f"no row shows a value of the {columns} {', '.join(map(repr, names))}, so that nothing "
            "can be drawn there.",
            f"leave it out: without={[*names]!r} (--without {in_shell(','.join(names))}), or "
            f"X.drop(columns={[*names]!r}).",
        )

    @classmethod
    def no_rows(cls, label: str) -> DataError:
        return cls(
            f"{label} has no rows.",
            "look at what made it: a filter may leave nothing, and what can be read only once may "
            "have been read before.",
        )

    @classmethod
    def unknown_kind(cls, data: object) -> DataError:
        if isinstance(data, list | tuple) and not all(isinstance(each, str) for each in data):
            kinds = sorted({type(each).__name__ for each in data})
            return cls(
                f"data are a {type(data).__name__} of {', '.join(kinds)}: the names of columns are "
                "not known, or each row has its own.",
                "give a dict of lists, {'Age': ['old', None]}, or a table: pandas.DataFrame(rows, "
                "columns=[...]). A list may hold paths, or Arrow tables.",
            )
        of = type(data)
        kind = "" if of.__module__ == "builtins" else f"{of.__module__}."
        return cls(
            f"data of the type {kind}{of.__qualname__} cannot be read.",
            "give a path, a list of paths, a dict of lists, lacunet.Data(query=...), or a table of "
            "pandas, Polars, PyArrow, DuckDB or any other library that Narwhals takes.",
        )


def refuse_duplicates(label: str, columns: Sequence[str]) -> None:
    """Refuse a table in which two columns have one name."""
    if len(set(columns)) < len(columns):
        twice = sorted(name for name, times in Counter(columns).items() if times > 1)
        raise DataError(
            f"{label} names columns more than once: {short_list(twice)}.", "rename or drop them."
        )


def refuse_strangers(
    option: str,
    names: Iterable[str],
    known: Sequence[str],
    whose: str,
    error: type[LacunetError] = DataError,
    *,
    hint: str = "",
) -> None:
    """Refuse an option that names what is not there: it would be ignored in silence.

    The ``hint`` is given where no name is close.
    """
    there = set(known)
    if strangers := [name for name in names if name not in there]:
        typed = "--replicates" if option == "replicate_weights" else flag(option)
        raise error(
            f"{option}= ({typed}) names {short_list(strangers)}, which {whose} does not have.",
            did_you_mean(strangers[0], known[:MOST_COMPARED])
            or hint
            or f"it has {first_of([*dict.fromkeys(known)], SHOWN_NAMES)}.",
        )


class PromiseError(DataError):
    """A value is missing where none was to be."""

    @classmethod
    def broken(cls, variable: str, where: str) -> PromiseError:
        return cls(
            f"{variable!r} is promised to be fully observed, but it is missing in {where}.",
            "take it out of fully_observed=[...] (--fully-observed).",
        )


class WeightError(DataError):
    """The row weights are not numbers from zero upwards."""

    @classmethod
    def value(cls, noun: str, where: str, value: object) -> WeightError:
        is_missing = value is None or value == "" or (isinstance(value, float) and isnan(value))
        shown = "missing" if is_missing else clipped(value)
        rule = f"{noun}s must be numbers, and not negative, infinite or missing."
        if isinstance(value, float | int) and value is not True and 0 < value < inf:
            rule = f"{noun}s above zero must be between 1e-100 and 1e100: rescale them."
        counting = " Rows are counted from 1." if "row " in where else ""
        return cls(f"the {noun} in {where} is {shown}.", rule + counting)

    @classmethod
    def length(cls, option: str, given: int, rows: int | str) -> WeightError:
        return cls(
            f"{option} has {counted(given, 'value')} for {rows} rows.", "give one for each row."
        )


class UnknownStateError(DataError):
    """The data hold a value that the network does not know."""
