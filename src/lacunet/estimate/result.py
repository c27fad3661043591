"""What was learned, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from lacunet.estimate.intervals import Uncertainty
from lacunet.estimate.method import Ended, FamilyReport, MethodError
from lacunet.model.network import Cpt, FloatArray, Network
from lacunet.uncertainty.bounds import WorstCase, bounds
from lacunet.wording import counted


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """What was learned, and what it rests on.

    ``network`` has the learned CPTs; ``families`` says of each variable's CPT which estimand
    it is, from how many rows, how much of it fell back and on what. ``total`` is the weight of
    the rows, scaled to the number that they are worth. ``ended`` tells how an iterative method
    ended, None for a closed form. ``why`` is the reason for the method, where the method was
    chosen and not given. ``mechanisms`` are the CPTs of the mechanisms, where EM learned them
    from a missingness graph; ``uncertainty`` is None unless intervals were asked for.
    """

    network: Network
    families: Mapping[str, FamilyReport]
    method: str
    rows: int
    total: float
    prior: float
    missing: Mapping[str, int]
    notes: tuple[str, ...]
    ended: Ended | None = None
    why: str = ""
    mechanisms: Mapping[str, Cpt] = field(default_factory=dict)
    uncertainty: Uncertainty | None = None

    def __repr__(self) -> str:
        warnings = counted(len(self.warnings), "warning")
        cpts = counted(len(self.network.variables), "CPT")
        return f"<Result: {cpts} by {self.method} from {counted(self.rows, 'row')}, {warnings}>"

    def _repr_html_(self) -> str:
        listed = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        return f"<p>{escape(repr(self))}</p><ul>{listed}</ul>{self.network._repr_html_()}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all families, each with its variable."""
        return tuple(
            f"{name}: {warning}"
            for name, report in self.families.items()
            for warning in report.warnings
        )

    def cpt(self, variable: str) -> Cpt:
        """The learned CPT of a variable."""
        return self.network.cpt(variable)

    def interval(self, variable: str, level: float = 0.95) -> FloatArray:
        """The interval of every entry of a CPT: its axes, then low and high."""
        return self.require_intervals().interval(self.network.known(variable), level)

    def standard_error(self, variable: str) -> FloatArray:
        """The standard error of every entry of a CPT."""
        return self.require_intervals().standard_error(self.network.known(variable))

    def bounds(self, variable: str) -> WorstCase:
        """The lowest and highest value of every CPT entry, whatever the missing values are.

        They rest on no assumption about why values are missing; the prior has no part in them.
        The rows are a sample: `interval` of what is returned allows for that.
        """
        return bounds(self.families[self.network.known(variable)].counts)

    def require_intervals(self) -> Uncertainty:
        """How sure the CPTs are, if that was asked for."""
        if self.uncertainty is None:
            raise MethodError(
                "the result has no intervals.", "learn with intervals=True (--intervals)."
            )
        return self.uncertainty


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while learning; ``result`` is the best so far."""

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted; the best so far is in the exception's `result`")
        self.result = result
