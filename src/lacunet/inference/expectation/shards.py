"""Messages laid out in groups, ready for evaluation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import begins_of, ordered_keys, stable_order
from lacunet.counts.em_problems.ragged import Integers, Ragged, group_equal_rows
from lacunet.inference.expectation.fused import MOST_CELLS, Fused, Narrow
from lacunet.inference.expectation.message_groups import Dense, Gathered, Recipe, Scaling, dense_of
from lacunet.inference.expectation.messages import Messages
from lacunet.inference.expectation.steps import INPUTS_BEFORE_SCALING, Structure
from lacunet.network.network import FloatArray

CELLS_OF_A_GROUP = 2**17  # larger groups are cut, so that their arrays stay in the cache
CELLS_WORTH_A_GROUP = 2**13  # of messages of one level and size; fewer go together, see `_are_few`
# Messages over larger cliques are products of matrices, if those of one shape have enough cells.
DENSE_CLIQUE = 2**9  # cells of a clique
DENSE_GROUP = 2**13  # cells of the cliques of one shape


@dataclass(frozen=True)
class Shard:
    """All groups of some problems, in the order of computation."""

    groups: tuple[Gathered | Dense | Fused, ...]
    cells: int  # of the CPTs and of all messages
    problems: Integers  # their numbers
    roots: Integers  # the cells that hold their probabilities


def shard_of(
    messages: Messages,
    structure: Structure,
    problems: Integers,
    cpt_cells: int,
    keep: bool,
    is_lean: bool = False,
    is_compiled: bool = False,
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
    is_compiled
        Whether all else is computed by compiled loops, if indices are kept.
    """
    step = messages.step
    kind = _dense_kinds(structure, step, DENSE_CLIQUE if keep else DENSE_GROUP)
    order, alike = _ordered_alike(messages, structure, kind, keep)
    step = step[order]

    # Where each message begins, behind the CPTs, and where each input does.
    size = structure.message_size[step].astype(np.int64)
    starts = cpt_cells + np.concatenate([[0], np.cumsum(size)])  # of messages, and the last end
    start_of = np.empty(len(order), dtype=np.int64)  # by the messages' numbers
    start_of[order] = starts[:-1]
    begins = messages.inputs.take(order)
    is_message = begins.items < 0
    begins.items[is_message] = start_of[~begins.items[is_message]]
    laid_out = _InOrder(
        structure,
        step,
        starts,
        begins,
        kinds=structure.kinds.take(step),
        mass=messages.mass[order],
        is_dense=kind[order] >= 0,
        turns=(1 + np.flatnonzero(np.diff(structure.shape[step]))).tolist(),
    )
    bounds = _bounds(alike, structure.cells[step])
    groups: list[Gathered | Dense | Fused] = []
    for is_dense, together in groupby(bounds, lambda bound: bool(laid_out.is_dense[bound[0]])):
        between = list(together)
        if is_compiled and keep and not is_dense and starts[-1] < MOST_CELLS:
            groups.append(laid_out.fused(between[0][0], between[-1][1]))
        elif is_dense:
            groups += [laid_out.dense(start, stop, keep, is_lean) for start, stop in between]
        else:
            groups += [laid_out.gathered(start, stop, keep) for start, stop in between]
    return Shard(tuple(groups), int(starts[-1]), problems, start_of[messages.last])


def number_of_groups(
    messages: Messages, structure: Structure, keep: bool, is_compiled: bool
) -> int:
    """How many groups the shard of some messages will have, without laying them out."""
    step = messages.step
    kind = _dense_kinds(structure, step, DENSE_CLIQUE if keep else DENSE_GROUP)
    order, alike = _ordered_alike(messages, structure, kind, keep)
    bounds = _bounds(alike, structure.cells[step[order]])
    if not (is_compiled and keep):
        return len(bounds)
    # What is between two products of matrices is one call.
    is_dense = [bool(kind[order[start]] >= 0) for start, _ in bounds]
    return sum(len(list(run)) if dense else 1 for dense, run in groupby(is_dense))


@dataclass(frozen=True)
class _InOrder:
    """The messages of a shard in the order in which they are computed."""

    structure: Structure
    step: Integers  # of each
    starts: Integers  # where its cells begin; one more at the end
    begins: Ragged  # where those of its inputs do
    kinds: Ragged  # of the inputs
    mass: FloatArray  # the weights of the problems that it serves
    is_dense: NDArray[np.bool_]  # whether it is a product of matrices
    turns: list[int]  # where messages have another shape than those before

    def recipe(self, start: int, stop: int) -> Recipe:
        """The recipe of a run of messages of one shape."""
        sizes = _sizes(self.structure, int(self.step[start]))
        strides = self.structure.strides[self.kinds.matrix(start, stop)][..., : len(sizes)]
        return Recipe(self.begins.matrix(start, stop), strides, sizes)

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The runs of messages of one shape, from one message to before another."""
        inside = self.turns[bisect_right(self.turns, start) : bisect_left(self.turns, stop)]
        return pairwise([start, *inside, stop])

    def index(self, start: int, stop: int) -> Integers:
        """The index of a group: input, eliminated state, cell of message; a run of each shape.

        Where a message has no such input it holds anything.
        """
        begin = int(self.starts[start])
        length = int(self.starts[stop] - self.starts[start])
        inputs = len(self.begins.row(start))  # the first message has most
        states = int(self.structure.size[self.step[start]])
        index = np.empty((inputs, states, length), dtype=np.int64)
        for left, right in self.runs(start, stop):
            cells = self.recipe(left, right).index()
            here = slice(int(self.starts[left]) - begin, int(self.starts[right]) - begin)
            index[: len(cells), :, here] = cells
        return index

    def scaling(self, start: int, stop: int) -> Scaling | None:
        """How the messages of a group are scaled: all of them, if one is."""
        if not self.structure.is_scaled[self.step[start:stop]].any():
            return None
        inside = self.starts[start : stop + 1] - int(self.starts[start])
        return Scaling(inside[:-1], np.diff(inside), self.mass[start:stop])

    def dense(self, start: int, stop: int, keep: bool, is_lean: bool) -> Dense:
        """Some messages that are products of matrices."""
        begin, end = int(self.starts[start]), int(self.starts[stop])
        scaling = self.scaling(start, stop)
        return dense_of(
            start=begin,
            stop=end,
            recipe=self.recipe(start, stop),
            scaling=scaling,
            keep=keep,
            is_lean=is_lean,
        )

    def gathered(self, start: int, stop: int, keep: bool) -> Gathered:
        """Some messages that NumPy computes together through an index."""
        source = self.index(start, stop) if keep else self.recipe(start, stop)
        # Where the messages with at most so many inputs begin: 0, 1, ...
        negative_inputs = -np.diff(self.begins.starts[start : stop + 1])  # ascending
        first = np.searchsorted(negative_inputs, -np.arange(-negative_inputs[0]))
        begin, end = int(self.starts[start]), int(self.starts[stop])
        widths = tuple((self.starts[start + first] - begin).tolist())
        return Gathered(
            start=begin, stop=end, source=source, widths=widths, scaling=self.scaling(start, stop)
        )

    def fused(self, start: int, stop: int) -> Fused:
        """Some messages that a compiled loop computes one after the other."""
        blocks: list[list[int]] = []
        places: list[Narrow] = []
        served = [self.mass[:0]]  # the weights of the problems that each sum serves
        position = 0  # among all places
        slot = 0  # among all sums
        scratch = 0  # the cells of the largest clique whose product is scaled
        for left, right in self.runs(start, stop):
            index = self.recipe(left, right).index()
            places.append(index.transpose(2, 1, 0).astype(np.uint32).reshape(-1))
            inputs, states, _ = index.shape
            sums = -(-inputs // INPUTS_BEFORE_SCALING)
            is_scaled = self.structure.is_scaled[self.step[left:right]]
            turns = left + 1 + np.flatnonzero(np.diff(is_scaled))
            for first, last in pairwise([left, *turns.tolist(), right]):
                cells = int(self.starts[last] - self.starts[first])
                messages = 1
                scale = -1
                if is_scaled[first - left]:
                    messages = last - first
                    scale = slot
                    served.append(np.repeat(self.mass[first:last], sums, axis=0))
                    slot += sums * messages
                    scratch = max(scratch, cells // messages * states)
                begin = int(self.starts[first])
                length = cells // messages
                blocks.append([begin, messages, length, states, inputs, position, scale])
                position += cells * states * inputs
        return Fused(np.array(blocks), np.concatenate(places), np.concatenate(served), scratch)


def _ordered_alike(
    messages: Messages, structure: Structure, kind: Integers, keep: bool
) -> tuple[Integers, Integers]:
    """The order of messages, and a number for each in it: those of one group have the same.

    Parameters
    ----------
    kind
        The numbers that `_dense_kinds` gives.
    """
    step = messages.step
    shape = structure.shape[step]
    inputs = messages.inputs.lengths
    fewer = int(inputs.max(initial=0)) - inputs
    columns = (
        structure.level[step],  # what a message reads is of a lower level
        kind + 1,
        # A recipe is of one shape, an index may be of several.
        np.where((kind >= 0) | (not keep), shape + 1, 0),
        structure.size[step],  # an axis of the index
        np.where(_are_few(structure, step), 0, 2 * inputs + structure.is_scaled[step]),
        fewer * (1 + int(shape.max(initial=0))) + shape,  # within a group: most inputs first
    )
    radices = [1 + int(column.max(initial=0)) for column in columns]
    keys, bound = ordered_keys(columns, radices, len(step))
    order = stable_order(keys, bound)
    return order, keys[order] // radices[-1]


def _are_few(structure: Structure, step: Integers) -> NDArray[np.bool_]:
    """Which messages are of a level and size that has few cells.

    Then it takes longer to call an operation than to carry it out. These are computed together,
    whatever the number of their inputs is, and all are scaled if one is.
    """
    alike = structure.level[step] * (1 + int(structure.size.max(initial=0))) + structure.size[step]
    few: NDArray[np.bool_] = np.bincount(alike, structure.cells[step])[alike] < CELLS_WORTH_A_GROUP
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
    levels = 1 + int(structure.level.max(initial=0))
    shape_and_scaling = structure.shape[step[large]] * 2 + structure.is_scaled[step[large]]
    together = shape_and_scaling * levels + structure.level[step[large]]
    kind = group_equal_rows(patterns, together)[1]
    cells = np.bincount(kind, structure.cells[step[large]])
    kinds[large] = np.where(cells[kind] >= DENSE_GROUP, kind, -1)
    return kinds


def _bounds(alike: Integers, cells: FloatArray) -> list[tuple[int, int]]:
    """Where groups begin and end: at a change of what is alike, or when there are enough cells."""
    changes = begins_of(alike)
    group = np.cumsum(changes) - 1
    before = np.cumsum(cells) - cells
    cells_in_group = before - before[np.flatnonzero(changes)][group]
    part = cells_in_group // CELLS_OF_A_GROUP
    changes[1:] |= part[1:] != part[:-1]
    starts = np.flatnonzero(changes)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True))
