r"""The smallest separator for informed deletion, by a minimum vertex cut.

:math:`W \subseteq X_o` is valid for a family Y if :math:`Y_m \perp R_{Y_m} \mid Y_o \cup W`.
Among the valid ones the smallest table is wanted, i.e. the least :math:`\sum_{X \in W}
\log |X|`.

**Theorem.** In the moral graph of the ancestors of Y and its mechanisms, with :math:`Y_o` deleted,
W is valid if and only if it is a vertex cut between :math:`Y_m` and :math:`R_{Y_m}`, and no
variable outside this graph is needed (J. Tian, A. Paz and J. Pearl, "Finding minimal d-separators",
1998). So the smallest table is a minimum cut, in which each vertex that may be cut, an always
observed variable, has its logarithm as capacity, and the others cannot be cut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import log

from lacunet.missingness.errors import SeparatorError
from lacunet.missingness.separation.drawing import Drawing
from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.network.network import Scope
from lacunet.network.nodes import Node

SCALE = 1_000_000  # capacities are integers, so that cuts compare exactly


def separator(
    graph: Drawing, family: Sequence[str], fully_observed: Iterable[str] | None = None
) -> Scope:
    """The always observed variables that separate a family's missing values, fewest cells.

    Parameters
    ----------
    graph
        The missingness graph.
    family
        The variables of Y; those that are latent play no part.
    fully_observed
        The variables that may be used; those without a mechanism if not given.

    Raises
    ------
    SeparatorError
        There is none: the family is not MAR.

    Examples
    --------
    A and B cause the gaps in X, but only through their common cause C do they tell of X.

    >>> from lacunet.network.network import Network
    >>> network = Network({n: ["0", "1"] for n in "ABCX"}, {n: ["C"] for n in "ABX"})
    >>> separator(Drawing(network, {"X": ["A", "B"]}), ["X"])
    ('C',)
    """
    observed = set(graph.fully_observed if fully_observed is None else fully_observed)
    hidden = [name for name in family if name not in observed and name in graph.mixed.partial]
    if not hidden:
        return ()
    mechanisms = graph.mixed.mechanisms_of(hidden)
    shown = [name for name in family if name not in {*hidden, *graph.latent}]
    moral = _moral(graph.mixed, [*hidden, *mechanisms, *shown])
    neighbours = {node: near - {*shown} for node, near in moral.items() if node not in shown}
    capacity: dict[Hashable, int] = {
        # One more, so that of two cuts with as many cells the one with fewer variables is smaller.
        name: round(SCALE * log(max(graph.network.cardinality(name), 1))) + 1
        for name in graph.network.variables
        if name in observed and name in neighbours and name not in family
    }
    cut = _vertex_cut(neighbours, hidden, sorted(mechanisms), capacity)
    if cut is None:
        path = graph.mixed.open_path(hidden, mechanisms, {*observed} - {*hidden})
        words = graph.mixed.in_words(path) if path else "through a hidden cause"
        raise SeparatorError(
            f"no set of fully observed variables separates the missing values of the family "
            f"{list(family)} from their mechanisms: it is not MAR. An open path is {words}.",
            "method='mgraph' may still recover the family.",
        )
    return tuple(name for name in graph.network.variables if name in cut)


def separators(graph: Drawing, fully_observed: Iterable[str] | None = None) -> dict[str, Scope]:
    """The separator of every family of the network, under the name of its child."""
    observed = None if fully_observed is None else tuple(fully_observed)
    network = graph.network
    return {name: separator(graph, network.family(name), observed) for name in network.variables}


def _moral(graph: MixedGraph, nodes: Sequence[Node]) -> dict[Hashable, set[Hashable]]:
    """The moral graph of the nodes' ancestors, a node of its own for each hidden cause."""
    moral: dict[Hashable, set[Hashable]] = defaultdict(set)
    for child in graph.sorted(graph.ancestors(nodes)):
        causes = [cause for cause in graph.hidden if child in cause]
        family: set[Hashable] = {child, *graph.parents[child], *causes}
        for node in family:
            moral[node] |= family - {node}
    return moral


def _vertex_cut(
    neighbours: Mapping[Hashable, set[Hashable]],
    sources: Sequence[Node],
    sinks: Sequence[Node],
    capacity: Mapping[Hashable, int],
) -> set[object] | None:
    """The minimum vertex cut that is nearest to the sinks; None if there is none.

    Each node is split into an entry and an exit, joined by an edge of its capacity, and flow is
    sent from the sources to the sinks. In the end, all nodes that reach a sink where there is room
    left are on its side; those whose edge lies between the sides are the cut.
    """
    if not _reached(neighbours, sources) & {*sinks}:
        return set()
    import networkx as nx
    from networkx.algorithms.flow import edmonds_karp

    flow: nx.DiGraph[Hashable] = nx.DiGraph()
    for node, near in neighbours.items():
        if node in capacity:
            flow.add_edge(("in", node), ("out", node), capacity=capacity[node])
        else:  # an edge without a capacity is never cut
            flow.add_edge(("in", node), ("out", node))
        flow.add_edges_from((("out", node), ("in", other)) for other in near)
    flow.add_edges_from(("source", ("in", node)) for node in sources)
    flow.add_edges_from((("out", node), "sink") for node in sinks)
    try:
        _, (near_source, _) = nx.minimum_cut(flow, "source", "sink", flow_func=edmonds_karp)
    except nx.NetworkXUnbounded:
        return None
    return {
        node
        for node in neighbours
        if ("in", node) in near_source and ("out", node) not in near_source
    }


def _reached(
    neighbours: Mapping[Hashable, set[Hashable]], sources: Sequence[Node]
) -> set[Hashable]:
    """The nodes that some path leads to from a source, the sources among them."""
    reached: set[Hashable] = {*sources}
    waiting: list[Hashable] = [*sources]
    while waiting:
        new = neighbours[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached
