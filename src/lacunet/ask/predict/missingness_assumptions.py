"""What completions assume about how values went missing, said where it matters."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import compress
from typing import Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError, LacunetWarning, warn
from lacunet.inference.query import warn_of_hidden_cause
from lacunet.missingness.confounding import confounded_pair
from lacunet.missingness.graph import MissingnessGraph, graph_of_network
from lacunet.missingness.verdict import RECOVERABLE
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import Network
from lacunet.network.nodes import SELECTION, Mechanism


class AssumptionWarning(LacunetWarning):
    """Completions are right only if values went missing in a certain way."""


# What follows for completions, by whether the states at hand identify the law; None: not known.
OTHER_LAWS = {
    True: "Other laws may fit the data as well, but in general none close to this one",
    False: "Others would fit the data equally well",
    None: "Others may fit the data equally well",
}
DRAWS_REFUSED = {
    False: "Draws would come from a law that the data do not determine",
    None: "Draws may come from a law that the data do not determine",
}


def shown_patterns(
    network: Network, table: EncodedTable, unseen: Collection[str] = ()
) -> frozenset[frozenset[str]]:
    """The sets of variables that rows show, without those that are not evidence.

    There are none where the network knows nothing of how values went missing: nobody asks then.
    """
    if network.mechanisms is None:
        return frozenset()
    names = [name for name in network.variables if name not in unseen]
    if not names:
        return frozenset([frozenset()])
    shown = np.stack([table.columns[name] < table.cardinality_of[name] for name in names])
    patterns = np.unique(shown, axis=1).T
    return frozenset(frozenset(compress(names, pattern)) for pattern in patterns)


def say_hidden_causes(
    network: Network, questions: Iterable[tuple[Iterable[str], frozenset[str]]]
) -> None:
    """Warn once if the CPTs may not tell some targets, given the variables that some rows show."""
    pairs = (confounded_pair(network, targets, shown) for targets, shown in questions)
    if pair := next(filter(None, pairs), None):
        warn_of_hidden_cause(pair)


def completed_questions(
    network: Network, patterns: Iterable[frozenset[str]]
) -> list[tuple[Iterable[str], frozenset[str]]]:
    """What a completion asks: all that a row does not show together, given what it shows."""
    everything = frozenset(network.variables)
    return [(everything - shown, shown) for shown in sorted(patterns, key=sorted)]


def say_assumptions(given: Any, network: Network, *, draws: bool) -> None:
    """Warn of completions that assume MAR, or that the graph does not identify.

    To be called where rows miss something.

    Parameters
    ----------
    given
        What the user gave for the network. A result that was learned without a graph assumes
        MAR; a network alone does not know what was assumed, and nothing is said.
    draws
        Whether completions are drawn to be pooled: then what is not identified, not even for the
        numbers of states at hand, is refused. What is pooled would look too sure.

    Raises
    ------
    LacunetError
        Completions to be pooled would be drawn from a law that the graph does not identify.
    """
    if network.mechanisms is None:
        if hasattr(given, "uncertainty"):  # a result of learning
            warn(
                "this assumes MAR: the result was learned without a missingness graph, so values "
                "are taken to be missing at random.",
                AssumptionWarning,
            )
        return
    graph = graph_of_network(network)
    if graph is not None:
        _say_assumptions_of_graph(graph, network.mechanisms, draws=draws)


def _say_assumptions_of_graph(
    graph: MissingnessGraph, mechanisms: Mechanisms, *, draws: bool
) -> None:
    """Warn of what completions take a graph for, or refuse draws that it does not identify."""
    partly = {*graph.causes, *map(Mechanism, graph.causes)}
    cpt_of = mechanisms.cpt_of
    if SELECTION.variable not in cpt_of and partly & {*(graph.selection or ())}:
        warn(
            "rows are a selection by the graph, but how they were selected was not learned, so "
            "they are taken as if all were recorded; method='em' with the graph learns it.",
            AssumptionWarning,
        )
    if graph.category() != "MNAR":
        return
    if not cpt_of:
        warn(
            "the graph is MNAR, but its mechanisms were not learned, so values are taken to be "
            "missing at random; method='em' with the graph learns them.",
            AssumptionWarning,
        )
        return
    verdict = graph.recover_full_law()
    if verdict.status == RECOVERABLE:
        return
    words = (
        f"completing rows needs the full law, {verdict.query}, which is {verdict.standing} under "
        f"this graph: {verdict.why}"
    )
    if draws and not verdict.generic:
        raise LacunetError(
            f"{words}. {DRAWS_REFUSED[verdict.generic]}.",
            "without draws= there is one completed table, with a warning.",
        )
    warn(f"{words}. {OTHER_LAWS[verdict.generic]}.", AssumptionWarning)
