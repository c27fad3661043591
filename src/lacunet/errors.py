"""The root of every deliberate error.

What descends from `LacunetError` is a problem with the user's input: the command line prints
its message without a traceback. Anything else is our bug. An error that is raised in one place
is a sentence at that place; a named constructor is for one that is raised in several.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from lacunet.text import did_you_mean, first_of
from lacunet.text_tables import Displayed

Value = TypeVar("Value")

# Control characters of names and files, which must never reach a terminal; lines may break.
_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(10), *range(11, 32), *range(127, 160))}
MAX_NAMES_IN_LINE = 5  # of a mapping
_OURS = (str(Path(__file__).parent), contextlib.__file__)  # `with` runs our code from there


class LacunetError(ValueError):
    """Something is wrong with the input.

    ``message`` says what and where, ``hint`` the way out; printed, the one follows the other.

    Examples
    --------
    >>> print(LacunetError("column 'Age' is missing.", "name it in latent=[...]."))
    column 'Age' is missing.
    Hint: name it in latent=[...].
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.message}\nHint: {self.hint}" if self.hint else self.message
        return text.translate(_ESCAPED)


class NoSuchNameError(LacunetError, KeyError):
    """A mapping does not have this name."""


class ByName(Displayed, dict[str, Value]):
    """A mapping that answers a name it does not have with those that are close, or all.

    Examples
    --------
    >>> ByName({"Age": 1, "Ill": 2})["age"]
    Traceback (most recent call last):
    lacunet.errors.NoSuchNameError: there is no 'age'.
    Hint: did you mean 'Age'?
    """

    def __missing__(self, name: str) -> Value:
        hint = did_you_mean(str(name), self) or f"there are {first_of([*self], 10)}."
        raise NoSuchNameError(f"there is no {name!r}.", hint)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {first_of([*self], MAX_NAMES_IN_LINE) or 'nothing'}>"

    def _parts(self) -> Iterator[object]:
        for position, value in enumerate(self.values()):
            if position:
                yield ""
            yield value


class LacunetWarning(UserWarning):
    """The input was accepted, but the user should know how."""


def as_level(level: Any) -> float:
    """The level of an interval as a share; from 50 it is in per cent.

    Examples
    --------
    >>> as_level(0.9), as_level(95)
    (0.9, 0.95)
    """
    share = float(level) if isinstance(level, Real) else 0.0
    if 50 <= share < 100:
        return share / 100
    if not 0 < share < 1:
        raise LacunetError(
            f"{level!r} is not the level of an interval.",
            "give a number between 0 and 1, such as 0.95, or per cent from 50 to below 100: 95.",
        )
    return share


def warn(message: str, category: type[LacunetWarning] = LacunetWarning) -> None:
    """Warn, pointing at the line of the user's code that called into the package."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        level = level + 1
        frame = frame.f_back
    warnings.warn(message.translate(_ESCAPED), category, stacklevel=level)
