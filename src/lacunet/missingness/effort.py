"""How much work a search may do: counted in steps along edges, so that it never depends on time.

A search works on its own copy of the graph (`MixedGraph.metered`); what is derived from the
copy carries the same meter. Results are remembered for the copy only: what an earlier search
has found does not change how far this one gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


class OutOfWork(Exception):  # noqa: N818
    """The search has done as much as it may; never leaves the room."""


@dataclass
class Meter:
    """The work done so far and the most that may be done."""

    spent: float = 0.0
    limit: float = inf

    def charge(self, work: float) -> None:
        """Add to the work done; raise `OutOfWork` beyond the limit."""
        self.spent += work
        if self.spent > self.limit:
            raise OutOfWork

    def allow(self, work: float) -> None:
        """Let so much more work be done from here on."""
        self.limit = self.spent + work
