"""A query as it was asked, in the order in which it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lacunet.network.network import Scope
from lacunet.network.nodes import Mechanism, node_text
from lacunet.text import assigned, conditional


class Asked(NamedTuple):
    """P(target | given, do(do)); its table has the axes do..., given..., target....

    Examples
    --------
    >>> print(Asked(("Y",), ("Z",), ("X",)))
    P(Y | do(X), Z)
    """

    target: Scope
    given: Scope = ()
    do: Scope = ()

    @property
    def conditions(self) -> Scope:
        """What is done, then what is seen."""
        return (*self.do, *self.given)

    @property
    def names(self) -> Scope:
        """Every variable, in the order of the axes."""
        return (*self.conditions, *self.target)

    @property
    def variables(self) -> Scope:
        """The same without mechanisms, which the target of a full law has."""
        return tuple(name for name in self.names if not isinstance(name, Mechanism))

    def at(self, states: Sequence[str]) -> str:
        """One cell of the query in words.

        Examples
        --------
        >>> Asked(("Y",), ("Z",), ("X",)).at(["x", "z", "y"])
        'P(Y=y | do(X=x), Z=z)'
        """
        pairs = zip(self.names, states, strict=True)
        return self._written([assigned(node_text(name), state) for name, state in pairs])

    def __str__(self) -> str:
        return self._written([*map(node_text, self.names)])

    def _written(self, words: Sequence[str]) -> str:
        """The query with a word for each variable, in the order of the axes."""
        do, seen = len(self.do), len(self.conditions)
        done = [f"do({', '.join(words[:do])})"] if do else []
        return conditional(", ".join(words[seen:]), [*done, *words[do:seen]])
