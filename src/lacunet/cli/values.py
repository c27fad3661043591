"""What a word behind an option means: a number, a size, a level, names."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from functools import partial
from math import inf
from typing import TypeVar

from lacunet.errors import LacunetError, as_level
from lacunet.limits import available, gibibytes, size_in_bytes
from lacunet.text import separated

LEAST_ABOVE_ZERO = 5e-324
Number = TypeVar("Number", int, float)


def parse_names(text: str) -> list[str]:
    """Names separated by commas; one that holds a comma is quoted.

    Examples
    --------
    >>> parse_names('Age, "income, net"')
    ['Age', 'income, net']
    """
    parts = separated(text) if text.strip() else []
    if not all(parts):
        raise ArgumentTypeError("give names separated by commas")
    return parts


def groups(text: str) -> str | list[str]:
    """Names that make groups, or the word that asks to find them."""
    return text.strip() if text.strip() == "learn" else parse_names(text)


def names_in(option: str, text: str) -> list[str]:
    """The names in a part of what is typed behind an option, which is read after all options."""
    try:
        return parse_names(text)
    except ArgumentTypeError as error:
        raise LacunetError(f"{option}: {text!r} has an empty name.", f"{error}.") from None


def number(text: str, kind: Callable[[str], Number], low: float, high: float, what: str) -> Number:
    """A number from ``low`` and below ``high``."""
    wrong = ArgumentTypeError(f"{text!r} is not {what}")
    try:
        value = kind(text)
    except ValueError:
        raise wrong from None
    if not low <= value < high:
        raise wrong
    return value


def pseudo_counts(text: str) -> float | str:
    """What is added to each cell of a CPT, or that it is to be learned."""
    if text == "learn":
        return text
    return number(text, float, 0, inf, "a number from 0, or 'learn'")


def rows_of_experts(text: str) -> float:
    """How many rows of data each CPT row of experts counts as."""
    value = number(text, float, 0, inf, "a number of rows above 0")
    if value == 0:
        raise ArgumentTypeError("0 rows add nothing: give a number of rows above 0")
    return value


def natural(text: str) -> int:
    """A whole number from zero upwards."""
    return number(text, int, 0, inf, "a whole number from zero upwards")


def positive(text: str) -> int:
    """A whole number of at least one."""
    return number(text, int, 1, inf, "a whole number of at least one")


def gigabytes(text: str) -> int:
    """A size in GiB, or with its unit, as bytes.

    Examples
    --------
    >>> gigabytes("0.5"), gigabytes("500MB"), gigabytes("512 MiB")
    (536870912, 500000000, 536870912)
    """
    what = "a number of GiB, such as 0.5, or a size such as 500MB"
    size = int(number(text, partial(size_in_bytes, unit="GiB"), LEAST_ABOVE_ZERO, 2**50, what))
    if size > available() and not text.strip()[-1].isalpha():
        raise ArgumentTypeError(
            f"{text} GiB are more than the {gibibytes(available())} there are; write {text}MB for "
            f"megabytes, or {text}GiB if you mean them"
        )
    return size


def limit(text: str) -> float | None:
    """A time limit in seconds; ``none`` is no limit."""
    if text.strip() == "none":
        return None
    return number(text, float, LEAST_ABOVE_ZERO, 1e7, "a number of seconds, as in 5, or 'none'")


def level(text: str) -> float:
    """A level as a share, or in per cent."""
    bare = text.removesuffix("%")
    wrong = f"{text!r} is not a level such as 0.95, or 95 per cent"
    try:
        share = as_level(float(bare))
    except ValueError:  # of ours, or of float
        raise ArgumentTypeError(wrong) from None
    if bare != text and float(bare) == share:
        raise ArgumentTypeError(wrong)
    return share
