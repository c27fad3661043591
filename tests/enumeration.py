"""The oracle for small networks: sum over every completion of every row."""

from __future__ import annotations

from itertools import product

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.network.network import Network


def enumerated(
    network: Network, table: EncodedTable, prune: bool = True
) -> tuple[dict[str, np.ndarray], float]:
    """Expected counts of every family, and the observed-data log-likelihood.

    A row of probability zero gives minus infinity, and adds nothing to the counts. A row adds
    nothing to the families of the variables that are barren in it, unless ``prune`` is False.
    """
    counts = {name: np.zeros_like(network.cpt(name).table) for name in network.variables}
    log_likelihood = 0.0
    for row in range(table.rows):
        weight = 1.0 if table.weights is None else float(table.weights[row])
        completions = [
            (state_of, _probability(network, state_of))
            for state_of in _completions(network, table, row)
        ]
        total = sum(probability for _, probability in completions)
        if total == 0:
            log_likelihood = -np.inf
            continue
        log_likelihood += weight * np.log(total)
        shown = {
            name
            for name in network.variables
            if int(table.columns[name][row]) < network.cardinality(name)
        }
        enters = ancestral(network, shown) if prune else set(network.variables)
        for state_of, probability in completions:
            for name in enters:
                cell = tuple(state_of[axis] for axis in network.family(name))
                counts[name][cell] += weight * probability / total
    return counts, log_likelihood


def ancestral(network: Network, shown: set[str]) -> set[str]:
    """The variables shown, and everything that they descend from."""
    found = set(shown)
    for name in reversed(network.order):
        if name in found:
            found |= set(network.parents(name))
    return found


def _completions(network: Network, table: EncodedTable, row: int) -> list[dict[str, int]]:
    choices = []
    for name in network.variables:
        size, code = network.cardinality(name), int(table.columns[name][row])
        choices.append(range(size) if code == size else (code,))
    return [dict(zip(network.variables, states, strict=True)) for states in product(*choices)]


def _probability(network: Network, state_of: dict[str, int]) -> float:
    return float(
        np.prod(
            [
                cpt.table[tuple(state_of[axis] for axis in network.family(cpt.child))]
                for cpt in network.cpts
            ]
        )
    )


def cell_vector(table: EncodedTable, name: str, row: int) -> np.ndarray:
    """Which states a cell may have: one, all, or those of a set."""
    size, code = table.cardinality_of[name], int(table.columns[name][row])
    states = [code] if code < size else range(size)
    if code > size:
        states = list(table.sets_of[name][code - size - 1])
    vector = np.zeros(size)
    vector[list(states)] = 1
    return vector


def row_law(network: Network, table: EncodedTable, row: int) -> np.ndarray:
    """The joint law times what a row says of every cell; it sums to the row's probability."""
    law = joint(network)
    for axis, name in enumerate(network.variables):
        vector = cell_vector(table, name, row)
        law = law * vector.reshape([-1 if place == axis else 1 for place in range(law.ndim)])
    return law


def joint(network: Network) -> np.ndarray:
    """The joint distribution, an axis for each variable, cell by cell the product of the CPTs."""
    names = network.variables
    states = np.indices(network.shape(names))
    law = np.ones(network.shape(names))
    for name in names:
        family = tuple(states[names.index(one)] for one in network.family(name))
        law *= network.cpt(name).table[family]
    return law
