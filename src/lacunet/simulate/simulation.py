"""Simulated data: what was drawn, what is shown of it, and why the rest is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanisms import MechanismCpt, Missingness
from lacunet.model.network import Network
from lacunet.simulate.at_random import Missing
from lacunet.simulate.hiding import hide
from lacunet.simulate.sampling import sample


@dataclass(frozen=True)
class Simulation:
    """Rows drawn from ``network``, whole and as they are shown.

    ``missingness`` has all parameters that the hiding was drawn with. It is None, and
    ``table`` the complete rows themselves, where nothing was to be hidden.
    """

    network: Network
    complete: EncodedTable
    table: EncodedTable
    missingness: Missingness | None

    @property
    def graph(self) -> MissingnessGraph:
        """The missingness graph; without mechanisms where nothing was hidden."""
        if self.missingness is None:
            return MissingnessGraph(self.network, {})
        return self.missingness.graph

    @property
    def mechanisms(self) -> Mapping[str, MechanismCpt]:
        """The probabilities of being missing, by the variable that is hidden."""
        return {} if self.missingness is None else self.missingness.mechanisms


def simulate(
    network: Network, rows: int, missing: Missing | None, rng: np.random.Generator
) -> Simulation:
    """Draw rows from a network and hide values of them.

    Mechanisms are drawn first, then the rows, then what is hidden; each from a stream of its
    own. So one seed gives the same mechanisms whatever the number of rows, and the same
    complete rows whatever is hidden.

    Parameters
    ----------
    network
        A network with CPTs.
    rows
        The number of rows.
    missing
        How values go missing: `MCAR`, `MAR`, `InformedMAR` or `MissingByGraph`; None hides
        nothing.
    rng
        Where the randomness comes from; one seed gives one result.

    Examples
    --------
    >>> from lacunet.simulate.at_random import MCAR
    >>> coins = Network({x: ["0", "1"] for x in "AB"}, {}, {x: [0.5, 0.5] for x in "AB"})
    >>> drawn = simulate(coins, 100, MCAR(share=0.5, rate=1.0), np.random.default_rng(0))
    >>> drawn.complete.partially_observed, sorted(drawn.table.missing_of.values())
    ((), [0, 100])
    """
    for_mechanisms, for_rows, for_hiding = rng.spawn(3)
    missingness = None if missing is None else missing.draw(network, for_mechanisms)
    complete = sample(network, rows, for_rows)
    table = complete if missingness is None else hide(complete, missingness, for_hiding)
    return Simulation(network, complete, table, missingness)
