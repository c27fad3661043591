"""What an estimand needs: the columns it reads, the tables it fills."""

from __future__ import annotations

from collections.abc import Iterator

from lacunet.missingness.plan import (
    Conditioned,
    Fraction,
    Inverted,
    NoSelfCensoring,
    Odds,
    Product,
    Propensity,
    Sample,
    Share,
    SumOut,
    Term,
    Widened,
)
from lacunet.model.network import Scope


def needed(term: Term) -> frozenset[str]:
    """The variables whose columns a term reads."""
    match term:
        case Fraction():
            return frozenset((*term.target, *term.given)) | _in_sample(term.sample)
        case NoSelfCensoring():
            return frozenset(term.scope) | _in_sample(term.sample)
        case Product() | Inverted():
            return needed(term.first) | needed(term.second)
        case Widened():
            return needed(term.term) | frozenset(term.given)
        case SumOut() | Conditioned():
            return needed(term.term)


def _in_sample(sample: Sample) -> frozenset[str]:
    own = frozenset(mechanism.variable for mechanism in sample.selected)
    return own.union(*map(_in_propensity, sample.weights))


def _in_propensity(plan: Propensity) -> frozenset[str]:
    names = {plan.mechanism.variable, *plan.parents, *(m.variable for m in plan.free)}
    if isinstance(plan, Share):
        return frozenset(names) | _in_sample(plan.sample)
    names |= {*plan.scope, *(m.variable for m in plan.known)}
    return frozenset(names).union(_in_sample(plan.sample), *map(_in_propensity, plan.others))


def scopes(term: Term) -> Iterator[Scope]:
    """The variables of every table that a term fills."""
    yield (*term.given, *term.target)
    match term:
        case Fraction():
            yield from _sample_scopes(term.sample)
        case NoSelfCensoring():
            yield term.scope
            yield from _sample_scopes(term.sample)
        case Product() | Inverted():
            yield from scopes(term.first)
            yield from scopes(term.second)
            yield tuple(dict.fromkeys((*term.first.given, *term.first.target)))
        case Widened() | SumOut() | Conditioned():
            yield from scopes(term.term)


def _sample_scopes(sample: Sample) -> Iterator[Scope]:
    for weight in sample.weights:
        yield weight.parents
        if isinstance(weight, Odds):
            yield weight.scope
        yield from _sample_scopes(weight.sample)
