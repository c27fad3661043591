"""How values go missing: learned from the rows, or given."""

from __future__ import annotations

from dataclasses import dataclass

from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.errors import LacunetError
from lacunet.missingness.fitted import learned_graph
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Network

LEARNING_ROWS = 20_000  # what mechanisms look at is learned from these many rows
NO_TIME = (
    "there was no time to learn how values go missing: they are taken as missing completely at "
    "random."
)


@dataclass(frozen=True, eq=False)
class LearnedMechanisms:
    """The missingness graph, if there is one.

    ``not_ignorable`` are the variables whose mechanisms look at values that are missing
    themselves.
    """

    graph: MissingnessGraph | None
    not_ignorable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def over(self, network: Network) -> MissingnessGraph | None:
        """The same mechanisms over a network with arcs."""
        return self.graph and self.graph.with_edges_of(network)

    @property
    def to_judge(self) -> MissingnessGraph | None:
        """The graph, if the judge must not leave its mechanisms out."""
        return self.graph if self.not_ignorable else None


def mechanisms_of(
    network: Network,
    table: EncodedTable,
    missingness: str | MissingnessGraph | None,
    deadline: Deadline = NEVER,
) -> LearnedMechanisms:
    """The mechanisms of the variables that some row does not show.

    Parameters
    ----------
    missingness
        "learn" to learn them, a graph or its text, or None for missing completely at random.
    deadline
        A third of the time that is left may go into learning them.
    """
    if missingness is None or not table.partially_observed:
        return LearnedMechanisms(None)
    graph: MissingnessGraph
    notes: tuple[str, ...] = ()
    if missingness == "learn":
        step = -(-table.rows // LEARNING_ROWS)
        rows, soon = table.take(slice(None, None, step)), Deadline.within(deadline.left / 3)
        try:
            graph = learned_graph(network, rows, deadline=soon)
        except OutOfTimeError:
            return LearnedMechanisms(None, notes=(NO_TIME,))
    elif isinstance(missingness, str | MissingnessGraph):
        graph = MissingnessGraph.parse(str(missingness), network)
        notes = graph.check_data(table)
    else:
        raise LacunetError(
            f"missingness is a {type(missingness).__name__}.",
            "give 'learn', a missingness graph, or None.",
        )
    unseen = tuple(
        name
        for name, causes in graph.causes.items()
        if any(isinstance(node, str) and table.missing_of[node] for node in causes)
    )
    bidirected = tuple(map(str, sum(graph.hidden, ())))
    if unseen:
        notes += (
            f"the mechanisms of {', '.join(unseen)} look at values that are missing themselves: "
            "the score takes them in as nodes.",
        )
    return LearnedMechanisms(graph, unseen or bidirected, notes)
