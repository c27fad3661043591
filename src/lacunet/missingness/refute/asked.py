"""A query as it was asked, in the order in which it was asked."""

from __future__ import annotations

from typing import NamedTuple

from lacunet.model.network import Scope
from lacunet.model.nodes import quoted


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

    def __str__(self) -> str:
        done = f"do({', '.join(map(quoted, self.do))})" if self.do else ""
        right = ", ".join(filter(None, [done, *map(quoted, self.given)]))
        left = ", ".join(map(quoted, self.target))
        return f"P({left} | {right})" if right else f"P({left})"
