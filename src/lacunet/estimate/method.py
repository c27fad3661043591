"""What every method takes and gives back: a look at the data in, a plan out.

A method is a frozen value with its options. It decides everything in its plan: which stages,
which statistics for which families, what becomes of each branch. Somebody counts what the plan
needs, and its stages estimate from these statistics alone: no stage ever sees a row, and nobody
asks what kind of stage it is. ``learn`` of `lacunet.estimate.learn` is these three lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isinf, prod
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from lacunet.deadline import NEVER, Deadline
from lacunet.errors import LacunetError
from lacunet.estimands.notation import LATEX, MATHML, TEXT, Notation
from lacunet.estimate.prior import (
    LEARN,
    ONE_PER_CELL,
    AskedPrior,
    LearnedPrior,
    Prior,
)
from lacunet.inference.engine import Engine
from lacunet.memory import memory_budget
from lacunet.model.network import Cpt, FloatArray, Network, Scope
from lacunet.model.nodes import SELECTION
from lacunet.progress import Progress, silent
from lacunet.statistics.counts import Counts
from lacunet.statistics.folds import GROUPS, folds_of
from lacunet.statistics.gather import Needs, Statistics
from lacunet.statistics.look import Look
from lacunet.statistics.units import Units
from lacunet.wording import counted, did_you_mean, first_of, read_formula

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph

Concentration = float | FloatArray  # of the Dirichlet prior: of all cells, or of each


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


class ByFormula:
    """What has a formula can be read: in plain text, in LaTeX and in MathML.

    Printed, it is the family with what is said of it in `lines`.
    """

    variable: str
    parents: Scope
    formula: Formula

    def __str__(self) -> str:
        return "\n".join([self.family, *(f"  {line}" for line in self.lines())])

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

    @property
    def estimand(self) -> str:
        """What is estimated, in plain text."""
        return self.formula.written(TEXT)

    @property
    def latex(self) -> str:
        """What is estimated, in LaTeX."""
        return self.formula.written(LATEX)

    @property
    def mathml(self) -> str:
        """What is estimated, in MathML."""
        return self.formula.written(MATHML)


MAR = "values are missing at random"
MCAR = "values are missing completely at random"
BY_GRAPH = "values are missing as the missingness graph says"
BY_SELECTION = "rows are recorded, and values missing, as the missingness graph says"
ASSUMED = {
    **dict.fromkeys(("listwise", "direct-mcar", "factored-mcar"), MCAR),
    **dict.fromkeys(("direct-mar", "factored-mar", "one-step", "em", "em-bp", "auto"), MAR),
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
        names = _separating(families, partially)
        return f"{MAR} given {', '.join(names)}" if names else MCAR
    return ASSUMED.get(method, "")


def _separating(families: Iterable[ByFormula], partially: Sequence[str]) -> Scope:
    """What rows are grouped by beside the family itself, or for all incomplete families."""
    groups = [
        (own.formula.given, (*own.parents, own.variable))
        for own in families
        if not {*partially}.isdisjoint((*own.parents, own.variable))
    ]
    shared = set.intersection(*({*given} for given, _ in groups))
    found = (v for given, own in groups for v in given if v in shared or v not in own)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, repr=False)
class FamilyPlan(ByFormula):
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

    def lines(self) -> list[str]:
        """What is estimated, and what the user should know of it."""
        return [text for text in (*super().lines(), self.verdict, self.note) if text]


COUNTS = "counts"
INFLUENCE = "influence of rows"
RATE_MATRIX = "rate matrix of EM"
JACKKNIFE = "delete-a-group jackknife"
CLUSTERS = "delete-a-cluster jackknife"
REPLICATE_WEIGHTS = "replicate weights"


@dataclass(frozen=True)
class Stage:
    """One stop of a plan: what it asks of the data, and what it makes of them.

    ``families`` are the CPTs that it answers for. ``solve`` takes what was counted and what the
    stages before have learned; it sees no row. ``branches`` say what it does otherwise where only
    the counts can tell; ``chosen`` are its families once these are known. ``is_replicated`` if
    replicates of the rows are estimated from its own counts, and not from what all rows gave.
    ``prior_from`` says what a prior that is to be learned is learned from.
    """

    name: str
    families: Mapping[str, FamilyPlan]
    needs: Needs
    solve: Callable[[Statistics, Learned, Setting], Learned]
    branches: tuple[str, ...] = ()
    chosen: Callable[[Statistics], Mapping[str, FamilyPlan]] | None = None
    is_replicated: bool = True
    prior_from: str = ""


@dataclass(frozen=True)
class Plan:
    """All that a method will do; `explain` prints it, `learn` carries it out.

    ``partially`` are the variables with missing values. ``bytes_per_cell`` is what the estimate
    of a family takes at once for each of its cells. ``category`` says how values go missing where
    a graph tells, ``intention`` in words what the stages do together. ``heldout`` is the share of
    the rows that is held out. ``recipe`` says how intervals are made if the method converges.
    ``scale`` makes the rows' weights add up to what they are worth; ``is_unequal`` if some weigh
    more than others.
    ``graph`` is the missingness graph, where one was given; ``units`` are those of a survey.
    ``prior`` is the concentration of the Dirichlet prior, "learn" where the stages learn it.
    ``refusal`` is why the plan will not be carried out, where it will not.
    """

    method: str
    network: Network
    partially: Scope
    stages: tuple[Stage, ...]
    bytes_per_cell: int
    recipe: str = JACKKNIFE
    intention: str = ""
    category: str = ""
    heldout: float | None = None
    notes: tuple[str, ...] = ()
    scale: float = 1.0
    is_unequal: bool = False
    graph: MissingnessGraph | None = None
    units: Units | None = None
    prior: AskedPrior = ONE_PER_CELL
    refusal: LacunetError | None = None

    @property
    def prior_from(self) -> str:
        """What the prior will be learned from; empty where it is given."""
        said = dict.fromkeys(stage.prior_from for stage in self.stages if stage.prior_from)
        return "; ".join(said) if self.prior == LEARN else ""

    @property
    def families(self) -> dict[str, FamilyPlan]:
        """How each CPT will be estimated: by the last stage that answers for it."""
        found = {name: own for stage in self.stages for name, own in stage.families.items()}
        return {name: found[name] for name in self.network.variables}

    def needs(self, recipe: str | None = None, seed: int = 0) -> Needs:
        """What is asked of the data; with intervals by a recipe, if one is named."""
        groups = GROUPS if recipe in (INFLUENCE, JACKKNIFE) else 0
        units = self.units if recipe == CLUSTERS else None
        folds = folds_of(self.heldout, groups, seed, units)
        asked = [stage.needs for stage in self.stages]
        groupings = [
            replace(
                grouping,
                influence=recipe == INFLUENCE and grouping.whole,
                replicated=stage.is_replicated,
            )
            for stage in self.stages
            for grouping in stage.needs.groupings
        ]
        return Needs(
            families=tuple(dict.fromkeys(one for own in asked for one in own.families)),
            complete=any(own.complete for own in asked),
            groupings=tuple(groupings),
            problems=next((own.problems for own in asked if own.problems is not None), None),
            rows=tuple(dict.fromkeys(one for own in asked for one in own.rows)),
            folds=folds,
        )


@dataclass(frozen=True)
class Setting:
    r"""What every estimate needs beside the statistics.

    ``prior`` is the concentration :math:`\alpha` of the symmetric Dirichlet prior, at least one,
    pseudo-counts for each cell, or "learn";
    ``memory`` the budget in bytes, ``deadline`` when the best so far is wanted. ``whole`` is what
    all rows gave, where a replicate of them is estimated.
    """

    prior: AskedPrior
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    memory: int = field(default_factory=memory_budget)
    progress: Progress = silent
    deadline: Deadline = NEVER
    whole: Learned | None = None

    @property
    def used_prior(self) -> Prior:
        """The prior, once it is known."""
        assert not isinstance(self.prior, str)
        return self.prior


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
        made = super().__new__(cls, text)
        made.kind, made.detail, made.weight = kind, detail, weight
        return made

    def __getnewargs__(self) -> tuple[str, str, str, float]:  # type: ignore[override]
        """What a copy is made of."""
        return str(self), self.kind, self.detail, self.weight


# Kinds of warnings, the gravest first; those of no kind of their own come after the first.
NOT_IDENTIFIED = "not identified by the data"
FELL_BACK = "no rows in the groups of some rows"
NO_DATA = "CPT rows that no data support"
OUTWEIGHED = "the prior outweighs the rows"
UNEVEN_WEIGHTS = "CPTs by formulas that weigh rows unevenly"
MOSTLY_PRIOR = "CPT rows that rest on fewer rows than the prior's"
GRAVEST_FIRST = (
    NOT_IDENTIFIED,
    FELL_BACK,
    NO_DATA,
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

    variable: str
    parents: Scope
    formula: Formula
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
        found = [*super().lines(), rows]
        if self.fallback_mass:
            weight = f"{self.fallback_mass:.1%} of the rows' weight"
            found.append(f"{weight} fell back: {self.fallback} was used")
        if self.unsupported:
            found.append(f"{counted(self.unsupported, 'configuration')} of the parents unsupported")
        return [text for text in (*found, *(f"! {own}" for own in self.warnings)) if text]

    @property
    def effective(self) -> str:
        """The effective size of the weakest CPT row, and how many rows show its parents' states."""
        size, rows = self.effective_size, self.weakest_rows
        if size is None:
            return "-"
        return f"{size:,.0f}" if rows is None or rows <= round(size) else f"{size:,.0f} of {rows:,}"

    @property
    def effective_size(self) -> float | None:
        """The effective size of the weakest CPT row that has data; None where it is not known.

        Where no row shows the family, other rows may tell of it: of a latent variable by EM.
        CPT rows that a rule decides have no size.
        """
        if self.effective_sizes is None:
            return None
        is_open = np.isfinite(self.effective_sizes)
        sizes, has_data = self.effective_sizes[is_open], self.support[is_open] > 0
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
        place = np.unravel_index(int(sizes.argmin()), sizes.shape)
        columns, shows = self.counts.columns(), np.ones(len(self.counts.keys), bool)
        for parent, state in zip(self.parents, place, strict=True):
            shows &= columns[parent] == state
        return round(float(self.counts.tally.rows[shows].sum()))


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
    "interrupted", "held-out peak", "optima averaged". ``log_likelihood`` is that of the observed
    values; on a missingness graph also that of the mechanisms which depend on missing values, and
    ``notes`` say of which. ``trace`` is the log-posterior of the parameters that each iteration
    started from, and of the last; its likelihood part is the *observed* data's, its prior part
    :math:`(\alpha - 1) \sum \log \theta`. ``heldout`` is the observed-data log-likelihood of
    held-out rows, at the start, after 1, 2, 4, 8 and 16 steps and at convergence, where they
    decide how far EM goes. Where optima were averaged, the last value of the trace is that of
    their mean. ``starts`` are the log-posteriors in which the starts ended, the first start's
    first. Where the work was cut short before a value was known, it is NaN.

    A prior that is learned takes two runs: with one pseudo-count per cell, then on from there under
    the learned prior. ``iterations`` counts both (of a given number of steps, the second alone);
    ``starts`` are of the first, ``log_posterior`` and ``trace`` of the second: they do not compare.
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
    """The CPTs that stages give (axes parents... then child), and what they rest on.

    ``network`` is the one that EM learned, with mechanisms as nodes where there are any, whose
    CPTs are ``mechanisms``. ``left`` are the variables whose CPT no stage has estimated yet, and
    why; ``stand_in`` is what another method has learned for such variables. ``engine`` has the
    problems that EM learned from, laid out. ``prior`` is what the CPTs were learned with, where it
    was learned. ``row_weights`` are those of CPT rows that pseudo-counts were added to, on an axis
    of length one for the child, where they are not of all rows.
    """

    tables: Mapping[str, FloatArray] = field(default_factory=dict)
    families: Mapping[str, FamilyReport] = field(default_factory=dict)
    ended: Ended | None = None
    why: str = ""
    notes: tuple[str, ...] = ()
    mechanisms: Mapping[str, Cpt] = field(default_factory=dict)
    network: Network | None = None
    left: Mapping[str, str] = field(default_factory=dict)
    stand_in: Learned | None = field(default=None, repr=False)
    engine: Engine | None = field(default=None, repr=False)
    prior: LearnedPrior | None = None
    row_weights: Mapping[str, FloatArray] = field(default_factory=dict)


def run(plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
    """Carry out a plan, stage by stage, on what was counted.

    Raises
    ------
    LacunetError
        The plan is refused.
    """
    if plan.refusal is not None:
        raise plan.refusal
    learned = Learned()
    for stage in plan.stages:
        learned = stage.solve(statistics, learned, setting)
    return learned


class Method(Protocol):
    """A way to learn all CPTs; a frozen dataclass whose fields are its options."""

    name: ClassVar[str]

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        ...

    def plan(self, network: Network, look: Look) -> Plan:
        """All that will be done with data that look so."""
        ...


def planned(method: Method, network: Network, look: Look, prior: AskedPrior) -> Plan:
    """All that a method will do with data that look so, under a prior."""
    return replace(
        method.plan(network, look),
        scale=look.scale,
        is_unequal=look.is_unequal,
        units=look.units,
        prior=prior,
    )


MOST_PRIOR = 1e15  # more pseudo-counts leave nothing of the rows
MOST_WRITTEN = 12  # cells that a hint writes out


def checked_prior(prior: Any, network: Network) -> AskedPrior:
    """The concentration of the prior, pseudo-counts that fit the network, or "learn"."""
    if isinstance(prior, str) and prior == LEARN:
        return LEARN
    if isinstance(prior, Mapping) and not isinstance(prior, LearnedPrior):
        return _given_pseudo_counts(prior, network)
    if hasattr(prior, "cpt"):
        raise MethodError(
            f"prior is {prior!r}, but must be pseudo-counts: CPTs do not say how many rows they "
            "are worth.",
            "if each row of its CPTs is worth 20 rows of data, write "
            "prior={v: 20 * net.cpt(v).table for v in net.variables}.",
        )
    if isinstance(prior, LearnedPrior):
        shape_of = {name: network.shape(network.family(name)) for name in network.variables}
        if {name: own.shape for name, own in prior.items()} != shape_of:
            raise MethodError(
                "the prior was learned for a network with other variables, states or parents.",
                'learn it anew with prior="learn", or give pseudo-counts of some variables as a '
                f"mapping: {_pseudo_counts_example(network)}.",
            )
        return prior
    is_number = isinstance(prior, Real) and not isinstance(prior, bool)
    if not (is_number and 1 <= float(prior) <= MOST_PRIOR):
        raise MethodError(
            f"prior is {prior!r}, but must be a number from 1 to {MOST_PRIOR:g}, 'learn', the "
            "prior of a result, or a mapping from variables to pseudo-counts.",
            "prior=2 adds one pseudo-count to each cell of a CPT, prior=1 none (maximum "
            "likelihood), prior=3 two; prior='learn' estimates them from the counts; "
            f"{_pseudo_counts_example(network)} gives those of each cell.",
        )
    return float(prior)


def _given_pseudo_counts(given: Mapping[str, Any], network: Network) -> LearnedPrior:
    """The pseudo-counts that were given of some variables, one per cell for all others."""
    found: dict[str, FloatArray] = {}
    for name, own in given.items():
        if name not in network.variables:
            hint = did_you_mean(str(name), network.variables)
            known = first_of([*network.variables], 10)
            raise MethodError(
                f"prior names {name!r}, which is not a variable of the network.",
                hint or f"the variables are {known}.",
            )
        family = network.family(name)
        axes = ", then ".join(f"{v} ({first_of(network.states(v), 5)})" for v in family)
        try:
            found[name] = np.array(own, float)
        except (TypeError, ValueError):
            raise MethodError(
                f"prior of {name!r} is {own!r}, but must be one number for each cell.",
                f"its axes are {axes}: {_pseudo_counts_example(network, name)}.",
            ) from None
        if found[name].shape != network.shape(family):
            raise MethodError(
                f"prior of {name!r} has the shape {found[name].shape}, but its CPT has "
                f"{network.shape(family)}.",
                f"its axes are {axes}: {_pseudo_counts_example(network, name)}.",
            )
        fits = (found[name] >= 0) & (found[name] <= MOST_PRIOR)
        if not fits.all():
            wrong = float(found[name][~fits][0])
            raise MethodError(
                f"prior of {name!r} holds {wrong:g}, but pseudo-counts are from 0 to "
                f"{MOST_PRIOR:g}.",
                "a pseudo-count is how many rows it is worth; 0 adds nothing.",
            )
    kept = tuple(v for v in network.variables if v not in found)
    ones = {v: np.ones(network.shape(network.family(v))) for v in kept}
    in_order = {v: {**found, **ones}[v] for v in network.variables}
    return LearnedPrior(in_order, 0.0, kept, is_given=True)


def _pseudo_counts_example(network: Network, variable: str | None = None) -> str:
    """How the pseudo-counts of a variable are written; of one with a small CPT if none is named."""
    if variable is None:
        variable = min(network.variables, key=lambda v: prod(network.shape(network.family(v))))
    shape = network.shape(network.family(variable))
    written = str(np.ones(shape).tolist()) if prod(shape) <= MOST_WRITTEN else f"np.ones({shape})"
    return f"prior={{{variable!r}: {written}}}"


ABOVE_ZERO = 1e-9  # the least of what must be positive


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


def graph_option() -> Any:
    """The field of a method that takes a missingness graph."""
    return option(None, "the missingness graph: a file, or its text", metavar="GRAPH")


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
            least = allowed["least"]
            bounds = "above 0" if least == ABOVE_ZERO else f"at least {least:g}"
            if not isinf(allowed["most"]):
                bounds = f"from {allowed['least']:g} to {allowed['most']:g}"
            if is_number:
                raise MethodError(f"{own.name} is {value!r}, but must be {bounds}.")
            raise MethodError(
                f"{own.name} is {value!r}, but must be a number, {bounds}.",
                f"{own.name}: {allowed['text']}.",
            )
