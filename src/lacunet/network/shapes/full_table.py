r"""The full table: a distribution for each parent configuration.

.. math::
    \theta(x \mid u) = \frac{n(u, x)}{n(u)}

A row about which nothing is counted is uniform. As parameters it has the log odds of each state but
the first. Nothing learns by this file: tables that are not said to be of another shape are learned
in the same breath, all at once (`lacunet.learning.cpt_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from lacunet.network.network import FloatArray, Mask
from lacunet.network.shapes.newton import LAST_GAIN
from lacunet.network.shapes.shape import LARGEST_LOG_ODDS, Shaped, StatesOfAxes


@dataclass(frozen=True)
class TableShape:
    """A CPT with a distribution for each parent configuration."""

    name = "table"

    def of(self, variable: str, parents: tuple[str, ...], states: StatesOfAxes) -> Shaped:  # noqa: ARG002
        """The same for the CPT of a variable."""
        first, *others = states[-1]
        names = []
        for configuration in product(*states[:-1]):
            given = ", ".join(map("=".join, zip(parents, configuration, strict=True)))
            for state in others:
                names.append(f"odds of {state} against {first}, {given}".removesuffix(", "))
        return FullTable(tuple(map(len, states)), tuple(names))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class FullTable:
    """A full table on a family."""

    shape: tuple[int, ...]
    parameter_names: tuple[str, ...]

    @property
    def pseudo_counts(self) -> FloatArray:
        """One for each cell."""
        return np.ones(self.shape)

    def fit(
        self,
        counts: FloatArray,
        near: FloatArray | None = None,  # noqa: ARG002
        last_gain: float = LAST_GAIN,  # noqa: ARG002
    ) -> FloatArray:
        """Each row divided by its sum."""
        sums = counts.sum(axis=-1, keepdims=True)
        even = np.full(self.shape, 1 / self.shape[-1])
        return np.asarray(np.divide(counts, sums, out=even, where=sums > 0))

    def parameters(self, table: FloatArray) -> FloatArray:
        """The log odds of each row."""
        logs = np.log(np.maximum(table, np.finfo(float).tiny))
        odds: FloatArray = np.clip(
            logs[..., 1:] - logs[..., :1], -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS
        ).ravel()
        return odds

    @property
    def reports_probabilities(self) -> bool:
        """Reports give odds and odds ratios."""
        return False

    def reported(self, parameters: FloatArray) -> FloatArray:
        """Odds, and odds ratios."""
        return np.asarray(np.exp(parameters))

    def table(self, parameters: FloatArray) -> FloatArray:
        """The table of some log odds."""
        odds = np.zeros(self.shape)
        odds[..., 1:] = parameters.reshape(*self.shape[:-1], -1)
        weights = np.exp(odds - odds.max(axis=-1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def derivative(self, parameters: FloatArray) -> FloatArray:
        """How each log odds moves its row."""
        rows = self.table(parameters).reshape(-1, self.shape[-1])
        others = self.shape[-1] - 1
        moved = np.zeros((len(rows), others, *rows.shape))
        for row, rates in enumerate(rows):
            moved[row, :, row] = np.eye(len(rates))[1:] * rates - np.outer(rates[1:], rates)
        return moved.reshape(-1, *self.shape)

    def backing(self, rows: FloatArray) -> FloatArray:
        """Each row of the table has its own."""
        return rows

    def within(self, parameters: FloatArray) -> FloatArray:
        """The nearest parameters within their bounds."""
        return np.clip(parameters, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)

    def is_inside(self, parameters: FloatArray) -> Mask:
        """Of each log odds whether it is not at its bound."""
        return np.asarray(np.abs(parameters) < LARGEST_LOG_ODDS)
