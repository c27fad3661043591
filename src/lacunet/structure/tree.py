"""The tree of largest mutual information (Chow and Liu), given a variable or none."""

from __future__ import annotations

from collections.abc import Sequence

from lacunet.data.table import EncodedTable
from lacunet.structure.gains import Gains
from lacunet.structure.indexed_rows import CodedRows


def tree_parents(
    table: EncodedTable, names: Sequence[str], given: str | None = None
) -> dict[str, list[str]]:
    """The parent of each variable in the forest of largest mutual information, given another.

    An edge is worth the log-likelihood that it adds, less what its parameters cost (BIC); edges
    that are worth nothing are left out.
    """
    import networkx as nx

    gains = Gains.of(CodedRows.of(table))
    index_of = {name: index for index, name in enumerate(table.variables)}
    always = frozenset() if given is None else frozenset({index_of[given]})
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(names)
    for index, name in enumerate(names):
        others = names[index + 1 :]
        worths = gains.of_each(index_of[name], [index_of[other] for other in others], always)
        for other, worth in zip(others, worths, strict=True):
            if worth > 0:
                graph.add_edge(name, other, weight=worth)
    forest = nx.maximum_spanning_tree(graph)
    parents: dict[str, list[str]] = {}
    for component in nx.connected_components(forest):
        root = min(component, key=names.index)
        parents |= {child: [parent] for parent, child in nx.bfs_edges(forest, root)}
    return parents
