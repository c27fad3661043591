"""Keywords that say how data are read: `lacunet.Data` takes them, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

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
            from lacunet.data.data import refuse_options_of_data

            refuse_options_of_data([keyword for keyword in keywords if keyword not in parameters])
        return function(*args, **keywords)

    return checked
