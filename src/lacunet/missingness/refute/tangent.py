r"""Whether what is observed pins a query down, decided at a generic model of the graph.

A model of the graph is a point :math:`\theta` of all its CPTs, and what can be observed is
the manifest law :math:`m(\theta)`. At a generic point the rank of the Jacobian
:math:`\partial m` is constant nearby, so the models with the same manifest law form a
surface whose directions are the null space of :math:`\partial m`. If the gradient of the
query is not in the row space of :math:`\partial m`, some of these directions change the
query: the manifest law does not determine it.

The ranks are computed exactly, in the integers modulo a prime, at random points. The rank
there never exceeds the generic one, and falls short of it with a probability below
(degree / prime) for each point; the largest rank over several points is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.missingness.refute.asked import Asked
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.model.network import FloatArray
from lacunet.model.nodes import Mechanism
from lacunet.statistics.counts import added_up
from lacunet.statistics.distinct import pack

Integers = NDArray[np.int64]
PRIME = 2**31 - 1
POINTS = 2


@dataclass(frozen=True)
class Grid:
    """Every configuration of a submodel's nodes, one a column, and what each node does there.

    ``rows[v]`` and ``value_of[v]`` give the row and the column of the CPT of v that a
    configuration takes; ``manifest`` numbers what can be observed of it, in as many ``cells``; the
    number after the last is that of rows which were not recorded. ``seen`` has one column for each
    cell: the codes of the variables that may be observed, missing as a state. ``held`` are the rows
    of the CPT of a mechanism in which it is 0 for sure: another one, that it never exceeds, is 0.
    """

    submodel: Submodel
    value_of: Mapping[AnyNode, Integers]
    rows: Mapping[AnyNode, Integers]
    sizes: Mapping[AnyNode, tuple[int, int]]
    manifest: Integers
    cells: int
    seen: Mapping[str, Integers]
    held: Mapping[AnyNode, NDArray[np.bool_]]

    def place(self, node: AnyNode) -> Integers:
        """The entry of a node's CPT that each configuration takes, row by row."""
        return self.rows[node] * self.sizes[node][1] + self.value_of[node]

    def groups(self, names: Sequence[str]) -> tuple[Integers, int]:
        """The cell of a table over ``names`` for each configuration, and the number of cells."""
        return packed([(self.value_of[n], self.submodel.states(n)) for n in names], self.length)

    def law(self, joint: FloatArray) -> FloatArray:
        """The joint added up over what can be observed, of the rows that are recorded."""
        return added_up(self.manifest, joint, self.cells + 1)[: self.cells]

    def query(self, joint: FloatArray, asked: Asked) -> FloatArray:
        """P(target | given, do(do)) of a joint in which that is done, the cells in a row."""
        both, cells = self.groups(asked.names)
        below, configurations = self.groups(asked.conditions)
        mass = np.maximum(added_up(below, joint, configurations), 1e-300)
        return np.ravel(added_up(both, joint, cells).reshape(configurations, -1) / mass[:, None])

    def among_recorded(self, slopes: FloatArray, joint: FloatArray) -> FloatArray:
        """The derivatives of shares among the rows recorded, from those of the law."""
        law = self.law(joint)
        total = max(float(law.sum()), 1e-300)
        return np.asarray((slopes - law[:, None] / total * slopes.sum(axis=0)) / total)

    @property
    def length(self) -> int:
        """The number of configurations."""
        return len(self.manifest)

    @property
    def is_selected(self) -> bool:
        """Whether some rows are not recorded: then only shares among the others are known."""
        return bool(self.submodel.graph.selection)


def packed(columns: Sequence[tuple[Integers, int]], length: int) -> tuple[Integers, int]:
    """Number the combinations of some columns, each with its number of values; how many."""
    sizes = [size for _, size in columns]
    return pack([values for values, _ in columns], sizes, length), prod(sizes)


def grid_of(submodel: Submodel) -> Grid:
    """Lay out the configurations of a submodel."""
    nodes = submodel.nodes
    shape = [submodel.states(node) for node in nodes]
    flat = np.indices(shape).reshape(len(nodes), -1)
    values: dict[AnyNode, Integers] = dict(zip(nodes, flat, strict=True))
    length = flat.shape[1]
    rows, sizes = {}, {}
    for node in nodes:
        above = [(values[p], submodel.states(p)) for p in submodel.parents(node)]
        rows[node], count = packed(above, length)
        sizes[node] = (count, submodel.states(node))
    held: dict[AnyNode, NDArray[np.bool_]] = {}
    for later, earlier in submodel.graph.monotone:
        held.setdefault(later, np.zeros(sizes[later][0], dtype=bool))
        held[later][rows[later][values[earlier] == 0]] = True
    return Grid(submodel, values, rows, sizes, *_manifest(submodel, values, length), held)


def _manifest(
    submodel: Submodel, values: Mapping[AnyNode, Integers], length: int
) -> tuple[Integers, int, dict[str, Integers]]:
    graph = submodel.graph
    seen: dict[str, tuple[Integers, int]] = {}
    for name in graph.variables:
        states, own = submodel.states(name), Mechanism(name)
        if own in graph.parents:
            seen[name] = np.where(values[own] == 1, values[name], states), states + 1
        elif name not in graph.partial:  # else it is latent
            seen[name] = values[name], states
    alone = [(values[m], 2) for m in graph.mechanisms if m.variable not in graph.parents]
    index, _ = packed([*seen.values(), *alone], length)
    _, first, number = np.unique(index, return_index=True, return_inverse=True)
    for node in graph.selection:
        number = np.where(values[node] == 1, number, len(first))
    codes = {name: column[first] for name, (column, _) in seen.items()}
    return number.astype(np.int64), len(first), codes


def ranks(submodel: Submodel, asked: Asked) -> tuple[int, int]:
    """The rank of the manifest law's Jacobian at a generic model, and that with the query's."""
    observed = with_query = 0
    for seed in range(POINTS):
        grid, point, basis = _generic(submodel, seed)
        query = _query_gradients(grid, point, asked)
        observed = max(observed, len(basis))
        beside = _echelon(_reduced(_widened(query, basis), basis))
        with_query = max(with_query, len(basis) + len(beside))
    return observed, with_query


_grid = lru_cache(maxsize=128)(grid_of)


@lru_cache(maxsize=256)
def _generic(submodel: Submodel, seed: int) -> tuple[Grid, _Point, Integers]:
    """A random point, and a basis of the row space of the manifest law's Jacobian there."""
    grid = _grid(submodel)
    point = _random_point(grid, np.random.default_rng(seed))
    manifest = _gradients(grid, point, grid.manifest, grid.cells + 1)[: grid.cells]
    if grid.is_selected:  # the law is known up to its scale: one parameter more
        law = grid.law(point.joint.astype(np.float64))
        scale = law[:, None].astype(np.int64) % PRIME
        manifest = np.concatenate([manifest, scale], axis=1)
    for names in submodel.known:
        known = _gradients(grid, point, *grid.groups(names))
        manifest = np.concatenate([manifest, _widened(known, manifest)])
    return grid, point, _echelon(manifest)


def _widened(rows: Integers, like: Integers) -> Integers:
    """The rows with zeros for the columns that they do not have."""
    missing = like.shape[1] - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, missing))) if missing else rows


@dataclass(frozen=True)
class _Point:
    joint: Integers
    inverse_at: Mapping[AnyNode, Integers]


def _random_point(grid: Grid, rng: np.random.Generator) -> _Point:
    tables = {}
    for node in grid.submodel.nodes:
        table = rng.integers(1, PRIME, grid.sizes[node])
        table[:, -1] = (1 - table[:, :-1].sum(axis=1)) % PRIME
        if node in grid.held:
            table[grid.held[node]] = [1, 0]
        tables[node] = table
    inverses = _inverse(np.concatenate([table.reshape(-1) for table in tables.values()]))
    joint = np.ones(grid.length, dtype=np.int64)
    inverse_at, begin = {}, 0
    for node, table in tables.items():
        place = grid.place(node)
        joint = joint * table.reshape(-1)[place] % PRIME
        inverse_at[node] = inverses[begin + place]
        begin += table.size
    return _Point(joint, inverse_at)


def _inverse(values: Integers) -> Integers:
    """The inverses modulo the prime: the power PRIME - 2, by repeated squaring."""
    result, power, left = np.ones_like(values), values % PRIME, PRIME - 2
    while left:
        if left & 1:
            result = result * power % PRIME
        power = power * power % PRIME
        left >>= 1
    return result


def _gradients(
    grid: Grid, point: _Point, groups: Integers, count: int, do: Sequence[str] = ()
) -> Integers:
    """The derivative of the sum of the joint over each group, by every free parameter."""
    joint = _without_choice(point, do)
    blocks = []
    for node in grid.submodel.nodes:
        rows, states = grid.sizes[node]
        weights = np.zeros_like(joint) if node in do else joint * point.inverse_at[node] % PRIME
        # Sums of integers below the prime are exact: there are fewer than 2^22 configurations.
        place = groups * (rows * states) + grid.place(node)
        flat = added_up(place, weights.astype(np.float64), count * rows * states)
        block = flat.astype(np.int64).reshape(count, rows, states)
        free = block[..., :-1] - block[..., -1:]
        if node in grid.held:
            free[:, grid.held[node]] = 0  # not a parameter
        blocks.append(free.reshape(count, rows * (states - 1)))
    return np.concatenate(blocks, axis=1) % PRIME


def _without_choice(point: _Point, do: Sequence[str]) -> Integers:
    """The joint without the CPTs of what is intervened on: the truncated factorisation."""
    joint = point.joint
    for name in do:
        joint = joint * point.inverse_at[name] % PRIME
    return joint


def _query_gradients(grid: Grid, point: _Point, asked: Asked) -> Integers:
    """The gradients of P(a | b, do(c)), times P(b | do(c)) squared, which no row is zero for."""
    both, cells = grid.groups(asked.names)
    configs = prod(map(grid.submodel.states, asked.conditions))  # the first axes
    weights = _without_choice(point, asked.do).astype(np.float64)
    joint = added_up(both, weights, cells).astype(np.int64)
    slopes = _gradients(grid, point, both, cells, asked.do)
    mass = joint.reshape(configs, -1).sum(axis=1) % PRIME
    mass_slopes = slopes.reshape(configs, -1, slopes.shape[1]).sum(axis=1) % PRIME
    of = np.arange(cells) // (cells // configs)
    upper = slopes * mass[of, None] % PRIME
    lower = mass_slopes[of] * (joint % PRIME)[:, None] % PRIME
    return np.asarray((upper - lower) % PRIME)


def _reduced(rows: Integers, basis: Integers) -> Integers:
    """What is left of some rows when a basis as `_echelon` gives it is taken off them."""
    pivots = (basis != 0).argmax(axis=1)
    high, low = np.divmod(rows[:, pivots], 2**16)  # so that sums of products fit into 64 bits
    taken = (high @ basis % PRIME * 2**16 + low @ basis) % PRIME
    return np.asarray((rows - taken) % PRIME)


def _echelon(matrix: Integers) -> Integers:
    """A basis of the row space modulo the prime, each with a column in which it alone is not 0."""
    left = matrix % PRIME
    done = 0
    for column in np.flatnonzero(left.any(axis=0)):
        if done == len(left):
            break
        pivots = np.flatnonzero(left[done:, column])
        if not len(pivots):
            continue
        pivot = done + int(pivots[0])
        left[[done, pivot]] = left[[pivot, done]]
        left[done] = left[done] * pow(int(left[done, column]), PRIME - 2, PRIME) % PRIME
        others = np.flatnonzero(left[:, column])
        others = others[others != done]
        taken = left[others, column][:, None] * left[done, column:]
        left[others, column:] = (left[others, column:] - taken) % PRIME
        done += 1
    return left[:done]
