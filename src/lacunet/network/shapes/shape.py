"""The shape of a CPT: what it may be, with how many parameters, and how counts become one.

A full table has a distribution of its own for every parent configuration. Other shapes have fewer
parameters: a cause that acts by itself, a state that is one step above another. Whatever the
shape, counts go in and a table comes out; what is behind sees a table.
"""

from __future__ import annotations

from typing import Protocol

from lacunet.network.network import FloatArray, Mask
from lacunet.network.shapes.newton import LAST_GAIN

StatesOfAxes = tuple[tuple[str, ...], ...]  # of the parents, then of the child
# Of a log odds, or a log odds ratio: e^-30 is below what any rows can tell from zero.
LARGEST_LOG_ODDS = 30.0


class Shape(Protocol):
    """A shape that was asked for, not yet of a CPT: a frozen value that prints as its name."""

    @property
    def name(self) -> str:
        """What users call it: ``"noisy-or"``."""
        ...

    def of(self, variable: str, parents: tuple[str, ...], states: StatesOfAxes) -> Shaped:
        """The same for the CPT of a variable.

        Raises
        ------
        NetworkError
            The CPT cannot have this shape; the message names the variable, and says why.
        """
        ...


class Shaped(Protocol):
    """A shape on the CPT of a family: axes are the parents', then the child's."""

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the table."""
        ...

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """What each parameter is called in a report: ``"link from Fever=yes"``, ``"leak"``."""
        ...

    @property
    def pseudo_counts(self) -> FloatArray:
        """How one pseudo-count of the prior is spread over cells; like the table."""
        ...

    def fit(
        self, counts: FloatArray, near: FloatArray | None = None, last_gain: float = LAST_GAIN
    ) -> FloatArray:
        r"""The table that makes counts likeliest: the maximum of sum(counts * log(table)).

        ``near`` is a table to start from, ``last_gain`` how much likelier per row the last step of
        Newton's method may promise to make them.
        """
        ...

    def parameters(self, table: FloatArray) -> FloatArray:
        """The parameters of a table of this shape, unconstrained where they can be."""
        ...

    @property
    def reports_probabilities(self) -> bool:
        """Whether a report gives parameters as probabilities; else as odds and odds ratios."""
        ...

    def reported(self, parameters: FloatArray) -> FloatArray:
        """The parameters as a report gives them, each by itself."""
        ...

    def table(self, parameters: FloatArray) -> FloatArray:
        """The table of some parameters."""
        ...

    def derivative(self, parameters: FloatArray) -> FloatArray:
        """How each parameter moves the table: an axis for the parameters, then the table's."""
        ...

    def backing(self, rows: FloatArray) -> FloatArray:
        """How many rows of data are behind each parent configuration, of which each has some."""
        ...

    def within(self, parameters: FloatArray) -> FloatArray:
        """The nearest parameters within their bounds."""
        ...

    def is_inside(self, parameters: FloatArray) -> Mask:
        """Of each parameter whether it is inside its bounds, and not at one."""
        ...
