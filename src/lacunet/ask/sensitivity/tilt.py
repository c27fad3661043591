r"""If values are not missing at random: how far an answer moves as the hidden values differ.

Missing at random says that within a group :math:`g` of rows (which agree on what is always
shown) hidden values are like shown ones. The tilt lets them differ by a stated amount,

.. math::
    \Pr(y_m \mid \text{hidden}, g) \propto \Pr(y_m \mid \text{shown}, g) \, e^{\delta a(y_m)},

with :math:`a = 1` for one state of the variable in question and 0 for the others:
:math:`e^\delta` is the ratio of the odds of that state among hidden and shown values. So

.. math::
    P_\delta(y) = \sum_g \frac{n_g}{N} \Bigl( s_g P_g(y_m) + (1 - s_g)
    \frac{P_g(y_m) e^{\delta a(y_m)}}{\sum_{y'} P_g(y') e^{\delta a(y')}} \Bigr),

:math:`s_g` being the share of rows that show the variable. :math:`\delta = 0` is direct
deletion for MAR; the data say nothing about :math:`\delta`. The *tipping point* is where an
answer crosses a threshold: how different hidden values would have to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from math import exp

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import added_up, quotient
from lacunet.counts.distinct import distinct
from lacunet.counts.groups import count_in_groups, group_rows
from lacunet.data.evidence import likelihoods_of
from lacunet.data.table import EncodedTable
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.text import assigned, conditional

TIPPING_TOLERANCE = 1e-8  # of the tilt at which the answer is the threshold
FARTHEST = 30.0  # beyond e^30 the tilt is as good as infinite
ALL_SHARE = 1 - 1e-12  # a larger share is one, but for rounding
FLAT = 1e-6  # answers that differ by less are the same


@dataclass(frozen=True)
class Question:
    """``P(target = state | do, evidence)``, and the state whose odds are tilted.

    Of a difference ``less`` is what is subtracted: another question about the same tilt.
    """

    target: str
    state: str
    evidence: Mapping[str, object]
    mechanism: str
    tilted_state: str
    do: Mapping[str, object] = field(default_factory=dict)
    less: Question | None = None

    @property
    def terms(self) -> tuple[Question, ...]:
        """The probability that is asked for, then the one that is subtracted, if there is one."""
        return (self,) if self.less is None else (self, self.less)

    @property
    def variables(self) -> Scope:
        """All variables that the answer needs together."""
        terms = [[term.target, *term.evidence, *term.do] for term in self.terms]
        return tuple(dict.fromkeys([*chain.from_iterable(terms), self.mechanism]))

    @property
    def lowest(self) -> float:
        """The lowest answer that there can be; the highest is 1."""
        return 0.0 if self.less is None else -1.0

    def tilting(self, state: str) -> Question:
        """The same with another tilted state, in all terms."""
        less = None if self.less is None else self.less.tilting(state)
        return replace(self, tilted_state=state, less=less)

    def __str__(self) -> str:
        given = [assigned(name, state) for name, state in self.evidence.items()]
        if self.do:
            done = ", ".join(assigned(name, state) for name, state in self.do.items())
            given.insert(0, f"do({done})")
        words = conditional(assigned(self.target, self.state), given)
        return words if self.less is None else f"{words} - {self.less}"


@dataclass(frozen=True)
class TiltedShares:
    """What the answer is made of, for any tilt.

    An *entry* is a group and a configuration of what some rows hide.
    """

    group: NDArray[np.intp]  # of each entry
    share: FloatArray  # of the configuration in the group: P_g(y_m)
    shown: FloatArray  # the weight of the group's rows that show the mechanism's variable, s_g n_g
    hidden: FloatArray  # and of those that hide it
    is_tilted: NDArray[np.bool_]  # whether the configuration has the tilted state
    evidence: FloatArray  # how likely it makes the evidence
    is_target: NDArray[np.bool_]  # whether it has the state asked for
    lost: float  # the share of rows about whose group nothing is known
    # Of the groups that do not contradict the evidence: the share of rows in whose group no row
    # shows all, so that others stand for it; and the share of hidden values that no tilt moves,
    # since none of the values that they are compared with is the tilted state, or all are.
    pooled: float
    unmoved: float
    less: TiltedShares | None = None  # of a difference, what is subtracted

    def answer(self, delta: float) -> float:
        """The answer if hidden values are tilted by ``delta``; it may be infinite."""
        return difference(self.probabilities(delta))

    def probabilities(self, delta: float) -> tuple[float, ...]:
        """The probability of each term of the question."""
        terms = (self,) if self.less is None else (self, self.less)
        return tuple(term._probability(delta) for term in terms)

    def _probability(self, delta: float) -> float:
        """The probability of one term; NaN where no row agrees with the evidence."""
        weight = self.shown * self.share + self.hidden * self._hidden_share(delta)
        weight = weight * self.evidence
        given = float(weight.sum())
        if not given:
            return np.nan
        return float(weight[self.is_target].sum()) / given

    def _hidden_share(self, delta: float) -> FloatArray:
        """The distribution of hidden values within each group."""
        groups = int(self.group.max(initial=-1)) + 1
        tilted = added_up(self.group, self.share * self.is_tilted, groups)[self.group]
        if np.isinf(delta):
            reached = tilted > 0 if delta > 0 else tilted < ALL_SHARE
            keeps = self.is_tilted == (delta > 0)
            total = np.where(delta > 0, tilted, 1 - tilted)
            return np.where(reached, quotient(self.share * keeps, total), self.share)
        scale = 1 + tilted * (exp(delta) - 1)
        return np.asarray(self.share * np.where(self.is_tilted, exp(delta), 1.0) / scale)


def tilted_shares(
    network: Network, table: EncodedTable, question: Question, given: Scope
) -> TiltedShares:
    """Count what any tilt needs, once.

    Parameters
    ----------
    given
        The fully observed variables that make the groups; those of the question are added.
    """
    # The groups, and the cells of what some rows hide, within each.
    scope = question.variables
    always = [name for name in scope if not table.missing_of[name]]
    grouped_by = tuple(name for name in table.fully_observed if name in always or name in given)
    groups, group = group_rows(table, grouped_by)
    hidden_scope = tuple(name for name in scope if table.missing_of[name])
    cells = count_in_groups(table, groups, group, hidden_scope, whole=True)
    number = len(groups.weights)
    weight_known = added_up(cells.group, cells.tally.weights, number)  # of rows that show all
    is_hidden = ~table.is_shown((question.mechanism,))
    weight_hidden = added_up(group[is_hidden], table.row_weights[is_hidden], number)

    # Groups in which no row shows all: pooled with those that agree on the question's variables.
    # A pool is one more group, numbered behind the others. All rows that show all are known in it,
    # and it has the rows of the groups that need it.
    pool, pool_of = distinct(groups.in_table(always), int(np.prod(network.shape(always))))
    needs_pool = weight_known == 0
    pool_known = added_up(pool_of[cells.group], cells.tally.weights, len(pool))

    def with_pools(weights: FloatArray) -> FloatArray:
        in_pools = added_up(pool_of[needs_pool], weights[needs_pool], len(pool))
        return np.concatenate([weights * ~needs_pool, in_pools])

    entry_group = np.concatenate([cells.group, pool_of[cells.group] + number])
    total = np.concatenate([weight_known, pool_known])
    mass = with_pools(groups.weights)
    hidden = with_pools(weight_hidden)

    # What each entry, a group and a cell, is to the question.
    columns: dict[str, NDArray[np.integer]] = {}
    columns |= zip(hidden_scope, cells.columns(), strict=True)
    for name in always:
        columns[name] = groups.configs[groups.scope.index(name)][cells.group]

    def is_state(name: str, state: str) -> NDArray[np.bool_]:
        return np.tile(columns[name] == network.state_index(name, state), 2)

    seen = likelihoods_of(network, question.evidence)
    evidence = np.ones(len(entry_group))
    for name, likelihood in seen.items():
        evidence *= np.tile(_likelihood(likelihood, columns[name]), 2)
    is_tilted = is_state(question.mechanism, question.tilted_state)

    # Of the groups that fit the evidence: what no tilt moves, and what nothing is known about.
    share = np.tile(cells.tally.weights, 2) / total[entry_group]
    group_fits = np.ones(number, dtype=bool)
    for name in seen.keys() & always:
        group_fits &= _likelihood(seen[name], groups.configs[groups.scope.index(name)]) > 0
    fits = np.concatenate([group_fits, added_up(pool_of, group_fits, len(pool)) > 0])
    tilted = added_up(entry_group, share * is_tilted, len(total))
    is_stuck = (total > 0) & ((tilted == 0) | (tilted > ALL_SHARE))
    lost = float(mass[number:][pool_known == 0].sum() / groups.weights.sum())
    pooled = mass[number:][fits[number:] & (pool_known > 0)].sum()
    less = None
    if question.less is not None:
        less = tilted_shares(network, table, question.less, given)
    return TiltedShares(
        group=entry_group,
        share=share,
        shown=(mass - hidden)[entry_group],
        hidden=hidden[entry_group],
        is_tilted=is_tilted,
        evidence=evidence,
        is_target=is_state(question.target, question.state),
        lost=lost,
        pooled=float(quotient(pooled, mass[fits].sum())),
        unmoved=float(quotient(hidden[fits & is_stuck].sum(), hidden[fits].sum())),
        less=less,
    )


def _likelihood(likelihood: Sequence[float], codes: NDArray[np.integer]) -> FloatArray:
    """That of the state of each code; 0 for codes beyond the states."""
    return np.asarray(np.array([*likelihood, 0.0])[np.minimum(codes, len(likelihood))])


def difference(probabilities: Sequence[float]) -> float:
    """The probability that is asked for, less the one that is subtracted, if there is one."""
    return probabilities[0] - sum(probabilities[1:])


def tipping_point(
    answer: Callable[[float], float], threshold: float, deltas: Sequence[float], answers: FloatArray
) -> float | None:
    """The tilt at which the answer is the threshold; the one nearest to none, if any.

    Parameters
    ----------
    answer
        The answer at any tilt.
    deltas, answers
        Tilts in ascending order and the answers there, between which it is sought.
    """
    from scipy.optimize import brentq

    def apart(delta: float) -> float:
        return answer(delta) - threshold

    ends = [min(max(delta, -FARTHEST), FARTHEST) for delta in deltas]
    crossings = []
    for (low, before), (high, after) in pairwise(zip(ends, answers - threshold, strict=True)):
        if before * after > 0 or before == after:
            continue
        if apart(low) * apart(high) <= 0:
            crossings.append(float(brentq(apart, low, high, xtol=TIPPING_TOLERANCE)))
        else:  # iterated answers are not exact: there is nothing to be sought between these
            crossings.append(low)
    return min(crossings, key=abs, default=None)
