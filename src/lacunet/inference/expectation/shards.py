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


class _Stack:
    """The messages in the order of computation.

    ``place`` is where each message begins among all cells, with its end after the last;
    ``begins`` lists where its inputs begin, ``strides`` how they move along the axes of its
    clique; ``is_dense`` says which are products of matrices, ``turns`` where the shape is another
    than before, ``bounds`` where groups begin and end.
    """

    def __init__(
        self, messages: Messages, structure: Structure, cpt_cells: int, keep: bool, is_lean: bool
    ) -> None:
        self.structure, self.keep, self.is_lean = structure, keep, is_lean
        step, inputs = messages.step, messages.inputs.lengths
        kind, shape = _dense_kinds(structure, step, keep), structure.shape[step]
        fewer = int(inputs.max(initial=0)) - inputs
        columns = (  # messages of one group agree on all but the last
            structure.level[step],
            kind + 1,
            np.where((kind >= 0) | (not keep), shape + 1, 0),
            structure.size[step],
            np.where(_are_few(structure, step), 0, 2 * inputs + structure.is_scaled[step]),
            fewer * (1 + int(shape.max(initial=0))) + shape,
        )
        radices = [1 + int(column.max(initial=0)) for column in columns]
        keys, bound = ordered_keys(columns, radices, len(step))
        order = stable_order(keys, bound)
        self.step, self.mass, self.is_dense = step[order], messages.mass[order], kind[order] >= 0
        size = structure.message_size[self.step].astype(np.int64)
        self.place = cpt_cells + np.concatenate([[0], np.cumsum(size)])
        place_of = np.empty(len(order), dtype=np.int64)
        place_of[order] = self.place[:-1]
        self.begins = messages.inputs.take(order)
        is_message = self.begins.items < 0
        self.begins.items[is_message] = place_of[~self.begins.items[is_message]]
        self.strides = strides_of(structure, self.step)
        self.turns = (1 + np.flatnonzero(np.diff(shape[order]))).tolist()
        self.bounds = _bounds(keys[order] // radices[-1], structure.cells[self.step])
        self.roots = place_of[messages.last]

    def group(self, start: int, stop: int) -> Gathered | Dense:
        """Some of the messages, to be computed together."""
        begin, end = int(self.place[start]), int(self.place[stop])
        scaling = None
        if self.structure.is_scaled[self.step[start:stop]].any():
            begins = self.place[start : stop + 1] - begin
            scaling = Scaling(begins[:-1], np.diff(begins), self.mass[start:stop])
        if self.is_dense[start]:
            recipe = self._recipe(start, stop)
            return dense_of(begin, end, recipe, scaling, self.keep, self.is_lean)
        source = self._index(start, stop) if self.keep else self._recipe(start, stop)
        fewer = -np.diff(self.begins.starts[start : stop + 1])  # ascending
        first = np.searchsorted(fewer, -np.arange(-fewer[0]))
        widths = tuple((self.place[start + first] - begin).tolist())
        return Gathered(begin, end, source, widths, scaling)

    def _index(self, start: int, stop: int) -> Integers:
        """The index of a group: input, eliminated state, cell of message; a run of each shape.

        Where a message has no such input it holds anything.
        """
        inputs = int(self.begins.starts[start + 1] - self.begins.starts[start])
        states, begin = int(self.structure.size[self.step[start]]), int(self.place[start])
        index = np.empty((inputs, states, int(self.place[stop]) - begin), dtype=np.int64)
        turns = self.turns[bisect_right(self.turns, start) : bisect_left(self.turns, stop)]
        for one, two in pairwise([start, *turns, stop]):
            recipe, here = self._recipe(one, two), slice(*(self.place[[one, two]] - begin))
            recipe.write(index[: recipe.begins.shape[1], :, here])
        return index

    def _recipe(self, start: int, stop: int) -> Recipe:
        """The recipe of a run of messages of one shape."""
        step = int(self.step[start])
        sizes = self.structure.size[[step, *self.structure.scope.row(step)]].tolist()
        begins = self.begins.matrix(start, stop)
        strides = self.strides.between(start, stop).reshape(*begins.shape, len(sizes))
        return Recipe(begins, strides, tuple(sizes))


def shard_of(
    messages: Messages,
    structure: Structure,
    problems: Integers,
    cpt_cells: int,
    keep: bool,
    is_lean: bool,
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
    stack = _Stack(messages, structure, cpt_cells, keep, is_lean)
    groups = tuple(stack.group(start, stop) for start, stop in stack.bounds)
    return Shard(groups, int(stack.place[-1]), problems, stack.roots)


def _are_few(structure: Structure, step: Integers) -> NDArray[np.bool_]:
    """Which messages are of a level and size that has few cells.

    Then it takes longer to call an operation than to carry it out. These are computed together,
    whatever the number of their inputs is, and all are scaled if one is.
    """
    alike = structure.level[step] * (1 + int(structure.size.max(initial=0))) + structure.size[step]
    few: NDArray[np.bool_] = np.bincount(alike, structure.cells[step])[alike] < FEW_CELLS
    return few


def _dense_kinds(structure: Structure, step: Integers, keep: bool) -> Integers:
    """A number for each way in which messages over larger cliques share axes; -1 for others.

    It tells apart what their inputs have, and messages that cannot be computed together.
    """
    kinds = np.full(len(step), -1)
    large = np.flatnonzero(structure.cells[step] > (DENSE_CLIQUE if keep else DENSE_GROUP))
    strides = strides_of(structure, step[large])
    together = (structure.shape[step[large]] * 2 + structure.is_scaled[step[large]]) * (
        1 + int(structure.level.max(initial=0))
    ) + structure.level[step[large]]
    kind = distinct_rows(Ragged(strides.starts, (strides.items != 0).astype(np.int64)), together)[1]
    cells = np.bincount(kind, structure.cells[step[large]])
    kinds[large] = np.where(cells[kind] >= DENSE_GROUP, kind, -1)
    return kinds


def strides_of(structure: Structure, step: Integers) -> Ragged:
    """How each input of each message moves along each axis of the clique."""
    axes, inputs = 1 + structure.scope.lengths_of(step), structure.inputs.lengths_of(step)
    room = np.repeat(axes, inputs)  # the axes of the clique, for each input
    kinds = structure.kinds[structure.inputs.places(step)]
    places, lengths = structure.axis.places(kinds), structure.axis.lengths_of(kinds)
    axis = np.repeat(np.cumsum(room) - room, lengths) + structure.axis.items[places]
    strides = np.zeros(int(room.sum()), dtype=np.int64)
    strides[axis] = structure.stride[places]
    return Ragged.of_lengths(axes * inputs, strides)


def _bounds(alike: Integers, cells: FloatArray) -> list[tuple[int, int]]:
    """Where groups begin and end: at a change of what is alike, or when there are enough cells."""
    changes = begins_of(alike)
    group = np.cumsum(changes) - 1
    before = np.cumsum(cells) - cells
    part = (before - before[np.flatnonzero(changes)][group]) // CELLS_OF_A_GROUP
    changes[1:] |= part[1:] != part[:-1]
    starts = np.flatnonzero(changes)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True))
