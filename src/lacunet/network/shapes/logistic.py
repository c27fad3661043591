r"""Logistic: every parent's state multiplies the odds of the child's states, whatever the others.

.. math::
    P(y \mid u) \propto \exp \eta_y(u), \qquad
    \eta_y(u) = \alpha_y + \sum_i \beta_{y i u_i}, \qquad \eta_0 = 0

A multinomial logit with main effects. The child's states have no order; its first state, and the
first of every parent, are those that odds are compared with, and the table is the same whichever
these are. :math:`e^\beta` is an odds ratio. The log-likelihood is concave: Newton's method. Where
rows separate states (no row with some parent's state has some state) and no pseudo-counts hold
against it, parameters end at a bound, or where nothing is left to climb.
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


@dataclass(frozen=True)
class Logistic:
    """A CPT in which every parent's state multiplies the odds of the child's states."""

    name = "logistic"

    def of(self, variable: str, parents: tuple[str, ...], states: StatesOfAxes) -> Shaped:
        """The same for the CPT of a variable."""
        check_table_rows(self.name, variable, states)
        sizes = tuple(map(len, states))
        baselines = [0] * len(parents)
        effects = MainEffects.of(sizes[:-1], baselines)
        first, *others = states[-1]
        names = []
        for state in others:
            names.append(f"odds of {state} against {first}")
            for effect in effect_names(parents, states, baselines):
                names.append(f"odds ratio of {state} against {first}, {effect}")
        pseudo = np.full(sizes, len(names) / np.prod(sizes))
        return MultinomialLogit(sizes, tuple(names), pseudo, effects)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class MultinomialLogit:
    """Logistic on the CPT of a family."""

    shape: tuple[int, ...]
    parameter_names: tuple[str, ...]
    pseudo_counts: FloatArray
    effects: MainEffects

    def fit(
        self, counts: FloatArray, near: FloatArray | None = None, last_gain: float = LAST_GAIN
    ) -> FloatArray:
        """The table that makes counts likeliest."""
        total = counts.sum()
        if not total > 0:
            return np.full(self.shape, 1 / self.shape[-1]) if near is None else near
        shares = counts.reshape(-1, self.shape[-1]).T / total
        in_row = shares.sum(axis=0)
        number = len(self.parameter_names)
        effects = self.effects
        others = self.shape[-1] - 1

        def likelihood(parameters: FloatArray) -> Slope:
            logs = self._logs(parameters)
            rates = np.exp(logs)
            slope = effects.sums(shares[1:] - in_row * rates[1:])
            curvature = np.empty((others, effects.columns, others, effects.columns))
            for state in range(others):
                for other in range(state + 1):
                    weights = -in_row * rates[state + 1] * rates[other + 1]
                    if state == other:
                        weights += in_row * rates[state + 1]
                    block = effects.products(weights)
                    curvature[state, :, other] = curvature[other, :, state] = block
            value = float((shares * logs).sum())
            return Slope(value, slope.ravel(), curvature.reshape(number, number))

        start = np.zeros(number) if near is None else self.parameters(near)
        return self.table(
            maximum(
                likelihood,
                start,
                np.full(number, -LARGEST_LOG_ODDS),
                np.full(number, LARGEST_LOG_ODDS),
                last_gain,
            )
        )

    def parameters(self, table: FloatArray) -> FloatArray:
        """Log odds against the first state, and how each parent's state changes them."""
        rows = table.reshape(-1, self.shape[-1])
        logs = np.log(np.maximum(rows, np.finfo(float).tiny))
        odds = logs[:, 1:] - logs[:, :1]
        parameters = odds[self.effects.alone]
        parameters[1:] -= parameters[0]
        return np.asarray(np.clip(parameters.T.ravel(), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))

    @property
    def reports_probabilities(self) -> bool:
        """Reports give odds and odds ratios."""
        return False

    def reported(self, parameters: FloatArray) -> FloatArray:
        """Odds, and odds ratios."""
        return np.asarray(np.exp(parameters))

    def table(self, parameters: FloatArray) -> FloatArray:
        """The table of some log odds."""
        return np.ascontiguousarray(np.exp(self._logs(parameters)).T).reshape(self.shape)

    def derivative(self, parameters: FloatArray) -> FloatArray:
        """How each log odds moves the table."""
        rows = self.table(parameters).reshape(-1, self.shape[-1])
        columns = self.effects.matrix.T
        moved = []
        for state in range(1, self.shape[-1]):
            by_sum = -rows * rows[:, state : state + 1]
            by_sum[:, state] += rows[:, state]
            moved += [(column[:, None] * by_sum).reshape(self.shape) for column in columns]
        return np.stack(moved) if moved else np.zeros((0, *self.shape))

    def backing(self, rows: FloatArray) -> FloatArray:
        """The rows behind each parent configuration: its own, or those of its parents' states."""
        return backed_by_states(rows)

    def within(self, parameters: FloatArray) -> FloatArray:
        """The nearest parameters within their bounds."""
        return np.clip(parameters, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)

    def is_inside(self, parameters: FloatArray) -> Mask:
        """Of each log odds whether it is not at its bound."""
        return np.asarray(np.abs(parameters) < LARGEST_LOG_ODDS)

    def _logs(self, parameters: FloatArray) -> FloatArray:
        """The logarithm of each probability: child's states, then parent configurations."""
        sums = self.effects.values(parameters.reshape(-1, self.effects.columns))
        whole = np.concatenate([np.zeros((1, sums.shape[1])), sums])
        highest = whole.max(axis=0)
        return np.asarray(whole - highest - np.log(np.exp(whole - highest).sum(axis=0)))
