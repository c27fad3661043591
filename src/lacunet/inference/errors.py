"""What inference refuses to do."""

from __future__ import annotations

from collections.abc import Iterable

from lacunet.errors import LacunetError
from lacunet.limits import gibibytes
from lacunet.text import counted, first_of

MAX_NAMES_IN_ERROR = 6


class ImpossibleEvidenceError(LacunetError):
    """Nothing can be said given what cannot happen."""


class OverBudgetError(LacunetError):
    """Exact inference would take more memory than it may."""

    @classmethod
    def component(cls, variables: Iterable[str], budget: float) -> OverBudgetError:
        names = list(variables)
        return cls(
            f"rows miss {counted(len(names), 'variable')}{' together' if len(names) > 1 else ''} "
            f"({first_of(names, MAX_NAMES_IN_ERROR)}) that exact inference cannot sum over within "
            f"{gibibytes(budget)}.",
            "raise memory=... (--memory).",
        )


class QueryError(LacunetError):
    """The question is not one the network can be asked."""


class UnsupportedError(LacunetError):
    """The answer rests on CPT rows that no data support."""


class ImpossibleDataError(LacunetError):
    """The data hold rows that the parameters rule out, so nothing follows about their holes."""
