"""Queries as they are typed: ``X,Y|Z=z``; a name that holds a comma or a bar is quoted."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence

from lacunet.cli.options import names
from lacunet.errors import LacunetError
from lacunet.model.network import Network


def split_query(text: str) -> tuple[list[str], list[str]]:
    """What is left and right of the bar.

    Examples
    --------
    >>> split_query(' X , "a|b" | Z ')
    (['X', 'a|b'], ['Z'])
    >>> split_query("P(X | Z)")
    (['X'], ['Z'])
    """
    text = text.strip()
    if text.startswith("P(") and text.endswith(")"):
        text = text[2:-1]
    bars = (at for at, sign in enumerate(text) if sign == "|" and not text[:at].count('"') % 2)
    at = next(bars, len(text))
    left, right = map(parts_of, (text[:at], text[at + 1 :]))
    return left, right


def parts_of(text: str) -> list[str]:
    """What commas separate, without the spaces around it."""
    try:
        return [part.strip() for part in names(text)]
    except ArgumentTypeError as error:
        raise LacunetError(f"the query {text!r} cannot be read: {error}.") from None


def states_in(parts: Sequence[str], network: Network) -> dict[str, str]:
    """``["X=x", "Y=y"]`` as a mapping, if the network has these variables and states.

    A name may hold ``=`` itself, and a state the spaces around it.
    """
    found: dict[str, str] = {}
    for part in parts:
        known = [name for name in network.variables if _is_about(part, name)]
        if not known:
            name, equals, _ = part.partition("=")
            if equals and name.strip():
                network.known(name.strip())
            raise LacunetError(f"{part!r} is not of the form VARIABLE=STATE.")
        name = max(known, key=len)
        if name in found:
            raise LacunetError(f"the query names {name!r} more than once.")
        state = part[len(name) :].lstrip()[1:]
        found[name] = state if state in network.states(name) else state.strip()
        network.state_index(name, found[name])
    return found


def _is_about(part: str, name: str) -> bool:
    return part.startswith(name) and part[len(name) :].lstrip().startswith("=")
