"""The ways in which values go missing in the experiments, each under a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanism_cpts import MechanismCpt, Missingness
from lacunet.network.network import Network
from lacunet.simulation.at_random import MAR, MCAR, InformedMAR, Missing
from lacunet.simulation.by_graph import MissingByGraph


@dataclass(frozen=True)
class GraphFromText:
    """Mechanisms as the text of a missingness graph says; their probabilities are drawn.

    The text is read when the network is there: the same setting can be written down before
    any network is read.
    """

    text: str
    beta: tuple[float, float]

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:
        """Read the graph for this network and draw its parameters."""
        graph = MissingnessGraph.parse(self.text, network)
        return MissingByGraph(graph, beta=self.beta).draw(network, rng)


@dataclass(frozen=True)
class ByOneState:
    """Half of the variables go missing, each with one of two rates by the state of another.

    The design of Y. Liu and A. C. Constantinou, "Greedy structure learning from data that
    contain systematic missing values" (2022): half of the states of one parent hide with
    probability .6, the others with .1. The parent is itself never missing (MAR), or one of the
    other variables that go missing (MNAR).
    """

    looks_at: Literal["complete", "incomplete"]

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:
        """Choose the variables that go missing, their parents, and the states that hide."""
        mixed = [network.variables[at] for at in rng.permutation(len(network.variables))]
        hidden, shown = sorted(mixed[: len(mixed) // 2]), sorted(mixed[len(mixed) // 2 :])
        mechanisms = {}
        for name in hidden:
            others = [one for one in hidden if one != name]
            parent = rng.choice(shown if self.looks_at == "complete" else others)
            states = network.cardinality(str(parent))
            rates = np.where(rng.permutation(states) < states / 2, 0.6, 0.1)
            mechanisms[name] = MechanismCpt(name, (str(parent),), rates)
        graph = MissingnessGraph(network, {name: one.parents for name, one in mechanisms.items()})  # type: ignore[misc]
        return Missingness(graph, mechanisms)


@dataclass(frozen=True)
class Setting:
    """A way to make mechanisms, with the name it has in keys and tables.

    ``network`` is the only network it is made for; empty for any.
    """

    name: str
    missing: Missing
    words: str = ""
    network: str = ""

    def suits(self, network: str) -> bool:
        """Whether it can be drawn for the network of this name."""
        return self.network in ("", network)


ALARM_MCAR = Setting(
    "mcar", MCAR(0.7, share=0.3), "MCAR: 70% of the values of 30% of the variables"
)
FIRST = Setting(
    "first", MAR(share=0.3, parents=2, beta=(1.0, 0.5)), "MAR: m = 0.3, p = 2, Beta(1.0, 0.5)"
)
SECOND = Setting(
    "second", MAR(share=0.9, parents=2, beta=(0.5, 0.5)), "MAR: m = 0.9, p = 2, Beta(0.5, 0.5)"
)
INFORMED = Setting(
    "informed",
    InformedMAR(share=0.3, separator=3, parents=2, beta=(1.0, 0.5)),
    "informed MAR: m = 0.3, s = 3, p = 2, Beta(1.0, 0.5)",
)
# The paper's table on informed data leaves the parameters to "as in the MAR experiments", of
# which there are two. Its numbers are those of data with less missing than either gives; they
# fit if Beta(1.0, 0.5) is the probability of being shown there.
INFORMED_SHOWN = Setting(
    "informed-shown",
    InformedMAR(share=0.3, separator=3, parents=2, beta=(0.5, 1.0)),
    "informed MAR: m = 0.3, s = 3, p = 2, Beta(1.0, 0.5) of being shown",
)

# Beta(2, 4): a third is missing on average, and rarely nearly all. Recovery divides by the
# probability of being shown, so what is asked here is whether it is right, not how it fares
# where next to nothing is shown.
MNAR_BETA = (2.0, 4.0)
EACH_THE_OTHER = Setting(
    "each-the-other",
    GraphFromText("X -> R[Y]; Y -> R[X]", MNAR_BETA),
    "MNAR, the paper's figure: X -> R[Y], Y -> R[X]",
    "pair",
)
IN_A_RING = Setting(
    "in-a-ring",
    GraphFromText("Fire -> R[Smoke]; Smoke -> R[Alarm]; Alarm -> R[Fire]", MNAR_BETA),
    "MNAR: Fire -> R[Smoke], Smoke -> R[Alarm], Alarm -> R[Fire]",
    "fire-alarm",
)
ONE_BY_ONE = Setting(
    "one-by-one",
    GraphFromText("Mek -> R[Raf]; R[Raf] -> R[Mek]; Akt -> R[Erk]; R[Erk] -> R[Akt]", MNAR_BETA),
    "MNAR: Mek -> R[Raf] -> R[Mek], Akt -> R[Erk] -> R[Akt]",
    "sachs",
)

# Every cell is hidden with the same probability: W. Bodewes and M. Scutari, 2021.
EVERY_CELL = tuple(
    Setting(f"every-cell-{rate:.2f}", MCAR(rate), f"MCAR: {rate:.0%} of all cells")
    for rate in (0.05, 0.1, 0.2)
)
HALF = "half of the variables, "
MECHANISMS = (
    Setting("half-mcar", MCAR(0.35, share=0.5), f"MCAR: {HALF}rate .35"),
    Setting("half-mar", ByOneState("complete"), f"MAR: {HALF}rates .6 and .1 by a complete one"),
    Setting("half-mnar", ByOneState("incomplete"), f"MNAR: {HALF}rates .6 and .1 by another one"),
)
