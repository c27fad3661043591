"""Estimands computed from rows: execution decides nothing, it carries out the plan.

The odds of missingness patterns, from the pattern without gaps up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from lacunet.estimands.terms import (
    Conditioned,
    Fraction,
    Inverted,
    NoSelfCensoring,
    Product,
    SumOut,
    Term,
    Widened,
)
from lacunet.estimands.weigh import Run, spread, weigh
from lacunet.model.network import FloatArray, Scope
from lacunet.model.nodes import Mechanism

LARGEST_TABLE = 50_000_000


@dataclass(frozen=True)
class Conditional:
    """A table of P(target | given), axes given... then target, and what it rests on.

    Where ``mass``, the share of each configuration of ``given``, is zero the data say
    nothing and the table holds NaN.
    """

    target: Scope
    given: Scope
    table: FloatArray
    mass: FloatArray
    effective_size: float
    rows_used: float
    largest_weight: float

    @property
    def scope(self) -> Scope:
        """The axes of the table."""
        return (*self.given, *self.target)


def compute(run: Run, term: Term) -> Conditional:
    """The table of a term."""
    match term:
        case Fraction():
            return _fraction(run, term)
        case NoSelfCensoring():
            return _no_self_censoring(run, term)
        case Product():
            return _product(run, compute(run, term.first), compute(run, term.second))
        case Inverted():
            return _inverted(run, compute(run, term.first), compute(run, term.second), term)
        case SumOut() | Conditioned() | Widened():
            return _reshaped(run, compute(run, term.term), term)


def _reshaped(run: Run, inner: Conditional, term: SumOut | Conditioned | Widened) -> Conditional:
    if isinstance(term, SumOut):
        return _sum_out(inner, term.target)
    if isinstance(term, Conditioned):
        return _conditioned(inner, term.target, term.given)
    return _widened(run, inner, term.given)


def _normalised(
    weights: FloatArray, target: Scope, given: Scope, size: float, rows: float, largest: float
) -> Conditional:
    """P(target | given) from weights over (given..., target...)."""
    axes = tuple(range(len(given), weights.ndim))
    mass = weights.sum(axis=axes)
    below = mass.reshape(mass.shape + (1,) * len(axes))
    table = np.divide(weights, below, out=np.full_like(weights, np.nan), where=below > 0)
    total = mass.sum()
    return Conditional(
        target, given, table, mass / total if total > 0 else mass, size, rows, largest
    )


def _effective_size(weights: FloatArray, factors: FloatArray) -> float:
    r""":math:`(\sum w)^2 / \sum w^2`, a row of weight n counting as n rows of one factor."""
    squares = float((weights * factors**2).sum())
    return float((weights * factors).sum()) ** 2 / squares if squares > 0 else 0.0


def _fraction(run: Run, term: Fraction) -> Conditional:
    r""":math:`P(a \mid b) \propto \sum_{rows} \prod_{j \in F} 1 / \pi_j`."""
    rows, sample = run.rows, weigh(run, term.sample)
    weights = rows.weights[sample.where] * sample.factors
    size = _effective_size(rows.weights[sample.where], sample.factors)
    table = rows.tally((*term.given, *term.target), sample.where, weights)
    used = float(rows.counts[sample.where].sum())
    largest = float(sample.factors.max(initial=0.0))
    return _normalised(table, term.target, term.given, size, used, largest)


def _no_self_censoring(run: Run, term: NoSelfCensoring) -> Conditional:
    r""":math:`P(x_S) = D(x) \sum_T \prod_{T' \subseteq T} \theta_{T'}`, then target given given."""
    rows, sample = run.rows, weigh(run, term.sample)
    complete = pattern(run, term, ())
    factor = pattern_odds(run, term, complete)  # P(x_S) / D(x)
    joint = complete * factor
    order = (*term.given, *term.target)
    summed = _marginal(joint, term.scope, order)
    shown = sample.where & rows.shows(term.free)
    inside = shown[sample.where]
    at_rows = factor.reshape(-1)[rows.cells(term.scope, shown)] * sample.factors[inside]
    size = _effective_size(rows.weights[shown], at_rows)
    used = float(rows.counts[sample.where].sum())
    largest = float(at_rows.max(initial=0.0))
    return _normalised(summed, term.target, term.given, size, used, largest)


def _marginal(table: FloatArray, scope: Sequence[str], onto: Sequence[str]) -> FloatArray:
    gone = tuple(at for at, name in enumerate(scope) if name not in onto)
    left = [name for name in scope if name in onto]
    return np.asarray(table.sum(axis=gone)).transpose([left.index(name) for name in onto])


def _product(run: Run, first: Conditional, second: Conditional) -> Conditional:
    """P(A1 | A2, B) P(A2 | B); an empty row of the first factor backs off to P(A1)."""
    scope = (*second.given, *first.target, *second.target)
    left = spread(first.table, first.scope, scope)
    right = spread(second.table, second.scope, scope)
    unknown = np.isnan(left) & (right > 0)
    if unknown.any():
        run.notes[
            f"positivity: P({', '.join(first.target)} | {', '.join(first.given)}) has cells "
            "without data, which backed off to the average over the others"
        ] = None
        average = np.nansum(
            np.where(first.mass[(..., *(None,) * len(first.target))] > 0, first.table, 0)
            * first.mass[(..., *(None,) * len(first.target))],
            axis=tuple(range(len(first.given))),
        )
        left = np.where(np.isnan(left), spread(average, first.target, scope), left)
    table = np.where(right == 0, 0.0, np.where(np.isnan(left), 0.0, left) * right)
    return Conditional(
        (*first.target, *second.target),
        second.given,
        table,
        second.mass,
        min(first.effective_size, second.effective_size),
        min(first.rows_used, second.rows_used),
        max(first.largest_weight, second.largest_weight),
    )


def _sum_out(term: Conditional, target: Scope) -> Conditional:
    table = _marginal(term.table, term.scope, (*term.given, *target))
    return _replaced(term, target, term.given, table, term.mass)


def _replaced(
    term: Conditional, target: Scope, given: Scope, table: FloatArray, mass: FloatArray
) -> Conditional:
    return Conditional(
        target, given, table, mass, term.effective_size, term.rows_used, term.largest_weight
    )


def _conditioned(term: Conditional, target: Scope, given: Scope) -> Conditional:
    below = term.mass.reshape(term.mass.shape + (1,) * len(term.target))
    joint = np.where(below > 0, np.nan_to_num(term.table), 0.0) * below
    weights = _marginal(joint, term.scope, (*given, *target))
    return _normalised(
        weights, target, given, term.effective_size, term.rows_used, term.largest_weight
    )


def _inverted(run: Run, first: Conditional, second: Conditional, plan: Inverted) -> Conditional:
    """P(a | b) = sum_z P(a | b, z) P(z | b), with 1 / P(z | b) = sum_a P(a | b, z) / P(z | a, b).

    A value z counts for b only if it is possible with every a; the others are left out.
    """
    scope = (*plan.given, *plan.helper, *plan.target)
    above, below = np.broadcast_arrays(
        spread(first.table, first.scope, scope), spread(second.table, second.scope, scope)
    )
    axes = tuple(range(len(scope) - len(plan.target), len(scope)))
    fits = (below > 0) & np.isfinite(above)
    absent = np.isnan(below) & (above == 0)  # a never goes with b: it takes no part
    usable = (fits | absent).all(axis=axes, keepdims=True)
    ratio = np.divide(above, below, out=np.zeros(above.shape), where=usable & fits)
    total = ratio.sum(axis=axes, keepdims=True)
    share = np.divide(1, total, out=np.zeros_like(total), where=total > 0)  # P(z | b)
    if not usable.all():
        run.notes[
            f"positivity: some values of {', '.join(plan.helper)} do not go with every value of "
            f"{', '.join(plan.target)}, and are left out"
        ] = None
    joint = _marginal(
        np.where(usable & fits, above, 0.0) * share, scope, (*plan.given, *plan.target)
    )
    size = min(first.effective_size, second.effective_size)
    used = min(first.rows_used, second.rows_used)
    largest = max(first.largest_weight, second.largest_weight)
    result = _normalised(joint, plan.target, plan.given, size, used, largest)
    return _with_shown_mass(run, result)


def _with_shown_mass(run: Run, result: Conditional) -> Conditional:
    """The same table, the share of each b being that among the rows that show B."""
    mass = _shown_share(run, result.given)
    return _replaced(result, result.target, result.given, result.table, mass)


def _shown_share(run: Run, given: Scope) -> FloatArray:
    rows = run.rows
    shown = np.ones(len(rows.weights), dtype=bool)
    for name in given:
        shown &= rows.codes[name] != rows.cardinality_of[name]
    mass = rows.tally(given, shown, rows.weights[shown])
    total = mass.sum()
    return np.asarray(mass / total if total > 0 else mass)


def _widened(run: Run, term: Conditional, given: Scope) -> Conditional:
    """P(A | B) = P(A | B'); the share of each b is that among the rows that show B."""
    scope = (*given, *term.target)
    table = np.broadcast_to(spread(term.table, term.scope, scope), run.rows.shape(scope)).copy()
    return _replaced(term, term.target, given, table, _shown_share(run, given))


def pattern(run: Run, term: NoSelfCensoring, hidden: Sequence[Mechanism]) -> FloatArray:
    """P(x_{S-T}, R_T = 0, R_{I-T} = 1) in the sample, length one on the axes of T."""
    rows, sample = run.rows, weigh(run, term.sample)
    where = sample.where & rows.shows([m for m in term.free if m not in hidden])
    for mechanism in hidden:
        where &= ~rows.shows([mechanism])
    weights = rows.weights[where] * sample.factors[where[sample.where]]
    gone = {mechanism.variable for mechanism in hidden}
    scope = tuple(name for name in term.scope if name not in gone)
    return spread(rows.tally(scope, where, weights), scope, term.scope)


def pattern_odds(run: Run, term: NoSelfCensoring, complete: FloatArray) -> FloatArray:
    r""":math:`\sum_{T \subseteq I} \prod_{\emptyset \ne T' \subseteq T} \theta_{T'}(x)`."""
    odds: dict[frozenset[Mechanism], FloatArray] = {}
    total = np.ones_like(complete)
    lost = 0.0
    for hidden in _nonempty_subsets(term.free):
        inner = np.ones_like(complete)
        for smaller in _nonempty_subsets(hidden)[:-1]:
            inner = inner * odds[frozenset(smaller)]
        axes = tuple(term.scope.index(mechanism.variable) for mechanism in hidden)
        below = (complete * inner).sum(axis=axes, keepdims=True)
        above = pattern(run, term, hidden)
        lost += float(above[below <= 0].sum())
        theta = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
        odds[frozenset(hidden)] = theta
        total = total + inner * theta
    if lost > 0:
        run.notes[
            f"positivity: {lost / run.rows.weights.sum():.3g} of the rows' weight has no "
            "complete row to stand for it, and is left out"
        ] = None
    return total


def _nonempty_subsets(items: Sequence[Mechanism]) -> list[tuple[Mechanism, ...]]:
    return list(chain.from_iterable(combinations(items, k) for k in range(1, len(items) + 1)))
