"""How values go missing, learned from the rows or given, and the weights that follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.errors import LacunetError
from lacunet.missingness.fitted import LearnedGraph, learn_missingness
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import FloatArray, Network
from lacunet.model.nodes import Node

LEARNING_ROWS = 20_000  # what mechanisms look at is learned from these many rows
NO_TIME = (
    "there was no time to learn how values go missing: they are taken as missing completely at "
    "random."
)
LARGEST_INVERSE = 20.0  # extreme weights ruin a weighted score


@dataclass(frozen=True, eq=False)
class Mechanisms:
    """The missingness graph, if there is one, and the inverse probability of being shown.

    ``inverse`` has an entry for each variable, None where all rows are alike. ``not_ignorable``
    are the variables whose mechanisms look at values that are missing themselves.
    """

    graph: MissingnessGraph | None
    inverse: tuple[FloatArray | None, ...]
    not_ignorable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def over(self, network: Network) -> MissingnessGraph | None:
        """The same mechanisms over a network with arcs."""
        if isinstance(self.graph, LearnedGraph):
            return LearnedGraph(network, self.graph.causes, self.graph.origin_of)
        return self.graph and MissingnessGraph(network, self.graph.causes, self.graph.hidden)

    @property
    def to_judge(self) -> MissingnessGraph | None:
        """The graph, if the judge must not leave its mechanisms out."""
        return self.graph if self.not_ignorable else None


def mechanisms_of(
    network: Network,
    table: EncodedTable,
    missingness: str | MissingnessGraph | None,
    deadline: Deadline = NEVER,
) -> Mechanisms:
    """The mechanisms of the variables that some row does not show.

    Parameters
    ----------
    missingness
        "learn" to learn them, a graph or its text, or None for missing completely at random.
    deadline
        A third of the time that is left may go into learning them.
    """
    nothing = (None,) * len(table.variables)
    if missingness is None or not table.partially_observed:
        return Mechanisms(None, nothing)
    graph: MissingnessGraph
    notes: tuple[str, ...] = ()
    if missingness == "learn":
        step = -(-table.rows // LEARNING_ROWS)
        rows, soon = table.take(slice(None, None, step)), Deadline.within(deadline.left / 3)
        try:
            graph = learn_missingness(network, rows, deadline=soon)
        except OutOfTimeError:
            return Mechanisms(None, nothing, notes=(NO_TIME,))
    elif isinstance(missingness, str | MissingnessGraph):
        graph = MissingnessGraph.parse(str(missingness), network)
        notes = graph.check_data(table)
    else:
        raise LacunetError(
            f"missingness is a {type(missingness).__name__}.",
            "give 'learn', a missingness graph, or None.",
        )
    inverse = {
        name: _inverse(name, causes, table)
        for name, causes in graph.causes.items()
        if any(isinstance(node, str) for node in causes)
    }
    unseen = tuple(name for name, weights in inverse.items() if weights is None)
    bidirected = tuple(map(str, sum(graph.hidden, ())))
    if unseen:
        notes += (
            f"the mechanisms of {', '.join(unseen)} look at values that are missing themselves: "
            "the score takes them in as nodes, the seed does not weigh rows for them.",
        )
    weights = tuple(inverse.get(name) for name in table.variables)
    return Mechanisms(graph, weights, unseen or bidirected, notes)


def _inverse(name: str, causes: tuple[Node, ...], table: EncodedTable) -> FloatArray | None:
    """One over the share of rows that show a variable, among those equal in its causes."""
    keys, cells = np.zeros(table.rows, np.int64), 1
    for node in causes:
        if isinstance(node, str):
            if table.missing_of[node]:
                return None
            keys = keys * table.cardinality_of[node] + table.columns[node]
            cells *= table.cardinality_of[node]
        else:
            other = node.variable
            keys = keys * 2 + (table.columns[other] != table.cardinality_of[other])
            cells *= 2
    shown = table.columns[name] != table.cardinality_of[name]
    weights = table.row_weights
    whole = np.bincount(keys, weights, cells)
    part = np.bincount(keys, weights * shown, cells)
    inverse = np.divide(whole, part, out=np.zeros(cells), where=part > 0)
    return np.minimum(inverse, LARGEST_INVERSE)[keys]
