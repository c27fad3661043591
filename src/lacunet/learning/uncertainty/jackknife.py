r"""Networks learned from replicates of the rows: the variance of any estimate, and of any query.

*Delete-a-group jackknife.* The rows fall at random into :math:`G` folds
(`lacunet.counts.folds`), and everything is estimated again without each of them:

.. math::
    \mathrm{Var}(\theta) = \sum_g s_g \bigl( \theta_{(-g)} - \bar\theta_{(\cdot)} \bigr)^2,
    \qquad s_g = \frac{G - 1}{G}

Rows are replicated, never problems or cells: what is compiled from one row stays together. A
variance from :math:`G` replicates is itself uncertain, by as much as one from :math:`G - 1`
independent values, so intervals use the t distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.inference.joint import family_marginals
from lacunet.learning.uncertainty.cpt_intervals import Spread, round_to_ends
from lacunet.learning.uncertainty.delta import (
    AnsweredQuery,
    in_rows,
    pseudo_variances,
    without_prior,
)
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray, Network, Tables
from lacunet.network.waves import copied_from

PRIOR_ROUNDING = 1e-9  # what is left of a rate of 0 or 1 when the prior is taken off again


def replicate_variance(
    values: FloatArray, scales: FloatArray, centre: FloatArray | None = None
) -> FloatArray:
    """The variance that replicates of a value give, by their distances from its centre.

    The centre is their mean, in which each counts by its scale; for the replicates of a survey, the
    value by all rows.
    """
    if centre is None:
        centre = np.average(values, axis=0, weights=scales)
    apart = values - centre
    return np.asarray(np.tensordot(scales, np.square(apart), axes=1))


@dataclass(frozen=True)
class Replicates:
    """The network learned from all rows, and from each replicate of them."""

    network: Network
    networks: tuple[Network, ...]
    # Times the squared distances from the replicates' mean: they add up to the variance.
    scales: FloatArray
    degrees: float  # of freedom of that variance
    total: float  # the weight of all rows
    pseudo_of: Tables  # the pseudo-counts of every cell that the networks were learned with
    # Whether replicates are those of a survey: distances are then from the estimate of all rows,
    # and strata may tell more than as many independent rows would.
    by_design: bool = False
    # How many effective rows a unit of weight is, in each cell of a CPT, where rows weigh
    # differently.
    worth_of: Tables = field(default_factory=dict)
    # Of CPT rows that pseudo-counts were added to, where these are not what is expected of all
    # rows.
    row_weights: Tables = field(default_factory=dict)

    # The network over the waves of the rows, where `network` goes on beyond them.
    of_rows: Network | None = None

    def unrolled(self, waves: int) -> Replicates:
        """The same over so many waves of a panel."""
        network = self.network.unroll(waves)
        like = copied_from(self.network, network)

        def copied(tables: Tables) -> Tables:
            return {**tables, **{new: tables[old] for new, old in like.items() if old in tables}}

        return replace(
            self,
            network=network,
            networks=tuple(replicate.unroll(waves) for replicate in self.networks),
            pseudo_of=copied(self.pseudo_of),
            worth_of=copied(self.worth_of),
            row_weights=copied(self.row_weights),
            of_rows=self.of_rows or self.network,
        )

    def variance(self, of: Callable[[Network], FloatArray]) -> FloatArray:
        """The variance of anything that is computed from a network."""
        values = np.stack([of(network) for network in self.networks])
        return replicate_variance(values, self.scales, of(self.network) if self.by_design else None)

    def spread(self, variable: str, expected: FloatArray) -> Spread:
        """The spread of a CPT.

        Replicates are posterior modes: the prior holds them together, the more the fewer rows
        there are. What it takes off the variance is put back, and no row of a CPT is known
        from more rows than are expected to have its parents' states.

        Parameters
        ----------
        expected
            The weight that is expected in each CPT row, on an axis of length one for the child.
        """
        variance = self.variance(lambda network: network.cpt(variable).table)
        table = self.network.cpt(variable).table
        pseudo = self.pseudo_of[variable]
        weight = self.row_weights.get(variable, expected)
        held = quotient(weight + pseudo.sum(axis=-1, keepdims=True), weight, 1.0)
        rates = np.clip(table * held - pseudo / np.maximum(weight, 1e-9), 0, 1)
        rates = round_to_ends(rates, PRIOR_ROUNDING)
        if variable in self.network.shaped_of:  # its CPT rows tell of one another
            return replace(Spread.of_variance(table, table, variance), degrees=self.degrees)
        most = expected * self.worth_of.get(variable, np.ones(table.shape))
        rows = most.min(axis=-1, keepdims=True)
        whole = Spread.of_variance(table, rates, variance * held**2, rows)
        sizes = whole.sizes if self.by_design else np.minimum(whole.sizes, most)
        return Spread(table, rates, sizes, self.degrees)

    def spreads(self, limit: Deadline = NEVER) -> dict[str, Spread]:
        """The spread of every CPT; planning the inference that it takes ends with the limit."""
        expected_rows = self._expected_rows(limit)
        return {name: self.spread(name, expected) for name, expected in expected_rows.items()}

    def _expected_rows(self, limit: Deadline = NEVER) -> dict[str, FloatArray]:
        """The weight expected in each CPT row; CPTs that are tied are one, and have that of all."""
        expected = {
            name: self.total * joint.sum(axis=-1, keepdims=True)
            for name, joint in family_marginals(
                self.of_rows or self.network, deadline=limit
            ).items()
        }
        for group in self.network.tied:
            of_waves = [expected[name] for name in group if name in expected]
            expected |= dict.fromkeys(group, sum(of_waves))
        return expected

    def variances(self, asked: AnsweredQuery, spread_of: Mapping[str, Spread]) -> FloatArray:
        """The variance of each cell of an answer: every replicate is asked.

        What replicates agree on, they say nothing of: there the effective sizes of CPT rows do.
        Elsewhere rows are those expected, as what one CPT row lacks others may make up for; what
        the prior knows is taken off by effective sizes everywhere.
        """
        variance = self.variance(asked.of_network)
        weight_of, rows_of, known_of = self.rows_and_known(spread_of)
        pseudo_of = in_rows(asked.network, self.pseudo_of, rows_of, weight_of)
        variance = np.ravel(variance) + pseudo_variances(asked, rows_of, pseudo_of)
        pseudo_of = in_rows(asked.network, self.pseudo_of, known_of, weight_of)
        return without_prior(asked, variance, known_of, pseudo_of)

    def rows_and_known(
        self, spread_of: Mapping[str, Spread]
    ) -> tuple[dict[str, FloatArray], dict[str, FloatArray], dict[str, FloatArray]]:
        """The weight of each CPT row, its effective rows, and how many of them its spread knows."""
        weight_of = {}
        rows_of = {}
        known_of = {}
        for name, expected in self._expected_rows().items():
            weight = self.row_weights.get(name, expected)
            worth = self.worth_of.get(name, np.ones(1)).min(axis=-1, keepdims=True)
            spread = spread_of[name]
            rows = weight * worth
            known = np.minimum(spread.row_sizes[..., None], rows)
            weight_of[name] = weight
            known_of[name] = known
            rows_of[name] = np.where(spread.agree_in(spread.sizes), known, rows)
        return weight_of, rows_of, known_of
