"""Missingness graphs to and from networkx."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.graph import MissingnessGraph, Pair, check_edge, checked_node
from lacunet.model.network import Network
from lacunet.model.nodes import Mechanism, Node

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class HiddenCause:
    """The common cause behind a bidirected edge ``one <-> two``."""

    one: Node
    two: Node


def to_networkx(graph: MissingnessGraph) -> nx.DiGraph[object]:
    """The graph with a `HiddenCause` node, two children each, for every bidirected edge.

    Nodes carry ``kind``: "variable", "mechanism" or "hidden".
    """
    import networkx as nx

    out: nx.DiGraph[object] = nx.DiGraph()
    for node in graph.mixed.order:
        out.add_node(node, kind="mechanism" if isinstance(node, Mechanism) else "variable")
    out.add_edges_from(
        (parent, node) for node in graph.mixed.order for parent in graph.mixed.parents[node]
    )
    for one, two in graph.hidden:
        cause = HiddenCause(one, two)
        out.add_node(cause, kind="hidden")
        out.add_edges_from([(cause, one), (cause, two)])
    return out


def from_networkx(graph: nx.DiGraph[object], network: Network) -> MissingnessGraph:
    """The missingness graph of a directed graph; edges among variables must be the network's."""
    if not graph.is_directed():
        raise MissingnessGraphError.undirected()
    hidden_nodes = {
        node
        for node in graph.nodes
        if isinstance(node, HiddenCause) or graph.nodes[node].get("kind") == "hidden"
    }
    hidden: list[Pair] = []
    for node in hidden_nodes:
        children = [checked_node(network, child) for child in graph.successors(node)]
        if len(children) != 2 or graph.in_degree(node):
            raise MissingnessGraphError.hidden_cause_needs_two(node, len(children))
        hidden.append((children[0], children[1]))
    causes: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node in hidden_nodes:
            continue
        effect = checked_node(network, node)
        parents = [
            checked_node(network, p) for p in graph.predecessors(node) if p not in hidden_nodes
        ]
        if isinstance(effect, Mechanism):
            causes[effect.variable] = parents
        for parent in parents:
            check_edge(network, parent, effect)
    return MissingnessGraph(network, causes, hidden)
