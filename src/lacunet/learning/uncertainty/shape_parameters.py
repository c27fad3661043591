r"""The parameters of a CPT that is no full table, and how sure they are: links, odds ratios.

An odds ratio's interval is that of its logarithm, :math:`\exp(\beta \pm z s)`. A probability's is
that of as many rows as would leave it the same variance, as intervals of CPT entries are
(`cpt_intervals`): it stays between 0 and 1, where two standard errors to either side do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.errors import as_level
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.delta import Covariance
from lacunet.learning.uncertainty.jackknife import Replicates
from lacunet.learning.uncertainty.posterior import EmPosterior
from lacunet.learning.uncertainty.rate_matrix import EmSpreads
from lacunet.network.labelled_tables import Library, frame_of, interval_legend
from lacunet.network.network import FloatArray, Network
from lacunet.network.shapes.shape import Shaped
from lacunet.text import counted
from lacunet.text_tables import Displayed, TextTable

A_STEP = 1e-6  # of a parameter, for the derivative of what a report gives


@dataclass(frozen=True, repr=False)
class ShapeParameters(Displayed):
    """The parameters of a CPT that is no full table, with their intervals if there are any."""

    title: str  # the CPT, as it is written
    shape: str  # its name
    parameters: tuple[ShapeParameter, ...]
    are_probabilities: bool  # else odds, and odds ratios
    legend: str = ""  # what the intervals are
    bic_gain: float | None = None  # by how much the BIC would be higher with a full table
    full_parameters: int = 0  # how many that would have

    def to_frame(self, library: Library | None = None) -> Any:
        """A row for each parameter: its name, its value, and the ends of its interval."""
        columns: dict[str, list[Any]] = {
            "parameter": [parameter.name for parameter in self.parameters],
            "value": [parameter.value for parameter in self.parameters],
        }
        ends = [p.interval for p in self.parameters if p.interval is not None]
        if ends:
            columns["low"] = [low for low, _ in ends]
            columns["high"] = [high for _, high in ends]
        return frame_of(columns, library)

    @property
    def kind(self) -> str:
        """What the numbers are."""
        return "probabilities" if self.are_probabilities else "odds and odds ratios"

    def as_data(self) -> dict[str, Any]:
        """The shape's name, and each parameter's value and interval."""
        values = {parameter.name: parameter.value for parameter in self.parameters}
        intervals = {p.name: p.interval for p in self.parameters if p.interval is not None}
        return {
            "shape": self.shape,
            "values": values,
            "intervals": intervals,
            "full_table": {"bic_higher_by": self.bic_gain, "parameters": self.full_parameters},
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.title}, {self.shape}>"

    def _parts(self) -> Iterator[object]:
        yield f"{self.title} as {self.shape}: {self.kind}"
        header = ["parameter", "value"]
        if self.legend:
            header += ["low", "high"]
        rows = []
        for parameter in self.parameters:
            row = [parameter.name, f"{parameter.value:.4f}"]
            row += [f"{end:.4f}" for end in parameter.interval or ()]
            rows.append(row)
        yield TextTable(header, rows)
        if self.legend:
            yield self.legend
        if self.beside_table:
            yield self.beside_table

    @property
    def beside_table(self) -> str:
        """The BIC of the full table, in words; empty if it is not known, or nothing else."""
        if self.bic_gain is None or self.full_parameters == len(self.parameters):
            return ""
        way = "higher" if self.bic_gain >= 0 else "lower"
        return (
            f"a full table would have {counted(self.full_parameters, 'parameter')} in place of "
            f"{len(self.parameters)}, and a BIC {way} by {abs(self.bic_gain):,.1f} (lower is "
            "better)"
        )


@dataclass(frozen=True)
class ShapeParameter:
    """A parameter as a report gives it; its interval is nothing where none was asked for."""

    name: str
    value: float
    interval: tuple[float, float] | None


def shape_parameters(
    network: Network,
    variable: str,
    covariance: Covariance | None,
    level: float = 0.95,
    bic_gain: float | None = None,
) -> ShapeParameters:
    """The parameters of a CPT, in the order of its shape.

    Parameters
    ----------
    network
        With CPTs that were learned.
    variable
        One whose CPT has a shape.
    covariance
        How its entries vary; None if that was not asked for.
    bic_gain
        By how much the BIC would be higher with a full table; None if that is not known.
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
    return ShapeParameters(
        title=network.cpt(variable).title,
        shape=network.shapes_of[variable].name,
        parameters=tuple(map(ShapeParameter, shaped.parameter_names, values.tolist(), ends)),
        are_probabilities=shaped.reports_probabilities,
        legend=interval_legend(level) if ends and ends[0] is not None else "",
        bic_gain=bic_gain,
        full_parameters=full_parameters(shaped),
    )


def full_parameters(shaped: Shaped) -> int:
    """How many parameters a full table would have."""
    return int(np.prod(shaped.shape[:-1])) * (shaped.shape[-1] - 1)


def _variances(network: Network, variable: str, covariance: Covariance) -> FloatArray | None:
    """The variance of each parameter; infinite where the rows do not tell it."""
    shaped = network.shaped_of[variable]
    if isinstance(covariance, Replicates):

        def parameters_of(replicate: Network) -> FloatArray:
            return shaped.parameters(replicate.cpt(variable).table)

        return covariance.variance(parameters_of)
    if not isinstance(covariance, EmSpreads | EmPosterior):
        return None
    free = covariance.free
    head = network.head_of[variable]
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
