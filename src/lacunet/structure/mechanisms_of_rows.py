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
NO_TIME = (
    "there was no time to learn how values go missing: they are taken as missing completely at "
    "random."
)


class LearnedMechanisms(NamedTuple):
    """The missingness graph, if any; ``to_judge`` is it where the judge must not leave it out."""

    graph: MissingnessGraph | None
    to_judge: MissingnessGraph | None = None
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
        step = -(-table.rows // LEARNING_ROWS)
        rows = table.take(slice(None, None, step))
        soon = Deadline.within(deadline.left / 3)
        try:
            graph: MissingnessGraph = learned_graph(
                network, rows, deadline=soon, latent=latent, patterns=PatternCounts.of(table)
            )
        except OutOfTimeError:
            return LearnedMechanisms(None, notes=(NO_TIME,))
    else:
        if isinstance(missingness, MissingnessGraph):
            graph = missingness.with_edges_of(network)
        else:
            graph = MissingnessGraph.parse(missingness, network)
        graph = graph.hiding(latent)
        notes = graph.check_data(table)
    unseen = tuple(
        name for name in graph.causes if looks_at_hidden(graph, name, table.partially_observed)
    )
    if unseen:
        notes += (
            f"the mechanisms of {', '.join(unseen)} look at values that are missing themselves: "
            "the score takes them in as nodes.",
        )
    return LearnedMechanisms(graph, graph if unseen or graph.hidden else None, notes)
