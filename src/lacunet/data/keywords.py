"""Keywords that say how data are read: `lacunet.Data` takes them, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from lacunet.data.errors import DataError

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def takes_data(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """A function that says where the options of `lacunet.Data` belong when it is given one.

    Raises
    ------
    DataError
        A keyword is not the function's own and says how data are read.
    """
    code = function.__code__
    parameters = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @wraps(function)
    def checked(*args: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        if not keywords.keys() <= parameters:
            _refuse([keyword for keyword in keywords if keyword not in parameters])
        return function(*args, **keywords)

    return checked


def _refuse(keywords: list[str]) -> None:
    from lacunet.data.given import Data

    if options := [f"{keyword}=" for keyword in keywords if keyword in Data.__dataclass_fields__]:
        verb = "says" if len(options) == 1 else "say"
        raise DataError(
            f"{' and '.join(options)} {verb} how data are read.",
            f"give the data as lacunet.Data(data, {', '.join(f'{each}...' for each in options)}).",
        )
