"""What each method promises at large samples, and where theory says it is biased.

200,000 patients whose disease is verified mostly after a positive test (missing at random),
at a fixed seed. Standard errors are those of a proportion, sqrt(p (1 - p) / n), with n the
effective size that the method itself reports, times the share of the parent configuration.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from examples import NOT_VERIFIED, SCREENING
from lacunet.counts.groups import group_rows
from lacunet.data.table import EncodedTable
from lacunet.learning.methods import METHODS
from lacunet.missingness.graph import MissingnessGraph
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate
from test_every_method import learned

ROWS = 200_000
CONSISTENT_UNDER_MAR = {
    "listwise": False,
    "direct-mcar": False,
    "factored-mcar": False,
    "direct-mar": True,
    "factored-mar": True,
    "informed-direct": True,
    "informed-factored": True,
    "em": True,
    "em-bp": True,
    "auto": True,
    "mgraph": True,
}
GRAPH = MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)
AGES = np.array([0.6, 0.4])


@pytest.fixture(scope="module")
def patients() -> EncodedTable:
    missing = MissingByGraph(GRAPH, NOT_VERIFIED)
    return simulate(SCREENING, ROWS, missing, rng=np.random.default_rng(11)).table


def _errors(name: str, table: EncodedTable) -> np.ndarray:
    """The errors of the CPT of Disease, in standard errors."""
    options: dict[str, Any] = {"missingness": GRAPH} if name == "mgraph" else {}
    result = learned(name, SCREENING, table, **options)
    truth = SCREENING.cpt("Disease").table
    size = _effective_size(table) * AGES[:, None]
    return np.abs(result.tables["Disease"] - truth) / np.sqrt(truth * (1 - truth) / size)


def _effective_size(table: EncodedTable) -> float:
    """Kish's size of the rows that show Disease, each weighted by its group over those shown."""
    groups, group = group_rows(table, ("Symptoms", "Test"))
    shown = np.bincount(group[table.is_shown(["Disease"])], minlength=len(groups.weights))
    return groups.weights.sum() ** 2 / (groups.weights**2 / shown).sum()


def test_every_method_has_a_claim() -> None:
    assert set(CONSISTENT_UNDER_MAR) == set(METHODS)


@pytest.mark.parametrize("name", [name for name, is_so in CONSISTENT_UNDER_MAR.items() if is_so])
def test_a_method_for_mar_data_finds_the_truth(name: str, patients: EncodedTable) -> None:
    assert _errors(name, patients).max() < 4


@pytest.mark.parametrize(
    "name", [name for name, is_so in CONSISTENT_UNDER_MAR.items() if not is_so]
)
def test_a_method_for_mcar_data_is_biased_on_mar_data(name: str, patients: EncodedTable) -> None:
    assert _errors(name, patients).max() > 40
