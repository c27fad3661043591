"""The distinct messages of many problems: equal sub-expressions are computed once.

Two steps that eliminate the same variable from the same inputs give the same message,
whatever problems they belong to. Level by level, the inputs of all steps are named by number,
equal ones are found by hashing whole arrays, and what is left is numbered in turn.

As in `steps`, a number from zero up is a slice and ``~j`` is message ``j``. Of A -> B -> C -> D,
let rows hide B and C, and some show A=0 and D=1, others A=1 and D=1. These are two problems. Both
eliminate C from P(C | B) and P(D=1 | C): one message, 0. Then B is eliminated from P(B | A=0) and
``~0`` for the first problem, from P(B | A=1) and ``~0`` for the second: messages 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.counts.distinct import stable_order
from lacunet.counts.em_problems.compile import Problems
from lacunet.counts.em_problems.ragged import (
    Integers,
    Ragged,
    concatenate_rows,
    group_equal_rows,
    ranges,
)
from lacunet.inference.expectation.steps import Slices, Structure
from lacunet.network.network import FloatArray

LABEL = 1 << 36  # multiplies a slice's label, to tell equal beginnings apart


@dataclass(frozen=True)
class Messages:
    """The distinct messages of some problems, inputs before those that read them."""

    step: Integers  # the step of the structure that each message is of
    inputs: Ragged  # where in the CPT cells each slice begins; `~j` for message `j` of these
    last: Integers  # the message that holds the probability of each problem
    mass: FloatArray  # the weights of the problems a message serves, a column for each part


@dataclass(frozen=True)
class ProblemSteps:
    """The steps of some problems, one problem after the other, equal ones as often as they occur.

    A slice is named by where it begins in the CPT cells, plus `LABEL` times its label: slices of
    one beginning may have different axes. The name modulo `LABEL` is where it begins.
    """

    step: Integers  # the number of each among those of the structure
    lengths: Integers  # how many steps each problem has, ...
    first: Integers  # ... and which is the first
    shift: Integers  # leads from a step of the structure to that of the same problem here
    inputs: Ragged  # the names of slices; `~j` for the message of step `j` here


def steps_of(
    problems: Problems, structure: Structure, chosen: Integers, component: Integers
) -> ProblemSteps:
    """The steps of the chosen problems.

    Parameters
    ----------
    chosen
        The problems.
    component
        The component of each, by its place in the structure.
    """
    of_component = structure.of_component[component]
    slices = structure.slices
    lengths = np.diff(structure.of_component)[component]
    step = ranges(of_component, lengths)
    first = np.cumsum(lengths) - lengths
    shift = np.repeat(first - of_component, lengths)
    starts, slice_number, slice_first = slice_starts(problems, slices, chosen, component)
    names = starts + LABEL * slices.label[slice_number]
    slice_shift = np.repeat(slice_first - slices.of_component[component], lengths)

    # From the numbers of a component's slices and steps to those of each problem's.
    inputs = structure.inputs.take(step)
    owner = inputs.owners
    items = inputs.items - shift[owner]  # of messages: ~j - k is ~(j + k)
    slice_read = np.flatnonzero(inputs.items >= 0)
    items[slice_read] = names[inputs.items[slice_read] + slice_shift[owner[slice_read]]]
    return ProblemSteps(
        step=step, lengths=lengths, first=first, shift=shift, inputs=Ragged(inputs.starts, items)
    )


def messages_of(
    problems: Problems, structure: Structure, chosen: Integers, component: Integers
) -> Messages:
    """The distinct messages of the chosen problems, of these components."""
    steps = steps_of(problems, structure, chosen, component)
    step = steps.step
    number = np.full(len(step), -1)  # of the message of each step
    level = structure.level[step]
    order = stable_order(level, 1 + int(level.max(initial=0)))

    # Level by level, so that messages are numbered before they are read: then two steps with equal
    # inputs, of equal names, give the same message.
    done = 0
    kept = []
    read = []
    for here in np.split(order, np.flatnonzero(np.diff(level[order])) + 1):
        inputs = steps.inputs.take(here)
        is_message = inputs.items < 0
        # All steps that give one message have its number here.
        inputs.items[is_message] = ~number[~inputs.items[is_message]]
        first, group = group_equal_rows(inputs, structure.variable[step[here]])
        number[here] = done + group
        done += len(first)
        kept.append(step[here[first]])
        sources = np.where(is_message, inputs.items, inputs.items % LABEL)  # without the label
        read.append(Ragged(inputs.starts, sources).take(first))

    by_part = []
    for weights in problems.weights.T:
        served = np.repeat(weights[chosen], steps.lengths)  # the weight of each step's problem
        by_part.append(np.bincount(number, served))
    mass = np.stack(by_part, axis=1).astype(np.float64)
    last = np.flatnonzero(structure.scope.lengths == 0)  # without axes: one step a component
    last_step = steps.first + (last - structure.of_component[:-1])[component]
    return Messages(np.concatenate(kept), concatenate_rows(read), number[last_step], mass)


def slice_starts(
    problems: Problems, slices: Slices, chosen: Integers, component: Integers
) -> tuple[Integers, Integers, Integers]:
    """Where each problem's slices begin among the cells of the CPTs, problem after problem.

    Then which slice of the structure each is, and the first slice of each problem.
    """
    layout = problems.factors.layout
    lengths = np.diff(slices.of_component)[component]  # how many slices each problem has
    number = ranges(slices.of_component[component], lengths)
    first = np.cumsum(lengths) - lengths

    # A slice begins where its family's CPT does, moved along each observed axis to its state.
    axes = slices.observed.places(number)
    axis_counts = slices.observed.lengths_of(number)
    boundary = np.repeat(problems.states.starts[chosen], lengths)  # where each slice's states begin
    state_at = np.repeat(boundary, axis_counts) + slices.observed.items[axes]
    moves = slices.observed_stride[axes] * problems.states.items[state_at]
    starts = layout.offsets[slices.family[number]] + Ragged.of_lengths(axis_counts, moves).sums
    return starts, number, first
