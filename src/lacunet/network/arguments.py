"""One answer to arguments that a public function, method or class does not take.

It names what is wrong, and all parameters, the nearest first. Keywords that say how data are read
belong to `lacunet.Data`, and the answer says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, TypeVar

from lacunet.errors import LacunetError
from lacunet.text import did_you_mean, first_of, listed

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
MOST_PARAMETERS = 30  # that are listed
VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


class ArgumentsError(LacunetError, TypeError):
    """A function was called with arguments that it does not take, or without some that it needs."""


def clear_arguments_or(also: str) -> Callable[[Decorated], Decorated]:
    """The same as `clear_arguments`, with what to do where an argument is missing."""
    return partial(clear_arguments, also=also)


def clear_arguments(decorated: Decorated, also: str = "") -> Decorated:
    """A function, or a class with its public methods, that answers wrong arguments in words."""
    if not isinstance(decorated, type):
        return _clear(decorated, decorated.__name__, also)  # type: ignore[return-value]
    start = decorated.__init__  # type: ignore[misc]
    if start is not object.__init__:
        decorated.__init__ = _clear(start, decorated.__name__, also)  # type: ignore[misc]
    for name, member in [*vars(decorated).items()]:
        if isinstance(member, classmethod | staticmethod) and not name.startswith("_"):
            function = member.__func__
            kind = type(member)
            setattr(decorated, name, kind(_clear(function, name, also)))
        elif inspect.isfunction(member) and not name.startswith("_") and _has_options(member):
            setattr(decorated, name, _clear(member, name, also))
    return decorated


def hide_parameters(shown: type, *names: str) -> None:
    """Leave out of a signature what the package itself alone gives."""
    signature = inspect.signature(shown)
    kept = [value for name, value in signature.parameters.items() if name not in names]
    setattr(shown, "__signature__", signature.replace(parameters=kept))  # noqa: B010


def _has_options(function: Callable[..., Any]) -> bool:
    """Whether a method has parameters with defaults: what is asked often has none."""
    return bool(function.__defaults__ or function.__kwdefaults__)


def _clear(function: Callable[..., Any], name: str, also: str) -> Callable[..., Any]:
    code = inspect.unwrap(function).__code__
    parameters = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    takes_data = "data" in parameters or {"self", "rows"} <= parameters

    @wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if takes_data and not keywords.keys() <= parameters:
            from lacunet.data.data import refuse_options_of_data

            refuse_options_of_data([keyword for keyword in keywords if keyword not in parameters])
        try:
            return function(*arguments, **keywords)
        except TypeError:
            refusal = _refusal(function, name, arguments, keywords, also)
            if refusal is None:  # it comes from within
                raise
        raise refusal

    return checked


def _refusal(
    function: Callable[..., Any],
    name: str,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    also: str,
) -> ArgumentsError | None:
    """What is wrong with the arguments; None if they fit."""
    signature = inspect.signature(function)
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        reason = str(error)
    else:
        return None
    known = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind not in VARIABLE and parameter.name not in ("self", "cls")
    ]
    if unknown := [keyword for keyword in keywords if keyword not in signature.parameters]:
        return unknown_arguments(name, unknown, known)
    hint = _parameters(name, known)
    if also and "missing" in reason:
        hint = f"{also} {hint}"
    return ArgumentsError(f"{name}: {reason}.", hint)


def unknown_arguments(name: str, unknown: Sequence[str], known: Collection[str]) -> ArgumentsError:
    """The error on keywords that a function does not take.

    >>> print(unknown_arguments("learn", ["interval"], ["network", "data", "intervals"]))
    learn has no parameter 'interval'.
    Hint: did you mean 'intervals'? learn has the parameters intervals, network, data.
    """
    nearest = sorted(known, key=partial(_distance, unknown[0]))
    meant = did_you_mean(unknown[0], known)
    noun = "parameter" if len(unknown) == 1 else "parameters"
    return ArgumentsError(
        f"{name} has no {noun} {listed(unknown)}.", f"{meant} {_parameters(name, nearest)}".lstrip()
    )


def _parameters(name: str, known: Iterable[str]) -> str:
    names = first_of([*known], MOST_PARAMETERS)
    if names:
        return f"{name} has the parameters {names}."
    return f"{name} has no parameters."


def _distance(keyword: str, parameter: str) -> float:
    from difflib import SequenceMatcher

    return -SequenceMatcher(None, keyword.lower(), parameter.lower()).ratio()
