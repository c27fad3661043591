r"""What is known of a hidden cell although it does not show its state.

A cell may be known to be one of several states. That is a *factor* on the variable: a row that
hides :math:`X` multiplies its probability by a vector :math:`e(x)`, which is one for these states
and zero for the others.

.. math:: \Pr(\text{row}) = \sum_x \Pr(x, \ldots) \, e(x)

A factor is an observed child of :math:`X` with a fixed table whose rows need not sum to one; which
vector a row has is the state of that child. So problems, elimination and draws know nothing of
factors: there are some more families behind the CPTs, whose cells never change. A hidden cell of
which nothing is known has no factor at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.counts.em_problems.ragged import Ragged, concatenate_rows
from lacunet.data.table import Codes, EncodedTable, SetsOf, code_type
from lacunet.network.network import FloatArray, Scope


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


def factors_of(layout: Layout, sets_of: SetsOf) -> Factors:
    """Lay the factors of cells that are one of several states out behind the CPTs."""
    if not sets_of:
        return Factors(layout, (), ())
    variables = layout.network.variables
    families = len(layout.axes)
    vectors = []
    for name, sets in sets_of.items():
        vectors.append(np.zeros((len(sets), layout.network.cardinality(name))))
        for row, states in enumerate(sets):
            vectors[-1][row, list(states)] = 1.0
    axes = [(variables.index(name), families + number) for number, name in enumerate(sets_of)]
    numbers = np.array([len(sets) for sets in sets_of.values()], dtype=np.int64)
    wide = Layout.of(
        layout.network,
        np.concatenate([layout.cardinalities, numbers]),
        concatenate_rows([layout.axes, Ragged.of_lengths(np.full(len(axes), 2), np.ravel(axes))]),
    )
    return Factors(wide, tuple(sets_of), tuple(vectors))


def with_factors(table: EncodedTable) -> EncodedTable:
    """The table with a column for each factor, the number of the vector or missing, and no sets.

    Examples
    --------
    Three states; the last cell is the first or the second of them.

    >>> codes = {"A": np.array([0, 3, 4], np.uint8)}
    >>> table = with_factors(EncodedTable({"A": 3}, codes, sets_of={"A": ((0, 1),)}))
    >>> [column.tolist() for column in table.columns.values()]
    [[0, 3, 3], [1, 1, 0]]
    """
    plain = table.without_sets()
    columns = dict(plain.columns)
    cardinality_of = dict(plain.cardinality_of)
    for name, sets in table.sets_of.items():
        size = table.cardinality_of[name]
        column = table.columns[name].astype(np.int64)
        vector = np.where(column > size, column - size - 1, len(sets))
        codes: Codes = vector.astype(code_type(len(sets)))  # type: ignore[assignment]
        columns[f"{name}\0"] = codes
        cardinality_of[f"{name}\0"] = len(sets)
    return plain.with_columns(cardinality_of, columns) if table.sets_of else plain
