r"""The chain rule: queries that take several formulas.

Each rule gives a query from others, whatever is known of these. All hold under an intervention
do(C) as well.

- Split (`_split`): :math:`P(a_1, a_2 \mid b) = P(a_1 \mid a_2, b) \, P(a_2 \mid b)`.
- Sum out (`_summed_out`): :math:`P(a \mid b) = \sum_z P(a \mid z, b) \, P(z \mid b)`, or the sum of
  a split of :math:`P(a, z \mid b)`. Given z, a may not depend on a mechanism any more.
- Condition (`_conditioned`): :math:`P(a \mid b_1, b_2) \propto P(a, b_1 \mid b_2)`. What is given
  may be joined to its mechanism only through the target.
- Drop (`_dropped`): :math:`P(a \mid b_1, b_2) = P(a \mid b_2)` if :math:`A \perp B_1 \mid B_2`. A
  variable that is not asked for need not be shown.
- Invert (`_inverted`): :math:`P(a \mid b) \propto P(a \mid b, z) / P(z \mid a, b)` for any one z,
  since both sides of :math:`P(a \mid b, z) \, P(z \mid b) = P(z \mid a, b) \, P(a \mid b)` are
  :math:`P(a, z \mid b)`.

*Worked example.* A and B share a hidden cause; A decides on :math:`R_B`, and the two mechanisms
share a cause too. Of the rows that show B, those with some states of A are too many, and no one
set of rows has the law of B: fix and select, the rules for one set of rows, find nothing for
:math:`P(b)`. Summing out A leaves two queries, each of which they solve:

.. math::
    P(b) = \sum_a P(b \mid a) \, P(a), \qquad
    P(b \mid a) = P(b \mid a, R_A = 1, R_B = 1), \quad P(a) = P(a \mid R_A = 1)

Given A, B does not depend on the mechanisms; and A alone does not depend on its own.

>>> from lacunet.missingness.graph import MissingnessGraph
>>> from lacunet.network.network import Network
>>> network = Network({"A": ["0", "1"], "B": ["0", "1"]})
>>> text = "A <-> B; A -> R[B]; R[A] <-> R[B]"
>>> MissingnessGraph.parse(text, network).recover("P(B)").estimand
'P(B) = sum over A of P(B | A, R[A]=1, R[B]=1) P(A | R[A]=1)'

In the code, ``query.target`` is a, ``query.given`` is b, and ``query.do`` is c. Each rule is one
function: it poses the queries on the right of its formula to `_solve` and puts their estimands
together into a `Term` of the shape of the formula.

A query with an intervention is first written with as few of them as possible (`queries`); then
`effects` takes it apart into queries without. The search deepens step by step, so that short
estimands come first, and remembers what it solved. Its work is bounded: failing means "not found".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from lacunet.missingness.formulas.pattern_odds import NoSelfCensoring
from lacunet.missingness.formulas.samples import rebuild_term
from lacunet.missingness.formulas.terms import (
    Conditioned,
    Factor,
    InPopulation,
    Inverted,
    Product,
    SumOut,
    Term,
)
from lacunet.missingness.limits import (
    MAX_EQUIVALENT_SAMPLES,
    MAX_HELPERS,
    MAX_OTHER_ESTIMANDS,
    MAX_QUERIES,
)
from lacunet.missingness.recover.by_mechanisms import by_mechanisms
from lacunet.missingness.recover.effects import (
    adjustment_sets,
    by_districts,
    is_identified,
    with_conditions,
)
from lacunet.missingness.recover.fix_and_select import (
    fraction,
    in_projections,
    no_self_censoring,
)
from lacunet.missingness.recover.queries import Names, Query, needs_no_observation, simplify
from lacunet.missingness.separation.mixed import MixedGraph, OutOfWork, subsets
from lacunet.network.nodes import Mechanism, Node

QueryRule = Callable[..., list[Term]]  # of a graph and a query: one estimand, or none
KnownLaws = tuple[Names, ...]  # sets of variables whose law in the population is known
# The cheap one first.
DIRECT_RULES: tuple[QueryRule, ...] = (fraction, no_self_censoring, in_projections)

# How deep a search goes, one depth after the other:
#   0  fix and select alone;
#   1  one step of the chain rule, its parts by 0;
#   2  every rule for the whole, or one step, its parts by 0;
#   3  every rule or one step, its parts by 2;
#   4  every rule or one step, its parts by 3.
DEPTHS = range(5)
EVERY_RULE = 2  # from this depth on


def _any_term(term: Term) -> bool:  # noqa: ARG001
    return True


@dataclass
class TermSearch:
    """What one search may use, what it has solved and how far it has failed."""

    graph: MixedGraph
    known: KnownLaws  # laws of the population that are known from elsewhere
    rules: tuple[QueryRule, ...] = DIRECT_RULES  # that give whole estimands
    accepts: Callable[[Term], bool] = _any_term  # whether a part can be used
    splits_freely: bool = False  # taking a target apart does not go deeper
    takes_mechanisms: bool = False  # as variables, where the rules fail
    solved: dict[Query, Term] = field(default_factory=dict)
    failed: dict[Query, int] = field(default_factory=dict)  # the depth down to which it was tried
    solved_by_mechanisms: dict[Query, Term | None] = field(default_factory=dict)
    steps: int = 0  # queries looked at
    is_cut_short: bool = False  # its work ran out


def find_term(search: TermSearch, query: Query) -> Term | None:
    """Look for an estimand of a query as far as the meter of the search's graph allows."""
    try:
        for depth in DEPTHS:
            for term in _solve(search, query, depth):
                return term
    except OutOfWork:
        search.is_cut_short = True
    return None


def find_term_by_mechanisms(search: TermSearch, query: Query) -> Term | None:
    """The same once more, with mechanisms as variables too; the search has failed without."""
    again = TermSearch(search.graph, search.known, takes_mechanisms=True, solved=search.solved)
    term = find_term(again, query)
    search.steps += again.steps
    search.is_cut_short |= again.is_cut_short
    return term


def _searching(
    graph: MixedGraph, share: QueryRule, accepts: Callable[[Term], bool]
) -> Callable[[Query, int], list[Term]]:
    """A search in a graph of which one rule tells the shares of rows."""
    search = TermSearch(graph, (), rules=(share,), accepts=accepts, splits_freely=True)
    return partial(_solve, search)


def other_terms(graph: MixedGraph, term: Term, known: KnownLaws) -> tuple[Term, ...]:
    """Other estimands of the same query, for the data to choose from.

    None where the first uses every row that shows the query, each with its own weight.
    """
    if isinstance(term, Factor) and not term.sample.weights:
        return ()
    query = Query(frozenset(term.target), frozenset(term.given), frozenset(term.do))
    simple = simplify(graph, query)
    search = TermSearch(graph, known)
    others: list[Term] = []
    with suppress(OutOfWork):  # those found until then serve
        for attempt in _attempts(search, simple, depth=1):
            other = with_conditions(graph, attempt, query.given, query.do)
            if other != term and other not in others:
                others.append(other)
            if len(others) == MAX_OTHER_ESTIMANDS:
                break
    return tuple(with_choices(graph, other) for other in others)


def with_choices(graph: MixedGraph, term: Term) -> Term:
    """The same estimand with the samples that serve as well, for the data to choose from."""

    def with_samples(part: Any) -> Any:
        if isinstance(part, Factor):
            rules: tuple[QueryRule, ...] = (fraction, in_projections)
        elif isinstance(part, NoSelfCensoring):
            rules = (no_self_censoring,)
        else:
            return part
        query = Query(frozenset(part.target), frozenset(part.given))
        with suppress(OutOfWork):
            for rule in rules:
                for other in rule(graph, query, MAX_EQUIVALENT_SAMPLES):
                    return other
        return part

    return cast("Term", rebuild_term(term, with_samples))


def censors_itself(graph: MixedGraph, name: str) -> bool:
    """Whether a variable is joined to its own mechanism."""
    mechanism = Mechanism(name)
    return mechanism in graph.children[name] or mechanism in graph.siblings[name]


def _solve(search: TermSearch, query: Query, depth: int) -> list[Term]:
    """An estimand, if there is one no deeper than ``depth``; what was tried is remembered."""
    graph = search.graph
    graph.meter.charge(1)
    if query in search.solved:
        return [search.solved[query]]
    if search.failed.get(query, -1) >= depth:
        return []
    # No estimand exists, so none is looked for: K. Mohan and J. Pearl, "Graphical models for
    # recovering probabilistic and causal queries from missing data", 2014. A law that is known
    # of the population may tell more than the rows.
    if any(censors_itself(graph, name) for name in query.target) and not search.known:
        return []
    if query.do and not is_identified(graph, query):
        return []

    search.failed[query] = depth  # before it is tried: a part may lead back to it
    simple = simplify(graph, query)
    terms: Iterable[Term]
    if simple == query:
        search.steps += 1
        if search.steps > MAX_QUERIES:
            raise OutOfWork
        terms = _attempts(search, query, depth)
    else:
        terms = _solve(search, simple, depth)
    for term in terms:
        if search.accepts(term):
            search.solved[query] = with_conditions(graph, term, query.given, query.do)
            return [search.solved[query]]
    return []


def _attempts(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    """The estimands that the rules give, one after the other."""
    if query.do:  # adjustment first: that is what people read
        for more in adjustment_sets(search.graph, query):
            yield from _standardised(search, query, more, depth)
        yield from by_districts(search.graph, query, lambda part: _solve(search, part, depth))
    else:
        yield from _in_population(search, query)
        rules = search.rules
        if depth < EVERY_RULE:
            rules = rules[:1]
        for rule in rules:
            yield from rule(search.graph, query)
    if search.takes_mechanisms:
        yield from _by_mechanisms(search, query)
    yield from _dropped(search, query, depth)  # fewer conditions: no step of the chain rule
    if depth == 0:
        return

    below = 0
    if depth > EVERY_RULE:
        below = depth - 1
    yield from _split(search, query, depth if search.splits_freely else below)
    yield from _conditioned(search, query, below)
    yield from _summed_out(search, query, below)
    if depth >= EVERY_RULE:
        yield from _inverted(search, query, below)


def _by_mechanisms(search: TermSearch, query: Query) -> Iterator[Term]:
    """Estimands with mechanisms as variables, searched for once: they do not depend on depth."""
    if query not in search.solved_by_mechanisms:
        terms = by_mechanisms(search.graph, query, _searching)
        search.solved_by_mechanisms[query] = next(terms, None)
    term = search.solved_by_mechanisms[query]
    if term is not None:
        yield with_conditions(search.graph, term, query.given, query.do)


def _in_population(search: TermSearch, query: Query) -> Iterator[Term]:
    """A query within a law that is known from elsewhere."""
    named = search.graph.named
    for names in search.known:
        if query.names <= names:
            yield InPopulation(named(query.target), named(query.given), named(names))


def _standardised(search: TermSearch, query: Query, more: Names, depth: int) -> Iterator[Term]:
    r""":math:`P(a \mid b, do(c)) = \sum_z P(a \mid z, b, do(c)) \, P(z \mid b, do(c))`."""
    for product in _multiplied(search, query, query.target, more, depth):  # z is `more`
        yield SumOut(search.graph.named(query.target), product.given, product, do=product.do)


def _dropped(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    r""":math:`P(a \mid b_1, b_2) = P(a \mid b_2)` if :math:`A \perp B_1 \mid B_2`."""
    graph = search.graph
    for name in graph.named(query.given):  # B_1
        if needs_no_observation(graph, query, name):
            fewer = query._replace(given=query.given - {name})  # P(a | b_2)
            for term in _solve(search, fewer, depth):
                yield with_conditions(graph, term, query.given, query.do)


def _split(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    """One factor of the chain rule taken out, every part of the target in turn."""
    names = search.graph.named(query.target)
    for first in subsets(names, range(1, len(names))):
        yield from _multiplied(search, query, first, query.target - first, depth)


def _multiplied(
    search: TermSearch, query: Query, first: Names, second: Names, depth: int
) -> Iterator[Term]:
    r""":math:`P(a_1, a_2 \mid b) = P(a_1 \mid a_2, b) \, P(a_2 \mid b)`."""
    conditional = query._replace(target=first, given=second | query.given)  # P(a_1 | a_2, b)
    marginal = query._replace(target=second)  # P(a_2 | b)
    for left in _solve(search, conditional, depth):
        for right in _solve(search, marginal, depth):
            yield Product.of(left, right)


def _conditioned(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    r""":math:`P(a \mid b_1, b_2) \propto P(a, b_1 \mid b_2)`."""
    names = search.graph.named(query.given)
    for moved in subsets(names, range(1, len(names) + 1)):  # b_1
        # P(a, b_1 | b_2)
        joint = query._replace(target=query.target | moved, given=query.given - moved)
        for term in _solve(search, joint, depth):
            yield Conditioned(search.graph.named(query.target), names, term, do=term.do)


def _summed_out(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    r""":math:`P(a \mid b) = \sum_z P(a, z \mid b)`, one or two variables z."""
    graph = search.graph
    for more in subsets(_helpers(graph, query.names), (1, 2)):  # z
        yield from _standardised(search, query, more, depth)  # P(a | z, b) P(z | b)
        joint = query._replace(target=query.target | more)  # any other split of P(a, z | b)
        for term in _split(search, joint, depth):
            yield SumOut(graph.named(query.target), term.given, term, do=term.do)


def _inverted(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    r""":math:`P(a \mid b) \propto P(a \mid b, z) / P(z \mid a, b)`, one variable z."""
    graph = search.graph
    target = graph.named(query.target)
    given = graph.named(query.given)
    for helper in subsets(_helpers(graph, query.names), (1,)):  # z
        forward = query._replace(given=query.given | helper)  # P(a | b, z)
        backward = query._replace(target=helper, given=query.target | query.given)  # P(z | a, b)
        for above in _solve(search, forward, depth):
            for below in _solve(search, backward, depth):
                yield Inverted(target, given, above, below, do=above.do)


def _helpers(graph: MixedGraph, names: Names) -> tuple[str, ...]:
    """The variables worth summing over: near the query's mechanisms and near the query."""
    nodes: list[Node] = [*graph.closure(graph.mechanisms_of(names)), *names]
    return graph.named(graph.near(nodes) - names)[:MAX_HELPERS]
