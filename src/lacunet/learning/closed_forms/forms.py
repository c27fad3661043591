"""The table of closed forms: name, estimand, estimators.

Each is a row (`Form`) and a class with the options that users may set. `Deletion` is the road
they all take: from the counts of each family, and of its groups where it has any, to the joint,
to the CPT.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

from lacunet.counts.counts import Counts
from lacunet.counts.distinct import LARGEST_KEY
from lacunet.counts.errors import TooLargeError
from lacunet.counts.family_sums import Solved
from lacunet.counts.gather import Grouping, Needs, Statistics
from lacunet.counts.look import Look
from lacunet.learning.closed_forms.by_groups import over_groups
from lacunet.learning.closed_forms.direct import direct_mar, direct_mcar
from lacunet.learning.closed_forms.factored import factored_mar, factored_mcar
from lacunet.learning.closed_forms.lattice import AGGREGATIONS, lattice_cells
from lacunet.learning.cpts import JointEstimate, cells_of, make_cpts
from lacunet.learning.family_reports import FamilyPlan
from lacunet.learning.method_options import check_options, graph_option, option
from lacunet.learning.plan import (
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
from lacunet.learning.pseudo_counts import (
    FROM_SHOWN,
    ONE_PER_CELL,
    AskedPseudoCounts,
    pseudo_counts_from,
)
from lacunet.limits import NEVER, Deadline
from lacunet.missingness.formulas.deletion import (
    Estimand,
    direct_mar_estimand,
    direct_mcar_estimand,
    factored_mar_estimand,
    factored_mcar_estimand,
    listwise_estimand,
)
from lacunet.network.arguments import clear_arguments, hide_parameters
from lacunet.network.network import FloatArray, Network, Scope

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph

# What is alive at once for each cell of the largest family, measured at 8 million cells:
DIRECT_BYTES = 40  # the joint, its weighted copy and the CPT;
FACTORED_BYTES = 144  # also the estimates of the lattice, their variances and their parts.
MAX_LATTICE_CELLS = 3 * 10**7  # about two seconds; beyond, a family is estimated directly

Kind = Literal["listwise", "direct", "factored"]
OBSERVED = "observed"  # rows are grouped by the variables that are never missing
LEARNED_GROUPS = "learn"  # what explains which values are missing is to be learned from the data
NOT_KNOWN: Scope = ("X_o",)  # the fully observed variables, while all may have missing values

# What plans and reports say.
UNGROUPED = "the ungrouped estimate"  # stands in where groups do not tell
FALLBACK_BRANCH = f"groups have no row that shows the family: {UNGROUPED} is used for their rows"
SHAPED_START = "by {}: EM begins there with a CPT that is no full table"
LATTICE_TOO_LARGE = "by {}: the factorisation lattice of this family has {:,} cells"
AGGREGATION_HELP = "how the estimates by different orders of the variables are combined"


@dataclass(frozen=True)
class Form:
    """One row of the table."""

    name: str
    # Writes down what is estimated of a family, given which variables have missing values and
    # what rows are grouped by.
    estimand: Callable[[Scope, Collection[str], Scope], Estimand]
    # Estimates the family's joint from its counts among all rows.
    joint: Callable[..., FloatArray]
    # The same within each group, for a MAR form; `joint` stands in where a group says nothing.
    within: Callable[..., Solved] | None = None
    # What a factored form gives way to where its lattice is too large.
    direct: Form | None = None


LISTWISE = Form("listwise", listwise_estimand, direct_mcar)
DIRECT_MCAR = Form("direct-mcar", direct_mcar_estimand, direct_mcar)
FACTORED_MCAR = Form("factored-mcar", factored_mcar_estimand, factored_mcar, direct=DIRECT_MCAR)
DIRECT_MAR = Form("direct-mar", direct_mar_estimand, direct_mcar, direct_mar)
FACTORED_MAR = Form(
    "factored-mar", factored_mar_estimand, factored_mcar, factored_mar, direct=DIRECT_MAR
)


FORMS = {  # by what is estimated, and whether it is within groups
    ("listwise", False): LISTWISE,
    ("direct", False): DIRECT_MCAR,
    ("factored", False): FACTORED_MCAR,
    ("direct", True): DIRECT_MAR,
    ("factored", True): FACTORED_MAR,
}


@clear_arguments
@dataclass(frozen=True)
class Deletion:
    """Deletion: closed forms, which count the rows that show what they need.

    Each method by name is one such value:

    ===================  ==================================================
    "listwise"           ``Deletion("listwise")``
    "direct-mcar"        ``Deletion("direct", groups=None)``
    "factored-mcar"      ``Deletion("factored", groups=None)``
    "direct-mar"         ``Deletion("direct")``
    "factored-mar"       ``Deletion("factored")``
    "informed-direct"    ``Deletion("direct", groups=["Age"])``
    "informed-factored"  ``Deletion("factored", groups=["Age"])``
    ===================  ==================================================

    Parameters
    ----------
    kind
        Which rows count. "listwise": those in which nothing is missing. "direct": of each CPT those
        that show its whole family, the variable and its parents. "factored": those that show a part
        of it, too: its joint distribution is taken apart by the chain rule, in every order of its
        variables, and each factor is estimated from all rows that show it.
    groups
        Within which groups of rows. "observed": rows that agree on the variables that are never
        missing (right under MAR, if these decide what is missing). A list of variables that are
        never missing: rows that agree on them and on what is never missing of the family, which is
        enough if they decide what is missing; "learn" finds them in the data. None: all rows
        together (right under MCAR). Groups are averaged by their size.
    aggregation
        How the estimates of "factored" by the orders of the variables are combined.
    missingness
        A missingness graph, in place of ``groups``: of each family the smallest ones that it
        allows.

    Examples
    --------
    >>> Deletion("direct", groups=["Age"]).name
    'informed-direct'
    """

    kind: Kind = option("factored", "which rows count", choices=get_args(Kind))
    groups: str | Sequence[str] | None = option(
        OBSERVED,
        "variables that explain which values are missing, or 'learn' to find them",
        metavar="A,B",
    )
    aggregation: Aggregation = option(AGGREGATIONS[0], AGGREGATION_HELP, choices=AGGREGATIONS)
    missingness: MissingnessGraph | None = graph_option()
    # Whether EM goes on from it: a CPT that is no full table is then estimated directly, for its
    # few parameters need no lattice to begin with.
    starts_em: bool = field(default=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_options(self)
        if self.missingness is not None:
            self._check_graph()
            object.__setattr__(self, "groups", ())
        elif self.kind == "listwise":
            if self.groups not in (None, OBSERVED):
                raise MethodError(
                    f"groups is {self.groups!r}, but listwise deletion has none.",
                    "give groups to 'direct' or 'factored'.",
                )
            object.__setattr__(self, "groups", None)
        elif isinstance(self.groups, str) and self.groups not in (OBSERVED, LEARNED_GROUPS):
            object.__setattr__(self, "groups", (self.groups,))
        elif self.groups is not None and not isinstance(self.groups, str):
            object.__setattr__(self, "groups", tuple(self.groups))
        if self.kind != "factored" and self.aggregation != AGGREGATIONS[0]:
            raise MethodError(
                f"aggregation is {self.aggregation!r}, but {self.kind!r} has nothing to combine.",
                "it is an option of 'factored'.",
            )

    def _check_graph(self) -> None:
        """Refuse what is not a graph, what groups cannot stand for, and groups beside it."""
        check_graph(self.missingness)
        assert self.missingness is not None
        if self.kind == "listwise":
            raise MethodError("listwise deletion takes no missingness graph.", "leave it out.")
        if self.missingness.selection is not None:  # groups do not stand for what is lost
            raise MethodError(
                "the missingness graph says that rows are a selection (R[*]), which deletion "
                "within groups does not allow for.",
                "method='mgraph' learns what the selection leaves, method='em' with the "
                "likelihood given that rows were recorded.",
            )
        if self.groups not in (OBSERVED, ()):
            raise MethodError(
                "both groups and a missingness graph are given, and the graph chooses its own "
                "groups.",
                "give one of the two.",
            )

    @property
    def is_informed(self) -> bool:
        """Whether rows are grouped by what is said to explain which values are missing."""
        return self.groups not in (None, OBSERVED)

    @property
    def name(self) -> str:
        """The name of the method."""
        if self.kind == "listwise":
            return self.kind
        if self.is_informed:
            return f"informed-{self.kind}"
        return f"{self.kind}-{'mcar' if self.groups is None else 'mar'}"

    @property
    def form(self) -> Form:
        """The row of the table."""
        return FORMS[self.kind, self.groups is not None]

    @property
    def free_options(self) -> tuple[str, ...]:
        """The options that do not change the name of the method."""
        options: tuple[str, ...] = ()
        if self.is_informed:
            options += ("groups", "missingness")
        if self.kind == "factored":
            options += ("aggregation",)
        return options

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        is_factored = self.form.direct is not None
        return FACTORED_BYTES if is_factored else DIRECT_BYTES

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:
        """What is estimated of the joint of ``left``."""
        return self.form.estimand(left, partially, self.grouped_by(left, observed))

    def grouped_by(self, left: Scope, observed: Scope) -> Scope:
        """The fully observed variables that rows are grouped by: X_o; informed, Y_o and W."""
        if not self.is_informed:
            return observed
        explaining = ("W",) if self.groups == LEARNED_GROUPS else tuple(self.groups or ())
        if observed == NOT_KNOWN:
            return ("Y_o", *explaining)
        if self.missingness is not None:
            from lacunet.missingness.separation.separator import separator

            explaining = separator(self.missingness, left, observed)
        return tuple(name for name in observed if name in left or name in explaining)

    def form_of(self, network: Network, variable: str) -> tuple[Form, dict[str, Any]]:
        """The form that a family is estimated by, with its options."""
        if self.form.direct is None:
            return self.form, {}
        if self.starts_em and variable in network.shapes_of:
            return self.form.direct, {}
        if lattice_cells(network.shape(network.family(variable))) > MAX_LATTICE_CELLS:
            return self.form.direct, {}
        return self.form, {"aggregation": self.aggregation}

    def plan(
        self,
        network: Network,
        look: Look,
        pseudo_counts: AskedPseudoCounts = ONE_PER_CELL,  # noqa: ARG002
        deadline: Deadline = NEVER,  # noqa: ARG002
    ) -> Plan:
        """One stage; intervals by the counts, or by how rows move the estimates.

        Groups that are to be learned are learned from the rows that were looked at.
        """
        method = self.resolved(network, look)
        if self.missingness is None:
            return method._plan(network, look)
        from lacunet.missingness.confounding import notes_on_graph

        graph = self.missingness.over(network)
        notes = notes_on_graph(graph, look.partially)
        if look.partially is None:  # the graph tells what may be missing, before any row is read
            look = replace(look, partially=graph.partially_observed)
        return method._plan(network, look, notes, graph)

    def _plan(
        self,
        network: Network,
        look: Look,
        notes: tuple[str, ...] = (),
        graph: MissingnessGraph | None = None,
    ) -> Plan:
        """The plan, with what a missingness graph adds to it."""
        stage = self.stage(network, look)
        hidden = look.hidden(network)
        # Frequencies among rows have the variances of frequencies: the counts are enough. Estimates
        # that put several frequencies together vary with each row that enters any of them.
        is_factored = self.form.direct is not None and bool(hidden)
        if stage.needs.groupings or is_factored:
            recipe = INFLUENCE
            estimated_of = self._estimated_of(network, hidden, stage.needs.groupings)
        else:
            recipe = COUNTS
            estimated_of = {}
        return Plan(
            method=self.name,
            network=network,
            partially=hidden,
            stages=(stage,),
            bytes_per_cell=self.bytes_per_cell,
            recipe=recipe,
            estimated_of=estimated_of,
            notes=notes,
            graph=graph,
        )

    def _estimated_of(
        self, network: Network, partially: Scope, groupings: Sequence[Grouping]
    ) -> dict[str, Estimated]:
        """How each family is estimated, as far as it matters how rows move it."""
        given_of = {grouping.family: grouping.given for grouping in groupings}
        estimated_of = {}
        for name, family in zip(network.variables, network.families, strict=True):
            form, options = self.form_of(network, name)
            estimated_of[name] = Estimated(
                family,
                hidden=tuple(member for member in family if member in partially),
                given=given_of.get(family, ()),
                form="direct" if form.direct is None else "factored",
                aggregation=options.get("aggregation", AGGREGATIONS[0]),
                is_grouped=form.within is not None,
            )
        return estimated_of

    def stage(self, network: Network, look: Look) -> Stage:
        """What will be counted: every family and, where rows are grouped, its groups."""
        partially = dict.fromkeys(look.hidden(network))  # in order, and quick to ask
        observed = NOT_KNOWN
        if look.partially is not None:
            self.check(network, look.partially)
            observed = tuple(name for name in network.variables if name not in partially)

        families = {}
        groupings = []
        for name in network.variables:
            family = network.family(name)
            form, options = self.form_of(network, name)
            given = self.grouped_by(family, observed)
            note = ""
            if form is not self.form:
                cells = lattice_cells(network.shape(family))
                note = LATTICE_TOO_LARGE.format(form.name, cells)
                if self.starts_em and name in network.shapes_of:
                    note = SHAPED_START.format(form.name)
            families[name] = FamilyPlan(
                name,
                network.parents(name),
                form.estimand(family, partially, given),
                cells_of(network, name),
                note=note,
            )
            # A family without missing values is counted in all rows: groups would add up to that.
            hidden = tuple(member for member in family if member in partially)
            if form.within is not None and hidden:
                is_direct = form.direct is None  # it uses only rows that show all of the family
                within = partial(form.within, **options)
                groupings.append(
                    Grouping(
                        family=family, hidden=hidden, given=given, whole=is_direct, within=within
                    )
                )

        needs = Needs(network.families, complete=self.form is LISTWISE, groupings=tuple(groupings))
        solve = partial(self.solve, network, families)
        branches = (FALLBACK_BRANCH,) if groupings else ()
        return Stage(
            name=self.name,
            families=families,
            needs=needs,
            solve=solve,
            branches=branches,
            learned_from=FROM_SHOWN,
        )

    def resolved(self, network: Network, look: Look) -> Deletion:
        """The same with a graph of what seems to decide on being missing, if asked for."""
        if self.missingness is not None:
            return replace(self, missingness=self.missingness.over(network))
        if look.partially is None or self.groups != LEARNED_GROUPS:
            return self
        from lacunet.missingness.learned.from_rows import MOST_ROWS, observed_mechanisms

        known = observed_mechanisms(network, look.sampled(MOST_ROWS))
        return replace(self, groups=(), missingness=known)

    def check(self, network: Network, partially: Scope) -> None:
        """Refuse groups by what the data do not always show."""
        if not self.is_informed or self.groups == LEARNED_GROUPS:
            return
        for name in self.groups or ():
            if network.known(name) in partially:
                raise MethodError(
                    f"groups names {name!r}, which is missing in some rows.",
                    "only variables that are never missing can make groups.",
                )

    def solve(
        self,
        network: Network,
        families: Mapping[str, FamilyPlan],
        statistics: Statistics,
        learned: Learned,
        setting: Setting,
    ) -> Learned:
        """The CPT of every variable that no stage before has estimated, family by family."""
        statistics = statistics.sample(0)  # all rows, where there are replicates of them too
        wanted = [name for name in network.variables if name not in learned.tables]
        pseudo_counts = pseudo_counts_from(setting.pseudo_counts, network, statistics)
        estimate_of = {}
        for done, name in enumerate(wanted):
            setting.progress("estimating", done, len(wanted), name)
            estimate_of[name] = self.estimate(network, name, statistics)
        setting.progress("estimating", len(wanted), len(wanted))
        cpts = make_cpts(families, estimate_of, statistics, network, pseudo_counts)
        return learned.with_cpts(cpts, pseudo_counts)

    def estimate(self, network: Network, variable: str, statistics: Statistics) -> JointEstimate:
        """The estimate of one family's joint, and the rows that enter it."""
        form, options = self.form_of(network, variable)
        family = network.family(variable)
        total = statistics.total
        if form is LISTWISE:
            complete = statistics.complete[family]
            return JointEstimate(joint=form.joint(complete), total=total, used=complete)

        counts = statistics.counts[family]
        if family in statistics.reduced:
            groups = statistics.reduced[family][0]
            stand_in = partial(form.joint, counts, **options)
            joint, fallback_mass = over_groups(groups, total, stand_in)
            return JointEstimate(
                joint=joint,
                total=total,
                rows_used=round(counts.tally.rows.sum()),
                fallback_mass=fallback_mass,
                fallback=UNGROUPED,
            )

        if form.within is not None and not counts.is_whole:
            # There was no time to count the groups: all rows fall back.
            return JointEstimate(
                joint=form.joint(counts, **options),
                total=total,
                rows_used=rows_showing_any(counts),
                fallback_mass=1.0,
                fallback=UNGROUPED,
            )
        if form.within is not None or form.joint is direct_mcar:
            # Frequencies among the rows that show the family; these are all rows in a MAR form.
            return JointEstimate(joint=direct_mcar(counts), total=total)
        return JointEstimate(
            joint=form.joint(counts, **options), total=total, rows_used=rows_showing_any(counts)
        )


hide_parameters(Deletion, "starts_em")


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
    all_missing = prod(counts.radices) - 1  # the last value of each axis is "missing"
    return round(float(counts.tally.rows[counts.keys != all_missing].sum()))


def refuse_large_tables(network: Network, bytes_per_cell: int, budget: int) -> None:
    """Refuse, before any row is read, a network with tables that do not fit."""
    size_of = {name: cells_of(network, name) for name in network.variables}
    variable = max(size_of, key=size_of.__getitem__)
    shape = network.shape(network.family(variable))
    if lattice_cells(shape) > MAX_LATTICE_CELLS:  # then it is estimated directly
        bytes_per_cell = DIRECT_BYTES
    needed = size_of[variable] * bytes_per_cell
    # Missing is one more state where rows are counted, and a configuration is packed into a key.
    if needed > budget or prod(size + 1 for size in shape) >= LARGEST_KEY:
        raise TooLargeError.family(variable, network.parents(variable), needed, budget)
    kept = 8 * sum(size_of.values())  # the CPTs
    if kept + needed > budget:
        raise TooLargeError.network(variable, kept + needed, budget)


# The methods by name, without their options. Groups that explain what is missing are to be given.
DELETIONS: dict[str, Deletion] = {
    value.name: value
    for value in (
        Deletion("listwise"),
        Deletion("direct", groups=None),
        Deletion("factored", groups=None),
        Deletion("direct"),
        Deletion("factored"),
        Deletion("direct", groups=()),
        Deletion("factored", groups=()),
    )
}
