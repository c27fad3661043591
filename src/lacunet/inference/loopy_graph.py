"""The factor graphs of many problems at once, for loopy propagation.

A factor is a slice of a CPT, a variable a missing one. Each *edge* (factor, one of its
missing axes) carries two messages, whose cells stand at the same places in two arrays.
Factors of one shape, and variables with equally many factors and states, form blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lacunet.inference.estep_messages import slice_starts
from lacunet.inference.estep_slices import slices_of
from lacunet.model.network import FloatArray
from lacunet.statistics.problem_ragged import Integers, Ragged, distinct_rows, ranges
from lacunet.statistics.problems import Problems


@dataclass(frozen=True)
class Factors:
    """Factors of one shape, factor ``i`` of the problem ``problem[i]`` with ``weight[i]``.

    ``cells[i, ...]`` are places in the CPTs, ``edges[a][i]`` those of the messages along
    axis ``a``, a place for each state.
    """

    cells: Integers
    edges: tuple[Integers, ...]
    weight: FloatArray
    problem: Integers


@dataclass(frozen=True)
class Variables:
    """Variables alike: ``edges[i, f]`` are the places of the messages with factor ``f``."""

    edges: Integers
    weight: FloatArray


@dataclass(frozen=True)
class FactorGraph:
    """The factor graphs of some problems; edge ``e`` has a variable with ``states[e]`` states."""

    factors: tuple[Factors, ...]
    variables: tuple[Variables, ...]
    states: Integers


def factor_graph_of(problems: Problems, chosen: Integers) -> FactorGraph:
    """The factor graphs of the chosen problems."""
    layout = problems.layout
    kinds, component = np.unique(problems.component[chosen], return_inverse=True)
    members = problems.members.take(kinds)
    slices = slices_of(layout, members, problems.boundaries.take(kinds))
    starts, _, _ = slice_starts(problems, slices, chosen, component)
    lengths = np.diff(slices.of_component)[component]
    kind = ranges(slices.of_component[component], lengths)  # of each factor
    problem = np.repeat(np.arange(len(chosen)), lengths)
    axes = slices.missing.take(kind)
    states = layout.cardinalities[members.items[axes.items]]
    begins = np.cumsum(states) - states
    edges = _Edges(axes, states, slices.missing_stride[slices.missing.places(kind)], begins)
    weight = problems.weights[chosen][problem]
    return FactorGraph(
        tuple(_factors(edges, starts, chosen[problem], weight)),
        tuple(_variables(edges, _variable_of(edges, members, component, problem), weight)),
        states,
    )


@dataclass(frozen=True)
class _Edges:
    """The edges of each factor: members, states, strides and where messages begin."""

    axes: Ragged
    states: Integers
    strides: Integers
    begins: Integers


def _variable_of(
    edges: _Edges, members: Ragged, component: Integers, problem: Integers
) -> Integers:
    """The variable at each edge, numbered over all problems."""
    lengths = members.lengths_of(component)
    first = np.cumsum(lengths) - lengths
    shift = (first - members.starts[component])[problem]
    return edges.axes.items + shift[edges.axes.owners]


def _factors(
    edges: _Edges, starts: Integers, problem: Integers, weight: FloatArray
) -> Iterator[Factors]:
    """Blocks of factors with the same numbers of states along their axes."""
    first, shape = distinct_rows(Ragged(edges.axes.starts, edges.states))
    for block, one in enumerate(first):
        factors = np.flatnonzero(shape == block)
        along = edges.axes.places(factors).reshape(len(factors), -1)
        cells = starts[factors]
        for axis, size in enumerate(edges.states[along[factors == one][0]]):
            moves = np.multiply.outer(edges.strides[along[:, axis]], np.arange(size))
            cells = cells[..., None] + moves.reshape(len(factors), *[1] * axis, size)
        sizes = cells.shape[1:]
        places = tuple(
            edges.begins[along[:, axis], None] + np.arange(size) for axis, size in enumerate(sizes)
        )
        yield Factors(cells, places, weight[factors], problem[factors])


def _variables(edges: _Edges, variable: Integers, weight: FloatArray) -> Iterator[Variables]:
    """Blocks of variables with the same numbers of factors and of states."""
    of_variable = Ragged.of_lengths(np.bincount(variable), np.argsort(variable, kind="stable"))
    first = of_variable.items[of_variable.starts[:-1]]
    alike, block = np.unique(
        np.stack([of_variable.lengths, edges.states[first]], axis=1), axis=0, return_inverse=True
    )
    weights = weight[edges.axes.owners][first]
    for kind, (degree, states) in enumerate(alike.tolist()):
        variables = np.flatnonzero(block.ravel() == kind)
        along = of_variable.take(variables).items.reshape(len(variables), degree)
        places = edges.begins[along][..., None] + np.arange(states)
        yield Variables(places, weights[variables])
