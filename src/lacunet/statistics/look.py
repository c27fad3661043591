"""What one glance at the data tells, before anything is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lacunet.data.read import ReadReport
from lacunet.data.table import EncodedTable, whole_rows
from lacunet.errors import LacunetError
from lacunet.model.network import Network, Scope
from lacunet.statistics.counts import Tally
from lacunet.statistics.units import Units

ROUNDING = 1e-9  # of weights: those of ten rows may add up to a little less than ten


@dataclass(frozen=True)
class Look:
    """What one glance at the data tells.

    ``partially`` are the variables that some row does not show; None without data: then all
    may have missing values. ``rows`` is the number of rows, as far as it is known, ``total`` the
    weighted sample size. ``some_rows`` gives at least so many rows, if there are, to learn from
    them what decides on being missing. ``scale`` makes their weights add up to the weighted sample
    size; ``is_unequal`` if some weigh more than others. ``units`` are those of a survey, if it is
    one.
    """

    partially: Scope | None = None
    rows: int | None = None
    some_rows: Callable[[int, ReadReport], EncodedTable] | None = None
    scale: float = 1.0
    units: Units | None = None
    is_unequal: bool = False
    total: float | None = None

    def hidden(self, network: Network) -> Scope:
        """The variables that have missing values, or may have."""
        return network.variables if self.partially is None else self.partially

    def sampled(self, most: int, read_report: ReadReport | None = None) -> EncodedTable:
        """At least so many rows, if there are; the report takes in what is met on the way."""
        if self.some_rows is None:
            raise LacunetError(
                "mechanisms are learned from data, and none are given.", "name some."
            )
        return self.some_rows(most, ReadReport() if read_report is None else read_report)


def weighed(look: Look, tally: Tally) -> Look:
    """The look with what all rows, added up, say of their weights."""
    rows, weight, squares = (
        float(values.sum()) for values in (tally.rows, tally.weights, tally.squares)
    )
    scale = weight / max(squares, 1e-300)
    is_unequal = rows * squares > weight**2 * (1 + ROUNDING)
    return replace(
        look, rows=whole_rows(rows), scale=scale, is_unequal=is_unequal, total=weight * scale
    )
