"""Models of a graph with all their configurations laid out: small ones only.

The law of all nodes is a product of kernels, each linear in weights of its own: the entries of the
CPT of one node, or those of a mixture for several. What a model says of what can be observed
(`manifest`) and of a query, and how both change with its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import added_up
from lacunet.missingness.refute.grid import Grid, Integers, Number, grid_of
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.network.network import FloatArray, Scope

LEAST_PRODUCT = 1e-100  # products are not divided by less
SMALLEST_MASS = 1e-300  # what a law is divided by at least: nothing by nothing is nothing
Sparse = Any  # a matrix of scipy


@dataclass(frozen=True, eq=False)
class Block:
    """The kernel of one or several nodes as a linear function of its weights.

    The weights of each group add up to one: those of a row of a CPT, or those of all tuples of
    response functions. At a configuration the kernel is one weight, or the sum of several. Where
    nodes are set from outside the kernel is one, and neither is there.
    """

    nodes: tuple[AnyNode, ...]
    group: Integers  # of each weight
    entries: Integers | None = None  # the weight of each configuration, where it is one
    matrix: Sparse = None  # a row for each configuration: the weights that are added up, otherwise
    responses: dict[AnyNode, Integers] | None = None  # each tuple's answer to each row of parents

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.group)

    @property
    def is_set(self) -> bool:
        """Whether all nodes are set from outside."""
        return self.entries is None and self.matrix is None

    def kernel(self, weights: NDArray[Number]) -> NDArray[Number]:
        """The kernel at every configuration."""
        if self.entries is not None:
            return weights[self.entries]
        return np.asarray(self.matrix @ weights)

    def gathered(self, numbers: FloatArray) -> FloatArray:
        """Numbers at every configuration, added up for every weight that has a part in it."""
        if self.entries is not None:
            return added_up(self.entries, numbers, self.size)
        return np.asarray(self.matrix.T @ numbers)

    def gathered_by(self, numbers: FloatArray, groups: Integers, count: int) -> FloatArray:
        """The same for each group of configurations: one row each."""
        if self.is_set:
            return np.zeros((count, self.size))
        if self.entries is not None:
            sums = added_up(groups * self.size + self.entries, numbers, count * self.size)
            return sums.reshape(count, self.size)
        from scipy.sparse import csr_array

        every = np.arange(len(groups))
        adding = csr_array((numbers, (groups, every)), shape=(count, len(groups)))
        return np.asarray((adding @ self.matrix).toarray())


@dataclass(frozen=True, eq=False)
class Models:
    """A graph, the states of its variables, and the blocks that its law is a product of.

    A model is the weights of all blocks, one block after the other.
    """

    grid: Grid
    blocks: tuple[Block, ...]
    is_outer: bool = False  # the blocks allow more than the models of the graph
    by_parameters: bool = False  # derivatives by all weights but the last of each group

    @cached_property
    def zeros(self) -> NDArray[np.bool_]:
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
    def group(self) -> Integers:
        """The number of the group that each weight belongs to, all blocks counted through."""
        starts = np.cumsum([0, *(block.group[-1] + 1 for block in self.blocks[:-1])])
        groups = [block.group + start for block, start in zip(self.blocks, starts, strict=True)]
        return np.concatenate(groups)

    @cached_property
    def group_sums(self) -> FloatArray:
        """What adds up the weights of every group: to one, each."""
        return np.equal.outer(np.arange(self.group[-1] + 1), self.group).astype(np.float64)

    @cached_property
    def _last(self) -> Integers:
        """For each weight the last one of its group."""
        return np.searchsorted(self.group, self.group, side="right") - 1

    @cached_property
    def _free(self) -> Integers:
        """The parameters: all weights but the last of each group."""
        return np.flatnonzero(self._last != np.arange(self.size))

    @cached_property
    def _is_fixed(self) -> NDArray[np.bool_]:
        """The parameters that never change, as the last weight of their group is zero."""
        return self.zeros[self._last[self._free]]

    def moved(self, weights: FloatArray, step: FloatArray) -> FloatArray:
        """The model whose parameters are so much larger."""
        change = np.where(self._is_fixed, 0.0, step)
        result = weights - added_up(self._last[self._free], change, self.size)
        result[self._free] += change
        return result

    def normalised(self, weights: FloatArray, otherwise: FloatArray | None = None) -> FloatArray:
        """Weights that add up to one in every group; those of a group without any as they were."""
        totals = added_up(self.group, weights, self.size)[self.group]
        kept = weights if otherwise is None else otherwise
        return np.divide(weights, totals, out=kept.copy(), where=totals > 0)

    def drawn_modulo(self, prime: int, rng: np.random.Generator) -> Integers:
        """A random model in the integers modulo a prime, with the zeros that it must have."""
        weights = rng.integers(1, prime, self.size)
        last = self._last[self._free]
        weights[self._free[self._is_fixed]] = 1
        sums = added_up(last, weights[self._free].astype(np.float64), self.size)
        weights[self._last] = (1 - sums[self._last].astype(np.int64)) % prime  # alone: one
        return weights

    def parts(self, weights: NDArray[Number]) -> list[NDArray[Number]]:
        """The weights of each block."""
        return [weights[part] for part in self._slices]

    @cached_property
    def _slices(self) -> list[slice]:
        ends = np.cumsum([0, *(block.size for block in self.blocks)]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    def under(self, do: Scope) -> Models:
        """The same where some variables are set from outside, whatever they would have been."""
        if do not in self._under:
            blocks = tuple(_set(self.grid, block, do) for block in self.blocks)
            self._under[do] = replace(self, blocks=blocks)
        return self._under[do]

    @cached_property
    def _under(self) -> dict[Scope, Models]:
        return {(): self}

    def factors(self, weights: NDArray[Number]) -> list[NDArray[Number]]:
        """The kernel of every block at every configuration."""
        return [
            np.ones(self.grid.length, weights.dtype) if block.is_set else block.kernel(part)
            for block, part in zip(self.blocks, self.parts(weights), strict=True)
        ]

    def joint(self, weights: FloatArray) -> FloatArray:
        """The law of all nodes."""
        return np.asarray(np.prod(self.factors(weights), axis=0))

    def _joint_and_others(self, weights: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """The law of all nodes, and for each block the product of all the other factors."""
        factors = self.factors(weights)
        joint = np.asarray(np.prod(factors, axis=0))
        others = []
        for index, factor in enumerate(factors):
            is_tiny = factor < LEAST_PRODUCT
            product = np.divide(joint, factor, out=np.zeros_like(joint), where=~is_tiny)
            if is_tiny.any():
                rest = [*factors[:index], *factors[index + 1 :]]
                product[is_tiny] = np.prod([other[is_tiny] for other in rest], axis=0)
            others.append(product)
        return joint, others

    def slopes(self, others: list[FloatArray], groups: Integers, count: int) -> FloatArray:
        """The derivative of the sums of the joint over groups.

        ``others`` are for each block the product of all the other factors.
        """
        parts = [
            block.gathered_by(product, groups, count)
            for block, product in zip(self.blocks, others, strict=True)
        ]
        slopes = np.concatenate(parts, axis=1)
        if not self.by_parameters:
            return slopes
        change = slopes.take(self._free, axis=1) - slopes.take(self._last[self._free], axis=1)
        change[:, self._is_fixed] = 0.0
        return change

    @cached_property
    def known(self) -> list[tuple[Integers, int]]:
        """The groups of configurations whose probabilities are known from elsewhere."""
        return [self.grid.groups(names) for names in self.grid.submodel.known]

    def manifest(self, weights: FloatArray) -> FloatArray:
        """The law of what can be observed, among the rows that are recorded."""
        joint = self.joint(weights)
        law = self.grid.law(joint)
        known = [added_up(groups, joint, count) for groups, count in self.known]
        return np.concatenate([law / max(float(law.sum()), SMALLEST_MASS), *known])

    def manifest_slopes(self, weights: FloatArray) -> FloatArray:
        """The derivative of that law."""
        joint, others = self._joint_and_others(weights)
        cells = self.grid.cells
        slopes = self.slopes(others, self.grid.manifest, cells + 1)[:cells]
        if self.grid.is_selected:  # shares among the rows recorded
            law = self.grid.law(joint)
            total = max(float(law.sum()), SMALLEST_MASS)
            slopes = (slopes - law[:, None] / total * slopes.sum(axis=0)) / total
        known = [self.slopes(others, *groups) for groups in self.known]
        return np.concatenate([slopes, *known])

    def query(self, weights: FloatArray, asked: Asked) -> FloatArray:
        """P(target | given, do(do)), the cells in a row."""
        groups, cells = self.grid.groups(asked.names)
        joint = added_up(groups, self.under(asked.do).joint(weights), cells)
        sums = self.grid.by_conditions(joint, asked)
        return np.ravel(sums / np.maximum(sums.sum(axis=1, keepdims=True), SMALLEST_MASS))

    def query_slopes(self, weights: FloatArray, asked: Asked) -> FloatArray:
        """The derivative of P(a | b, do(c)): that of the joint, less that of what is given."""
        under = self.under(asked.do)
        joint, others = under._joint_and_others(weights)
        groups, cells = self.grid.groups(asked.names)
        sums = self.grid.by_conditions(added_up(groups, joint, cells), asked)
        slopes = self.grid.by_conditions(under.slopes(others, groups, cells), asked)
        mass = np.maximum(sums.sum(axis=1, keepdims=True), SMALLEST_MASS)
        slopes = (slopes - slopes.sum(axis=1, keepdims=True) * (sums / mass)) / mass
        return np.asarray(slopes.reshape(cells, -1))


def models_of(submodel: Submodel) -> Models:
    """The models of a submodel, hidden causes as nodes: one CPT for each node."""
    grid = grid_of(submodel)
    blocks = tuple(cpt_block(grid, node) for node in submodel.nodes)
    return Models(grid, blocks, by_parameters=True)


def random_weights(models: Models, seed: int) -> FloatArray:
    """CPTs drawn at random: far from uniform, so that what is not seen makes a difference.

    No entry is near zero, but for those that are zero.
    """
    weights = np.random.default_rng(seed).uniform(0.0, 1.0, models.size) ** 2 + 0.1
    return models.normalised(np.where(models.zeros, 0.0, weights))


def cpt_block(grid: Grid, node: AnyNode) -> Block:
    """The CPT of one node, row by row."""
    rows, states = grid.sizes[node]
    entries = grid.rows[node] * states + grid.value_of[node]
    return Block((node,), np.repeat(np.arange(rows), states), entries)


def matching(grid: Grid, nodes: Sequence[AnyNode], responses: dict[AnyNode, Integers]) -> Sparse:
    """Which tuples of response functions answer each configuration by the values it has."""
    from scipy.sparse import csr_array

    fits = np.ones((1, grid.length), dtype=bool)
    for node in nodes:
        answered = responses[node][:, grid.rows[node]]  # tuples x configurations
        fits = fits & (answered == grid.value_of[node])
    return csr_array(fits.T.astype(float))


def _zeros(grid: Grid, block: Block) -> NDArray[np.bool_]:
    """The weights by which a mechanism would be 1 where it is 0 for sure."""
    is_zero = np.zeros(block.size, dtype=bool)
    for node in block.nodes:
        if node not in grid.rows_of_zero:
            continue
        rows = grid.rows_of_zero[node]
        if block.responses is None:
            is_zero |= np.kron(rows, [False, True])
        else:
            is_zero |= (block.responses[node][:, rows] == 1).any(axis=1)
    return is_zero


def _set(grid: Grid, block: Block, do: Sequence[str]) -> Block:
    """The block where some of its nodes are set: what they would have been no longer matters."""
    rest = [node for node in block.nodes if node not in do]
    if len(rest) == len(block.nodes):
        return block
    if rest and block.responses is not None:
        return replace(block, matrix=matching(grid, rest, block.responses))
    return replace(block, entries=None, matrix=None)
