"""A CPT that is no full table: what its shape is called, and its parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.network.network import Network
from lacunet.network.shapes.noisy_max import NoisyMax
from lacunet.network.shapes.noisy_or import NoisyOr

OF_LEVELS = "probability of the state, given that it or one below it is brought about"


@dataclass(frozen=True)
class ShapedCpt:
    """The shape of a CPT, what its numbers are, and each with its name."""

    shape: str
    scale: str
    parameters: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {value:.3g}" for name, value in self.parameters)
        about = f" ({self.scale})" if self.scale else ""
        return f"{self.shape}{about}: {listed}" if listed else f"{self.shape}{about}"


def shaped_cpt(network: Network, variable: str) -> ShapedCpt | None:
    r"""The shape of a CPT with its parameters; None where it is a full table.

    Those of causes that act by themselves are probabilities, :math:`1 - e^{-\delta}` of the
    increments by which they are found.

    Examples
    --------
    >>> import lacunet as lc
    >>> states = {"Flu": ["no", "yes"], "Fever": ["no", "yes"]}
    >>> tables = {"Flu": [0.9, 0.1], "Fever": [[0.8, 0.2], [0.4, 0.6]]}
    >>> fever = lc.Network(states, {"Fever": ["Flu"]}, tables).with_shapes({"Fever": "noisy-or"})
    >>> print(shaped_cpt(fever, "Fever"))
    noisy-or (probabilities): leak 0.2, link from Flu=yes 0.5
    """
    if variable not in network.shapes_of or not network.has_cpts:
        return None
    shape, shaped = network.shapes_of[variable], network.shaped_of[variable]
    values = shaped.parameters(network.cpt(variable).table)
    scale = ""
    if isinstance(shape, NoisyOr | NoisyMax):
        values = 1 - np.exp(-values)
        scale = "probabilities" if isinstance(shape, NoisyOr) else OF_LEVELS
    pairs = zip(shaped.parameter_names, values.tolist(), strict=True)
    return ShapedCpt(shape.name, scale, tuple(pairs))
