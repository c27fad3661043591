r"""The parameters of a CPT that is no full table, and how sure they are: links, odds ratios.

An odds ratio's interval is that of its logarithm, :math:`\exp(\beta \pm z s)`. A probability's is
that of as many rows as would leave it the same variance, as intervals of CPT entries are
(`cpt_intervals`): it stays between 0 and 1, where two standard errors to either side do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.errors import as_level
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.delta import Covariance
from lacunet.learning.uncertainty.jackknife import Replicates
from lacunet.learning.uncertainty.posterior import EmPosterior
from lacunet.learning.uncertainty.rate_matrix import EmSpreads
from lacunet.network.network import FloatArray, Network

A_STEP = 1e-6  # of a parameter, for the derivative of what a report gives


@dataclass(frozen=True)
class ShapeParameter:
    """A parameter as a report gives it; its interval is nothing where none was asked for."""

    name: str
    value: float
    interval: tuple[float, float] | None


def shape_parameters(
    network: Network, variable: str, covariance: Covariance | None, level: float = 0.95
) -> tuple[ShapeParameter, ...]:
    """The parameters of a CPT, in the order of its shape.

    Parameters
    ----------
    network
        With CPTs that were learned.
    variable
        One whose CPT has a shape.
    covariance
        How its entries vary; None if that was not asked for.
    """
    shaped = network.shaped_of[variable]
    parameters = shaped.parameters(network.cpt(variable).table)
    values = shaped.reported(parameters)
    variances = None if covariance is None else _variances(network, variable, covariance)
    if covariance is None or variances is None:
        ends: list[tuple[float, float] | None] = [None] * len(values)
    else:
        intervals = _intervals(network, variable, variances, covariance.degrees, level)
        ends = [(low, high) for low, high in intervals.tolist()]
    return tuple(map(ShapeParameter, shaped.parameter_names, values.tolist(), ends))


def _variances(network: Network, variable: str, covariance: Covariance) -> FloatArray | None:
    """The variance of each parameter; infinite where the rows do not tell it."""
    shaped = network.shaped_of[variable]
    if isinstance(covariance, Replicates):

        def parameters_of(replicate: Network) -> FloatArray:
            return shaped.parameters(replicate.cpt(variable).table)

        return covariance.variance(parameters_of)
    if not isinstance(covariance, EmSpreads | EmPosterior):
        return None
    free, head = covariance.free, network.head_of[variable]
    variances = np.full(len(shaped.parameter_names), np.inf)
    for shape, part in zip(free.shapes, free.parts, strict=True):
        if shape.variable == head:
            lost = (np.abs(covariance.lost[part]) > A_STEP).any(axis=1)
            known = np.diag(covariance.covariance)[part]
            variances[shape.is_free] = np.where(lost, np.inf, known)
    return variances


def _intervals(
    network: Network, variable: str, variances: FloatArray, degrees: float, level: float
) -> FloatArray:
    """The lowest and the highest value of each parameter."""
    from scipy.special import ndtri, stdtrit

    shaped = network.shaped_of[variable]
    parameters = shaped.parameters(network.cpt(variable).table)
    if shaped.reports_probabilities:
        values = shaped.reported(parameters)
        moved = shaped.reported(parameters + A_STEP) - shaped.reported(parameters - A_STEP)
        of_values = variances * np.square(moved / (2 * A_STEP))
        sizes = quotient(values * (1 - values), of_values)
        sizes = np.where(np.isinf(variances), 0.0, sizes)
        return Spread(values, values, sizes, degrees).interval(level)
    side = (1 + as_level(level)) / 2
    quantile = ndtri(side) if np.isinf(degrees) else stdtrit(degrees, side)
    ways = quantile * np.sqrt(variances)
    return np.stack([shaped.reported(parameters + sign * ways) for sign in (-1, 1)], axis=-1)
