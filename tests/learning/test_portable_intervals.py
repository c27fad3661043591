"""What pages carry of how sure the CPTs are gives the variances that queries have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.learning.portable_intervals import Portable, portable
from lacunet.learning.uncertainty.delta import AnsweredQuery, centred
from lacunet.network.network import FloatArray, Network

GRAPH = "smoke -> R[lung]; smoke -> R[dysp]; R[asia]; R[either]"


def variances(needed: Portable, network: Network, asked: AnsweredQuery) -> FloatArray:
    """The variance of each cell of an answer, by the forms alone."""
    brought = np.zeros(len(asked.gradients))
    known = np.zeros(len(asked.gradients))
    for index, gradient_of in enumerate(asked.gradients):
        flat = []
        for cpt in network.cpts:
            gradient = gradient_of.get(cpt.child, np.zeros(cpt.table.shape))
            square = np.square(centred(gradient, cpt.table))
            brought[index] += (needed.brought[cpt.child] * square).sum()
            known[index] += (needed.known[cpt.child] * cpt.table * square).sum()
            flat.append(np.ravel(gradient))
        if needed.together is not None:
            cells = np.concatenate(flat)
            apart = cells[needed.together.cell] - cells[needed.together.reference]
            brought[index] += apart @ needed.together.covariance @ apart
    if needed.replicates is not None:
        brought += np.ravel(needed.replicates.variance(asked.of_network))
    return brought / (1 - np.minimum(known / brought, 1))


@pytest.mark.parametrize(
    ("method", "missingness"),
    [
        ("em", None),
        ("direct-mcar", None),
        ("direct-mar", None),
        ("factored-mar", None),
        ("em", GRAPH),
        ("mgraph", GRAPH),
    ],
)
def test_the_variance_of_an_answer_is_that_of_its_query(
    method: str, missingness: str | None
) -> None:
    network = lc.example("asia")
    rows = lc.simulate(network, 600, lc.MAR(0.3), rng=3).table
    options: dict[str, Any] = {} if missingness is None else {"missingness": missingness}
    result = lc.learn(network, rows, method, intervals=True, **options)
    assert result.uncertainty is not None
    needed = portable(result.uncertainty, result.network)
    assert needed is not None
    questions = (("dysp", {}), ("lung", {"xray": "yes"}), ("smoke", {"dysp": "no", "asia": "no"}))
    for target, evidence in questions:
        asked = AnsweredQuery.of(result.network, (target,), evidence)
        uncertainty = result.uncertainty
        expected = uncertainty.covariance.variances(asked, uncertainty.spread_of)
        np.testing.assert_allclose(
            variances(needed, result.network, asked), expected, rtol=1e-8, atol=1e-15
        )


def test_what_is_not_known_in_this_form_is_not_carried() -> None:
    network = lc.example("asia")
    rows = lc.simulate(network, 600, lc.MAR(0.3), rng=3).table
    experts = lc.learn(network, rows, "em", experts=20, intervals=True)
    edges = lc.learn_structure(rows, strengths=20, rng=1).network
    searched = lc.learn(edges, rows, "em", intervals=True)
    for result in (experts, searched):
        assert result.uncertainty is not None
        assert portable(result.uncertainty, result.network) is None
