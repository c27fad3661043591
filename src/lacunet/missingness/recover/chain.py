r"""The chain rule: queries that take several formulas.

.. math::
    P(A_1, A_2 \mid B) = P(A_1 \mid A_2, B) \, P(A_2 \mid B), \quad
    P(A \mid B) = \sum_z P(A \mid z, B) P(z \mid B), \quad
    P(A \mid B_1, B_2) \propto P(A, B_1 \mid B_2), \quad
    P(A \mid B) \propto \frac{P(A \mid B, z)}{P(z \mid A, B)}

and a condition that A does not depend on is dropped. The search deepens step by step and
remembers what it solved; its work is bounded, so that failing means "not found".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import combinations

from lacunet.estimands.patterns import NoSelfCensoring
from lacunet.estimands.terms import Conditioned, Factor, Inverted, Product, SumOut, Term, Widened
from lacunet.missingness.recover.fix_and_select import (
    Names,
    fraction,
    in_projections,
    no_self_censoring,
)
from lacunet.missingness.separation.mixed import MixedGraph, OutOfWork
from lacunet.model.nodes import Mechanism, Node

Rule = Callable[..., Term | None]
RULES: tuple[Rule, ...] = (fraction, no_self_censoring, in_projections)
LEVELS = 5  # fix and select; the chain rule over it; every rule, three deep
EVERY_RULE = 2  # from this level on
STEPS = 1500  # queries looked at for one verdict
SAMPLES = 5  # samples that serve as well, for the data to choose from
TERMS = 8  # estimands of other forms, likewise


@dataclass
class Search:
    """What one search has solved and how far it has failed; local to `find_term`."""

    graph: MixedGraph
    solved: dict[tuple[Names, Names], Term] = field(default_factory=dict)
    failed: dict[tuple[Names, Names], int] = field(default_factory=dict)
    steps: int = 0


@dataclass(frozen=True)
class Found:
    """An estimand, if the rules give one; the queries looked at; whether work ran out."""

    term: Term | None
    steps: int
    is_cut_short: bool = False


def find_term(graph: MixedGraph, target: Names, given: Names) -> Found:
    """Look for an estimand of P(target | given) as far as the graph's meter allows."""
    search = Search(graph)
    try:
        for depth in range(LEVELS):
            term = _solve(search, target, given, depth)
            if term is not None:
                return Found(term, search.steps)
    except OutOfWork:
        return Found(None, search.steps, True)
    return Found(None, search.steps)


def other_terms(graph: MixedGraph, term: Term) -> tuple[Term, ...]:
    """Other estimands of the same query, for the data to choose from.

    None where the first uses every row that shows the query, each with its own weight.
    """
    if isinstance(term, Factor) and not term.sample.weights:
        return ()
    target, given = frozenset(term.target), frozenset(term.given)
    others: list[Term] = []
    try:
        for other in _attempts(Search(graph), target, given, 1):
            if other != term and other not in others:
                others.append(other)
            if len(others) == TERMS:
                break
    except OutOfWork:
        pass
    return tuple(with_choices(graph, other) for other in others)


def with_choices(graph: MixedGraph, term: Term) -> Term:
    """The same estimand with the samples that serve as well, for the data to choose from."""
    try:
        if isinstance(term, Factor | NoSelfCensoring):
            rules = RULES[1:2] if isinstance(term, NoSelfCensoring) else (RULES[0], RULES[2])
            names = frozenset(term.target), frozenset(term.given)
            wider = (rule(graph, *names, SAMPLES) for rule in rules)
            return next((found for found in wider if found is not None), term)
    except OutOfWork:
        return term
    parts = {
        own.name: with_choices(graph, getattr(term, own.name))
        for own in fields(term)
        if isinstance(getattr(term, own.name), Term)
    }
    return replace(term, **parts)  # type: ignore[arg-type]


def censors_itself(graph: MixedGraph, name: str) -> bool:
    """Whether a variable is joined to its own mechanism."""
    own = Mechanism(name)
    return own in graph.children[name] or own in graph.siblings[name]


def _solve(search: Search, target: Names, given: Names, depth: int) -> Term | None:
    key = target, given
    search.graph.meter.charge(1)
    if key in search.solved:
        return search.solved[key]
    if search.failed.get(key, -1) >= depth:
        return None
    if any(censors_itself(search.graph, name) for name in target):
        return None
    search.failed[key] = depth
    search.steps += 1
    if search.steps > STEPS:
        raise OutOfWork
    for term in _attempts(search, target, given, depth):
        search.solved[key] = term
        return term
    return None


def _attempts(search: Search, target: Names, given: Names, depth: int) -> Iterator[Term]:
    rules: tuple[Rule, ...] = RULES if depth >= EVERY_RULE else RULES[:1]
    for rule in rules:
        term = rule(search.graph, target, given)
        if term is not None:
            yield term
    yield from _dropped(search, target, given, depth)
    if depth:
        below = depth - 1 if depth > EVERY_RULE else 0
        yield from _split(search, target, given, below)
        yield from _conditioned(search, target, given, below)
        yield from _summed(search, target, given, below)
        if depth >= EVERY_RULE:
            yield from _inverted(search, target, given, below)


def _dropped(search: Search, target: Names, given: Names, depth: int) -> Iterator[Term]:
    for name in search.graph.named(given):
        rest = given - {name}
        if search.graph.separated(target, [name], rest):
            term = _solve(search, target, rest, depth)
            if term is not None:
                yield Widened(search.graph.named(target), search.graph.named(given), term)


def _split(search: Search, target: Names, given: Names, depth: int) -> Iterator[Term]:
    names = search.graph.named(target)
    for size in range(1, len(names)):
        for chosen in combinations(names, size):
            first = frozenset(chosen)
            yield from _multiplied(search, first, target - first, given, depth)


def _multiplied(
    search: Search, first: Names, second: Names, given: Names, depth: int
) -> Iterator[Term]:
    for parts in _both(search, (first, second | given), (second, given), depth):
        yield Product.of(*parts)


def _both(
    search: Search, one: tuple[Names, Names], two: tuple[Names, Names], depth: int
) -> Iterator[tuple[Term, Term]]:
    """The estimands of two queries, if there are both; the second is asked only then."""
    first = _solve(search, *one, depth)
    second = None if first is None else _solve(search, *two, depth)
    if first is not None and second is not None:
        yield first, second


def _conditioned(search: Search, target: Names, given: Names, depth: int) -> Iterator[Term]:
    names = search.graph.named(given)
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            moved = frozenset(chosen)
            term = _solve(search, target | moved, given - moved, depth)
            if term is not None:
                yield Conditioned(search.graph.named(target), names, term)


def _summed(search: Search, target: Names, given: Names, depth: int) -> Iterator[Term]:
    helpers = _helpers(search.graph, target | given)
    for size in (1, 2):
        for chosen in combinations(helpers, size):
            more = frozenset(chosen)
            for term in _multiplied(search, target, more, given, depth):
                yield SumOut(search.graph.named(target), term.given, term)
            for term in _split(search, target | more, given, depth):
                yield SumOut(search.graph.named(target), term.given, term)


def _inverted(search: Search, target: Names, given: Names, depth: int) -> Iterator[Term]:
    for helper in _helpers(search.graph, target | given):
        more = frozenset({helper})
        for parts in _both(search, (target, given | more), (more, target | given), depth):
            yield Inverted(search.graph.named(target), search.graph.named(given), *parts)


def _helpers(graph: MixedGraph, query: Names) -> tuple[str, ...]:
    """The variables worth summing over: near the query's mechanisms and near the query."""
    nodes: list[Node] = [*graph.closure(graph.mechanisms_of(query)), *query]
    return graph.named(graph.near(nodes) - query)[:6]
