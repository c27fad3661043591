"""What a format cannot carry: names beyond its grammar, and networks without CPTs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lacunet.formats.errors import FormatError
from lacunet.model.network import Network

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Name = Callable[[str], bool]


def is_one_line(name: str) -> bool:
    """Whether a text holds no line break nor other control character."""
    return not _CONTROL.search(name)


def is_identifier(name: str) -> bool:
    """Whether a text is a letter or underscore, then letters, digits and underscores."""
    return _IDENTIFIER.fullmatch(name) is not None


def refuse_names(network: Network, form: str, variable: Name, state: Name, others: str) -> None:
    """Refuse a network with a name that the format cannot express, and say which format can."""
    for kind, name, fits in _names(network, variable, state):
        if not fits(name):
            raise FormatError.cannot_carry(form, f"the {kind} {name!r}", others)


def refuse_bare(network: Network, form: str, others: str) -> None:
    """Refuse a network without CPTs in a format that demands numbers."""
    if not network.has_cpts:
        raise FormatError.cannot_carry(form, "a network without CPTs", others)


def _names(network: Network, variable: Name, state: Name) -> Iterator[tuple[str, str, Name]]:
    for name in network.variables:
        yield "variable name", name, variable
        for own in network.states(name):
            yield f"state of {name!r}", own, state
