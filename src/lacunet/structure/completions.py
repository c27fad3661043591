r"""Completions of incomplete rows, drawn exactly from the posterior of the missing values.

Given the observed values of a row, its missing variables fall into components that are
independent of each other (`lacunet.statistics.problems.compile`). Within a component the
variables are eliminated one after the other, each leaving a message; then they are drawn in
reverse, each given those that are drawn already:

.. math:: \Pr(v \mid s) = \frac{\prod_i t_i(v, s)}{m(s)}

So every completion is an independent draw from the joint posterior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.data.table import Codes, EncodedTable
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.problems.compile import components_of, patterns_of
from lacunet.statistics.problems.layout import layout_of
from lacunet.structure.rows import Integers


@dataclass(frozen=True)
class _Factor:
    """A table for each row, over some missing variables."""

    scope: tuple[int, ...]
    values: FloatArray  # rows, then an axis for each variable


def draw_completions(
    network: Network, table: EncodedTable, draws: int, rng: np.random.Generator
) -> list[EncodedTable]:
    """Completions of all rows, each drawn from the posterior given what the row shows.

    Parameters
    ----------
    network
        With CPTs.
    draws
        The number of completions.
    """
    layout = layout_of(network.with_tables(None))
    patterns = patterns_of(table)
    components = components_of(patterns, layout)
    codes = np.stack([table.columns[name] for name in network.variables], axis=1)
    drawn = [codes.copy() for _ in range(draws)]
    place = {name: at for at, name in enumerate(network.variables)}
    families = [tuple(place[one] for one in network.family(name)) for name in network.variables]
    touching = [
        [f for f, family in enumerate(families) if node in family] for node in place.values()
    ]
    tables = [network.cpt(name).table for name in network.variables]
    order = np.argsort(components.component, kind="stable")
    bounds = np.searchsorted(components.component[order], np.arange(len(components.members) + 1))
    for component in range(len(components.members)):
        members = components.members.row(component)
        occurrences = order[bounds[component] : bounds[component + 1]]
        rows = patterns.rows.take(components.pattern[occurrences]).items
        touched = sorted({f for node in members for f in touching[node]})
        hidden = set(members.tolist())
        factors = [_sliced(tables[f], families[f], hidden, codes[rows]) for f in touched]
        for values, states in zip(
            drawn, _drawn(factors, members, len(rows), draws, rng), strict=True
        ):
            for node, column in states.items():
                values[rows, node] = column
    return [_completed(table, network, values) for values in drawn]


def _sliced(
    cpt: FloatArray, family: tuple[int, ...], hidden: set[int], codes: np.ndarray
) -> _Factor:
    """A family's CPT at the observed values of each row."""
    shown = [axis for axis, node in enumerate(family) if node not in hidden]
    kept = [axis for axis, node in enumerate(family) if node in hidden]
    ordered = cpt.transpose([*shown, *kept])
    index = tuple(codes[:, family[axis]] for axis in shown)
    values = ordered[index] if shown else np.broadcast_to(ordered, (len(codes), *ordered.shape))
    return _Factor(tuple(family[axis] for axis in kept), values)


def _drawn(
    factors: list[_Factor], members: Integers, rows: int, draws: int, rng: np.random.Generator
) -> list[dict[int, Integers]]:
    left, steps = list(factors), []
    nodes = members.tolist()
    while nodes:
        node = min(nodes, key=lambda one: _width(one, left))
        product = _multiplied([one for one in left if node in one.scope], node)
        left = [one for one in left if node not in one.scope]
        left.append(_Factor(product.scope[:-1], product.values.sum(axis=-1)))
        steps.append((node, product))
        nodes.remove(node)
    found: list[dict[int, Integers]] = []
    each = np.arange(rows)
    for _ in range(draws):
        states: dict[int, Integers] = {}
        for node, product in reversed(steps):
            given = product.values[(each, *(states[one] for one in product.scope[:-1]))]
            sums = np.cumsum(given, axis=1)
            bar = rng.random(rows) * sums[:, -1]
            states[node] = np.minimum((sums <= bar[:, None]).sum(axis=1), given.shape[1] - 1)
        found.append(states)
    return found


def _width(node: int, factors: list[_Factor]) -> int:
    return len({one for factor in factors if node in factor.scope for one in factor.scope})


def _multiplied(factors: list[_Factor], last: int) -> _Factor:
    """The product of factors, the axis of one variable last."""
    scope = sorted({one for factor in factors for one in factor.scope} - {last})
    scope.append(last)
    product: FloatArray | float = 1.0
    for factor in factors:
        order = sorted(range(len(factor.scope)), key=lambda axis: scope.index(factor.scope[axis]))
        values = factor.values.transpose([0, *(axis + 1 for axis in order)])
        shape = [values.shape[0]]
        sizes = {node: factor.values.shape[at + 1] for at, node in enumerate(factor.scope)}
        shape += [sizes.get(node, 1) for node in scope]
        product = product * values.reshape(shape)
    return _Factor(tuple(scope), np.asarray(product))


def _completed(table: EncodedTable, network: Network, codes: np.ndarray) -> EncodedTable:
    columns: dict[str, Codes] = {
        name: np.ascontiguousarray(codes[:, at]).astype(table.columns[name].dtype)  # type: ignore[misc]
        for at, name in enumerate(network.variables)
    }
    return EncodedTable.of(table.cardinality_of, columns, table.weights, (), table.row_numbers)
