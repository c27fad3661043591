r"""Estimands in which mechanisms are variables: conditioned on, summed over, or 1.

Every row tells each mechanism. So a graph in which they are ordinary variables, always observed,
has more to condition on and to sum over,

.. math::
    P(a \mid b) = \sum_{r_j} P(a \mid b, r_j) \, P(r_j \mid b).

And where setting some variables Z has no effect on A, but cuts what joins A to mechanisms,

.. math::
    P(a \mid b) = P(a \mid b, R_S = 1, do(z)) \propto P(a, R_S = 1 \mid b, do(z)),

which is an effect on variables and mechanisms together: the rules for effects take it apart.

What is left are shares of rows. One that names a partially observed variable is known where the
variable's mechanism is 1: that is named too, or the share does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from lacunet.estimands.samples import Mechanisms, Sample
from lacunet.estimands.shares import AtOne, PatternShare
from lacunet.estimands.terms import (
    Conditioned,
    Factor,
    Inverted,
    Kernels,
    OtherConditions,
    Product,
    SumOut,
    Term,
)
from lacunet.missingness.recover.queries import NOTHING, Names, Query, has_no_effect
from lacunet.missingness.separation.mixed import MixedGraph, projected, subsets
from lacunet.model.network import Scope
from lacunet.model.nodes import Mechanism, Node

LEVELS = 4
MOST_IDLE = 2  # variables without effect that are set
MOST_KEPT = 3  # partially observed variables beside those of the query that are kept

Rule = Callable[[MixedGraph, Query], list[Term]]
Accepts = Callable[[Term], bool]
Searching = Callable[[MixedGraph, Rule, Accepts], Callable[[Query, int], list[Term]]]


def by_mechanisms(graph: MixedGraph, query: Query, searching: Searching) -> Iterator[Term]:
    """Estimands of a query with mechanisms as variables, the least deep first.

    ``searching`` begins a search in a graph, of which one rule tells the shares of rows, for
    terms that are accepted.
    """
    if graph.selection or graph.monotone or not query.names & graph.partial:
        return
    searches = [
        (view, searching(view.graph, view.share, view.accepts)) for view in _views(graph, query)
    ]
    for depth in range(LEVELS):
        for view, search in searches:
            for term in search(view.asked(query), depth):
                answer = view.answer(query, term)
                if answer is not None:
                    yield answer


@dataclass(frozen=True)
class _View:
    """A graph whose mechanisms are variables, under the names of ``mechanism_of``.

    ``indicator_of`` has the names of the mechanisms of the partially observed variables that it
    keeps. Those that are ``joined`` to the target are 1 in the end, while the ``idle`` variables
    are set.
    """

    graph: MixedGraph
    mechanism_of: Mapping[str, Mechanism]
    indicator_of: Mapping[str, str]
    joined: Names = NOTHING
    idle: Names = NOTHING

    def asked(self, query: Query) -> Query:
        """What is searched for in this graph in place of a query."""
        return Query(query.target | self.joined, query.given, query.do | self.idle)

    def answer(self, query: Query, term: Term) -> Term | None:
        """The estimand of the query, from that of what was searched for in its place."""
        if self.joined:
            named = self.graph.named
            sides = named(query.target), named(query.given | self.joined)
            term = Conditioned(*sides, term, do=term.do)
        return self.resolved(term, self.joined)

    def accepts(self, term: Term) -> bool:
        """Whether a part can be used, at the latest where all its mechanisms are 1."""
        names = frozenset((*term.conditions, *term.target))
        return self.resolved(term, names & self.mechanism_of.keys()) is not None

    def share(self, graph: MixedGraph, query: Query) -> list[Term]:
        """P(target | given) as a share of rows, if the rows that show it tell it."""
        selected = []
        for name in self.graph.named(query.names & self.indicator_of.keys()):
            indicator = self.indicator_of[name]
            if indicator not in query.names:
                selected.append(indicator)
            elif indicator not in self.joined:
                return []  # it would be summed over
            elif name in query.given and indicator in query.target:
                return []  # rows in which it is 0 are needed as well
        if selected and not graph.separated(query.target, selected, query.given):
            return []
        sample = Sample(tuple(self.mechanism_of[name] for name in selected))
        return [Factor(graph.named(query.target), graph.named(query.given), sample)]

    def resolved(self, term: Term, pinned: Names) -> Term | None:
        """The term with mechanisms for their names, those that are ``pinned`` at 1.

        None where it sums over a mechanism whose variable it needs.
        """
        match term:
            case Factor():
                return self._pattern_share(term, pinned)
            case Conditioned() | Inverted():
                return self._divided(term, pinned)
            case Product():
                first, second = (self.resolved(part, pinned) for part in term.parts)
                return Product.of(first, second) if first and second else None
            case Kernels():
                return self._kernels(term, pinned)
            case SumOut():
                gone = frozenset(term.term.target) - frozenset(term.target)
                inner = self.resolved(term.term, pinned - gone)
            case OtherConditions():  # it holds for any value of what has no effect
                idle = frozenset(term.term.conditions) - frozenset(term.conditions)
                inner = self.resolved(term.term, pinned | idle & self.mechanism_of.keys())
            case _:
                return None
        target, given, do = self._sides(term, pinned)
        return inner and type(term)(target, given, inner, do=do)

    def _sides(self, term: Term, pinned: Names) -> tuple[Scope, Scope, Scope]:
        """The axes of a term's table: mechanisms have two values, those that are pinned none."""

        def nodes(names: Scope) -> Scope:
            kept = (name for name in names if name not in pinned)
            return tuple(self.mechanism_of.get(name, name) for name in kept)  # type: ignore[misc]

        return nodes(term.target), nodes(term.given), nodes(term.do)

    def _mechanisms(self, names: Scope, pinned: Names) -> Mechanisms:
        return tuple(self.mechanism_of[name] for name in names if name in pinned)

    def _kernels(self, term: Kernels, pinned: Names) -> Term | None:
        factors = [self.resolved(factor, pinned) for factor in term.factors]
        known = tuple(factor for factor in factors if factor is not None)
        target, given, do = self._sides(term, pinned)
        return Kernels(target, given, known, do=do) if len(known) == len(factors) else None

    def _pattern_share(self, term: Factor, pinned: Names) -> Term | None:
        names = (*term.target, *term.given)
        for name in names:
            indicator = self.indicator_of.get(name)
            if indicator in names and indicator not in pinned:
                return None
        target, given, _ = self._sides(term, pinned)
        shown = self._mechanisms(term.target, pinned)
        selected = (*self._mechanisms(term.given, pinned), *term.sample.selected)
        return PatternShare(target, given, shown=shown, selected=selected)

    def _divided(self, term: Conditioned | Inverted, pinned: Names) -> Term | None:
        """A term that is divided by its sum over the target, of both values of its mechanisms."""
        late = frozenset(term.target) & pinned
        bound = frozenset(name for part in term.parts for name in part.target)
        inside = pinned - late - (bound - frozenset(term.given))
        parts = [self.resolved(part, inside) for part in term.parts]
        if any(part is None for part in parts):
            return None
        target, given, do = self._sides(term, pinned - late)
        divided: Term = type(term)(target, given, *parts, do=do)  # type: ignore[arg-type]
        if not late:
            return divided
        left, _, _ = self._sides(term, pinned)
        return AtOne(left, given, divided, self._mechanisms(term.target, late), do=do)


def _views(graph: MixedGraph, query: Query) -> Iterator[_View]:
    """The graphs to try: of more and more variables kept, in each more and more of them joined."""
    need = query.names & graph.partial
    closure = graph.closure(graph.mechanisms_of(need))
    nodes: list[Node] = [*query.names, *closure]
    near = graph.ancestors([*nodes, *graph.mechanisms_of(graph.ancestors(nodes))])
    others = [name for name in graph.named(near) if name in graph.partial and name not in need]
    for more in subsets(others, range(min(len(others), MOST_KEPT) + 1)):
        kept = need | more
        shown = graph.mechanisms_of(kept)
        if not shown <= graph.parents.keys():
            continue
        local = graph.among(graph.ancestors([*query.names, *kept, *shown]))
        hidden = (name for name in local.named(local.partial) if name not in kept)
        view = _view(reduce(projected, hidden, local), kept)
        if view is not None:
            yield view
            yield from _joined(view, query, need)


def _joined(view: _View, query: Query, need: Names) -> Iterator[_View]:
    """The same graph with idle variables that make the target independent of mechanisms."""
    graph = view.graph
    at_least = frozenset(view.indicator_of[name] for name in need)
    more = [name for name in view.indicator_of.values() if name not in at_least]
    used = query.names | view.mechanism_of.keys()
    outside = [name for name in graph.variables if name not in used]
    for idle in subsets(outside, range(MOST_IDLE + 1)):
        do = query.do | idle
        if not all(has_no_effect(graph, query._replace(do=do), name) for name in idle):
            continue
        for extra in subsets(more, range(len(more) + 1)):
            joined = at_least | extra
            if graph.separated(query.target, joined, query.given, do):
                yield replace(view, joined=joined, idle=idle)


def _view(graph: MixedGraph, kept: Names) -> _View | None:
    """The graph with mechanisms as variables; None where a variable has the name of one."""
    name_of: dict[Node, str] = {node: str(node) for node in graph.order}
    if len(set(name_of.values())) < len(name_of):
        return None
    parents: dict[Node, list[Node]] = {
        name_of[node]: [name_of[parent] for parent in graph.sorted(graph.parents[node])]
        for node in graph.order
    }
    hidden = [(name_of[left], name_of[right]) for left, right in graph.hidden]
    return _View(
        MixedGraph.of(parents, hidden, frozenset(), graph.meter),
        {str(mechanism): mechanism for mechanism in graph.mechanisms},
        {name: str(Mechanism(name)) for name in kept},
    )
