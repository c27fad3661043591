r"""EM on a missingness graph: maximum likelihood under the graph, MNAR graphs included.

The mechanisms become observed nodes of an augmented network
(`lacunet.missingness.augmented`), and the EM that exists runs on it unchanged. It starts from
the CPTs that the graph recovers, from factored-mar for the others, and from the share of rows
that show a variable for its mechanism. Where the graph identifies the law the estimate is
consistent, and it uses every row.

Where it does not, EM prints numbers all the same. So the verdict on the graph is the judge, not
EM: a CPT that is not recoverable is marked as not identified, with the spread of its entries
over starts that fit the data equally well; one that is undecided says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

import numpy as np

from lacunet.estimate.deletion.forms import FactoredMAR
from lacunet.estimate.em.climb import Climb
from lacunet.estimate.em.fit import Seeds, fit
from lacunet.estimate.em.stage import (
    LOOPY_BRANCH,
    Climbed,
    Climber,
    climb_from,
    em_reports,
    ended_of,
    flat_concentration,
    highest_posterior,
    start_stage,
    unseen_of,
)
from lacunet.estimate.em.start import CptRows, random_cells
from lacunet.estimate.method import (
    JACKKNIFE,
    RATE_MATRIX,
    FamilyPlan,
    Learned,
    Plan,
    Setting,
    Stage,
)
from lacunet.estimate.prior import FROM_FIRST_FIT, merged
from lacunet.estimate.recovery import recovery_stage
from lacunet.missingness.augmented import Augmented, augmented, mechanism_start
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.answers import recover_families
from lacunet.missingness.verdict import NOT_RECOVERABLE, RECOVERABLE, UNDECIDED, Verdict
from lacunet.model.network import Cpt, FloatArray, Network, Scope
from lacunet.statistics.gather import Compiling, Needs, Statistics
from lacunet.statistics.look import Look
from lacunet.statistics.problems.layout import layout_of

STARTS = 5  # the first and four random ones, where something is not known to be identified
SAME_FIT = 2.0  # log-likelihoods this close are the same to the data
ON_GRAPH = "EM on the missingness graph: the mechanisms are observed nodes of the network"


@dataclass(frozen=True)
class Judged:
    """Whether the CPTs are identified: the status of each, and why."""

    status_of: Mapping[str, str]
    why_of: Mapping[str, str]

    @property
    def doubtful(self) -> list[str]:
        """The variables whose CPT is not known to be identified."""
        return [name for name, status in self.status_of.items() if status != RECOVERABLE]


def graph_plan(
    name: str, climber: Climber, graph: MissingnessGraph, network: Network, look: Look
) -> Plan:
    """What the graph recovers, factored-mar for the rest, then EM with the mechanisms as nodes.

    Raises
    ------
    LacunetError
        Graph and data do not match, or two variables share a hidden cause.
    """
    graph.check_network(network)
    partially = graph.partially_observed
    notes: tuple[str, ...] = ()
    if look.partially is not None:
        partially = look.partially
        notes = graph.check_partially(partially, network.variables)
    made = augmented(graph, partially)
    verdicts = recover_families(graph)
    judged = _judged(graph, made, verdicts)
    closed = start_stage(FactoredMAR().stage(network, replace(look, partially=partially)))
    families = highest_posterior(closed.families)
    families = {
        variable: replace(family, verdict=f"{verdicts[variable].status}: {verdicts[variable].why}")
        for variable, family in families.items()
    }
    mechanism_of = {node: variable for variable, node in made.name_of.items()}
    climb = Stage(
        f"{name} on the graph",
        families,
        Needs(network.families, problems=Compiling(made.network, mechanism_of)),
        partial(_solved, climber, made, judged, partially, families),
        branches=(LOOPY_BRANCH,),
        is_replicated=climber.options.stop != "converge",
        prior_from=FROM_FIRST_FIT,
    )
    starts: tuple[Stage, ...] = ()
    if climber.starts_closed:
        replicated = {"is_replicated": climb.is_replicated, "prior_from": ""}
        recovery = replace(recovery_stage(network, verdicts), **replicated)  # type: ignore[arg-type]
        starts = (recovery, replace(closed, **replicated))  # type: ignore[arg-type]
    return Plan(
        name,
        network,
        partially,
        (*starts, climb),
        FactoredMAR().bytes_per_cell,
        RATE_MATRIX if climber.options.stop == "converge" else JACKKNIFE,
        JACKKNIFE,
        intention=ON_GRAPH,
        category=graph.why(),
        notes=notes,
        graph=graph,
    )


def _solved(
    climber: Climber,
    made: Augmented,
    judged: Judged,
    partially: Scope,
    families: Mapping[str, FamilyPlan],
    statistics: Statistics,
    learned: Learned,
    setting: Setting,
) -> Learned:
    """All CPTs, those of the mechanisms too; doubts where the graph does not identify them."""
    began = monotonic()
    network = made.graph.network
    layout = layout_of(made.network.with_tables(None))
    shown_of = {v: 1 - n / statistics.rows for v, n in statistics.missing_of.items()}
    start = {**learned.tables, **mechanism_start(made, shown_of)}
    climbed = climb_from(climber, layout, statistics, start, setting)
    tables = layout.tables(climbed.fit.climb.cells)
    reports = em_reports(
        network,
        partially,
        families,
        statistics.sample(0),
        climbed,
        unseen_of(layout, climbed.fit.climb),
    )
    if judged.doubtful and setting.whole is None:
        equal = [layout.tables(cells) for cells in _equally_good(climber, climbed, setting)]
        for name in judged.doubtful:
            spread = float(np.ptp([own[name] for own in equal], axis=0).max())
            words = _doubt(judged.status_of[name], judged.why_of[name], spread, len(equal))
            reports[name] = replace(reports[name], warnings=(words, *reports[name].warnings))
    return Learned(
        {name: tables[name] for name in network.variables},
        reports,
        ended_of(climber, climbed, monotonic() - began),
        ON_GRAPH,
        mechanisms={
            variable: Cpt(name, made.network.parents(name), tables[name])
            for variable, name in made.name_of.items()
        },
        network=made.network.with_tables(tables),
        engine=climbed.engine,
        prior=merged(None, climbed.prior, ()),
    )


def _equally_good(climber: Climber, climbed: Climbed, setting: Setting) -> list[FloatArray]:
    """The cells of starts whose log-likelihood is the best one's, as far as the data can tell."""
    climbs = [climbed.fit.climb, *_random_climbs(climber, climbed, setting)]
    logs = [float(climb.log_likelihoods.sum()) for climb in climbs]
    best = np.nanmax(logs) if not np.isnan(logs).all() else np.nan
    equal = [c.cells for c, log in zip(climbs, logs, strict=True) if log > best - SAME_FIT]
    return equal or [climbed.fit.climb.cells]


def _random_climbs(climber: Climber, climbed: Climbed, setting: Setting) -> Iterator[Climb]:
    engine = climbed.engine
    if engine is None:
        return
    options = replace(climber.options, restarts=1)
    for _ in range(STARTS - 1):
        cells = random_cells(CptRows.of(engine.problems.layout), setting.rng)
        yield fit(
            engine,
            Seeds(cells, cells),
            flat_concentration(climbed.prior, engine.problems.layout),
            options,
            rng=setting.rng,
            deadline=setting.deadline,
            progress=setting.progress,
        ).climb


def _judged(graph: MissingnessGraph, made: Augmented, verdicts: Mapping[str, Verdict]) -> Judged:
    """The status of each CPT, and why; under MAR all of them are recoverable."""
    if graph.category() != "MNAR":
        return Judged(dict.fromkeys(graph.network.variables, RECOVERABLE), {})
    status_of = {name: verdict.status for name, verdict in verdicts.items()}
    why_of = {name: verdict.why for name, verdict in verdicts.items()}
    if graph.hidden:  # what the directed edges may have lost
        for name, verdict in recover_families(made.graph).items():
            if status_of[name] == RECOVERABLE and not verdict.is_recoverable:
                status_of[name] = UNDECIDED
                why_of[name] = "the hidden cause was taken in by edges that identify less"
    return Judged(status_of, why_of)


def _doubt(status: str, why: str, spread: float, starts: int) -> str:
    """What the user must know about a CPT that the graph is not known to identify."""
    judged = "not identified" if status == NOT_RECOVERABLE else "undecided whether identified"
    if starts == 1:
        return f"{judged}: {why}; one start fitted better than all others"
    return (
        f"{judged}: {why}; entries differ by up to {spread:.2g} over {starts} equally good starts"
    )
