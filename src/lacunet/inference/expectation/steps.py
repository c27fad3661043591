r"""The steps that eliminate each component, without any values yet.

Eliminating the variable :math:`v` multiplies the tables that mention it, its *inputs*, and
sums :math:`v` out:

.. math:: m_v(s) = \sum_v \prod_i t_i(v, s)

An input is a *slice* (the CPT of a family that touches the component, at the observed values)
or the message of a step before. What a step reads and in which layout depends on the component
alone; boundary values only move the place where each slice begins among the cells of all CPTs.

**How inputs are numbered**, here and in `messages`, `shards` and `draw`: a number from zero up is a
slice, and ``~j``, which is below zero, is the message of step ``j``. Of A -> B -> C, let a row hide
A and B and show C=1. Its component is {A, B}, its boundary C::

    slice 0: P(A)          axes A    |
    slice 1: P(B | A)      axes A, B |--- step 1: eliminates B, inputs 1, 2;  message over A
    slice 2: P(C=1 | B)    axes B    |                                  |
                                     |                                  | ~1
                                     |--- step 0: eliminates A, inputs 0, ~1; message without
                                                                        axes: P(C=1)

Steps have the numbers of their variables among the members of the component; which comes first is
for elimination to say. From `steps` to `messages` the same number names ever more: here the slice
of a component (0, 1, 2: where it begins is not known yet), there the slice of a problem, by where
it begins among the cells of the CPTs. Steps of different problems that read equal inputs then have
one message, so that ``~j`` becomes its number among the distinct ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import distinct, grouped_keys, stable_order
from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.counts.em_problems.ragged import (
    Integers,
    Ragged,
    concatenate_rows,
    concatenated,
    group_equal_rows,
    in_runs,
)
from lacunet.inference.elimination.batched import improve_order
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray

# A message is scaled to sum to one when this many slices went into it, and a product after
# every so many inputs: at most 32 slices are multiplied before something is scaled, so that
# even probabilities of 1e-9 throughout do not underflow.
FACTORS_BEFORE_SCALING = 8
INPUTS_BEFORE_SCALING = 4

MAX_LABEL = 2**24  # leaves room, in one integer, for where the slice begins


@dataclass(frozen=True)
class Structure:
    """The steps of all components; step ``s`` eliminates the variable ``variable[s]``.

    Steps are numbered component by component, within it by number of states, then variable:
    the order of the axes of every message.
    """

    of_component: Integers  # where the steps of each component begin; one more at the end
    variable: Integers  # that is eliminated
    size: Integers  # its states
    message_size: FloatArray  # cells of the message; floating, as hopeless cliques overflow
    cells: FloatArray  # of the clique
    scope: Ragged  # steps whose variables are the message's axes
    level: Integers  # how many steps must come before
    is_scaled: NDArray[np.bool_]  # whether the message is divided by its sum
    inputs: Ragged  # of each step: slice `i` as `i`, the message of step `j` as `~j`
    kinds: Ragged  # of the inputs: what is read, and in which clique; they are few
    # A row for each kind: how it moves along the axes of that clique (the eliminated variable,
    # then the message's axes), zero along one that it does not have.
    strides: Integers
    table_cells: FloatArray  # of all inputs of a step
    shape: Integers  # steps of one shape have equal sizes, axes and number of inputs
    slices: Slices


def structure_of(
    layout: Layout, members: Ragged, boundaries: Ragged, deadline: Deadline = NEVER
) -> Structure:
    """Order the elimination of every component and lay out its steps."""
    members = _in_order_of_axes(layout, members)
    size = layout.cardinalities[members.items]
    slices = slices_of(layout, members, boundaries)
    elimination = improve_order(members.lengths, slices.missing, np.log(size), deadline)
    rounds = elimination.round
    scope = elimination.scope

    # Who reads what: each table goes to the first of its variables that is eliminated.
    reader = _first_to_go(scope, rounds)  # the step that reads each message; -1 for the last
    inputs = _inputs(reader, _first_to_go(slices.missing, rounds), slices, members.items)
    message_strides, message_size = scope.strides(size[scope.items].astype(np.float64))

    # How each input moves along the axes of its clique, once for each kind.
    cliques, clique = group_equal_rows(
        Ragged(scope.starts, members.items[scope.items]), members.items
    )
    step = inputs.owners
    kinds, chosen = _kinds(inputs.items, clique[step], clique, len(cliques), slices)
    # The axes of all messages, then of all slices.
    tables = concatenate_rows([scope, slices.missing])
    moves = [np.minimum(message_strides, 2.0**62).astype(np.int64), slices.missing_stride]
    source = inputs.items[chosen]
    rows = np.where(source < 0, ~source, len(scope) + source)  # of the tables: one of each kind
    axes = tables.take(rows)
    places = _places_in_clique(axes, step[chosen], scope)
    strides = np.zeros((len(chosen), 1 + int(scope.lengths.max(initial=0))), dtype=np.int64)
    strides[axes.owners, places] = np.concatenate(moves)[tables.places(rows)]
    cells = np.multiply.reduceat(size[axes.items].astype(np.float64), axes.starts[:-1])

    is_slice = inputs.items >= 0
    slice_counts = np.bincount(step, is_slice, minlength=len(rounds)).astype(np.int64)
    level, is_scaled = _levels(rounds, reader, inputs.lengths, slice_counts)
    return Structure(
        of_component=members.starts,
        variable=members.items,
        size=size,
        message_size=message_size,
        cells=message_size * size,
        scope=scope,
        level=level,
        is_scaled=is_scaled,
        inputs=inputs,
        kinds=Ragged(inputs.starts, kinds),
        strides=strides,
        table_cells=np.bincount(step, cells[kinds]).astype(np.float64),
        shape=_shapes(scope, size, inputs.lengths, clique),
        slices=slices,
    )


def _in_order_of_axes(layout: Layout, members: Ragged) -> Ragged:
    """The members of each component, those with few states first: the last axis is the longest."""
    in_order = np.argsort(layout.cardinalities, kind="stable")  # by number of states
    rank = np.empty_like(in_order)
    rank[in_order] = np.arange(len(in_order))
    ranks = Ragged.of_pairs(len(members), members.owners, rank[members.items])
    return Ragged(members.starts, in_order[ranks.items])


def _shapes(scope: Ragged, size: Integers, inputs: Integers, clique: Integers) -> Integers:
    """A number for each combination of sizes and number of inputs."""
    most = 1 + int(inputs.max(initial=0))
    group, chosen = grouped_keys(clique * most + inputs, (1 + int(clique.max(initial=0))) * most)
    few = scope.take(chosen)
    sizes = Ragged(few.starts, size[few.items])
    return group_equal_rows(sizes, size[chosen] * most + inputs[chosen])[1][group]


def _kinds(
    inputs: Integers, reader: Integers, clique: Integers, cliques: int, slices: Slices
) -> tuple[Integers, Integers]:
    """The kind of each input, and one of each kind; ``reader`` has the cliques that they go to."""
    labels, label = distinct(slices.label, 1 + int(slices.label.max(initial=0)))
    # Indexed by inputs: slices from the front, messages, which are below zero, from behind.
    source = np.concatenate([label, (len(labels) + clique)[::-1]])[inputs]
    sources = len(labels) + cliques
    return grouped_keys(reader * sources + source, cliques * sources)


def _first_to_go(rows: Ragged, rounds: Integers) -> Integers:
    """Of each row of steps, the one eliminated first; -1 where the row is empty."""
    first = np.full(len(rows), -1)
    holds = np.flatnonzero(rows.lengths)
    if len(holds):
        keys = rounds[rows.items] * len(rounds) + rows.items
        first[holds] = np.minimum.reduceat(keys, rows.starts[holds]) % len(rounds)
    return first


def _inputs(reader: Integers, slice_reader: Integers, slices: Slices, variable: Integers) -> Ragged:
    """The inputs of each step: slices by family, then messages by eliminated variable."""
    senders = np.flatnonzero(reader >= 0)
    step = np.concatenate([slice_reader, reader[senders]])
    source = np.concatenate([np.arange(len(slice_reader)), ~senders])
    families = 1 + int(slices.family.max(initial=0))
    rank = np.concatenate([slices.family, families + variable[senders]])
    ranks = families + 1 + int(variable.max(initial=0))
    order = stable_order(step * ranks + rank, len(reader) * ranks)
    return Ragged.of_lengths(np.bincount(step, minlength=len(reader)), source[order])


def _places_in_clique(axes: Ragged, step: Integers, scope: Ragged) -> Integers:
    """Where each axis is in the clique of the step that reads it."""
    reader = step[axes.owners]
    keys = scope.owners * len(scope) + scope.items  # ascending: steps, then their scopes
    position = np.searchsorted(keys, reader * len(scope) + axes.items)
    return np.where(axes.items == reader, 0, position - scope.starts[reader] + 1)


def _levels(
    rounds: Integers, reader: Integers, inputs: Integers, slice_counts: Integers
) -> tuple[Integers, NDArray[np.bool_]]:
    """How many steps must come before each, and which messages are scaled.

    ``inputs`` and ``slice_counts`` say how many inputs and how many slices each step reads.
    """
    level = np.zeros(len(rounds), dtype=np.int64)
    factors = slice_counts.copy()
    is_scaled = (inputs > INPUTS_BEFORE_SCALING) | (reader < 0)
    order = stable_order(rounds, 1 + int(rounds.max(initial=0)))
    for steps in in_runs(order, rounds[order]):
        is_scaled[steps] |= factors[steps] >= FACTORS_BEFORE_SCALING
        sending = steps[reader[steps] >= 0]
        np.maximum.at(level, reader[sending], level[sending] + 1)
        np.add.at(factors, reader[sending], np.where(is_scaled[sending], 0, factors[sending]))
    return level, is_scaled


@dataclass(frozen=True)
class Slices:
    """The families that touch each component, in the order of component, then family.

    A family enters the problems of a component as a *slice*: its CPT at the states of its observed
    variables. Which axes are left is the component's, where the slice begins is the boundary
    value's.
    """

    of_component: Integers  # where the slices of each component begin; one more at the end
    family: Integers
    label: Integers  # tells families and their missing axes apart; from zero up
    missing: Ragged  # each slice's axes, by their variables' places among all components' members
    missing_stride: Integers  # beside them
    observed: Ragged  # where the boundary holds the states of the other axes
    observed_stride: Integers  # how far each moves the beginning of the slice


def slices_of(layout: Layout, members: Ragged, boundaries: Ragged) -> Slices:
    """The slices of all components."""
    both = concatenated(members, boundaries)
    component, family = touching(layout, members, both)
    axes = layout.axes.take(family)
    strides = layout.strides[layout.axes.places(family)]
    whose = axes.owners
    owner = component[whose]
    position = both.find(owner, axes.items) - both.starts[owner]
    seen = position - members.lengths[owner]
    is_hidden = seen < 0
    hidden = np.flatnonzero(is_hidden)
    shown = np.flatnonzero(~is_hidden)

    # A label has a bit for each missing axis of the family.
    bits = np.left_shift(1, np.arange(len(whose)) - axes.starts[whose]) * is_hidden
    masks = np.add.reduceat(bits, axes.starts[:-1]) if len(family) else bits
    variables = len(layout.network.variables)  # what is behind is fixed: numbered apart
    labels = np.where(family < variables, family + variables * masks, variables - 1 - family)
    labels -= labels.min(initial=0)  # from zero up, as slices are told from messages by their sign
    if labels.max(initial=0) >= MAX_LABEL:  # many variables, or a family of many parents
        labels = np.unique(labels, return_inverse=True)[1]
    return Slices(
        of_component=np.searchsorted(component, np.arange(len(members) + 1)),
        family=family,
        label=labels,
        missing=_where(hidden, whose, members.starts[owner] + position, len(family)),
        missing_stride=strides[hidden],
        observed=_where(shown, whose, seen, len(family)),
        observed_stride=strides[shown],
    )


def touching(layout: Layout, members: Ragged, both: Ragged) -> tuple[Integers, Integers]:
    """Every component with each family that touches it, in that order.

    ``both`` lists the members of each component, then its boundary. A family whose child is in
    neither is that of a barren variable.
    """
    families = layout.families_of().take(members.items)
    owner = members.owners[families.owners]
    there = both.find(owner, families.items) >= 0
    touched = Ragged.of_pairs(len(members), owner[there], families.items[there])
    return touched.owners, touched.items


def _where(chosen: Integers, whose: Integers, items: Integers, rows: int) -> Ragged:
    """Some of the items, by the rows that they belong to."""
    return Ragged.of_lengths(np.bincount(whose[chosen], minlength=rows), items[chosen])
