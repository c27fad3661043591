r"""What the parameters of a family cost, where not all rows show it.

.. math::
    \frac{(r_y - 1) q_S}{2} \Bigl(\log n - \bigl(1 - \tfrac{n}{N}\bigr) \log q_S\Bigr)

with :math:`n` of the :math:`N` rows showing y and its parents S. Where all show them this is the
penalty of BIC, :math:`\log N / 2` for each free parameter. What cannot occur is not charged for
unless plain BIC is asked for (`lacunet.structure.cells`).

BIC approximates the logarithm of the evidence, in which a parameter costs half the logarithm of
the rows that speak of it: with q configurations of the parents about :math:`n / q`. To take
:math:`N` in its place costs little while the likelihood, which grows with the rows, is far ahead.
With missing values it is not: the log-likelihood shrinks with the rows that show a family, the
penalty does not, and arcs that complete rows leave no doubt of are given up. Of 30 tables with
60% of the variables incomplete, the structure that complete rows lead to was found in 13 when
:math:`N` was taken; in 16 it scored below the one that was found, by up to 106. The share of the
rows that a family lacks decides how far the cost is that of the evidence.

A parameter costs at least six tenths of what BIC takes. With a floor of one nat alone, as in AIC
(it stays, for tables of fewer than 29 rows), false arcs came in where few rows were there and much
of them was missing: of 1,000 rows with half of the values of 60% of the variables missing, 27 to 36
arcs were found where there are 12 to 18. Five tenths let in some of these, seven lose true arcs
(docs/decisions/0017-structure-search.md).

Structures of one class have the same parameters but not the same families: where variables are
missing in different numbers of rows their penalties differ, by less than a nat for two states.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import exp, log, prod

import numpy as np

from lacunet.structure.affected_region import MissingPatterns
from lacunet.structure.cells import cost_of_family, impossible_cells
from lacunet.structure.indexed_rows import CodedRows

LEAST_SHARE = 0.6  # of what a parameter costs where all rows show its family
LEAST_PENALISED_ROWS = exp(2.0)  # half the logarithm of fewer would be less than a nat


class Penalty:
    """The costs of families in rows with some patterns of missing values, each computed once.

    ``weights`` are those of the patterns. ``is_sparse`` says that what cannot occur is not charged
    for.
    """

    def __init__(self, rows: CodedRows, patterns: MissingPatterns, is_sparse: bool) -> None:
        self.rows = rows
        self.patterns = patterns
        self.is_sparse = is_sparse
        number = len(patterns.missing[0])
        self.weights = np.bincount(patterns.of_row, rows.weights, number).astype(np.float64)
        self.total = float(self.weights.sum())
        self.known: dict[tuple[int, frozenset[int]], float] = {}

    def __call__(self, node: int, parents: Iterable[int]) -> float:
        """What the parameters of a variable with these parents cost."""
        key = (node, frozenset(parents))
        if key not in self.known:
            self.known[key] = self._cost(*key)
        return self.known[key]

    def _cost(self, node: int, parents: frozenset[int]) -> float:
        """The formula of the module, with its floor, over the configurations that can occur."""
        impossible = (0, 0)
        if self.is_sparse:  # in the rows that show the family
            table = self.rows.count([*sorted(parents), node])
            impossible = impossible_cells(table), impossible_cells(table.sum(axis=-1))
        total = self.total
        shown = self._shown((node, *parents))
        configurations = prod(self.rows.sizes[parent] for parent in parents)
        possible = configurations - impossible[1]
        rows = 1.0  # whose logarithm is log n - (1 - n / N) log q
        if total:
            rows = max(shown, 1.0) / possible ** (1 - shown / total)
        least = max(total**LEAST_SHARE, min(total, LEAST_PENALISED_ROWS), 2.0)
        each = log(max(rows, least)) / 2
        return cost_of_family(self.rows.sizes[node], configurations, impossible, each)

    def _shown(self, family: Iterable[int]) -> float:
        """The weight of the rows that show a family."""
        missing = reduce(np.logical_or, [self.patterns.missing[node] for node in family])
        return float(self.weights @ ~missing)
