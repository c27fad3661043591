"""Messages laid out in groups, ready for evaluation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.expectation.groups import Dense, Gathered, Recipe, Scaling, dense_of
from lacunet.inference.expectation.messages import Messages
from lacunet.inference.expectation.structure import Structure
from lacunet.model.network import FloatArray
from lacunet.statistics.distinct import begins_of, ordered_keys, stable_order
from lacunet.statistics.problems.ragged import Integers, Ragged, distinct_rows

CELLS_OF_A_GROUP = 2**17  # more are cut, so that a group's arrays stay in the cache
FEW_CELLS = 2**13  # of messages of one level and size: they are computed together, see `_are_few`
DENSE_CLIQUE = 2**9  # cells; messages over larger cliques are products of matrices,
DENSE_GROUP = 2**13  # if those of one shape have so many cells together


@dataclass(frozen=True)
class Shard:
    """All groups of some problems, in the order of computation.

    ``cells`` counts those of the CPTs and of all messages, ``roots`` are the cells that hold
    the ``problems``' probabilities.
    """

    groups: tuple[Gathered | Dense, ...]
    cells: int
    problems: Integers
    roots: Integers


@dataclass(frozen=True)
class _Stack:
    """The messages in the order of computation.

    ``starts`` is where each message begins among all cells, with its end after the last;
    ``begins`` lists where its inputs begin, ``kinds`` of which kinds they are; ``is_dense`` says
    which are products of matrices, ``keep`` whether indices are kept, ``turns`` where the shape is
    another than before.
    """

    structure: Structure
    step: Integers
    starts: Integers
    mass: FloatArray
    is_dense: NDArray[np.bool_]
    begins: Ragged
    kinds: Ragged
    turns: list[int]
    keep: bool
    is_lean: bool

    def group(self, start: int, stop: int) -> Gathered | Dense:
        """Some of the messages, to be computed together."""
        begin, end = int(self.starts[start]), int(self.starts[stop])
        scaling = None
        if self.structure.is_scaled[self.step[start:stop]].any():
            begins = self.starts[start : stop + 1] - begin
            scaling = Scaling(begins[:-1], np.diff(begins), self.mass[start:stop])
        if self.is_dense[start]:
            recipe = self._recipe(start, stop)
            return dense_of(begin, end, recipe, scaling, self.keep, self.is_lean)
        source = self._index(start, stop) if self.keep else self._recipe(start, stop)
        fewer = -np.diff(self.begins.starts[start : stop + 1])  # ascending
        first = np.searchsorted(fewer, -np.arange(-fewer[0]))
        widths = tuple((self.starts[start + first] - begin).tolist())
        return Gathered(begin, end, source, widths, scaling)

    def _index(self, start: int, stop: int) -> Integers:
        """The index of a group: input, eliminated state, cell of message; a run of each shape.

        Where a message has no such input it holds anything.
        """
        inputs = int(self.begins.starts[start + 1] - self.begins.starts[start])
        states, begin = int(self.structure.size[self.step[start]]), int(self.starts[start])
        index = np.empty((inputs, states, int(self.starts[stop]) - begin), dtype=np.int64)
        turns = self.turns[bisect_right(self.turns, start) : bisect_left(self.turns, stop)]
        for left, right in pairwise([start, *turns, stop]):
            cells = self._recipe(left, right).index()
            here = slice(int(self.starts[left]) - begin, int(self.starts[right]) - begin)
            index[: len(cells), :, here] = cells
        return index

    def _recipe(self, start: int, stop: int) -> Recipe:
        """The recipe of a run of messages of one shape."""
        sizes = _sizes(self.structure, int(self.step[start]))
        strides = self.structure.strides[self.kinds.matrix(start, stop)][..., : len(sizes)]
        return Recipe(self.begins.matrix(start, stop), strides, sizes)


def shard_of(
    messages: Messages,
    structure: Structure,
    problems: Integers,
    cpt_cells: int,
    keep: bool,
    is_lean: bool = False,
) -> Shard:
    """Lay out the messages of some problems for evaluation.

    Parameters
    ----------
    problems
        The numbers of the problems.
    cpt_cells
        The number of cells of all CPTs.
    keep
        Whether indices are kept, or made anew each time.
    is_lean
        Whether the products over large cliques are made twice, and not kept.
    """
    step, steps = messages.step, structure
    kind = _dense_kinds(steps, step, DENSE_CLIQUE if keep else DENSE_GROUP)
    shape, inputs = steps.shape[step], messages.inputs.lengths
    fewer = int(inputs.max(initial=0)) - inputs
    columns = (  # messages of one group agree on all but the last
        steps.level[step],
        kind + 1,
        np.where((kind >= 0) | (not keep), shape + 1, 0),
        steps.size[step],
        np.where(_are_few(steps, step), 0, 2 * inputs + steps.is_scaled[step]),
        fewer * (1 + int(shape.max(initial=0))) + shape,
    )
    radices = [1 + int(column.max(initial=0)) for column in columns]
    keys, bound = ordered_keys(columns, radices, len(step))
    order = stable_order(keys, bound)
    size = steps.message_size[step[order]].astype(np.int64)
    starts = cpt_cells + np.concatenate([[0], np.cumsum(size)])
    start_of = np.empty(len(order), dtype=np.int64)
    start_of[order] = starts[:-1]
    read = messages.inputs.take(order)
    begins = read.items.copy()
    begins[read.items < 0] = start_of[~read.items[read.items < 0]]
    stack = _Stack(
        structure,
        step[order],
        starts,
        messages.mass[order],
        kind[order] >= 0,
        Ragged(read.starts, begins),
        structure.kinds.take(step[order]),
        (1 + np.flatnonzero(np.diff(shape[order]))).tolist(),
        keep,
        is_lean,
    )
    bounds = _bounds(keys[order] // radices[-1], steps.cells[stack.step])
    groups = tuple(stack.group(start, stop) for start, stop in bounds)
    return Shard(groups, int(starts[-1]), problems, start_of[messages.last])


def _are_few(structure: Structure, step: Integers) -> NDArray[np.bool_]:
    """Which messages are of a level and size that has few cells.

    Then it takes longer to call an operation than to carry it out. These are computed together,
    whatever the number of their inputs is, and all are scaled if one is.
    """
    alike = structure.level[step] * (1 + int(structure.size.max(initial=0))) + structure.size[step]
    few: NDArray[np.bool_] = np.bincount(alike, structure.cells[step])[alike] < FEW_CELLS
    return few


def _sizes(structure: Structure, step: int) -> tuple[int, ...]:
    """The states of the eliminated variable and of the message's axes."""
    return int(structure.size[step]), *structure.size[structure.scope.row(step)].tolist()


def _dense_kinds(structure: Structure, step: Integers, least: int) -> Integers:
    """A number for each way in which messages over larger cliques share axes; -1 for others.

    It tells apart what their inputs have, and messages that cannot be computed together.
    """
    kinds = np.full(len(step), -1)
    large = np.flatnonzero(structure.cells[step] > least)
    inputs = structure.kinds.take(step[large])
    holds = structure.strides[inputs.items] != 0
    patterns = Ragged(inputs.starts * holds.shape[1], holds.ravel().astype(np.int64))
    together = (structure.shape[step[large]] * 2 + structure.is_scaled[step[large]]) * (
        1 + int(structure.level.max(initial=0))
    ) + structure.level[step[large]]
    kind = distinct_rows(patterns, together)[1]
    cells = np.bincount(kind, structure.cells[step[large]])
    kinds[large] = np.where(cells[kind] >= DENSE_GROUP, kind, -1)
    return kinds


def _bounds(alike: Integers, cells: FloatArray) -> list[tuple[int, int]]:
    """Where groups begin and end: at a change of what is alike, or when there are enough cells."""
    changes = begins_of(alike)
    group = np.cumsum(changes) - 1
    before = np.cumsum(cells) - cells
    part = (before - before[np.flatnonzero(changes)][group]) // CELLS_OF_A_GROUP
    changes[1:] |= part[1:] != part[:-1]
    starts = np.flatnonzero(changes)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True))
