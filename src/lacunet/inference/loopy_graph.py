"""The factor graphs of many problems at once, for loopy propagation.

A factor is a slice of a CPT, a variable a missing one. Each *edge* (factor, one of its
missing axes) carries two messages, whose cells stand at the same places in two arrays.
Factors of one shape, and variables with equally many factors and states, form blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.inference.estep_messages import slice_starts
from lacunet.inference.estep_structure import places_of, slices_of
from lacunet.model.network import FloatArray
from lacunet.statistics.problem_ragged import Integers, Ragged, distinct_rows, ranges
from lacunet.statistics.problems import Problems


@dataclass(frozen=True)
class Factors:
    """Factors of one shape, factor ``i`` of the problem ``problem[i]`` with ``weight[i]``.

    ``cells[i, ...]`` are places in the CPTs, ``edges[i, a]`` is where the messages along axis
    ``a`` begin.
    """

    cells: Integers
    edges: Integers
    weight: FloatArray
    problem: Integers


@dataclass(frozen=True)
class Variables:
    """Variables with ``states`` states: ``edges[i]`` is where its factors' messages begin."""

    edges: Integers
    states: int
    weight: FloatArray


@dataclass(frozen=True)
class FactorGraph:
    """The factor graphs of some problems; messages have ``cells`` cells in all."""

    factors: tuple[Factors, ...]
    variables: tuple[Variables, ...]
    cells: int
    begins: Integers  # of each edge's messages
    states: Integers  # of each edge's variable


def factor_graph_of(problems: Problems, chosen: Integers) -> FactorGraph:
    """The factor graphs of the chosen problems."""
    layout = problems.layout
    kinds, component = np.unique(problems.component[chosen], return_inverse=True)
    members = problems.members.take(kinds)
    slices, ends, strides = slices_of(
        layout, members, problems.boundaries.take(kinds), places_of(layout, members)
    )
    starts, _, _ = slice_starts(problems, slices, chosen, component)
    lengths = np.diff(slices.of_component)[component]
    kind = ranges(slices.of_component[component], lengths)  # of each factor
    problem = np.repeat(np.arange(len(chosen)), lengths)
    places = ends.places(kind)
    axes = Ragged.of_lengths(ends.lengths[kind], ends.items[places])
    factor_of_edge = axes.owners
    # a variable of a problem, numbered over all problems
    first = np.cumsum(members.lengths[component]) - members.lengths[component]
    shift = (first - members.starts[component])[problem]
    variable = axes.items + shift[factor_of_edge]
    states = layout.cardinalities[members.items[axes.items]]
    begins = np.cumsum(states) - states
    weight = problems.weights[chosen]
    return FactorGraph(
        tuple(
            _factors(
                axes, states, strides[places], begins, starts, chosen[problem], weight[problem]
            )
        ),
        tuple(_variables(variable, states, begins, weight[problem][factor_of_edge])),
        int(states.sum()),
        begins,
        states,
    )


def _factors(
    axes: Ragged,
    states: Integers,
    strides: Integers,
    begins: Integers,
    starts: Integers,
    problem: Integers,
    weight: FloatArray,
) -> list[Factors]:
    """Blocks of factors with the same numbers of states along their axes."""
    first, shape = distinct_rows(Ragged(axes.starts, states))
    found = []
    for block, one in enumerate(first):
        members = np.flatnonzero(shape == block)
        edges = axes.places(members).reshape(len(members), -1)
        cells = starts[members]
        sizes = states[axes.starts[one] : axes.starts[one + 1]]
        for axis, size in enumerate(sizes):
            cells = cells[..., None] + np.multiply.outer(
                strides[edges[:, axis]], np.arange(size)
            ).reshape((len(members), *[1] * axis, size))
        found.append(Factors(cells, begins[edges], weight[members], problem[members]))
    return found


def _variables(
    variable: Integers, states: Integers, begins: Integers, weight: FloatArray
) -> list[Variables]:
    """Blocks of variables with the same numbers of factors and of states."""
    order = np.argsort(variable, kind="stable")
    edges = Ragged.of_lengths(np.bincount(variable), order)
    of_first = edges.items[edges.starts[:-1]]
    alike, block = np.unique(
        np.stack([edges.lengths, states[of_first]], axis=1), axis=0, return_inverse=True
    )
    return [
        Variables(
            begins[edges.take(members).items].reshape(len(members), -1),
            int(alike[kind, 1]),
            weight[of_first[members]],
        )
        for kind in range(len(alike))
        for members in [np.flatnonzero(block.ravel() == kind)]
    ]
