r"""The chain rule: queries that take several formulas.

.. math::
    P(A_1, A_2 \mid B) = P(A_1 \mid A_2, B) \, P(A_2 \mid B), \quad
    P(A \mid B) = \sum_z P(A \mid z, B) P(z \mid B), \quad
    P(A \mid B_1, B_2) \propto P(A, B_1 \mid B_2), \quad
    P(A \mid B) \propto \frac{P(A \mid B, z)}{P(z \mid A, B)}

and a condition that A does not depend on is dropped. All of it holds under an intervention
do(C) as well. A query with an intervention is first written with as few of them as possible
(`queries`); then `effects` takes it apart into queries without. The search deepens step by step
and remembers what it solved; its work is bounded, so that failing means "not found".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from lacunet.estimands.patterns import NoSelfCensoring
from lacunet.estimands.samples import rebuilt
from lacunet.estimands.terms import (
    Conditioned,
    Factor,
    InPopulation,
    Inverted,
    Product,
    SumOut,
    Term,
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
from lacunet.missingness.recover.queries import Names, Query, needs_no_observation, simplified
from lacunet.missingness.separation.mixed import MixedGraph, OutOfWork, subsets
from lacunet.model.nodes import Mechanism, Node

Rule = Callable[..., list[Term]]
Known = tuple[Names, ...]
RULES: tuple[Rule, ...] = (fraction, no_self_censoring, in_projections)
LEVELS = 5  # fix and select; the chain rule over it; every rule, three deep
EVERY_RULE = 2  # from this level on
STEPS = 1500  # queries looked at for one verdict
SAMPLES = 5  # samples that serve as well, for the data to choose from
TERMS = 8  # estimands of other forms, likewise


def _any_term(term: Term) -> bool:  # noqa: ARG001
    return True


@dataclass
class TermSearch:
    """What one search has solved and how far it has failed.

    ``known`` are sets of variables whose law in the population is known from elsewhere. ``rules``
    give whole estimands; ``accepts`` says whether a part can be used. It ``splits_freely`` if a
    target is taken apart without going deeper, and ``takes_mechanisms`` as variables where all
    else fails. ``steps`` counts the queries looked at; the search ``is_cut_short`` if its work ran
    out.
    """

    graph: MixedGraph
    known: Known
    rules: tuple[Rule, ...] = RULES
    accepts: Callable[[Term], bool] = _any_term
    splits_freely: bool = False
    takes_mechanisms: bool = False
    solved: dict[Query, Term] = field(default_factory=dict)
    failed: dict[Query, int] = field(default_factory=dict)
    by_mechanisms: dict[Query, Term | None] = field(default_factory=dict)
    steps: int = 0
    is_cut_short: bool = False


def find_term(search: TermSearch, query: Query) -> Term | None:
    """Look for an estimand of a query as far as the meter of the search's graph allows."""
    try:
        return next(
            (term for depth in range(LEVELS) for term in _solve(search, query, depth)), None
        )
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
    graph: MixedGraph, share: Rule, accepts: Callable[[Term], bool]
) -> Callable[[Query, int], list[Term]]:
    """A search in a graph of which one rule tells the shares of rows."""
    search = TermSearch(graph, (), rules=(share,), accepts=accepts, splits_freely=True)
    return partial(_solve, search)


def other_terms(graph: MixedGraph, term: Term, known: Known) -> tuple[Term, ...]:
    """Other estimands of the same query, for the data to choose from.

    None where the first uses every row that shows the query, each with its own weight.
    """
    if isinstance(term, Factor) and not term.sample.weights:
        return ()
    query = Query(frozenset(term.target), frozenset(term.given), frozenset(term.do))
    search, simple = TermSearch(graph, known), simplified(graph, query)
    others: list[Term] = []
    with suppress(OutOfWork):
        for attempt in _attempts(search, simple, 1):
            other = with_conditions(graph, attempt, query.given, query.do)
            if other != term and other not in others:
                others.append(other)
            if len(others) == TERMS:
                break
    return tuple(with_choices(graph, other) for other in others)


def with_choices(graph: MixedGraph, term: Term) -> Term:
    """The same estimand with the samples that serve as well, for the data to choose from."""

    def wider(part: Any) -> Any:
        if not isinstance(part, Factor | NoSelfCensoring):
            return part
        rules = RULES[1:2] if isinstance(part, NoSelfCensoring) else (RULES[0], RULES[2])
        query = Query(frozenset(part.target), frozenset(part.given))
        try:
            return next((other for rule in rules for other in rule(graph, query, SAMPLES)), part)
        except OutOfWork:
            return part

    return cast("Term", rebuilt(term, wider))


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
    if any(censors_itself(graph, name) for name in query.target) and not search.known:
        return []
    if query.do and not is_identified(graph, query):
        return []
    search.failed[query] = depth
    simple = simplified(graph, query)
    if simple == query:
        search.steps += 1
        if search.steps > STEPS:
            raise OutOfWork
    terms = _attempts(search, query, depth) if simple == query else _solve(search, simple, depth)
    for term in filter(search.accepts, terms):
        search.solved[query] = with_conditions(graph, term, query.given, query.do)
        return [search.solved[query]]
    return []


def _attempts(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    if query.do:  # by adjustment, then by districts
        for more in adjustment_sets(search.graph, query):
            yield from _standardised(search, query, more, depth)
        yield from by_districts(search.graph, query, lambda part: _solve(search, part, depth))
    else:
        yield from _in_population(search, query)
        for rule in search.rules if depth >= EVERY_RULE else search.rules[:1]:
            yield from rule(search.graph, query)
    if search.takes_mechanisms:
        yield from _by_mechanisms(search, query)
    yield from _dropped(search, query, depth)
    if depth:
        below = depth - 1 if depth > EVERY_RULE else 0
        yield from _split(search, query, depth if search.splits_freely else below)
        yield from _conditioned(search, query, below)
        yield from _summed(search, query, below)
        if depth >= EVERY_RULE:
            yield from _inverted(search, query, below)


def _by_mechanisms(search: TermSearch, query: Query) -> Iterator[Term]:
    """Estimands with mechanisms as variables, searched for once."""
    if query not in search.by_mechanisms:
        terms = by_mechanisms(search.graph, query, _searching)
        search.by_mechanisms[query] = next(terms, None)
    term = search.by_mechanisms[query]
    if term is not None:
        yield with_conditions(search.graph, term, query.given, query.do)


def _in_population(search: TermSearch, query: Query) -> Iterator[Term]:
    named = search.graph.named
    for names in search.known:
        if query.names <= names:
            yield InPopulation(named(query.target), named(query.given), named(names))


def _standardised(search: TermSearch, query: Query, more: Names, depth: int) -> Iterator[Term]:
    r""":math:`P(a \mid b, do(c)) = \sum_z P(a \mid b, c, z) \, P(z \mid b)`."""
    for product in _multiplied(search, query, query.target, more, depth):
        yield SumOut(search.graph.named(query.target), product.given, product, do=product.do)


def _dropped(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    graph = search.graph
    for name in graph.named(query.given):
        if needs_no_observation(graph, query, name):
            for term in _solve(search, query._replace(given=query.given - {name}), depth):
                yield with_conditions(graph, term, query.given, query.do)


def _split(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    for first in subsets(search.graph.named(query.target), range(1, len(query.target))):
        yield from _multiplied(search, query, first, query.target - first, depth)


def _multiplied(
    search: TermSearch, query: Query, first: Names, second: Names, depth: int
) -> Iterator[Term]:
    conditional = query._replace(target=first, given=second | query.given)
    for left in _solve(search, conditional, depth):
        for right in _solve(search, query._replace(target=second), depth):
            yield Product.of(left, right)


def _conditioned(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    names = search.graph.named(query.given)
    for moved in subsets(names, range(1, len(names) + 1)):
        whole = query._replace(target=query.target | moved, given=query.given - moved)
        for term in _solve(search, whole, depth):
            yield Conditioned(search.graph.named(query.target), names, term, do=term.do)


def _summed(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    graph = search.graph
    for more in subsets(_helpers(graph, query.names), (1, 2)):
        yield from _standardised(search, query, more, depth)
        for term in _split(search, query._replace(target=query.target | more), depth):
            yield SumOut(graph.named(query.target), term.given, term, do=term.do)


def _inverted(search: TermSearch, query: Query, depth: int) -> Iterator[Term]:
    graph = search.graph
    for more in subsets(_helpers(graph, query.names), (1,)):
        forward = query._replace(given=query.given | more)
        backward = query._replace(target=more, given=query.target | query.given)
        for above in _solve(search, forward, depth):
            for below in _solve(search, backward, depth):
                sides = graph.named(query.target), graph.named(query.given)
                yield Inverted(*sides, above, below, do=above.do)


def _helpers(graph: MixedGraph, query: Names) -> tuple[str, ...]:
    """The variables worth summing over: near the query's mechanisms and near the query."""
    nodes: list[Node] = [*graph.closure(graph.mechanisms_of(query)), *query]
    return graph.named(graph.near(nodes) - query)[:6]
