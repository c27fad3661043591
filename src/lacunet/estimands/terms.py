r"""Estimands as values: what is to be computed from the data, before any data are read.

A *sample* is the rows that show some variables, each row weighted by the inverse of known
propensities. Terms are built from samples; every term is a table of P(target | given).
`lacunet.estimands.words` prints them, `lacunet.estimands.compute` computes them.

What an estimand needs: the columns it reads, the tables it fills.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lacunet.model.network import Scope
from lacunet.model.nodes import Mechanism

Mechanisms = tuple[Mechanism, ...]


@dataclass(frozen=True)
class Sample:
    r"""The rows with :math:`R_H = 1`, each weighted by :math:`\prod_{j \in F} 1/\pi_j`.

    ``selected`` is H, ``weights`` are the propensities of F.
    """

    selected: Mechanisms
    weights: tuple[Propensity, ...]


@dataclass(frozen=True)
class Share:
    r"""The propensity as a weighted share of rows: :math:`\Pr_w(R_i = 1 \mid pa_i, R_H = 1)`."""

    mechanism: Mechanism
    parents: Scope
    free: Mechanisms
    at_one: Mechanisms
    sample: Sample


@dataclass(frozen=True)
class Odds:
    r"""The propensity from its odds, where the rows with :math:`R_i = 0` are needed too.

    .. math::
        \frac{1 - \pi_i}{\pi_i} = \frac{\Pr(pa_i, R_K = 1, R_i = 0)}
        {\sum_{D \setminus pa_i} A(x_D) \prod_{k \in K} \pi_k(R_i = 0, \cdot)}, \qquad
        A(x_D) = \Pr(x_D, R_i = 1 \mid do(R_F = 1))

    ``sample`` gives A, ``others`` the propensities of K, ``scope`` is D.
    """

    mechanism: Mechanism
    parents: Scope
    at_one: Mechanisms
    scope: Scope
    others: tuple[Propensity, ...]
    known: Mechanisms
    sample: Sample

    @property
    def free(self) -> Mechanisms:
        """No mechanism is left free: the odds hold where all of K is 1."""
        return ()


Propensity = Share | Odds


@dataclass(frozen=True)
class Fraction:
    """P(target | given) as the share of a weighted sample."""

    target: Scope
    given: Scope
    sample: Sample


@dataclass(frozen=True)
class NoSelfCensoring:
    r"""P(target | given) from the odds of the missingness patterns over ``scope``.

    .. math::
        P(x_S) = D(x) \sum_{T \subseteq I} \prod_{\emptyset \ne T' \subseteq T} \theta_{T'},
        \qquad \theta_T(x_{-T}) = \frac{P(x_{-T}, R_T = 0, R_{I \setminus T} = 1)}
        {\sum_{x_T} D(x) \prod_{\emptyset \ne T' \subsetneq T} \theta_{T'}}

    with :math:`D(x) = P(x_S, R_I = 1)`; ``free`` is I, everything within ``sample``.
    """

    target: Scope
    given: Scope
    scope: Scope
    free: Mechanisms
    sample: Sample


@dataclass(frozen=True)
class Product:
    """P(A1, A2 | B) = P(A1 | A2, B) P(A2 | B)."""

    first: Term
    second: Term

    @property
    def target(self) -> Scope:
        """Both targets."""
        return (*self.first.target, *self.second.target)

    @property
    def given(self) -> Scope:
        """What the second factor is given."""
        return self.second.given


@dataclass(frozen=True)
class SumOut:
    """P(A | B) as the sum of P(A, Z | B) over Z."""

    term: Term
    target: Scope

    @property
    def given(self) -> Scope:
        """What the term is given."""
        return self.term.given


@dataclass(frozen=True)
class Conditioned:
    """P(A | B1, B2) from P(A, B1 | B2)."""

    term: Term
    target: Scope
    given: Scope


@dataclass(frozen=True)
class Widened:
    """P(A | B) = P(A | B') where A does not depend on the rest of B given B'."""

    term: Term
    given: Scope

    @property
    def target(self) -> Scope:
        """The target of the term."""
        return self.term.target


@dataclass(frozen=True)
class Inverted:
    r"""P(A | B) from P(A | B, z) and P(z | A, B), for any z that every a allows.

    .. math::
        P(a \mid b) \propto \frac{P(a \mid b, z)}{P(z \mid a, b)}
    """

    first: Term
    second: Term
    target: Scope
    given: Scope

    @property
    def helper(self) -> Scope:
        """The variables Z that are taken in and divided out again."""
        return self.second.target


Term = Fraction | NoSelfCensoring | Product | SumOut | Conditioned | Widened | Inverted


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
