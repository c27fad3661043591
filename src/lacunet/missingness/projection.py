"""Graphs of fewer nodes or without hidden causes that hold what a mixed graph holds."""

from __future__ import annotations

from collections.abc import Sequence

from lacunet.missingness.mixed import MixedGraph, Nodes
from lacunet.missingness.nodes import Node

_NONE: Nodes = frozenset()


def projected(graph: MixedGraph, node: Node) -> MixedGraph:
    """The graph of the other nodes when this one is not observed: its latent projection."""
    children = graph.sorted(graph.children[node])
    parents = {
        other: graph.parents[other] - {node}
        | (graph.parents[node] if node in graph.parents[other] else _NONE)
        for other in graph.order
        if other != node
    }
    pairs = [pair for pair in graph.hidden if node not in pair]
    pairs += [(a, b) for a in children for b in children if a != b]
    pairs += [(a, b) for a in graph.siblings[node] for b in children if a != b]
    return MixedGraph.of(parents, parents, pairs, graph.partial, graph.meter)


def directed(graph: MixedGraph, order: Sequence[Node]) -> MixedGraph:
    """A graph without bidirected edges whose models include all models of this one.

    Along a topological order, each node gets an edge from every earlier node of its
    district (joined to it by bidirected edges among earlier nodes), and from the parents of
    these: given them it does not depend on anything else that is earlier.
    """
    parents: dict[Node, Nodes] = {}
    for at, node in enumerate(order):
        earlier = frozenset(order[:at])
        district, waiting = {node}, [node]
        while waiting:
            new = (graph.siblings[waiting.pop()] & earlier) - district
            district |= new
            waiting.extend(new)
        above = frozenset(district).union(*(graph.parents[member] for member in district))
        parents[node] = above - {node}
    return MixedGraph.of(graph.order, parents, (), graph.partial, graph.meter)
