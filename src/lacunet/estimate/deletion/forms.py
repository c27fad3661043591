"""The table of closed forms: name, estimand, estimators.

Each is a row (`Form`) and a class with the options that users may set. `Deletion` is the road
they all take: from the counts of each family, and of its groups where it has any, to the joint,
to the CPT.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lacunet.estimands.deletion import (
    Estimand,
    direct_mar_estimand,
    direct_mcar_estimand,
    factored_mar_estimand,
    factored_mcar_estimand,
    listwise_estimand,
)
from lacunet.estimate.cpts import JointEstimate, cells_of, made_cpt
from lacunet.estimate.deletion.by_groups import over_groups
from lacunet.estimate.deletion.direct import direct_mar, direct_mcar
from lacunet.estimate.deletion.factored import factored_mar, factored_mcar
from lacunet.estimate.deletion.lattice import AGGREGATIONS, lattice_cells
from lacunet.estimate.families import FamilyPlan
from lacunet.estimate.method import (
    COUNTS,
    INFLUENCE,
    Aggregation,
    Estimated,
    Learned,
    MethodError,
    Plan,
    Setting,
    Stage,
)
from lacunet.estimate.options import check_options, graph_option, option
from lacunet.estimate.pseudo_counts import (
    FROM_SHOWN,
    ONE_PER_CELL,
    AskedPseudoCounts,
    pseudo_counts_from,
)
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.counts import Counts
from lacunet.statistics.distinct import LARGEST_KEY
from lacunet.statistics.errors import TooLargeError
from lacunet.statistics.gather import Grouping, Needs, Statistics
from lacunet.statistics.look import Look
from lacunet.statistics.solved import Solved

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph

# What is alive at once for each cell of the largest family, measured at 8 million cells:
# the joint, its weighted copy and the CPT; for factored methods also the estimates of the
# lattice, their variances and what they are made of.
DIRECT_BYTES, FACTORED_BYTES = 40, 144
LATTICE_CELLS = 3 * 10**7  # about half a minute; beyond, a family is estimated directly
UNGROUPED = "the ungrouped estimate"  # stands in where groups do not tell
FELL_BACK = f"groups have no row that shows the family: {UNGROUPED} is used for their rows"
TOO_LARGE = "by {}: the factorisation lattice of this family has {:,} cells"
MERGED = "how the estimates by different orders of the variables are combined"
LEARN: Scope = ("learn",)  # the separator is to be learned from the data
NOT_KNOWN: Scope = ("X_o",)  # the fully observed variables, while all may have missing values


@dataclass(frozen=True)
class Form:
    """One row of the table.

    ``estimand`` writes down what is estimated of a family, given which variables have missing
    values and what rows are grouped by. ``joint`` estimates the family's joint from its counts;
    ``within``, if there is one, from each group, where the former stands in if a group says
    nothing. ``direct`` is the form used where the lattice of a factored one is too large.
    """

    name: str
    estimand: Callable[[Scope, Collection[str], Scope], Estimand]
    joint: Callable[..., FloatArray]
    within: Callable[..., Solved] | None = None
    direct: Form | None = None


LISTWISE = Form("listwise", listwise_estimand, direct_mcar)
DIRECT_MCAR = Form("direct-mcar", direct_mcar_estimand, direct_mcar)
FACTORED_MCAR = Form("factored-mcar", factored_mcar_estimand, factored_mcar, direct=DIRECT_MCAR)
DIRECT_MAR = Form("direct-mar", direct_mar_estimand, direct_mcar, direct_mar)
FACTORED_MAR = Form(
    "factored-mar", factored_mar_estimand, factored_mcar, factored_mar, direct=DIRECT_MAR
)


@dataclass(frozen=True)
class Deletion:
    """A closed form with its options; the road of all of them."""

    form: ClassVar[Form]
    name: ClassVar[str]

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        return DIRECT_BYTES if self.form.direct is None else FACTORED_BYTES

    def __post_init__(self) -> None:
        check_options(self)

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:
        """What is estimated of the joint of ``left``."""
        return self.form.estimand(left, partially, self.grouped_by(left, observed))

    def grouped_by(self, left: Scope, observed: Scope) -> Scope:  # noqa: ARG002
        """The fully observed variables that rows are grouped by."""
        return observed

    def form_of(self, network: Network, variable: str) -> tuple[Form, dict[str, Any]]:
        """The form that a family is estimated by, with its options."""
        if self.form.direct is None:
            return self.form, {}
        if lattice_cells(network.shape(network.family(variable))) > LATTICE_CELLS:
            return self.form.direct, {}
        return self.form, {"aggregation": getattr(self, "aggregation", AGGREGATIONS[0])}

    def plan(
        self,
        network: Network,
        look: Look,
        pseudo_counts: AskedPseudoCounts = ONE_PER_CELL,  # noqa: ARG002
    ) -> Plan:
        """One stage; intervals by the counts, or by how rows move the estimates."""
        stage = self.stage(network, look)
        hidden = look.hidden(network)
        plan = Plan(self.name, network, hidden, (stage,), self.bytes_per_cell, COUNTS)
        if not stage.needs.groupings and (self.form.direct is None or not hidden):
            return plan
        given_of = {grouping.family: grouping.given for grouping in stage.needs.groupings}
        estimated_of = {}
        for name, family in zip(network.variables, network.families, strict=True):
            form, options = self.form_of(network, name)
            estimated_of[name] = Estimated(
                family,
                tuple(member for member in family if member in hidden),
                given_of.get(family, ()),
                form="direct" if form.direct is None else "factored",
                aggregation=options.get("aggregation", AGGREGATIONS[0]),
                is_grouped=form.within is not None,
            )
        return replace(plan, recipe=INFLUENCE, estimated_of=estimated_of)

    def stage(self, network: Network, look: Look) -> Stage:
        """What will be counted: every family and, where rows are grouped, its groups."""
        hidden_in, observed = dict.fromkeys(look.hidden(network)), NOT_KNOWN
        if look.partially is not None:
            self.check(network, look.partially)
            observed = tuple(name for name in network.variables if name not in hidden_in)
        families, groupings = {}, []
        for name in network.variables:
            family = network.family(name)
            form, options = self.form_of(network, name)
            lattice = lattice_cells(network.shape(family))
            given = self.grouped_by(family, observed)
            families[name] = FamilyPlan(
                name,
                network.parents(name),
                form.estimand(family, hidden_in, given),
                cells_of(network, name),
                note="" if form is self.form else TOO_LARGE.format(form.name, lattice),
            )
            hidden = tuple(member for member in family if member in hidden_in)
            if form.within is not None and hidden:
                within = partial(form.within, **options)
                groupings.append(Grouping(family, hidden, given, form.direct is None, within))
        needs = Needs(network.families, complete=self.form is LISTWISE, groupings=tuple(groupings))
        solve = partial(self.solve, network, families)
        branches = (FELL_BACK,) if groupings else ()
        return Stage(self.name, families, needs, solve, branches, learned_from=FROM_SHOWN)

    def resolved(self, network: Network, look: Look) -> Deletion:  # noqa: ARG002
        """The same, once the rows have told what it leaves to them."""
        return self

    def check(self, network: Network, partially: Scope) -> None:
        """Refuse options that do not fit the network and the data."""

    def solve(
        self,
        network: Network,
        families: Mapping[str, FamilyPlan],
        statistics: Statistics,
        learned: Learned,
        setting: Setting,
    ) -> Learned:
        """The CPT of every variable that no stage before has estimated, family by family."""
        statistics = statistics.sample(0)
        wanted = [name for name in network.variables if name not in learned.tables]
        pseudo_counts, cpts = pseudo_counts_from(setting.pseudo_counts, network, statistics), {}
        for done, name in enumerate(wanted):
            setting.progress("estimating", done, len(wanted), name)
            estimate = self.estimate(network, name, statistics)
            counts = statistics.counts[network.family(name)]
            cpts[name] = made_cpt(families[name], estimate, counts, network, pseudo_counts)
        setting.progress("estimating", len(wanted), len(wanted))
        return learned.with_cpts(cpts, pseudo_counts)

    def estimate(self, network: Network, variable: str, statistics: Statistics) -> JointEstimate:
        """The estimate of one family's joint, and the rows that enter it."""
        form, options = self.form_of(network, variable)
        family, total = network.family(variable), statistics.total
        if form is LISTWISE:
            complete = statistics.complete[family]
            return JointEstimate(joint=form.joint(complete), total=total, used=complete)
        counts = statistics.counts[family]
        if family in statistics.reduced:
            stand_in = partial(form.joint, counts, **options)
            groups = statistics.reduced[family][0]
            joint, mass = over_groups(groups, total, stand_in)
            rows = round(counts.tally.rows.sum())
        elif counts.is_whole if form.within else form.joint is direct_mcar:
            return JointEstimate(joint=direct_mcar(counts), total=total)
        else:
            joint, rows = form.joint(counts, **options), rows_showing_any(counts)
            mass = 1.0 if form.within else 0.0  # there was no time to count the groups
        return JointEstimate(
            joint=joint, total=total, rows_used=rows, fallback_mass=mass, fallback=UNGROUPED
        )


def check_graph(missingness: object) -> None:
    """Refuse what is not a missingness graph, such as its text, which needs a network."""
    from lacunet.missingness.graph import MissingnessGraph

    if not isinstance(missingness, MissingnessGraph):
        raise MethodError(
            f"missingness is {missingness!r}, but the method needs a missingness graph.",
            "give its lines to learn, missingness='Age -> R[Ill]', or their file (--missingness "
            "FILE); a method takes MissingnessGraph.parse(text, network), or .read(path, network).",
        )


def rows_showing_any(counts: Counts) -> int:
    """The number of rows that show at least one variable."""
    last = int(np.prod([float(radix) for radix in counts.radices])) - 1
    return round(float(counts.tally.rows[counts.keys != last].sum()))


def check_size(network: Network, bytes_per_cell: int, budget: int) -> None:
    """Refuse, before any row is read, a network with tables that do not fit."""
    size_of = {name: cells_of(network, name) for name in network.variables}
    variable = max(size_of, key=size_of.__getitem__)
    shape = network.shape(network.family(variable))
    if lattice_cells(shape) > LATTICE_CELLS:
        bytes_per_cell = DIRECT_BYTES
    needed = size_of[variable] * bytes_per_cell
    if needed > budget or prod(size + 1 for size in shape) >= LARGEST_KEY:
        raise TooLargeError.family(variable, network.parents(variable), needed, budget)
    kept = 8 * sum(size_of.values())
    if kept + needed > budget:
        raise TooLargeError.network(variable, kept + needed, budget)


@dataclass(frozen=True)
class Listwise(Deletion):
    """Listwise deletion: all CPTs from the rows in which nothing is missing; right under MCAR."""

    name = "listwise"
    form = LISTWISE


@dataclass(frozen=True)
class DirectMCAR(Deletion):
    """Direct deletion for values that are missing completely at random (MCAR).

    Each CPT is estimated from the rows that show its whole family, the variable and its parents.
    This is also known as available-case analysis.
    """

    name = "direct-mcar"
    form = DIRECT_MCAR


@dataclass(frozen=True)
class FactoredMCAR(Deletion):
    """Factored deletion for values that are missing completely at random (MCAR).

    As `DirectMCAR`, but rows that show only part of a family count too: its joint distribution is
    taken apart by the chain rule, in every order of its variables, and each factor is estimated
    from all rows that show it. ``aggregation`` says how the orders are combined.
    """

    name = "factored-mcar"
    form = FACTORED_MCAR
    aggregation: Aggregation = option(AGGREGATIONS[0], MERGED, choices=AGGREGATIONS)


@dataclass(frozen=True)
class DirectMAR(Deletion):
    """Direct deletion for values that are missing at random (MAR).

    As `DirectMCAR`, but within groups of rows that agree on the variables that are never missing;
    the groups are averaged by their size. Right if these variables decide what is missing.
    """

    name = "direct-mar"
    form = DIRECT_MAR


@dataclass(frozen=True)
class FactoredMAR(Deletion):
    """Factored deletion for values that are missing at random (MAR).

    As `FactoredMCAR`, but within groups of rows that agree on the variables that are never missing;
    the groups are averaged by their size. Right if these variables decide what is missing.
    """

    name = "factored-mar"
    form = FACTORED_MAR
    aggregation: Aggregation = option(AGGREGATIONS[0], MERGED, choices=AGGREGATIONS)


@dataclass(frozen=True)
class Informed(Deletion):
    r"""Deletion under MAR that knows what separates values from their mechanisms.

    Rows are grouped by :math:`Y_o \cup W`: W as given, or the smallest that the graph allows,
    which may be given or learned from the data.
    """

    separator: Scope = option(
        (),
        "variables that explain which values are missing, or 'learn' to find them",
        metavar="A,B",
    )
    missingness: MissingnessGraph | None = graph_option()

    def __post_init__(self) -> None:
        names = (self.separator,) if isinstance(self.separator, str) else tuple(self.separator)
        object.__setattr__(self, "separator", names)
        if self.missingness is not None:
            check_graph(self.missingness)
            if self.missingness.selection is not None:  # groups do not stand for what is lost
                raise MethodError(
                    "the missingness graph says that rows are a selection (R[*]), which deletion "
                    "within groups does not allow for.",
                    "method='mgraph' learns what the selection leaves, method='em' with the "
                    "likelihood given that rows were recorded.",
                )
            if self.separator:
                raise MethodError(
                    "both a separator and a missingness graph are given, and the graph chooses its "
                    "own separator.",
                    "give one of the two.",
                )
        super().__post_init__()

    def plan(
        self, network: Network, look: Look, pseudo_counts: AskedPseudoCounts = ONE_PER_CELL
    ) -> Plan:
        """The same with the separator resolved; with the graph, where one was given."""
        method = self.resolved(network, look)
        if self.missingness is None:
            return Deletion.plan(method, network, look, pseudo_counts)
        from lacunet.missingness.confounding import notes_on_graph

        graph = self.missingness.over(network)
        notes = notes_on_graph(graph, look.partially)
        if look.partially is None:
            look = replace(look, partially=graph.partially_observed)
        return replace(
            Deletion.plan(method, network, look, pseudo_counts), notes=notes, graph=graph
        )

    def resolved(self, network: Network, look: Look) -> Informed:
        """The same with a graph of what seems to decide on being missing, if asked for."""
        if self.missingness is not None:
            return replace(self, missingness=self.missingness.over(network))
        if look.partially is None or self.separator != LEARN:
            return self
        from lacunet.missingness.fitted import MOST_ROWS, observed_mechanisms

        known = observed_mechanisms(network, look.sampled(MOST_ROWS))
        return replace(self, separator=(), missingness=known)

    def grouped_by(self, left: Scope, observed: Scope) -> Scope:
        """The family's observed part and W."""
        separator: Scope = self.separator
        if observed == NOT_KNOWN:
            return ("Y_o", *(("W",) if separator == LEARN else separator))
        if self.missingness is not None:
            from lacunet.missingness.separation.separator import separator as smallest

            separator = smallest(self.missingness, left, observed)
        return tuple(name for name in observed if name in left or name in separator)

    def check(self, network: Network, partially: Scope) -> None:
        """Refuse a separator that the data do not always show."""
        for name in self.separator if self.separator != LEARN else ():
            if network.known(name) in partially:
                raise MethodError(
                    f"the separator holds {name!r}, which is missing in some rows.",
                    "a separator may hold only variables that are never missing.",
                )


@dataclass(frozen=True)
class InformedDirect(Informed):
    """Direct deletion within groups that agree on a separator."""

    name = "informed-direct"
    form = DIRECT_MAR


@dataclass(frozen=True)
class InformedFactored(Informed):
    """Factored deletion within groups that agree on a separator."""

    name = "informed-factored"
    form = FACTORED_MAR
    aggregation: Aggregation = option(AGGREGATIONS[0], MERGED, choices=AGGREGATIONS)


FORMS = (
    Listwise,
    DirectMCAR,
    FactoredMCAR,
    DirectMAR,
    FactoredMAR,
    InformedDirect,
    InformedFactored,
)
