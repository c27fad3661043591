r"""Refits on parts of the rows: the variance of any estimate, and of any query.

*Delete-a-group jackknife.* The rows fall at random into :math:`G` groups, and everything is
learned again without each of them:

.. math::
    \mathrm{Var}(\theta) = \frac{G - 1}{G} \sum_g
    \bigl( \theta_{(-g)} - \bar\theta_{(\cdot)} \bigr)^2

Rows are weighted, never problems or cells: what is compiled from one row stays together. Where
all weights are whole, a row stands for as many, each of which falls by itself; other weights say
how much a row counts for, and it falls as one.

*Bayesian bootstrap* (D. B. Rubin, 1981), for what is not smooth: every row gets a weight
drawn from the exponential distribution, scaled to the rows' total; the variance over the
draws is that of the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable, code_type
from lacunet.inference.joint import family_marginals
from lacunet.model.network import FloatArray, Network
from lacunet.progress import Progress, silent
from lacunet.statistics.rows import distinct_rows
from lacunet.uncertainty.delta import Asked, pseudo_variances, without_prior
from lacunet.uncertainty.spread import Spread, are_rows, rows_per_weight

GROUPS = 30
ROUNDING = 1e-9  # what is left of a rate of 0 or 1 when the prior is taken off again
Refit = Callable[[EncodedTable], Network]


def distinct_table(table: EncodedTable) -> EncodedTable:
    """The distinct rows in the order of their codes, with the weight of each."""
    rows = distinct_rows(table, table.variables)
    columns = {
        name: column.astype(code_type(table.cardinality_of[name]))
        for name, column in zip(rows.scope, rows.columns, strict=True)
    }
    return EncodedTable.of(table.cardinality_of, columns, rows.weights)  # type: ignore[arg-type]


def split_weights(weights: FloatArray, groups: int, seed: int) -> FloatArray:
    """The weight of each row in each group, one line for each group.

    Examples
    --------
    >>> split_weights(np.array([6.0, 3.0]), 3, 0).sum(axis=0).tolist()
    [6.0, 3.0]
    >>> np.count_nonzero(split_weights(np.array([6.5, 3.5]), 3, 0), axis=0).tolist()
    [1, 1]
    """
    rng = np.random.default_rng([seed, len(weights)])
    even = np.full(groups, 1 / groups)
    if are_rows(weights):
        return np.asarray(rng.multinomial(weights.astype(np.int64), even).T, np.float64)
    return np.asarray(rng.multinomial(1, even, len(weights)).T * weights)


def without_each_group(
    table: EncodedTable, groups: int = GROUPS, seed: int = 0
) -> Iterator[EncodedTable]:
    """The rows without each group in turn.

    The split depends on what the rows hold, not on their order: equal rows are taken together
    if they weigh whole numbers, and are otherwise put in the order of what they hold and weigh.
    """
    if are_rows(table.weights):
        rows = distinct_table(table)
    else:
        columns = [np.asarray(table.weights), *map(np.asarray, table.columns.values())]
        rows = table.take(np.lexsort(columns))
    weights = np.asarray(rows.weights)
    for gone in split_weights(weights, groups, seed):
        yield _weighted(rows, weights - gone)


def bootstrapped(
    table: EncodedTable, draws: int, rng: np.random.Generator
) -> Iterator[EncodedTable]:
    """The rows with weights from the Bayesian bootstrap, draw after draw."""
    rows = distinct_table(table)
    weights = np.asarray(rows.weights)
    for _ in range(draws):
        drawn = rng.standard_gamma(weights)
        yield _weighted(rows, drawn * (weights.sum() / drawn.sum()))


def _weighted(rows: EncodedTable, weights: FloatArray) -> EncodedTable:
    kept: NDArray[np.bool_] = weights > 1e-9
    columns = {name: column[kept] for name, column in rows.columns.items()}
    return EncodedTable.of(rows.cardinality_of, columns, weights[kept])


@dataclass(frozen=True)
class Replicates:
    """The network learned from all rows, and from each of many parts or weightings of them.

    ``factor`` times the sum of the squared distances from the replicates' mean is the
    variance: :math:`(G - 1) / G` for the jackknife, :math:`1 / (B - 1)` for the bootstrap.
    ``total`` is the weight of all rows, ``worth`` how many rows a unit of it is worth;
    ``prior`` the concentration they were learned with.
    """

    network: Network
    networks: tuple[Network, ...]
    factor: float
    total: float
    worth: float
    prior: float

    def variance(self, of: Callable[[Network], FloatArray]) -> FloatArray:
        """The variance of anything that is computed from a network."""
        values = np.stack([of(network) for network in self.networks])
        return np.asarray(self.factor * np.square(values - values.mean(axis=0)).sum(axis=0))

    def spreads(self) -> Mapping[str, Spread]:
        """The spread of every CPT.

        Replicates are posterior modes: the prior holds them together, the more the fewer rows
        there are. What it takes off the variance is put back, and no row of a CPT is known
        from more rows than are expected to have its parents' states.
        """
        joint_of = family_marginals(self.network)
        found = {}
        for name in self.network.variables:
            expected = self.total * joint_of[name].sum(axis=-1, keepdims=True)
            variance = self.variance(lambda network, name=name: network.cpt(name).table)  # type: ignore[misc]
            table = self.network.cpt(name).table
            pseudo = table.shape[-1] * (self.prior - 1)
            ones = np.ones_like(expected)
            held = np.divide(expected + pseudo, expected, out=ones, where=expected > 0)
            rates = np.clip(table * held - (self.prior - 1) / np.maximum(expected, 1e-9), 0, 1)
            rates = np.where(rates < ROUNDING, 0.0, np.where(rates > 1 - ROUNDING, 1.0, rates))
            rows = expected * self.worth
            whole = Spread.of_variance(table, rates, variance * held**2, rows)
            found[name] = Spread(table, rates, np.minimum(whole.sizes, rows))
        return found

    def variances(self, asked: Asked) -> FloatArray:
        """The variance of each cell of an answer: every replicate is asked."""
        variance = self.variance(asked.of_network)
        joint_of = family_marginals(self.network)
        rows_of = {v: self.total * joint.sum(-1, keepdims=True) for v, joint in joint_of.items()}
        variance = np.ravel(variance) + pseudo_variances(asked, rows_of, self.prior)
        return without_prior(asked, variance, rows_of, self.prior)


def jackknife(
    network: Network,
    table: EncodedTable,
    refit: Refit,
    prior: float,
    groups: int = GROUPS,
    seed: int = 0,
    progress: Progress = silent,
) -> Replicates:
    """Learn without each of some groups of rows.

    Parameters
    ----------
    network
        What was learned from all rows.
    table
        All rows.
    refit
        Learns a network from rows as ``network`` was learned; EM may start from it.
    prior
        The concentration that both are learned with.
    """
    networks = []
    for done, part in enumerate(without_each_group(table, groups, seed)):
        progress("intervals", done, groups, "fits")
        networks.append(refit(part))
    progress("intervals", groups, groups, "fits")
    factor, worth = (groups - 1) / groups, rows_per_weight(table.weights)
    return Replicates(network, tuple(networks), factor, table.total, worth, prior)


def bootstrap(
    network: Network,
    table: EncodedTable,
    refit: Refit,
    prior: float,
    draws: int,
    rng: np.random.Generator,
) -> Replicates:
    """Learn from many weightings of the rows."""
    networks = tuple(refit(rows) for rows in bootstrapped(table, draws, rng))
    worth = rows_per_weight(table.weights)
    return Replicates(network, networks, 1 / (draws - 1), table.total, worth, prior)
