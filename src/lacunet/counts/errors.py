"""What cannot be counted."""

from __future__ import annotations

from collections.abc import Sequence

from lacunet.errors import LacunetError
from lacunet.limits import gibibytes
from lacunet.text import first_of

SMALLER = "remove parents, merge states, or raise the budget: memory=... (--memory)."


class TooLargeError(LacunetError):
    """A table would not fit into the memory allowed."""

    @classmethod
    def family(
        cls, variable: str, parents: Sequence[str], needed: int, budget: int
    ) -> TooLargeError:
        given = f" with parents {first_of(parents, 8)}" if parents else ""
        return cls(
            f"variable {variable!r}{given} needs {gibibytes(needed)}, "
            f"but the memory budget is {gibibytes(budget)}.",
            SMALLER,
        )

    @classmethod
    def network(cls, variable: str, needed: int, budget: int) -> TooLargeError:
        return cls(
            f"the CPTs of the network need {gibibytes(needed)} together, the largest being that "
            f"of {variable!r}, but the memory budget is {gibibytes(budget)}.",
            SMALLER,
        )


class StatisticsError(LacunetError):
    """What is asked cannot be told from what was counted."""


class ScopeError(LacunetError):
    """Statistics of different things cannot be added."""
