"""What inference refuses to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lacunet.errors import LacunetError
from lacunet.wording import assigned


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
            f"exact inference needs about {needed / 2**20:,.0f} MiB, over the budget of "
            f"{budget / 2**20:,.0f} MiB: the largest clique joins {len(names)} variables "
            f"({_first_six(names)}) into {cells:.2g} cells.\n"
            "Hint: raise memory=<bytes>, ask for fewer variables, or give more evidence."
        )

    @classmethod
    def component(cls, variables: Iterable[str], budget: float) -> OverBudgetError:
        names = list(variables)
        return cls(
            f"rows miss {len(names)} variables together ({_first_six(names)}) that exact inference "
            f"cannot sum over within {budget / 2**20:,.0f} MiB.\nHint: raise memory=<bytes>."
        )


def _first_six(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


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
            "have the probability zero under the current CPTs (or one below 1e-307).\n"
            "Hint: start from CPTs without zeros, such as those of a closed-form method "
            "with a prior above 1."
        )
