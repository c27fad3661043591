"""What inference refuses to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lacunet.errors import LacunetError
from lacunet.memory import gibibytes
from lacunet.wording import assigned, counted, first_of

MOST_NAMES = 6


class ImpossibleEvidenceError(LacunetError):
    """Nothing can be said given what cannot happen."""

    @classmethod
    def of(cls, evidence: Mapping[str, str]) -> ImpossibleEvidenceError:
        shown = ", ".join(assigned(name, state) for name, state in evidence.items())
        together, whose = (" together", "their") if len(evidence) > 1 else ("", "its")
        return cls(
            f"{shown} cannot occur{together} in this network: {whose} probability is zero.",
            "leave out the evidence that is in doubt, or look for zeros in the CPTs: "
            "network.cpt(variable).",
        )


class OverBudgetError(LacunetError):
    """Exact inference would take more memory than it may."""

    @classmethod
    def junction_tree(
        cls, needed: float, budget: float, clique: Iterable[str], cells: float
    ) -> OverBudgetError:
        names = list(clique)
        return cls(
            f"exact inference needs about {gibibytes(needed)}, over the budget of "
            f"{gibibytes(budget)}: the largest clique joins {counted(len(names), 'variable')} "
            f"({first_of(names, MOST_NAMES)}) into {cells:.2g} cells.",
            "raise memory=... (--memory), ask for fewer variables, or give more evidence.",
        )

    @classmethod
    def component(cls, variables: Iterable[str], budget: float) -> OverBudgetError:
        names = list(variables)
        return cls(
            f"rows miss {counted(len(names), 'variable')}{' together' if len(names) > 1 else ''} "
            f"({first_of(names, MOST_NAMES)}) that exact inference cannot sum over within "
            f"{gibibytes(budget)}.",
            "raise memory=... (--memory).",
        )


class QueryError(LacunetError):
    """The question is not one the network can be asked."""

    @classmethod
    def repeated(cls, variables: Iterable[str]) -> QueryError:
        return cls(f"the target names a variable more than once: {sorted(variables)}.")


class UnsupportedError(LacunetError):
    """The answer rests on CPT rows that no data support."""


class ImpossibleDataError(LacunetError):
    """The data hold rows that the parameters rule out, so nothing follows about their holes."""

    @classmethod
    def of(cls, shown: Mapping[str, str], hidden: Iterable[str]) -> ImpossibleDataError:
        states = ", ".join(assigned(name, state) for name, state in shown.items())
        return cls(
            f"rows that miss {sorted(hidden)} and show {states or 'nothing near them'} "
            "have the probability zero under the current CPTs (or one below 1e-307).",
            "start from CPTs without zeros, such as those of a closed-form method "
            "with a prior above 1.",
        )
