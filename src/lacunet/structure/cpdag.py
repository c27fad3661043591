"""What data can tell of a DAG: its class of Markov equivalent DAGs, as one mixed graph.

Two DAGs imply the same independences if they have the same adjacencies and the same colliders
whose parents are not adjacent. A CPDAG draws such a class: an arc is *compelled* if all members
have it in the same direction, otherwise it is an undirected edge.

D. M. Chickering, "A transformational characterization of equivalent Bayesian network
structures", 1995 (the labelling of arcs); D. Dor and M. Tarsi, "A simple algorithm to construct
a consistent extension of a partially oriented graph", 1992.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.errors import LacunetError
from lacunet.network.arguments import clear_arguments
from lacunet.network.edge_texts import is_edges
from lacunet.network.edges import edges_of
from lacunet.network.formats.files import NetworkOrEdges, as_network, is_file_of_edges
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import quoted
from lacunet.text import counted, differing
from lacunet.text_tables import Displayed

Parents = list[set[int]]
Children = tuple[tuple[int, ...], ...]
Arc = tuple[str, str]


@dataclass(frozen=True, repr=False)
class Cpdag(Displayed):
    """A class of Markov equivalent DAGs.

    ``compelled`` holds the arcs that all of them share, ``reversible`` the edges that some have
    in one direction and some in the other, each once, in the order of the variables.
    """

    variables: Scope
    compelled: frozenset[Arc]
    reversible: frozenset[Arc]

    @property
    def edges(self) -> int:
        """The number of adjacent pairs."""
        return len(self.compelled) + len(self.reversible)

    def in_order(self, variables: Scope) -> Cpdag:
        """The same class, with the variables in another order."""
        rank = {name: index for index, name in enumerate(variables)}
        edges = ((x, y) if rank[x] < rank[y] else (y, x) for x, y in self.reversible)
        return Cpdag(variables, self.compelled, frozenset(edges))

    def __repr__(self) -> str:
        variables = counted(len(self.variables), "variable")
        edges = counted(self.edges, "edge")
        return f"<Cpdag: {variables}, {edges}, {len(self.compelled):,} of them directed>"

    def _parts(self) -> list[str]:
        rank = {name: index for index, name in enumerate(self.variables)}
        lines = [(rank[b], rank[a], f"{quoted(a)} -> {quoted(b)}") for a, b in self.compelled]
        lines += [(rank[b], rank[a], f"{quoted(a)} -- {quoted(b)}") for a, b in self.reversible]
        return [text for _, _, text in sorted(lines)]


@dataclass(frozen=True, repr=False)
class StructureDifference(Displayed):
    """How two structures differ, as classes of equivalent DAGs; the first is the truth.

    ``shd`` counts the pairs of variables whose relation (none, an arc, an arc the other way, an
    edge) differs. ``precision``, ``recall`` and ``f1`` take a pair as found if its relation is
    the same in both; ``skeleton_f1`` asks for adjacency alone. ``missing`` and ``extra`` are
    pairs that only the first or only the second has. ``compelled_missing`` are the first's
    compelled arcs that the second does not have as such, ``compelled_extra`` the reverse.
    """

    shd: int
    precision: float
    recall: float
    f1: float
    skeleton_f1: float
    missing: tuple[Arc, ...]
    extra: tuple[Arc, ...]
    compelled_missing: tuple[Arc, ...]
    compelled_extra: tuple[Arc, ...]
    edges: tuple[int, int]

    @property
    def is_equivalent(self) -> bool:
        """Whether the two are the same class."""
        return self.shd == 0

    @property
    def skeleton_errors(self) -> int:
        """The pairs that are adjacent in one of the two only."""
        return len(self.missing) + len(self.extra)

    def __repr__(self) -> str:
        return f"<StructureDifference: SHD {self.shd}, F1 {self.f1:.3f}>"

    def _parts(self) -> Iterator[str]:
        if self.is_equivalent:
            yield f"Markov equivalent: {counted(self.edges[0], 'edge')}"
            return
        yield (
            f"SHD {self.shd} between CPDAGs of {self.edges[0]} and {self.edges[1]} edges: "
            f"{counted(len(self.missing), 'edge')} missing, {len(self.extra)} extra, "
            f"{self.shd - self.skeleton_errors} otherwise directed; "
            f"F1 {self.f1:.3f}, of the skeleton {self.skeleton_f1:.3f}"
        )


def to_cpdag(network: NetworkOrEdges) -> Cpdag:
    """The class of DAGs that are Markov equivalent to a network's.

    Parameters
    ----------
    network
        A network, a result, the path or name of a network, or edges or the path of a file of them.

    Returns
    -------
    A value that prints, with the arcs that all these DAGs share as ``compelled`` and the edges
    whose direction differs among them as ``reversible``.

    Examples
    --------
    >>> states = {name: ["0", "1"] for name in "ABC"}
    >>> print(to_cpdag(Network(states, {"B": ["A"], "C": ["B"]})))
    A -- B
    B -- C
    >>> print(to_cpdag(Network(states, {"B": ["A", "C"]})))
    A -> B
    C -> B
    >>> print(to_cpdag("Z -> X; Z -> Y"))
    Z -- X
    Z -- Y
    """
    is_path = isinstance(network, str | os.PathLike) and is_file_of_edges(os.fspath(network))
    if is_path or is_edges(network):
        edges = edges_of(Path(network) if is_path else network)  # type: ignore[arg-type]
        network = Network({name: ["0", "1"] for name in edges.variables}, edges.parents_of)
    network = as_network(network)
    rank = {name: index for index, name in enumerate(network.variables)}
    parents = [{rank[parent] for parent in network.parents_of[name]} for name in network.variables]
    return cpdag_of(network.variables, parents)


def cpdag_of(
    variables: Scope, parents: Sequence[Set[int]], forbidden: NDArray[np.bool_] | None = None
) -> Cpdag:
    """The class of a DAG given by indices, or those of it that have no forbidden arc.

    Parameters
    ----------
    forbidden
        ``forbidden[x, y]`` says that x -> y is known not to be; the DAG has no such arc.
    """
    fixed = compelled_arcs(parents, forbidden)
    arcs = _arcs(parents)
    return Cpdag(
        variables,
        frozenset((variables[x], variables[y]) for x, y in fixed),
        frozenset((variables[min(arc)], variables[max(arc)]) for arc in arcs - fixed),
    )


def _closed(arcs: set[tuple[int, int]], fixed: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """All arcs of a DAG that follow where the direction of some in its class is known.

    C. Meek, "Causal inference and causal explanation with background knowledge", 1995: an edge
    a -- b is a -> b if the other way would close a cycle or make a collider that the DAG does not
    have. His four rules find all of these.
    """
    around: dict[int, set[int]] = defaultdict(set)
    for x, y in arcs:
        around[x].add(y)
        around[y].add(x)

    def follows(a: int, b: int) -> bool:
        into_b = {c for c in around[b] if (c, b) in fixed}
        loose = {c for c in around[a] if (a, c) not in fixed and (c, a) not in fixed}
        # 1: c -> a -- b, and c is not adjacent to b.
        avoids_collider = any((c, a) in fixed and c not in around[b] for c in around[a])
        # 2: a -> c -> b.
        avoids_cycle = any((a, c) in fixed for c in into_b)
        # 3: a -- c -> b and a -- d -> b, and c is not adjacent to d.
        has_two_ways = any(d not in around[c] for c, d in combinations(into_b & loose, 2))
        # 4: a -- c -> d -> b, d is adjacent to a, and c not to b.
        has_chain = any(
            (c, d) in fixed and c not in around[b]
            for d in into_b & around[a]
            for c in around[d] & loose
        )
        return avoids_collider or avoids_cycle or has_two_ways or has_chain

    while fresh := {(a, b) for a, b in arcs - fixed if follows(a, b)}:
        fixed = fixed | fresh
    return fixed


@clear_arguments
def compare_structures(a: Any, b: Any) -> StructureDifference:
    """How the structure ``b`` differs from ``a``, both as classes of equivalent DAGs (CPDAGs).

    DAGs are equivalent if they have the same independences, so that data cannot tell them apart. A
    CPDAG has an arc ``A -> B`` where all of a class have it, otherwise an edge ``A -- B``.

    Parameters
    ----------
    a, b
        Networks, CPDAGs, what `learn_structure` gives, paths or names of networks, or edges;
        ``a`` counts as the truth. The variables must be the same, in any order.

    Returns
    -------
    A value that prints. ``shd`` is the structural Hamming distance: the pairs of variables whose
    edge is missing, extra, or has another direction. ``missing`` and ``extra`` are edges that only
    ``a`` or only ``b`` has; ``precision``, ``recall``, ``f1`` and ``skeleton_f1`` (directions left
    aside) are 1 where both agree.

    Examples
    --------
    >>> states = {name: ["0", "1"] for name in "ABC"}
    >>> chain = Network(states, {"B": ["A"], "C": ["B"]})
    >>> print(compare_structures(chain, Network(states, {"A": ["B"], "B": ["C"]})))
    Markov equivalent: 2 edges
    >>> compare_structures(chain, Network(states, {"B": ["A", "C"]})).shd
    2
    """
    truth, other = (given if isinstance(given, Cpdag) else to_cpdag(given) for given in (a, b))
    if set(truth.variables) != set(other.variables):
        raise LacunetError(
            "the structures have different variables: "
            f"{differing('the first', truth.variables, 'the second', other.variables)}.",
            "compare structures of the same variables, spelled alike.",
        )
    rank = {name: index for index, name in enumerate(truth.variables)}
    of_truth = _relations(truth, rank)
    of_other = _relations(other, rank)
    adjacent_in_both = of_truth.keys() & of_other.keys()
    pairs = of_truth.keys() | of_other.keys()
    same = sum(of_truth.get(pair) == of_other.get(pair) for pair in pairs)

    def named(some: Iterable[tuple[int, int]]) -> tuple[Arc, ...]:
        return tuple((truth.variables[x], truth.variables[y]) for x, y in sorted(some))

    def arcs(some: frozenset[Arc]) -> tuple[Arc, ...]:
        return tuple(sorted(some, key=lambda arc: (rank[arc[1]], rank[arc[0]])))

    return StructureDifference(
        shd=len(pairs) - same,
        precision=_share(same, len(of_other)),
        recall=_share(same, len(of_truth)),
        f1=_share(2 * same, len(of_truth) + len(of_other)),
        skeleton_f1=_share(2 * len(adjacent_in_both), len(of_truth) + len(of_other)),
        missing=named(of_truth.keys() - of_other.keys()),
        extra=named(of_other.keys() - of_truth.keys()),
        compelled_missing=arcs(truth.compelled - other.compelled),
        compelled_extra=arcs(other.compelled - truth.compelled),
        edges=(truth.edges, other.edges),
    )


def _relations(cpdag: Cpdag, rank: dict[str, int]) -> dict[tuple[int, int], int]:
    """The relation of each adjacent pair (x < y): 1 for x -> y, -1 for y -> x, 0 for an edge."""
    relations: dict[tuple[int, int], int] = {}
    for a, b in cpdag.compelled | cpdag.reversible:
        x, y = rank[a], rank[b]
        direction = 1 if x < y else -1
        relations[min(x, y), max(x, y)] = direction if (a, b) in cpdag.compelled else 0
    return relations


def _share(part: int, whole: int) -> float:
    """The part of the whole; two empty structures agree fully."""
    return part / whole if whole else 1.0


def compelled_arcs(
    parents: Sequence[Set[int]], forbidden: NDArray[np.bool_] | None = None
) -> set[tuple[int, int]]:
    """The arcs of a DAG that every Markov equivalent DAG (without a forbidden arc) shares."""
    order = topological_by_number(parents)
    rank = {node: index for index, node in enumerate(order)}
    label: dict[tuple[int, int], bool] = {}  # whether the arc is compelled
    for y in order:
        for x in sorted(parents[y], key=lambda node: -rank[node]):
            if (x, y) not in label:
                _label_from(parents, label, x, y)
    fixed = {arc for arc, is_compelled in label.items() if is_compelled}
    if forbidden is None:
        return fixed
    arcs = _arcs(parents)
    return _closed(arcs, fixed | {(x, y) for x, y in arcs if forbidden[y, x]})


def _arcs(parents: Sequence[Set[int]]) -> set[tuple[int, int]]:
    return {(x, y) for y, into in enumerate(parents) for x in into}


def _label_from(
    parents: Sequence[Set[int]], label: dict[tuple[int, int], bool], x: int, y: int
) -> None:
    """Label the arc from x to y, and those into y that follow from it.

    Parameters
    ----------
    label
        Whether an arc is compelled, for those that are known; all arcs into x are.
    """
    for w in parents[x]:
        if label[w, x]:
            if w not in parents[y]:
                label.update(dict.fromkeys(((z, y) for z in parents[y]), True))
                return
            label[w, y] = True
    is_collider = any(z != x and z not in parents[x] for z in parents[y])
    for z in parents[y]:
        label.setdefault((z, y), is_collider)


def children_of(parents: Sequence[Iterable[int]]) -> Children:
    """The children of each node."""
    children: list[list[int]] = [[] for _ in parents]
    for y, into in enumerate(parents):
        for x in into:
            children[x].append(y)
    return tuple(map(tuple, children))


def topological_by_number(parents: Sequence[Set[int]]) -> list[int]:
    """The nodes, parents before children, the smallest first where there is a choice."""
    children = children_of(parents)
    waiting = [len(into) for into in parents]
    ready = [node for node, number in enumerate(waiting) if not number]
    order = []
    while ready:
        x = heappop(ready)
        order.append(x)
        for y in children[x]:
            waiting[y] -= 1
            if not waiting[y]:
                heappush(ready, y)
    return order


def extension(directed: Parents, undirected: Parents) -> Parents | None:
    """A DAG with the arcs given, the edges directed without a new collider; None if none exists.

    Parameters
    ----------
    directed
        The nodes with an arc into each node.
    undirected
        The nodes that share an edge with each node.
    """
    parents = [set(into) for into in directed]
    into = [set(nodes) for nodes in directed]
    edges = [set(nodes) for nodes in undirected]
    out = [set(nodes) for nodes in children_of(into)]
    left = set(range(len(into)))
    waiting = sorted(left)  # a heap: only the neighbours of a node that leaves can become sinks
    while waiting:
        sink = heappop(waiting)
        if sink not in left or out[sink] or not _is_simplicial(sink, into, edges, out):
            continue
        parents[sink] |= edges[sink]
        for z in edges[sink]:
            edges[z].discard(sink)
            heappush(waiting, z)
        for z in into[sink]:
            out[z].discard(sink)
            heappush(waiting, z)
        into[sink] = set()
        edges[sink] = set()
        left.discard(sink)
    return None if left else parents


def _is_simplicial(x: int, into: Parents, edges: Parents, out: Parents) -> bool:
    """Whether each neighbour of x by an edge is adjacent to all other neighbours of x."""
    around = into[x] | edges[x]
    return all(around - {z} <= into[z] | edges[z] | out[z] for z in edges[x])
