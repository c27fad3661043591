"""Messages laid out in groups, ready for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.estep_groups import Group, Recipe, Scaling
from lacunet.inference.estep_messages import Messages
from lacunet.inference.estep_structure import Structure
from lacunet.model.network import FloatArray
from lacunet.statistics.problem_ragged import Integers, Ragged

CELLS_OF_A_GROUP = 2**17  # more are cut, so that a group's arrays stay in the cache


@dataclass(frozen=True)
class Shard:
    """All groups of some problems, in the order of computation.

    ``cells`` counts those of the CPTs and of all messages, ``roots`` are the cells that hold
    the ``problems``' probabilities.
    """

    groups: tuple[Group, ...]
    cells: int
    problems: Integers
    roots: Integers


@dataclass(frozen=True)
class _Stack:
    """The messages in the order of computation.

    ``place`` is where each message begins among all cells, with its end after the last;
    ``begins`` lists where its inputs begin, ``strides`` how they move, input by input.
    """

    step: Integers
    place: Integers
    is_large: NDArray[np.bool_]
    mass: FloatArray
    begins: Ragged
    strides: Ragged


def shard_of(
    messages: Messages,
    structure: Structure,
    problems: Integers,
    cpt_cells: int,
    kept_cells: float,
) -> Shard:
    """Lay out the messages of some problems for evaluation.

    Parameters
    ----------
    problems
        The numbers of the problems.
    cpt_cells
        The number of cells of all CPTs.
    kept_cells
        The largest clique whose index is kept; larger ones are made anew each time.
    """
    step = messages.step
    is_large = structure.cells[step] > kept_cells
    alike = (  # messages of one group agree on all of these
        structure.is_scaled[step],
        structure.size[step],
        messages.inputs.lengths,
        np.where(is_large, structure.shape[step], -1),
        structure.level[step],
    )
    order = np.lexsort((structure.shape[step], *alike))
    size = structure.message_size[step[order]].astype(np.int64)
    place = cpt_cells + np.concatenate([[0], np.cumsum(size)])
    place_of = np.empty(len(order), dtype=np.int64)
    place_of[order] = place[:-1]
    read = messages.inputs.take(order)
    begins = read.items.copy()
    begins[read.items < 0] = place_of[~read.items[read.items < 0]]
    stack = _Stack(
        step[order],
        place,
        is_large[order],
        messages.mass[order],
        Ragged(read.starts, begins),
        _strides(structure, step[order]),
    )
    bounds = _bounds([key[order] for key in alike], structure.cells[stack.step])
    groups = tuple(_group(stack, structure, start, stop) for start, stop in bounds)
    return Shard(groups, int(place[-1]), problems, place_of[messages.last])


def _strides(structure: Structure, step: Integers) -> Ragged:
    """How each input of each message moves along each axis of the clique."""
    axes = 1 + structure.scope.lengths[step]
    inputs = structure.inputs.lengths[step]
    blocks = Ragged.of_lengths(axes * inputs, np.zeros(int(axes @ inputs), dtype=np.int64))
    chosen = structure.inputs.places(step)
    message = np.repeat(np.arange(len(step)), inputs)
    slot = np.arange(len(chosen)) - np.repeat(np.cumsum(inputs) - inputs, inputs)
    corner = blocks.starts[message] + slot * axes[message]
    places = structure.axis.places(chosen)
    lengths = structure.axis.lengths[chosen]
    blocks.items[np.repeat(corner, lengths) + structure.axis.items[places]] = structure.stride[
        places
    ]
    return blocks


def _bounds(keys: Sequence[NDArray[Any]], cells: FloatArray) -> list[tuple[int, int]]:
    """Where groups begin and end: at a change of keys, or when there are enough cells."""
    changes = np.zeros(len(cells), dtype=bool)
    changes[0] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    group = np.cumsum(changes) - 1
    before = np.cumsum(cells) - cells
    part = (before - before[np.flatnonzero(changes)][group]) // CELLS_OF_A_GROUP
    changes[1:] |= part[1:] != part[:-1]
    starts = np.flatnonzero(changes)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True))


def _group(stack: _Stack, structure: Structure, start: int, stop: int) -> Group:
    shape = structure.shape[stack.step[start:stop]]
    cuts = start + np.flatnonzero(np.diff(shape)) + 1
    ends = [start, *cuts.tolist(), stop]
    recipes = tuple(_recipe(stack, structure, one, two) for one, two in pairwise(ends))
    kept = None
    if not stack.is_large[start]:
        kept = np.concatenate([recipe.index() for recipe in recipes], axis=2)
        recipes = ()
    scaling = None
    if structure.is_scaled[stack.step[start]]:
        begins = stack.place[start : stop + 1] - stack.place[start]
        scaling = Scaling(begins[:-1], np.diff(begins), stack.mass[start:stop])
    return Group(int(stack.place[start]), int(stack.place[stop]), recipes, kept, scaling)


def _recipe(stack: _Stack, structure: Structure, start: int, stop: int) -> Recipe:
    """The recipe of a run of messages of one shape."""
    first = stack.step[start]
    scope = structure.scope.take(np.array([first])).items
    sizes = (int(structure.size[first]), *structure.size[scope].tolist())
    inputs = int(structure.inputs.lengths[first])
    begins = stack.begins.items[stack.begins.starts[start] : stack.begins.starts[stop]]
    strides = stack.strides.items[stack.strides.starts[start] : stack.strides.starts[stop]]
    return Recipe(begins.reshape(-1, inputs), strides.reshape(-1, inputs, len(sizes)), sizes)
