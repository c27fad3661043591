"""The junction tree: which tables inference will make, and how large, before it makes any.

An elimination order gives a clique for each variable: itself and the neighbours it still has.
The largest of them, joined where they overlap, form a tree in which the cliques that hold any
one variable hang together (Lauritzen and Spiegelhalter, 1988). Whatever was connected in the
graph, every factor and every scope asked for, lies within one clique.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lacunet.inference.elimination_order import numbered
from lacunet.inference.junction_tree_order import best_order, cliques_of
from lacunet.model.network import Scope

BYTES = 8  # of one cell
LIVE_CLIQUES = 3  # the product, the next product and a marginal of it


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, each parent before its children, with the separator towards the parent.

    The axes of every clique and separator are in elimination order. A root has no parent (-1)
    and an empty separator. ``clique_of[v]`` holds `v` and all that comes after it in a scope.
    """

    cardinality_of: Mapping[str, int]
    cliques: tuple[Scope, ...]
    parents: tuple[int, ...]
    separators: tuple[Scope, ...]
    position_of: Mapping[str, int]
    clique_of: Mapping[str, int]

    def home(self, scope: Sequence[str]) -> int:
        """The clique that holds all of a scope; any root for the empty scope."""
        if not scope:
            return 0
        return self.clique_of[min(scope, key=self.position_of.__getitem__)]

    def shape(self, scope: Scope) -> tuple[int, ...]:
        """The shape of a table over ``scope``."""
        return tuple(self.cardinality_of[name] for name in scope)

    def cells(self, scope: Scope) -> int:
        """The number of cells of a table over ``scope``."""
        return math.prod(self.shape(scope))

    @property
    def largest(self) -> Scope:
        """The clique with the most cells."""
        return max(self.cliques, key=self.cells)

    @property
    def memory(self) -> int:
        """The bytes inference takes at most: all messages, and the cliques alive at once."""
        messages = sum(map(self.cells, self.separators))
        return BYTES * (messages + LIVE_CLIQUES * self.cells(self.largest))


def junction_tree(scopes: Iterable[Scope], cardinality_of: Mapping[str, int]) -> JunctionTree:
    """A junction tree in which every scope lies within one clique; its first root holds the first.

    Parameters
    ----------
    scopes
        Variables that must be together: those of each factor and of each marginal asked for.
    cardinality_of
        The number of states of every variable in the tree.

    Examples
    --------
    >>> tree = junction_tree([("A", "B"), ("B", "C")], {"A": 2, "B": 3, "C": 2})
    >>> tree.cliques, tree.separators
    ((('A', 'B'), ('B', 'C')), ((), ('B',)))
    """
    wanted = list(scopes)
    order, others = _eliminated(wanted, cardinality_of)
    position_of = {name: at for at, name in enumerate(order)}
    bare = _maximal_cliques(order, others, position_of)
    first = next((scope for scope in wanted if scope), tuple(order[:1]))
    start = bare.clique_of[min(first, key=position_of.__getitem__)] if first else 0
    return _rooted(bare, start, cardinality_of, position_of)


def _eliminated(
    scopes: Sequence[Scope], cardinality_of: Mapping[str, int]
) -> tuple[list[str], list[set[str]]]:
    """An elimination order, and the neighbours each variable still has at its turn."""
    neighbours: dict[str, set[str]] = {name: set() for name in cardinality_of}
    for scope in scopes:
        for name in scope:
            neighbours[name].update(scope)
    for name, own in neighbours.items():
        own.discard(name)
    weight_of = {name: math.log(size) for name, size in cardinality_of.items()}
    order = best_order(neighbours, weight_of)
    names = list(neighbours)
    number_of = {name: at for at, name in enumerate(names)}
    left = cliques_of(numbered(neighbours, weight_of), [number_of[name] for name in order])
    return order, [{names[other] for other in own} for own in left]


@dataclass(frozen=True)
class _Bare:
    """The maximal cliques and their edges, not yet rooted."""

    cliques: list[set[str]]
    edges: list[tuple[int, int, set[str]]]
    clique_of: dict[str, int]


def _maximal_cliques(
    order: Sequence[str], others: Sequence[set[str]], position_of: Mapping[str, int]
) -> _Bare:
    """From the last variable to the first: grow the clique of the parent, or hang on a new one."""
    cliques: list[set[str]] = []
    edges: list[tuple[int, int, set[str]]] = []
    clique_of: dict[str, int] = {}
    for name, separator in zip(reversed(order), reversed(others), strict=True):
        parent = clique_of[min(separator, key=position_of.__getitem__)] if separator else -1
        if separator and len(cliques[parent]) == len(separator):
            cliques[parent].add(name)
            clique_of[name] = parent
            continue
        if separator:
            edges.append((parent, len(cliques), separator))
        clique_of[name] = len(cliques)
        cliques.append({name, *separator})
    return _Bare(cliques or [set()], edges, clique_of)  # all seen: an empty clique holds scalars


def _rooted(
    bare: _Bare, start: int, cardinality_of: Mapping[str, int], position_of: Mapping[str, int]
) -> JunctionTree:
    """Number the cliques from the roots outwards, those around ``start`` first."""
    found = _outwards(bare, start)
    number_of = {clique: at for at, (clique, _, _) in enumerate(found)}

    def in_order(names: Iterable[str]) -> Scope:
        return tuple(sorted(names, key=position_of.__getitem__))

    return JunctionTree(
        cardinality_of=dict(cardinality_of),
        cliques=tuple(in_order(bare.cliques[clique]) for clique, _, _ in found),
        parents=tuple(number_of.get(parent, -1) for _, parent, _ in found),
        separators=tuple(in_order(separator) for _, _, separator in found),
        position_of=dict(position_of),
        clique_of={name: number_of[clique] for name, clique in bare.clique_of.items()},
    )


def _outwards(bare: _Bare, start: int) -> list[tuple[int, int, set[str]]]:
    """Every clique with its parent (-1 for a root) and separator, parents before children."""
    beside: list[list[tuple[int, set[str]]]] = [[] for _ in bare.cliques]
    for one, other, separator in bare.edges:
        beside[one].append((other, separator))
        beside[other].append((one, separator))
    found: list[tuple[int, int, set[str]]] = []
    seen: set[int] = set()
    for root in (start, *range(len(bare.cliques))):
        waiting = [] if root in seen else [(root, -1, set[str]())]
        while waiting:
            clique, parent, separator = waiting.pop()
            seen.add(clique)
            found.append((clique, parent, separator))
            waiting += [(other, clique, own) for other, own in beside[clique] if other != parent]
    return found
