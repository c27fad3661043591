"""What an exact expectation will cost, told before the first one.

The numbers of components, problems and states follow from the data. The seconds come from
timing, on this machine and at this moment, the operations that an expectation is made of.
Equal sub-expressions of different problems are computed once, which the forecast does not
foresee: on the benchmark networks it was right or up to twice too high.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from lacunet.inference.expectation.plan import (
    BYTES_OF_A_CELL,
    BYTES_OF_AN_INDEX,
    CELLS_OF_A_SHARD,
    Run,
    cells_within,
    runs_of,
)
from lacunet.inference.expectation.shards import DENSE_CLIQUE
from lacunet.model.network import FloatArray
from lacunet.statistics.problems.compile import Problems

# Measured on Alarm, Water, Munin1, Barley and the 20 x 20 grid, 30% and 90% of the variables
# with holes: a read costs twice what it does in one long loop, a group of messages 25 us.
READ_FACTOR = 2.0
SECONDS_OF_A_GROUP = 25e-6
SAMPLE = 2**16
TRIES = 5


@dataclass(frozen=True)
class Forecast:
    """The size of one expectation.

    ``states`` counts the cells of all cliques, ``reads`` those times the tables multiplied
    in each. ``loopy_problems`` are beyond the budget and left to loopy propagation.
    """

    components: int
    largest_component: int
    problems: int
    loopy_problems: int
    states: float
    reads: float
    largest_clique: float
    bytes_needed: float
    seconds: float

    @property
    def text(self) -> str:
        """The forecast in plain text."""
        lines = [
            f"components of missing variables   {self.components:,} "
            f"(the largest joins {self.largest_component} variables)",
            f"problems (boundary values)        {self.problems:,}",
            f"states an iteration               {self.states:,.0f}",
            f"largest clique                    {self.largest_clique:,.0f} states",
            f"memory                            {self.bytes_needed / 2**20:,.0f} MiB",
            f"time an iteration                 about {_time(self.seconds)}",
        ]
        if self.loopy_problems:
            lines.append(f"left to loopy propagation         {self.loopy_problems:,} problems")
        return "\n".join(lines)


def _time(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{max(seconds * 1000, 0.1):,.1f} ms"


def forecast(problems: Problems, memory: float) -> Forecast:
    """What the exact expectation over the problems will cost, within a budget of bytes."""
    parts = [_of_run(run, memory) for run in runs_of(problems)]
    states, reads, kept, loopy, groups, _ = np.sum([np.zeros(6), *parts], axis=0).tolist()
    evaluated = min(states, CELLS_OF_A_SHARD) * BYTES_OF_A_CELL
    return Forecast(
        components=len(problems.members),
        largest_component=int(problems.members.lengths.max(initial=0)),
        problems=len(problems),
        loopy_problems=int(loopy),
        states=states,
        reads=reads,
        largest_clique=max((float(part[5]) for part in parts), default=0.0),
        bytes_needed=min(kept * BYTES_OF_AN_INDEX, memory / 2) + evaluated,
        seconds=READ_FACTOR * reads * seconds_a_read() + groups * SECONDS_OF_A_GROUP,
    )


def _of_run(run: Run, memory: float) -> FloatArray:
    """States, reads, those by a kept index, loopy problems, groups and the largest clique."""
    structure = run.structure
    times = np.bincount(run.component, minlength=len(structure.of_component) - 1)
    fits = run.cells <= cells_within(memory)
    counted = np.repeat(np.where(fits, times, 0), np.diff(structure.of_component))
    cells = structure.cells * counted
    reads = cells * structure.inputs.lengths
    kinds = (structure.level * 64 + structure.inputs.lengths) * 1024 + structure.size
    return np.array(
        [
            cells.sum(),
            reads.sum(),
            reads[structure.cells <= DENSE_CLIQUE].sum(),
            times[~fits].sum(),
            len(np.unique(kinds)),
            structure.cells[counted > 0].max(initial=0),
        ]
    )


def seconds_a_read() -> float:
    """How long this machine takes for one cell of one table, there and back."""
    rng = np.random.default_rng(0)
    values, places = rng.random(SAMPLE), np.sort(rng.integers(0, SAMPLE, SAMPLE))
    mass = np.zeros(SAMPLE)
    best = np.inf
    for _ in range(TRIES):
        began = perf_counter()
        product = values.take(places)
        product *= values.take(places)
        np.add.at(mass, places, product)
        np.add.at(mass, places, product)
        best = min(best, perf_counter() - began)
    return best / (2 * SAMPLE)
