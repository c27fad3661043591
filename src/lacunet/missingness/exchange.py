"""Missingness graphs to and from networkx."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.separation.drawing import Drawing, Pair, check_edge, checked_node
from lacunet.model.network import Network
from lacunet.model.nodes import Mechanism, Node

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class HiddenCause:
    """The common cause behind a bidirected edge ``one <-> two``."""

    one: Node
    two: Node


def to_networkx(graph: Drawing) -> nx.DiGraph[object]:
    """The graph with a `HiddenCause` node, two children each, for every bidirected edge.

    Nodes carry ``kind``: "variable", "mechanism" or "hidden".
    """
    import networkx as nx

    out: nx.DiGraph[object] = nx.DiGraph()
    network = graph.network
    out.add_nodes_from(network.variables, kind="variable")
    out.add_nodes_from(map(Mechanism, graph.causes), kind="mechanism")
    out.add_edges_from((p, name) for name in network.variables for p in network.parents(name))
    out.add_edges_from((p, Mechanism(name)) for name, own in graph.causes.items() for p in own)
    for one, two in graph.hidden:
        cause = HiddenCause(one, two)
        out.add_node(cause, kind="hidden")
        out.add_edges_from([(cause, one), (cause, two)])
    return out


def from_networkx(
    graph: nx.DiGraph[object], network: Network
) -> tuple[dict[str, list[Node]], list[Pair]]:
    """The causes and the hidden pairs of a directed graph.

    Edges among variables must be the network's; a text ``R[X]`` is a mechanism.
    """
    if not graph.is_directed():
        raise MissingnessGraphError(
            "a missingness graph is directed, and the graph given is not.",
            "use networkx.DiGraph, with a node of kind 'hidden' for a hidden cause.",
        )
    hidden_nodes = [
        node
        for node in graph.nodes
        if isinstance(node, HiddenCause) or graph.nodes[node].get("kind") == "hidden"
    ]
    hidden: list[Pair] = []
    for node in hidden_nodes:
        children = [checked_node(network, child) for child in graph.successors(node)]
        if len(children) != 2 or graph.in_degree(node):
            raise MissingnessGraphError(
                f"the hidden cause {node!r} has {len(children)} children and may have parents; "
                "one that stands for A <-> B has two children and no parents."
            )
        hidden.append((children[0], children[1]))
    causes: dict[str, list[Node]] = {}
    for node in (node for node in graph.nodes if node not in hidden_nodes):
        effect = checked_node(network, node)
        parents = [
            checked_node(network, p) for p in graph.predecessors(node) if p not in hidden_nodes
        ]
        if isinstance(effect, Mechanism):
            causes[effect.variable] = parents
        for parent in parents:
            check_edge(network, parent, effect)
    return causes, hidden
