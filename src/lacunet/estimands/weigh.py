r"""Propensities and weighted samples, computed from rows.

A cell of a propensity's table that no used row falls in is never looked at. Where a used
row falls in a cell without data the propensity backs off, and says so: a cell that has rows
but none shown takes Laplace's estimate, a cell without rows that of the table with its least
informative parent summed out. Parent configurations that have rows, of which none is shown,
have nobody to stand for them: their weight is lost, and that is said too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lacunet.estimands.rows import Codes, Rows, added_up
from lacunet.estimands.terms import Odds, Propensity, Sample, Share
from lacunet.model.network import FloatArray
from lacunet.model.nodes import Mechanism, quoted
from lacunet.wording import counted


@dataclass(frozen=True)
class PropensityTable:
    """A propensity over its parents' states and its free mechanism parents (0, 1).

    ``is_empty`` marks the cells without data, which hold the backed-off value; ``weights`` is
    the weight of the rows of each cell, shown or not.
    """

    values: FloatArray
    is_empty: NDArray[np.bool_]
    weights: FloatArray


@dataclass
class Run:
    """One computation of one estimand: its rows, the tables done so far, what it met."""

    rows: Rows
    tables: dict[Propensity, PropensityTable] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)  # a set that keeps its order


@dataclass(frozen=True)
class Weighted:
    """The rows of a sample and the factor by which each weighs more than in the data."""

    where: NDArray[np.bool_]
    factors: FloatArray


def weigh(run: Run, sample: Sample) -> Weighted:
    r"""The rows with :math:`R_H = 1` and the factors :math:`\prod_{j \in F} 1 / \pi_j`."""
    where = run.rows.shows(sample.selected)
    factors = np.ones(int(np.count_nonzero(where)))
    for propensity in sample.weights:
        factors /= _at_rows(run, propensity, where)
        _note_lost(run, propensity, sample, where)
    return Weighted(where, factors)


def _at_rows(run: Run, propensity: Propensity, where: NDArray[np.bool_]) -> FloatArray:
    table = propensity_table(run, propensity)
    index = _cells(run.rows, propensity.parents, propensity.free, where)
    empty = table.is_empty.reshape(-1)[index]
    if empty.any():
        rows = int(run.rows.counts[where][empty].sum())
        run.notes[
            f"positivity: the propensity of {propensity.mechanism} has no data of its own for "
            f"{rows} of the rows used, and backed off"
        ] = None
    return table.values.reshape(-1)[index]


def _note_lost(run: Run, propensity: Propensity, sample: Sample, where: NDArray[np.bool_]) -> None:
    """Say which share of the weight is in cells that have rows, but none that is used."""
    table = propensity_table(run, propensity)
    reached = np.zeros(table.weights.size, dtype=bool)
    reached[_cells(run.rows, propensity.parents, propensity.free, where)] = True
    weights, lost = table.weights, table.is_empty & ~reached.reshape(table.weights.shape)
    for mechanism in reversed(propensity.free):  # the last axes
        states = slice(1, 2) if mechanism in sample.selected else slice(0, 2)
        axis = weights.ndim - len(propensity.free) + propensity.free.index(mechanism)
        at = (*(slice(None),) * axis, states)
        weights, lost = weights[at], lost[at]
    lost &= weights > 0
    if lost.any():
        share = weights[lost].sum() / weights.sum()
        run.notes[_lost_words(propensity, int(np.count_nonzero(lost)), float(share))] = None


def _lost_words(propensity: Propensity, configurations: int, share: float) -> str:
    if not propensity.parents + propensity.free:
        return f"positivity: {propensity.mechanism} is never 1"
    parents = ", ".join([*map(quoted, propensity.parents), *map(str, propensity.free)])
    hold, it = ("holds", "it") if configurations == 1 else ("hold", "them")
    return (
        f"positivity: {propensity.mechanism} is never 1 in "
        f"{counted(configurations, 'configuration')} of {parents}, which {hold} {share:.1%} of "
        f"the weight; the estimate leaves {it} out"
    )


def _cells(
    rows: Rows, parents: Sequence[str], free: Sequence[Mechanism], where: NDArray[np.bool_]
) -> Codes:
    index = rows.cells(parents, where)
    for mechanism in free:
        index = index * 2 + rows.shows([mechanism])[where]
    return index


def propensity_table(run: Run, propensity: Propensity) -> PropensityTable:
    """The table of a propensity, computed once a run."""
    if propensity not in run.tables:
        compute = _by_odds if isinstance(propensity, Odds) else _by_share
        run.tables[propensity] = compute(run, propensity)  # type: ignore[arg-type]
    return run.tables[propensity]


def _by_share(run: Run, plan: Share) -> PropensityTable:
    r""":math:`\Pr_w(R_i = 1 \mid pa_i)` in the plan's sample."""
    rows = run.rows
    weighted = weigh(run, plan.sample)
    weights = rows.weights[weighted.where] * weighted.factors
    shape = (*rows.shape(plan.parents), *(2 for _ in plan.free))
    index = _cells(rows, plan.parents, plan.free, weighted.where)
    size = int(np.prod(shape, dtype=np.int64))
    shown = rows.shows([plan.mechanism])[weighted.where]
    every = added_up(index, weights, size).reshape(shape)
    seen = added_up(index[shown], weights[shown], size).reshape(shape)
    unit = weights.sum() / max(rows.counts[weighted.where].sum(), 1.0)
    return _filled(seen, every, unit)


def _by_odds(run: Run, plan: Odds) -> PropensityTable:
    r""":math:`1 / (1 + odds)`, the odds being those of `lacunet.estimands.terms.Odds`."""
    rows = run.rows
    weighted = weigh(run, plan.sample)
    base = rows.weights[weighted.where] * weighted.factors
    product = rows.tally(plan.scope, weighted.where, base)  # A(x_D)
    for other in plan.others:
        values = propensity_table(run, other).values
        if other.free:
            values = _at_zero(values, other, plan.mechanism)  # R_i = 0
        product = product * spread(values, other.parents, plan.scope)
    gone = tuple(at for at, name in enumerate(plan.scope) if name not in plan.parents)
    below = product.sum(axis=gone)
    hidden = rows.shows(plan.known) & ~rows.shows([plan.mechanism])
    above = rows.tally(plan.parents, hidden, rows.weights[hidden])
    order = [plan.parents.index(name) for name in plan.scope if name in plan.parents]
    below = below.transpose(np.argsort(order)) if order else below
    is_empty = below <= 0
    odds = np.divide(above, below, out=np.zeros_like(above), where=~is_empty)
    return PropensityTable(1 / (1 + odds), is_empty, above + below)


def _at_zero(values: FloatArray, propensity: Propensity, zero: Mechanism) -> FloatArray:
    """Set one free mechanism to 0 and the others to 1."""
    for mechanism in reversed(propensity.free):
        values = values[..., 0 if mechanism == zero else 1]
    return values


def spread(table: FloatArray, scope: Sequence[str], onto: Sequence[str]) -> FloatArray:
    """The table with its axes in the order of ``onto``, length one where it has none."""
    order = sorted(range(len(scope)), key=lambda at: onto.index(scope[at]))
    moved = table.transpose(order) if order else table
    return moved.reshape([table.shape[scope.index(name)] if name in scope else 1 for name in onto])


def _filled(seen: FloatArray, every: FloatArray, unit: float) -> PropensityTable:
    """The share seen/every; cells without a row seen get the backed-off value, marked."""
    is_empty = seen <= 0
    share = np.divide(seen, every, out=np.zeros_like(seen), where=~is_empty)
    if is_empty.any():
        share = np.where(is_empty, _backed_off(seen, every, unit), share)
    return PropensityTable(share, is_empty, every)


def _backed_off(seen: FloatArray, every: FloatArray, unit: float) -> FloatArray:
    laplace = (seen + unit) / (every + 2 * unit) if unit > 0 else np.full(seen.shape, 0.5)
    lacking = every <= 0
    if not lacking.any() or seen.ndim == 0:
        return np.asarray(laplace)
    axis = min(range(seen.ndim), key=lambda at: _information(seen, every, at))
    coarse = _backed_off(seen.sum(axis=axis), every.sum(axis=axis), unit)
    return np.where(lacking, np.expand_dims(coarse, axis), laplace)


def _information(seen: FloatArray, every: FloatArray, axis: int) -> float:
    """The mutual information between one parent and the mechanism, up to a constant."""
    others = tuple(at for at in range(seen.ndim) if at != axis)
    one, both = seen.sum(axis=others), every.sum(axis=others)
    parts = np.stack([one, both - one])
    share = np.divide(parts, both, out=np.ones_like(parts), where=(both > 0) & (parts > 0))
    return float((parts * np.log(share)).sum())
