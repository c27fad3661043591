"""The posterior of a small network's CPTs by data augmentation: a reference without shortcuts.

Rows are grouped by what they show. Each sweep completes every group at random, given the CPTs, and
draws the CPTs from Dirichlet distributions, given the completed counts (M. A. Tanner and W. H. Wong
1987). Everything is enumerated: for networks of a few variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

import lacunet as lc

Rows = Mapping[str, Sequence[str | None]]
Array = NDArray[np.float64]


def posterior_draws(
    experts: lc.Network, weight: float, rows: Rows, sweeps: int, rng: np.random.Generator
) -> list[dict[str, Array]]:
    """CPTs drawn from the posterior, where each CPT row of the experts counts as so many rows."""
    names = experts.variables
    sizes = [experts.cardinality(name) for name in names]
    cells = np.array(list(product(*map(range, sizes))))  # every complete row
    axes = {v: [names.index(u) for u in experts.family(v)] for v in names}
    place_of = {v: tuple(cells[:, axes[v]].T) for v in names}
    groups = []
    for shown, number in Counter(zip(*(rows[name] for name in names), strict=True)).items():
        fits = np.ones(len(cells), dtype=bool)
        for axis, state in enumerate(shown):
            if state is not None:
                fits &= cells[:, axis] == experts.states(names[axis]).index(state)
        groups.append((np.flatnonzero(fits), number))
    alpha_of = {v: weight * experts.cpt(v).table for v in names}
    tables = {v: experts.cpt(v).table for v in names}
    draws = []
    for _ in range(sweeps):
        joint = np.prod([tables[v][place_of[v]] for v in names], axis=0)
        counts = np.zeros(len(cells))
        for fitting, number in groups:
            shares = joint[fitting] / joint[fitting].sum()
            counts[fitting] += rng.multinomial(number, shares)
        tables = {}
        for name in names:
            alpha = alpha_of[name].copy()
            np.add.at(alpha, place_of[name], counts)
            gammas = rng.standard_gamma(alpha)
            tables[name] = gammas / gammas.sum(axis=-1, keepdims=True)
        draws.append(tables)
    return draws


def quantiles_and_errors(values: Array, shares: Sequence[float]) -> tuple[Array, Array]:
    """The quantiles of a chain's values, and their standard errors by the means of 20 batches."""
    kept = values[len(values) // 20 :]  # the first sweeps forget where the chain began
    batches = np.array_split(kept, 20)
    of_each = np.array([np.quantile(batch, shares, axis=0) for batch in batches])
    return np.quantile(kept, shares, axis=0), of_each.std(axis=0, ddof=1) / np.sqrt(20)
