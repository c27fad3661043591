"""How values go missing, learned from the rows or given, and the weights that follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.missingness.fitted import fitted_mechanisms
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import FloatArray, Network
from lacunet.model.nodes import Node

LARGEST_INVERSE = 20.0  # extreme weights ruin a weighted score


@dataclass(frozen=True, eq=False)
class Mechanisms:
    """The missingness graph, if there is one, and the inverse probability of being shown.

    ``inverse`` has an entry for each variable, None where all rows are alike.
    """

    graph: MissingnessGraph | None
    inverse: tuple[FloatArray | None, ...]
    notes: tuple[str, ...] = ()


def mechanisms_of(
    network: Network, table: EncodedTable, missingness: str | MissingnessGraph | None
) -> Mechanisms:
    """The mechanisms of the variables that some row does not show.

    Parameters
    ----------
    missingness
        "learn" to learn them, a graph or its text, or None for missing completely at random.
    """
    nothing = (None,) * len(table.variables)
    if missingness is None or not table.partially_observed:
        return Mechanisms(None, nothing)
    if missingness == "learn":
        graph = fitted_mechanisms(network, table).graph
    elif isinstance(missingness, str):
        graph = MissingnessGraph.parse(missingness, network)
    elif isinstance(missingness, MissingnessGraph):
        graph = MissingnessGraph.parse(str(missingness), network)
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
    unseen = [name for name, weights in inverse.items() if weights is None]
    notes: tuple[str, ...] = ()
    if unseen:
        notes = (
            f"the mechanisms of {', '.join(unseen)} look at values that are missing themselves: "
            "the seed does not weigh rows for them.",
        )
    return Mechanisms(graph, tuple(inverse.get(name) for name in table.variables), notes)


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
    weights = np.ones(table.rows) if table.weights is None else table.weights
    whole = np.bincount(keys, weights, cells)
    part = np.bincount(keys, weights * shown, cells)
    inverse = np.divide(whole, part, out=np.zeros(cells), where=part > 0)
    return np.minimum(inverse, LARGEST_INVERSE)[keys]
