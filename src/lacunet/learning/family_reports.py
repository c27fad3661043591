"""What is said of a CPT: how it will be estimated, and what it rests on once it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lacunet.counts.counts import Counts
from lacunet.missingness.formulas.notation import Notation, Readable
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import SELECTION
from lacunet.text import counted, read_formula
from lacunet.text_tables import Displayed


class Formula(Protocol):
    """What is estimated, in any notation, and the variables that rows are grouped by."""

    def written(self, notation: Notation) -> str:
        """In plain text, LaTeX or MathML."""
        ...

    @property
    def given(self) -> Scope:
        """What rows are grouped by."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class ByFormula(Displayed, Readable):
    """A family with its formula; printed, the family with what is said of it in `lines`."""

    variable: str
    parents: Scope
    formula: Formula

    def _parts(self) -> list[str]:
        return [self.family, *(f"  {line}" for line in self.lines())]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.family}>"

    @property
    def family(self) -> str:
        """The variable and what it is given, in words."""
        given = f" given {', '.join(self.parents)}" if self.parents else ""
        return f"{self.variable}{given}"

    def lines(self) -> list[str]:
        """What is printed of it."""
        return [read_formula(self.estimand)]

    def written(self, notation: Notation) -> str:
        """The formula in some notation."""
        return self.formula.written(notation)


MAR = "values are missing at random"
MCAR = "values are missing completely at random"
BY_GRAPH = "values are missing as the missingness graph says"
BY_SELECTION = "rows are recorded, and values missing, as the missingness graph says"
ASSUMPTION_OF_METHOD = {
    **dict.fromkeys(("listwise", "direct-mcar", "factored-mcar"), MCAR),
    **dict.fromkeys(("direct-mar", "factored-mar", "em", "em-bp", "auto"), MAR),
    **dict.fromkeys(
        ("informed-direct", "informed-factored"), f"{MAR} given the separating variables"
    ),
    "mgraph": BY_GRAPH,
}


def assumed_by(
    method: str,
    partially: Sequence[str],
    causes: Iterable[str],
    families: Collection[ByFormula],
    graph: str = "",
) -> str:
    """What a method assumes of missing values, in a few words; "" if no value is missing.

    ``partially`` are the variables with missing values, ``causes`` what the mechanisms depend on
    that are learned beside the CPTs, ``families`` the CPTs by their formulas, none where these
    are not known yet, ``graph`` the text of the missingness graph, by which rows may be a
    selection.

    Examples
    --------
    >>> assumed_by("em", ["Ill"], [], []), assumed_by("em", ["Ill"], ["Ill"], [])
    ('values are missing at random', 'values are missing as the missingness graph says')
    """
    if str(SELECTION) in graph:
        return BY_SELECTION
    if not partially:
        return ""
    if not {*partially}.isdisjoint(causes):
        return BY_GRAPH
    if method.startswith("informed") and families:
        # What rows are grouped by beside the family itself, or for all incomplete families.
        given_of = {(*family.parents, family.variable): family.formula.given for family in families}
        given_of = {f: given for f, given in given_of.items() if not {*partially}.isdisjoint(f)}
        shared = set.intersection(*map(set, given_of.values()))
        names = (v for f, given in given_of.items() for v in given if v in shared or v not in f)
        separating = ", ".join(dict.fromkeys(names))
        return f"{MAR} given {separating}" if separating else MCAR
    return ASSUMPTION_OF_METHOD.get(method, "")


@dataclass(frozen=True, repr=False)
class FamilyPlan(ByFormula):
    """How one CPT will be estimated."""

    cells: int  # the size of its table
    verdict: str = ""  # what a missingness graph says of it
    note: str = ""  # what the user should know of the way chosen

    def lines(self) -> list[str]:
        """What is estimated, and what the user should know of it."""
        return [text for text in (*super().lines(), self.verdict, self.note) if text]


class Warned(str):
    """A warning about a CPT that knows its kind: many of one kind are told in one line.

    ``kind`` is what they have in common, ``detail`` what differs, ``weight`` how grave it is among
    its kind.
    """

    kind: str
    detail: str
    weight: float

    def __new__(cls, text: str, kind: str, detail: str = "", weight: float = 0.0) -> Warned:
        """The text, with what it knows."""
        warned = super().__new__(cls, text)
        warned.kind = kind
        warned.detail = detail
        warned.weight = weight
        return warned

    def __getnewargs__(self) -> tuple[str, str, str, float]:  # type: ignore[override]
        """What a copy is made of."""
        return str(self), self.kind, self.detail, self.weight


# Which verdicts a graph gives on a network whose CPTs are tied, or no full tables.
VERDICTS_ALONE = "Verdicts of identification are those of the network without ties and shapes."

# Kinds of warnings, the gravest first; those of no kind of their own come after the first.
NOT_IDENTIFIED = "not identified by the data"
NO_ROWS_IN_GROUPS = "no rows in the groups of some rows"
ROWS_WITHOUT_DATA = "CPT rows that no data support"
OUTWEIGHED = "the prior outweighs the rows"
UNEVEN_WEIGHTS = "CPTs by formulas that weigh rows unevenly"
MOSTLY_PRIOR = "CPT rows that mostly reflect the prior, with fewer rows than pseudo-counts"
GRAVEST_FIRST = (
    NOT_IDENTIFIED,
    NO_ROWS_IN_GROUPS,
    ROWS_WITHOUT_DATA,
    OUTWEIGHED,
    UNEVEN_WEIGHTS,
    MOSTLY_PRIOR,
)


AT_PRIOR = "prior"  # the ``fallback`` of a CPT about which the rows tell nothing


@dataclass(frozen=True, eq=False, repr=False)
class FamilyReport(ByFormula):
    r"""What the CPT of one variable rests on; the same for every method.

    ``support`` has an axis for each parent: how many rows show the variable together with that
    parent configuration (with "listwise", of the complete ones).
    ``unsupported`` counts the configurations without any: whatever the method put there is not
    backed by a row. What EM learns of ``hidden`` variables, which no row shows, is backed by the
    rows that show the rest of the family. ``unseen`` counts those about which the estimate says
    nothing either: they hold the prior alone.

    ``rows_shown`` are the rows in which the whole family is observed, ``rows_used`` those that
    enter the estimate. ``effective_sizes`` are for each parent configuration the number of
    complete rows that would give the same variance, None where that is not known.
    ``fallback_mass`` is the share of the rows'
    weight whose part of the estimand had no data of its own and was taken from ``fallback``.
    ``counts`` are those of the family among all rows, missing as a state.
    """

    rows_shown: int
    rows_used: int
    support: FloatArray
    unsupported: int
    counts: Counts
    effective_sizes: FloatArray | None = None
    fallback_mass: float = 0.0
    fallback: str = ""
    unseen: int = 0
    warnings: tuple[str, ...] = ()
    hidden: Scope = ()

    @property
    def backing(self) -> FloatArray:
        """The rows behind each parent configuration: they show all of the family but ``hidden``."""
        return self.counts.backing(self.hidden) if self.hidden else self.support

    def lines(self) -> list[str]:
        """What was estimated, from which rows, and the warnings."""
        rows = f"{counted(self.rows_shown, 'row')} shown, {self.rows_used:,} used"
        if self.effective_size is not None:
            rows += f"; effective {self.effective}"
        lines = [*super().lines(), rows]
        if self.fallback_mass:
            weight = f"{self.fallback_mass:.1%} of the rows' weight"
            lines.append(f"{weight} fell back: {self.fallback} was used")
        if self.unsupported:
            lines.append(f"{counted(self.unsupported, 'configuration')} of the parents unsupported")
        return [text for text in (*lines, *(f"! {warning}" for warning in self.warnings)) if text]

    @property
    def effective(self) -> str:
        """The effective size of the weakest CPT row, and how many rows show its parents' states."""
        size, rows = self.effective_size, self.weakest_rows
        if size is None:
            return "-"
        if rows is None or rows <= round(size):
            return f"{size:,.0f}"
        return f"{size:,.0f} of {rows:,}"

    @property
    def effective_size(self) -> float | None:
        """The effective size of the weakest CPT row that has data; None where it is not known.

        Where no row shows the family, other rows may tell of it: of a latent variable by EM.
        CPT rows that a rule decides, or that are given, have no size.
        """
        if self.effective_sizes is None:
            return None
        is_open = np.isfinite(self.effective_sizes)
        if not is_open.any():
            return None
        sizes = self.effective_sizes[is_open]
        has_data = self.support[is_open] > 0
        with_data = sizes[has_data if has_data.any() else sizes > 0]
        return float(with_data.min()) if with_data.size else 0.0

    @property
    def weakest_rows(self) -> int | None:
        """The rows that show the parents' states of the weakest CPT row, its child or not."""
        if self.effective_sizes is None:
            return None
        sizes = np.where(self.support > 0, self.effective_sizes, np.inf)
        if not np.isfinite(sizes).any():
            return None
        weakest = np.unravel_index(int(sizes.argmin()), sizes.shape)
        columns = self.counts.columns()
        shows = np.ones(len(self.counts.keys), bool)
        for parent, state in zip(self.parents, weakest, strict=True):
            shows &= columns[parent] == state
        return round(float(self.counts.tally.rows[shows].sum()))
