r"""The steps that eliminate each component, without any values yet.

Eliminating the variable :math:`v` multiplies the tables that mention it, its *inputs*, and
sums :math:`v` out:

.. math:: m_v(s) = \sum_v \prod_i t_i(v, s)

An input is a *slice* (the CPT of a family that touches the component, at the observed values)
or the message of a step before. What a step reads and in which layout depends on the component
alone; boundary values only move the place where each slice begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.batched_elimination import eliminate
from lacunet.model.network import FloatArray
from lacunet.statistics.problem_layout import Layout
from lacunet.statistics.problem_ragged import Integers, Ragged, distinct_rows

# A message is scaled to sum to one when this many slices went into it, and a product after
# every so many inputs: at most 32 slices are multiplied before something is scaled, so that
# even probabilities of 1e-9 throughout do not underflow.
FACTORS_BEFORE_SCALING = 8
INPUTS_BEFORE_SCALING = 4


@dataclass(frozen=True)
class Slices:
    """The families that touch each component, in the order of component, then family.

    ``label`` tells families and their missing axes apart; ``boundary_place`` and
    ``boundary_stride`` list the observed axes: where the boundary holds the state, and how far
    it moves the beginning of the slice.
    """

    of_component: Integers  # where the slices of each component begin; one more at the end
    family: Integers
    label: Integers
    boundary_place: Ragged
    boundary_stride: Integers


@dataclass(frozen=True)
class Structure:
    """The steps of all components; step ``s`` eliminates the variable ``variable[s]``.

    Steps are numbered component by component, within it by number of states, then variable:
    the order of the axes of every message. ``inputs`` lists for each step its sources: slice
    ``i`` as ``~i``, the message of step ``j`` as ``j``. ``axis`` lists for each input its
    axes' places in the step's clique (0 the eliminated variable, then the message's axes),
    with the ``stride`` of each.
    """

    of_component: Integers
    variable: Integers
    size: Integers  # states of the eliminated variable
    message_size: FloatArray  # cells of the message; floating, as hopeless cliques overflow
    cells: FloatArray  # of the clique
    scope: Ragged  # steps whose variables are the message's axes
    level: Integers
    is_scaled: NDArray[np.bool_]
    inputs: Ragged
    axis: Ragged
    stride: Integers
    shape: Integers  # steps of one shape have equal sizes, axes and number of inputs
    slices: Slices


def structure_of(layout: Layout, members: Ragged, boundaries: Ragged) -> Structure:
    """Order the elimination of every component and lay out its steps."""
    sizes = layout.cardinalities[members.items]
    order = np.lexsort((members.items, sizes, members.owners))
    members = Ragged(members.starts, members.items[order])
    variable = members.items
    size = layout.cardinalities[variable]
    place = places_of(layout, members)
    edges = _edges(layout, members, place)
    elimination = eliminate(members.lengths, edges, np.log(size))
    rounds, scope = elimination.round, elimination.scope
    reader = _first_to_go(scope, rounds)  # the step that reads each message; -1 for the last
    slices, ends, strides = slices_of(layout, members, boundaries, place)
    slice_reader = _first_to_go(ends, rounds)
    message_strides, message_size = _message_layout(scope, size)
    inputs = _inputs(reader, slice_reader, slices, variable)
    axis, stride = _axes(inputs, scope, message_strides, ends, strides)
    shape = distinct_rows(Ragged(scope.starts, size[scope.items]), size * 64 + inputs.lengths)[1]
    level, is_scaled = _levels(rounds, reader, inputs)
    return Structure(
        of_component=members.starts,
        variable=variable,
        size=size,
        message_size=message_size,
        cells=message_size * size,
        scope=scope,
        level=level,
        is_scaled=is_scaled,
        inputs=inputs,
        axis=axis,
        stride=stride,
        shape=shape,
        slices=slices,
    )


def _edges(layout: Layout, members: Ragged, place: NDArray[np.int32]) -> Ragged:
    """The neighbours of each step's variable within its component."""
    near = Ragged.of_matrix(layout.neighbours).take(members.items)
    owner = near.owners
    other = place[members.owners[owner], near.items]
    inside = other >= 0
    lengths = np.bincount(owner[inside], minlength=len(members.items))
    return Ragged.of_lengths(lengths, other[inside].astype(np.int64))


def _first_to_go(rows: Ragged, rounds: Integers) -> Integers:
    """Of each row of steps, the one eliminated first; -1 where the row is empty."""
    first = np.full(len(rows), -1)
    holds = np.flatnonzero(rows.lengths)
    if len(holds):
        keys = rounds[rows.items] * len(rounds) + rows.items
        first[holds] = np.minimum.reduceat(keys, rows.starts[holds]) % len(rounds)
    return first


def places_of(layout: Layout, members: Ragged) -> NDArray[np.int32]:
    """Where each variable stands among the items of ``members``, for each row; -1 if not."""
    place = np.full((len(members), len(layout.cardinalities)), -1, dtype=np.int32)
    place[members.owners, members.items] = np.arange(len(members.items))
    return place


def slices_of(
    layout: Layout, members: Ragged, boundaries: Ragged, place: NDArray[np.int32]
) -> tuple[Slices, Ragged, Integers]:
    """The slices of all components, the places of their missing axes and those axes' strides.

    Parameters
    ----------
    place
        The number that stands for each variable of each component, see `places_of`.
    """
    families = layout.families_of().take(members.items)
    width = len(layout.cardinalities)
    found = np.unique(members.owners[families.owners] * width + families.items)
    owner, family = found // width, found % width
    boundary_place = np.full((len(members), width), -1, dtype=np.int32)
    at = np.arange(len(boundaries.items)) - boundaries.starts[boundaries.owners]
    boundary_place[boundaries.owners, boundaries.items] = at
    axes = layout.axes.take(family)
    strides = layout.strides[layout.axes.places(family)]
    whose = axes.owners
    step = place[owner[whose], axes.items].astype(np.int64)
    missing = step >= 0
    bit = np.left_shift(1, np.arange(len(whose)) - axes.starts[whose])
    mask = np.bincount(whose, bit * missing, minlength=len(family)).astype(np.int64)
    seen = boundary_place[owner[whose], axes.items].astype(np.int64)
    slices = Slices(
        of_component=np.searchsorted(owner, np.arange(len(members) + 1)),
        family=family,
        label=np.unique(family + width * mask, return_inverse=True)[1],
        boundary_place=Ragged.of_lengths(
            np.bincount(whose[~missing], minlength=len(family)), seen[~missing]
        ),
        boundary_stride=strides[~missing],
    )
    ends = Ragged.of_lengths(np.bincount(whose[missing], minlength=len(family)), step[missing])
    return slices, ends, strides[missing]


def _message_layout(scope: Ragged, size: Integers) -> tuple[Integers, FloatArray]:
    """The stride of each axis of each message (last axis fastest), and the messages' sizes."""
    strides = np.ones(len(scope.items))
    whole = np.ones(len(scope))
    for back in range(1, 1 + int(scope.lengths.max(initial=0))):
        rows = np.flatnonzero(scope.lengths >= back)
        places = scope.starts[rows + 1] - back
        strides[places] = whole[rows]
        whole[rows] *= size[scope.items[places]]
    return np.minimum(strides, 2.0**62).astype(np.int64), whole


def _inputs(reader: Integers, slice_reader: Integers, slices: Slices, variable: Integers) -> Ragged:
    """The sources of each step: slices by family, then messages by eliminated variable."""
    senders = np.flatnonzero(reader >= 0)
    step = np.concatenate([slice_reader, reader[senders]])
    source = np.concatenate([~np.arange(len(slice_reader)), senders])
    rank = np.concatenate([slices.family, len(reader) + variable[senders]])
    order = np.lexsort((rank, step))
    return Ragged.of_lengths(np.bincount(step, minlength=len(reader)), source[order])


def _axes(
    inputs: Ragged, scope: Ragged, message_strides: Integers, ends: Ragged, strides: Integers
) -> tuple[Ragged, Integers]:
    """The axes of each input: places in the reading step's clique, and strides."""
    source, step = inputs.items, inputs.owners
    is_slice = source < 0
    messages, slices = source[~is_slice], ~source[is_slice]
    lengths = np.empty(len(source), dtype=np.int64)
    lengths[~is_slice], lengths[is_slice] = scope.lengths[messages], ends.lengths[slices]
    axes = Ragged.of_lengths(lengths, np.empty(lengths.sum(), dtype=np.int64))
    stride = np.empty_like(axes.items)
    to_message, to_slice = (
        axes.places(np.flatnonzero(~is_slice)),
        axes.places(np.flatnonzero(is_slice)),
    )
    axes.items[to_message] = scope.items[scope.places(messages)]
    stride[to_message] = message_strides[scope.places(messages)]
    axes.items[to_slice] = ends.items[ends.places(slices)]
    stride[to_slice] = strides[ends.places(slices)]
    return Ragged(axes.starts, _places_in_clique(axes, step, scope)), stride


def _places_in_clique(axes: Ragged, step: Integers, scope: Ragged) -> Integers:
    """Where each axis is in the clique of the step that reads it."""
    reader = step[axes.owners]
    keys = scope.owners * len(scope) + scope.items  # ascending: steps, then their scopes
    found = np.searchsorted(keys, reader * len(scope) + axes.items)
    return np.where(axes.items == reader, 0, found - scope.starts[reader] + 1)


def _levels(
    rounds: Integers, reader: Integers, inputs: Ragged
) -> tuple[Integers, NDArray[np.bool_]]:
    """How many steps must come before each, and which messages are scaled."""
    slice_counts = np.bincount(inputs.owners[inputs.items < 0], minlength=len(rounds))
    level = np.zeros(len(rounds), dtype=np.int64)
    factors = slice_counts.copy()
    is_scaled = (inputs.lengths > INPUTS_BEFORE_SCALING) | (reader < 0)
    order = np.argsort(rounds, kind="stable")
    for steps in np.split(order, np.flatnonzero(np.diff(rounds[order])) + 1):
        is_scaled[steps] |= factors[steps] >= FACTORS_BEFORE_SCALING
        sending = steps[reader[steps] >= 0]
        np.maximum.at(level, reader[sending], level[sending] + 1)
        np.add.at(factors, reader[sending], np.where(is_scaled[sending], 0, factors[sending]))
    return level, is_scaled
