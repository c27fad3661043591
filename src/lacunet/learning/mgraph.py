"""Learning with a missingness graph: every family by the estimand that recovers it.

What the graph does not recover is refused, left to the prior, or to another method: with "em" to
EM on the graph, unless two variables share a hidden cause.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from lacunet.counts.gather import Needs, Statistics
from lacunet.counts.look import Look
from lacunet.errors import LacunetError
from lacunet.learning.auto import Auto
from lacunet.learning.closed_forms.forms import DELETIONS, DIRECT_BYTES, check_graph
from lacunet.learning.em.em import ALL_LOOPY, EM
from lacunet.learning.method_options import graph_option, option
from lacunet.learning.plan import Learned, Method, MethodError, Plan, Setting, Stage, run
from lacunet.learning.pseudo_counts import ONE_PER_CELL, AskedPseudoCounts
from lacunet.limits import NEVER, Deadline
from lacunet.missingness.errors import NotRecoverableError
from lacunet.network.arguments import clear_arguments
from lacunet.network.network import Network
from lacunet.text import counted, listed

if TYPE_CHECKING:
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.missingness.verdict import Verdict

STAND_INS: dict[str, Method] = {
    "auto": Auto(),
    **DELETIONS,
    "em": EM(),
    ALL_LOOPY: EM(inference="bp"),
}


@clear_arguments
@dataclass(frozen=True)
class MGraph:
    """Recover what the missingness graph lets recover.

    Parameters
    ----------
    missingness
        The `MissingnessGraph`; ``learn(..., missingness=)`` also takes its text or file.
    otherwise
        What becomes of CPTs that are not recoverable: "refuse" (an error that names family and
        reason), "prior" (the CPT holds the prior alone), or the name of a method; "em" is EM on the
        graph. Both of the latter are marked in the reports. They also stand in where an estimand
        finds no rows, or the data contradict it.
    effort
        How long to search for an estimand: 2 searches twice as long as the default.
    """

    missingness: MissingnessGraph | None = graph_option()
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
        check_graph(self.missingness)
        known = ("refuse", "prior", *STAND_INS)
        if self.otherwise not in known:
            raise MethodError(
                f"otherwise is {self.otherwise!r}, but must be one of {', '.join(known)}."
            )

    def plan(
        self,
        network: Network,
        look: Look,
        pseudo_counts: AskedPseudoCounts = ONE_PER_CELL,
        deadline: Deadline = NEVER,  # noqa: ARG002
    ) -> Plan:
        """What the graph says of every family, and what stands in for the others."""
        from lacunet.learning.ignorable_mechanisms import mechanism_stages_alone
        from lacunet.learning.recovery import Recovery
        from lacunet.missingness.confounding import notes_on_graph
        from lacunet.missingness.recover.decide import recover_families

        assert self.missingness is not None
        graph = self.missingness.over(network)
        notes = notes_on_graph(graph, look.partially)
        partially = graph.partially_observed if look.partially is None else look.partially
        verdicts = recover_families(graph, self.effort)
        lost = [name for name, verdict in verdicts.items() if not verdict.is_recoverable]
        is_refused = self.otherwise == "refuse" and bool(lost)
        is_stood_in = self.otherwise in STAND_INS
        plan = None
        if is_stood_in:
            plan = self._stand_in(graph).plan(network, look, pseudo_counts)
        stand_ins = {} if plan is None else plan.families
        otherwise = "refused" if is_refused else "the prior"
        recovery = Recovery(network, verdicts, otherwise, stand_ins)
        unrecovered = lost if self.otherwise == "prior" else ()  # before any data are read
        at_prior = {name: recovery.families[name] for name in unrecovered}
        prior_stage = Stage("prior", at_prior, Needs(network.families), recovery.at_prior)
        stages = [recovery.stage(), prior_stage, *mechanism_stages_alone(graph, partially)]
        if plan is not None:
            stages.insert(1, _for_what_is_left(plan, lost, self.otherwise))
        return Plan(
            method=self.name,
            network=network,
            partially=look.hidden(network),
            stages=tuple(stages),
            bytes_per_cell=self.bytes_per_cell,
            category=graph.why(),
            notes=notes,
            graph=graph,
            refusal=_refusal(verdicts[lost[0]], lost) if is_refused else None,
        )

    def _stand_in(self, graph: MissingnessGraph) -> Method:
        """The method for what is not recoverable."""
        if self.otherwise != "em":
            return STAND_INS[self.otherwise]
        from lacunet.missingness.augmented_network import without_hidden_causes

        try:
            without_hidden_causes(graph)
        except LacunetError:
            return EM()
        return EM(missingness=graph)


EM_ESTIMATES_IT = (
    "for almost all models with these numbers of states, no other model close by gives the same "
    "data, so method='em' (--method em) with the graph estimates it. If you do not want that: "
)


def _refusal(first: Verdict, lost: list[str]) -> NotRecoverableError:
    """Refuse to learn a network of which some CPTs are not recoverable."""
    more = counted(len(lost) - 1, "more CPT is", "more CPTs are")
    more = f" {more} not recovered either." if len(lost) > 1 else ""
    is_identified = first.term is None and first.generic
    return NotRecoverableError(
        f"the CPT of {lost[0]!r} is {first.status} under this missingness graph ({first.why})."
        f"{more}",
        (EM_ESTIMATES_IT if is_identified else "")
        + "otherwise='prior' (lacunet learn --otherwise prior) leaves such CPTs at the prior, "
        "otherwise='em' (or another method's name) learns them by that method; the result says "
        "which CPTs these are.",
    )


def _for_what_is_left(plan: Plan, lost: list[str], name: str) -> Stage:
    """Another method as one stage, for the families that are left: marked with the reason why."""
    name = "em on the missingness graph" if plan.category else name

    return Stage(
        name,
        {variable: plan.families[variable] for variable in lost},
        plan.needs(),
        partial(_stood_in, plan, name),
        branches=tuple(branch for stage in plan.stages for branch in stage.branches),
        learned_from=next(
            (stage.learned_from for stage in plan.stages[::-1] if stage.learned_from), ""
        ),
    )


def _stood_in(
    plan: Plan, name: str, statistics: Statistics, learned: Learned, setting: Setting
) -> Learned:
    """What the plan of another method makes of the families that are left."""
    if not learned.left:
        return learned
    if setting.whole is not None and setting.whole.stand_in is not None:
        setting = replace(setting, whole=setting.whole.stand_in)
    stand_in = run(plan, statistics, setting)
    cpts = {}
    for variable, why in learned.left.items():
        report = stand_in.families[variable]
        is_said = any(text.startswith(why) for text in report.warnings)  # with what EM makes of it
        warnings = report.warnings if is_said else (why, *report.warnings)
        report = replace(report, fallback_mass=1.0, fallback=name, warnings=warnings)
        cpts[variable] = stand_in.tables[variable], report
    ended = stand_in.ended
    if ended is not None:
        whose = (
            f"EM learned the CPTs of {listed(learned.left)}; log-likelihood and log-posterior are "
            "those of the network with all CPTs as EM has them"
        )
        ended = replace(ended, notes=(whose, *ended.notes))
    return replace(
        learned.with_cpts(cpts, stand_in.pseudo_counts),
        left={},
        stand_in=stand_in,
        notes=(*learned.notes, *stand_in.notes),
        ended=ended,
        mechanisms=stand_in.mechanisms,
    )
