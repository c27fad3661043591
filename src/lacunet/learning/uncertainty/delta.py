r"""How sure the answer to a query is: its derivative by every CPT entry, times their covariance.

With :math:`p = \Pr(y \mid e)`, moving the entries of CPT rows moves the answer by

.. math::
    \frac{\partial p}{\partial \theta(x \mid u)} =
    p \, \frac{\Pr(x, u \mid y, e) - \Pr(x, u \mid e)}{\theta(x \mid u)},

one calibration for each answer and one for the evidence; entries that are zero are moved off it
by a hair, so that an answer depends on what was never seen as well. What the entries' covariance
makes of it depends on how they were learned: from the influence of rows, the rate matrix of EM, or
by asking every replicate of the jackknife.

*Rows that are not there.* A CPT row whose rows all agree, or that no row supports, shows no
variance of its own. The prior's pseudo-counts (Jeffreys' half without a prior) count as rows
here: what little is known of such a CPT row is as uncertain as so few rows are. What they know
is taken off again in the end (`without_prior`): an effective size tells of rows alone. All of it is
in effective rows: where a CPT row of weight :math:`n_u` is known as well as from :math:`m_u` rows,
for its weights differ or values are missing, a pseudo-count is worth :math:`m_u / n_u` of them.

*What such rows cannot do.* Whatever CPT rows without data hold, the answer lies between its lowest
and its highest value over them (`lacunet.inference.unsupported`). These two depend on CPT rows
with data alone, and have intervals of their own: the interval of the answer does not go beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.data.evidence import places_seen
from lacunet.inference.errors import ImpossibleEvidenceError
from lacunet.inference.joint import NO_EVIDENCE, joint_marginals, pose_question, relevant
from lacunet.inference.query import NOTED_SHARE, after_doing
from lacunet.inference.unsupported import extreme_rows, masks_of
from lacunet.learning.uncertainty.cpt_intervals import BoundedSpread, Spread
from lacunet.network.cpt import Cpt
from lacunet.network.network import FloatArray, Mask, Network, Scope, Tables

JEFFREYS_PSEUDO_COUNT = 0.5
A_HAIR = 1e-12  # what stands for a probability of zero in derivatives
SIZE_FAR_FROM_ZERO = 50.0  # rows: what as many speak for is 7 standard errors from 0
DERIVATIVE_ROUNDING = 1e-9
ROUNDING_BY_A_HAIR = 1e-2  # of derivatives for which a hair was divided by
NO_UNSUPPORTED_ROWS: Mapping[str, Mask] = MappingProxyType({})


@dataclass(frozen=True)
class AnsweredQuery:
    """A query, its answer, and the derivative of each answer by the CPTs it depends on."""

    network: Network  # the one after `do`
    scope: Scope
    evidence: Mapping[str, object]  # with what was done
    answer: FloatArray
    # For each cell of the answer, the last axis fastest: tables like the CPTs, by variable; what
    # was done has none.
    gradients: tuple[Tables, ...]
    do: Mapping[str, object] = field(default_factory=dict)
    # CPT rows that are taken as they are in the network, whatever the data say: no gradient
    # either.
    known: Mapping[str, Mask] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        network: Network,
        scope: Scope,
        evidence: Mapping[str, object] = NO_EVIDENCE,
        do: Mapping[str, object] = NO_EVIDENCE,
        known: Mapping[str, Mask] = NO_UNSUPPORTED_ROWS,
    ) -> AnsweredQuery:
        """Ask, and ask again given each answer."""
        network, evidence = after_doing(network, evidence, do)
        (answer,) = joint_marginals(network, [scope], evidence)
        names = [name for name in relevant(network, [*scope, *evidence]) if name not in do]
        families = [network.family(name) for name in names]
        near = _off_zero(network, names, known)
        moved, *before = joint_marginals(near, [scope, *families], evidence)
        gradients: list[Tables] = []
        states = product(*(network.states(name) for name in scope))
        for probability, seen in zip(np.ravel(moved), states, strict=True):
            if probability == 0:
                gradients.append({})
                continue
            both = {**evidence, **dict(zip(scope, seen, strict=True))}
            after = joint_marginals(near, families, both)
            gradient_of = {
                name: probability * quotient(here - there, near.cpt(name).table)
                for name, here, there in zip(names, after, before, strict=True)
            }
            for name in known.keys() & gradient_of:
                gradient_of[name][known[name]] = 0.0
            gradients.append(gradient_of)
        return cls(network, scope, evidence, answer, tuple(gradients), do, known)

    def of_network(self, network: Network) -> FloatArray:
        """The answer that another network gives, one before anything was done.

        Where the evidence is impossible there, it is the answer with a hair in place of each zero.
        """
        seen = {name: state for name, state in self.evidence.items() if name not in self.do}
        if self.known:
            tables = {cpt.child: self.with_known(cpt.child, cpt.table) for cpt in network.cpts}
            network = network.with_tables(tables)
        network, evidence = after_doing(network, seen, self.do)
        try:
            (answer,) = joint_marginals(network, [self.scope], evidence)
        except ImpossibleEvidenceError:
            near = _off_zero(network, relevant(network, [*self.scope, *evidence]), self.known)
            (answer,) = joint_marginals(near, [self.scope], evidence)
        return answer

    def by_tables(self, table_of: Callable[[Cpt], FloatArray]) -> FloatArray:
        """The answer with another table for every CPT but those of what was done."""
        cpts = self.network.cpts
        tables = {c.child: c.table if c.child in self.do else table_of(c) for c in cpts}
        network = self.network.with_tables(tables)
        (answer,) = joint_marginals(network, [self.scope], self.evidence)
        return answer

    def with_known(self, variable: str, table: FloatArray) -> FloatArray:
        """A table like a CPT, with the rows that are taken as known."""
        if variable not in self.known:
            return table
        return np.where(self.known[variable][..., None], self.network.cpt(variable).table, table)


class Covariance(Protocol):
    """How the entries of all CPTs vary together."""

    @property
    def degrees(self) -> float:
        """The degrees of freedom of the variances."""
        ...

    def variances(self, asked: AnsweredQuery, spread_of: Mapping[str, Spread]) -> FloatArray:
        """The variance that each cell of an answer has by the rows alone.

        ``spread_of`` says how sure each CPT is.
        """
        ...


def query_spread(
    asked: AnsweredQuery, covariance: Covariance, cpt_spread_of: Mapping[str, Spread], total: float
) -> Spread:
    """The spread of an answer.

    Parameters
    ----------
    covariance
        How the CPTs vary together.
    cpt_spread_of
        For each variable, that of its CPT: intervals are made around what follows from what the
        rows alone say of these, and a cell that is an entry of a CPT has its spread.
    total
        The weight of all rows: how many know an answer that nothing moves.
    """
    answer = asked.answer
    rates_of = {name: spread.rates for name, spread in cpt_spread_of.items()}
    variances = covariance.variances(asked, cpt_spread_of)
    sizes = _sizes(np.ravel(answer), variances, total).reshape(answer.shape)
    sizes = np.where(_is_seen(asked) | _is_decided(asked), np.inf, sizes)
    by_rows = _by_shares(asked, rates_of)
    rates = answer if by_rows is None else by_rows  # without the prior's pull, if rows give one
    is_near = np.minimum(rates, 1 - rates) < SIZE_FAR_FROM_ZERO / np.maximum(sizes, 1.0)
    shown = _by_shown(asked, cpt_spread_of) if is_near.any() else None
    ends = False if shown is None else np.stack([shown == 0, shown == shown.sum()], axis=-1)
    spread = Spread(
        table=answer, rates=rates, sizes=sizes, degrees=covariance.degrees, open_ends=ends
    )
    entry_of = {}
    for index, cell in enumerate(np.ndindex(answer.shape)):
        if (entry := _entry(asked, index)) is not None:
            variable, of_cpt = entry
            entry_of[cell] = cpt_spread_of[variable].at(of_cpt)
    return replace(spread.with_entries(entry_of), table=answer)


def _entry(asked: AnsweredQuery, index: int) -> tuple[str, tuple[int, ...]] | None:
    r"""The CPT entry that a cell of an answer is, where nothing else moves it.

    There :math:`\partial p / \partial \theta(x' \mid u) = 1[x' = x] - \theta(x \mid u)`, rounding
    aside, and it is zero in all other CPT rows.
    """
    entries = []
    for name, gradient in asked.gradients[index].items():
        cpt, possible = asked.network.cpt(name).table, asked.network.possible(name)
        rounding = np.where(cpt > DERIVATIVE_ROUNDING, DERIVATIVE_ROUNDING, ROUNDING_BY_A_HAIR)
        apart = centred(gradient, cpt)
        for row in map(tuple, np.argwhere((np.abs(apart) > rounding).any(axis=-1)).tolist()):
            by_state = np.eye(cpt.shape[-1]) - cpt[row][:, None]
            is_like = np.abs(by_state - apart[row]) <= rounding[row]
            is_entry = (is_like | ~possible[row]).all(axis=-1)  # nothing moves structural zeros
            is_entry &= np.abs(cpt[row] - np.ravel(asked.answer)[index]) <= DERIVATIVE_ROUNDING
            entries.append((name, (*row, int(is_entry.argmax()))) if is_entry.any() else None)
            if len(entries) > 1:
                return None
    return entries[0] if entries else None


def _sizes(answer: FloatArray, variance: FloatArray, total: float) -> FloatArray:
    """How many rows would leave each answer the same variance.

    One that less than half a row speaks for is as sure as from so many rows that all agree: they
    leave to half a row that does not the variance .5 / (n + .5)^2.
    """
    sizes = quotient(answer * (1 - answer), variance, np.inf)
    agree = np.sqrt(quotient(JEFFREYS_PSEUDO_COUNT, variance, np.inf)) - JEFFREYS_PSEUDO_COUNT
    is_alone = (
        answer * (1 - answer) * np.minimum(answer, 1 - answer) < JEFFREYS_PSEUDO_COUNT * variance
    )
    is_alone |= variance == 0
    return np.asarray(np.where(is_alone, np.clip(agree, 0.0, total), sizes))


def bounded_spread(
    asked: AnsweredQuery, network: Network, spread_of: Callable[[AnsweredQuery], Spread]
) -> Spread:
    """The spread of an answer, with intervals within what CPT rows without data allow.

    Parameters
    ----------
    network
        The one before anything was done.
    spread_of
        The spread of any answer.
    """
    spread = spread_of(asked)
    question = pose_question(asked.network, [asked.scope], asked.evidence)
    if (question.shares[0] or 0.0) < NOTED_SHARE:
        return spread
    extremes = extreme_rows(question)
    if extremes is None:
        return spread
    seen = {name: state for name, state in asked.evidence.items() if name not in asked.do}
    known = masks_of(extremes.rows, network)

    @cache
    def by_rows(states: tuple[int, ...]) -> Spread:
        tables = {name: network.cpt(name).table.copy() for name in network.variables}
        for row, state in zip(extremes.rows, states, strict=True):
            tables[row.variable][row.index] = np.eye(tables[row.variable].shape[-1])[state]
        extreme = AnsweredQuery.of(
            network.with_tables(tables), asked.scope, seen, asked.do, known=known
        )
        return spread_of(extreme)

    lowest = _cell_by_cell(spread, extremes.lowest, by_rows)
    highest = _cell_by_cell(spread, extremes.highest, by_rows)
    # What CPT rows without data might do, no row rules out.
    ends = np.stack([lowest.ends[..., 0], highest.ends[..., 1]], axis=-1) | spread.ends
    return BoundedSpread(**vars(spread) | {"open_ends": ends}, lowest=lowest, highest=highest)


def _cell_by_cell(
    spread: Spread, states: NDArray[np.int64], by_rows: Callable[[tuple[int, ...]], Spread]
) -> Spread:
    """Each cell of an answer as some states of CPT rows give it; as it is where they are -1."""
    chosen_in = {cell: tuple(states[cell].tolist()) for cell in np.ndindex(spread.table.shape)}
    return spread.with_entries(
        {cell: by_rows(chosen).at(cell) for cell, chosen in chosen_in.items() if -1 not in chosen}
    )


def _is_seen(asked: AnsweredQuery) -> Mask:
    """Where an answer is zero or one by what was seen of the target itself."""
    network = asked.network
    seen = places_seen(network, asked.evidence)
    states_of = [seen.get(name, range(network.cardinality(name))) for name in asked.scope]
    is_seen = np.ones(asked.answer.shape, dtype=bool)
    is_seen[np.ix_(*states_of)] = all(len(states) == 1 for states in states_of)
    return is_seen


def _is_decided(asked: AnsweredQuery) -> NDArray[np.bool_]:
    """Where an answer is zero or one whatever the rows say, by structural zeros."""
    network, answer = asked.network, asked.answer
    is_extreme = (answer == 0) | (answer == 1)
    if not network.possible_of or not is_extreme.any():
        return np.zeros(answer.shape, dtype=bool)

    def allowed(cpt: Cpt) -> FloatArray:
        possible = network.possible(cpt.child)
        return np.asarray(possible / possible.sum(axis=-1, keepdims=True))

    even = asked.by_tables(allowed)
    return np.asarray(is_extreme & ((even == 0) | (even == 1)))


def _by_shown(asked: AnsweredQuery, spread_of: Mapping[str, Spread]) -> FloatArray | None:
    """The answer if what no row shows is impossible; None where nothing of it is like that."""
    names = dict.fromkeys(name for gradient_of in asked.gradients for name in gradient_of)
    shown_of = {name: spread_of[name].rates_of_shown for name in names if name in spread_of}
    if all(shown is spread_of[name].rates for name, shown in shown_of.items()):
        return None
    return _by_shares(asked, {n: shown_of.get(n, s.rates) for n, s in spread_of.items()})


def _by_shares(asked: AnsweredQuery, weights_of: Tables) -> FloatArray | None:
    """The answer with each CPT row in proportion to weights, as it is where these are zero.

    None where the evidence is impossible then.
    """

    def shares(cpt: Cpt) -> FloatArray:
        weights = asked.with_known(cpt.child, weights_of.get(cpt.child, cpt.table))
        total = weights.sum(axis=-1, keepdims=True)
        return np.asarray(np.divide(weights, total, out=cpt.table.copy(), where=total > 0))

    try:
        return asked.by_tables(shares)
    except ImpossibleEvidenceError:
        return None


def centred(gradient: FloatArray, cpt: FloatArray) -> FloatArray:
    r"""The gradient of an answer by a CPT less its mean in each row: :math:`g_x - \theta g`."""
    return np.asarray(gradient - (cpt * gradient).sum(axis=-1, keepdims=True))


def moved_variances(asked: AnsweredQuery, squares_of: Tables, rows_of: Tables) -> FloatArray:
    r"""The variance that rows bring to each answer: :math:`\sum w^2 ((g_x - \theta g) / n_u)^2`.

    Parameters
    ----------
    squares_of
        The squared weights of the rows in every cell.
    rows_of
        How many rows each CPT row rests on, on an axis of length one for the child; without any
        the answer does not move.
    """
    variances = np.zeros(len(asked.gradients))
    for index, gradient_of in enumerate(asked.gradients):
        for name, gradient in gradient_of.items():
            moved = quotient(centred(gradient, asked.network.cpt(name).table), rows_of[name])
            variances[index] += float((squares_of[name] * np.square(moved)).sum())
    return variances


def in_rows(
    network: Network, pseudo_of: Tables, rows_of: Tables, weight_of: Tables
) -> dict[str, FloatArray]:
    """Pseudo-counts in effective rows, of which each CPT row has ``rows_of`` for its weight.

    A cell that less than half a row speaks for has what lacks to that besides.
    """
    scaled_of = {}
    for name, weight in weight_of.items():
        rows = rows_of[name]
        usable = (weight > 0) & np.isfinite(rows) & (rows > 0)
        worth = np.divide(rows, weight, out=np.ones(weight.shape), where=usable)
        scaled_of[name] = pseudo_of[name] * worth
    lacks_of = lacking(network, scaled_of, rows_of)
    return {name: scaled_of[name] + lacks for name, lacks in lacks_of.items()}


def lacking(network: Network, pseudo_of: Tables, rows_of: Tables) -> dict[str, FloatArray]:
    """What lacks to half a row, for each cell that is no structural zero."""
    lacks_of = {}
    for name in pseudo_of.keys() & set(network.variables):  # not mechanisms
        table = network.cpt(name).table
        possible = network.possible(name)
        is_sure = np.isinf(rows_of[name])
        rows = np.where(is_sure, 0.0, rows_of[name]) + pseudo_of[name].sum(axis=-1, keepdims=True)
        lacks = np.where(is_sure, 0.0, np.maximum(JEFFREYS_PSEUDO_COUNT - table * rows, 0.0))
        lacks_of[name] = lacks * possible
    return lacks_of


def pseudo_variances(asked: AnsweredQuery, rows_of: Tables, pseudo_of: Tables) -> FloatArray:
    """What the pseudo-counts of all CPT rows add to the variance of each answer.

    ``rows_of`` says how many rows each CPT row rests on, on an axis of length one for the child;
    ``pseudo_of`` has the pseudo-counts of every cell, in rows.
    """
    total_of = {
        v: rows_of[v] + pseudo.sum(axis=-1, keepdims=True) for v, pseudo in pseudo_of.items()
    }
    return moved_variances(asked, pseudo_of, total_of)


def with_pseudo_rows(
    asked: AnsweredQuery,
    variances: FloatArray,
    pseudo_of: Tables,
    rows_of: Tables,
    weight_of: Tables,
) -> FloatArray:
    """The variance of each answer by the rows and by pseudo-counts, less what these know.

    Parameters
    ----------
    variances
        What the rows bring.
    pseudo_of
        The pseudo-counts of every cell.
    rows_of, weight_of
        How many effective rows each CPT row rests on, and their weight, on an axis of length one
        for the child.
    """
    in_rows_of = in_rows(asked.network, pseudo_of, rows_of, weight_of)
    variances = variances + pseudo_variances(asked, rows_of, in_rows_of)
    return without_prior(asked, variances, rows_of, in_rows_of)


def without_prior(
    asked: AnsweredQuery, variance: FloatArray, rows_of: Tables, pseudo_of: Tables
) -> FloatArray:
    r"""The variance that an answer would have without what pseudo-counts know of it.

    Of the variance that a CPT row of :math:`n_u` rows brings with it, the share
    :math:`s_u / (n_u + s_u)` is known by its :math:`s_u` pseudo-counts. With :math:`v_s`, the
    variance that these bring as if they were rows, the others' part of :math:`v` is
    :math:`1 - v_s / v`, and without the pseudo-counts

    .. math:: v' = \frac{v}{1 - v_s / v}

    Parameters
    ----------
    variance
        Of each answer, pseudo-counts taken for rows.
    """
    cells_of = {}  # the pseudo-counts of each CPT row, in the cells where rows would be
    total_of = {}  # n_u + s_u
    for cpt in asked.network.cpts:
        name = cpt.child
        if name in pseudo_of:
            pseudo = pseudo_of[name].sum(axis=-1, keepdims=True)  # s_u
            cells_of[name] = cpt.table * pseudo
            total_of[name] = rows_of[name] + pseudo
    known = moved_variances(asked, cells_of, total_of)  # v_s
    share_of_rows = 1 - np.minimum(quotient(known, variance), 1)
    return quotient(variance, share_of_rows, np.inf)


def _off_zero(network: Network, names: Sequence[str], known: Mapping[str, Mask]) -> Network:
    """The network with a hair for each zero of some CPTs, but structural ones and known rows."""
    tables = {}
    for name in names:
        table = network.cpt(name).table
        possible = network.possible(name)
        is_zero = (table == 0) & possible
        if name in known:
            is_zero &= ~known[name][..., None]
        if is_zero.any():
            cells = np.where(is_zero, A_HAIR, table)
            tables[name] = cells / cells.sum(axis=-1, keepdims=True)
    if tables:
        return network.with_tables({**(network.tables_of or {}), **tables})
    return network
