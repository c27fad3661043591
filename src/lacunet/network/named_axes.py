"""A table with named axes: what probabilities and weights over several variables are kept in.

Axes are found by name, so that formulas multiply, sum and divide tables without saying where
an axis lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.network.dictionary import align_axes
from lacunet.network.network import FloatArray, Scope


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers over the joint states of ``scope``, one axis for each variable.

    Examples
    --------
    >>> joint = Table(("A", "B"), np.array([[0.1, 0.3], [0.2, 0.4]]))
    >>> joint.marginal(("B",)).array.tolist()
    [0.30000000000000004, 0.7]
    >>> (joint.given(("A",)) * joint.marginal(("A",))).marginal(("B", "A")).array.tolist()
    [[0.1, 0.2], [0.3, 0.4]]
    """

    scope: Scope
    array: FloatArray

    def aligned(self, scope: Sequence[str]) -> FloatArray:
        """The numbers with the axes of ``scope``, of length one where the table has none."""
        return align_axes(self.array, self.scope, scope)

    def marginal(self, names: Sequence[str]) -> Table:
        """The sums over the axes that are not named; axes in the order of ``names``."""
        gone = tuple(axis for axis, name in enumerate(self.scope) if name not in names)
        left = tuple(name for name in self.scope if name in names)
        return Table(
            tuple(names), Table(left, np.asarray(self.array.sum(axis=gone))).aligned(names)
        )

    def shares(self) -> Table:
        """The table divided by its sum, if that is not zero."""
        return Table(self.scope, self.array / (self.array.sum() or 1.0))

    def given(self, names: Sequence[str]) -> Table:
        """The table divided by its marginal over ``names``; NaN where that is zero."""
        below = np.broadcast_to(self.marginal(names).aligned(self.scope), self.array.shape)
        filler = np.full(self.array.shape, np.nan)
        return Table(self.scope, np.divide(self.array, below, out=filler, where=below > 0))

    def __mul__(self, other: Table) -> Table:
        """The product over the axes of both."""
        scope = tuple(dict.fromkeys((*self.scope, *other.scope)))
        return Table(scope, self.aligned(scope) * other.aligned(scope))
