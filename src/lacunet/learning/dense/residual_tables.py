r"""Residual tables: associations that smooth effects do not tell.

Of two columns of numbers one may decide the other in steps that no curve follows (a wage that is
paid in one county); two parents may act together otherwise than each by itself. For such a pair, or
triple, of a child and parents a table of factors :math:`\phi` multiplies the probabilities. The
counts :math:`n` of its cells and those that all else expects, :math:`m`, give each factor a gamma
distribution,

.. math::
    \phi \sim \operatorname{Gamma}(\kappa + n, \kappa + m),

with the prior :math:`\operatorname{Gamma}(\kappa, \kappa)` around one. How much factors differ,
:math:`1 / \kappa`, is told by how far the counts are from what is expected, and whether there is a
table at all by how sure that is (a score test of overdispersion: P. Smith and D. Heitjan, 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.network.network import FloatArray

Codes = NDArray[np.int64]
UNWRITTEN = {"kept": False}  # in files

SURE_OF_A_TABLE = 4.0  # standard errors of the overdispersion, above zero
MOST_TABLES = 5  # of a child
MOST_TABLE_CELLS = 2**15
MOST_PAIRED = 16  # parents that are looked at two by two: the first ones
LEAST_DIFFERENCE = 1e-3  # of factors: 1 / kappa
MOST_DIFFERENCE = 5.0
DAMPING = 0.8  # tables are fitted one after the other, and share what they tell


def _no_counts() -> FloatArray:
    return np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class ResidualTable:
    """Factors by the states of some parents and of the child."""

    parents: tuple[int, ...]
    sizes: tuple[int, ...]
    factors: FloatArray  # a row for each configuration of the parents
    kappa: float  # infinite where factors are known: structural zeros
    counts: FloatArray = field(
        default_factory=_no_counts, metadata=UNWRITTEN
    )  # of the last fit's rows
    expected: FloatArray = field(
        default_factory=_no_counts, metadata=UNWRITTEN
    )  # were all factors one

    @classmethod
    def even(
        cls, parents: Sequence[int], sizes: Sequence[int], states: int, kappa: float
    ) -> ResidualTable:
        """All factors one."""
        shape = prod(sizes), states
        nothing = np.zeros(shape)
        return cls(tuple(parents), tuple(sizes), np.ones(shape), kappa, nothing, nothing)

    @classmethod
    def known(
        cls, parents: Sequence[int], sizes: Sequence[int], possible: FloatArray
    ) -> ResidualTable:
        """Factors that are one or nothing."""
        factors = np.maximum(possible, np.finfo(float).tiny)
        nothing = np.zeros(factors.shape)
        return cls(tuple(parents), tuple(sizes), factors, np.inf, nothing, nothing)

    @property
    def is_known(self) -> bool:
        """Whether its factors are not learned."""
        return bool(np.isinf(self.kappa))

    @cached_property
    def by_state(self) -> FloatArray:
        """The factors: configurations of the parents behind states."""
        return np.ascontiguousarray(self.factors.T)

    @cached_property
    def logs(self) -> FloatArray:
        """Their logarithms."""
        return np.asarray(np.log(self.by_state))

    def cells(self, codes: Codes) -> Codes:
        """Which configuration of the parents each row has."""
        return cells_of(self.parents, self.sizes, codes)

    def stride(self, parent: int) -> int:
        """How many configurations further the next state of a parent is."""
        return prod(self.sizes[self.parents.index(parent) + 1 :])

    def refitted(
        self, codes: Codes, child: Codes, expected: FloatArray, weights: FloatArray
    ) -> ResidualTable:
        """The same with factors for these rows.

        ``expected`` are the weights of states in each row by the whole CPT: rows behind states.
        """
        if self.is_known:
            return self
        cells = self.cells(codes)
        counts = counted(cells, child, weights, self.factors.shape)
        alone = summed(cells, expected, len(self.factors)) / self.factors
        aim = (self.kappa + counts) / (self.kappa + alone)
        factors = self.factors * (aim / self.factors) ** DAMPING
        return replace(self, factors=factors, counts=counts, expected=alone)

    def relearned(self) -> ResidualTable:
        """The same with the prior that its counts ask for."""
        if self.is_known:
            return self
        difference, _ = overdispersion(self.counts, self.expected)
        difference = min(max(difference, LEAST_DIFFERENCE), MOST_DIFFERENCE)
        return replace(self, kappa=1 / difference)

    def drawn(self, rng: np.random.Generator) -> ResidualTable:
        """Factors drawn from their posterior."""
        if self.is_known:
            return self
        shapes = self.kappa + self.counts
        factors = rng.standard_gamma(shapes) / (self.kappa + self.expected)
        return replace(self, factors=np.maximum(factors, np.finfo(float).tiny))


def cells_of(parents: Sequence[int], sizes: Sequence[int], codes: Codes) -> Codes:
    """Which configuration of some variables each row has, the last one's states fastest."""
    cells = codes[:, parents[0]]
    for parent, size in zip(parents[1:], sizes[1:], strict=True):
        cells = cells * size + codes[:, parent]
    return cells


def counted(cells: Codes, child: Codes, weights: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """The weight of the rows in each cell and state of the child."""
    counts = np.bincount(cells * shape[1] + child, weights, prod(shape))
    return np.asarray(counts.reshape(shape))


def summed(cells: Codes, rows: FloatArray, number: int) -> FloatArray:
    """Rows, which stand behind states, added up by their cells."""
    return np.stack([np.bincount(cells, of_state, number) for of_state in rows], axis=1)


def overdispersion(counts: FloatArray, expected: FloatArray) -> tuple[float, float]:
    """How much factors differ (the variance of a factor), and how many standard errors that is."""
    totals = np.maximum(expected.sum(axis=1, keepdims=True), 1e-9)
    variances = expected * (1 - expected / totals)
    squares = float((variances**2).sum())
    surplus = float(((counts - expected) ** 2 - variances).sum())
    if not squares > 0:
        return 0.0, 0.0
    return surplus / squares, surplus / float(np.sqrt((2 * variances**2 + variances).sum()))


def candidates_of(
    parents: Sequence[int], sizes: Sequence[int], states: int
) -> list[tuple[int, ...]]:
    """The parents, alone and two by two, whose tables with a child of so many states fit."""
    candidates: list[tuple[int, ...]] = [(parent,) for parent in parents]
    candidates += combinations(parents[:MOST_PAIRED], 2)
    return [
        candidate
        for candidate in candidates
        if prod(sizes[parent] for parent in candidate) * states <= MOST_TABLE_CELLS
    ]


def surest_table(
    candidates: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    rows: tuple[Codes, Codes, FloatArray],
    expected: FloatArray,
) -> tuple[ResidualTable | None, list[tuple[int, ...]]]:
    """The table that the rows insist on most, and the other candidates that they insist on.

    ``rows`` are the codes of all variables, those of the child, and weights.
    """
    codes, child, weights = rows
    states = len(expected)
    candidates_found: list[tuple[float, float, tuple[int, ...]]] = []
    for candidate in candidates:
        shape = prod(sizes[parent] for parent in candidate), states
        cells = cells_of(candidate, [sizes[parent] for parent in candidate], codes)
        counts = counted(cells, child, weights, shape)
        difference, sureness = overdispersion(counts, summed(cells, expected, shape[0]))
        if sureness > SURE_OF_A_TABLE:
            candidates_found.append((sureness, difference, candidate))
    if not candidates_found:
        return None, []
    (_, difference, best), *others = sorted(candidates_found, reverse=True)
    difference = min(max(difference, LEAST_DIFFERENCE), MOST_DIFFERENCE)
    table = ResidualTable.even(best, [sizes[parent] for parent in best], states, 1 / difference)
    return table, [candidate for _, _, candidate in others]
