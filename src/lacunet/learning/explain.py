"""The plan that learning would carry out, with what it will meet in the data.

Which rows of the data enter each factor of a query's estimand is the paper's appendix example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from math import inf, prod
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.count import superfamilies
from lacunet.counts.gather import Gathering, Needs
from lacunet.counts.look import Look
from lacunet.counts.observations import Held, Observations
from lacunet.counts.open_rows import open_rows, with_ties_and_shapes
from lacunet.data.table import EncodedTable
from lacunet.errors import ByName
from lacunet.inference.forecast import Forecast, forecast, time_in_words
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.cpts import cells_of
from lacunet.learning.family_reports import VERDICTS_ALONE, FamilyPlan, assumed_by
from lacunet.learning.interval_recipes import work_of
from lacunet.learning.learn import PSEUDO_COUNTS_OF_CLASSES, check_request, limit_of
from lacunet.learning.method_options import MethodOptions
from lacunet.learning.methods import check_option_names
from lacunet.learning.notes import notes_on_rows, warn_of_missing
from lacunet.learning.plan import Method, MethodError, Plan
from lacunet.learning.pseudo_counts import DESIGN_BASED, FROM_SHOWN, AskedPseudoCounts, PseudoCounts
from lacunet.learning.uncertainty.shape_parameters import full_parameters
from lacunet.limits import (
    NEVER,
    Deadline,
    Memory,
    OutOfTimeError,
    gibibytes,
    memory_budget,
)
from lacunet.missingness.formulas.deletion import Estimand, Orders
from lacunet.missingness.formulas.notation import PLAIN_TEXT
from lacunet.missingness.formulas.samples import Writer, parts_of_term
from lacunet.missingness.formulas.terms import Factor
from lacunet.missingness.graph import MissingnessGraph, network_and_graph
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import NetworkOrEdges, as_network
from lacunet.network.network import Network, Scope
from lacunet.network.waves import in_time
from lacunet.progress import AskedProgress
from lacunet.text import counted, first_of
from lacunet.text_tables import Displayed
from lacunet.threads import working_threads

if TYPE_CHECKING:
    from lacunet.network.shapes.shape import Shape

MAX_NAMES_IN_PLAN = 12
TOO_LONG = (
    "a hundred EM steps take {}, even by loopy belief propagation: EM makes none, and the CPTs "
    "that it starts from are kept; method='em-bp' takes its time"
)


@dataclass(frozen=True)
class Explanation(Displayed):
    """A plan, and how much data there is for it; it prints.

    ``assumption`` is what the method assumes of missing values, empty if none are missing.
    ``families`` say how each CPT will be estimated; where several formulas would do, by the one
    that the data support best. ``shown`` counts for each variable the rows that show its
    family, ``complete_rows`` those that show every variable, where only these are used.
    ``tables`` are the unions of families that will be counted, ``groupings`` the sets of
    variables that rows will be grouped by, ``bytes_needed`` what the largest family takes. Where
    `lacunet.learn` will refuse, ``refusal`` says why, and no stage runs. ``rows`` is None and
    ``shown`` empty where no data were given; ``expectation`` is None where the method has none.
    ``intervals`` says what intervals would take, ``scratch`` how many bytes the scratch files of
    rows that memory does not hold; None where it holds them. ``notes`` are those of the result on
    the rows. ``missing`` are the variables with missing values: with a promise of which are fully
    observed, the plan takes more as partially observed.
    """

    plan: Plan
    families: Mapping[str, FamilyPlan]
    rows: int | None
    shown: Mapping[str, int]
    tables: tuple[Scope, ...]
    groupings: tuple[Scope, ...]
    bytes_needed: int
    expectation: Forecast | None
    intervals: str
    scratch: int | None = None
    notes: tuple[str, ...] = ()
    complete_rows: int | None = None
    missing: Scope = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", ByName(self.families))

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.plan.method

    @property
    def category(self) -> str:
        """What a missingness graph says of the missing values; empty where there is none."""
        return self.plan.category

    @property
    def intention(self) -> str:
        """What the stages do together; empty where one stage says it all."""
        return self.plan.intention

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of the stages, in the order in which they run."""
        if self.plan.refusal:
            return ()
        return tuple(stage.name for stage in self.plan.stages)

    @property
    def refusal(self) -> str | None:
        """Why learning will be refused, and the way out; None where it will not be."""
        return None if self.plan.refusal is None else str(self.plan.refusal)

    @property
    def assumption(self) -> str:
        """What the method assumes of missing values, as the result will say it."""
        compiling = self.plan.needs().problems
        causes = map(compiling.network.parents, compiling.mechanism_of) if compiling else ()
        return assumed_by(
            self.plan.stands or self.plan.method,
            self.missing,
            chain.from_iterable(causes),
            () if self.rows is None else self.families.values(),
            str(self.plan.graph or ""),
        )

    @property
    def pseudo_counts(self) -> str:
        """What will be added to each cell."""
        asked = self.plan.pseudo_counts
        if asked == DESIGN_BASED:
            where = "in CPT rows that rows of the survey show"
            return f"no pseudo-counts {where}; in others to be learned from {FROM_SHOWN}"
        if isinstance(asked, str):
            return f"to be learned from {self.plan.learned_from}"
        if isinstance(asked, PseudoCounts):
            return str(asked) if asked.is_given else f"learned before, {asked}"
        is_closed = any(stage.learned_from == FROM_SHOWN for stage in self.plan.stages)
        scaled = " of the estimate, scaled to all rows" if is_closed else ""
        return f"{asked:g} pseudo-count{'' if asked == 1 else 's'} per cell{scaled}"

    def __repr__(self) -> str:
        return f"<Explanation: {self._heading()}>"

    def _parts(self) -> list[str]:
        plan = self.plan
        lines = [self._heading(), *filter(None, (plan.category, plan.intention))]
        if self.assumption:
            lines.append(f"It assumes that {self.assumption}.")
        if plan.graph is not None and (plan.network.tied or plan.network.shapes_of):
            lines.append(VERDICTS_ALONE)
        if self.refusal:
            lines.append(f"learning will be refused: {self.refusal}")
        else:
            if len(plan.stages) > 1:
                lines.append(f"stages: {', then '.join(self.stages)}")
            branches = dict.fromkeys(branch for stage in plan.stages for branch in stage.branches)
            lines += [
                *(f"  if {branch}" for branch in branches),
                f"pseudo-counts: {self.pseudo_counts}",
            ]
        lines.append("")
        for name in plan.network.heads:
            lines += self._family_lines(name)
        if self.rows and self.complete_rows is not None:
            used = self._share(self.complete_rows)
            lines += ["", f"{used} show every variable, and no other is used in closed form"]
        lines += ["", *self._pass_lines()]
        if self.expectation is not None:
            lines += ["", "an exact expectation step:", self.expectation.text]
            lines += _widest_wave(plan.network, plan.partially)
        if not self.refusal:
            lines += ["", self.intervals]
        return lines

    def _family_lines(self, name: str) -> list[str]:
        """How one CPT is estimated, or those that are tied to it, and how many rows show it."""
        plan = self.plan
        family = self.families[name]
        plans = [stage.families.get(family.variable) for stage in plan.stages]
        notes = [planned.note for planned in plans if planned is not None and planned.note]
        lines = [family.family]
        lines += [f"  {line}" for line in dict.fromkeys([*family.lines(), *notes])]
        if name in plan.network.shaped_of:
            number = len(plan.network.shaped_of[name].parameter_names)
            full = full_parameters(plan.network.shaped_of[name])
            shape = plan.network.shapes_of[name]
            lines.append(f"  its shape: {shape}, {counted(number, 'parameter')} in place of {full}")
        group = plan.network.tied_with(name)
        if len(group) > 1:
            others = first_of(group[1:], MAX_NAMES_IN_PLAN)
            lines.append(f"  the same CPT: {others}; counts add up")
        if self.rows:
            shown = sum(self.shown[member] for member in group)
            lines.append(f"  {self._share(shown, len(group))} show the whole family")
        return lines

    def _pass_lines(self) -> list[str]:
        """What the pass over the rows counts, and the memory that this takes."""
        lines = [f"one pass over the rows will count {counted(len(self.tables), 'table')}"]
        for grouping in self.groupings:
            lines.append(f"rows will be grouped by {first_of(grouping, MAX_NAMES_IN_PLAN)}")
        lines.append(f"the largest family needs {gibibytes(self.bytes_needed)}")
        if self.scratch is not None:
            files = "no scratch files"
            if self.scratch:
                files = f"scratch files of {gibibytes(self.scratch)}"
            lines.append(
                f"the rows do not fit in memory: they are read as they are counted, {files}"
            )
        return lines

    def _share(self, rows: int, families: int = 1) -> str:
        """How many rows show a family; of families that are tied, all times that they do."""
        every = (self.rows or 1) * families
        return f"{counted(rows, 'row')} ({rows / every:.1%}) of {every:,}"

    def _heading(self) -> str:
        plan = self.plan
        if self.rows is None:
            return (
                f"{plan.method}, no data given: every variable is taken to have missing values, "
                "X_o stands for the variables without"
            )
        names = first_of(self.missing, MAX_NAMES_IN_PLAN) or "none"
        also = [name for name in plan.partially if name not in self.missing]
        promised = f"; not promised to be fully observed: {first_of(also, MAX_NAMES_IN_PLAN)}"
        return (
            f"{plan.method} on {counted(self.rows, 'row')}; {len(self.missing)} of "
            f"{counted(len(plan.families), 'variable')} "
            f"{'has' if len(self.missing) == 1 else 'have'} missing values: {names}"
            f"{promised if also else ''}"
        )

    def as_data(self) -> dict[str, Any]:
        """The plan in plain lists and dictionaries."""
        plan = self.plan
        return {
            "method": self.method,
            "category": plan.category,
            "intention": plan.intention,
            "assumption": self.assumption,
            "refusal": self.refusal,
            "stages": [
                {"name": stage.name, "branches": list(stage.branches)}
                for stage in (() if plan.refusal else plan.stages)
            ],
            "pseudo_counts": self.pseudo_counts,
            "rows": self.rows,
            "partially_observed": list(plan.partially),
            "families": {
                name: {
                    "parents": list(family.parents),
                    "estimand": family.estimand,
                    "latex": family.latex,
                    "verdict": family.verdict,
                    "note": family.note,
                    "cells": family.cells,
                    "rows_shown": self.shown.get(name),
                }
                for name, family in self.families.items()
            },
            "tables": [list(union) for union in self.tables],
            "groupings": [list(grouping) for grouping in self.groupings],
            "bytes_needed": self.bytes_needed,
            "scratch_bytes": self.scratch,
            "expectation": None if self.expectation is None else asdict(self.expectation),
            "intervals": self.intervals,
            "notes": list(self.notes),
        }


@clear_arguments
def explain(
    network: NetworkOrEdges,
    data: Any = None,
    method: str | Method = "auto",
    *,
    pseudo_counts: AskedPseudoCounts | Mapping[str, Any] | None = None,
    experts: float | None = None,
    missingness: MissingnessGraph | str | PathLike[str] | None = None,
    shapes: Mapping[str, str | Shape] | None = None,
    tied: Iterable[Sequence[str]] | Mapping[str, bool] = (),
    memory: Memory = None,
    threads: int | None = None,
    progress: AskedProgress = False,
    **options: Unpack[MethodOptions],
) -> Explanation:
    """The plan that `lacunet.learn` would carry out, and how much data there is for each CPT.

    Nothing is estimated. If data are given, the rows that show each family (a variable and its
    parents) are counted; for EM, the cost of one step is forecast too.

    Where `Data.latent` gives several numbers of states, the plan is that for the first.

    The plan has a formula for each CPT. In it, ``R[B]=1`` stands for the rows that show B, and
    ``X_o`` stands for the always observed variables when no data are given.

    Parameters
    ----------
    network, data, method, pseudo_counts, experts, missingness, shapes, tied, memory
        As `lacunet.learn` takes them. Without data every variable is taken to have missing
        values.
    threads, progress
        As `lacunet.learn` takes them.
    options
        The options of the method. What intervals would cost is always part of the plan.

    Returns
    -------
    A value that prints; its ``families`` have the formula of each CPT and the rows that show it,
    its ``assumption`` says what the method assumes of missing values.

    Examples
    --------
    >>> chain = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    >>> explain(chain, {"A": ["0", "1"], "B": ["1", None]}, "direct-mar").families["B"].estimand
    'P(A, B) = P(B | A, R[B]=1) P(A)'
    """
    deadline = limit_of(method, options)
    network, missingness = network_and_graph(network, missingness)
    given = {**options, "missingness": missingness}
    check_option_names(explain, method, given)
    opened = None
    budget = memory_budget(memory)
    latent: Scope = ()
    if data is None:
        known = brought = with_ties_and_shapes(as_network(network), tied, shapes or {})
    else:
        opened = open_rows("explain", network, data, memory, progress)
        number_of = {name: numbers[0] for name, numbers in opened.data.classes.items()}
        opened = opened.with_classes(number_of).with_shapes(tied, shapes or {})
        known = opened.network
        brought = opened.brought
        latent = opened.latent
        if opened.data.classes and pseudo_counts is None and experts is None:
            pseudo_counts = PSEUDO_COUNTS_OF_CLASSES
    asked = check_request(
        network=known,
        brought=brought,
        method=method,
        options=given,
        pseudo_counts=pseudo_counts,
        experts=experts,
        latent=latent,
        budget=budget,
    )
    if deadline == NEVER:
        deadline = Deadline.within(getattr(asked.method, "usual_limit", None))
    most = Most(
        getattr(asked.method, "most_cells", inf), getattr(asked.method, "most_loopy_reads", inf)
    )
    if opened is None:
        return _explained(asked.plan(Look(), deadline), None, budget, latent, deadline, most)
    with working_threads(threads), opened.rows() as rows:
        plan = asked.plan(rows.look(), deadline)
        return _explained(plan, rows, budget, latent, deadline, most)


class Most(NamedTuple):
    """What an EM step may compute: cells of large cliques, and reads by loopy propagation."""

    cells: float
    loopy_reads: float


def _explained(
    plan: Plan,
    rows: Observations | None,
    budget: int,
    latent: Sequence[str],
    deadline: Deadline,
    most: Most,
) -> Explanation:
    """What the plan will do, with what a first pass over the rows tells if there are any."""
    network = plan.network
    needs = plan.needs()
    radix_of = {v: network.cardinality(v) + (v in plan.partially) for v in network.variables}
    statistics = None
    families = plan.families
    notes = plan.notes
    shown = {}

    # With rows, all is counted but the groups, which take longest.
    if rows is not None:
        asked = Needs(needs.families, needs.complete, problems=needs.problems, rows=needs.rows)
        gathering = Gathering(asked, network, deadline, budget / 4, scale=plan.scale)
        statistics = rows.gather(gathering)
        notes = (*notes_on_rows(plan, statistics), *warn_of_missing(plan, statistics, latent))
        counts_of = {name: statistics.counts[network.family(name)] for name in network.variables}
        shown = {name: round(counts.row_counts().sum()) for name, counts in counts_of.items()}
        for stage in plan.stages:
            if stage.chosen is not None:
                chosen = stage.chosen(statistics)
                families = {
                    name: chosen[name] if stage.families.get(name) is family else family
                    for name, family in families.items()
                }

    problems = None if statistics is None else statistics.problems
    cost = None
    try:
        cost = None if problems is None else forecast(problems, budget, deadline, most.cells)
        if cost is not None and cost.loopy_reads > most.loopy_reads:
            notes = (*notes, TOO_LONG.format(time_in_words(100 * cost.seconds)))
    except OutOfTimeError:
        notes = (*notes, "planning one step of EM takes longer than the time limit")

    row_count = None
    complete_rows = None
    missing = plan.partially
    if statistics is not None:
        row_count = statistics.rows
        missing = tuple(filter(statistics.missing_of.get, network.variables))
        if needs.complete:
            complete_rows = statistics.complete_rows
    largest = max(cells_of(network, name) for name in network.variables)
    return Explanation(
        plan=plan,
        families=families,
        rows=row_count,
        shown=shown,
        tables=tuple(union for union, _ in superfamilies(needs.families, radix_of)),
        groupings=tuple(dict.fromkeys(asked.given for asked in needs.groupings if asked.given)),
        bytes_needed=largest * plan.bytes_per_cell,
        expectation=cost,
        intervals=work_of(plan, budget, cost),
        scratch=None if rows is None else rows.scratch_bytes(needs),
        notes=notes,
        complete_rows=complete_rows,
        missing=missing,
    )


def explain_rows(
    network: Network, method: Method, rows: Held, query: Mapping[str, str]
) -> tuple[Estimand, tuple[OrderRows, ...]]:
    """The estimand of any query, and the rows that enter each of its factors."""
    if not isinstance(method, Deletion):
        raise MethodError(
            f"method {method.name!r} has no estimand to write down.",
            "choose a closed form: --method direct-mar, or factored-mar.",
        )
    values = {name: network.state_index(name, state) for name, state in query.items()}
    look = rows.look()
    partially = look.hidden(network)
    method.check(network, partially)
    observed = tuple(name for name in network.variables if name not in partially)
    estimand = method.resolved(network, look).estimand(tuple(query), partially, observed)
    return estimand, rows_entering(estimand, rows.table, values)


RowNumbers = NDArray[np.int64]


@dataclass(frozen=True)
class OrderRows:
    """One product of factors: the numbers of the rows that enter each, the first row being 1."""

    rows_of: Mapping[str, RowNumbers]

    @property
    def together(self) -> RowNumbers:
        """The rows of all factors together."""
        return np.unique(np.concatenate([*self.rows_of.values()]))


def rows_entering(
    estimand: Estimand, table: EncodedTable, values: Mapping[str, int]
) -> tuple[OrderRows, ...]:
    """The rows that each factor of the estimand counts, for one configuration of its left side.

    A row enters a factor if it shows every variable that the factor mentions, or that its
    condition asks to be shown, and agrees with ``values`` where these say anything; the
    variables summed over are free.
    """
    merged = [part for part in parts_of_term(estimand.term) if isinstance(part, Orders)]
    products = merged[0].products if merged else (estimand.term,)
    factors = ([part for part in parts_of_term(p) if isinstance(part, Factor)] for p in products)
    return tuple(
        OrderRows({f.written(Writer(PLAIN_TEXT)): _rows(f, table, values) for f in each})
        for each in factors
    )


def _rows(factor: Factor, table: EncodedTable, values: Mapping[str, int]) -> RowNumbers:
    enters = table.is_shown((*factor.mentions, *factor.shown))
    for name in factor.mentions:
        if name in values:
            enters &= table.columns[name] == values[name]
    return table.numbers[enters]


def row_ranges(rows: RowNumbers) -> str:
    """Row numbers in words, runs of three and more as ranges.

    Examples
    --------
    >>> row_ranges(np.array([1, 2, 3, 7, 8]))
    '1-3, 7, 8'
    """
    breaks = np.flatnonzero(np.diff(rows) > 1) + 1
    words: list[str] = []
    for run in np.split(rows, breaks):
        words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run.tolist())
    return ", ".join(words) or "none"


def _widest_wave(network: Network, partially: Collection[str]) -> list[str]:
    """What the variables of one wave, which may be missing together, cost; nothing for one."""
    in_wave: dict[int, list[str]] = {}
    for name in partially:
        wave = in_time(name).wave
        if wave is not None:
            in_wave.setdefault(wave, []).append(name)
    if not in_wave:
        return []
    widest = max(in_wave.values(), key=lambda names: prod(network.shape(names)))
    if len(widest) == 1:
        return []
    states = prod(network.shape(widest))
    return [
        f"where a wave is missing, its {states:,} states together ({first_of(widest, 5)}) meet "
        "those of the next: time and memory may grow with their square"
    ]
