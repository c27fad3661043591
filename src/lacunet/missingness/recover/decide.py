"""The engine's answers: recoverable with an estimand, not recoverable with a reason, undecided.

"Recoverable" is said on an estimand: a formula that holds in every model of the graph. "Not
recoverable" is said only on a theorem (a variable left of the bar that is joined to its own
mechanism; K. Mohan and J. Pearl, "Graphical models for recovering probabilistic and causal queries
from missing data", 2014) or on a pair of models that agree on everything that can be observed and
differ in the query. A search that fails leaves the query undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import chain
from math import inf
from typing import NamedTuple

from lacunet.data.query_text import is_query, names_and_states, split_query
from lacunet.limits import NEVER, Deadline, OutOfTimeError
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.formulas.pattern_odds import NoSelfCensoring
from lacunet.missingness.formulas.pattern_shares import PatternShare
from lacunet.missingness.formulas.samples import parts_of_term
from lacunet.missingness.formulas.terms import (
    Factor,
    InPopulation,
    Inverted,
    OtherConditions,
    Product,
    SumOut,
    Term,
)
from lacunet.missingness.limits import (
    MAX_CHOICE_STEPS,
    MAX_ESTIMAND_STEPS,
    MAX_MECHANISM_STEPS,
    MAX_WITNESS_STATES,
)
from lacunet.missingness.recover.chain import (
    KnownLaws,
    TermSearch,
    censors_itself,
    find_term,
    find_term_by_mechanisms,
    other_terms,
    with_choices,
)
from lacunet.missingness.recover.fix_and_select import too_large_in_words, too_large_term
from lacunet.missingness.recover.monotone import find_monotone_term, holds, monotone_in_words
from lacunet.missingness.recover.queries import Query
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import Submodel, candidates
from lacunet.missingness.refute.witness import Witness, first_witness, in_submodel
from lacunet.missingness.separation.drawing import Drawing
from lacunet.missingness.separation.mixed import Meter, MixedGraph
from lacunet.missingness.verdict import (
    NOT_RECOVERABLE,
    RECOVERABLE,
    UNDECIDED,
    Verdict,
    Verdicts,
)
from lacunet.network.network import Scope
from lacunet.network.nodes import Mechanism, node_text, quoted


class SearchStage(NamedTuple):
    """The shares of the effort that a stage of the search may take."""

    searching: float  # for an estimand
    refuting: float  # for two models that look the same


# A proof that there is none often comes cheaper than a full search for one, so both are tried in
# turn: a little of each first, then the rest.
FIRST_SHARE = SearchStage(searching=0.05, refuting=0.15)
REST = SearchStage(searching=1.0, refuting=0.85)
OUT_OF_TIME = "the time limit ended the search for a formula"


def recover(
    graph: Drawing,
    target: Iterable[str],
    given: Iterable[str] = (),
    do: Iterable[str] = (),
    *,
    population: Iterable[str] | Iterable[Iterable[str]] = (),
    effort: float = 1.0,
) -> Verdict:
    """Decide whether P(target | given, do(do)) can be recovered from incomplete data.

    Parameters
    ----------
    graph
        The missingness graph.
    target, given
        The variables left and right of the bar.
    do
        The variables intervened on.
    population
        Variables whose law in the population is known from elsewhere, or several sets of them.
    effort
        How long to search for an estimand, or for two models that look the same, relative to
        the usual.

    Examples
    --------
    >>> from lacunet.network.network import Network
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph = Drawing(network, {"Y": ["Y"]})
    >>> recover(graph, ["Y"], ["X"]).status, recover(graph, ["X"], ["Y"]).estimand
    ('not recoverable', 'P(X | Y) = P(X | Y, R[Y]=1)')
    >>> recover(Drawing(network, {"X": ["X"]}), ["Y"], do=["X"]).estimand
    'P(Y | do(X)) = P(Y | X, R[X]=1)'
    """
    asked = _checked_query(graph, target, given, do)
    known = _checked_population(graph, population)
    return _verdict(graph, asked, known, _checked_effort(effort))


@lru_cache(maxsize=512)
def _verdict(graph: Drawing, asked: Asked, known: KnownLaws, effort: float) -> Verdict:
    mixed = graph.mixed.metered(Meter())  # no other query changes how far this one gets
    return _decide(
        graph=graph, mixed=mixed, asked=asked, known=known, effort=effort, refuting=effort
    )


def recover_families(graph: Drawing, effort: float = 1.0, deadline: Deadline = NEVER) -> Verdicts:
    """The verdict on the CPT of every variable, P(X | parents), with ``effort`` for each.

    The search for two models that look the same is shorter than for a single query. What the
    deadline leaves no time for is undecided.
    """
    verdicts = _families(graph, _checked_effort(effort), deadline)
    return Verdicts({verdict.target[0]: verdict for verdict in verdicts})


@lru_cache(maxsize=64)
def _families(graph: Drawing, effort: float, deadline: Deadline) -> tuple[Verdict, ...]:
    network = graph.network
    meter = Meter(deadline=deadline)
    mixed = graph.mixed.metered(meter)  # one for all: what one CPT takes helps the next
    incomplete = sum(bool(mixed.mechanisms_of(network.family(name))) for name in network.variables)
    # About one and a half times the effort for a single query, shared by the CPTs.
    refuting = effort * min(0.4, 1.5 / max(incomplete, 1))
    verdicts = []
    for name in network.variables:
        asked = Asked((name,), network.parents(name))
        try:
            deadline.check()
            verdict = _decide(
                graph=graph, mixed=mixed, asked=asked, known=(), effort=effort, refuting=refuting
            )
            if deadline != NEVER and verdict.term is None:
                verdict.generic  # noqa: B018  found, and remembered, while there is time
        except OutOfTimeError:
            verdict = Verdict(graph, asked, UNDECIDED, OUT_OF_TIME, is_cut_short=True)
        verdicts.append(verdict)
    return tuple(verdicts)


def _decide(
    graph: Drawing,
    mixed: MixedGraph,
    asked: Asked,
    known: KnownLaws,
    effort: float,
    refuting: float,
) -> Verdict:
    """Search for an estimand, then for a reason that there is none; ``mixed`` has its meter."""
    laws = tuple(graph.mixed.named(names) for names in known)
    refused = _refused_at_once(graph, asked, laws)
    if refused is not None:
        return refused

    verdict = partial(Verdict, graph, asked, population=laws)
    query = Query(frozenset(asked.target), frozenset(asked.given), frozenset(asked.do))
    submodels = candidates(graph.mixed, asked, known)  # the last stage goes on where the first ends
    for stage in (FIRST_SHARE, REST):
        mixed.meter.allow(MAX_ESTIMAND_STEPS * effort * stage.searching)
        search = TermSearch(mixed, known)
        term = _find_term(search, query, asked)
        if term is None and stage == REST and not mixed.monotone:
            mixed.meter.allow(MAX_MECHANISM_STEPS * effort)
            term = _by_mechanisms(search, query, asked)
        if term is not None:
            why = _why_recoverable(term) + monotone_in_words(mixed, term)
            find_terms = _finding_terms(graph, mixed, term, known, effort)
            return verdict(RECOVERABLE, why, term=term, find_terms=find_terms)
        effort_left = refuting * stage.refuting
        witness = first_witness(submodels, asked, effort_left, mixed.meter.deadline)
        if witness is not None:
            return verdict(NOT_RECOVERABLE, _two_models(graph.mixed, witness), witness=witness)

    # A formula may be known though its tables are too large to fill.
    if not asked.do and not mixed.monotone:
        mixed.meter.allow(inf)
        large = too_large_term(mixed, query)
        if large is not None:
            why = _why_recoverable(large) + too_large_in_words(large.odds)
            return verdict(RECOVERABLE, why, term=large, is_computable=False)
    return verdict(UNDECIDED, _tried(search))


def _find_term(search: TermSearch, query: Query, asked: Asked) -> Term | None:
    if search.graph.monotone:
        return find_monotone_term(search, query, asked)
    return find_term(search, query)


def _by_mechanisms(search: TermSearch, query: Query, asked: Asked) -> Term | None:
    """An estimand with mechanisms as variables, once it gives the query of models at random.

    What can be wrong with such an estimand is a sum over a mechanism whose variable is needed. It
    is a rational function of what can be observed, as in `monotone`.
    """
    term = find_term_by_mechanisms(search, query)
    if term is None:
        return None
    graph = search.graph
    names = term.columns | query.names
    near = graph.among(graph.ancestors([*names, *graph.mechanisms_of(names)]))
    if not holds(near, asked, search.known, term):
        return None
    return term


def _finding_terms(
    graph: Drawing, mixed: MixedGraph, term: Term, known: KnownLaws, effort: float
) -> Callable[[], tuple[Term, ...]] | None:
    """What finds the estimand and others of the same query, if it is asked; None if that is all."""
    if mixed.monotone:
        return None
    deadline = mixed.meter.deadline
    if deadline == NEVER:
        return partial(_terms, graph, term, known, effort)
    try:
        terms = _terms(graph, term, known, effort, deadline)  # now, while there is time
    except OutOfTimeError:
        terms = (term,)
    return partial(tuple, terms)


@lru_cache(maxsize=512)
def _terms(
    graph: Drawing, term: Term, known: KnownLaws, effort: float, deadline: Deadline = NEVER
) -> tuple[Term, ...]:
    """The estimand and others of the same query, with the samples that serve as well."""
    mixed = graph.mixed.metered(Meter(deadline=deadline))
    mixed.meter.allow(MAX_CHOICE_STEPS * effort)
    return with_choices(mixed, term), *other_terms(mixed, term, known)


def _refused_at_once(graph: Drawing, asked: Asked, laws: tuple[Scope, ...]) -> Verdict | None:
    """Refuse what is about a variable that no row shows, or that decides on its own mechanism.

    The two models are those in which it depends on nothing but that mechanism. Laws that are known
    of the population may tell of the latter.
    """
    for name in asked.target:
        if name in graph.latent:
            why = f"{_is_latent(name)}, so its states could change places"
            alone = MixedGraph.of({name: ()}, partial=frozenset({name}))
        elif not laws and censors_itself(graph.mixed, name):
            why = _self_censoring(graph.mixed, name)
            alone = graph.mixed.among([name, Mechanism(name)])
        else:
            continue
        states = graph.network.cardinality(name)
        if states > MAX_WITNESS_STATES:
            states = 2  # states may coincide: models of two are models of many
        witness = next(in_submodel(Submodel(alone, {name: states}), asked), None)
        return Verdict(graph, asked, NOT_RECOVERABLE, why, witness=witness, population=laws)
    for name in asked.conditions:
        if name in graph.latent:
            return Verdict(graph, asked, UNDECIDED, _is_latent(name), population=laws)
    return None


def _is_latent(name: str) -> str:
    return f"{quoted(name)} is latent: no row ever shows it"


def _checked_effort(effort: float) -> float:
    if not effort > 0:
        raise MissingnessGraphError(f"effort is {effort!r}, not a positive number.")
    return float(effort)


def _checked_query(
    graph: Drawing, target: Iterable[str], given: Iterable[str], do: Iterable[str]
) -> Asked:
    parts: list[Iterable[str]] = [target, given, do]
    if isinstance(target, str) and target not in graph.network.states_of and is_query(target):
        if given or do:
            raise MissingnessGraphError(
                f"the query {target!r} is a text, and given or do says more.",
                "say all of it in the text, or none.",
            )
        parts = [names_and_states(part, graph.network)[0] for part in split_query(target)]
    asked = Asked(*(_as_scope(part) for part in parts))
    if not asked.target:
        raise MissingnessGraphError(
            "the query has no variable left of the bar.",
            "as in graph.recover('P(Ill | do(Drug), Age)'); graph.recover() is about all CPTs.",
        )
    for name in asked.names:
        if name not in graph.network.states_of:
            raise MissingnessGraphError.unknown_variable(name, graph.network.variables)
    twice = {name for name in asked.names if asked.names.count(name) > 1}
    if twice:
        raise MissingnessGraphError(f"the query names {sorted(twice)} more than once.")
    return asked


def _as_scope(names: Iterable[str]) -> Scope:
    """Several names, or the one that a text is."""
    if isinstance(names, str):
        return (names,)
    return tuple(names)


def _checked_population(
    graph: Drawing, population: Iterable[str] | Iterable[Iterable[str]]
) -> KnownLaws:
    if isinstance(population, str):
        population = [population]
    sets: list[Iterable[str]] = []
    names_alone: list[str] = []  # they are one set together
    for entry in population:
        if isinstance(entry, str):
            names_alone.append(entry)
        else:
            sets.append(entry)
    if names_alone:
        sets.append(names_alone)
    for name in chain.from_iterable(sets):
        if name in graph.latent:
            raise MissingnessGraphError(f"population names {name!r}: {_is_latent(name)}.")
        if name not in graph.mixed.parents:
            raise MissingnessGraphError.unknown_variable(str(name), graph.network.variables)
    return tuple(frozenset(map(str, names)) for names in sets)


def _why_recoverable(term: Term) -> str:
    """What makes the query recoverable, and what each form of the estimand assumes."""
    form = _form_in_words(term)
    assumptions = list(dict.fromkeys(term.assumptions()))
    if not assumptions:
        return form
    return f"{form}; it assumes that {', and that '.join(assumptions)}"


def _form_in_words(term: Term) -> str:
    """The form of an estimand, as a reason."""
    core = term
    while isinstance(core, OtherConditions):
        core = core.term
    done = ", ".join(map(quoted, term.do))
    target = ", ".join(map(quoted, term.target))
    if not core.do:
        form = _plain_form(core)
        return f"seeing {done} is as good as doing it, and {form}" if done else form
    if isinstance(core, SumOut) and isinstance(core.term, Product):
        adjusted = core.term.second.target
        verb = "blocks" if len(adjusted) == 1 else "block"
        return (
            f"{', '.join(map(quoted, adjusted))} {verb} every back-door path from {done} to "
            f"{target}, and both factors of the adjustment are recoverable"
        )
    return (
        f"the law under do({done}) is a product of kernels of districts, and each factor is "
        "recoverable"
    )


def _plain_form(term: Term) -> str:
    """The form of an estimand without interventions."""
    if isinstance(term, InPopulation):
        return "its law in the population is known"
    if isinstance(term, NoSelfCensoring):
        return (
            "given the others, no variable of the estimand's scope has a say in whether it is "
            "shown itself, so the odds of the missingness patterns put the law together"
        )
    if isinstance(term, Inverted):
        helpers = ", ".join(map(quoted, term.helper))
        return (
            f"taking {helpers} in and dividing it out again leaves two queries that are each "
            "recoverable"
        )
    if any(isinstance(part, PatternShare) for part in parts_of_term(term)):
        return (
            "taking mechanisms as variables, which every row tells, leaves queries that are each "
            "recoverable"
        )
    if isinstance(term, Factor):
        return _sample_in_words(term)
    return "the chain rule takes it apart into queries that are each recoverable"


def _sample_in_words(term: Factor) -> str:
    """The rows that an estimand by fix and select uses."""
    if not term.sample.selected:
        return "its variables are always observed"
    rows = "were recorded"
    if term.shown:
        rows = f"show {', '.join(map(quoted, term.shown))}"
    words = f"the rows that {rows} are a fair sample of it"
    if not term.sample.weights:
        return words
    weighted = ", ".join(str(weight.mechanism) for weight in term.sample.weights)
    return (
        f"{words} once they are weighted by the inverse propensities of {weighted}, which the "
        "data tell"
    )


def _self_censoring(graph: MixedGraph, name: str) -> str:
    mechanism = Mechanism(name)
    if mechanism in graph.children[name]:
        arrow = "->"
        cause = "its own value"
    else:
        arrow = "<->"
        cause = "a hidden cause of its value"
    return (
        f"{quoted(name)} {arrow} {mechanism}: whether a row shows {quoted(name)} depends on "
        f"{cause}, and the values shown do not tell by themselves what the others are"
    )


def _two_models(graph: MixedGraph, witness: Witness) -> str:
    """What a pair of models proves, and the colluder that they live on, if the graph has one."""
    cardinality_of = witness.submodel.cardinality_of
    states = ", ".join(f"{quoted(name)}: {count}" for name, count in cardinality_of.items())
    others = ""
    if len(cardinality_of) < len(graph.variables):
        others = "; the other variables independent of them"
    words = (
        "two models of this graph agree on everything that can be observed and differ in "
        f"{witness.asked} by {witness.query_difference:.2g} "
        f"(number of states {states}{others})"
    )
    colluders = _colluders(witness.submodel.graph)
    if colluders:
        words += f"; the graph has the colluder {colluders[0]}"
    return words


def _colluders(graph: MixedGraph) -> list[str]:
    """The paths X -> R[Y] <- R[X]."""
    colluders = []
    for mechanism in graph.mechanisms:
        for other in graph.sorted(graph.mechanism_parents[mechanism]):
            if isinstance(other, Mechanism) and other.variable in graph.parents[mechanism]:
                path = f"{quoted(other.variable)} -> {node_text(mechanism)} <- {node_text(other)}"
                colluders.append(path)
    return colluders


def _tried(search: TermSearch) -> str:
    words = (
        f"no estimand was found and no proof that there is none: {search.steps} queries were tried "
        "by fix and select, the odds of patterns and latent projections, joined by the chain "
        "rule, also with mechanisms as variables, and small submodels were searched for two models "
        "that look the same"
    )
    if search.is_cut_short:
        words += "; the search was cut short (effort= or --effort raises it)"
    return words
