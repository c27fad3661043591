r"""Loopy belief propagation: the expectation where exact elimination is too dear.

Flooding: in every sweep all variables, then all factors, send to all their neighbours,

.. math::
    \mu_{x \to f}(x) = \prod_{g \ne f} \mu_{g \to x}(x), \qquad
    \mu_{f \to x}(x) = \sum_{f \setminus x} f \prod_{y \ne x} \mu_{y \to f}(y)

until no message moves by more than a tolerance, at most eight times. The first ones are uniform,
or those of an expectation before: EM's steps become small, and so do theirs. The beliefs at the
factors are the expected counts; the log-likelihood is Bethe's approximation

.. math::
    \log Z \approx \sum_f \sum b_f \log \frac{f}{b_f} + \sum_x (d_x - 1) \sum b_x \log b_x .

Both are exact where the factor graph is a tree no deeper than the sweeps reach.

The factor graphs of many problems are laid out together. A factor is a slice of a CPT, a variable a
missing one. Each *edge* (factor, one of its missing axes) carries two messages, whose cells stand
at the same places in two arrays. Factors of one shape, and variables with equally many factors and
states, form blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from lacunet.counts.counts import added_up
from lacunet.counts.em_problems.compile import Problems
from lacunet.counts.em_problems.ragged import Integers, Ragged, group_equal_rows, in_runs
from lacunet.inference.expectation.expect import Expectation, impossible
from lacunet.inference.expectation.message_groups import cells_along
from lacunet.inference.expectation.messages import slice_starts
from lacunet.inference.expectation.steps import slices_of
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray
from lacunet.threads import in_threads

LOOPY_SWEEPS = 8
LOOPY_TOLERANCE = 1e-4
VARIABLES_AT_A_TIME = 2**17


@dataclass(frozen=True)
class LoopyPlan:
    """The factor graphs of some problems."""

    problems: Problems
    graphs: tuple[FactorGraph, ...]

    @property
    def reads(self) -> float:
        """The cells that an expectation multiplies at most."""
        blocks = (block for graph in self.graphs for block in graph.factors)
        return float(sum(LOOPY_SWEEPS * len(block.edges) * block.cells.size for block in blocks))


def loopy_plan_of(problems: Problems, chosen: Integers, deadline: Deadline = NEVER) -> LoopyPlan:
    """Lay out the chosen problems for loopy propagation."""
    graphs = []
    variables = np.cumsum(problems.members.lengths[problems.component[chosen]])
    for part in in_runs(chosen, variables // VARIABLES_AT_A_TIME):
        deadline.check()
        graphs.append(factor_graph_of(problems, part))
    return LoopyPlan(problems, tuple(graphs))


def loopy_expect(
    plan: LoopyPlan,
    cells: FloatArray,
    parts: FloatArray,
    deadline: Deadline = NEVER,
    messages: tuple[FloatArray, ...] = (),
) -> Expectation:
    """The approximate expectation over the planned problems.

    Parameters
    ----------
    parts
        How much each part of the data counts.
    messages
        Those of an expectation at other cells, to begin with; uniform ones if none are given.

    Raises
    ------
    ImpossibleDataError
        A message is zero everywhere: the CPTs rule the problem out.
    """
    if not plan.graphs:
        return Expectation(np.zeros_like(cells), np.zeros(len(parts)))
    whole = plan.problems.factors.behind(cells)
    expectation = Expectation(np.zeros_like(whole), np.zeros(len(parts)))

    def propagated(begin: tuple[FactorGraph, FloatArray | None]) -> Expectation:
        return _propagate(
            problems=plan.problems,
            graph=begin[0],
            cells=whole,
            parts=parts,
            deadline=deadline,
            first=begin[1],
        )

    for part in in_threads(propagated, zip_longest(plan.graphs, messages)):
        expectation = expectation + part
    return replace(expectation, counts=expectation.counts[: len(cells)])


def _propagate(
    problems: Problems,
    graph: FactorGraph,
    cells: FloatArray,
    parts: FloatArray,
    deadline: Deadline,
    first: FloatArray | None,
) -> Expectation:
    """Sweep until the messages to variables stay as they are; then read off what they give.

    ``first`` are the messages to begin with; uniform ones if it is None.
    """
    tables = [cells[block.cells] for block in graph.factors]
    to_variables = 1 / np.repeat(graph.states, graph.states).astype(np.float64)
    if first is not None:  # zeros are forgotten: around a loop they would never go away
        to_variables = np.where(first > 0, first, to_variables)
    to_factors = to_variables.copy()

    for _ in range(LOOPY_SWEEPS):
        deadline.check()
        before = to_variables.copy()
        _send_to_factors(graph, to_variables, to_factors)
        for block, table in zip(graph.factors, tables, strict=True):
            _send_to_variables(problems, block, table, to_factors, to_variables)
        if np.abs(to_variables - before).max(initial=0) < LOOPY_TOLERANCE:
            break
    _send_to_factors(graph, to_variables, to_factors)

    counts = np.zeros_like(cells)
    logs = np.zeros(len(parts))
    _add_beliefs_of_factors(problems, graph, tables, to_factors, parts, counts, logs)
    _add_entropies_of_variables(graph, to_variables, logs)
    return Expectation(counts, logs, (to_variables,))


def _add_beliefs_of_factors(
    problems: Problems,
    graph: FactorGraph,
    tables: Sequence[FloatArray],
    to_factors: FloatArray,
    parts: FloatArray,
    counts: FloatArray,
    logs: FloatArray,
) -> None:
    r"""Add the expected counts, and :math:`\sum_f \sum b_f \log (f / b_f)` of each part."""
    for block, table in zip(graph.factors, tables, strict=True):
        product = _product(block, table, to_factors)
        sums = product.reshape(len(product), -1).sum(axis=1)
        _refuse_zeros(problems, block, sums)
        belief = product / _with_axes(sums, product.ndim)
        shown = np.where(belief > 0, belief, 1)
        # The difference of logarithms: the quotient overflows where a belief nearly vanishes.
        energy = (np.log(np.where(belief > 0, table, 1)) - np.log(shown)) * belief
        logs += energy.reshape(len(belief), -1).sum(axis=1) @ block.weights
        weighted = belief * _with_axes(block.weights @ parts, belief.ndim)
        counts += added_up(block.cells.ravel(), weighted.ravel(), len(counts))


def _add_entropies_of_variables(
    graph: FactorGraph, to_variables: FloatArray, logs: FloatArray
) -> None:
    r"""Add :math:`\sum_x (d_x - 1) \sum b_x \log b_x` of each part of the data."""
    for block in graph.variables:
        with np.errstate(divide="ignore"):
            belief = _distribution(np.log(to_variables.take(block.edges)).sum(axis=1))
        negative_entropy = (belief * np.log(np.where(belief > 0, belief, 1))).sum(axis=1)
        degree = block.edges.shape[1]
        logs += (degree - 1) * (negative_entropy @ block.weights)


def _with_axes(rows: FloatArray, dimensions: int) -> FloatArray:
    """A number for each row, with further axes of length one, so that it multiplies whole rows."""
    return rows.reshape(-1, *[1] * (dimensions - 1))


def _send_to_factors(graph: FactorGraph, to_variables: FloatArray, to_factors: FloatArray) -> None:
    """Each variable tells each factor the product of what the other factors say."""
    for block in graph.variables:
        with np.errstate(divide="ignore"):  # in logarithms: a thousand factors would underflow
            logs = np.log(to_variables.take(block.edges))  # variable, factor, state
        others = np.zeros_like(logs)
        others[:, 1:] = np.cumsum(logs[:, :-1], axis=1)
        others[:, :-1] += np.cumsum(logs[:, :0:-1], axis=1)[:, ::-1]
        to_factors[block.edges] = _distribution(others)


def _distribution(logs: FloatArray) -> FloatArray:
    """Numbers in proportion to those whose logarithms are given, summing to one, or all zero."""
    peaks = logs.max(axis=-1, keepdims=True)
    weights = np.exp(logs - np.where(np.isfinite(peaks), peaks, 0))
    sums = weights.sum(axis=-1, keepdims=True)
    distribution: FloatArray = weights / np.where(sums > 0, sums, 1)
    return distribution


def _send_to_variables(
    problems: Problems,
    block: AlikeFactors,
    table: FloatArray,
    to_factors: FloatArray,
    to_variables: FloatArray,
) -> None:
    """Each factor tells each of its variables what follows from the others."""
    for axis in range(table.ndim - 1):
        kept = tuple(other for other in range(1, table.ndim) if other != axis + 1)
        sent = _product(block, table, to_factors, without=axis).sum(axis=kept)
        sums = sent.sum(axis=1, keepdims=True)
        _refuse_zeros(problems, block, sums)
        to_variables[block.edges[axis]] = sent / sums


def _product(
    block: AlikeFactors, table: FloatArray, to_factors: FloatArray, without: int | None = None
) -> FloatArray:
    """The tables times the messages along all axes, or all but one."""
    product = table
    for axis in range(table.ndim - 1):
        if axis != without:
            shape = [len(table), *[1] * (table.ndim - 1)]
            shape[axis + 1] = table.shape[axis + 1]
            product = product * to_factors.take(block.edges[axis]).reshape(shape)
    return product


def _refuse_zeros(problems: Problems, block: AlikeFactors, sums: FloatArray) -> None:
    """Refuse a problem of which nothing is possible: what a factor sends sums to zero."""
    if not sums.all():
        raise impossible(problems, int(block.problem[np.argmin(sums)]))


@dataclass(frozen=True)
class AlikeFactors:
    """Factors of one shape, a row of each array for each."""

    cells: Integers  # where they are in the CPTs, an axis for each missing variable
    edges: tuple[Integers, ...]  # along each axis the places of its messages, one for each state
    weights: FloatArray  # in each part of the data
    problem: Integers


@dataclass(frozen=True)
class AlikeVariables:
    """Variables with equally many factors and states, a row of each array for each."""

    edges: Integers  # the places of the messages with each factor, one for each state
    weights: FloatArray  # in each part of the data


@dataclass(frozen=True)
class FactorGraph:
    """The factor graphs of some problems."""

    factors: tuple[AlikeFactors, ...]
    variables: tuple[AlikeVariables, ...]
    states: Integers  # of the variable at each edge


def factor_graph_of(problems: Problems, chosen: Integers) -> FactorGraph:
    """The factor graphs of the chosen problems."""
    # The factors of the problems, one problem after the other, and the edges of each.
    layout = problems.factors.layout
    components, component = np.unique(problems.component[chosen], return_inverse=True)
    members = problems.members.take(components)
    slices = slices_of(layout, members, problems.boundaries.take(components))
    # Of each factor where its slice begins, and which it is; where those of each problem begin.
    starts, kind, first = slice_starts(problems, slices, chosen, component)
    problem = np.repeat(np.arange(len(chosen)), np.diff(first, append=len(kind)))
    weights = problems.weights[chosen][problem]
    edges = slices.missing.take(kind)  # of each factor: the members along its axes
    states = layout.cardinalities[members.items[edges.items]]
    strides = slices.missing_stride[slices.missing.places(kind)]
    begins = np.cumsum(states) - states  # where the messages of each edge begin

    # Factors of one shape form a block.
    factors = []
    shapes, shape = group_equal_rows(Ragged(edges.starts, states))
    for block in range(len(shapes)):
        here = np.flatnonzero(shape == block)
        along = edges.places(here).reshape(len(here), -1)
        sizes = tuple(states[along[0]].tolist())
        cells = cells_along(starts[here][None], strides[along][None], sizes, range(len(sizes)))
        messages = [
            begins[along[:, axis], None] + np.arange(size) for axis, size in enumerate(sizes)
        ]
        factors.append(
            AlikeFactors(
                cells=cells.reshape(len(here), *sizes),
                edges=tuple(messages),
                weights=weights[here],
                problem=chosen[problem[here]],
            )
        )

    numbers = members.lengths_of(component)  # of the variables of each problem
    shift = (np.cumsum(numbers) - numbers - members.starts[component])[problem]
    variable = edges.items + shift[edges.owners]  # at each edge, numbered over all problems
    variables = _alike_variables(variable, states, begins, weights[edges.owners])
    return FactorGraph(tuple(factors), variables, states)


def _alike_variables(
    variable: Integers, states: Integers, begins: Integers, weights: FloatArray
) -> tuple[AlikeVariables, ...]:
    """The variables in blocks, by how many factors and states they have.

    Parameters
    ----------
    variable, states, begins, weights
        Of each edge: its variable, the states of that, where its messages begin, and how much its
        problem counts.
    """
    edges_of = Ragged.of_lengths(np.bincount(variable), np.argsort(variable, kind="stable"))
    first_edge = edges_of.items[edges_of.starts[:-1]]
    degrees = np.stack([edges_of.lengths, states[first_edge]], axis=1)
    kinds, kind = np.unique(degrees, axis=0, return_inverse=True)
    blocks = []
    for number, (degree, size) in enumerate(kinds.tolist()):
        here = np.flatnonzero(kind.ravel() == number)
        edges = edges_of.take(here).items.reshape(len(here), degree)
        places = begins[edges][..., None] + np.arange(size)
        blocks.append(AlikeVariables(places, weights[first_edge[here]]))
    return tuple(blocks)
