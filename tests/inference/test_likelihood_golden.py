from __future__ import annotations

import numpy as np
import pytest

from golden import NAMES, golden
from lacunet.inference.likelihood import table_log_likelihood

WITH_EM = [name for name in NAMES if golden(name).expected_em]


@pytest.mark.parametrize("name", WITH_EM)
def test_the_observed_data_are_as_likely_as_the_reference_says(name: str) -> None:
    case = golden(name)
    assert case.expected_em is not None
    cpts = {v: np.array(cpt["table"]) for v, cpt in case.expected_em["cpts"].items()}
    network = case.network.with_tables(
        {v: table / table.sum(axis=-1, keepdims=True) for v, table in cpts.items()}
    )
    expected = case.expected_em["observed_log_likelihood"]
    assert table_log_likelihood(network, case.table) == pytest.approx(expected, rel=1e-9)
