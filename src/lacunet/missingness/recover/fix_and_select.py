r"""Fix and select: one formula for most queries P(A | B), and its odds form.

Choose disjoint sets of mechanisms F, re-weighted, and S, selected on, such that the rows
with :math:`R_F = R_S = 1` show A and B, the propensities of F are known in these rows, and
A does not depend on :math:`R_S` given B once :math:`R_F` is fixed at 1. Then

.. math::
    P(a \mid b) \propto \sum_{\text{rows with } R_{F \cup S} = 1,\ a,\ b}
    \prod_{j \in F} \frac{1}{\pi_j(\text{row})}.

Deletion, informed deletion and the paper's MNAR formula are special cases. In the odds form
some mechanisms I are left free, and inside the weighted sample the closed form for "no
self-censoring" puts the patterns of I together: it needs
:math:`X_i \perp R_i \mid X_{S \setminus i}, R_{I \setminus i}` and allows hidden causes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial, reduce
from itertools import combinations, permutations

from lacunet.estimands.patterns import NoSelfCensoring, PatternOdds
from lacunet.estimands.samples import Sample
from lacunet.estimands.terms import Factor, Term
from lacunet.missingness.recover.propensity import Set, find_sample, known_propensities
from lacunet.missingness.recover.queries import Names, Query
from lacunet.missingness.separation.mixed import (
    MixedGraph,
    directed,
    projected,
    subsets,
    topological,
)
from lacunet.model.nodes import SELECTION, Mechanism, Node

NO_MECHANISMS: Set = frozenset()
FREE_LIMIT = 10  # mechanisms left free: 2^10 tables
SCOPE_LIMIT = 10
NEAREST = 5  # variables outside the query that are tried as hidden


@lru_cache(maxsize=4096)
def restricted(graph: MixedGraph, mechanisms: Set, names: Names) -> MixedGraph:
    """The graph of the mechanisms, the names and their ancestors; the rest sums to one."""
    kept = graph.ancestors(mechanisms | names | graph.selection)
    return graph if len(kept) == len(graph.order) else graph.among(kept)


@lru_cache(maxsize=8192)
def fraction(graph: MixedGraph, query: Query, most: int = 1) -> list[Term]:
    """P(target | given) by fix and select, with the fewest mechanisms shown."""
    need = graph.mechanisms_of(query.names)
    allowed = graph.closure(need)
    local = restricted(graph, allowed, query.names)
    holds = partial(_selects, local, query)
    if holds(need, NO_MECHANISMS):  # no propensity need be known
        shown = tuple(m for m in local.mechanisms if m in need)
        samples = [Sample((*shown, *graph.selection))]
    else:
        samples = find_sample(local, known_propensities(local, most), need, allowed, holds, most)
    sides = graph.named(query.target), graph.named(query.given)
    return [Factor(*sides, sample) for sample in samples]


def _selects(graph: MixedGraph, query: Query, shown: Set, fixed: Set) -> bool:
    selected = shown - fixed | graph.selection
    return not selected or graph.separated(query.target, selected, query.given, fixed)


@lru_cache(maxsize=8192)
def no_self_censoring(graph: MixedGraph, query: Query, most: int = 1) -> list[Term]:
    """P(target | given) by the odds of patterns over some scope, the smallest that does."""
    for scope in _scopes(graph, query.names):
        partial_ones = graph.mechanisms_of(scope)
        local = restricted(graph, graph.closure(partial_ones), scope)
        for free in _free_sets(local, partial_ones):
            for sample in _odds_sample(local, query, scope, free, most):
                return [_odds_term(graph, query, scope, free, sample)]
    return []


def _odds_term(
    graph: MixedGraph, query: Query, scope: Names, free: Set, sample: Sample
) -> NoSelfCensoring:
    mechanisms = tuple(m for m in graph.mechanisms if m in free)
    odds = PatternOdds(graph.named(scope), mechanisms, sample)
    return NoSelfCensoring(graph.named(query.target), graph.named(query.given), odds)


def _scopes(graph: MixedGraph, names: Names) -> Iterator[Names]:
    """The query, then what its mechanisms depend on, step by step; each with one more variable."""
    grown = _grown(graph, names)
    nearby = graph.named(graph.ancestors(grown[-1]))
    more = [base | {name} for base in grown for name in nearby[:8]]
    for scope in dict.fromkeys((*grown, *more, frozenset(nearby))):
        if len(scope) <= SCOPE_LIMIT:
            yield scope


def _grown(graph: MixedGraph, names: Names) -> list[Names]:
    grown = [names]
    while True:
        near = {
            node
            for m in graph.mechanisms_of(grown[-1])
            for node in (*graph.parents[m], *graph.siblings[m])
            if isinstance(node, str)
        }
        if near <= grown[-1]:
            return grown
        grown.append(grown[-1] | near)


def too_large_term(graph: MixedGraph, query: Query) -> NoSelfCensoring | None:
    """The odds form over a scope that is too large to compute, where it holds."""
    widest = _grown(graph, query.names)[-1]
    for scope in (widest, frozenset(graph.named(graph.ancestors(widest)))):
        free = graph.mechanisms_of(scope)
        term = _odds_term(graph, query, scope, free, Sample((*graph.selection,)))
        if too_large(term.odds) and _odds_hold(
            graph, query, scope, free, NO_MECHANISMS, NO_MECHANISMS
        ):
            return term
    return None


def too_large(odds: PatternOdds) -> str:
    """Why the odds of patterns are too large to compute; empty where they are not."""
    scope, free = len(odds.scope), len(odds.free)
    if scope <= SCOPE_LIMIT and free <= FREE_LIMIT:
        return ""
    return (
        f"; too large to compute: over {scope} variables, {free} of them partially observed, it "
        f"would need 2^{free} tables of their joint states; the limit is {SCOPE_LIMIT} variables, "
        f"{FREE_LIMIT} of them partially observed"
    )


def _free_sets(graph: MixedGraph, partial_ones: Set) -> Iterator[Set]:
    order = [m for m in graph.mechanisms if m in partial_ones]
    sizes = range(min(len(order), FREE_LIMIT), 1, -1)
    return subsets(order, (size for size in sizes if size == len(order) or len(order) <= 4))


def _odds_sample(
    graph: MixedGraph, query: Query, scope: Names, free: Set, most: int
) -> list[Sample]:
    """A weighted sample in which no free mechanism censors its own variable."""
    need = graph.mechanisms_of(scope) - free
    holds = partial(_odds_hold, graph, query, scope, free)
    if not need and holds(NO_MECHANISMS, NO_MECHANISMS):
        return [Sample((*graph.selection,))]  # no propensity need be known
    known = known_propensities(graph, most)
    return find_sample(graph, known, need, frozenset(graph.mechanisms) - free, holds, most)


def _odds_hold(
    graph: MixedGraph, query: Query, scope: Names, free: Set, shown: Set, fixed: Set
) -> bool:
    if not _selects(graph, query, shown, fixed):
        return False
    selected = shown - fixed | graph.selection
    return all(
        graph.separated([i.variable], [i], (scope - {i.variable}) | (free - {i}) | selected, fixed)
        for i in graph.mechanisms
        if i in free
    )


@lru_cache(maxsize=8192)
def in_projections(graph: MixedGraph, query: Query, most: int = 1) -> list[Term]:
    """The same where up to two variables outside the query are taken as hidden.

    And where hidden causes are replaced by edges: what holds in a graph with more models
    holds in this one.
    """
    near = graph.closure(graph.mechanisms_of(query.names))
    tight = restricted(graph, near, query.names)
    wide_near = graph.closure(near | graph.mechanisms_of(tight.variables))
    wide = restricted(graph, wide_near, query.names)
    for local in (tight,) if wide_near == near else (tight, wide):
        others = (name for name in local.variables if name not in query.names)
        outside = [name for name in others if local.children[name] & near]
        for size in (0, 1, 2):
            for hide in combinations(outside[:NEAREST], size):
                for hidden in _hidings(local, hide):
                    if terms := fraction(hidden, query, most):
                        return terms
    return []


@lru_cache(maxsize=4096)
def _hidings(graph: MixedGraph, hide: tuple[str, ...]) -> tuple[MixedGraph, ...]:
    """The projections without the variables, with and without their mechanisms.

    A projection with hidden causes is followed by the directed graphs that contain it.
    """
    kept = reduce(projected, hide, graph)
    dropped = reduce(projected, filter(graph.parents.__contains__, map(Mechanism, hide)), kept)
    graphs = [dropped] if dropped is kept else [dropped, kept]
    for projection in tuple(graphs):
        graphs += [directed(projection, order) for order in _orders(projection)]
    return tuple(graphs)


def _orders(graph: MixedGraph) -> Iterable[tuple[Node, ...]]:
    """Topological orders of a graph with hidden causes, a few, each orienting them differently."""
    joined = [m for m in graph.mechanisms if graph.siblings[m]][:4]
    orders: dict[tuple[bool, ...], tuple[Node, ...]] = {}
    for preferred in permutations(joined) if graph.hidden else ():
        priority: dict[Node, int] = {m: index for index, m in enumerate(preferred)}
        order = topological(  # variables first; among mechanisms the preferred order decides
            graph,
            lambda n: (n == SELECTION, isinstance(n, Mechanism), priority.get(n, -1)),  # noqa: B023
        )
        rank = {node: index for index, node in enumerate(order)}
        turned = tuple(rank[left] < rank[right] for left, right in graph.hidden)
        orders.setdefault(turned, order)
    return orders.values()
