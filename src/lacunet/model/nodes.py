"""The nodes of a missingness graph: variables, named by a text, and mechanisms ``R[X]``."""

from __future__ import annotations

import re
from typing import NamedTuple

from lacunet.wording import in_quotes

BARE_NAME = re.compile(r"(?:[^\s,;#\"\[\]<>\-←→↔⟵⟶⟷]|-(?!>))+")


class Mechanism(NamedTuple):
    """The mechanism ``R[X]`` that decides whether a row shows ``variable``; 1 means shown.

    Examples
    --------
    >>> print(Mechanism("Income"), Mechanism("net income"))
    R[Income] R["net income"]
    """

    variable: str

    def __str__(self) -> str:
        return f"R[{quoted(self.variable)}]"


Node = str | Mechanism


def quoted(name: str) -> str:
    """A variable's name as the text format writes it: bare if it can be, else in quotes."""
    if BARE_NAME.fullmatch(name):
        return name
    return in_quotes(name).replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def named(node: Node) -> str:
    """A node as the text format writes it."""
    return str(node) if isinstance(node, Mechanism) else quoted(node)
