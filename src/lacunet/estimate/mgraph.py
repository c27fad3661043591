r"""Learning with a missingness graph: every family by the estimand that recovers it.

The graph decides for each CPT whether it is recoverable, and how; MNAR graphs included.
Pseudo-counts go on effective size times estimate,

.. math::
    \theta(x \mid u) \propto n_{\mathrm{eff}} \, P(u) P(x \mid u) + (\alpha - 1),

so that rows with large weights count for what they tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lacunet.estimands.notation import Notation
from lacunet.estimate.auto import Auto
from lacunet.estimate.cpts import cells_of, family_report, posterior_mode
from lacunet.estimate.deletion.forms import DIRECT_BYTES, FORMS, check_graph
from lacunet.estimate.em.method import EM, LoopyEM, OneStep
from lacunet.estimate.method import (
    FamilyPlan,
    FamilyReport,
    Learned,
    Method,
    MethodError,
    Plan,
    Setting,
    option,
)
from lacunet.missingness.errors import NoRowsError, NotRecoverableError, TooLargeEstimandError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.answers import recover_families
from lacunet.missingness.verdict import Estimation, Verdict, columns_needed, estimate
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.gather import Needs, Statistics

STAND_INS: dict[str, type[Method]] = {
    kind.name: kind for kind in (Auto, *FORMS, OneStep, EM, LoopyEM)
}


@dataclass(frozen=True)
class ByVerdict:
    """The formula of a family that a verdict recovers; the prior's where it does not.

    Of several, ``chosen`` is the one that was computed, because the data support it best.
    """

    verdict: Verdict
    chosen: Estimation | None = None
    given: Scope = ()

    def written(self, notation: Notation) -> str:
        """The formula in some notation."""
        term = self.verdict.term if self.chosen is None else self.chosen.term
        return notation.words("the prior") if term is None else term.equation(notation)


@dataclass(frozen=True)
class MGraph:
    """Recover what the missingness graph lets recover.

    ``otherwise`` says what becomes of the other families: "refuse" (an error that names
    family and reason), "prior" (the CPT holds the prior alone), or the name of a method; "em" is
    EM on the graph where `learn` holds the rows.
    Both of the latter are marked in the reports. They also stand in where an estimand finds no
    rows, or the data contradict it.
    """

    missingness: MissingnessGraph | None = option(
        None, "the missingness graph: a file, or its text", metavar="GRAPH"
    )
    otherwise: str = option(
        "refuse",
        "what to do with a CPT that is not recoverable: stop ('refuse'), 'prior' or a method",
    )
    effort: float = option(
        1.0, "search effort: 2 searches twice as long as the default", kind=float, least=0
    )
    name: ClassVar[str] = "mgraph"
    bytes_per_cell: ClassVar[int] = DIRECT_BYTES

    def __post_init__(self) -> None:
        if self.missingness is None:
            raise MethodError(
                "method 'mgraph' needs a missingness graph.",
                "give one with missingness=MissingnessGraph.read(...) (--missingness FILE).",
            )
        check_graph(self.missingness)
        known = ("refuse", "prior", *STAND_INS)
        if self.otherwise not in known:
            raise MethodError(
                f"otherwise is {self.otherwise!r}, but must be one of {', '.join(known)}."
            )

    @property
    def graph(self) -> MissingnessGraph:
        """The missingness graph."""
        assert self.missingness is not None
        return self.missingness

    @property
    def stand_in(self) -> Method | None:
        """The method for what is not recoverable, if one was named."""
        return STAND_INS[self.otherwise]() if self.otherwise in STAND_INS else None

    def plan(self, network: Network, partially: Scope | None) -> Plan:
        """What the graph says of every family; refuse what it cannot recover, if so told."""
        self.graph.check_network(network)
        notes: tuple[str, ...] = ()
        if partially is not None:
            notes = self.graph.check_partially(partially, network.variables)
        verdicts = recover_families(self.graph, self.effort)
        families = {
            name: FamilyPlan(
                name,
                network.parents(name),
                ByVerdict(verdict),
                cells_of(network, name),
                verdict=f"{verdict.status}: {verdict.why}",
            )
            for name, verdict in verdicts.items()
        }
        start = None if self.stand_in is None else self.stand_in.plan(network, partially)
        needs = start.needs if start else Needs(network.families)
        columns = dict.fromkeys(map(columns_needed, verdicts.values()))
        return Plan(
            self.name,
            network,
            network.variables if partially is None else partially,
            families,
            replace(needs, rows=tuple(columns)),
            self.bytes_per_cell,
            category=self.graph.why(),
            start=start,
            notes=notes,
        )

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        """The CPT of every variable, or a refusal."""
        verdicts = {name: _verdict(family) for name, family in plan.families.items()}
        lost = [name for name, verdict in verdicts.items() if not verdict.is_recoverable]
        if lost and self.otherwise == "refuse":
            first = verdicts[lost[0]]
            raise NotRecoverableError.family(lost[0], first.status, first.why, len(lost) - 1)
        found: dict[str, tuple[FloatArray, FamilyReport]] = {}
        without: dict[str, str] = {}  # families without an estimate, and why
        for done, (name, family) in enumerate(plan.families.items()):
            setting.progress("families", done, len(verdicts), name)
            try:
                found[name] = _recovered(plan, family, statistics, setting)
            except (NoRowsError, TooLargeEstimandError) as error:
                without[name] = error.message
            except NotRecoverableError:
                without[name] = family.verdict
        setting.progress("families", len(verdicts), len(verdicts))
        for name, why in without.items():
            found[name] = _prior(plan, plan.families[name], statistics, setting, why)
        order = plan.network.variables
        learned = Learned({v: found[v][0] for v in order}, {v: found[v][1] for v in order})
        if without and plan.start is not None and self.stand_in is not None:
            stand_in = self.stand_in.estimate(plan.start, statistics, setting)
            return standing_in(learned, stand_in, list(without), self.otherwise)
        return learned


def standing_in(
    learned: Learned, stand_in: Learned, names: Sequence[str], fallback: str
) -> Learned:
    """The same with some CPTs by another method, marked as such with the reason why."""
    families = dict(learned.families)
    for name in names:
        own = stand_in.families[name]
        warnings = (learned.families[name].warnings[0], *own.warnings)
        families[name] = replace(own, fallback_mass=1.0, fallback=fallback, warnings=warnings)
    tables = {**learned.tables, **{name: stand_in.tables[name] for name in names}}
    return replace(learned, tables=tables, families=families)


def _verdict(family: FamilyPlan) -> Verdict:
    assert isinstance(family.formula, ByVerdict)
    return family.formula.verdict


def _recovered(
    plan: Plan, family: FamilyPlan, statistics: Statistics, setting: Setting
) -> tuple[FloatArray, FamilyReport]:
    """The CPT of a recoverable family, and what it rests on.

    Raises
    ------
    NotRecoverableError
        There is no estimand, no row that shows what it needs, or the data contradict it.
    """
    verdict = _verdict(family)
    found = estimate(verdict, statistics.distinct[columns_needed(verdict)])
    if not found.is_founded:
        raise NoRowsError(found.warnings[0])
    joint = np.where(np.isnan(found.table), 0.0, found.table) * found.given_share[..., None]
    table, unseen = posterior_mode(joint, found.effective_size, setting.prior)
    report = family_report(
        replace(family, formula=ByVerdict(verdict, found)),
        statistics.counts[plan.network.family(family.variable)],
        plan.network,
        setting.prior,
        rows_used=found.rows_used,
        unseen=unseen,
        warnings=found.warnings,
    )
    return table, report


def _prior(
    plan: Plan, family: FamilyPlan, statistics: Statistics, setting: Setting, warning: str
) -> tuple[FloatArray, FamilyReport]:
    """The CPT of a family about which nothing is known: the prior's, marked as such."""
    shape = plan.network.shape(plan.network.family(family.variable))
    report = family_report(
        family,
        statistics.counts[plan.network.family(family.variable)],
        plan.network,
        setting.prior,
        rows_used=0,
        unseen=int(np.prod(shape[:-1], dtype=np.int64)),
        fallback_mass=1.0,
        fallback="prior",
        warnings=(warning,),
    )
    return np.full(shape, 1 / shape[-1]), report
