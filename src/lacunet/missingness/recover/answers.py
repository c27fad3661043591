"""The engine's answers: recoverable with an estimand, not recoverable with a reason, undecided.

"Not recoverable" is said only on a theorem (a variable left of the bar that is joined to its
own mechanism; Mohan and Pearl 2014) or on a pair of models that agree on everything that can
be observed and differ in the query. A search that fails leaves the query undecided.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import inf

from lacunet.estimands.patterns import NoSelfCensoring
from lacunet.estimands.terms import Factor, Inverted, Term, Widened
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.recover.chain import (
    Found,
    censors_itself,
    find_term,
    other_terms,
    with_choices,
)
from lacunet.missingness.recover.fix_and_select import FREE_LIMIT, SCOPE_LIMIT, too_large_term
from lacunet.missingness.refute.witness import Witness, find_witness
from lacunet.missingness.separation.drawing import Drawing
from lacunet.missingness.separation.mixed import Meter, MixedGraph
from lacunet.missingness.verdict import (
    NOT_RECOVERABLE,
    RECOVERABLE,
    UNDECIDED,
    Verdict,
    query_words,
)
from lacunet.model.network import Scope
from lacunet.model.nodes import Mechanism, named, quoted

QUERY_WORK = 4e6  # for one query, in steps along edges
FIRST_SHARE = 0.02  # of it, before two models that look the same are searched for
CHOICES_WORK = 4e6  # for the samples that serve as well


def recover(
    graph: Drawing, target: Iterable[str], given: Iterable[str] = (), effort: float = 1.0
) -> Verdict:
    """Decide whether P(target | given) can be recovered from incomplete data.

    Parameters
    ----------
    graph
        The missingness graph.
    target, given
        The variables left and right of the bar.
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
    """
    left, right = _checked_query(graph, target, given)
    return _one(graph, left, right, _checked_effort(effort))


@lru_cache(maxsize=512)
def _one(graph: Drawing, left: Scope, right: Scope, effort: float) -> Verdict:
    return _decide(graph, graph.mixed.metered(Meter()), (left, right), effort, effort)


def recover_families(graph: Drawing, effort: float = 1.0) -> dict[str, Verdict]:
    """The verdict on the CPT of every variable, P(X | parents), with ``effort`` for each.

    The search for two models that look the same is shorter than for a single query.
    """
    verdicts = _families(graph, _checked_effort(effort))
    return {verdict.target[0]: verdict for verdict in verdicts}


@lru_cache(maxsize=64)
def _families(graph: Drawing, effort: float) -> tuple[Verdict, ...]:
    families = {name: graph.network.parents(name) for name in graph.network.variables}
    partial = sum(bool(graph.mixed.mechanisms_of((x, *u))) for x, u in families.items())
    mixed = graph.mixed.metered(Meter())
    refuting = effort * min(0.4, 1.5 / max(partial, 1))
    return tuple(
        _decide(graph, mixed, ((name,), parents), effort, refuting)
        for name, parents in families.items()
    )


def _decide(
    graph: Drawing,
    mixed: MixedGraph,
    query: tuple[Scope, Scope],
    effort: float,
    refuting: float,
) -> Verdict:
    """Search for an estimand, then for a reason that there is none; ``mixed`` has its meter."""
    left, right = query
    latent = [name for name in graph.latent if name in (*left, *right)]
    if latent:
        return Verdict(graph, left, right, *_of_latent(latent[0], left))
    for name in left:
        if censors_itself(graph.mixed, name):
            return Verdict(graph, left, right, NOT_RECOVERABLE, _self_censoring(graph.mixed, name))
    names = frozenset(left), frozenset(right)
    for share in (FIRST_SHARE, 1.0):  # a proof that there is none often comes cheaper
        mixed.meter.allow(QUERY_WORK * effort * share)
        found = find_term(mixed, *names)
        if (term := found.term) is not None:
            mixed.meter.allow(CHOICES_WORK * effort)
            why = _why_recoverable(term)
            chosen, others = with_choices(mixed, term), other_terms(mixed, term)
            return Verdict(graph, left, right, RECOVERABLE, why, chosen, others=others)
        witness = find_witness(mixed, left, right, refuting) if share < 1 else None
        if witness is not None:
            why = _two_models(graph.mixed, witness)
            return Verdict(graph, left, right, NOT_RECOVERABLE, why, witness=witness)
        if not found.is_cut_short:
            break
    mixed.meter.allow(inf)
    large = too_large_term(mixed, *names)
    if large is not None:
        why = f"{_why_recoverable(large)}; {_size_words(large)}"
        return Verdict(graph, left, right, RECOVERABLE, why, large, is_computable=False)
    return Verdict(graph, left, right, UNDECIDED, _tried(found))


def _of_latent(name: str, left: Scope) -> tuple[str, str]:
    if name in left:
        return NOT_RECOVERABLE, (
            f"{quoted(name)} is latent: no row ever shows it, so its states could change places"
        )
    return UNDECIDED, f"{quoted(name)} is latent: no row ever shows it"


def _checked_effort(effort: float) -> float:
    if not effort > 0:
        raise MissingnessGraphError(f"effort is {effort!r}, not a positive number.")
    return float(effort)


def _checked_query(
    graph: Drawing, target: Iterable[str], given: Iterable[str]
) -> tuple[Scope, Scope]:
    left = (target,) if isinstance(target, str) else tuple(target)
    right = (given,) if isinstance(given, str) else tuple(given)
    if not left:
        raise MissingnessGraphError("the query has no variable left of the bar.")
    for name in (*left, *right):
        if name not in graph.network.states_of:
            raise MissingnessGraphError.unknown_variable(name, graph.network.variables)
    twice = {name for name in (*left, *right) if (*left, *right).count(name) > 1}
    if twice:
        raise MissingnessGraphError(f"the query names {sorted(twice)} more than once.")
    return left, right


def _why_recoverable(term: Term) -> str:
    """What makes the query recoverable, and what each form of the estimand assumes."""
    assumed = list(dict.fromkeys(term.assumptions()))
    return (
        f"{_form(term)}; it assumes that {', and that '.join(assumed)}" if assumed else _form(term)
    )


def _form(term: Term) -> str:
    while isinstance(term, Widened):
        term = term.term
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
    if not isinstance(term, Factor):
        return "the chain rule takes it apart into queries that are each recoverable"
    if not term.sample.selected:
        return "its variables are always observed"
    shown = ", ".join(map(quoted, term.shown))
    if not term.sample.weights:
        return f"the rows that show {shown} are a fair sample of it"
    weighted = ", ".join(str(weight.mechanism) for weight in term.sample.weights)
    return (
        f"the rows that show {shown} are a fair sample of it once they are weighted by the "
        f"inverse propensities of {weighted}, which are known"
    )


def _self_censoring(graph: MixedGraph, name: str) -> str:
    own = Mechanism(name)
    arrow = "->" if own in graph.children[name] else "<->"
    return (
        f"{quoted(name)} {arrow} {own}: whether a row shows {quoted(name)} depends on "
        f"{'its own value' if arrow == '->' else 'a hidden cause of its value'}, so the values "
        "not shown could be anything"
    )


def _two_models(graph: MixedGraph, witness: Witness) -> str:
    states = ", ".join(f"{quoted(n)}: {k}" for n, k in witness.submodel.cardinality_of.items())
    is_all = len(witness.submodel.cardinality_of) == len(graph.variables)
    others = "" if is_all else "; the other variables independent of them"
    words = (
        "two models of this graph agree on everything that can be observed and differ in "
        f"{query_words(witness.target, witness.given)} by {witness.query_difference:.2g} "
        f"(number of states {states}{others})"
    )
    colluders = [
        f"{quoted(k.variable)} -> {named(m)} <- {named(k)}"
        for m in witness.submodel.graph.mechanisms
        for k in graph.sorted(witness.submodel.graph.mechanism_parents(m))
        if isinstance(k, Mechanism) and k.variable in witness.submodel.graph.parents[m]
    ]
    return words + (f"; the graph has the colluder {colluders[0]}" if colluders else "")


def _size_words(term: NoSelfCensoring) -> str:
    scope, free = len(term.odds.scope), len(term.odds.free)
    return (
        f"too large to compute: over {scope} variables, {free} of them partially observed, it "
        f"would need 2^{free} tables of their joint states; the limit is {SCOPE_LIMIT} variables, "
        f"{FREE_LIMIT} of them partially observed"
    )


def _tried(found: Found) -> str:
    cut = "; the search was cut short (effort= or --effort raises it)" if found.is_cut_short else ""
    return (
        f"no estimand was found and no proof that there is none: {found.steps} queries were tried "
        "by fix and select, the odds of patterns and latent projections, joined by the chain "
        f"rule, and small submodels were searched for two models that look the same{cut}"
    )
