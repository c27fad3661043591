"""The distinct messages of many problems: equal sub-expressions are computed once.

Two steps that eliminate the same variable from the same inputs give the same message,
whatever problems they belong to. Level by level, the inputs of all steps are named by number,
equal ones are found by hashing whole arrays, and what is left is numbered in turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.inference.expectation.structure import Slices, Structure
from lacunet.model.network import FloatArray
from lacunet.statistics.distinct import stable_order
from lacunet.statistics.problems.compile import Problems
from lacunet.statistics.problems.ragged import Integers, Ragged, distinct_rows, joined, ranges

MESSAGE = 1 << 62  # added to a message's number, to tell it from the name of a slice
LABEL = 1 << 36  # multiplies a slice's label, to tell equal beginnings apart


@dataclass(frozen=True)
class Messages:
    """The distinct messages of some problems, inputs before those that read them.

    Message ``i`` is that of step ``step[i]`` of the structure; ``inputs`` lists where in the
    CPT cells each slice begins, or ``~j`` for message ``j``. ``last`` is the message that holds
    the probability of each problem, ``mass`` the weights of the problems a message serves, a
    column for each part of the data.
    """

    step: Integers
    inputs: Ragged
    last: Integers
    mass: FloatArray


def messages_of(
    problems: Problems, structure: Structure, chosen: Integers, component: Integers
) -> Messages:
    """The distinct messages of the chosen problems.

    Parameters
    ----------
    chosen
        The problems.
    component
        The component of each, by its place in the structure.
    """
    steps = structure.of_component
    lengths = np.diff(steps)[component]
    step = ranges(steps[component], lengths)
    begins = np.cumsum(lengths) - lengths  # where each problem's steps begin
    starts, names, slice_begins = slice_starts(problems, structure.slices, chosen, component)
    # what to add to a source to get its place among all steps, or slices, of the problems
    step_shift = np.repeat(begins - steps[component], lengths)
    slice_shift = np.repeat(slice_begins - structure.slices.of_component[component], lengths)
    number = np.full(len(step), -1)  # of the message of each step
    level = structure.level[step]
    order = stable_order(level, 1 + int(level.max(initial=0)))
    done = 0
    kept, read = [], []
    for here in np.split(order, np.flatnonzero(np.diff(level[order])) + 1):
        inputs = structure.inputs.take(step[here])
        owner = here[inputs.owners]
        name = np.empty_like(inputs.items)  # tells inputs apart
        place = np.empty_like(inputs.items)  # says where they are
        slices = np.flatnonzero(inputs.items < 0)
        messages = np.flatnonzero(inputs.items >= 0)
        at = ~inputs.items[slices] + slice_shift[owner[slices]]
        name[slices], place[slices] = names[at], starts[at]
        sent = number[inputs.items[messages] + step_shift[owner[messages]]]
        name[messages], place[messages] = MESSAGE + sent, ~sent
        first, group = distinct_rows(Ragged(inputs.starts, name), structure.variable[step[here]])
        number[here] = done + group
        done += len(first)
        kept.append(step[here[first]])
        read.append(Ragged(inputs.starts, place).take(first))
    served = (np.repeat(weights[chosen], lengths) for weights in problems.weights.T)
    mass = np.stack([np.bincount(number, weights) for weights in served], axis=1).astype(np.float64)
    last = np.flatnonzero(structure.scope.lengths == 0)  # without axes: one step a component
    last_step = begins + (last - steps[:-1])[component]
    return Messages(np.concatenate(kept), joined(read), number[last_step], mass)


def slice_starts(
    problems: Problems, slices: Slices, chosen: Integers, component: Integers
) -> tuple[Integers, Integers, Integers]:
    """Where each problem's slices begin in the CPTs, their names, and where its slices are."""
    layout = problems.factors.layout
    lengths = np.diff(slices.of_component)[component]
    kind = ranges(slices.of_component[component], lengths)
    seen = slices.observed.places(kind)
    counts = slices.observed.lengths_of(kind)
    states = np.repeat(np.repeat(problems.states.starts[chosen], lengths), counts)
    states += slices.observed.items[seen]
    moves = Ragged.of_lengths(counts, slices.observed_stride[seen] * problems.states.items[states])
    starts = layout.offsets[slices.family[kind]] + moves.sums
    return starts, starts + LABEL * slices.label[kind], np.cumsum(lengths) - lengths
