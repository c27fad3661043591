r"""Fixed: the table that was given, whatever rows show.

.. math::
    P(y \mid u) = T(u, y)

A part that is known: a mechanism of a machine, a definition, states that exclude each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lacunet.network.arguments import clear_arguments
from lacunet.network.errors import NetworkError
from lacunet.network.network import FloatArray, Mask
from lacunet.network.shapes.newton import LAST_GAIN
from lacunet.network.shapes.shape import Shaped, StatesOfAxes

ROUNDING_OF_SUM = 1e-6  # of the sum of a CPT row


@clear_arguments
class Fixed:
    """A CPT that is known and not learned.

    Parameters
    ----------
    table
        The axes are the parents, in the network's order, then the child; each row sums to one.

    Examples
    --------
    >>> import lacunet as lc
    >>> network = lc.Network({"A": ["no", "yes"], "B": ["no", "yes"]}, {"B": ["A"]})
    >>> known = network.with_shapes({"B": lc.Fixed([[1, 0], [0.5, 0.5]])})
    >>> lc.learn(known, {"A": ["no", "yes"], "B": ["no", "no"]}).network.cpt("B").table.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    name = "fixed"

    def __init__(self, table: ArrayLike | Sequence[Any]) -> None:
        try:
            self.table = np.array(table, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise NetworkError(
                f"the table of a fixed CPT is not a table of numbers: {error}"
            ) from None
        self.table.setflags(write=False)

    def of(self, variable: str, parents: tuple[str, ...], states: StatesOfAxes) -> Shaped:
        """The same for the CPT of a variable."""
        sizes = tuple(map(len, states))
        if self.table.shape != sizes:
            raise NetworkError(
                f"the CPT of {variable!r} is fixed to a table of shape {self.table.shape}, and the "
                f"states of {[*parents, variable]} ask for {sizes}."
            )
        sums = self.table.sum(axis=-1)
        if not (self.table >= 0).all() or not (np.abs(sums - 1) < ROUNDING_OF_SUM).all():
            raise NetworkError(
                f"the CPT of {variable!r} is fixed to a table that is not one: its rows must be "
                "probabilities that sum to one."
            )
        return KnownTable(np.asarray(self.table / sums[..., None]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and np.array_equal(self.table, other.table, equal_nan=True)

    def __hash__(self) -> int:
        return hash(self.table.tobytes())

    def __repr__(self) -> str:
        return f"Fixed({self.table.tolist()})"

    def __str__(self) -> str:
        return self.name


class KnownTable:
    """Fixed on the CPT of a family."""

    parameter_names: tuple[str, ...] = ()

    def __init__(self, known: FloatArray) -> None:
        self.known = known
        self.shape: tuple[int, ...] = known.shape
        self.pseudo_counts: FloatArray = np.zeros(known.shape)

    def fit(
        self,
        counts: FloatArray,  # noqa: ARG002
        near: FloatArray | None = None,  # noqa: ARG002
        last_gain: float = LAST_GAIN,  # noqa: ARG002
    ) -> FloatArray:
        """The table."""
        return self.known.copy()

    def parameters(self, table: FloatArray) -> FloatArray:  # noqa: ARG002
        """There are none."""
        return np.zeros(0)

    @property
    def reports_probabilities(self) -> bool:
        """There are no parameters."""
        return True

    def reported(self, parameters: FloatArray) -> FloatArray:
        """There are none."""
        return parameters

    def table(self, parameters: FloatArray) -> FloatArray:  # noqa: ARG002
        """The table."""
        return self.known.copy()

    def derivative(self, parameters: FloatArray) -> FloatArray:  # noqa: ARG002
        """Nothing moves it."""
        return np.zeros((0, *self.shape))

    def backing(self, rows: FloatArray) -> FloatArray:
        """It needs no data."""
        return np.full(rows.shape, np.inf)

    def within(self, parameters: FloatArray) -> FloatArray:
        """There are none."""
        return parameters

    def is_inside(self, parameters: FloatArray) -> Mask:
        """There are no parameters."""
        return np.ones(len(parameters), dtype=bool)
