"""The rows that a network is learned from, wherever they are.

An estimate sees statistics only, so a source of rows is what gathers them: rows held in memory,
streamed from files, or spread over a cluster. Every source gives the same statistics for the
same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Protocol

from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline
from lacunet.model.network import Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.gather import Needs, Statistics, gather


class Observations(Protocol):
    """Rows over a network's variables, of which statistics can be gathered."""

    @property
    def partially_observed(self) -> Scope:
        """The variables that some row does not show, as known before anything is counted."""
        ...

    def gather(
        self,
        needs: Needs,
        network: Network,
        *,
        progress: Progress = silent,
        deadline: Deadline = NEVER,
        memory: float = inf,
        seed: int = 0,
    ) -> Statistics:
        """Count what is needed among all rows; see `lacunet.statistics.gather.gather`."""
        ...


@dataclass(frozen=True)
class Held:
    """Rows that are held in memory."""

    table: EncodedTable

    @property
    def partially_observed(self) -> Scope:
        """The variables that some row does not show."""
        return self.table.partially_observed

    def gather(
        self,
        needs: Needs,
        network: Network,
        *,
        progress: Progress = silent,
        deadline: Deadline = NEVER,
        memory: float = inf,
        seed: int = 0,
    ) -> Statistics:
        """Count what is needed, all rows at once."""
        return gather(
            needs,
            network,
            [self.table],
            progress=progress,
            deadline=deadline,
            memory=memory,
            seed=seed,
        )
