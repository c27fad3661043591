r"""What is known of a hidden cell although it does not show its state.

A cell may be known to be one of several states, or some states may be more likely than others
for a reason outside of the network. Either is a *factor* on the variable: a row that hides
:math:`X` multiplies its probability by a vector :math:`e(x)` of numbers from zero upwards.

.. math:: \Pr(\text{row}) = \sum_x \Pr(x, \ldots) \, e(x)

A factor is an observed child of :math:`X` with a fixed table that need not sum to one; which
vector a row has is the state of that child. So problems, elimination and draws know nothing of
factors: there are some more families behind the CPTs, whose cells never change. A hidden cell of
which nothing is known has no factor at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, EncodedTable, code_type
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.problems.layout import Layout
from lacunet.statistics.problems.ragged import Ragged, joined


@dataclass(frozen=True, eq=False)
class Evidence:
    """A vector on one variable for each row that hides it.

    ``vectors`` has a row for each vector and a column for each state; row ``r`` of the table has
    the vector ``index[r]``, or none where that is the number of vectors. Where the row shows the
    variable, it is not looked at.
    """

    variable: str
    vectors: FloatArray
    index: NDArray[np.integer[Any]]


def evidence_of_sets(table: EncodedTable) -> tuple[Evidence, ...]:
    """That each cell which is one of several states is one of these.

    Examples
    --------
    Three states; the last cell is the first or the second of them.

    >>> codes = {"A": np.array([0, 3, 4], np.uint8)}
    >>> table = EncodedTable({"A": 3}, codes, sets_of={"A": ((0, 1),)})
    >>> [evidence] = evidence_of_sets(table)
    >>> evidence.vectors.tolist(), evidence.index.tolist()
    ([[1.0, 1.0, 0.0]], [1, 1, 0])
    """
    evidence = []
    for name, sets in table.sets_of.items():
        size, column = table.cardinality_of[name], table.columns[name]
        vectors = np.zeros((len(sets), size))
        for row, states in enumerate(sets):
            vectors[row, list(states)] = 1.0
        is_set = column > size
        index = np.where(is_set, column.astype(np.int64) - size - 1, len(sets))
        evidence.append(Evidence(name, vectors, index))
    return tuple(evidence)


@dataclass(frozen=True, eq=False)
class Factors:
    """The factors of compiled rows: which variable each is on, and its vectors.

    ``layout`` has the families of the network and, behind them, one for each factor: its axes
    are the variable and the number of the vector.
    """

    layout: Layout
    variables: Scope
    vectors: tuple[FloatArray, ...]

    def behind(self, cells: FloatArray) -> FloatArray:
        """The cells of all CPTs, end to end, with those of the factors behind them."""
        if not self.vectors:
            return cells
        return np.concatenate([cells, *(np.ravel(matrix.T) for matrix in self.vectors)])

    def is_same(self, other: Factors) -> bool:
        """Whether both have the same vectors on the same variables."""
        return self.variables == other.variables and all(
            np.array_equal(left, right)
            for left, right in zip(self.vectors, other.vectors, strict=True)
        )


def factors_of(layout: Layout, given: Sequence[Evidence]) -> Factors:
    """Lay factors out behind the CPTs."""
    if not given:
        return Factors(layout, (), ())
    index_of = {name: index for index, name in enumerate(layout.network.variables)}
    families, lengths = len(layout.axes), np.full(len(given), 2)
    axes = [(index_of[e.variable], families + number) for number, e in enumerate(given)]
    numbers = np.array([len(evidence.vectors) for evidence in given], dtype=np.int64)
    wide = Layout.of(
        layout.network,
        np.concatenate([layout.cardinalities, numbers]),
        joined([layout.axes, Ragged.of_lengths(lengths, np.ravel(axes))]),
    )
    return Factors(wide, tuple(e.variable for e in given), tuple(e.vectors for e in given))


def with_factors(table: EncodedTable, given: Sequence[Evidence]) -> EncodedTable:
    """The table with a column for each factor: the number of the vector, or missing."""
    if not given:
        return table
    columns, cardinality_of = dict(table.columns), dict(table.cardinality_of)
    for number, factor in enumerate(given):
        size, name = len(factor.vectors), f"{factor.variable}\0{number}"
        is_hidden = table.columns[factor.variable] == table.cardinality_of[factor.variable]
        codes: Codes = np.where(is_hidden, factor.index, size).astype(code_type(size))  # type: ignore[assignment]
        columns[name] = codes
        cardinality_of[name] = size
    return table.with_columns(cardinality_of, columns)
