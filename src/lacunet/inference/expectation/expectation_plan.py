"""What an expectation will cost, and its plan.

Components are taken in runs, next to each other those that have the same variables: what
eliminates one is often a part of what eliminates the other. Each run is laid out in shards of
bounded size, which are evaluated one by one, or one on each core. A component whose cliques are
beyond the budget is not planned but left to loopy propagation; so are those that would make an
expectation too long, the largest first, by a number of cells that does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat, starmap
from math import inf
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import stable_order
from lacunet.counts.em_problems.compile import Problems
from lacunet.counts.em_problems.ragged import Integers, Ragged, in_runs
from lacunet.inference.elimination.junction_tree import BYTES_OF_CELL
from lacunet.inference.expectation import fused
from lacunet.inference.expectation.fused import Fused
from lacunet.inference.expectation.messages import Messages, messages_of
from lacunet.inference.expectation.shards import DENSE_GROUP, Shard, number_of_groups, shard_of
from lacunet.inference.expectation.steps import Structure, structure_of
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray
from lacunet.progress import Progress, silent
from lacunet.threads import in_threads

Outcome = TypeVar("Outcome")

STEPS_OF_A_RUN = 2**17  # of all its components; a run is laid out by operations on whole arrays
CELLS_OF_A_SHARD = 2**24  # of its cliques, whose products are alive at once
CELLS_OF_A_COMPILED_SHARD = 2**21  # there may be more of them: a call of each costs little
MANY_VARIABLES = 20  # of a component
BYTES_OF_A_CELL = 16  # its product, and its share of temporary arrays
BYTES_OF_AN_INDEX = 8
BYTES_OF_A_LEAN_CELL = 16  # of a message: its value and its mass
BYTES_OF_A_CLIQUE_CELL = 24  # the product, the next one and its sums
# A component of so many cells, of which loopy propagation takes as long, is solved exactly whatever
# the number of rows (benchmarks/loopy.py).
ALWAYS_EXACT = 2**17
SHARE_OF_A_SHARD = 16  # of the budget: a larger shard is evaluated alone


@dataclass(frozen=True)
class EvaluationPlan:
    """The problems laid out for evaluation.

    Shards are evaluated in threads, as many at once as memory allows. The first few may be so large
    that each is evaluated alone.
    """

    problems: Problems
    shards: tuple[Shard, ...]
    left_out: Integers  # the problems beyond the budget
    states: float = 0.0  # the cells of all cliques, equal ones once
    reads: float = 0.0  # those times the tables multiplied in each
    kept: float = 0.0  # the bytes of the indices
    alone: int = 0  # how many shards, which come first, are too large for others beside them
    together: float = inf  # how many of the others may be evaluated at once

    def over_shards(
        self, work: Callable[[Shard, FloatArray], Outcome], logs: FloatArray
    ) -> Iterator[Outcome]:
        """What work makes of each shard, in their order, and of what it adds log-likelihoods to.

        That is the given ones for the first shard, and zeros for the others.
        """
        tasks = list(zip(self.shards, chain([logs], repeat(np.zeros_like(logs))), strict=False))
        yield from starmap(work, tasks[: self.alone])
        yield from in_threads(lambda pair: work(*pair), tasks[self.alone :], self.together)


@dataclass(frozen=True)
class ComponentRun:
    """Some components with their structure, and the problems that have them."""

    structure: Structure
    problems: Integers
    component: Integers  # that of each problem, numbered within the run

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


def runs_of(
    problems: Problems, deadline: Deadline = NEVER, order: Integers | None = None
) -> Iterator[ComponentRun]:
    """The components in runs, ordered for elimination: in some order, or smallest first."""
    lengths = problems.members.lengths
    if order is None:
        order = np.argsort(lengths, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    by_rank = stable_order(rank[problems.component], len(order))  # problems by their components
    ranks = rank[problems.component[by_rank]]
    run = np.cumsum(lengths[order]) // STEPS_OF_A_RUN
    for components in in_runs(np.arange(len(order)), run):
        start, stop = np.searchsorted(ranks, [components[0], components[-1] + 1])
        chosen = order[components]
        members = problems.members.take(chosen)
        boundaries = problems.boundaries.take(chosen)
        structure = structure_of(problems.factors.layout, members, boundaries, deadline)
        yield ComponentRun(structure, by_rank[start:stop], ranks[start:stop] - components[0])


def _in_order(members: Ragged, variables: int) -> Integers:
    """The components in an order where those next to each other have many messages in common.

    That is by their variables, the last first; those of many variables, which may not be planned at
    all, come behind, smallest first.
    """
    lengths = members.lengths
    is_large = lengths > MANY_VARIABLES
    small = np.flatnonzero(~is_large)
    digits = min(MANY_VARIABLES, int(62 / np.log2(variables + 1)))  # that a key has room for
    keys = np.zeros(len(small), dtype=np.int64)
    for digit in range(digits):
        has_one = np.flatnonzero(lengths[small] > digit)
        items = members.items[members.starts[1:][small[has_one]] - 1 - digit]  # ascending
        keys *= variables + 1
        keys[has_one] += items + 1
    large = np.flatnonzero(is_large)
    return np.concatenate(
        [
            small[np.argsort(keys, kind="stable")],
            large[np.argsort(lengths[large], kind="stable")],
        ]
    )


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
    shards: list[tuple[Shard, float]] = []  # with the bytes that evaluating it takes
    left_out: list[Integers] = []
    states = 0.0
    reads = 0.0
    kept = 0.0
    done = 0
    for drafted in drafted_runs(problems, memory, deadline, most_cells):
        left_out.append(drafted.left_out)
        lay_out = partial(_laid_out, problems, drafted.run, drafted.is_compiled, deadline)
        for draft, shard in zip(drafted.drafts, in_threads(lay_out, drafted.drafts), strict=True):
            shards.append((shard, draft.bytes_of(shard)))
            states += draft.states
            reads += draft.reads
            kept += draft.kept_bytes
            done += len(shard.problems)
        progress("plan", done, len(problems))
    # The largest first, each alone; of the others, as many at once as half of the budget holds.
    large = [shard for shard, size in shards if size > memory / SHARE_OF_A_SHARD]
    others = [(shard, size) for shard, size in shards if size <= memory / SHARE_OF_A_SHARD]
    largest = max((size for _, size in others), default=1.0)
    none = np.zeros(0, dtype=np.int64)
    return EvaluationPlan(
        problems=problems,
        shards=(*large, *(shard for shard, _ in others)),
        left_out=np.concatenate([none, *left_out]),
        states=states,
        reads=reads,
        kept=kept,
        alone=len(large),
        together=memory / 2 / largest,
    )


@dataclass(frozen=True)
class DraftedRun:
    """A run whose problems are divided into shards, none of which is laid out yet."""

    run: ComponentRun
    drafts: Sequence[Draft]
    left_out: Integers  # the problems that are left to loopy propagation
    is_compiled: bool  # whether compiled loops pay

    @property
    def groups(self) -> int:
        """How many groups of messages its shards will have."""
        return sum(
            number_of_groups(draft.messages, self.run.structure, draft.keep, self.is_compiled)
            for draft in self.drafts
        )


def drafted_runs(
    problems: Problems,
    memory: float,
    deadline: Deadline = NEVER,
    most_cells: float = inf,
) -> Iterator[DraftedRun]:
    """The problems in runs and shards; what `plan_of` is told is told here."""
    kept = 0.0
    room = most_cells
    is_compiled = _pays_to_compile(problems)
    most = CELLS_OF_A_COMPILED_SHARD if is_compiled else CELLS_OF_A_SHARD
    shard_cells = min(most, memory / (8 * BYTES_OF_A_CELL))
    order = _in_order(problems.members, len(problems.factors.layout.cardinalities))
    for run in runs_of(problems, deadline, order):
        # What is too large for all its products to be kept may still fit without them.
        is_lean = run.cells > cells_within(memory)
        too_large = is_lean & (run.lean_bytes > memory / 2)
        too_dear, room = _too_dear(run, ~too_large, room)
        is_left = (too_large | too_dear)[run.component]
        chosen = np.flatnonzero(~is_left)
        cells = np.cumsum(run.cells[run.component[chosen]])
        parts = list(in_runs(chosen, cells // shard_cells))
        drafts = []
        for draft in in_threads(partial(_draft, problems, run, is_lean, deadline), parts):
            keep = draft.index_bytes <= memory / 2 - kept and not draft.is_lean
            kept += draft.index_bytes if keep else 0.0
            drafts.append(replace(draft, keep=keep))
        yield DraftedRun(run, drafts, run.problems[is_left], is_compiled)


def _pays_to_compile(problems: Problems) -> bool:
    """Whether there is so much to do that compiled loops are worth their compilation."""
    steps = int(problems.members.lengths[problems.component].sum())
    return steps >= fused.PAYS_FROM and fused.loops() is not None


def _too_dear(
    run: ComponentRun, fits: NDArray[np.bool_], room: float
) -> tuple[NDArray[np.bool_], float]:
    """Which of the large components of a run there is no room for, and the room that is left."""
    # The cheapest first, until there is no more room.
    cost = run.cells * np.bincount(run.component, minlength=len(fits))
    large = np.flatnonzero(fits & (run.cells > ALWAYS_EXACT))
    large = large[np.argsort(cost[large], kind="stable")]
    total = np.cumsum(cost[large])
    is_left = np.zeros(len(fits), dtype=bool)
    is_left[large[total > room]] = True
    return is_left, room - float(total[total <= room].max(initial=0.0))


@dataclass(frozen=True)
class Draft:
    """The messages of some problems of a run, and what they cost."""

    problems: Integers
    messages: Messages
    states: float
    reads: float
    index_bytes: float
    is_lean: bool
    keep: bool = False  # whether indices are kept: they are as far as they fit

    @property
    def kept_bytes(self) -> float:
        """What its kept indices take."""
        return self.index_bytes if self.keep else 0.0

    def bytes_of(self, shard: Shard) -> float:
        """What evaluating its shard takes."""
        values = 2 * BYTES_OF_CELL * shard.cells  # and mass
        if all(isinstance(group, Fused) for group in shard.groups):
            return values
        return inf if self.is_lean else values + BYTES_OF_A_CELL * self.states


def _draft(
    problems: Problems,
    run: ComponentRun,
    is_lean: NDArray[np.bool_],
    deadline: Deadline,
    part: Integers,
) -> Draft:
    """The messages of some problems of a run."""
    deadline.check()
    structure = run.structure
    messages = messages_of(problems, structure, run.problems[part], run.component[part])
    cells = structure.cells[messages.step]
    reads = cells * messages.inputs.lengths
    # A large clique that is not laid out has an index for each of its tables, any other one for
    # each of its cells.
    indices = np.where(cells > DENSE_GROUP, structure.table_cells[messages.step], reads)
    return Draft(
        run.problems[part],
        messages,
        states=float(cells.sum()),
        reads=float(reads.sum()),
        index_bytes=float(indices.sum()) * BYTES_OF_AN_INDEX,
        is_lean=bool(is_lean[run.component[part]].any()),
    )


def _laid_out(
    problems: Problems,
    run: ComponentRun,
    is_compiled: bool,
    deadline: Deadline,
    draft: Draft,
) -> Shard:
    """The shard of a draft."""
    deadline.check()
    return shard_of(
        messages=draft.messages,
        structure=run.structure,
        problems=draft.problems,
        cpt_cells=problems.factors.layout.cells,
        keep=draft.keep,
        is_lean=draft.is_lean,
        is_compiled=is_compiled,
    )
