"""Columns that are not variables as they are, in one error with the line that makes data of them.

Identifiers, free text, dates and numbers with many values are refused wherever the data are to say
the states. Each refusal (`lacunet.data.states`) knows what `lacunet.Data` is to be told of its
column; here that is joined to one line for Python and the same options for the shell. The line can
be pasted around the data or in place of what was said of them before, which it repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lacunet.data.data import Data
from lacunet.data.states import (
    DatesError,
    IdentifierError,
    NestedError,
    NumbersError,
    SpellingsError,
    StatesError,
    states_option,
)
from lacunet.network.edges import Edges, edges_text
from lacunet.network.spelling import spelled
from lacunet.text import in_shell, keyed, listed, typed_list

# The order in which kinds are named; others come last.
ORDER_OF_ERRORS = (IdentifierError, NestedError, DatesError, NumbersError)


def refusal(
    refused: Mapping[str, StatesError], data: Data, edges: Edges | None = None
) -> StatesError:
    """One error for some columns: those that edges name, or some of all."""
    if len(refused) == 1 and edges is not None:
        (error,) = refused.values()
        if error.hint:  # what only it can say
            return error
    in_order = sorted(refused, key=lambda name: _place(refused[name]))
    kinds = {type(error) for error in refused.values()}
    if kinds == {SpellingsError}:
        return SpellingsError.joined([e for e in refused.values() if isinstance(e, SpellingsError)])
    kind = kinds.pop() if len(kinds) == 1 else StatesError
    message = "\n".join(refused[name].message for name in in_order)
    return kind(message, _way_out(refused, data, edges))


def _place(error: StatesError) -> int:
    return next(
        (n for n, kind in enumerate(ORDER_OF_ERRORS) if isinstance(error, kind)),
        len(ORDER_OF_ERRORS),
    )


def _way_out(refused: Mapping[str, StatesError], data: Data, edges: Edges | None) -> str:
    """What to do about all of the columns, as one line to paste."""
    dropped = [name for name, error in refused.items() if "bins" not in error.remedy]
    dropped = [name for name in dropped if not isinstance(refused[name], SpellingsError)]
    options = _data_options(refused, data)
    shell = _shell_options(refused)
    ways = []
    if dropped and edges is not None:
        rest = edges_text(edges, dropped)
        ways.append(f"leave {listed(dropped)} out of the edges" + (f": {rest!r}" if rest else ""))
    elif dropped:
        options["without"] = [*data.without, *dropped]
        shell.append(f"--without {in_shell(typed_list(options['without']))}")
    if options:
        typed = ", ".join(f"{option}={value!r}" for option, value in options.items())
        ways.append(f"give lacunet.Data(data, {typed}) ({' '.join(shell)})")
    alike = [error for error in refused.values() if isinstance(error, SpellingsError)]
    if alike:
        merged = SpellingsError.joined(alike)
        ways.append(f"or, in place of states=, merge them: {merged.merging}")
    return "; ".join(ways) + "."


def _data_options(refused: Mapping[str, StatesError], data: Data) -> dict[str, Any]:
    """The options of the line: what was said before, and what each column needs."""
    options: dict[str, Any] = {}
    for name, error in refused.items():
        for option, value in error.remedy.items():
            if option == "decimal":
                options[option] = value
            else:
                before = getattr(data, option)
                options.setdefault(option, {k: _plain(v) for k, v in before.items()})[name] = value
    return {option: options[option] for option in (*ORDER,) if option in options}


ORDER = ("bins", "states", "missing", "decimal")


def _plain(value: Any) -> Any:
    """What was said before, as it is typed."""
    if isinstance(value, tuple) and value[:1] != ("width",):
        return list(value)
    return value


def _shell_options(refused: Mapping[str, StatesError]) -> list[str]:
    """The same in the shell, where options add up."""
    options: dict[str, None] = {}
    for name, error in refused.items():
        key = keyed(name, "=")
        for option, value in error.remedy.items():
            if option == "bins":
                options[f"--bins {in_shell(f'{key}={value}')}"] = None
            elif option == "missing":
                codes = typed_list([spelled(code) for code in value])
                options[f"--missing {in_shell(f'{key}={codes}')}"] = None
            elif option == "decimal":
                options[f"--decimal {in_shell(value)}"] = None
            elif option == "states":
                options[states_option(name, value)] = None
    return [*options]
