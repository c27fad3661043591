r"""Estimands in which mechanisms are variables: conditioned on, summed over, or 1.

Every row tells each mechanism. So a graph in which they are ordinary variables, always observed,
has more to condition on and to sum over,

.. math::
    P(a \mid b) = \sum_{r_j} P(a \mid b, r_j) \, P(r_j \mid b).

And where setting some *idle* variables Z has no effect on A, but cuts what joins A to mechanisms,
:math:`A \perp R_S \mid B` in the graph without the edges into Z,

.. math::
    P(a \mid b) = P(a \mid b, do(z)) = P(a \mid b, R_S = 1, do(z)) \propto
    P(a, R_S = 1 \mid b, do(z)),

which is an effect on variables and mechanisms together: the rules for effects take it apart.

*Worked example of the sum.* A -> B and A -> C; B and :math:`R_B` decide on :math:`R_A`, and C and
:math:`R_B` share a hidden cause. C depends on :math:`R_B`, which decides on who shows A: the rows
that show A do not have the law of C given A. Among those of one value of :math:`R_B` they do, as
given A and :math:`R_B` nothing joins C and :math:`R_A`. A sum puts the two values together:

.. math::
    P(c \mid a) = \sum_{r_B} P(c \mid a, r_B, R_A = 1) \, P(r_B).

>>> from lacunet.missingness.graph import MissingnessGraph
>>> from lacunet.network.network import Network
>>> binary = {name: ["0", "1"] for name in "ABC"}
>>> network = Network(binary, {"B": ["A"], "C": ["A"]})
>>> text = "B, R[B] -> R[A]; C <-> R[B]; R[B]"
>>> MissingnessGraph.parse(text, network).recover("P(C | A)").estimand
'P(C | A) = sum over R[B] of P(C | A, R[B], R[A]=1) P(R[B])'

*Worked example of idle variables.* A -> B -> :math:`R_C`; A shares a hidden cause with C, and
another with :math:`R_C`. Nothing that can be given makes C independent of :math:`R_C`: A or B given
closes the way C <-> A -> B -> :math:`R_C`, but opens C <-> A <-> :math:`R_C`, in which A is a
collider. To set B has no effect on C and cuts A -> B. Then C and :math:`R_C` are apart, and the
effect of B on both is found by adjusting for A: for any b,

.. math::
    P(c) \propto P(c, R_C = 1 \mid do(b)) = \sum_a P(a) \, P(c, R_C = 1 \mid a, b).

What is given may decide on its own mechanism: where :math:`A \perp R_{B_1} \mid B`, no row tells
:math:`P(b_1 \mid a, b_2)`, but its product with the share of rows that show :math:`B_1`,

.. math::
    P(a \mid b) = P(a \mid b, R_{B_1} = 1) \propto P(a, b_1, R_{B_1} = 1 \mid b_2).

In the code, a and b are ``query.target`` and ``query.given``; :math:`R_S` is ``joined``, Z is
``idle``, and :math:`B_1` is ``moved``. `_View.query_in_place_of` is the right side, and
`_View.answer` leads back to the left one.

What is left are shares of rows. One that names a partially observed variable is known where the
variable's mechanism is 1: that is named too (it is *joined* to the target), or the share does not
depend on it. What can be wrong with such an estimand is a sum over a mechanism whose variable is
needed. So `_View.resolved` refuses these sums, and `decide` puts the rest to random models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from lacunet.missingness.formulas.pattern_shares import AtOne, PatternShare
from lacunet.missingness.formulas.samples import Mechanisms, Sample
from lacunet.missingness.formulas.terms import (
    Conditioned,
    Factor,
    Inverted,
    Kernels,
    OtherConditions,
    Product,
    SumOut,
    Term,
)
from lacunet.missingness.limits import MAX_IDLE_VARIABLES, MAX_KEPT_VARIABLES
from lacunet.missingness.recover.queries import NO_NAMES, Names, Query, has_no_effect
from lacunet.missingness.separation.mixed import MixedGraph, project_out, subsets
from lacunet.network.network import Scope
from lacunet.network.nodes import Mechanism, Node

# Of a search in one graph: one less than outside, where this is one rule.
DEPTHS_IN_ONE_GRAPH = range(4)

GraphRule = Callable[[MixedGraph, Query], list[Term]]
Accepts = Callable[[Term], bool]
Search = Callable[[Query, int], list[Term]]  # for a query, no deeper than this
Searching = Callable[[MixedGraph, GraphRule, Accepts], Search]


def by_mechanisms(graph: MixedGraph, query: Query, searching: Searching) -> Iterator[Term]:
    """Estimands of a query with mechanisms as variables, the least deep first.

    ``searching`` begins a search in a graph, of which one rule tells the shares of rows, for
    terms that are accepted.
    """
    if graph.selection or graph.monotone or not query.names & graph.partial:
        return
    for views in (_views(graph, query), _views_of_some(graph, query)):
        searches: list[tuple[_View, Search]] = []
        for view in views:
            searches.append((view, searching(view.graph, view.share, view.accepts)))
        for depth in DEPTHS_IN_ONE_GRAPH:
            for view, search in searches:
                for term in search(view.query_in_place_of(query), depth):
                    answer = view.answer(query, term)
                    if answer is not None:
                        yield answer


@dataclass(frozen=True)
class _View:
    """A graph whose mechanisms are variables, each under a name."""

    graph: MixedGraph
    mechanism_of: Mapping[str, Mechanism]  # by its name in the graph
    indicator_of: Mapping[str, str]  # the mechanism's name, for each partial variable that is kept
    joined: Names = NO_NAMES  # mechanisms joined to the target, that are 1 in the end
    idle: Names = NO_NAMES  # variables that are set, without effect on the target
    moved: Names = NO_NAMES  # what is given, but searched for along with the target

    def query_in_place_of(self, query: Query) -> Query:
        """What is searched for in this graph."""
        target = query.target | self.joined | self.moved
        return Query(target, query.given - self.moved, query.do | self.idle)

    def answer(self, query: Query, term: Term) -> Term | None:
        """The estimand of the query, from that of what was searched for in its place."""
        if self.joined:
            target = self.graph.named(query.target)
            given = self.graph.named(query.given | self.joined)
            term = Conditioned(target, given, term, do=term.do)
        return self.resolved(term, self.joined)

    def accepts(self, term: Term) -> bool:
        """Whether a part can be used, at the latest where all its mechanisms are 1."""
        names = frozenset((*term.conditions, *term.target))
        return self.resolved(term, names & self.mechanism_of.keys()) is not None

    def share(self, graph: MixedGraph, query: Query) -> list[Term]:
        """P(target | given) as a share of rows, if the rows that show it tell it."""
        selected = []  # mechanisms that the share does not depend on, but that must be 1
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
                factors = self._all_resolved(term.parts, pinned)
                return Product.of(*factors) if factors else None
            case Kernels():
                return self._kernels(term, pinned)
            case SumOut() | OtherConditions():
                return self._of_one(term, pinned)
            case _:
                return None

    def _all_resolved(self, parts: Sequence[Term], pinned: Names) -> list[Term]:
        """All the parts of a term, or none of them."""
        every = []
        for part in parts:
            inner = self.resolved(part, pinned)
            if inner is None:
                return []
            every.append(inner)
        return every

    def _of_one(self, term: SumOut | OtherConditions, pinned: Names) -> Term | None:
        """A term that is another one, summed or under other conditions."""
        if isinstance(term, SumOut):  # over both values of the mechanisms that are summed out
            summed = frozenset(term.term.target) - frozenset(term.target)
            pinned_inside = pinned - summed
        else:  # it holds for any value of what has no effect, so for 1
            idle = frozenset(term.term.conditions) - frozenset(term.conditions)
            pinned_inside = pinned | (idle & self.mechanism_of.keys())
        inner = self.resolved(term.term, pinned_inside)
        if inner is None:
            return None
        target, given, do = self._sides(term, pinned)
        return type(term)(target, given, inner, do=do)

    def _sides(self, term: Term, pinned: Names) -> tuple[Scope, Scope, Scope]:
        """The axes of a term's table: mechanisms have two values, those that are pinned none."""

        def nodes(names: Scope) -> Scope:
            axes: list[Any] = []  # names of variables, and mechanisms as themselves
            for name in names:
                if name not in pinned:
                    axes.append(self.mechanism_of.get(name, name))
            return tuple(axes)

        return nodes(term.target), nodes(term.given), nodes(term.do)

    def _mechanisms(self, names: Scope, pinned: Names) -> Mechanisms:
        """The mechanisms among some names that are pinned at 1."""
        return tuple(self.mechanism_of[name] for name in names if name in pinned)

    def _kernels(self, term: Kernels, pinned: Names) -> Term | None:
        factors = self._all_resolved(term.factors, pinned)
        if not factors:
            return None
        target, given, do = self._sides(term, pinned)
        return Kernels(target, given, tuple(factors), do=do)

    def _pattern_share(self, term: Factor, pinned: Names) -> Term | None:
        names = (*term.target, *term.given)
        for name in names:
            indicator = self.indicator_of.get(name)
            if indicator in names and indicator not in pinned:
                return None  # where it is 0, no row tells the variable
        target, given, _ = self._sides(term, pinned)
        shown = self._mechanisms(term.target, pinned)
        selected = (*self._mechanisms(term.given, pinned), *term.sample.selected)
        return PatternShare(target, given, shown=shown, selected=selected)

    def _divided(self, term: Conditioned | Inverted, pinned: Names) -> Term | None:
        """A term that is divided by its sum over the target, of both values of its mechanisms."""
        # The sum over the target takes both values of a mechanism in it; only then is it 1.
        pinned_after = frozenset(term.target) & pinned
        bound = frozenset(name for part in term.parts for name in part.target)
        pinned_inside = pinned - pinned_after - (bound - frozenset(term.given))
        parts = self._all_resolved(term.parts, pinned_inside)
        if not parts:
            return None
        target, given, do = self._sides(term, pinned - pinned_after)
        divided: Term = type(term)(target, given, *parts, do=do)
        if not pinned_after:
            return divided
        left, _, _ = self._sides(term, pinned)
        return AtOne(left, given, divided, self._mechanisms(term.target, pinned_after), do=do)


def _views(graph: MixedGraph, query: Query) -> Iterator[_View]:
    """The graphs to try: of more and more variables kept, in each more and more of them joined."""
    for view in _keeping(graph, query):
        own_mechanisms = frozenset(view.indicator_of[name] for name in query.names & graph.partial)
        more = [name for name in view.indicator_of.values() if name not in own_mechanisms]
        yield view
        yield from _joined(
            view, query, [own_mechanisms | some for some in subsets(more, range(len(more) + 1))]
        )


def _views_of_some(graph: MixedGraph, query: Query) -> Iterator[_View]:
    """The same graphs, with mechanisms joined that are not those of all that is asked for."""
    for view in _keeping(graph, query):
        own_mechanisms = frozenset(view.indicator_of[name] for name in query.names & graph.partial)
        every = [*view.indicator_of.values()]
        some = [
            joined
            for joined in subsets(every, range(1, len(every)))
            if not own_mechanisms <= joined
        ]
        for joined in _joined(view, query, some):
            yield joined
            its_own = [name for name in query.given if view.indicator_of.get(name) in joined.joined]
            for moved in subsets(graph.named(its_own), range(1, len(its_own) + 1)):
                yield replace(joined, moved=moved)


def _keeping(graph: MixedGraph, query: Query) -> Iterator[_View]:
    """The graphs of more and more variables, those of the query among them."""
    need = query.names & graph.partial
    closure = graph.closure(graph.mechanisms_of(need))
    nodes: list[Node] = [*query.names, *closure]
    near = graph.ancestors([*nodes, *graph.mechanisms_of(graph.ancestors(nodes))])
    others = [name for name in graph.named(near) if name in graph.partial and name not in need]
    for more in subsets(others, range(min(len(others), MAX_KEPT_VARIABLES) + 1)):
        kept = need | more
        shown = graph.mechanisms_of(kept)
        if not shown <= graph.parents.keys():
            continue  # a mechanism that an earlier projection took out of the graph
        local = graph.among(graph.ancestors([*query.names, *kept, *shown]))
        hidden = (name for name in local.named(local.partial) if name not in kept)
        view = _view(reduce(project_out, hidden, local), kept)
        if view is not None:
            yield view


def _joined(view: _View, query: Query, sets: Sequence[Names]) -> Iterator[_View]:
    """The same graph with idle variables that make the target independent of some mechanisms."""
    graph = view.graph
    used = query.names | view.mechanism_of.keys()
    outside = [name for name in graph.variables if name not in used]
    for idle in subsets(outside, range(MAX_IDLE_VARIABLES + 1)):
        done = query._replace(do=query.do | idle)
        if not all(has_no_effect(graph, done, name) for name in idle):
            continue
        for joined in sets:
            if graph.separated(query.target, joined, query.given, done.do):
                yield replace(view, joined=joined, idle=idle)


def _view(graph: MixedGraph, kept: Names) -> _View | None:
    """The graph with mechanisms as variables; None where a variable has the name of one."""
    name_of: dict[Node, str] = {node: str(node) for node in graph.order}
    if len(set(name_of.values())) < len(name_of):
        return None
    parents: dict[Node, list[Node]] = {}
    for node in graph.order:
        above = graph.sorted(graph.parents[node])
        parents[name_of[node]] = [name_of[parent] for parent in above]
    hidden = [(name_of[left], name_of[right]) for left, right in graph.hidden]
    return _View(
        graph=MixedGraph.of(parents, hidden, partial=frozenset(), meter=graph.meter),
        mechanism_of={str(mechanism): mechanism for mechanism in graph.mechanisms},
        indicator_of={name: str(Mechanism(name)) for name in kept},
    )
