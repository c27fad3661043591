"""How values go missing: learned from the rows, or given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lacunet.counts.missing_values import PatternCounts
from lacunet.data.table import EncodedTable
from lacunet.limits import NEVER, Deadline, OutOfTimeError
from lacunet.missingness.augmented_network import looks_at_hidden
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.learned.from_rows import learned_graph
from lacunet.network.network import Network

LEARNING_ROWS = 20_000  # what mechanisms look at is learned from these many rows
LEARNING_SHARE = 1 / 3  # of the time that is left
NO_TIME = (
    "there was no time to learn how values go missing: they are taken as missing completely at "
    "random."
)


class LearnedMechanisms(NamedTuple):
    """The missingness graph, if any, and what is to be said of it."""

    graph: MissingnessGraph | None
    to_judge: MissingnessGraph | None = None  # the same where the judge must not leave it out
    notes: tuple[str, ...] = ()


def mechanisms_of(
    network: Network,
    table: EncodedTable,
    missingness: str | MissingnessGraph | None,
    deadline: Deadline = NEVER,
    latent: Sequence[str] = (),
) -> LearnedMechanisms:
    """The mechanisms of the variables that some row does not show.

    Parameters
    ----------
    missingness
        "learn" to learn them, a graph or its text, or None for missing completely at random.
    deadline
        A third of the time that is left may go into learning them.
    latent
        Variables that are known to have no column.
    """
    if missingness is None or not table.partially_observed:
        return LearnedMechanisms(None)
    notes: tuple[str, ...] = ()
    if missingness == "learn":
        try:
            graph = _learned(network, table, deadline, latent)
        except OutOfTimeError:
            return LearnedMechanisms(None, notes=(NO_TIME,))
    else:
        if isinstance(missingness, MissingnessGraph):
            given = missingness.with_edges_of(network)
        else:
            given = MissingnessGraph.parse(missingness, network)
        graph = given.hiding(latent)
        notes = graph.check_data(table)
    unseen = tuple(
        name for name in graph.causes if looks_at_hidden(graph, name, table.partially_observed)
    )
    if unseen:
        notes += (
            f"the mechanisms of {', '.join(unseen)} look at values that are missing themselves: "
            "the score takes them in as nodes.",
        )
    is_judged = bool(unseen or graph.hidden)
    return LearnedMechanisms(graph, graph if is_judged else None, notes)


def _learned(
    network: Network, table: EncodedTable, deadline: Deadline, latent: Sequence[str]
) -> MissingnessGraph:
    """The graph learned from rows evenly spaced, in a part of the time that is left."""
    step = -(-table.rows // LEARNING_ROWS)
    return learned_graph(
        network,
        table.take(slice(None, None, step)),
        deadline=Deadline.within(LEARNING_SHARE * deadline.left),
        latent=latent,
        patterns=PatternCounts.of(table),
    )
