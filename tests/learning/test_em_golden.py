"""The golden cases: MAP EM run until no parameter moves by 1e-9, from the factored-mar CPTs."""

from __future__ import annotations

import numpy as np
import pytest

from golden import NAMES, golden
from lacunet.learning.em.em import EM
from road import Task, learned_by

WITH_EM = [name for name in NAMES if golden(name).expected_em]


@pytest.mark.parametrize("name", WITH_EM)
def test_em_from_the_closed_form_ends_where_the_golden_file_says(name: str) -> None:
    case = golden(name)
    seed = case.network.with_tables(
        {v: t / t.sum(axis=-1, keepdims=True) for v, t in case.cpts("factored-mar").items()}
    )
    learned = learned_by(
        EM(start=seed, tolerance=1e-9, max_iterations=100_000, restarts=1),
        Task(case.network, case.table, pseudo_counts=1.0),
    )
    assert learned.ended is not None
    assert learned.ended.reason == "converged"
    expected = case.expected_em
    assert expected is not None
    np.testing.assert_allclose(
        learned.ended.log_likelihood, expected["observed_log_likelihood"], rtol=1e-9
    )
    for variable, cpt in expected["cpts"].items():
        np.testing.assert_allclose(learned.tables[variable], np.array(cpt["table"]), atol=1e-6)


@pytest.mark.parametrize("name", WITH_EM)
def test_em_seeded_by_name_ends_at_the_same_place(name: str) -> None:
    case = golden(name)
    learned = learned_by(
        EM(tolerance=1e-9, max_iterations=100_000, restarts=1),
        Task(case.network, case.table, pseudo_counts=1.0),
    )
    assert case.expected_em is not None
    for variable, cpt in case.expected_em["cpts"].items():
        np.testing.assert_allclose(learned.tables[variable], np.array(cpt["table"]), atol=1e-6)
