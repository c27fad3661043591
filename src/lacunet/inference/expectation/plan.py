"""What an expectation will cost, and its plan.

Components are taken in runs, smallest first: what eliminates small ones is often a part of
what eliminates others of their size. Each run is laid out in shards of bounded size, which are
evaluated one by one, or one on each core. A component whose cliques are beyond the budget is
not planned but left to loopy propagation; so are those that would make an expectation too long, the
largest first, by a number of cells that does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from lacunet.deadline import NEVER, Deadline
from lacunet.inference.expectation.messages import messages_of
from lacunet.inference.expectation.shards import DENSE_GROUP, Shard, shard_of
from lacunet.inference.expectation.structure import Structure, structure_of
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent
from lacunet.statistics.distinct import stable_order
from lacunet.statistics.problems.compile import Problems
from lacunet.statistics.problems.ragged import Integers, in_runs

STEPS_OF_A_RUN = 2**17
CELLS_OF_A_SHARD = 2**24
BYTES_OF_A_CELL = 16  # its product, and its share of temporary arrays
BYTES_OF_AN_INDEX = 8
BYTES_OF_A_LEAN_CELL = 16  # of a message: its value and its mass
BYTES_OF_A_CLIQUE_CELL = 24  # the product, the next one and its sums
# A component of so many cells, of which loopy propagation takes as long, is solved exactly whatever
# the number of rows (benchmarks/loopy.py).
ALWAYS_EXACT = 2**17


@dataclass(frozen=True)
class EvaluationPlan:
    """The problems laid out for evaluation; ``left_out`` are those beyond the budget.

    ``states`` counts the cells of all cliques, equal ones once, ``reads`` those times the tables
    multiplied in each, ``kept`` the bytes of the indices.

    Shards are evaluated one after the other: threads were measured, and gain nothing, because
    gathering and scattering hold the interpreter's lock.
    """

    problems: Problems
    shards: tuple[Shard, ...]
    left_out: Integers
    states: float = 0.0
    reads: float = 0.0
    kept: float = 0.0


@dataclass(frozen=True)
class ComponentRun:
    """Some components with their structure, and the problems that have them.

    ``component`` numbers each problem's component within the run.
    """

    structure: Structure
    problems: Integers
    component: Integers

    @property
    def cells(self) -> FloatArray:
        """The cells of all cliques of each component."""
        return np.add.reduceat(self.structure.cells, self.structure.of_component[:-1])

    @property
    def lean_bytes(self) -> FloatArray:
        """What each component takes if products are not kept: messages, and the largest clique."""
        starts = self.structure.of_component[:-1]
        messages = np.add.reduceat(self.structure.message_size, starts)
        cliques = np.maximum.reduceat(self.structure.cells, starts)
        size: FloatArray = BYTES_OF_A_LEAN_CELL * messages + BYTES_OF_A_CLIQUE_CELL * cliques
        return size


def runs_of(problems: Problems, deadline: Deadline = NEVER) -> Iterator[ComponentRun]:
    """The components in runs, smallest first, ordered for elimination."""
    lengths = problems.members.lengths
    order = np.argsort(lengths, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    by_rank = stable_order(rank[problems.component], len(order))
    ranks = rank[problems.component[by_rank]]
    run = np.cumsum(lengths[order]) // STEPS_OF_A_RUN
    for components in in_runs(np.arange(len(order)), run):
        start, stop = np.searchsorted(ranks, [components[0], components[-1] + 1])
        chosen = order[components]
        members, boundaries = problems.members.take(chosen), problems.boundaries.take(chosen)
        structure = structure_of(problems.factors.layout, members, boundaries, deadline)
        yield ComponentRun(structure, by_rank[start:stop], ranks[start:stop] - components[0])


def cells_within(memory: float) -> float:
    """The cells of a component that evaluation within ``memory`` bytes can hold."""
    return memory / (4 * BYTES_OF_A_CELL)


def plan_of(
    problems: Problems,
    memory: float,
    progress: Progress = silent,
    deadline: Deadline = NEVER,
    most_cells: float = inf,
) -> EvaluationPlan:
    """Lay out the problems for evaluation.

    Parameters
    ----------
    memory
        The budget in bytes. Half of it may keep indices, the rest is for evaluation.
    most_cells
        How many cells of cliques may be computed in all, those of a component once for each of its
        problems; small components are planned however many there are.
    """
    shards: list[Shard] = []
    left_out: list[Integers] = []
    cost = np.zeros(3)
    room = most_cells
    shard_cells = min(CELLS_OF_A_SHARD, memory / (8 * BYTES_OF_A_CELL))
    for run in runs_of(problems, deadline):
        is_lean = run.cells > cells_within(memory)
        too_large = is_lean & (run.lean_bytes > memory / 2)
        too_dear, room = _too_dear(run, ~too_large, room)
        is_left = (too_large | too_dear)[run.component]
        left_out.append(run.problems[is_left])
        chosen = np.flatnonzero(~is_left)
        cells = np.cumsum(run.cells[run.component[chosen]])
        for part in in_runs(chosen, cells // shard_cells):
            deadline.check()
            lean = bool(is_lean[run.component[part]].any())
            shard, shard_cost = _shard(problems, run, part, memory / 2 - float(cost[2]), lean)
            shards.append(shard)
            cost += shard_cost
        progress("plan", sum(len(shard.problems) for shard in shards), len(problems))
    none = np.zeros(0, dtype=np.int64)
    return EvaluationPlan(
        problems, tuple(shards), np.concatenate([none, *left_out]), *cost.tolist()
    )


def _too_dear(
    run: ComponentRun, fits: NDArray[np.bool_], room: float
) -> tuple[NDArray[np.bool_], float]:
    """Which of the large components of a run there is no room for, and the room that is left."""
    cost = run.cells * np.bincount(run.component, minlength=len(fits))
    large = np.flatnonzero(fits & (run.cells > ALWAYS_EXACT))
    large = large[np.argsort(cost[large], kind="stable")]
    total = np.cumsum(cost[large])
    is_left = np.zeros(len(fits), dtype=bool)
    is_left[large[total > room]] = True
    return is_left, room - float(total[total <= room].max(initial=0.0))


def _shard(
    problems: Problems, run: ComponentRun, part: Integers, spare: float, is_lean: bool
) -> tuple[Shard, FloatArray]:
    """The shard of some problems of a run; its states, its reads and the bytes of its indices."""
    messages = messages_of(problems, run.structure, run.problems[part], run.component[part])
    structure = run.structure
    cells = structure.cells[messages.step]
    reads = cells * messages.inputs.lengths
    tables = structure.table_cells[messages.step]
    indices = np.where(cells > DENSE_GROUP, tables, reads).sum() * BYTES_OF_AN_INDEX
    keep = bool(indices <= spare) and not is_lean
    cells_of_cpts = problems.factors.layout.cells
    shard = shard_of(messages, structure, run.problems[part], cells_of_cpts, keep, is_lean)
    return shard, np.array([cells.sum(), reads.sum(), indices if keep else 0.0])
