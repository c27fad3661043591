from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacunet.inference.query import marginals, query
from lacunet.network.catalogue import example

# What pyAgrum says; written by make_posteriors.py in the same folder.
FILE = Path(__file__).parents[1] / "cases" / "inference" / "posteriors.json.gz"
CASES = json.loads(gzip.decompress(FILE.read_bytes()))
NAMES = [f"{case['network']}, {len(case['evidence'])} seen" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_posteriors_are_what_another_library_gives(case: dict[str, Any]) -> None:
    found = marginals(example(case["network"]), case["evidence"])
    for name, posterior in case["posteriors"].items():
        np.testing.assert_allclose(found[name], posterior, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("case", CASES[:4], ids=NAMES[:4])
def test_a_query_of_one_variable_is_its_marginal(case: dict[str, Any]) -> None:
    network = example(case["network"])
    for name in network.variables[::5]:
        answer = query(network, [name], case["evidence"])
        np.testing.assert_allclose(answer, case["posteriors"][name], rtol=1e-9, atol=1e-14)
