"""The engine's answers: recoverable with an estimand, not recoverable with a reason, undecided.

"Not recoverable" is said only on a theorem (a variable left of the bar that is joined to its
own mechanism; Mohan and Pearl 2014) or on a pair of models that agree on everything that can
be observed and differ in the query. A search that fails leaves the query undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import inf

from lacunet.estimands.terms import (
    Fraction,
    Inverted,
    NoSelfCensoring,
    Term,
    Widened,
)
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.chain import Found, censors_itself, find_term
from lacunet.missingness.recover.fix_and_select import FREE_LIMIT, SCOPE_LIMIT, beyond_limit
from lacunet.missingness.refute.witness import Witness, find_witness
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

QUERY_WORK = 8e6  # for one query, in steps along edges
FAMILIES_WORK = 1.2e7  # for all families of a graph together
SECOND_WORK = 1.5e6  # for a family that a small share was not enough for


def recover(
    graph: MissingnessGraph, target: Iterable[str], given: Iterable[str] = (), effort: float = 1.0
) -> Verdict:
    """Decide whether P(target | given) can be recovered from incomplete data.

    Parameters
    ----------
    graph
        The missingness graph.
    target, given
        The variables left and right of the bar.
    effort
        How long to look for two models that look the same, relative to the usual.

    Examples
    --------
    >>> from lacunet.model.network import Network
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph = MissingnessGraph.parse("Y -> R[Y]", network)
    >>> recover(graph, ["Y"], ["X"]).status, recover(graph, ["X"], ["Y"]).estimand
    ('not recoverable', 'P(X | Y) = P(X | Y, R[Y]=1)')
    """
    left, right = _checked_query(graph, target, given)
    return _one(graph, left, right, effort)


@lru_cache(maxsize=512)
def _one(graph: MissingnessGraph, left: Scope, right: Scope, effort: float) -> Verdict:
    mixed = graph.mixed.metered(Meter(limit=QUERY_WORK))
    found = find_term(mixed, frozenset(left), frozenset(right))
    return _decide(graph, mixed, (left, right), found, effort)


def _decide(
    graph: MissingnessGraph,
    mixed: MixedGraph,
    query: tuple[Scope, Scope],
    found: Found,
    effort: float,
) -> Verdict:
    """The verdict when the search for an estimand is done; ``mixed`` has its meter."""
    left, right = query
    if (term := found.term) is not None:
        return Verdict(graph, left, right, RECOVERABLE, _why_recoverable(term), term)
    for name in left:
        if censors_itself(graph.mixed, name):
            why = _self_censoring(graph.mixed, name)
            return Verdict(graph, left, right, NOT_RECOVERABLE, why)
    witness = find_witness(mixed, left, right, effort)
    if witness is not None:
        why = _two_models(graph.mixed, witness)
        return Verdict(graph, left, right, NOT_RECOVERABLE, why, witness=witness)
    return Verdict(graph, left, right, UNDECIDED, _tried(found) + _limit_words(mixed, query))


def recover_families(graph: MissingnessGraph) -> dict[str, Verdict]:
    """The verdict on the CPT of every variable, P(X | parents).

    The families share one bounded effort: what a family leaves is there for the next ones.
    """
    return {verdict.target[0]: verdict for verdict in _families(graph)}


@lru_cache(maxsize=64)
def _families(graph: MissingnessGraph) -> tuple[Verdict, ...]:
    families = {name: graph.network.parents(name) for name in graph.network.variables}
    partial = sum(bool(graph.mixed.mechanisms_of((x, *u))) for x, u in families.items())
    effort = min(0.4, 1.5 / max(partial, 1))
    mixed = graph.mixed.metered(Meter())
    found = _terms(mixed, families)
    return tuple(
        _decide(graph, mixed, ((name,), parents), found[name], effort)
        for name, parents in families.items()
    )


def _terms(mixed: MixedGraph, families: Mapping[str, Scope]) -> dict[str, Found]:
    """A small share of the work each; then the rest, in turn, for those that were cut short."""
    found: dict[str, Found] = {}
    left, meter = FAMILIES_WORK, mixed.meter
    for share in (FAMILIES_WORK / (4 * len(families)), SECOND_WORK):
        waiting = [name for name in families if name not in found or found[name].is_cut_short]
        for name in waiting:
            before, work = meter.spent, min(share, left)
            meter.allow(work)
            found[name] = find_term(mixed, frozenset({name}), frozenset(families[name]))
            left -= min(meter.spent - before, work)
    return found


def _checked_query(
    graph: MissingnessGraph, target: Iterable[str], given: Iterable[str]
) -> tuple[Scope, Scope]:
    left = (target,) if isinstance(target, str) else tuple(target)
    right = (given,) if isinstance(given, str) else tuple(given)
    if not left:
        raise MissingnessGraphError.bad_query("it has no variable left of the bar")
    for name in (*left, *right):
        if name not in graph.network.states_of:
            raise MissingnessGraphError.unknown_variable(name, graph.network.variables, "")
    twice = {name for name in (*left, *right) if (*left, *right).count(name) > 1}
    if twice:
        raise MissingnessGraphError.bad_query(f"it names {sorted(twice)} more than once")
    return left, right


def _why_recoverable(term: Term) -> str:
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
            f"recoverable; this needs a value of {helpers} that goes with every value of the target"
        )
    if not isinstance(term, Fraction):
        return "the chain rule takes it apart into queries that are each recoverable"
    if not term.sample.selected:
        return "its variables are always observed"
    shown = ", ".join(quoted(m.variable) for m in term.sample.selected)
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


def _limit_words(mixed: MixedGraph, query: tuple[Scope, Scope]) -> str:
    mixed.meter.allow(inf)
    large = beyond_limit(mixed, frozenset(query[0]), frozenset(query[1]))
    if large is None:
        return ""
    return (
        f"; the no-self-censoring form holds, but over {large[0]} variables, {large[1]} of them "
        f"partially observed, it would need 2^{large[1]} tables of their joint states; the limit "
        f"is {SCOPE_LIMIT} variables, {FREE_LIMIT} of them partially observed"
    )


def _tried(found: Found) -> str:
    cut = "; the search was cut short" if found.is_cut_short else ""
    return (
        f"no estimand was found and no proof that there is none: {found.steps} queries were tried "
        "by fix and select, the odds of patterns and latent projections, joined by the chain "
        f"rule, and small submodels were searched for two models that look the same{cut}"
    )
