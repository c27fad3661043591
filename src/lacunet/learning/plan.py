"""What every method takes and gives back: a look at the data in, a plan out.

A method is a frozen value with its options. It decides everything in its plan: which stages,
which statistics for which families, what becomes of each branch. Somebody counts what the plan
needs, and its stages estimate from these statistics alone: no stage ever sees a row, and nobody
asks what kind of stage it is. ``learn`` of `lacunet.learning.learn` is these three lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from lacunet.counts.folds import JACKKNIFE_GROUPS, folds_of
from lacunet.counts.gather import Needs, Statistics
from lacunet.counts.look import Look
from lacunet.counts.units import Units
from lacunet.errors import LacunetError
from lacunet.inference.engine import Engine
from lacunet.learning.family_reports import FamilyPlan, FamilyReport
from lacunet.learning.pseudo_counts import (
    LEARN,
    ONE_PER_CELL,
    AskedPseudoCounts,
    PseudoCounts,
    UsedPseudoCounts,
    with_replaced_prior,
)
from lacunet.limits import NEVER, Deadline, memory_budget
from lacunet.network.cpt import Cpt
from lacunet.network.network import FloatArray, Network, Scope, Tables
from lacunet.progress import Progress, silent

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
JACKKNIFE_OF_ROWS = "delete-a-row jackknife"
CLUSTERS = "delete-a-cluster jackknife"
REPLICATE_WEIGHTS = "replicate weights"
POSTERIOR = "posterior"


@dataclass(frozen=True)
class Stage:
    """One stop of a plan: what it asks of the data, and what it makes of them."""

    name: str
    families: Mapping[str, FamilyPlan]  # the CPTs that it answers for
    needs: Needs
    # From what was counted and what the stages before have learned; it sees no row.
    solve: Callable[[Statistics, Learned, Setting], Learned]
    # What it does otherwise where only the counts can tell, and its families once these are known.
    branches: tuple[str, ...] = ()
    chosen: Callable[[Statistics], Mapping[str, FamilyPlan]] | None = None
    # Whether replicates of the rows are estimated from its own counts, and not from what all rows
    # gave.
    is_replicated: bool = True
    learned_from: str = ""  # what pseudo-counts that are to be learned are learned from


@dataclass(frozen=True)
class Estimated:
    """How deletion estimates the joint of a family, as far as it matters how rows move it."""

    family: Scope
    hidden: Scope  # its partially observed part
    given: Scope  # what rows are grouped by
    form: Literal["direct", "factored"]
    aggregation: Aggregation  # how estimates by different orders of the variables are combined
    is_grouped: bool  # whether rows are grouped at all, if only by nothing


@dataclass(frozen=True)
class Plan:
    """All that a method will do; `explain` prints it, `learn` carries it out."""

    method: str
    network: Network
    partially: Scope  # the variables with missing values
    stages: tuple[Stage, ...]
    bytes_per_cell: int  # what the estimate of a family takes at once for each of its cells
    recipe: str = JACKKNIFE  # how intervals are made if the method converges
    # How rows move each CPT, where their influence makes the intervals.
    estimated_of: Mapping[str, Estimated] = field(default_factory=dict)
    intention: str = ""  # in words what the stages do together
    stands: str = ""  # the closed form whose CPTs stand, where EM is asked for no step
    category: str = ""  # how values go missing, where a graph tells
    notes: tuple[str, ...] = ()
    scale: float = 1.0  # makes the rows' weights add up to what they are worth
    is_unequal: bool = False  # whether some rows weigh more than others
    most_distinct: float = inf  # how many distinct rows there can be
    graph: MissingnessGraph | None = None  # where one was given
    units: Units | None = None  # those of a survey
    # What is added to each cell; "learn" where the stages learn it, "design-based" where they do so
    # for CPT rows alone that no row shows.
    pseudo_counts: AskedPseudoCounts = ONE_PER_CELL
    refusal: LacunetError | None = None  # why the plan will not be carried out, where it will not

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
        groups = JACKKNIFE_GROUPS if recipe == JACKKNIFE else 0
        units = self.units if recipe == CLUSTERS else None
        asked = [stage.needs for stage in self.stages]
        groupings = [
            replace(grouping, replicated=stage.is_replicated)
            for stage in self.stages
            for grouping in stage.needs.groupings
        ]
        rows = [columns for needs in asked for columns in needs.rows]
        if recipe in (INFLUENCE, JACKKNIFE_OF_ROWS):
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
    """What every estimate needs beside the statistics."""

    # What is added to each cell: a number, one for each cell, or a word on how they are learned.
    pseudo_counts: AskedPseudoCounts
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    memory: int = field(default_factory=memory_budget)  # in bytes
    progress: Progress = silent
    deadline: Deadline = NEVER  # when the best so far is wanted
    whole: Learned | None = None  # what all rows gave, where a replicate of them is estimated

    @property
    def used_pseudo_counts(self) -> UsedPseudoCounts:
        """The pseudo-counts, once they are known."""
        assert not isinstance(self.pseudo_counts, str)
        return self.pseudo_counts


AGREEMENT = 0.1  # nats: starts that end so near each other found the same optimum


def count_agreeing_starts(starts: Sequence[float]) -> int:
    """How many starts ended at the posterior of the best.

    Examples
    --------
    >>> count_agreeing_starts([-10.0, -12.5, -10.05])
    2
    """
    return sum(start >= max(starts) - AGREEMENT for start in starts)


@dataclass(frozen=True)
class Ended:
    """How an iterative method ended.

    Pseudo-counts that are learned take two runs: with one per cell, then on from there with those
    learned. ``iterations`` counts both; ``starts`` are of the first, ``log_posterior``
    and ``trace`` of the second: they do not compare.

    Where the work was cut short before a value was known, it is NaN.
    """

    reason: str  # "converged", "iteration limit", "time limit", "cost limit" or "interrupted"
    iterations: int
    seconds: float
    # Of the observed values; on a missingness graph also of the mechanisms which depend on missing
    # values, and `notes` say of which.
    log_likelihood: float
    log_posterior: float  # that, and the prior's part: the sum of A log(theta)
    # The log-posterior of the parameters that each iteration started from, and of the last.
    trace: tuple[float, ...]
    notes: tuple[str, ...] = ()
    starts: tuple[float, ...] = ()  # where the starts ended, the first start's first
    # The closed form whose CPTs stand because no step was made from them, such as "factored-mcar".
    stands: str = ""

    @property
    def is_cut_short(self) -> bool:
        """Whether a limit ended it before it converged."""
        return self.reason in ("iteration limit", "time limit", "cost limit")


@dataclass(frozen=True)
class Learned:
    """What stages give: CPTs, and what they rest on."""

    tables: Tables = field(default_factory=dict)  # axes: parents..., then child
    families: Mapping[str, FamilyReport] = field(default_factory=dict)
    ended: Ended | None = None
    why: str = ""
    notes: tuple[str, ...] = ()
    mechanisms: Mapping[str, Cpt] = field(default_factory=dict)  # where EM has them as nodes
    network: Network | None = None  # the one that EM learned, with mechanisms as nodes
    left: Mapping[str, str] = field(default_factory=dict)  # variables still without CPT, and why
    # What another method has learned for such variables.
    stand_in: Learned | None = field(default=None, repr=False)
    # Of EM: its problems, laid out, the cells that it started from, and the CPTs of other optima
    # that the rows hardly tell from this one.
    engine: Engine | None = field(default=None, repr=False)
    start: FloatArray | None = field(default=None, repr=False)
    others: tuple[Tables, ...] = field(default=(), repr=False)
    pseudo_counts: PseudoCounts | None = None  # those of the CPTs, where they were learned
    # The weights of CPT rows that pseudo-counts were added to, on an axis of length one for the
    # child, where they are not of all rows.
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
            pseudo_counts=with_replaced_prior(self.pseudo_counts, pseudo_counts, cpts),
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
        self,
        network: Network,
        look: Look,
        pseudo_counts: AskedPseudoCounts = ONE_PER_CELL,
        deadline: Deadline = NEVER,
    ) -> Plan:
        """All that will be done with data that look so, with pseudo-counts.

        What takes long to plan takes no more than a part of the time until the deadline.
        """
        ...


def make_plan(
    method: Method,
    network: Network,
    look: Look,
    pseudo_counts: AskedPseudoCounts,
    deadline: Deadline = NEVER,
) -> Plan:
    """All that a method will do with data that look so, with pseudo-counts.

    First of all, rows that contradict the missingness graph are refused, if there is one.
    """
    plan = method.plan(network, look, pseudo_counts, deadline)
    notes = plan.notes
    if plan.graph is not None and plan.graph.doubt:
        notes = (*notes, plan.graph.doubt)
    return replace(
        plan,
        notes=notes,
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
    check = OrderCheck(orders)
    needs = Needs((), rows=orders)
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
