r"""All models of a graph at once: the law of each district as a mixture of ways to respond.

Nodes that bidirected edges join form a district. Whatever their hidden causes are, each state of
these makes every node of the district a function of its parents; so the kernel of a district is a
mixture over all tuples of such *response functions* (A. Balke and J. Pearl 1994),

.. math:: Q[D](d \mid pa) = \sum_t w_t \prod_{v \in D} 1[d_v = f_{t,v}(pa_v)],

and linear in the weights :math:`w`. A node without hidden causes has its CPT for that, which is
linear as well. The law of everything is a product of these kernels over the districts. If not all
pairs of a district are joined, the mixtures are more than the models of the graph: what holds for
all of them holds for all models, and sets that are found are outer ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from math import prod
from typing import Any

import numpy as np

from lacunet.missingness.errors import TooLargeEstimandError
from lacunet.missingness.refute.asked import Asked
from lacunet.missingness.refute.submodels import Submodel
from lacunet.missingness.refute.tangent import Grid, grid_of
from lacunet.missingness.separation.mixed import MixedGraph, districts
from lacunet.model.network import FloatArray, Scope
from lacunet.model.nodes import Node
from lacunet.statistics.counts import added_up

MOST_TYPES = 20_000
MOST_CONFIGURATIONS = 2_000_000

Integers = Any  # an array of whole numbers
Sparse = Any  # a matrix of scipy


@dataclass(frozen=True, eq=False)
class Block:
    """The kernel of one district as a linear function of its weights.

    The weights of each group add up to one: those of a row of a CPT, or those of all tuples of
    response functions. At a configuration the kernel is one weight, that at its ``place``, or the
    sum of those that its row of the ``matrix`` marks. ``responses`` are, for each node of the
    district, the state by which each tuple answers each configuration of its parents.
    """

    nodes: tuple[Node, ...]
    group: Integers
    place: Integers | None = None
    matrix: Sparse = None
    responses: dict[Node, Any] | None = None

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.group)

    def at(self, weights: FloatArray) -> FloatArray:
        """The kernel at every configuration."""
        if self.place is not None:
            return weights[self.place]
        return np.asarray(self.matrix @ weights)

    def gathered(self, numbers: FloatArray) -> FloatArray:
        """Numbers at every configuration, added up for every weight that has a part in it."""
        if self.place is not None:
            return added_up(self.place, numbers, self.size)
        return np.asarray(self.matrix.T @ numbers)

    def gathered_by(self, numbers: FloatArray, groups: Integers, count: int) -> FloatArray:
        """The same for each group of configurations: one row each."""
        from scipy.sparse import csr_array

        if self.place is not None:
            sums = added_up(groups * self.size + self.place, numbers, count * self.size)
            return sums.reshape(count, self.size)
        every = np.arange(len(groups))
        adding = csr_array((numbers, (groups, every)), shape=(count, len(groups)))
        return np.asarray((adding @ self.matrix).toarray())


@dataclass(frozen=True, eq=False)
class Lifted:
    """A graph, the states of its variables, and the blocks that its law is a product of."""

    grid: Grid
    blocks: tuple[Block, ...]
    is_outer: bool

    @cached_property
    def zeros(self) -> Integers:
        """The weights that are zero, since a mechanism is never 1 without another."""
        return np.concatenate([_zeros(self.grid, block) for block in self.blocks])

    @property
    def variables(self) -> Scope:
        """The variables that the models are about."""
        return self.grid.submodel.graph.variables

    @property
    def size(self) -> int:
        """The number of weights of all blocks."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def group_sums(self) -> FloatArray:
        """What adds up the weights of every group: to one, each."""
        from scipy.linalg import block_diag

        return block_diag(*(np.eye(int(b.group.max()) + 1)[:, b.group] for b in self.blocks))

    def parts(self, weights: FloatArray) -> list[FloatArray]:
        """The weights of each block."""
        return [weights[part] for part in self._slices]

    @cached_property
    def _slices(self) -> list[slice]:
        ends = np.cumsum([0, *(block.size for block in self.blocks)]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    def under(self, do: Sequence[str]) -> Lifted:
        """The same where some variables are set from outside, whatever they would have been."""
        if not do:
            return self
        if tuple(do) not in self._under:
            blocks = tuple(_set(self.grid, block, do) for block in self.blocks)
            self._under[tuple(do)] = replace(self, blocks=blocks)
        return self._under[tuple(do)]

    @cached_property
    def _under(self) -> dict[tuple[str, ...], Lifted]:
        return {}

    def factors(self, weights: FloatArray) -> list[FloatArray]:
        """The kernel of every block at every configuration."""
        return [
            block.at(part) for block, part in zip(self.blocks, self.parts(weights), strict=True)
        ]

    def slopes(self, factors: Sequence[FloatArray], groups: Integers, count: int) -> FloatArray:
        """The derivative of the sums over groups by every weight."""
        found = [
            block.gathered_by(others, groups, count)
            for block, others in zip(self.blocks, _without_each(factors), strict=True)
        ]
        return np.concatenate(found, axis=1)

    def slope(self, factors: Sequence[FloatArray], where: Integers) -> FloatArray:
        """The derivative of the sum over some configurations by every weight."""
        found = [
            block.gathered(others * where)
            for block, others in zip(self.blocks, _without_each(factors), strict=True)
        ]
        return np.concatenate(found)

    def manifest(self, weights: FloatArray) -> FloatArray:
        """The law of what can be observed, among the rows that are recorded."""
        law = self.grid.law(np.prod(self.factors(weights), axis=0))
        return np.asarray(law / max(float(law.sum()), 1e-300))

    def manifest_slopes(self, weights: FloatArray) -> FloatArray:
        """The derivative of that law by every weight."""
        factors, cells = self.factors(weights), self.grid.cells
        slopes = self.slopes(factors, self.grid.manifest, cells + 1)[:cells]
        if not self.grid.is_selected:
            return slopes
        return self.grid.among_recorded(slopes, np.prod(factors, axis=0))

    def query(self, weights: FloatArray, asked: Asked) -> FloatArray:
        """P(target | given, do(do)), the cells in a row."""
        return self.grid.query(np.prod(self.under(asked.do).factors(weights), axis=0), asked)


def _without_each(factors: Sequence[FloatArray]) -> list[FloatArray]:
    """For each factor the product of all the others."""
    ones = np.ones_like(factors[0])
    before, after = [ones], [ones]
    for one in factors[:-1]:
        before.append(before[-1] * one)
    for one in factors[:0:-1]:
        after.append(after[-1] * one)
    return [left * right for left, right in zip(before, reversed(after), strict=True)]


def lifted(graph: MixedGraph, cardinality_of: dict[str, int]) -> Lifted:
    """Lay out the configurations of a graph and the response functions of its districts.

    Raises
    ------
    TooLargeEstimandError
        There are too many.
    """
    plain = MixedGraph.of(graph.order, graph.parents, (), graph.partial, monotone=graph.monotone)
    submodel = Submodel(plain, {name: cardinality_of[name] for name in graph.variables})
    if prod(map(submodel.states, submodel.nodes)) > MOST_CONFIGURATIONS:
        raise _too_large("configurations")
    grid = grid_of(submodel)
    found = districts(graph, frozenset(graph.order))
    blocks = tuple(_block(grid, graph.sorted(district)) for district in found)
    is_outer = any(
        two not in graph.siblings[one]
        for district in found
        for one, two in combinations(graph.sorted(district), 2)
    )
    return Lifted(grid, blocks, is_outer)


def _too_large(what: str) -> TooLargeEstimandError:
    return TooLargeEstimandError(
        f"the identified set has too many {what} to be followed.",
        "leave out variables that the query does not need, or merge states.",
    )


def _zeros(grid: Grid, block: Block) -> Integers:
    found = np.zeros(block.size, dtype=bool)
    for node, rows in ((n, grid.held[n]) for n in block.nodes if n in grid.held):
        if block.responses is None:
            found |= np.kron(rows, [False, True])
        else:
            found |= (block.responses[node][:, rows] == 1).any(axis=1)
    return found


def _block(grid: Grid, nodes: tuple[Node, ...]) -> Block:
    if len(nodes) == 1:
        rows, states = grid.sizes[nodes[0]]
        place = grid.rows[nodes[0]] * states + grid.value_of[nodes[0]]
        return Block(nodes, np.repeat(np.arange(rows), states), place)
    counts = [float(grid.sizes[node][1]) ** grid.sizes[node][0] for node in nodes]
    if prod(counts) > MOST_TYPES:
        raise _too_large("response functions")
    functions = [list(product(range(grid.sizes[n][1]), repeat=grid.sizes[n][0])) for n in nodes]
    tuples = np.array(list(product(*(range(len(one)) for one in functions))))
    responses = {
        node: np.array(own)[tuples[:, at]]
        for at, (node, own) in enumerate(zip(nodes, functions, strict=True))
    }  # tuples x configurations of the parents
    group = np.zeros(len(tuples), dtype=np.int64)
    return Block(nodes, group, None, _matching(grid, nodes, responses), responses)


def _set(grid: Grid, block: Block, do: Sequence[str]) -> Block:
    """The block where some of its nodes are set: what they would have been no longer matters."""
    from scipy.sparse import csr_array

    rest = [node for node in block.nodes if node not in do]
    if len(rest) == len(block.nodes):
        return block
    if rest and block.responses is not None:
        return replace(block, matrix=_matching(grid, rest, block.responses))
    first = (block.group == 0).astype(float)  # the weights of any group add up to one
    return replace(block, place=None, matrix=csr_array(np.tile(first, (grid.length, 1))))


def _matching(grid: Grid, nodes: Sequence[Node], responses: dict[Node, Any]) -> Sparse:
    """Which tuples answer each configuration by the values it has."""
    from scipy.sparse import csr_array

    fits = np.ones((1, grid.length), dtype=bool)
    for node in nodes:
        answered = responses[node][:, grid.rows[node]]  # tuples x configurations
        fits = fits & (answered == grid.value_of[node])
    return csr_array(fits.T.astype(float))
