r"""Where EM starts: a closed form, a network, or chance; and the line that ends each step.

A variable that no row shows is known to a closed form only by the prior: all its states are
alike, and so they stay, for EM never breaks a tie. The CPTs that such a variable has a part
in are therefore drawn at random, whatever the seed, and only they are drawn anew at a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.estimate.errors import MethodError
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.problems.layout import Layout
from lacunet.statistics.problems.ragged import Integers

SHAKE = 1.0  # standard deviation of the logarithm of a cell of a perturbed start


@dataclass(frozen=True)
class Rows:
    """The rows of all CPTs, laid end to end: where each begins and how long it is."""

    begins: Integers
    lengths: Integers

    @classmethod
    def of(cls, layout: Layout) -> Rows:
        """The rows of a layout's CPTs."""
        sizes = np.diff(layout.offsets)
        lengths = np.repeat(layout.cardinalities, sizes // layout.cardinalities)
        return cls(np.cumsum(lengths) - lengths, lengths)

    def normalised(self, weights: FloatArray) -> FloatArray:
        """Each row divided by its sum; a row of zeros becomes uniform."""
        sums = np.repeat(np.add.reduceat(weights, self.begins), self.lengths)
        empty = sums == 0
        if empty.any():
            weights = np.where(empty, 1.0, weights)
            sums = np.where(empty, np.repeat(self.lengths, self.lengths), sums)
        rows: FloatArray = weights / sums
        return rows


def maximise(counts: FloatArray, rows: Rows, prior: float) -> FloatArray:
    r"""The CPTs of highest posterior given expected counts.

    .. math::
        \theta(x \mid u) \propto E[n(u, x)] + (\alpha - 1)

    Examples
    --------
    >>> one_variable = Rows(np.array([0]), np.array([2]))
    >>> maximise(np.array([5.0, 3.0]), one_variable, 2.0).tolist()
    [0.6, 0.4]
    """
    return rows.normalised(counts + (prior - 1))


def log_prior(cells: FloatArray, prior: float) -> float:
    r"""The Dirichlet prior's part of the log-posterior, up to a constant.

    .. math::
        (\alpha - 1) \sum \log \theta
    """
    if prior == 1:
        return 0.0
    with np.errstate(divide="ignore"):
        return float((prior - 1) * np.log(cells).sum())


def random_cells(rows: Rows, rng: np.random.Generator) -> FloatArray:
    """CPTs whose rows are drawn uniformly from all distributions."""
    return rows.normalised(rng.standard_exponential(int(rows.lengths.sum())))


def perturbed_cells(cells: FloatArray, rows: Rows, rng: np.random.Generator) -> FloatArray:
    """CPTs around others: every cell multiplied by a factor of lognormal distribution."""
    return rows.normalised(cells * rng.lognormal(0.0, SHAKE, len(cells)))


def cells_about(layout: Layout, variables: Iterable[str]) -> NDArray[np.bool_]:
    """Which cells are those of families that some variables have a part in."""
    names, network = set(variables), layout.network
    touched = [not names.isdisjoint(network.family(name)) for name in network.variables]
    return np.repeat(np.array(touched, dtype=bool), np.diff(layout.offsets))


def tables_of(seed: Network, network: Network) -> Mapping[str, FloatArray]:
    """The CPTs of another network over the same variables, states and edges, in any order."""
    if set(seed.variables) != set(network.variables):
        raise MethodError.seed_of_another_structure()
    return {name: _moved(seed, network, name) for name in network.variables}


def _moved(seed: Network, network: Network, variable: str) -> FloatArray:
    theirs, ours = seed.family(variable), network.family(variable)
    same = set(theirs) == set(ours) and all(
        set(seed.states(name)) == set(network.states(name)) for name in ours
    )
    if not same:
        raise MethodError.seed_of_another_structure()
    table = seed.cpt(variable).table.transpose([theirs.index(name) for name in ours])
    for axis, name in enumerate(ours):
        order = [seed.states(name).index(state) for state in network.states(name)]
        table = np.take(table, order, axis=axis)
    return table
