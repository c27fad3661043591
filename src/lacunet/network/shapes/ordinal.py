r"""Ordinal: every parent's state moves the child up or down its ordered states, by one number.

.. math::
    P(Y \le y \mid u) = \sigma(\tau_y - \eta(u)), \qquad
    \eta(u) = \sum_i \beta_{i u_i}, \qquad \tau_0 \le \tau_1 \le \dots

Proportional odds (P. McCullagh, 1980): :math:`e^\beta` is the odds ratio of being above a state,
any state. The first state of every parent is what others are compared with; the table is the same
whichever it is, and if the child's states are turned round.

*The fit.* With :math:`z_y = \tau_y - \eta` and the gaps :math:`d_y = \tau_y - \tau_{y-1} \ge 0`,

.. math::
    \log P(y \mid u) = \log \sigma(z_y) + \log \sigma(-z_{y-1}) + \log (1 - e^{-d_y}),

where the first is absent for the last state, the second for the first state, and the third for
both. All three are concave in :math:`\tau_0`, the gaps and :math:`\beta`: Newton's method, within
bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.network.network import FloatArray, Mask
from lacunet.network.shapes.main_effects import (
    MainEffects,
    backed_by_states,
    check_table_rows,
    effect_names,
)
from lacunet.network.shapes.newton import LAST_GAIN, Slope, maximum
from lacunet.network.shapes.shape import LARGEST_LOG_ODDS, Shaped, StatesOfAxes

SMALLEST_GAP = 1e-12  # between two thresholds: a state between them is never reached


@dataclass(frozen=True)
class Ordinal:
    """A CPT in which every parent's state moves the child along its ordered states."""

    name = "ordinal"

    def of(self, variable: str, parents: tuple[str, ...], states: StatesOfAxes) -> Shaped:
        """The same for the CPT of a variable."""
        check_table_rows(self.name, variable, states)
        sizes = tuple(map(len, states))
        baselines = [0] * len(parents)
        names = [f"odds of at most {state}" for state in states[-1][:-1]]
        for effect in effect_names(parents, states, baselines):
            names.append(f"odds ratio of more, {effect}")
        pseudo = np.full(sizes, len(names) / np.prod(sizes))
        return CumulativeLogit(sizes, tuple(names), pseudo, MainEffects.of(sizes[:-1], baselines))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class CumulativeLogit:
    """Ordinal on the CPT of a family."""

    shape: tuple[int, ...]
    parameter_names: tuple[str, ...]
    pseudo_counts: FloatArray
    effects: MainEffects

    @property
    def thresholds(self) -> int:
        """How many thresholds there are: the first parameters."""
        return self.shape[-1] - 1

    def fit(
        self, counts: FloatArray, near: FloatArray | None = None, last_gain: float = LAST_GAIN
    ) -> FloatArray:
        """The table that makes counts likeliest."""
        total = counts.sum()
        if not total > 0:
            counts = self.pseudo_counts
            total = counts.sum()
        if self.thresholds == 0:
            return np.ones(self.shape)
        shares = counts.reshape(-1, self.shape[-1]).T / total
        between = shares[1:-1].sum(axis=1)  # of the states that have a gap
        number = len(self.parameter_names)
        steps = self.thresholds
        effects = self.effects
        to_thresholds = np.tri(steps)  # from the first one and the gaps

        def likelihood(gaps: FloatArray) -> Slope:
            scores = self._scores(np.concatenate([to_thresholds @ gaps[:steps], gaps[steps:]]))
            below, above = _log_logistic(scores), _log_logistic(-scores)  # at most y; more than y
            room = gaps[1:steps]
            with np.errstate(divide="ignore"):
                logs = np.log(-np.expm1(-room))
            value = float((shares[:-1] * below + shares[1:] * above).sum())
            value += float(between[between > 0] @ logs[between > 0])
            # By the thresholds and effects, each score z_y = tau_y - eta.
            up, down = np.exp(above), np.exp(below)
            by_score = effects.sums(shares[:-1] * up - shares[1:] * down)
            weights = (shares[:-1] + shares[1:]) * up * down
            of_each = effects.sums(weights)
            gradient = np.empty(number)
            curvature = np.empty((number, number))
            gradient[:steps] = to_thresholds.T @ by_score[:, 0]
            gradient[steps:] = -by_score[:, 1:].sum(axis=0)
            curvature[:steps, :steps] = to_thresholds.T * of_each[:, 0] @ to_thresholds
            curvature[:steps, steps:] = -to_thresholds.T @ of_each[:, 1:]
            curvature[steps:, :steps] = curvature[:steps, steps:].T
            curvature[steps:, steps:] = effects.products(weights.sum(axis=0))[1:, 1:]
            # By the gaps themselves.
            odds = between / np.expm1(room)
            gradient[1:steps] += odds
            diagonal = np.arange(1, steps)
            curvature[diagonal, diagonal] += odds / -np.expm1(-room)
            return Slope(value, gradient, curvature)

        low = np.full(number, -LARGEST_LOG_ODDS)
        high = np.full(number, LARGEST_LOG_ODDS)
        low[1:steps] = SMALLEST_GAP
        begin = self._even_start(shares) if near is None else self.parameters(near)
        start = np.concatenate([begin[:1], np.diff(begin[:steps]), begin[steps:]])
        gaps = maximum(likelihood, np.clip(start, low, high), low, high, last_gain)
        return self.table(np.concatenate([to_thresholds @ gaps[:steps], gaps[steps:]]))

    def parameters(self, table: FloatArray) -> FloatArray:
        """The thresholds, then the effect of each parent's state."""
        rows = table.reshape(-1, self.shape[-1])[self.effects.alone]
        tiny = np.finfo(float).tiny
        below = np.maximum(np.cumsum(rows, axis=1)[:, :-1], tiny)
        above = np.maximum(np.cumsum(rows[:, ::-1], axis=1)[:, ::-1][:, 1:], tiny)
        scores = np.clip(np.log(below) - np.log(above), -2 * LARGEST_LOG_ODDS, 2 * LARGEST_LOG_ODDS)
        if not scores.shape[1]:
            return np.zeros(len(self.parameter_names))
        # Every threshold tells an effect: the one that is farthest from 0 and 1 does best.
        middle = np.abs(scores).argmin(axis=1)[1:]
        effects = scores[0, middle] - scores[1:][np.arange(len(middle)), middle]
        thresholds = np.maximum.accumulate(np.clip(scores[0], -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))
        return np.concatenate([thresholds, np.clip(effects, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)])

    @property
    def reports_probabilities(self) -> bool:
        """Reports give odds and odds ratios."""
        return False

    def reported(self, parameters: FloatArray) -> FloatArray:
        """Odds, and odds ratios."""
        return np.asarray(np.exp(parameters))

    def table(self, parameters: FloatArray) -> FloatArray:
        """The table of some thresholds and effects."""
        if self.thresholds == 0:
            return np.ones(self.shape)
        scores = self._scores(parameters)
        below = np.exp(_log_logistic(scores))
        above = np.exp(_log_logistic(-scores))
        rows = np.empty((self.shape[-1], scores.shape[1]))
        rows[0] = below[0]
        rows[-1] = above[-1]
        gaps = np.diff(parameters[: self.thresholds])
        rows[1:-1] = below[1:] * above[:-1] * -np.expm1(-gaps)[:, None]
        return np.ascontiguousarray(rows.T).reshape(self.shape)

    def derivative(self, parameters: FloatArray) -> FloatArray:
        """How each threshold and effect moves the table."""
        scores = self._scores(parameters)
        bend = np.exp(_log_logistic(scores) + _log_logistic(-scores))  # dP(Y <= y) / dz_y
        by_score = np.zeros((self.thresholds, *reversed(self._flat)))
        for step in range(self.thresholds):
            by_score[step, step] = bend[step]
            by_score[step, step + 1] = -bend[step]
        by_effect = -by_score.sum(axis=0) * self.effects.matrix.T[1:, None]
        moved = np.concatenate([by_score, by_effect])
        return np.ascontiguousarray(moved.swapaxes(1, 2)).reshape(-1, *self.shape)

    def backing(self, rows: FloatArray) -> FloatArray:
        """The rows behind each parent configuration: its own, or those of its parents' states."""
        return backed_by_states(rows)

    def within(self, parameters: FloatArray) -> FloatArray:
        """Parameters within their bounds, and thresholds that ascend."""
        within = np.clip(parameters, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
        steps = self.thresholds
        within[:steps] = np.maximum.accumulate(within[:steps])
        return within

    def is_inside(self, parameters: FloatArray) -> Mask:
        """Of each threshold and effect whether it is not at a bound, nor at the next threshold."""
        inside = np.abs(parameters) < LARGEST_LOG_ODDS
        apart = np.diff(parameters[: self.thresholds]) > 2 * SMALLEST_GAP
        inside[1 : self.thresholds] &= apart
        return np.asarray(inside)

    @property
    def _flat(self) -> tuple[int, int]:
        """How many parent configurations and states there are."""
        return int(np.prod(self.shape[:-1])), self.shape[-1]

    def _scores(self, parameters: FloatArray) -> FloatArray:
        """For each threshold what it is above each parent configuration: tau - eta."""
        thresholds = parameters[: self.thresholds]
        effects = parameters[self.thresholds :]
        return np.asarray(thresholds[:, None] - self.effects.values(np.append(0.0, effects)))

    def _even_start(self, shares: FloatArray) -> FloatArray:
        """The thresholds of how often each state is seen, a little smoothed; no effects."""
        in_state = shares.sum(axis=1) + 0.01
        below = np.cumsum(in_state)[:-1] / in_state.sum()
        thresholds = np.log(below) - np.log1p(-below)
        effects = np.zeros(len(self.parameter_names) - self.thresholds)
        return np.concatenate([thresholds, effects])


def _log_logistic(scores: FloatArray) -> FloatArray:
    r""":math:`\log \sigma(z)`."""
    return np.asarray(-np.logaddexp(0.0, -scores))
