r"""Whether EM on a graph learned from the rows would give another network than EM under MAR.

Where tests reject that values are always missing at random, a graph learned from the data may help:
EM on it has less bias, but more variance, even if the graph is right. It is worth having where the
two networks are further apart than its sampling error: for some entry of a CPT,

.. math::
    z = \frac{|\hat\theta_{\text{graph}} - \hat\theta_{\text{MAR}}|}{s(\hat\theta_{\text{graph}})}

is larger than the normal distribution allows the largest of so many entries at a level of 5%
(Bonferroni). What was measured is in docs/diagnose.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.learning.em.em import EM
from lacunet.learning.learn import learn
from lacunet.learning.pseudo_counts import ONE_PER_CELL
from lacunet.missingness.augmented_network import augment
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.independence.stratified import SIGNIFICANCE
from lacunet.missingness.learned.from_rows import from_few_rows, learned_graph
from lacunet.missingness.recover.decide import recover_families
from lacunet.network.network import Network
from lacunet.text import listed

NOT_ENOUGH = "for all that the learned graph says, the rows do not tell the CPT of"
NO_NEED = (
    "in the graph, what decides on being missing is shown wherever it can matter; for that EM "
    "needs no graph."
)


@dataclass(frozen=True)
class GraphTrial:
    """EM on a learned graph against EM under MAR.

    ``apart`` is the largest distance of a CPT entry, in standard errors, ``variable`` whose CPT has
    it; the graph is recommended if it is above ``limit``. ``refusal`` says why it was not tried.
    """

    graph: str
    variable: str = ""
    apart: float = np.nan
    limit: float = np.nan
    refusal: str = ""

    @property
    def is_recommended(self) -> bool:
        """Whether the two networks are further apart than sampling error explains."""
        return self.apart > self.limit

    def __str__(self) -> str:
        if self.refusal:
            return f"EM on a learned graph was not tried: {self.refusal}"
        figures = f"{self.apart:.1f} standard errors at most, where {self.limit:.1f} are by chance"
        if self.is_recommended:
            return (
                "EM on a graph learned from these rows gives another network than EM under MAR, "
                f"first of all the CPT of {self.variable} ({figures}): write the graph "
                "(--missingness-out), look at its edges, and learn with it (--method em "
                "--missingness)."
            )
        return (
            "EM on a graph learned from these rows does not differ from EM under MAR by more than "
            f"sampling error ({figures}): EM under MAR is the safer choice."
        )


def try_learned_graph(network: Network, table: EncodedTable) -> GraphTrial:
    """Learn a graph from the rows, and the network by EM with and without it, under one prior."""
    if few := from_few_rows(table.row_count):
        return GraphTrial("", refusal=f"{few}.")
    learned = learned_graph(network, table).tested_on(table)
    graph = MissingnessGraph(network, learned.causes, monotone=learned.monotone)
    if not augment(graph, table.partially_observed).name_of:
        return GraphTrial(str(graph), refusal=NO_NEED)
    if learned.doubt:
        return GraphTrial(str(graph), refusal=f"{learned.doubt}.")
    verdicts = recover_families(graph)
    if lost := [name for name, verdict in verdicts.items() if not verdict.is_recoverable]:
        return GraphTrial(str(graph), refusal=f"{NOT_ENOUGH} {listed(lost)}.")
    plain = learn(network, table, EM(), pseudo_counts=ONE_PER_CELL)
    try:
        on_graph = learn(
            network, table, EM(missingness=graph), pseudo_counts=ONE_PER_CELL, intervals=True
        )
    except LacunetError as error:
        return GraphTrial(str(graph), refusal=error.message)
    apart_of: dict[str, float] = {}
    entries = 0
    for name in network.variables:
        errors = on_graph.standard_error(name)
        known = np.isfinite(errors) & (errors > 0)
        moved = np.abs(on_graph.cpt(name).table - plain.cpt(name).table)
        apart_of[name] = float((moved[known] / errors[known]).max(initial=0.0))
        entries += int(known.sum()) * (network.cardinality(name) - 1) // network.cardinality(name)
    furthest = max(apart_of, key=lambda name: apart_of[name])
    limit = NormalDist().inv_cdf(1 - SIGNIFICANCE / 2 / max(entries, 1))
    return GraphTrial(str(graph), furthest, apart_of[furthest], limit)
