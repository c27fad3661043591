r"""Noisy-MAX: each cause alone would bring the child to some level, and the highest stands.

The child's states are ordered, the first says that there is nothing. With :math:`Y_i` the level
that cause :math:`i` brings about by itself, and :math:`Y_0` that of causes which are no variables,
the *leak*,

.. math::
    P(Y \le y \mid u) = \prod_i P(Y_i \le y \mid u_i)
    = \exp \Bigl(-\sum_{z \ge y} D_z(u)\Bigr), \qquad
    D_z(u) = \delta_{z0} + \sum_i \delta_{z i u_i}, \quad \delta \ge 0,

and a cause that is absent has no part. The parameters are the increments of log cumulative
probabilities, :math:`\delta`; their share :math:`1 - e^{-\delta}` is the probability with which a
cause alone lifts the child from :math:`z` or below to :math:`z + 1`, where it does not lift it
higher. Of a noisy-OR it is the link probability.

*The fit.* :math:`P(Y = y \mid u) = \exp(-\sum_{z \ge y} D_z) (1 - e^{-D_{y-1}})`, so the
log-likelihood is a sum over levels, each with parameters of its own,

.. math::
    \sum_u -n(u, Y \le z) \, D_z(u) + n(u, Y = z + 1) \log (1 - e^{-D_z(u)}),

and concave: Newton's method, within bounds. Each level is a noisy-OR among the rows that are not
above it (F. J. Díez, 1993; S. Srinivas, 1993).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lacunet.network.arguments import clear_arguments
from lacunet.network.errors import NetworkError
from lacunet.network.network import FloatArray, Mask, Network
from lacunet.network.shapes.absent import absent_index, check_absent
from lacunet.network.shapes.main_effects import (
    MainEffects,
    backed_by_states,
    check_table_rows,
    effect_names,
)
from lacunet.network.shapes.newton import LAST_GAIN, Slope, maximum
from lacunet.network.shapes.shape import Shaped, StatesOfAxes

INCREMENT_OF_CERTAINTY = 30.0  # an increment: what is more is a probability of one
ONE_CAUSE = 0.5  # pseudo-counts of each state where there is one cause
NO_CAUSE = 0.1  # the same where there is none
ROUNDING_OF_INCREMENT = 1e-13  # an increment that a table shows: what is less is none
SMALLEST_START = 1e-3
LARGEST_START = 2.0


@clear_arguments
@dataclass(frozen=True)
class NoisyMax:
    """A CPT whose parents are causes: each alone would bring the child to some level.

    The child's states are in order, that of no effect first or last. A cause without effect has the
    state "absent", which is known by its word (no, false, absent, 0, none, normal, negative, off)
    or said here; other causes than the parents are the leak.

    Parameters
    ----------
    absent
        For variables whose states do not say so themselves, the one that means "absent".

    Examples
    --------
    >>> import lacunet as lc
    >>> fever = lc.Network(
    ...     {"Flu": ["low", "high"], "Fever": ["none", "mild", "high"]}, {"Fever": ["Flu"]}
    ... )
    >>> fever.with_shapes({"Fever": lc.NoisyMax(absent={"Flu": "low"})}).free_parameters
    5
    """

    absent: Mapping[str, str] = field(default_factory=dict)
    name = "noisy-max"

    def __post_init__(self) -> None:
        check_absent("NoisyMax", self.absent)

    def of(self, variable: str, parents: tuple[str, ...], states: StatesOfAxes) -> Shaped:
        """The same for the CPT of a variable."""
        check_table_rows(self.name, variable, states)
        child = absent_index("NoisyMax", variable, states[-1], self.absent, variable)
        if child not in (0, len(states[-1]) - 1):
            raise NetworkError(
                f"the CPT of {variable!r} is to be 'noisy-max', and its state {states[-1][child]!r}"
                f" of no effect is between others: {list(states[-1])}.",
                "order its states from none to most, or from most to none.",
            )
        return independent_causes(
            name="NoisyMax",
            absent=self.absent,
            variable=variable,
            parents=parents,
            states=states,
            child=child,
        )

    def __str__(self) -> str:
        return self.name


def absent_states(network: Network, variable: str, shape: Any) -> dict[str, str]:
    """The state of no effect of a noisy-OR or noisy-MAX, and of each of its causes."""
    states_of = {name: network.states(name) for name in network.family(variable)}
    return {
        name: states[absent_index(type(shape).__name__, name, states, shape.absent, variable)]
        for name, states in states_of.items()
    }


def independent_causes(
    name: str,
    absent: Mapping[str, str],
    variable: str,
    parents: tuple[str, ...],
    states: StatesOfAxes,
    child: int,
) -> IndependentCauses:
    """The shape on a family; ``child`` is the position of its state of no effect."""
    baselines = [
        absent_index(name, parent, of_parent, absent, variable)
        for parent, of_parent in zip(parents, states[:-1], strict=True)
    ]
    levels = states[-1] if child == 0 else states[-1][::-1]
    columns = ["leak"]
    columns += [f"link from {effect}" for effect in effect_names(parents, states, baselines)]
    is_plain = len(levels) == 2
    names = [f"{c}" if is_plain else f"{c} to {level}" for level in levels[1:] for c in columns]
    sizes = tuple(map(len, states))
    is_one = MainEffects.of(sizes[:-1], baselines).matrix[:, 1:].sum(axis=1)
    pseudo = np.where(is_one == 0, NO_CAUSE, np.where(is_one == 1, ONE_CAUSE, 0.0))
    return IndependentCauses(
        sizes,
        tuple(names),
        np.repeat(pseudo[:, None], sizes[-1], axis=1).reshape(sizes),
        MainEffects.of(sizes[:-1], baselines),
        is_reversed=child != 0,
    )


@dataclass(frozen=True, eq=False)
class IndependentCauses:
    """Noisy-MAX on the CPT of a family; of a child with two states a noisy-OR.

    ``is_reversed`` where the child's last state is that of no effect.
    """

    shape: tuple[int, ...]
    parameter_names: tuple[str, ...]
    pseudo_counts: FloatArray
    effects: MainEffects
    is_reversed: bool

    def fit(
        self, counts: FloatArray, near: FloatArray | None = None, last_gain: float = LAST_GAIN
    ) -> FloatArray:
        """The table that makes counts likeliest."""
        if not counts.any():
            counts = self.pseudo_counts
        rows = self._levels(counts)
        increments = np.zeros((self.shape[-1] - 1, self.effects.columns))
        begin = None if near is None else self.parameters(near).reshape(increments.shape)
        not_above = rows.cumsum(axis=1)
        for level in range(len(increments)):
            start = None if begin is None else begin[level]
            increments[level] = fitted_level(
                not_above[:, level], rows[:, level + 1], self.effects, start, last_gain
            )
        return self.table(increments.ravel())

    def parameters(self, table: FloatArray) -> FloatArray:
        """The increments of each level: the leak's, then those of each cause."""
        cumulative = np.cumsum(self._levels(table), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(cumulative[:, 1:]) - np.log(cumulative[:, :-1])  # D_z(u)
        logs = np.where(np.isnan(logs), 0.0, logs)
        alone = np.clip(logs[self.effects.alone], 0.0, None)
        alone[1:] -= np.minimum(alone[0], INCREMENT_OF_CERTAINTY)
        alone = np.where(
            alone < ROUNDING_OF_INCREMENT, 0.0, np.minimum(alone, INCREMENT_OF_CERTAINTY)
        )
        return np.asarray(alone.T.ravel())

    @property
    def reports_probabilities(self) -> bool:
        """Reports give links and leak as probabilities."""
        return True

    def reported(self, parameters: FloatArray) -> FloatArray:
        """Link probabilities, and the leak's."""
        return np.asarray(-np.expm1(-parameters))

    def table(self, parameters: FloatArray) -> FloatArray:
        """The table of some increments."""
        increments = parameters.reshape(-1, self.effects.columns)
        by_level = self.effects.values(increments)  # D_z(u)
        below = _sums_from(by_level)  # -log P(Y <= y)
        rows = np.exp(-below).T
        rows[:, 1:] *= -np.expm1(-by_level.T)
        return self._states(rows)

    def derivative(self, parameters: FloatArray) -> FloatArray:
        """How each increment moves the table."""
        increments = parameters.reshape(-1, self.effects.columns)
        by_level = self.effects.values(increments)
        rows = self._levels(self.table(parameters))
        cumulative = np.exp(-_sums_from(by_level)).T
        matrix = self.effects.matrix
        moved = []
        for level in range(len(increments)):
            by_sum = np.zeros_like(rows)  # dP / dD_z
            by_sum[:, : level + 1] = -rows[:, : level + 1]
            by_sum[:, level + 1] = cumulative[:, level]
            moved += [self._states(column[:, None] * by_sum) for column in matrix.T]
        return np.stack(moved)

    def backing(self, rows: FloatArray) -> FloatArray:
        """The rows behind each parent configuration: its own, or those of its parents' states."""
        return backed_by_states(rows)

    def within(self, parameters: FloatArray) -> FloatArray:
        """The nearest parameters within their bounds."""
        return np.clip(parameters, 0.0, INCREMENT_OF_CERTAINTY)

    def is_inside(self, parameters: FloatArray) -> Mask:
        """Of each increment whether it is neither zero nor certain."""
        return np.asarray((parameters > 0) & (parameters < INCREMENT_OF_CERTAINTY))

    def _levels(self, table: FloatArray) -> FloatArray:
        """A row for each parent configuration, the state of no effect first."""
        rows = table.reshape(-1, self.shape[-1])
        return rows[:, ::-1] if self.is_reversed else rows

    def _states(self, rows: FloatArray) -> FloatArray:
        """The table of such rows."""
        ordered = rows[:, ::-1] if self.is_reversed else rows
        return np.ascontiguousarray(ordered).reshape(self.shape)


def fitted_level(
    no: FloatArray,
    yes: FloatArray,
    effects: MainEffects,
    start: FloatArray | None,
    last_gain: float,
) -> FloatArray:
    """The increments of one level that make counts likeliest.

    Parameters
    ----------
    no, yes
        For each parent configuration the rows below the level, and those at it.
    start
        Increments that cannot be far.
    last_gain
        What the last step of Newton's method promises at most.
    """
    total = no.sum() + yes.sum()
    number = effects.columns
    bounds = np.zeros(number), np.full(number, INCREMENT_OF_CERTAINTY)
    if not total > 0:
        return np.zeros(number) if start is None else start
    no, yes = no / total, yes / total
    seen = yes > 0

    def likelihood(increments: FloatArray) -> Slope:
        size = effects.values(increments)  # D(u)
        reached = np.where(seen, -np.expm1(-size), 1.0)  # P(at the level), where it was seen
        if not reached.all():  # what was seen would be impossible
            return Slope(-np.inf, np.zeros(number), np.zeros((number, number)))
        value = float(yes @ np.log(reached) - no @ size)
        odds = yes * np.exp(-size) / reached
        bend = odds / reached
        return Slope(value, effects.sums(odds - no), effects.products(bend))

    begin = None
    if start is not None:
        begin = np.minimum(np.maximum(start, 0.0), INCREMENT_OF_CERTAINTY)
        # Where the leak is zero, what was seen may be impossible at the start.
        if not begin[0] > 0 and not (effects.values(begin)[seen] > 0).all():
            begin = None
    if begin is None:
        mean = -np.log1p(-min(float(yes.sum()), 1 - 1e-6)) / number
        begin = np.full(number, np.clip(mean, SMALLEST_START, LARGEST_START))
    return maximum(likelihood, begin, *bounds, last_gain)


def _sums_from(by_level: FloatArray) -> FloatArray:
    """The sum over each level and those above it; zero at the highest."""
    sums = np.zeros((len(by_level) + 1, by_level.shape[1]))
    sums[:-1] = np.cumsum(by_level[::-1], axis=0)[::-1]
    return sums
