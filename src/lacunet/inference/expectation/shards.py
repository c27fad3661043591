"""Messages laid out in groups, ready for evaluation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import begins_of, ordered_keys, stable_order
from lacunet.counts.em_problems.ragged import Integers, Ragged, distinct_rows
from lacunet.inference.expectation.message_groups import Dense, Gathered, Recipe, Scaling, dense_of
from lacunet.inference.expectation.messages import Messages
from lacunet.inference.expectation.steps import Structure
from lacunet.network.network import FloatArray

CELLS_OF_A_GROUP = 2**17  # larger groups are cut, so that their arrays stay in the cache
CELLS_WORTH_A_GROUP = 2**13  # of messages of one level and size; fewer go together, see `_are_few`
# Messages over larger cliques are products of matrices, if those of one shape have enough cells.
DENSE_CLIQUE = 2**9  # cells of a clique
DENSE_GROUP = 2**13  # cells of the cliques of one shape


@dataclass(frozen=True)
class Shard:
    """All groups of some problems, in the order of computation."""

    groups: tuple[Gathered | Dense, ...]
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
    step = messages.step
    kind = _dense_kinds(structure, step, DENSE_CLIQUE if keep else DENSE_GROUP)
    order, alike = _ordered_alike(messages, structure, kind, keep)
    step = step[order]
    shape = structure.shape[step]
    mass = messages.mass[order]
    is_dense = kind[order] >= 0

    # Where each message begins, behind the CPTs, and where each input does.
    size = structure.message_size[step].astype(np.int64)
    starts = cpt_cells + np.concatenate([[0], np.cumsum(size)])  # of messages, and the last end
    start_of = np.empty(len(order), dtype=np.int64)  # by the messages' numbers
    start_of[order] = starts[:-1]
    begins = messages.inputs.take(order)
    is_message = begins.items < 0
    begins.items[is_message] = start_of[~begins.items[is_message]]
    kinds = structure.kinds.take(step)  # of the inputs
    turns = (1 + np.flatnonzero(np.diff(shape))).tolist()  # to another shape

    def recipe(start: int, stop: int) -> Recipe:
        """The recipe of a run of messages of one shape."""
        sizes = _sizes(structure, int(step[start]))
        strides = structure.strides[kinds.matrix(start, stop)][..., : len(sizes)]
        return Recipe(begins.matrix(start, stop), strides, sizes)

    def index_of(start: int, stop: int) -> Integers:
        """The index of a group: input, eliminated state, cell of message; a run of each shape.

        Where a message has no such input it holds anything.
        """
        begin = int(starts[start])
        length = int(starts[stop] - starts[start])
        inputs = len(begins.row(start))  # the first message has most
        states = int(structure.size[step[start]])
        index = np.empty((inputs, states, length), dtype=np.int64)
        inside = turns[bisect_right(turns, start) : bisect_left(turns, stop)]
        for left, right in pairwise([start, *inside, stop]):
            cells = recipe(left, right).index()
            here = slice(int(starts[left]) - begin, int(starts[right]) - begin)
            index[: len(cells), :, here] = cells
        return index

    def group(start: int, stop: int) -> Gathered | Dense:
        """Some of the messages, to be computed together."""
        begin = int(starts[start])
        end = int(starts[stop])
        scaling = None
        if structure.is_scaled[step[start:stop]].any():
            inside = starts[start : stop + 1] - begin
            scaling = Scaling(inside[:-1], np.diff(inside), mass[start:stop])
        if is_dense[start]:
            return dense_of(begin, end, recipe(start, stop), scaling, keep, is_lean)
        source = index_of(start, stop) if keep else recipe(start, stop)
        # Where the messages with at most so many inputs begin: 0, 1, ...
        negative_inputs = -np.diff(begins.starts[start : stop + 1])  # ascending
        first = np.searchsorted(negative_inputs, -np.arange(-negative_inputs[0]))
        widths = tuple((starts[start + first] - begin).tolist())
        return Gathered(begin, end, source, widths, scaling)

    bounds = _bounds(alike, structure.cells[step])
    groups = tuple(group(start, stop) for start, stop in bounds)
    return Shard(groups, int(starts[-1]), problems, start_of[messages.last])


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
    kind = distinct_rows(patterns, together)[1]
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
