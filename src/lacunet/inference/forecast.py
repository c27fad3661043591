"""What an expectation will cost, known once it is planned.

The numbers of components, problems and states are those of the plan. The seconds come from
timing, on this machine and at this moment, the operations that an expectation is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np

from lacunet.counts.em_problems.compile import Problems
from lacunet.inference.expectation.expectation_plan import (
    BYTES_OF_A_CELL,
    CELLS_OF_A_SHARD,
    drafted_runs,
)
from lacunet.inference.loopy import loopy_plan_of
from lacunet.limits import NEVER, Deadline, gibibytes
from lacunet.text import counted

# Measured on Alarm, Water, Munin1, Barley and the 20 x 20 grid, 30% and 90% of the variables
# with holes: a read costs twice what it does in one long loop, a group of messages 25 us. By loopy
# propagation, on grids of 8 x 8 to 25 x 25 with 90% missing: some twenty times.
READ_FACTOR = 2.0
LOOPY_READ_FACTOR = 20.0  # a message has a logarithm, an exponential and a sum for each
SECONDS_OF_A_GROUP = 25e-6
SAMPLE_READS = 2**16  # that are timed at once, ...
TRIES = 5  # ... so many times: the shortest counts


@dataclass(frozen=True)
class Forecast:
    """The size of one expectation."""

    components: int
    largest_component: int  # its variables
    problems: int
    loopy_problems: int  # those beyond the budget, left to loopy propagation
    states: float  # the cells of all cliques, equal ones once
    reads: float  # those times the tables multiplied in each
    bytes_needed: float
    seconds: float
    loopy_reads: float = 0.0  # by all messages of loopy propagation

    @property
    def text(self) -> str:
        """The forecast in plain text."""
        lines = [
            f"connected sets missing together   {self.components:,} "
            f"(the largest has {counted(self.largest_component, 'variable')})",
            f"problems (set and values around)  {self.problems:,}, each solved once per EM step",
            f"table cells read per EM step      {self.reads:,.0f}",
            f"memory                            {gibibytes(self.bytes_needed)}",
            f"time per EM step                  {time_in_words(self.seconds)}",
            f"time for a hundred of them        {time_in_words(100 * self.seconds)}",
        ]
        if self.loopy_problems:
            lines.append(f"left to loopy propagation         {self.loopy_problems:,} problems")
        return "\n".join(lines)

    @property
    def time(self) -> str:
        """How long it takes, in words."""
        return time_in_words(self.seconds)


def time_in_words(seconds: float) -> str:
    """How long that is.

    Examples
    --------
    >>> time_in_words(0.25), time_in_words(200)
    ('about 250.0 ms', 'about 3.3 min')
    """
    if seconds < 1e-4:
        return "less than 0.1 ms"
    if seconds < 1:
        return f"about {seconds * 1e3:,.1f} ms"
    if seconds < 100:
        return f"about {seconds:,.1f} s"
    return f"about {seconds / 60:,.1f} min"


def forecast(
    problems: Problems, memory: float, deadline: Deadline = NEVER, most_cells: float = inf
) -> Forecast:
    """What the exact expectation over the problems will cost, within a budget of bytes and cells.

    Raises
    ------
    OutOfTimeError
        It is not planned when the deadline passes.
    """
    left_out = [np.zeros(0, dtype=np.int64)]
    groups = 0
    states = exact_reads = kept = 0.0
    for drafted in drafted_runs(problems, memory, deadline, most_cells):
        left_out.append(drafted.left_out)
        groups += drafted.groups
        for draft in drafted.drafts:
            states += draft.states
            exact_reads += draft.reads
            kept += draft.kept_bytes
    left_to_loopy = np.concatenate(left_out)
    loopy_reads = loopy_plan_of(problems, left_to_loopy, deadline).reads
    reads = READ_FACTOR * exact_reads + LOOPY_READ_FACTOR * loopy_reads
    return Forecast(
        components=len(problems.members),
        largest_component=int(problems.members.lengths.max(initial=0)),
        problems=len(problems),
        loopy_problems=len(left_to_loopy),
        states=states,
        reads=exact_reads,
        bytes_needed=kept + min(states, CELLS_OF_A_SHARD) * BYTES_OF_A_CELL,
        seconds=reads * seconds_a_read() + groups * SECONDS_OF_A_GROUP,
        loopy_reads=loopy_reads,
    )


def seconds_a_read() -> float:
    """How long this machine takes for one cell of one table, there and back."""
    rng = np.random.default_rng(0)
    values = rng.random(SAMPLE_READS)
    places = np.sort(rng.integers(0, SAMPLE_READS, SAMPLE_READS))
    mass = np.zeros(SAMPLE_READS)
    best = np.inf
    for _ in range(TRIES):
        began = perf_counter()
        product = values.take(places)
        product *= values.take(places)
        np.add.at(mass, places, product)
        np.add.at(mass, places, product)
        best = min(best, perf_counter() - began)
    return best / (2 * SAMPLE_READS)
