"""What every method takes and gives back.

A method is a frozen value with its options. It plans (which statistics, for which families, at
what cost), somebody counts what the plan needs, and it estimates from these statistics alone:
no method ever sees a row. ``learn`` of `lacunet.estimate.learn` is these three lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isinf
from typing import Any, ClassVar, Protocol

import numpy as np

from lacunet.deadline import NEVER, Deadline
from lacunet.errors import LacunetError
from lacunet.estimands.notation import LATEX, MATHML, TEXT, Notation
from lacunet.memory import memory_budget
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.counts import Counts
from lacunet.statistics.gather import Needs, Statistics

Prior = float | FloatArray  # concentration of the Dirichlet prior: of all cells, or of each


class MethodError(LacunetError):
    """The method, its options and the data do not go together."""


class Formula(Protocol):
    """What is estimated, in any notation, and the variables that rows are grouped by."""

    def written(self, notation: Notation) -> str:
        """In plain text, LaTeX or MathML."""
        ...

    @property
    def given(self) -> Scope:
        """What rows are grouped by."""
        ...


@dataclass(frozen=True)
class FamilyPlan:
    """How one CPT will be estimated.

    ``cells`` is the size of its table, ``verdict`` what a missingness graph says of it, ``note``
    what the user should know of the way chosen.
    """

    variable: str
    parents: Scope
    formula: Formula
    cells: int
    verdict: str = ""
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """What a method will count and estimate; `explain` prints it, `learn` carries it out.

    ``partially`` are the variables with missing values. ``bytes_per_cell`` is what the estimate
    of a family takes at once for each of its cells. ``intention`` says what follows the
    families' estimands, ``category`` how values go missing where a graph tells. ``start`` is
    the plan of the closed form that the method starts from.
    """

    method: str
    network: Network
    partially: Scope
    families: Mapping[str, FamilyPlan]
    needs: Needs
    bytes_per_cell: int
    intention: str = ""
    category: str = ""
    start: Plan | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    r"""What every estimate needs beside the statistics.

    ``prior`` is the concentration :math:`\alpha` of the symmetric Dirichlet prior, at least one;
    ``memory`` the budget in bytes, ``deadline`` when the best so far is wanted.
    """

    prior: float = 2.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    memory: int = field(default_factory=memory_budget)
    progress: Progress = silent
    deadline: Deadline = NEVER


@dataclass(frozen=True, eq=False)
class FamilyReport:
    r"""What the CPT of one variable rests on; the same for every method.

    ``support`` has an axis for each parent: the weight of the rows that show the variable
    together with that parent configuration (with "listwise", of the complete ones).
    ``unsupported`` counts the configurations without any: whatever the method put there is not
    backed by a row. ``unseen`` counts those about which the estimate says nothing either: they
    hold the prior alone.

    ``rows_shown`` are the rows in which the whole family is observed, ``rows_used`` those that
    enter the estimate. ``effective_size`` is the number of complete rows that would give the
    same variance, None where that is not known. ``fallback_mass`` is the share of the rows'
    weight whose part of the estimand had no data of its own and was taken from ``fallback``.
    ``counts`` are those of the family among all rows, missing as a state.
    """

    variable: str
    parents: Scope
    formula: Formula
    rows_shown: int
    rows_used: int
    support: FloatArray
    unsupported: int
    counts: Counts
    effective_size: float | None = None
    fallback_mass: float = 0.0
    fallback: str = ""
    unseen: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def estimand(self) -> str:
        """What was estimated, in plain text."""
        return self.formula.written(TEXT)

    @property
    def latex(self) -> str:
        """What was estimated, in LaTeX."""
        return self.formula.written(LATEX)

    @property
    def mathml(self) -> str:
        """What was estimated, in MathML."""
        return self.formula.written(MATHML)


AGREEMENT = 0.1  # nats: starts that end so near each other found the same optimum


def agreed(starts: Sequence[float]) -> int:
    """How many starts ended at the posterior of the best.

    Examples
    --------
    >>> agreed([-10.0, -12.5, -10.05])
    2
    """
    return sum(one >= max(starts) - AGREEMENT for one in starts)


@dataclass(frozen=True)
class Ended:
    r"""How an iterative method ended.

    ``reason`` is one of "converged", "steps done", "iteration limit", "time limit",
    "interrupted", "held-out peak", "optima averaged". ``trace`` is the log-posterior of the
    parameters that each iteration started from, and of the last; its likelihood part is the
    *observed* data's, its prior part :math:`(\alpha - 1) \sum \log \theta`. ``heldout`` is the
    observed-data log-likelihood of held-out rows, at the start, after 1, 2, 4, 8 and 16 steps and
    at convergence, where they decide how far EM goes. Where optima were averaged, the last value
    of the trace is that of their mean. ``starts`` are the log-posteriors in which the starts
    ended, the first start's first. Where the work was cut short before a value was known, it is
    NaN.
    """

    reason: str
    iterations: int
    seconds: float
    log_likelihood: float
    log_posterior: float
    trace: tuple[float, ...]
    notes: tuple[str, ...] = ()
    heldout: tuple[float, ...] = ()
    starts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Learned:
    """The CPTs a method gives (axes parents... then child), and what they rest on.

    ``statistics`` are those that they were estimated from; whoever had them counted adds them.
    """

    tables: Mapping[str, FloatArray]
    families: Mapping[str, FamilyReport]
    ended: Ended | None = None
    why: str = ""
    notes: tuple[str, ...] = ()
    statistics: Statistics | None = None


class Method(Protocol):
    """A way to learn all CPTs; a frozen dataclass whose fields are its options."""

    name: ClassVar[str]

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        ...

    def plan(self, network: Network, partially: Scope | None) -> Plan:
        """What will be counted and estimated, if these variables have missing values.

        None if it is not known which: then all may have.
        """
        ...

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        """The CPT of every variable, from what was counted."""
        ...


def option(
    default: Any,
    text: str,
    *,
    kind: Callable[[str], Any] = str,
    metavar: str | None = None,
    choices: Sequence[str] | None = None,
    least: float = -inf,
    most: float = inf,
) -> Any:
    """A field of a method that users can set, from Python and from the command line.

    Parameters
    ----------
    text
        What it does, for the help.
    kind
        Turns what was typed into a value.
    choices, least, most
        What is accepted; None is, where it is the default.
    """
    metadata = {
        "text": text,
        "kind": kind,
        "metavar": metavar,
        "choices": choices,
        "least": least,
        "most": most,
    }
    return field(default=default, metadata=metadata)


def check_options(method: Any) -> None:
    """Refuse a value that an option does not take; for a method's ``__post_init__``."""
    for own in method.__dataclass_fields__.values():
        allowed, value = own.metadata, getattr(method, own.name, None)
        if not allowed or value is None:
            continue
        if allowed["choices"] is not None and value not in allowed["choices"]:
            known = ", ".join(allowed["choices"])
            raise MethodError(f"{own.name} is {value!r}, but must be one of {known}.")
        if isinf(allowed["least"]):
            continue
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (is_number and allowed["least"] <= value <= allowed["most"]):
            bounds = f"at least {allowed['least']:g}"
            if not isinf(allowed["most"]):
                bounds = f"from {allowed['least']:g} to {allowed['most']:g}"
            raise MethodError(f"{own.name} is {value!r}, but must be {bounds}.")
