"""The odds of missingness patterns, from the pattern without gaps up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np

from lacunet.missingness.nodes import Mechanism
from lacunet.missingness.plan import NoSelfCensoring
from lacunet.missingness.weigh import Run, spread, weigh
from lacunet.model.network import FloatArray


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
