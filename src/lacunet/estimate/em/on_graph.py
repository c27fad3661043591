r"""EM on a missingness graph: maximum likelihood under the graph, MNAR graphs included.

The mechanisms become observed nodes of an augmented network
(`lacunet.missingness.augmented`), and the EM that exists runs on it unchanged. It starts from
CPTs of the variables that the caller has (those of `mgraph` where that gives an estimate, else
those of factored-mar); mechanisms start at the share of rows that show their variable. Where
the graph identifies the law the estimate is consistent, and it uses every row.

Where it does not, EM prints numbers all the same. So the verdict on the graph is the judge, not
EM: a CPT that is not recoverable is marked as not identified, with the spread of its entries
over starts that fit the data equally well; one that is undecided says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.method import Ended, FamilyReport, Learned
from lacunet.missingness.augmented import Augmented, augmented, mechanism_start
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.answers import recover_families
from lacunet.missingness.verdict import NOT_RECOVERABLE, RECOVERABLE, UNDECIDED
from lacunet.model.network import Cpt, FloatArray, Network

STARTS = 5  # the first and four random ones, where something is not known to be identified
SAME_FIT = 2.0  # log-likelihoods this close are the same to the data

# Runs EM on a network and rows, from a network with CPTs or from "random".
Fit = Callable[[Network, EncodedTable, "Network | str"], Learned]


@dataclass(frozen=True)
class OnGraph:
    """What EM on a missingness graph gives.

    ``tables`` and ``families`` are the variables' CPTs and what they rest on; ``mechanisms``
    the CPT of each mechanism by its variable, axes parents... then missing and shown.
    ``status_of`` is the verdict on each CPT: "recoverable", "not recoverable" or "undecided".
    ``spread_of`` is, for those that are not known to be recoverable, the range of each entry
    over the starts that fit the data equally well. ``whole`` is the augmented network with all
    its CPTs.
    """

    tables: Mapping[str, FloatArray]
    families: Mapping[str, FamilyReport]
    mechanisms: Mapping[str, Cpt]
    ended: Ended | None
    status_of: Mapping[str, str]
    spread_of: Mapping[str, FloatArray]
    augmented: Augmented = field(repr=False)
    whole: Network = field(repr=False)


def learn_on_graph(
    graph: MissingnessGraph,
    table: EncodedTable,
    fit: Fit,
    start: Network | str,
    leave_out_ignorable: bool = True,
) -> OnGraph:
    """Learn the variables' and the mechanisms' CPTs by EM.

    Parameters
    ----------
    graph
        How values go missing.
    table
        Rows of the graph's network.
    fit
        Runs EM.
    start
        CPTs of the variables to start from, without zeros where rows may be; or "random".

    Raises
    ------
    LacunetError
        Graph and data do not match, or two variables share a hidden cause.
    """
    graph.check_data(table)
    made = augmented(graph, table, leave_out_ignorable)
    if isinstance(start, Network):
        start = made.network.with_tables({**(start.tables_of or {}), **mechanism_start(made)})
    learned = fit(made.network, made.table, start)
    status_of, why_of = _judged(graph, made)
    doubtful = [name for name, status in status_of.items() if status != RECOVERABLE]
    fits = [learned]
    if doubtful:
        fits += [fit(made.network, made.table, "random") for _ in range(STARTS - 1)]
    equal = _equally_good(fits)
    spread_of = {name: np.ptp([one.tables[name] for one in equal], axis=0) for name in doubtful}
    families = {name: learned.families[name] for name in graph.network.variables}
    for name in doubtful:
        words = _doubt(status_of[name], why_of[name], float(spread_of[name].max()), len(equal))
        own = families[name]
        families[name] = replace(own, warnings=(words, *own.warnings))
    return OnGraph(
        {name: learned.tables[name] for name in graph.network.variables},
        families,
        {
            variable: Cpt(name, made.network.parents(name), learned.tables[name])
            for variable, name in made.name_of.items()
        },
        learned.ended,
        status_of,
        spread_of,
        made,
        made.network.with_tables(learned.tables),
    )


def _equally_good(fits: list[Learned]) -> list[Learned]:
    """Those whose log-likelihood is the best one's, as far as the data can tell."""
    logs = [fit.ended.log_likelihood if fit.ended else np.nan for fit in fits]
    best = np.nanmax(logs)
    return [fit for fit, log in zip(fits, logs, strict=True) if log > best - SAME_FIT]


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
