r"""EM on a missingness graph: maximum likelihood under the graph, MNAR graphs included.

The mechanisms become observed nodes of an augmented network
(`lacunet.missingness.augmented`), and the EM that exists runs on it unchanged. It starts from
`mgraph` where that gives an estimate, else from factored-mar; mechanisms start at the share of
rows that show their variable. Where the graph identifies the law the estimate is consistent,
and it uses every row.

Where it does not, EM prints numbers all the same. So the verdict on the graph is the judge, not
EM: a CPT that is not recoverable is marked as not identified, with the spread of its entries
over starts that fit the data equally well; one that is undecided says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.em.method import EM
from lacunet.estimate.method import Ended, FamilyReport
from lacunet.missingness.augmented import Augmented, augmented, mechanism_start
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.answers import recover_families
from lacunet.missingness.verdict import NOT_RECOVERABLE, RECOVERABLE, UNDECIDED
from lacunet.model.network import Cpt, FloatArray, Network

STARTS = 5  # the seed and four random ones, where something is not known to be identified
SAME_FIT = 2.0  # log-likelihoods this close are the same to the data


@dataclass(frozen=True)
class OnGraph:
    """What EM on a missingness graph gives.

    ``network`` has the variables' CPTs; ``mechanisms`` the CPT of each mechanism by its
    variable, axes parents... then missing and shown. ``status_of`` is the verdict on each
    CPT: "recoverable", "not recoverable" or "undecided". ``spread_of`` is, for those that are
    not known to be recoverable, the range of each entry over the starts that fit the data
    equally well.
    """

    network: Network
    families: Mapping[str, FamilyReport]
    mechanisms: Mapping[str, Cpt]
    ended: Ended | None
    status_of: Mapping[str, str]
    spread_of: Mapping[str, FloatArray]
    augmented: Augmented = field(repr=False)


def learn_on_graph(
    graph: MissingnessGraph,
    table: EncodedTable,
    prior: float = 2.0,
    method: EM | None = None,
    rng: np.random.Generator | None = None,
    memory: int | None = None,
    leave_out_ignorable: bool = True,
) -> OnGraph:
    """Learn the variables' and the mechanisms' CPTs by EM.

    Parameters
    ----------
    graph
        How values go missing.
    table
        Rows of the graph's network.
    method
        How EM runs; its seed, where it is the usual one, becomes `mgraph`.
    rng
        For the random starts.

    Raises
    ------
    LacunetError
        Graph and data do not match, or two variables share a hidden cause.
    """
    from lacunet.estimate.learn import learn

    graph.check_mechanisms(table, table.partially_observed)
    method = EM() if method is None else method
    rng = np.random.default_rng(0) if rng is None else rng
    made = augmented(graph, table, leave_out_ignorable)
    starting = _started(graph, made, table, prior, method, memory)
    learned = learn(made.network, made.table, starting, prior, rng=rng, memory=memory)
    status_of, why_of = _judged(graph, made)
    doubtful = [name for name, status in status_of.items() if status != RECOVERABLE]
    fits = [learned]
    if doubtful:
        chance = replace(method, seed="random", restarts=1)
        fits += [
            learn(made.network, made.table, chance, prior, rng=rng, memory=memory)
            for _ in range(STARTS - 1)
        ]
    best = max(fit.ended.log_likelihood for fit in fits if fit.ended)
    equal = [f.network for f in fits if f.ended and f.ended.log_likelihood > best - SAME_FIT]
    spread_of = {
        name: np.ptp(np.stack([fit.cpt(name).table for fit in equal]), axis=0) for name in doubtful
    }
    network = graph.network
    families = {name: learned.families[name] for name in network.variables}
    for name in doubtful:
        words = _doubt(status_of[name], why_of[name], float(spread_of[name].max()), len(equal))
        own = families[name]
        families[name] = replace(own, warnings=(words, *own.warnings))
    return OnGraph(
        network.with_tables({name: learned.network.cpt(name).table for name in network.variables}),
        families,
        {variable: learned.network.cpt(name) for variable, name in made.name_of.items()},
        learned.ended,
        status_of,
        spread_of,
        made,
    )


def _started(
    graph: MissingnessGraph,
    made: Augmented,
    table: EncodedTable,
    prior: float,
    method: EM,
    memory: int | None,
) -> EM:
    """EM with its seed: as given, or `mgraph` with factored-mar where that gives nothing."""
    from lacunet.estimate.learn import learn
    from lacunet.estimate.mgraph import Mgraph

    if not made.name_of:
        return method
    if isinstance(method.seed, Network):
        tables = dict(method.seed.tables_of or {})
        missing = {n: t for n, t in mechanism_start(made).items() if n not in tables}
        return replace(method, seed=made.network.with_tables({**tables, **missing}))
    if method.seed == "random":
        return method
    smooth = max(prior, 2.0)  # EM never leaves a zero
    by = Mgraph(graph, "factored-mar") if method.seed == "factored-mar" else method.seed
    seed = learn(graph.network, table, by, smooth, memory=memory).network
    return replace(
        method, seed=made.network.with_tables({**(seed.tables_of or {}), **mechanism_start(made)})
    )


def _judged(graph: MissingnessGraph, made: Augmented) -> tuple[dict[str, str], dict[str, str]]:
    """The status of each CPT, and why; under MAR all of them are recoverable."""
    if graph.category() != "MNAR":
        return dict.fromkeys(graph.network.variables, RECOVERABLE), {}
    verdicts = recover_families(graph)
    status_of = {name: verdict.status for name, verdict in verdicts.items()}
    why_of = {name: verdict.why for name, verdict in verdicts.items()}
    if graph.hidden:  # what the directed edges may have lost
        for name, verdict in recover_families(made.graph).items():
            if status_of[name] == RECOVERABLE and not verdict.is_recoverable:
                status_of[name] = UNDECIDED
                why_of[name] = "the hidden cause was taken in by edges that identify less"
    return status_of, why_of


def _doubt(status: str, why: str, spread: float, starts: int) -> str:
    """What the user must know about a CPT that the graph is not known to identify."""
    judged = "not identified" if status == NOT_RECOVERABLE else "undecided whether identified"
    if starts == 1:
        return f"{judged}: {why}; one start fitted better than all others"
    return (
        f"{judged}: {why}; entries differ by up to {spread:.2g} over {starts} equally good starts"
    )
