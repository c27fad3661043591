r"""The loops of an E-step that Numba compiles; imported only where it is installed.

What they work on is a `lacunet.inference.expectation.fused.Fused`. Forward, a cell :math:`s` of a
message is the sum over the states :math:`v` of what is eliminated:

.. math:: m(s) = \sum_v \prod_i t_i(v, s)

Backward, each term of the sum gets its share of the cell's mass, and adds it to every input:

.. math:: B(v, s) = B(s) \frac{\prod_i t_i(v, s)}{m(s)}

The loops that share mass out do the same, for one input, two, three or any number: where these are
few, their places are read once, and nothing is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

from lacunet.counts.em_problems.ragged import Integers
from lacunet.inference.expectation.fused import (
    INPUTS,
    SCALE,
    SMALLEST_SUM,
    Narrow,
)
from lacunet.inference.expectation.steps import INPUTS_BEFORE_SCALING
from lacunet.network.network import FloatArray

Loop = TypeVar("Loop", bound=Callable[..., None])


def compiled(loop: Loop) -> Loop:
    """The loop, compiled at its first call, without the interpreter's lock."""
    return cast("Loop", numba.njit(nogil=True)(loop))


@compiled
def forward(
    values: FloatArray, blocks: Integers, places: Narrow, sums: FloatArray, scratch: FloatArray
) -> None:
    """The messages of all blocks, and the sums that they were divided by (0: too small for it)."""
    for block in range(len(blocks)):
        if blocks[block, SCALE] < 0 or blocks[block, INPUTS] <= INPUTS_BEFORE_SCALING:
            multiply(values, blocks[block], places, sums)
        else:
            multiply_many(values, blocks[block], places, sums, scratch)


@compiled
def multiply(values: FloatArray, block: Integers, places: Narrow, sums: FloatArray) -> None:
    """The messages of a block, divided by their sums at the end if that is asked."""
    cell, messages, length, states, inputs, position, scale = block
    for message in range(messages):
        whole = 0.0
        for _ in range(length):
            value = 0.0
            for _ in range(states):
                term = values[places[position]]
                for number in range(1, inputs):
                    term *= values[places[position + number]]
                position += inputs
                value += term
            values[cell] = value
            whole += value
            cell += 1
        if scale >= 0:
            sums[scale + message] = whole if whole >= SMALLEST_SUM else 0.0
            inverse = 1.0 / whole if whole >= SMALLEST_SUM else 0.0
            for back in range(1, length + 1):
                values[cell - back] *= inverse


@compiled
def multiply_many(
    values: FloatArray, block: Integers, places: Narrow, sums: FloatArray, scratch: FloatArray
) -> None:
    """Messages of many inputs, whose product is divided by its sum after every few of them."""
    cell, messages, length, states, inputs, position, scale = block
    terms = length * states
    for _ in range(messages):
        scratch[:terms] = 1.0
        for first in range(0, inputs, INPUTS_BEFORE_SCALING):
            last = min(first + INPUTS_BEFORE_SCALING, inputs)
            whole = 0.0
            for term in range(terms):
                product = scratch[term]
                for number in range(first, last):
                    product *= values[places[position + term * inputs + number]]
                scratch[term] = product
                whole += product
            sums[scale] = whole if whole >= SMALLEST_SUM else 0.0
            inverse = 1.0 / whole if whole >= SMALLEST_SUM else 0.0
            scale += 1
            for term in range(terms):
                scratch[term] *= inverse
        position += terms * inputs
        for first in range(0, terms, states):
            value = 0.0
            for state in range(states):
                value += scratch[first + state]
            values[cell] = value
            cell += 1


@compiled
def backward(
    values: FloatArray, mass: FloatArray, blocks: Integers, places: Narrow, inverses: FloatArray
) -> None:
    """Pass the mass of the messages of all blocks on to their inputs, the last block first."""
    for block in range(len(blocks) - 1, -1, -1):
        inputs = blocks[block, INPUTS]
        scale = blocks[block, SCALE]
        if scale >= 0 and inputs > INPUTS_BEFORE_SCALING:
            share_scaled(values, mass, blocks[block], places, inverses)
            continue
        if inputs == 1:
            share_one(values, mass, blocks[block], places, inverses)
        elif inputs == 2:
            share_two(values, mass, blocks[block], places, inverses)
        elif inputs == 3:
            share_three(values, mass, blocks[block], places, inverses)
        else:
            share_many(values, mass, blocks[block], places, inverses)


@compiled
def share_one(
    values: FloatArray, mass: FloatArray, block: Integers, places: Narrow, inverses: FloatArray
) -> None:
    """Share the mass of a block out, each cell to one input for each state."""
    cell, messages, length, states, _, position, scale = block
    for message in range(messages):
        inverse = inverses[scale + message] if scale >= 0 else 1.0
        for _ in range(length):
            if values[cell] > 0:  # a cell of probability zero has no mass
                share = mass[cell] / values[cell] * inverse
                for state in range(states):
                    left = places[position + state]
                    mass[left] += values[left] * share
            position += states
            cell += 1


@compiled
def share_two(
    values: FloatArray, mass: FloatArray, block: Integers, places: Narrow, inverses: FloatArray
) -> None:
    """The same of two inputs."""
    cell, messages, length, states, _, position, scale = block
    for message in range(messages):
        inverse = inverses[scale + message] if scale >= 0 else 1.0
        for _ in range(length):
            if values[cell] > 0:
                share = mass[cell] / values[cell] * inverse
                for state in range(states):
                    left = places[position + 2 * state]
                    right = places[position + 2 * state + 1]
                    term = values[left] * values[right] * share
                    mass[left] += term
                    mass[right] += term
            position += 2 * states
            cell += 1


@compiled
def share_three(
    values: FloatArray, mass: FloatArray, block: Integers, places: Narrow, inverses: FloatArray
) -> None:
    """The same of three inputs."""
    cell, messages, length, states, _, position, scale = block
    for message in range(messages):
        inverse = inverses[scale + message] if scale >= 0 else 1.0
        for _ in range(length):
            if values[cell] > 0:
                share = mass[cell] / values[cell] * inverse
                for state in range(states):
                    left = places[position + 3 * state]
                    middle = places[position + 3 * state + 1]
                    right = places[position + 3 * state + 2]
                    term = values[left] * values[middle] * values[right] * share
                    mass[left] += term
                    mass[middle] += term
                    mass[right] += term
            position += 3 * states
            cell += 1


@compiled
def share_many(
    values: FloatArray, mass: FloatArray, block: Integers, places: Narrow, inverses: FloatArray
) -> None:
    """The same of any number of inputs."""
    cell, messages, length, states, inputs, position, scale = block
    for message in range(messages):
        inverse = inverses[scale + message] if scale >= 0 else 1.0
        for _ in range(length):
            share = 0.0
            if values[cell] > 0:
                share = mass[cell] / values[cell] * inverse
            for _ in range(states):
                term = values[places[position]]
                for number in range(1, inputs):
                    term *= values[places[position + number]]
                term *= share
                for number in range(inputs):
                    mass[places[position + number]] += term
                position += inputs
            cell += 1


@compiled
def share_scaled(
    values: FloatArray, mass: FloatArray, block: Integers, places: Narrow, inverses: FloatArray
) -> None:
    """The same where the product was divided by its sum after every few inputs."""
    cell, messages, length, states, inputs, position, scale = block
    sums_each = -(-inputs // INPUTS_BEFORE_SCALING)
    for message in range(messages):
        for _ in range(length):
            share = 0.0
            if values[cell] > 0:
                share = mass[cell] / values[cell]
            for _ in range(states):
                term = share
                sums = scale + message * sums_each
                for first in range(0, inputs, INPUTS_BEFORE_SCALING):
                    for number in range(first, min(first + INPUTS_BEFORE_SCALING, inputs)):
                        term *= values[places[position + number]]
                    term *= inverses[sums]
                    sums += 1
                for number in range(inputs):
                    mass[places[position + number]] += term
                position += inputs
            cell += 1


@compiled
def scatter(mass: FloatArray, places: Integers, values: FloatArray) -> None:
    """What `numpy.add.at` does, in the same order."""
    for index in range(len(places)):
        mass[places[index]] += values[index]
