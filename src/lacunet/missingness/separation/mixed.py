"""Graphs with directed and bidirected edges, and what they separate.

A bidirected edge ``A <-> B`` stands for a hidden common cause. Separation is m-separation:
d-separation in the directed graph that has a hidden node behind every bidirected edge.

**Theorem.** A path is blocked by a non-collider that is given, or by a collider none of whose
descendants (itself included) is given. If every path between two sets is blocked, they are
independent in every model of the graph; if one is open, they are dependent in almost every model.
T. Richardson, "Markov properties for acyclic directed mixed graphs", 2003.

So a walk need only keep, for every node it reaches, whether it came along an arrowhead: that
decides which role the node plays. From a node that is not given it goes on to the children; and to
the parents and bidirected neighbours if it came against an arrow. At a node reached along an
arrowhead, going on to these makes it a collider: that needs a given descendant, so the node is
among the given ones and their ancestors.

Below: `cut`, `project_out` and `without_bidirected` make one graph from another, and `Meter` says
how much work a search may do. Work is counted in steps along edges, so that it never depends on
time. A search works on its own copy of the graph (`MixedGraph.metered`); what is derived from the
copy carries the same meter. Results are remembered for the copy only: what an earlier search has
found does not change how far this one gets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, pairwise, permutations
from math import inf
from typing import Any, NamedTuple, TypeVar

from lacunet.limits import NEVER, Deadline
from lacunet.network.nodes import SELECTION, Mechanism, Node, node_text

Nodes = frozenset[Node]
_NONE: Nodes = frozenset()
_State = tuple[Node, bool]  # of a walk: where it is, and whether it came along an arrowhead

Anything = TypeVar("Anything", bound=Hashable)


class HiddenCause(NamedTuple):
    """The common cause behind a bidirected edge ``one <-> two``."""

    one: Node
    two: Node

    def __str__(self) -> str:
        return f"U[{node_text(self.one)}, {node_text(self.two)}]"


def reachable(
    start: Iterable[Anything], following: Callable[[Anything], Iterable[Anything]]
) -> frozenset[Anything]:
    """Everything that steps lead to from the start, which belongs to it."""
    visited: set[Anything] = set()
    waiting = list(start)
    while waiting:
        current = waiting.pop()
        if current not in visited:
            visited.add(current)
            waiting.extend(following(current))
    return frozenset(visited)


def subsets(items: Iterable[Anything], sizes: Iterable[int]) -> Iterator[frozenset[Anything]]:
    """The subsets of some sizes, size by size."""
    every = tuple(items)
    for size in sizes:
        yield from map(frozenset, combinations(every, size))


@dataclass(frozen=True, eq=False)
class MixedGraph:
    """The parents, children and bidirected neighbours of every node.

    Nodes are walked in the order of the graph, so that walks do not depend on hashes. A graph made
    from another one may have lost the mechanism of a partially observed variable, which then cannot
    be selected on any more.
    """

    order: tuple[Node, ...]
    parents: Mapping[Node, Nodes]
    siblings: Mapping[Node, Nodes]  # at the other end of a bidirected edge
    children: Mapping[Node, Nodes]
    rank: Mapping[Node, int]  # the place of each node in the order
    partial: frozenset[str]  # the partially observed variables
    meter: Meter  # of the work done on the graph and on those made from it
    monotone: frozenset[tuple[Mechanism, Mechanism]] = frozenset()  # the first only with the second

    @classmethod
    def of(
        cls,
        parents: Mapping[Node, Iterable[Node]],
        hidden: Iterable[tuple[Node, Node]] = (),
        partial: frozenset[str] | None = None,
        meter: Meter | None = None,
        monotone: Iterable[tuple[Mechanism, Mechanism]] = (),
    ) -> MixedGraph:
        """The graph of the parents of its nodes, in order, and of the pairs with hidden causes."""
        nodes = tuple(parents)
        meter = meter or Meter()
        meter.charge(8 * len(nodes))  # making a graph is about as dear as that many steps
        children: dict[Node, set[Node]] = {node: set() for node in nodes}
        siblings: dict[Node, set[Node]] = {node: set() for node in nodes}
        for node in nodes:
            for parent in parents[node]:
                children[parent].add(node)
        for left, right in hidden:
            siblings[left].add(right)
            siblings[right].add(left)
        if partial is None:
            partial = frozenset(mechanism.variable for mechanism in _of_variables(nodes))
        return cls(
            order=nodes,
            parents={node: frozenset(parents[node]) for node in nodes},
            siblings={node: frozenset(siblings[node]) for node in nodes},
            children={node: frozenset(children[node]) for node in nodes},
            rank={node: rank for rank, node in enumerate(nodes)},
            partial=partial,
            meter=meter,
            monotone=frozenset(
                (later, earlier)
                for later, earlier in monotone
                if earlier in parents.get(later, ())  # else the edge is not in this graph
            ),
        )

    @cached_property
    def bits_around(self) -> tuple[tuple[int, int, int], ...]:
        """The children, parents and siblings of every node, as sets of bits."""
        return tuple(
            (
                self.bits(self.children[node]),
                self.bits(self.parents[node]),
                self.bits(self.siblings[node]),
            )
            for node in self.order
        )

    def metered(self, meter: Meter) -> MixedGraph:
        """The same graph with a meter of its own, and nothing remembered about it."""
        return replace(self, meter=meter)

    @cached_property
    def hidden(self) -> list[HiddenCause]:
        """The cause behind every bidirected edge, once."""
        return [
            HiddenCause(left, right)
            for left in self.order
            for right in self.sorted(self.siblings[left])
            if self.rank[left] < self.rank[right]
        ]

    def sorted(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """The nodes in the order of the graph."""
        return tuple(sorted(set(nodes), key=self.rank.__getitem__))

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The nodes that are variables."""
        return tuple(node for node in self.order if isinstance(node, str))

    def named(self, names: Iterable[Node]) -> tuple[str, ...]:
        """The variables among some nodes, in order."""
        chosen = {name for name in names if isinstance(name, str) and name in self.rank}
        return tuple(sorted(chosen, key=self.rank.__getitem__))

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """The nodes that are mechanisms of variables."""
        return _of_variables(self.order)

    @cached_property
    def selection(self) -> frozenset[Mechanism]:
        """R[*], if the graph has it: 1 in every row that there is."""
        return frozenset({SELECTION}) if SELECTION in self.parents else frozenset()

    def mechanisms_of(self, nodes: Iterable[Node]) -> frozenset[Mechanism]:
        """The mechanisms of those variables that are partially observed."""
        return frozenset(Mechanism(node) for node in nodes if node in self.partial)

    def variable_parents(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        """The variables that are parents of one of the nodes, in order."""
        return self.named(parent for node in nodes for parent in self.parents[node])

    @cached_property
    def mechanism_parents(self) -> Mapping[Mechanism, frozenset[Mechanism]]:
        """The parents of each mechanism that are mechanisms."""
        inside = frozenset(self.mechanisms)
        return {m: inside & self.parents[m] for m in self.mechanisms}

    @cached_property
    def parents_shown_by(self) -> Mapping[Mechanism, frozenset[Mechanism]]:
        """The mechanisms that show the partially observed parents of each mechanism."""
        return {m: self.mechanisms_of(self.parents[m]) for m in self.mechanisms}

    @cached_property
    def above(self) -> Mapping[Mechanism, frozenset[Mechanism]]:
        """The parents of each mechanism that are mechanisms, and those that show its others."""
        return {m: self.parents_shown_by[m] | self.mechanism_parents[m] for m in self.mechanisms}

    def closure(self, mechanisms: Iterable[Mechanism]) -> frozenset[Mechanism]:
        """The mechanisms, their mechanism parents and those that show the others, and so on."""
        inside = frozenset(self.mechanisms)
        return reachable(inside.intersection(mechanisms), lambda m: self.above[m] & inside)

    def near(self, nodes: Iterable[Node]) -> set[str]:
        """The variables joined to one of the nodes by an edge."""
        around = (self.parents[n] | self.siblings[n] | self.children[n] for n in nodes)
        return {node for nodes in around for node in nodes if isinstance(node, str)}

    def among(self, kept: Collection[Node]) -> MixedGraph:
        """The graph of some nodes and the edges among them."""
        inside = frozenset(kept)
        parents = {node: self.parents[node] & inside for node in self.order if node in inside}
        hidden = [pair for pair in self.hidden if inside.issuperset(pair)]
        return self.with_edges(parents, hidden)

    def with_edges(
        self, parents: Mapping[Node, Iterable[Node]], hidden: Iterable[tuple[Node, Node]]
    ) -> MixedGraph:
        """A graph of some of the nodes, those that have parents listed, with these edges."""
        return MixedGraph.of(parents, hidden, self.partial, self.meter, self.monotone)

    def bits(self, nodes: Iterable[Node]) -> int:
        """A set of nodes as the bits of a number, by their rank."""
        number = 0
        for node in nodes:
            number |= 1 << self.rank[node]
        return number

    def _ancestor_bits(self, nodes: int, fixed: int) -> int:
        """The nodes and all their ancestors, generation by generation."""
        above = fresh = nodes & ~fixed
        while fresh:
            parents = 0
            for rank in _set_bits(fresh):
                parents |= self.bits_around[rank][1]
            fresh = parents & ~above & ~fixed
            above |= fresh
        return above

    def ancestors(self, nodes: Iterable[Node], fixed: Nodes = _NONE) -> Nodes:
        """The nodes and all their ancestors, on paths without the ``fixed`` nodes."""
        above = self._ancestor_bits(self.bits(nodes), self.bits(fixed))
        return frozenset(self.order[rank] for rank in _set_bits(above))

    def separated(
        self,
        left: Iterable[Node],
        right: Iterable[Node],
        given: Iterable[Node],
        fixed: Nodes = _NONE,
    ) -> bool:
        """Whether ``given`` blocks every path between ``left`` and ``right`` outside ``fixed``.

        The same walk as that of `open_path`, on sets of nodes that are numbers, a bit for each:
        ``tails`` are those reached against an arrow, ``heads`` those reached along an arrowhead. It
        is most of the work of every search, so it is done for all nodes of a step at once.
        """
        blocked = self.bits(given)
        gone = self.bits(fixed)
        ends = self.bits(right) & ~blocked
        above = self._ancestor_bits(blocked, gone)  # colliders among these are open
        tails = fresh_tails = self.bits(left) & ~blocked  # a path starts as if against an arrow
        heads = fresh_heads = 0
        self.meter.charge(4 + above.bit_count())
        while fresh_tails | fresh_heads:
            if (fresh_tails | fresh_heads) & ends:
                return False
            self.meter.charge((fresh_tails | fresh_heads).bit_count())
            to_tails = to_heads = 0
            # Reached against an arrow: a non-collider, whichever way it goes on.
            for rank in _set_bits(fresh_tails & ~blocked):
                children, parents, siblings = self.bits_around[rank]
                to_heads |= children | siblings
                to_tails |= parents
            for rank in _set_bits(fresh_heads & ~blocked):  # -> node ->: a non-collider
                children, _, _ = self.bits_around[rank]
                to_heads |= children
            for rank in _set_bits(fresh_heads & above):  # -> node <-: an open collider
                _, parents, siblings = self.bits_around[rank]
                to_tails |= parents
                to_heads |= siblings
            fresh_tails = to_tails & ~tails & ~gone
            fresh_heads = to_heads & ~heads & ~gone
            tails |= fresh_tails
            heads |= fresh_heads
        return True

    def open_path(
        self, left: Iterable[Node], right: Iterable[Node], given: Iterable[Node]
    ) -> tuple[Node, ...] | None:
        """A shortest path from ``left`` to ``right`` that ``given`` leaves open, or None."""
        blocked = frozenset(given)
        ends = frozenset(right) - blocked
        above = self.ancestors(blocked)
        waiting = [(start, False) for start in self.sorted(frozenset(left) - blocked)]
        came_from: dict[_State, _State | None] = dict.fromkeys(waiting)
        self.meter.charge(4 + len(above))
        for state in waiting:  # grows while it is walked: breadth first
            self.meter.charge(1)
            if state[0] in ends:
                path = []
                step: _State | None = state
                while step is not None:
                    path.append(step[0])
                    step = came_from[step]
                return tuple(reversed(path))
            for following in self._steps(state, blocked, above):
                if following not in came_from:
                    came_from[following] = state
                    waiting.append(following)
        return None

    def _steps(self, state: _State, blocked: Nodes, above: Nodes) -> Iterator[_State]:
        """Where an open walk goes on."""
        node, by_head = state
        near = self.bits_around[self.rank[node]]
        children, parents, siblings = ([self.order[r] for r in _set_bits(bits)] for bits in near)
        passes = node not in blocked  # as a non-collider
        if passes:
            for child in children:
                yield child, True
        is_open_collider = by_head and node in above
        if is_open_collider or (passes and not by_head):
            for parent in parents:
                yield parent, False
            for sibling in siblings:
                yield sibling, True

    def in_words(self, path: tuple[Node, ...]) -> str:
        """A path written with its arrows."""
        arrows = []
        for left, right in pairwise(path):
            if left in self.parents[right]:
                arrows.append("->")
            elif right in self.parents[left]:
                arrows.append("<-")
            else:
                arrows.append("<->")
        return path_in_words(path, arrows)


def _of_variables(nodes: Iterable[Node]) -> tuple[Mechanism, ...]:
    """The mechanisms of variables among some nodes."""
    return tuple(node for node in nodes if isinstance(node, Mechanism) and node != SELECTION)


def path_in_words(path: Sequence[Node], arrows: Sequence[str]) -> str:
    """A path written with some arrows between its nodes."""
    steps = zip(arrows, path[1:], strict=True)
    return node_text(path[0]) + "".join(f" {arrow} {node_text(node)}" for arrow, node in steps)


def _set_bits(bits: int) -> Iterator[int]:
    """The positions of the bits of a number that are set."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@lru_cache(maxsize=4096)
def cut(graph: MixedGraph, into: Nodes = _NONE, out_of: Nodes = _NONE) -> MixedGraph:
    """The graph without the edges into some nodes, bidirected ones too, and out of others."""
    parents = {}
    for node in graph.order:
        parents[node] = _NONE if node in into else graph.parents[node] - out_of
    hidden = [pair for pair in graph.hidden if into.isdisjoint(pair)]
    return graph.with_edges(parents, hidden)


def districts(graph: MixedGraph, nodes: Nodes) -> list[Nodes]:
    """The sets of some nodes that bidirected edges among them join."""
    all_districts: list[Nodes] = []
    for node in graph.sorted(nodes):
        if not any(node in district for district in all_districts):
            all_districts.append(reachable([node], lambda member: graph.siblings[member] & nodes))
    return all_districts


def topological_nodes(graph: MixedGraph, rank: Callable[[Node], Any] = bool) -> tuple[Node, ...]:
    """The nodes, parents first; as near to the order of the graph as that allows.

    Of those that can come next, the one of the lowest ``rank``; by default they are all alike.
    """
    order: dict[Node, None] = {}
    waiting = list(graph.order)
    while waiting:
        node = min((n for n in waiting if graph.parents[n] <= order.keys()), key=rank)
        order[node] = None
        waiting.remove(node)
    return tuple(order)


@lru_cache(maxsize=1024)
def project_out(graph: MixedGraph, node: Node) -> MixedGraph:
    """The graph of the other nodes when this one is not observed: its latent projection.

    What led through the node stays joined: its parents become parents of its children, and its
    children and bidirected neighbours have a hidden cause with every child. T. Verma and J. Pearl,
    "Equivalence and synthesis of causal models", 1990.
    """
    children = graph.sorted(graph.children[node])
    parents = {}
    for other in graph.order:
        if other == node:
            continue
        above = graph.parents[other]
        if node in above:
            above = (above - {node}) | graph.parents[node]
        parents[other] = above
    hidden: list[tuple[Node, Node]] = [pair for pair in graph.hidden if node not in pair]
    hidden += permutations(children, 2)
    hidden += [(a, b) for a in graph.siblings[node] for b in children if a != b]
    return graph.with_edges(parents, hidden)


def without_bidirected(graph: MixedGraph, order: Sequence[Node]) -> MixedGraph:
    """A graph without bidirected edges whose models include all models of this one.

    Along a topological order, each node gets an edge from every earlier node of its
    district (joined to it by bidirected edges among earlier nodes), and from the parents of
    these: given them it does not depend on anything else that is earlier.
    """
    parents: dict[Node, Nodes] = {}
    for node in graph.order:
        earlier = frozenset(order[: order.index(node)])
        district = reachable([node], lambda member: graph.siblings[member] & earlier)  # noqa: B023
        above = district.union(*(graph.parents[member] for member in district))
        parents[node] = above - {node}
    return graph.with_edges(parents, ())


class OutOfWork(Exception):  # noqa: N818
    """The search has done as much as it may; never leaves the room."""


@dataclass
class Meter:
    """The work done so far and the most that may be done, by steps and by the clock."""

    spent: float = 0.0
    limit: float = inf
    deadline: Deadline = NEVER

    def charge(self, work: float) -> None:
        """Add to the work done; raise `OutOfWork` beyond the limit, and what a deadline raises."""
        self.spent += work
        if self.spent > self.limit:
            raise OutOfWork
        if self.deadline is not NEVER:
            self.deadline.check()

    def allow(self, work: float) -> None:
        """Let so much more work be done from here on."""
        self.limit = self.spent + work
