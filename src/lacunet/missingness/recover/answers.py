"""The engine's answers: recoverable with an estimand, not recoverable with a reason, undecided.

"Not recoverable" is said only on a theorem (a variable left of the bar that is joined to its
own mechanism; Mohan and Pearl 2014) or on a pair of models that agree on everything that can
be observed and differ in the query. A search that fails leaves the query undecided.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from math import inf

from lacunet.data.typed import is_query, names_and_states, split_query
from lacunet.estimands.patterns import NoSelfCensoring
from lacunet.estimands.samples import nested
from lacunet.estimands.shares import PatternShare
from lacunet.estimands.terms import (
    Factor,
    InPopulation,
    Inverted,
    OtherConditions,
    Product,
    SumOut,
    Term,
)
from lacunet.missingness.errors import MissingnessGraphError
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
from lacunet.missingness.recover.monotone import find_monotone_term, holds, in_words
from lacunet.missingness.recover.queries import Query
from lacunet.missingness.refute.asked import Asked
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
from lacunet.model.network import Scope
from lacunet.model.nodes import Mechanism, named, quoted

QUERY_WORK = 8e5  # for one query, in steps along edges
MECHANISM_WORK = 3e5  # of the search with mechanisms as variables, likewise
STAGES = ((0.05, 0.15), (1.0, 0.85))  # of it, then of the search for two models that look the same
MOST_STATES = 10  # of a variable that hides itself, in the models that show it
CHOICES_WORK = 4e6  # for the samples that serve as well


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
    >>> from lacunet.model.network import Network
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph = Drawing(network, {"Y": ["Y"]})
    >>> recover(graph, ["Y"], ["X"]).status, recover(graph, ["X"], ["Y"]).estimand
    ('not recoverable', 'P(X | Y) = P(X | Y, R[Y]=1)')
    >>> recover(Drawing(network, {"X": ["X"]}), ["Y"], do=["X"]).estimand
    'P(Y | do(X)) = P(Y | X, R[X]=1)'
    """
    asked = _checked_query(graph, target, given, do)
    return _verdict(graph, asked, _checked_population(graph, population), _checked_effort(effort))


@lru_cache(maxsize=512)
def _verdict(graph: Drawing, asked: Asked, known: KnownLaws, effort: float) -> Verdict:
    return _decide(graph, graph.mixed.metered(Meter()), asked, known, effort, effort)


def recover_families(graph: Drawing, effort: float = 1.0) -> Verdicts:
    """The verdict on the CPT of every variable, P(X | parents), with ``effort`` for each.

    The search for two models that look the same is shorter than for a single query.
    """
    verdicts = _families(graph, _checked_effort(effort))
    return Verdicts({verdict.target[0]: verdict for verdict in verdicts})


@lru_cache(maxsize=64)
def _families(graph: Drawing, effort: float) -> tuple[Verdict, ...]:
    families = {name: graph.network.parents(name) for name in graph.network.variables}
    partial = sum(bool(graph.mixed.mechanisms_of((x, *u))) for x, u in families.items())
    mixed = graph.mixed.metered(Meter())
    refuting = effort * min(0.4, 1.5 / max(partial, 1))
    return tuple(
        _decide(graph, mixed, Asked((name,), parents), (), effort, refuting)
        for name, parents in families.items()
    )


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
    query = Query(frozenset(asked.target), frozenset(asked.given), frozenset(asked.do))
    submodels = candidates(graph.mixed, asked, known)
    for searching, refuted in STAGES:  # a proof that there is none often comes cheaper
        mixed.meter.allow(QUERY_WORK * effort * searching)
        search = TermSearch(mixed, known)
        term = (
            find_monotone_term(search, query, asked) if mixed.monotone else find_term(search, query)
        )
        if term is None and searching == STAGES[-1][0] and not mixed.monotone:
            mixed.meter.allow(MECHANISM_WORK * effort)
            term = _by_mechanisms(search, query, asked)
        if term is not None:
            why = _why_recoverable(term) + in_words(mixed, term)
            more = None if mixed.monotone else partial(_terms, graph, term, known, effort)
            return Verdict(graph, asked, RECOVERABLE, why, term, find_terms=more, population=laws)
        witness = first_witness(submodels, asked, refuting * refuted)
        if witness is not None:
            why = _two_models(graph.mixed, witness)
            return Verdict(graph, asked, NOT_RECOVERABLE, why, witness=witness, population=laws)
    mixed.meter.allow(inf)
    large = None if asked.do or mixed.monotone else too_large_term(mixed, query)
    if large is not None:
        why = _why_recoverable(large) + too_large_in_words(large.odds)
        return Verdict(graph, asked, RECOVERABLE, why, large, is_computable=False, population=laws)
    return Verdict(graph, asked, UNDECIDED, _tried(search), population=laws)


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
    return term if holds(near, asked, search.known, term) else None


@lru_cache(maxsize=512)
def _terms(graph: Drawing, term: Term, known: KnownLaws, effort: float) -> tuple[Term, ...]:
    """The estimand and others of the same query, with the samples that serve as well."""
    mixed = graph.mixed.metered(Meter())
    mixed.meter.allow(CHOICES_WORK * effort)
    return with_choices(mixed, term), *other_terms(mixed, term, known)


def _refused_at_once(graph: Drawing, asked: Asked, laws: tuple[Scope, ...]) -> Verdict | None:
    """Refuse what is about a variable that no row shows, or that decides on its own mechanism.

    The two models are those in which it depends on nothing but that mechanism. Laws that are known
    of the population may tell of the latter.
    """
    for name in asked.target:
        if name in graph.latent:
            alone = MixedGraph.of({name: ()}, partial=frozenset({name}))
            why = f"{_is_latent(name)}, so its states could change places"
        elif not laws and censors_itself(graph.mixed, name):
            alone = graph.mixed.among([name, Mechanism(name)])
            why = _self_censoring(graph.mixed, name)
        else:
            continue
        states = graph.network.cardinality(name)
        submodel = Submodel(alone, {name: states if states <= MOST_STATES else 2})
        witness = next(in_submodel(submodel, asked), None)
        return Verdict(graph, asked, NOT_RECOVERABLE, why, witness=witness, population=laws)
    for name in (name for name in asked.conditions if name in graph.latent):
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
    parts: Iterable[Iterable[str]] = (target, given, do)
    if isinstance(target, str) and target not in graph.network.states_of and is_query(target):
        if given or do:
            raise MissingnessGraphError(
                f"the query {target!r} is a text, and given or do says more.",
                "say all of it in the text, or none.",
            )
        parts = [names_and_states(part, graph.network)[0] for part in split_query(target)]
    asked = Asked(*((part,) if isinstance(part, str) else tuple(part) for part in parts))
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


def _checked_population(
    graph: Drawing, population: Iterable[str] | Iterable[Iterable[str]]
) -> KnownLaws:
    listed = [population] if isinstance(population, str) else list(population)
    plain = [entry for entry in listed if isinstance(entry, str)]
    sets = [entry for entry in listed if not isinstance(entry, str)] + ([plain] if plain else [])
    for name in (name for names in sets for name in names):
        if name in graph.latent:
            raise MissingnessGraphError(f"population names {name!r}: {_is_latent(name)}.")
        if name not in graph.mixed.parents:
            raise MissingnessGraphError.unknown_variable(str(name), graph.network.variables)
    return tuple(frozenset(map(str, names)) for names in sets)


def _why_recoverable(term: Term) -> str:
    """What makes the query recoverable, and what each form of the estimand assumes."""
    plain = term
    while isinstance(plain, OtherConditions):
        plain = plain.term
    done, left = (", ".join(map(quoted, names)) for names in (term.do, term.target))
    form = (
        f"the law under do({done}) is a product of kernels of districts, and each factor is "
        "recoverable"
    )
    if not plain.do:
        seen = f"seeing {done} is as good as doing it, and " if done else ""
        form = f"{seen}{_plain_form(plain)}"
    elif isinstance(plain, SumOut) and isinstance(plain.term, Product):
        more = plain.term.second.target
        form = (
            f"{', '.join(map(quoted, more))} {'blocks' if len(more) == 1 else 'block'} every "
            f"back-door path from {done} to {left}, and both factors of the adjustment are "
            "recoverable"
        )
    assumed = list(dict.fromkeys(term.assumptions()))
    return f"{form}; it assumes that {', and that '.join(assumed)}" if assumed else form


def _plain_form(term: Term) -> str:
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
    if any(isinstance(part, PatternShare) for part in nested(term)):
        return (
            "taking mechanisms as variables, which every row tells, leaves queries that are each "
            "recoverable"
        )
    if not isinstance(term, Factor):
        return "the chain rule takes it apart into queries that are each recoverable"
    shown = ", ".join(map(quoted, term.shown))
    rows = f"the rows that {f'show {shown}' if shown else 'were recorded'} are a fair sample of it"
    weighted = ", ".join(str(weight.mechanism) for weight in term.sample.weights)
    if weighted:
        rows += " once they are weighted by the inverse propensities of "
        rows += f"{weighted}, which the data tell"
    return rows if term.sample.selected else "its variables are always observed"


def _self_censoring(graph: MixedGraph, name: str) -> str:
    mechanism = Mechanism(name)
    arrow = "->" if mechanism in graph.children[name] else "<->"
    return (
        f"{quoted(name)} {arrow} {mechanism}: whether a row shows {quoted(name)} depends on "
        f"{'its own value' if arrow == '->' else 'a hidden cause of its value'}, and the values "
        "shown do not tell by themselves what the others are"
    )


def _two_models(graph: MixedGraph, witness: Witness) -> str:
    states = ", ".join(f"{quoted(n)}: {k}" for n, k in witness.submodel.cardinality_of.items())
    is_all = len(witness.submodel.cardinality_of) == len(graph.variables)
    others = "" if is_all else "; the other variables independent of them"
    words = (
        "two models of this graph agree on everything that can be observed and differ in "
        f"{witness.asked} by {witness.query_difference:.2g} "
        f"(number of states {states}{others})"
    )
    colluders = [
        f"{quoted(k.variable)} -> {named(m)} <- {named(k)}"
        for m in witness.submodel.graph.mechanisms
        for k in graph.sorted(witness.submodel.graph.mechanism_parents[m])
        if isinstance(k, Mechanism) and k.variable in witness.submodel.graph.parents[m]
    ]
    return words + (f"; the graph has the colluder {colluders[0]}" if colluders else "")


def _tried(search: TermSearch) -> str:
    cut = "; the search was cut short (effort= or --effort raises it)"
    words = (
        f"no estimand was found and no proof that there is none: {search.steps} queries were tried "
        "by fix and select, the odds of patterns and latent projections, joined by the chain "
        "rule, also with mechanisms as variables, and small submodels were searched for two models "
        "that look the same"
    )
    return words + cut if search.is_cut_short else words
