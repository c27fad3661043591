r"""EM on a missingness graph: maximum likelihood under the graph, MNAR graphs included.

The mechanisms become observed nodes of an augmented network
(`lacunet.missingness.augmented_network`), and the EM that exists runs on it unchanged. It starts
from the CPTs that the graph recovers, from a closed form for the others, and from the share of rows
that show a variable for its mechanism. Where the graph identifies the law the estimate is
consistent, and it uses every row.

Where it does not, EM prints numbers all the same. So the verdict on the graph is the judge, not
EM: a CPT that is not recoverable says so, and whether the states at hand identify it. Where they do
not, the warning has the lowest and highest value of the entry that the data leave most open, over
all models that fit best (`lacunet.missingness.identified.identified_sets`), and its interval.

Where a hidden cause was taken in by directed edges, the network is a stand-in for the graph, and
may identify less than it. What the graph recovers and the stand-in does not is not left to EM: its
CPT is the one by the graph's formula.

Where rows are a selection, R[*], the likelihood is that given that they were recorded
(`lacunet.inference.engine`). What the selection leaves open stays where EM starts.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from lacunet.counts.gather import Compiling, Needs, Statistics
from lacunet.counts.look import Look
from lacunet.learning.em.em_stage import Climber, highest_posterior, start_stage
from lacunet.learning.em.start import starting_form
from lacunet.learning.ignorable_mechanisms import mechanism_stages
from lacunet.learning.plan import JACKKNIFE, RATE_MATRIX, Learned, Plan, Setting, Stage
from lacunet.learning.recovery import Recovery
from lacunet.limits import NEVER, Deadline
from lacunet.missingness.augmented_network import Augmented, augment, mechanism_start
from lacunet.missingness.errors import NotRecoverableError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.identified.identified_sets import NARROW, best_fit, ends_of, lifted_near
from lacunet.missingness.recover.decide import recover_families
from lacunet.missingness.verdict import RECOVERABLE, Verdict
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import SELECTION
from lacunet.text import first_of, interval_in_words, listed

if TYPE_CHECKING:
    from lacunet.learning.em.em import EM

MOST_FOLLOWED = 5000  # configurations of the models whose identified set is followed
MAX_MECHANISMS_IN_NOTE = 5  # mechanisms that are named
BY_FORMULA = (
    "by the graph's formula, not by EM: the CPTs of {}. EM takes hidden causes in by edges, and "
    "would lose them; its log-likelihood is that of the network with all CPTs as EM has them"
)


@dataclass(frozen=True)
class Doubt:
    """Why a CPT is not known to be recoverable."""

    words: str
    verdict: Verdict
    # What its identified set rests on; None where the states at hand identify it, or the set is
    # too large to follow.
    columns: Scope | None = None

    def warning(self, statistics: Statistics, setting: Setting) -> str:
        """The warning, with the widest of the identified sets of its entries."""
        if self.columns is None or setting.deadline.left <= 0:
            return self.words
        graph = self.verdict.graph
        asked = self.verdict.asked
        model = lifted_near(graph, asked)
        ends = ends_of(best_fit(model, statistics.distinct[self.columns]), asked)
        cell = ends.widest
        states = [graph.network.states(n)[k] for n, k in zip(asked.names, cell, strict=True)]
        low, high = ends.interval()[cell]
        put = f"{self.words}; models that fit the data as well put {asked.at(states)}"
        between = f"between {ends.low[cell]:.3f} and {ends.high[cell]:.3f}"
        interval = f"({interval_in_words(0.95)} {low:.3f} to {high:.3f})"
        if ends.is_narrow and self.verdict.generic is False:
            return f"{put} {between} {interval}. This range is {NARROW}"
        return f"{put} anywhere {between} {interval}"


def graph_plan(
    em: EM, graph: MissingnessGraph, network: Network, look: Look, deadline: Deadline = NEVER
) -> Plan:
    """What the graph recovers, a closed form for the rest, then EM with the mechanisms as nodes.

    Those that EM leaves out are counted. At most half of the time until the deadline goes into what
    the graph recovers.

    Raises
    ------
    LacunetError
        Graph and data do not match, or two variables share a hidden cause.
    """
    graph = graph.over(network)
    if look.partially is None:
        partially = graph.partially_observed
        notes: tuple[str, ...] = ()
    else:
        partially = look.partially
        notes = graph.check_partially(partially, network.variables)
    augmentation = augment(graph, partially)
    half = deadline.partway(0.5)
    verdicts = recover_families(graph, deadline=half)
    doubts = _doubts(graph, augmentation, verdicts, half)
    by_formula = _lost_in_stand_in(graph, augmentation, verdicts, half)
    form = starting_form(em.start)
    closed = form.stage(network, replace(look, partially=partially))
    recovery = Recovery(network, verdicts, stand_ins=closed.families).stage()

    # The families as EM answers for them, or as they start where it may make no step.
    families = {}
    by_em = highest_posterior(closed.families)
    for name in closed.families:
        family = by_em[name]
        if em.stays_closed:
            is_recoverable = verdicts[name].is_recoverable
            family = recovery.families[name] if is_recoverable else closed.families[name]
        families[name] = replace(family, verdict=recovery.families[name].verdict)

    recorded = augmentation.selection
    mechanism_of = {node: variable for variable, node in augmentation.name_of.items()}
    problems = Compiling(augmentation.network, mechanism_of, recorded)
    columns = {doubt.columns: None for doubt in doubts.values() if doubt.columns is not None}
    climber = Climber(em, augmentation.network, partially, families, recorded=recorded)
    climb = replace(
        climber.stage(),
        name=f"{em.name} on the graph",
        needs=Needs(network.families, problems=problems, rows=tuple(columns)),
        solve=partial(_solved, climber, augmentation, doubts, {*by_formula}),
        chosen=recovery.chosen if em.stays_closed else None,
    )

    stages = []
    if em.starts_closed:
        stages += [start_stage(recovery), start_stage(closed)]
    stages.append(climb)
    if by_formula:
        stages.append(_formula_stage(Recovery(network, by_formula), doubts))
    stages += mechanism_stages(graph, partially, augmentation)
    is_smooth = not recorded and not by_formula
    return Plan(
        method=em.name,
        network=network,
        partially=partially,
        stages=tuple(stages),
        bytes_per_cell=form.bytes_per_cell,
        recipe=RATE_MATRIX if is_smooth else JACKKNIFE,
        intention=_on_graph(augmentation),
        category=graph.why(),
        notes=notes,
        graph=graph,
    )


def _solved(
    climber: Climber,
    augmentation: Augmented,
    doubts: Mapping[str, Doubt],
    later: Container[str],
    statistics: Statistics,
    learned: Learned,
    setting: Setting,
) -> Learned:
    """All CPTs, those of the mechanisms too; doubts where the graph does not identify them.

    Parameters
    ----------
    later
        The variables whose CPTs a formula will give.
    """
    shown_of = {v: 1 - n / statistics.rows for v, n in statistics.missing_of.items()}
    start = {**learned.tables, **mechanism_start(augmentation, shown_of)}
    fitted = climber.solve(statistics, Learned(start, learned.families), setting)
    assert fitted.network is not None
    assert fitted.ended is not None
    nodes = dict(augmentation.name_of)
    if augmentation.selection:
        nodes[SELECTION.variable] = augmentation.selection
    reports = dict(fitted.families)
    if setting.whole is None:
        whole = statistics.sample(0)
        for name, doubt in doubts.items():
            if name in later:
                continue
            words = doubt.warning(whole, setting)
            reports[name] = replace(reports[name], warnings=(words, *reports[name].warnings))
    return replace(
        fitted,
        tables={name: fitted.tables[name] for name in augmentation.graph.network.variables},
        families=reports,
        ended=replace(fitted.ended, notes=(*fitted.ended.notes, _likelihood(augmentation))),
        why=_on_graph(augmentation),
        mechanisms={v: fitted.network.cpt(name) for v, name in nodes.items()},
    )


def _lost_in_stand_in(
    graph: MissingnessGraph,
    augmentation: Augmented,
    verdicts: Mapping[str, Verdict],
    deadline: Deadline,
) -> dict[str, Verdict]:
    """What the graph recovers, and the graph without hidden causes that EM runs on does not."""
    if not graph.hidden:
        return {}
    stand_in = recover_families(augmentation.graph, deadline=deadline)
    return {
        name: verdict
        for name, verdict in verdicts.items()
        if verdict.is_recoverable and not stand_in[name].is_recoverable
    }


def _formula_stage(recovery: Recovery, doubts: Mapping[str, Doubt]) -> Stage:
    """The CPTs that EM's stand-in for the graph would lose, by the formulas of the graph."""
    return replace(
        recovery.stage(),
        name="formulas of the graph",
        solve=partial(_by_formulas, recovery, doubts),
        learned_from="",
    )


def _by_formulas(
    recovery: Recovery,
    doubts: Mapping[str, Doubt],
    statistics: Statistics,
    learned: Learned,
    setting: Setting,
) -> Learned:
    """What EM learned, with the CPTs of formulas in place of its own; EM's where one finds no rows.

    The network that replicates start from stays that of EM.
    """
    if learned.pseudo_counts is not None:
        setting = replace(setting, pseudo_counts=learned.pseudo_counts)
    solved = recovery.solve(statistics, Learned(), setting)
    reports = dict(learned.families)
    ended = learned.ended
    for name, why in solved.left.items():
        words = [why]
        if name in doubts:
            words.append(doubts[name].words)
        reports[name] = replace(reports[name], warnings=(*words, *reports[name].warnings))
    if solved.tables and ended is not None:
        ended = replace(ended, notes=(*ended.notes, BY_FORMULA.format(listed([*solved.tables]))))
    return replace(
        learned,
        tables={**learned.tables, **solved.tables},
        families={**reports, **solved.families},
        row_weights={**learned.row_weights, **solved.row_weights},
        others=tuple({**other, **solved.tables} for other in learned.others),
        ended=ended,
    )


def _on_graph(augmentation: Augmented) -> str:
    """What is added to the network."""
    added = "no mechanism depends on a missing value, none is added"
    if augmentation.name_of:
        names = first_of(list(augmentation.name_of.values()), MAX_MECHANISMS_IN_NOTE)
        added = f"{names} added to the network, observed in every row"
    return f"EM on the missingness graph: {added}"


def _likelihood(augmentation: Augmented) -> str:
    """Which likelihood EM gives; those of different mechanisms do not compare."""
    given = " given that rows were recorded" if augmentation.selection else ""
    names = first_of(list(augmentation.name_of.values()), MAX_MECHANISMS_IN_NOTE)
    if not names:
        return f"the log-likelihood is that of the observed values alone{given}"
    return (
        f"the log-likelihood is that of the observed values and {names}{given}; "
        "result.log_likelihood(data) is that of the values alone"
    )


def _doubts(
    graph: MissingnessGraph,
    augmentation: Augmented,
    verdicts: Mapping[str, Verdict],
    deadline: Deadline,
) -> dict[str, Doubt]:
    """The CPTs that are not known to be recoverable; under MAR all of them are."""
    if graph.category() != "MNAR" and graph.selection is None:
        return {}
    doubt_of = {
        name: _doubt(verdict, deadline)
        for name, verdict in verdicts.items()
        if verdict.status != RECOVERABLE
    }
    if graph.hidden:  # what the directed edges may have lost
        lost = "undecided: the hidden cause was taken in by edges that identify less"
        for name, verdict in recover_families(augmentation.graph, deadline=deadline).items():
            if name not in doubt_of and not verdict.is_recoverable and not verdict.generic:
                doubt_of[name] = Doubt(lost, verdict)
    return doubt_of


def _doubt(verdict: Verdict, deadline: Deadline) -> Doubt:
    """Why one CPT is not known to be recoverable."""
    words = f"{verdict.standing}: {verdict.why}; this CPT is the likeliest that EM found"
    if verdict.generic:
        return Doubt(words, verdict)
    unfollowed = Doubt(f"{words}, and others may fit as well", verdict)
    if deadline.left <= 0:
        return unfollowed
    try:
        model = lifted_near(verdict.graph, verdict.asked)
    except NotRecoverableError:  # too large to follow, or of a latent variable
        return unfollowed
    if model.grid.length > MOST_FOLLOWED:
        return unfollowed
    return Doubt(words, verdict, model.variables)
