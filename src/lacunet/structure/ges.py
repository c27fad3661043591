"""Greedy equivalence search: from class to class, by the gain that is largest.

Forward, the insertion of an arc that gains most is made until none gains; backward, the deletion
that gains most. Each is judged by one paired gain, so the search needs nothing else of the data,
and with consistent gains it ends at the class of the truth.

D. M. Chickering, "Optimal structure identification with greedy search", 2002: theorems 15 and 17
say which insertions and deletions are valid. Only pairs whose surroundings have changed are
judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import combinations, pairwise

from lacunet.limits import NEVER, Deadline
from lacunet.structure.cpdag import Parents, children_of, compelled_arcs, extension

Gains = Callable[[int, Sequence[int], frozenset[int]], Sequence[float]]
# The other end of an arc into a node, what its gain is given, the edges directed along with it.
StepCandidate = tuple[int, frozenset[int], frozenset[int]]
MAX_TURNED_EDGES = 3  # directed along with an insertion
LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class Class:
    """A class of DAGs, as its CPDAG."""

    parents: tuple[frozenset[int], ...]  # the arcs into each node
    edges: tuple[frozenset[int], ...]  # the nodes that share an undirected edge with each
    children: tuple[frozenset[int], ...]  # the arcs out of each node

    @classmethod
    def of(cls, dag: Sequence[Set[int]]) -> Class:
        """The class of a DAG."""
        fixed = compelled_arcs(dag)
        parents: Parents = [set() for _ in dag]
        edges: Parents = [set() for _ in dag]
        for y, into in enumerate(dag):
            for x in into:
                if (x, y) in fixed:
                    parents[y].add(x)
                else:
                    edges[x].add(y)
                    edges[y].add(x)
        return cls(
            parents=tuple(map(frozenset, parents)),
            edges=tuple(map(frozenset, edges)),
            children=tuple(map(frozenset, children_of(parents))),
        )

    def around(self, node: int) -> frozenset[int]:
        """The nodes adjacent to a node."""
        return self.parents[node] | self.edges[node] | self.children[node]

    def is_clique(self, nodes: frozenset[int]) -> bool:
        """Whether all of the nodes are adjacent to each other."""
        return all(nodes - {node} <= self.around(node) for node in nodes)

    def open_path(self, start: int, end: int, closed: frozenset[int]) -> tuple[int, ...]:
        """A path without an arc against it that avoids the closed nodes, or nothing."""
        came_from = {start: start}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            for other in (self.children[node] | self.edges[node]) - closed:
                if other == end:
                    path = [end, node]
                    while path[-1] != start:
                        path.append(came_from[path[-1]])
                    return tuple(reversed(path))
                if other not in came_from:
                    came_from[other] = node
                    waiting.append(other)
        return ()

    def is_open(self, path: Sequence[int], closed: frozenset[int]) -> bool:
        """Whether a path has no arc against it, and avoids the closed nodes."""
        return closed.isdisjoint(path) and all(
            other in self.children[node] or other in self.edges[node]
            for node, other in pairwise(path)
        )


@dataclass(frozen=True)
class EdgeStep:
    """An insertion of x -> y, or a deletion."""

    gain: float
    x: int
    y: int
    turned: frozenset[int]  # the edges directed along with it


# What steps are ordered by, the round in which this one was judged, and the step.
RankedStep = tuple[tuple[float, int, int, list[int]], int, EdgeStep]


def greedy_equivalence_search(
    nodes: int,
    gains: Gains,
    max_parents: int,
    is_allowed: Callable[[int, int], bool],
    deadline: Deadline = NEVER,
    related: Sequence[frozenset[int]] | None = None,
) -> Iterator[Parents]:
    """A DAG of each class on the way; the last is of the class that the search ends at.

    Parameters
    ----------
    gains
        What a node gains by each of some others, given some.
    is_allowed
        Whether a pair may be adjacent, the same for both orders of it.
    related
        For each node those that it may become adjacent to, along with what is related to its
        neighbours; None for all.
    """
    every = frozenset(range(nodes))

    def partners(cpdag: Class, y: int) -> list[int]:
        """Those that may be adjacent to a node and are worth a look."""
        some = every
        if related is not None:
            some = related[y].union(cpdag.around(y), *(related[x] for x in cpdag.around(y)))
        return [x for x in some if x != y and is_allowed(x, y)]

    def insertions(cpdag: Class, y: int, others: Iterable[int]) -> Iterator[EdgeStep]:
        candidates = (
            candidate for x in others for candidate in _insertions(cpdag, x, y, max_parents)
        )
        return _steps(y, candidates, gains, sign=1)

    def deletions(cpdag: Class, y: int, others: Iterable[int]) -> Iterator[EdgeStep]:
        candidates = (candidate for x in others for candidate in _deletions(cpdag, x, y))
        return _steps(y, candidates, gains, sign=-1)

    paths: dict[EdgeStep, tuple[int, ...]] = {}

    def inserted(cpdag: Class, step: EdgeStep) -> Parents | None:
        return _inserted(cpdag, step, paths)

    nothing: Parents = [set() for _ in range(nodes)]
    dag = yield from _climb(nothing, partners, insertions, inserted, deadline)
    yield from _climb(dag, partners, deletions, _deleted, deadline)


def _climb(
    dag: Parents,
    partners: Callable[[Class, int], list[int]],
    steps: Callable[[Class, int, Iterable[int]], Iterator[EdgeStep]],
    make: Callable[[Class, EdgeStep], Parents | None],
    deadline: Deadline,
) -> Generator[Parents, None, Parents]:
    """Make the step that gains most, again and again, as long as one gains."""
    yield dag
    cpdag = Class.of(dag)
    round_of: dict[tuple[int, int], int] = {}  # in which each pair was judged last
    ranked: list[RankedStep] = []  # a heap; steps of pairs that were judged again stay in it
    number = 0
    stale = {y: {*partners(cpdag, y)} for y in range(len(dag))}
    while True:
        number += 1
        for y, others in stale.items():
            deadline.check()
            round_of.update(((x, y), number) for x in others)
            for step in steps(cpdag, y, sorted(others)):
                rank = (-step.gain, step.y, step.x, sorted(step.turned))
                heappush(ranked, (rank, number, step))

        better = None
        tried = []
        while better is None and ranked:
            entry = heappop(ranked)
            _, judged_in, step = entry
            if judged_in == round_of[step.x, step.y]:
                better = make(cpdag, step)
                tried.append(entry)
        # A step that is not valid here may be later. The one that is made is judged again, like
        # all around it.
        for entry in tried:
            heappush(ranked, entry)
        if better is None:
            return dag

        yield better
        dag = better
        before = cpdag
        cpdag = Class.of(dag)
        stale = _pairs_around_changes(before, cpdag, partners)


def _pairs_around_changes(
    before: Class, after: Class, partners: Callable[[Class, int], list[int]]
) -> dict[int, set[int]]:
    """The pairs whose surroundings changed: for each node those it is to be judged with again."""
    pairs: dict[int, set[int]] = {}
    for y in range(len(after.parents)):
        is_changed = (
            before.parents[y] != after.parents[y]
            or before.edges[y] != after.edges[y]
            or before.children[y] != after.children[y]
        )
        if is_changed:
            near = partners(after, y)
            pairs.setdefault(y, set()).update(near)
            for x in near:
                pairs.setdefault(x, set()).add(y)
    return pairs


def _steps(
    y: int, candidates: Iterable[StepCandidate], gains: Gains, sign: int
) -> Iterator[EdgeStep]:
    """The steps that gain something; gains given the same nodes are computed together.

    Parameters
    ----------
    sign
        1 for insertions, -1 for deletions, which gain what an insertion would lose.
    """
    alike: dict[frozenset[int], list[tuple[int, frozenset[int]]]] = {}
    for x, given, turned in candidates:
        alike.setdefault(given, []).append((x, turned))
    for given, some in alike.items():
        others = [x for x, _ in some]
        for (x, turned), gain in zip(some, gains(y, others, given), strict=True):
            if sign * gain > LEAST_GAIN:
                yield EdgeStep(sign * gain, x, y, turned)


def _insertions(cpdag: Class, x: int, y: int, max_parents: int) -> Iterator[StepCandidate]:
    """The insertions of x -> y that may be valid: they need a clique (theorem 15).

    Whether a path is open is looked at when one is made.
    """
    if y in cpdag.around(x):
        return
    shared = cpdag.edges[y] & cpdag.around(x)
    loose = sorted(cpdag.edges[y] - cpdag.around(x))
    for length in range(min(len(loose), MAX_TURNED_EDGES) + 1):
        for some in combinations(loose, length):
            turned = frozenset(some)
            given = shared | turned | cpdag.parents[y]
            if len(given) < max_parents and cpdag.is_clique(shared | turned):
                yield x, given, turned


def _inserted(
    cpdag: Class, step: EdgeStep, paths: dict[EdgeStep, tuple[int, ...]]
) -> Parents | None:
    """A DAG of the class after an insertion; None if that is not valid.

    Parameters
    ----------
    paths
        Those by which insertions were not valid before: most are open still.
    """
    x, y = step.x, step.y
    closed = (cpdag.edges[y] & cpdag.around(x)) | step.turned
    if step in paths and cpdag.is_open(paths[step], closed):
        return None
    if path := cpdag.open_path(y, x, closed):
        paths[step] = path
        return None
    parents, edges = _copied(cpdag)
    for node in (x, *step.turned):
        _direct(parents, edges, node, y)
    return extension(parents, edges)


def _deletions(cpdag: Class, x: int, y: int) -> Iterator[StepCandidate]:
    """The valid deletions of what joins x and y: what stays is a clique (theorem 17)."""
    if y not in cpdag.edges[x] and y not in cpdag.children[x]:
        return
    shared = cpdag.edges[y] & cpdag.around(x)
    for length in range(len(shared) + 1):
        for some in combinations(sorted(shared), length):
            kept = shared - set(some)
            if cpdag.is_clique(kept):
                yield x, (kept | cpdag.parents[y]) - {x}, frozenset(some)


def _deleted(cpdag: Class, step: EdgeStep) -> Parents | None:
    """A DAG of the class after a deletion."""
    x, y = step.x, step.y
    parents, edges = _copied(cpdag)
    parents[y].discard(x)
    edges[x].discard(y)
    edges[y].discard(x)
    for node in step.turned:
        _direct(parents, edges, y, node)
        if node in edges[x]:
            _direct(parents, edges, x, node)
    return extension(parents, edges)


def _direct(parents: Parents, edges: Parents, x: int, y: int) -> None:
    """Put in the arc from x to y, in place of an edge between them if there is one."""
    edges[x].discard(y)
    edges[y].discard(x)
    parents[y].add(x)


def _copied(cpdag: Class) -> tuple[Parents, Parents]:
    return [set(nodes) for nodes in cpdag.parents], [set(nodes) for nodes in cpdag.edges]
