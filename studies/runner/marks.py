"""What EM had found at some moments: one long run serves every shorter time limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import process_time

from lacunet.learning.em.iterations import Climb
from lacunet.limits import Clock
from lacunet.network.network import FloatArray


@dataclass(frozen=True)
class Snapshot:
    """The cells of the highest posterior so far, in any restart that has made an iteration."""

    cells: FloatArray
    log_posterior: float
    iterations: int


class Marks:
    """Called at each iteration of EM; ``kept`` has what it had at each of some moments.

    A moment at which no iteration was finished has None. Moments after the end of EM are not
    kept: what they have is the result itself.
    """

    def __init__(self, seconds: Iterable[float], clock: Clock = process_time) -> None:
        self.clock = clock
        self.began = clock()
        self.ahead = sorted(seconds)
        self.best: Snapshot | None = None
        self.kept: dict[float, Snapshot | None] = {}

    def __call__(self, at: Climb) -> None:
        """Keep the best before this iteration for the moments that have passed meanwhile."""
        self.keep()
        best = self.best
        if at.iterations and (best is None or at.log_posterior > best.log_posterior):
            self.best = Snapshot(at.cells, at.log_posterior, at.iterations)

    def keep(self) -> None:
        """Keep the best so far for every moment that has passed."""
        passed = self.clock() - self.began
        while self.ahead and self.ahead[0] < passed:
            self.kept[self.ahead.pop(0)] = self.best
