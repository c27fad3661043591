"""What every method takes and gives back: a look at the data in, a plan out.

A method is a frozen value with its options. It decides everything in its plan: which stages,
which statistics for which families, what becomes of each branch. Somebody counts what the plan
needs, and its stages estimate from these statistics alone: no stage ever sees a row, and nobody
asks what kind of stage it is. ``learn`` of `lacunet.estimate.learn` is these three lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from lacunet.deadline import NEVER, Deadline
from lacunet.errors import LacunetError
from lacunet.estimate.families import FamilyPlan, FamilyReport
from lacunet.estimate.pseudo_counts import (
    LEARN,
    ONE_PER_CELL,
    AskedPseudoCounts,
    PseudoCounts,
    UsedPseudoCounts,
    merged,
)
from lacunet.inference.engine import Engine
from lacunet.memory import memory_budget
from lacunet.model.network import Cpt, FloatArray, Network, Scope, Tables
from lacunet.progress import Progress, silent
from lacunet.statistics.folds import GROUPS, folds_of
from lacunet.statistics.gather import Needs, Statistics
from lacunet.statistics.look import Look
from lacunet.statistics.units import Units

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph

# How estimates by different orders of a family's variables are combined.
Aggregation = Literal["inverse-variance", "mean", "median", "lowest-variance"]
PerCell = float | FloatArray  # pseudo-counts: the same for all cells, or of each


class MethodError(LacunetError):
    """The method, its options and the data do not go together."""


COUNTS = "counts"
INFLUENCE = "influence of rows"
RATE_MATRIX = "rate matrix of EM"
JACKKNIFE = "delete-a-group jackknife"
CLUSTERS = "delete-a-cluster jackknife"
REPLICATE_WEIGHTS = "replicate weights"
POSTERIOR = "posterior"


@dataclass(frozen=True)
class Stage:
    """One stop of a plan: what it asks of the data, and what it makes of them.

    ``families`` are the CPTs that it answers for. ``solve`` takes what was counted and what the
    stages before have learned; it sees no row. ``branches`` say what it does otherwise where only
    the counts can tell; ``chosen`` are its families once these are known. ``is_replicated`` if
    replicates of the rows are estimated from its own counts, and not from what all rows gave.
    ``learned_from`` says what pseudo-counts that are to be learned are learned from.
    """

    name: str
    families: Mapping[str, FamilyPlan]
    needs: Needs
    solve: Callable[[Statistics, Learned, Setting], Learned]
    branches: tuple[str, ...] = ()
    chosen: Callable[[Statistics], Mapping[str, FamilyPlan]] | None = None
    is_replicated: bool = True
    learned_from: str = ""


@dataclass(frozen=True)
class Estimated:
    """How deletion estimates the joint of a family, as far as it matters how rows move it.

    ``hidden`` is the partially observed part of the ``family``, ``given`` what rows are grouped
    by; where ``is_grouped`` is false, all rows are estimated from together. ``form`` is "direct" or
    "factored", and ``aggregation`` how estimates by different orders of the variables are combined.
    """

    family: Scope
    hidden: Scope
    given: Scope
    form: Literal["direct", "factored"]
    aggregation: Aggregation
    is_grouped: bool


@dataclass(frozen=True)
class Plan:
    """All that a method will do; `explain` prints it, `learn` carries it out.

    ``partially`` are the variables with missing values. ``bytes_per_cell`` is what the estimate
    of a family takes at once for each of its cells. ``category`` says how values go missing where
    a graph tells, ``intention`` in words what the stages do together. ``recipe`` says how
    intervals are made if the method converges; ``estimated_of`` how rows move each CPT, where
    their influence makes the intervals.
    ``scale`` makes the rows' weights add up to what they are worth; ``is_unequal`` if some weigh
    more than others. ``most_distinct`` is how many distinct rows there can be.
    ``graph`` is the missingness graph, where one was given; ``units`` are those of a survey.
    ``pseudo_counts`` are what is added to each cell, "learn" where the stages learn it,
    "design-based" where they do so for CPT rows alone that no row shows.
    ``refusal`` is why the plan will not be carried out, where it will not.
    """

    method: str
    network: Network
    partially: Scope
    stages: tuple[Stage, ...]
    bytes_per_cell: int
    recipe: str = JACKKNIFE
    estimated_of: Mapping[str, Estimated] = field(default_factory=dict)
    intention: str = ""
    category: str = ""
    notes: tuple[str, ...] = ()
    scale: float = 1.0
    is_unequal: bool = False
    most_distinct: float = inf
    graph: MissingnessGraph | None = None
    units: Units | None = None
    pseudo_counts: AskedPseudoCounts = ONE_PER_CELL
    refusal: LacunetError | None = None

    @property
    def learned_from(self) -> str:
        """What the pseudo-counts will be learned from; empty where they are given."""
        sources = dict.fromkeys(stage.learned_from for stage in self.stages if stage.learned_from)
        return "; ".join(sources) if self.pseudo_counts == LEARN else ""

    @property
    def has_experts(self) -> bool:
        """Whether experts are the prior: then intervals are those of the posterior."""
        return isinstance(self.pseudo_counts, PseudoCounts) and self.pseudo_counts.is_of_experts

    @property
    def families(self) -> dict[str, FamilyPlan]:
        """How each CPT will be estimated: by the last stage that answers for it."""
        plans = {name: family for stage in self.stages for name, family in stage.families.items()}
        return {name: plans[name] for name in self.network.variables}

    def needs(self, recipe: str | None = None, seed: int = 0) -> Needs:
        """What is asked of the data; with intervals by a recipe, if one is named."""
        groups = GROUPS if recipe == JACKKNIFE else 0
        units = self.units if recipe == CLUSTERS else None
        asked = [stage.needs for stage in self.stages]
        groupings = [
            replace(grouping, replicated=stage.is_replicated)
            for stage in self.stages
            for grouping in stage.needs.groupings
        ]
        rows = [columns for needs in asked for columns in needs.rows]
        if recipe == INFLUENCE:
            rows.append(self.network.variables)
        return Needs(
            families=tuple(dict.fromkeys(family for needs in asked for family in needs.families)),
            complete=any(needs.complete for needs in asked),
            groupings=tuple(groupings),
            problems=next((needs.problems for needs in asked if needs.problems is not None), None),
            rows=tuple(dict.fromkeys(rows)),
            folds=folds_of(groups, seed, units),
        )


@dataclass(frozen=True)
class Setting:
    r"""What every estimate needs beside the statistics.

    ``pseudo_counts`` are what is added to each cell: a number, one for each cell, or a word on how
    they are learned;
    ``memory`` the budget in bytes, ``deadline`` when the best so far is wanted. ``whole`` is what
    all rows gave, where a replicate of them is estimated.
    """

    pseudo_counts: AskedPseudoCounts
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    memory: int = field(default_factory=memory_budget)
    progress: Progress = silent
    deadline: Deadline = NEVER
    whole: Learned | None = None

    @property
    def used_pseudo_counts(self) -> UsedPseudoCounts:
        """The pseudo-counts, once they are known."""
        assert not isinstance(self.pseudo_counts, str)
        return self.pseudo_counts


AGREEMENT = 0.1  # nats: starts that end so near each other found the same optimum


def agreed(starts: Sequence[float]) -> int:
    """How many starts ended at the posterior of the best.

    Examples
    --------
    >>> agreed([-10.0, -12.5, -10.05])
    2
    """
    return sum(start >= max(starts) - AGREEMENT for start in starts)


@dataclass(frozen=True)
class Ended:
    r"""How an iterative method ended.

    ``reason`` is one of "converged", "iteration limit", "time limit", "interrupted".
    ``log_likelihood`` is that of the observed values; on a missingness graph also that of the
    mechanisms which depend on missing values, and ``notes`` say of which. ``trace`` is the
    log-posterior of the parameters that each iteration started from, and of the last; its
    likelihood part is the *observed* data's, its prior part :math:`\sum A \log \theta`.
    ``starts`` are the log-posteriors in which the starts ended, the first start's first. Where the
    work was cut short before a value was known, it is NaN.

    Pseudo-counts that are learned take two runs: with one per cell, then on from there with those
    learned. ``iterations`` counts both; ``starts`` are of the first, ``log_posterior``
    and ``trace`` of the second: they do not compare.
    """

    reason: str
    iterations: int
    seconds: float
    log_likelihood: float
    log_posterior: float
    trace: tuple[float, ...]
    notes: tuple[str, ...] = ()
    starts: tuple[float, ...] = ()

    @property
    def is_cut_short(self) -> bool:
        """Whether a limit ended it before it converged."""
        return self.reason in ("iteration limit", "time limit")


@dataclass(frozen=True)
class Learned:
    """The CPTs that stages give (axes parents... then child), and what they rest on.

    ``network`` is the one that EM learned, with mechanisms as nodes where there are any, whose
    CPTs are ``mechanisms``. ``left`` are the variables whose CPT no stage has estimated yet, and
    why; ``stand_in`` is what another method has learned for such variables. ``engine`` has the
    problems that EM learned from, laid out, ``start`` the cells that it started from, ``others``
    the CPTs of other optima that the rows hardly tell from this one. ``pseudo_counts``
    are those that the CPTs were learned with, where they were learned. ``row_weights`` are those of
    CPT rows that pseudo-counts were added to, on an axis of length one for the child, where they
    are not of all rows.
    """

    tables: Tables = field(default_factory=dict)
    families: Mapping[str, FamilyReport] = field(default_factory=dict)
    ended: Ended | None = None
    why: str = ""
    notes: tuple[str, ...] = ()
    mechanisms: Mapping[str, Cpt] = field(default_factory=dict)
    network: Network | None = None
    left: Mapping[str, str] = field(default_factory=dict)
    stand_in: Learned | None = field(default=None, repr=False)
    engine: Engine | None = field(default=None, repr=False)
    start: FloatArray | None = field(default=None, repr=False)
    others: tuple[Tables, ...] = field(default=(), repr=False)
    pseudo_counts: PseudoCounts | None = None
    row_weights: Tables = field(default_factory=dict)

    def with_cpts(
        self,
        cpts: Mapping[str, tuple[FloatArray, FamilyReport]],
        pseudo_counts: UsedPseudoCounts | None,
    ) -> Learned:
        """The same with some more CPTs and the reports on them, estimated with pseudo-counts."""
        tables = {name: table for name, (table, _) in cpts.items()}
        reports = {name: report for name, (_, report) in cpts.items()}
        return replace(
            self,
            tables={**self.tables, **tables},
            families={**self.families, **reports},
            pseudo_counts=merged(self.pseudo_counts, pseudo_counts, cpts),
        )


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

    @property
    def name(self) -> str:
        """The name of the method."""
        ...

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        ...

    def plan(
        self, network: Network, look: Look, pseudo_counts: AskedPseudoCounts = ONE_PER_CELL
    ) -> Plan:
        """All that will be done with data that look so, with pseudo-counts."""
        ...


def planned(method: Method, network: Network, look: Look, pseudo_counts: AskedPseudoCounts) -> Plan:
    """All that a method will do with data that look so, with pseudo-counts.

    First of all, rows that contradict the missingness graph are refused, if there is one.
    """
    plan = method.plan(network, look, pseudo_counts)
    doubt = "" if plan.graph is None else plan.graph.doubt
    return replace(
        plan,
        notes=(*plan.notes, doubt) if doubt else plan.notes,
        stages=(*_order_stages(plan.graph), *plan.stages),
        pseudo_counts=pseudo_counts,
        scale=look.scale,
        is_unequal=look.is_unequal,
        most_distinct=look.most_distinct(network),
        units=look.units,
    )


def _order_stages(graph: MissingnessGraph | None) -> tuple[Stage, ...]:
    """The stage that counts rows which contradict an order of mechanisms, if there are orders."""
    if graph is None or not graph.monotone:
        return ()
    orders = graph.orders(graph.network.variables)
    check, needs = OrderCheck(orders), Needs((), rows=orders)
    return (Stage("order of mechanisms", {}, needs, check.solve, chosen=check.chosen),)


@dataclass(frozen=True)
class OrderCheck:
    """Refuses rows that contradict an order of mechanisms."""

    orders: tuple[tuple[str, str], ...]

    def solve(self, statistics: Statistics, learned: Learned, _: Setting) -> Learned:
        """What is learned already: it estimates nothing."""
        self.chosen(statistics)
        return learned

    def chosen(self, statistics: Statistics) -> dict[str, FamilyPlan]:
        """Its families, of which there are none."""
        from lacunet.missingness.separation.drawing import check_orders

        check_orders(self.orders, statistics.distinct)
        return {}
