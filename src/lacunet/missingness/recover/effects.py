r"""Effects :math:`P(A \mid B, do(C))` taken apart into queries without interventions.

**Adjustment** comes first, since it is what people read. If Z blocks every back-door path from C to
A, that is, if given B and Z seeing C is as good as doing it, and if doing C has no effect on Z
given B, then

.. math:: P(a \mid b, do(c)) = \sum_z P(a \mid b, c, z) \, P(z \mid b).

Why: the left side is :math:`\sum_z P(a \mid b, z, do(c)) \, P(z \mid b, do(c))`, and the two
conditions rewrite one factor each.

**Districts** are general. The variables that bidirected edges join form a district D, and its
*kernel* is :math:`Q[D] = P(d \mid do(pa(D)))`. The law of the ancestors of A once C is fixed is
the product of the kernels of their districts. Each kernel is computed from that of the whole
graph's district T around it, by steps inward:

.. math::
    Q[T] &= \prod_{v \in T} P(v \mid v_{<}), \\
    Q[A'] &= \sum_{T \setminus A'} Q[T] && \text{if } A' \text{ is ancestral in } T, \\
    Q[T'] &= \prod_{v \in T'} \frac{Q[A'_{\le v}]}{Q[A'_{< v}]}
    && \text{if } T' \text{ is a district of } A'.

This finds every effect that complete data give; where no step leads further inward, the graph has
a *hedge*, and two models that agree on complete data differ in the effect. J. Tian and J. Pearl, "A
general identification condition for causal effects", 2002; I. Shpitser and J. Pearl,
"Identification of joint interventional distributions in recursive semi-Markovian causal models",
2006.

Here the factors :math:`P(v \mid v_<)` are queries to incomplete data, each recovered by rules of
its own. What is sound for each factor is sound for the whole; and since fewer variables may be
easier to recover, it is tried in projections of the graph too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import chain, combinations, islice

from lacunet.missingness.formulas.terms import Conditioned, Kernels, OtherConditions, SumOut, Term
from lacunet.missingness.limits import (
    MAX_ADJUSTMENT_SETS,
    MAX_ADJUSTMENT_SIZE,
    MAX_PROJECTED,
)
from lacunet.missingness.recover.queries import (
    NO_NAMES,
    Names,
    Query,
    is_as_observed,
    simplify,
)
from lacunet.missingness.separation.mixed import (
    MixedGraph,
    districts,
    project_out,
    reachable,
    subsets,
    topological_nodes,
)
from lacunet.network.nodes import Node

SolveQuery = Callable[[Query], list[Term]]  # one estimand, or none


def adjustment_sets(graph: MixedGraph, query: Query) -> Iterator[Names]:
    """The sets that block every back-door path, small and always observed ones first."""

    def blocks(more: Names) -> bool:
        wider = query._replace(given=query.given | more)
        if not is_as_observed(graph, wider, query.do):
            return False
        if not more:
            return True
        return not simplify(graph, query._replace(target=more)).do  # P(z | b): no effect on it

    effects = reachable(frozenset[Node](query.do), graph.children.__getitem__)
    usable = graph.named(graph.ancestors(query.names) - effects - query.names)
    every = frozenset(usable)
    if not blocks(every):
        return  # where any set of ancestors separates, this one does
    observed_first = sorted(usable, key=lambda name: name in graph.partial)
    sets = subsets(observed_first, range(min(len(usable), MAX_ADJUSTMENT_SIZE + 1)))
    yield from islice(chain(filter(blocks, sets), [every]), MAX_ADJUSTMENT_SETS)


@lru_cache(maxsize=8192)
def is_identified(graph: MixedGraph, query: Query) -> bool:
    """Whether complete data would give the query; if not, incomplete data cannot."""
    local = _above(graph, query)
    given, do = _as_done(graph, query)
    inside = frozenset(local.named(local.ancestors(query.target | given, do)))
    every = frozenset(local.variables)
    for district in _district_names(local, inside):
        around = _around(local, district, every)
        if _steps_inside(local, district, around) is None:  # a hedge
            return False
    return True


def by_districts(graph: MixedGraph, query: Query, solve: SolveQuery) -> Iterator[Term]:
    """The estimands that districts give, in the graph of the query's ancestors and projections."""
    for local in _projections(graph, query):
        yield from _Districts(graph, local, solve).estimands(query)


def _above(graph: MixedGraph, query: Query) -> MixedGraph:
    """The graph of the query's variables and their ancestors."""
    return graph.among(graph.named(graph.ancestors(query.names)))


@lru_cache(maxsize=8192)
def _as_done(graph: MixedGraph, query: Query) -> tuple[Names, Names]:
    """What stays given, and what is done once seeing is replaced by doing wherever it may be.

    What is done cuts the graph, so fewer districts are left to recover.
    """
    target, given, do = query
    for name in graph.named(given):
        if is_as_observed(graph, Query(target, given, do), frozenset({name})):
            given = given - {name}
            do = do | {name}
    return given, do


def _district_names(graph: MixedGraph, names: Names) -> list[Names]:
    """The districts of some variables."""
    return [frozenset(graph.named(district)) for district in districts(graph, names)]


def _around(graph: MixedGraph, district: Names, within: Names) -> Names:
    """The district of some variables that holds a smaller one."""
    return next(part for part in _district_names(graph, within) if district <= part)


def _projections(graph: MixedGraph, query: Query) -> Iterator[MixedGraph]:
    """The graph of the query's ancestors, then those in which one or two more are hidden."""
    whole = _above(graph, query)
    yield whole
    outside = [name for name in whole.variables if name not in query.names]
    partial_first = sorted(outside, key=lambda name: name not in graph.partial)
    for size in (1, 2):
        for hidden in combinations(partial_first[:MAX_PROJECTED], size):
            yield reduce(project_out, hidden, whole)


@dataclass(frozen=True)
class _Districts:
    """One attempt to put an effect together from the kernels of districts."""

    graph: MixedGraph  # with all variables and the mechanisms: what queries are put to
    local: MixedGraph  # of the variables used: what districts are read off
    solve: SolveQuery

    def estimands(self, query: Query) -> Iterator[Term]:
        """Kernels of the districts above the target, multiplied; what is given divided out."""
        local = self.local
        given, do = _as_done(self.graph, query)
        inside = frozenset(local.named(local.ancestors(query.target | given, do)))
        kernels = map(self.kernel, _district_names(local, inside))
        for joint in self.product(inside, kernels):
            term = self.conditional(joint, query.target, given)
            yield with_conditions(self.graph, term, query.given, query.do)

    def kernel(self, district: Names) -> list[Term]:
        """Q[D], from queries that simplify to plain ones, or else from the district around it."""
        do = frozenset(self.local.variable_parents(district)) - district
        terms = self.by_chain(district, do) or self.from_around(district)
        return [with_conditions(self.graph, term, NO_NAMES, do) for term in terms]

    def by_chain(self, district: Names, do: Names) -> list[Term]:
        """The factors P(v | earlier members of D, do(pa(D))), if all are plain conditionals."""
        order = [name for name in self.order if name in district]
        queries = [
            Query(frozenset({name}), frozenset(order[:index]), do)
            for index, name in enumerate(order)
        ]
        if any(simplify(self.graph, query).do for query in queries):
            return []
        return self.product(district, map(self.solve, queries))

    def from_around(self, district: Names) -> list[Term]:
        """Q[D] from the kernel of the district of the whole graph that D is part of."""
        local, order = self.local, self.order
        around = _around(local, district, frozenset(order))
        steps = _steps_inside(local, district, around)
        if steps is None:
            return []
        queries = []
        for index, name in enumerate(order):
            if name not in around:
                continue
            # Of all that is earlier, v depends on its district there and the parents of that.
            near = _around(local, frozenset({name}), frozenset(order[: index + 1]))
            blanket = near.union(local.variable_parents(near)) - {name}
            queries.append(Query(frozenset({name}), blanket))
        terms = self.product(around, map(self.solve, queries))
        for above, inner in steps:
            terms = [self.of_part(self.summed(term, above), inner) for term in terms]
        return [self.summed(term, district) for term in terms]

    def of_part(self, whole: Term, around: Names) -> Term:
        r"""Q[T'] from Q[A'], T' a district of the ancestral part A'.

        Each ratio :math:`Q[A'_{\le v}] / Q[A'_{< v}]` is the conditional of v in :math:`Q[A']`.
        """
        within = [name for name in self.order if name in whole.target]
        factors = []
        for index, name in enumerate(within):
            if name in around:
                earlier = frozenset(within[:index])
                factors.append(self.conditional(whole, frozenset({name}), earlier))
        return self.multiplied(around, factors)

    @cached_property
    def order(self) -> list[str]:
        """The variables used, parents first."""
        return [name for name in topological_nodes(self.local) if isinstance(name, str)]

    def product(self, target: Names, kernels: Iterable[list[Term]]) -> list[Term]:
        """The product of some kernels, if there are all; the rest is not tried after a failure."""
        factors: list[Term] = []
        for kernel in kernels:
            if not kernel:
                return []
            factors += kernel
        return [self.multiplied(target, factors)]

    def multiplied(self, target: Names, factors: list[Term]) -> Term:
        """The product of some kernels; what is no target of theirs counts as done."""
        if len(factors) == 1 and not factors[0].given:
            return factors[0]
        done = frozenset(name for factor in factors for name in factor.conditions) - target
        return Kernels(self.graph.named(target), (), tuple(factors), do=self.graph.named(done))

    def summed(self, term: Term, target: Names) -> Term:
        """The sum over the rest of the target."""
        if target == frozenset(term.target):
            return term
        return SumOut(self.graph.named(target), term.given, term, do=term.do)

    def conditional(self, term: Term, target: Names, given: Names) -> Term:
        """P(target | given) from a term that has no conditions but interventions."""
        joint = self.summed(term, target | given)
        named = self.graph.named
        if not given:
            return joint
        return Conditioned(named(target), named(given), joint, do=joint.do)


def with_conditions(graph: MixedGraph, term: Term, given: Names, do: Names) -> Term:
    """The same under the conditions asked for: idle ones added, those without effect gone."""
    if frozenset(term.given) == given and frozenset(term.do) == do:
        return term
    return OtherConditions(term.target, graph.named(given), term, do=graph.named(do))


def _steps_inside(
    graph: MixedGraph, district: Names, around: Names
) -> list[tuple[Names, Names]] | None:
    """The steps from T to D: an ancestral part A' and a district T' of it, each; None: a hedge.

    The ancestors of D within T are the smallest ancestral part that can be summed down to. It ends
    at D itself, or at a district that is its own ancestral part: the hedge.
    """
    every = frozenset(graph.variables)
    steps: list[tuple[Names, Names]] = []
    while True:
        above = frozenset(graph.named(graph.ancestors(district, every - around)))
        if above == district:
            return steps
        if above == around:
            return None
        around = _around(graph, district, above)
        steps.append((above, around))
