"""What one glance at the data tells, before anything is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from lacunet.counts.counts import Tally
from lacunet.counts.units import Units
from lacunet.data.read import ReadReport
from lacunet.data.table import EncodedTable, whole_rows
from lacunet.errors import LacunetError
from lacunet.network.network import Network, Scope

WEIGHTS_ROUNDING = 1e-9  # of weights: those of ten rows may add up to a little less than ten


@dataclass(frozen=True)
class Look:
    """What one glance at the data tells."""

    # The variables that some row does not show; None without data: all may have missing values.
    partially: Scope | None = None
    tally: Tally | None = None  # adds up all rows, as far as they are known
    # Gives at least so many rows, if there are, to learn from them what decides on being missing.
    some_rows: Callable[[int, ReadReport], EncodedTable] | None = None
    units: Units | None = None  # those of a survey, if it is one

    @property
    def rows(self) -> int | None:
        """The number of rows, as far as it is known."""
        return None if self.tally is None else whole_rows(float(self.tally.rows.sum()))

    @property
    def scale(self) -> float:
        """What makes weights add up to the weighted sample size."""
        return 1.0 if self.tally is None else self.tally.scale

    @property
    def total(self) -> float | None:
        """The weighted sample size."""
        return None if self.tally is None else self.tally.worth

    @property
    def is_unequal(self) -> bool:
        """Whether some rows weigh more than others."""
        tally = self.tally
        return tally is not None and tally.rows.sum() > tally.worth * (1 + WEIGHTS_ROUNDING)

    def most_distinct(self, network: Network) -> float:
        """How many distinct rows there can be: no more than rows, nor than ways to be one."""
        hidden = {*self.hidden(network)}
        sizes = (network.cardinality(name) + (name in hidden) for name in network.variables)
        ways = prod(map(float, sizes))
        return ways if self.rows is None else min(ways, float(self.rows))

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
